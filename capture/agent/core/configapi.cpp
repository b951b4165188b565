// SPDX-License-Identifier: GPL-3.0-or-later
// The C ABI's face of model/config.
#define TT_AGENT_BUILD
#include <telltale/agent/telltale_agent.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include <telltale/agent/layoutrequest.h>
#include <telltale/agent/memoryprobe.h>
#include <telltale/config/instead.h>
#include <telltale/config/monitorconfig.h>
#include <telltale/config/revision.h>
#include <telltale/core/nothrow.h>

namespace {

using Json = nlohmann::ordered_json;
using telltale::withoutThrowing;
using telltale::agent::hasMemoryFor;

/// For a caller that frees with tt_free(); NULL without memory.
char* handedOver(const std::string& text)
{
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy)
        std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

/// A text that is no config leaves what one without fields gives.
telltale::config::MonitorConfig configOf(std::string_view text)
{
    auto read = telltale::config::parseMonitorConfig(text);
    return read ? std::move(read->config) : telltale::config::parseMonitorConfig("{}")->config;
}

std::string readConfig(std::string_view text)
{
    Json out = { { "ok", true }, { "error", nullptr }, { "config", nullptr }, { "problems", Json::array() } };
    telltale::config::ParsedConfig parsed;
    // A text that is no config leaves what one without fields gives.
    if (auto read = telltale::config::parseMonitorConfig(text)) {
        parsed = *std::move(read);
    } else {
        out["ok"] = false;
        out["error"] = read.error().sentence();
        parsed = telltale::config::parseMonitorConfig("{}").value();
    }
    out["config"] = Json::parse(telltale::config::monitorConfigText(parsed.config));
    const auto instead = telltale::config::whatHoldsInstead(parsed);
    for (std::size_t i = 0; i < instead.size(); ++i) {
        const auto& problem = parsed.problems[i];
        out["problems"].push_back({ { "pointer", problem.pointer }, { "sentence", problem.sentence },
            { "is_error", problem.isError }, { "instead", instead[i] } });
    }
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view viewOf(const char* text)
{
    return text ? std::string_view(text) : std::string_view();
}

}

extern "C" {

char* tt_config_read(const char* text, size_t len)
{
    return withoutThrowing([&] {
        return hasMemoryFor(len) ? handedOver(readConfig({ text ? text : "", text ? len : 0 })) : nullptr;
    });
}

char* tt_config_canonical(const char* text, size_t len)
{
    return withoutThrowing([&] {
        const std::string_view given(text ? text : "", text ? len : 0);
        return hasMemoryFor(len) ? handedOver(telltale::config::canonicalConfigText(configOf(given))) : nullptr;
    });
}

char* tt_config_edit(const char* text, size_t len, const char* wanted)
{
    return withoutThrowing([&] {
        const std::string_view given(text ? text : "", text ? len : 0);
        const auto config = configOf(viewOf(wanted));
        return hasMemoryFor(len) ? handedOver(telltale::config::editedConfigText(given, config)) : nullptr;
    });
}

void tt_free(void* memory)
{
    withoutThrowing([&] { std::free(memory); });
}

int tt_target_matches(const char* target, const char* name)
{
    return withoutThrowing([&] { return telltale::config::targetMatches(viewOf(target), viewOf(name)) ? 1 : 0; });
}

int tt_selects_slot(const char* selection, const tt_slot* slot, int gradient)
{
    return withoutThrowing([&] {
        const std::string_view wanted = viewOf(selection);
        return hasMemoryFor(wanted.size())
                && telltale::config::selectsSlot(wanted, telltale::agent::slotOf(slot), gradient != 0)
            ? 1
            : 0;
    });
}
}
