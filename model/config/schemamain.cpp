// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <string>
#include <string_view>

#include <telltale/config/field.h>
#include <telltale/config/monitorconfig.h>

namespace {

/// The table's sentences as a source text in which Qt's lupdate finds them.
std::string sentences()
{
    std::string text;
    const auto add = [&](std::string_view sentence) {
        text += "QT_TRANSLATE_NOOP(\"telltale::config\", " + telltale::config::Json(std::string(sentence)).dump()
            + ")\n";
    };
    for (const auto& object : telltale::config::fieldObjects())
        add(object.description);
    for (const auto& field : telltale::config::fields())
        add(field.description);
    return text;
}

}

/// Prints the JSON Schema of config.json, or with --sentences what there is to be translated of it.
int main(int argc, char** argv)
{
    const bool isForTranslation = argc > 1 && std::string_view(argv[1]) == "--sentences";
    const auto text = isForTranslation ? sentences() : telltale::config::monitorConfigSchema();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
