// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

#include <QCoreApplication>
#include <QString>

#include <telltale/config/monitorconfig.h>

namespace telltale::views {

/// A word of the table of fields.
inline QString fieldText(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// A sentence of the table in the user's language; `telltale_lupdate` collects them from the table itself.
inline QString fieldSentence(std::string_view text)
{
    return QCoreApplication::translate("telltale::config", std::string(text).c_str());
}

/// What is wrong, as a sentence of its own: the same words may follow a place elsewhere.
inline QString problemSentence(const config::Problem& problem)
{
    const QString words = QString::fromStdString(problem.sentence);
    return words.left(1).toUpper() + words.mid(1);
}

}
