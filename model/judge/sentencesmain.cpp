// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <telltale/judge/rules.h>

/// Prints the sentences of the table of rules as a source text in which Qt's lupdate finds them.
int main()
{
    std::string text;
    const auto add = [&text](std::string_view sentence) {
        if (!sentence.empty())
            text += "QT_TRANSLATE_NOOP(\"Rule\", " + nlohmann::json(std::string(sentence)).dump() + ")\n";
    };
    for (const telltale::judge::RuleInfo& info : telltale::judge::ruleTable()) {
        add(info.title);
        add(info.description);
        for (const telltale::judge::Parameter& one : info.parameters)
            add(one.description);
    }
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
