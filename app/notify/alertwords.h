// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>

namespace telltale::notify {

/// What receivers answer and what is wrong with alerts.json, in the language of the window; the log and the command
/// line have it in English. What is not known here stays as it is. Thread: any.
namespace alertwords {

std::vector<const char*> forms(); ///< that are known, in English, with %1 where something else stands
QString answer(const QString& sentence); ///< "it answered 403: no_service"
QString receiver(const QString& label); ///< "webhook team (https://hooks.slack.com/…)"
QString problem(const QString& sentences); ///< of an Error: several are one after the other

}

}
