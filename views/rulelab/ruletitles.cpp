// SPDX-License-Identifier: GPL-3.0-or-later
#include "ruletitles.h"

#include <string>

#include <QCoreApplication>

namespace telltale::views {

QString ruleText(std::string_view sentence)
{
    return QCoreApplication::translate("Rule", std::string(sentence).c_str());
}

}
