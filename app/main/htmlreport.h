// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <QByteArray>

#include <telltale/analysis/rundocument.h>
#include <telltale/judge/incident.h>
#include <telltale/store/archive.h>
#include <telltale/store/catalog.h>

namespace telltale::app {

/// A picture of a report; or, where `bytes` is empty, why there is none.
struct ReportPicture {
    std::string title;
    std::string caption;
    QByteArray bytes;
    const char* type = "image/png";
};

/// What a report says of a run. Thread: any (a value).
struct ReportContent {
    store::RunSummary run;
    std::shared_ptr<const store::Catalog> catalog;
    std::vector<judge::Incident> incidents; ///< first cause first
    bool isOfOne = false; ///< of one incident that was asked for
    analysis::RunDocument document;
    std::vector<store::LogRecord> log; ///< the newest come last
    std::vector<ReportPicture> pictures;
};

/// One HTML document that needs nothing else: no script, no address, every text from outside escaped.
std::string htmlReport(const ReportContent& content);

}
