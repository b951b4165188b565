// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/items/ruletitles.h>

#include <string>

#include <QCoreApplication>

#include <telltale/judge/rules.h>

namespace telltale::items {

QString ruleText(std::string_view sentence)
{
    return QCoreApplication::translate("Rule", std::string(sentence).c_str());
}

QString ruleTitle(std::string_view id)
{
    const auto rule = judge::ruleFromId(id);
    return rule ? ruleText(judge::infoOf(*rule).title)
                : QString::fromUtf8(id.data(), static_cast<qsizetype>(id.size()));
}

}
