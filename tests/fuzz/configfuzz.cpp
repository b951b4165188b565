// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <telltale/config/monitorconfig.h>
#include <telltale/config/revision.h>
#include <telltale/config/textedit.h>

using namespace telltale;
using namespace telltale::config;

namespace {

void require(bool holds)
{
    if (!holds)
        std::abort();
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto parsed = parseMonitorConfig(text);
    if (!parsed) {
        require(!parsed.error().what.empty());
        return 0;
    }
    for (const Problem& problem : parsed->problems)
        require(!problem.sentence.empty());
    // What was understood can be said again, and is understood the same.
    const std::string said = monitorConfigText(parsed->config);
    const auto again = parseMonitorConfig(said);
    require(again.has_value() && monitorConfigText(again->config) == said);
    // And an edit makes it what was wanted, whatever stood there.
    const auto canonical = canonicalConfigText(parsed->config);
    const auto edited = parseMonitorConfig(editedConfigText(text, parseMonitorConfig("{}")->config));
    require(edited.has_value() && canonicalConfigText(edited->config) == canonicalConfigText({ .allXy = true }));
    require(canonicalConfigText(parseMonitorConfig(canonical)->config) == canonical);
    findValue(text, text);
    for (const auto& [target, selection] : parsed->config.targets) {
        targetMatches(target, "1:encoder.layers.0.module.attention");
        selectsSlot(selection, Slot::output(1), false);
        selectsSlot(selection, Slot::input(), true);
    }
    return 0;
}
