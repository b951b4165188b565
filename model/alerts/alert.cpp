// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/alerts/alert.h>

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>

namespace telltale::alerts {
namespace {

constexpr std::size_t kLongestSentence = 2000; ///< services cut or refuse what is longer than a few thousand
constexpr std::size_t kLongestName = 200;

/// As one line, cut at a character.
std::string lineOf(std::string_view text, std::size_t most)
{
    std::string line = terminalText(text);
    if (line.size() <= most)
        return line;
    while (most > 0 && (static_cast<unsigned char>(line[most]) & 0xC0) == 0x80)
        --most;
    return line.substr(0, most) + "…";
}

std::string isoTime(std::int64_t wallNs)
{
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(wallNs / 1'000'000'000)));
}

}

std::string_view severityWord(store::Severity severity)
{
    return severity == store::Severity::Critical ? "critical"
        : severity == store::Severity::Warning   ? "warning"
                                                 : "notice";
}

Alert Alert::test(std::int64_t wallNs)
{
    Alert alert;
    alert.isTest = true;
    alert.runName = "test";
    alert.wallNs = wallNs;
    alert.incident.first.rule = "test";
    alert.incident.sentence = "This is a test of Telltale's alerts; nothing is wrong.";
    return alert;
}

std::string Alert::title() const
{
    if (isTest)
        return "Telltale: a test";
    return fmt::format("Telltale: {} in {}", severityWord(incident.first.severity), lineOf(runName, kLongestName));
}

std::string Alert::line() const
{
    return fmt::format("{}: {}", severityWord(incident.first.severity), lineOf(incident.sentence, kLongestSentence));
}

std::string Alert::text() const
{
    const std::string sentence = lineOf(incident.sentence, kLongestSentence);
    if (isTest)
        return title() + '\n' + sentence;
    return fmt::format("{}\n{}\nMore: telltale incidents {}", title(), sentence, lineOf(runId, kLongestName));
}

std::string Alert::toJson() const
{
    const nlohmann::json json { { "telltale", 1 }, { "event", isTest ? "test" : "incident" },
        { "time", isoTime(wallNs) }, { "run", { { "id", runId }, { "name", runName } } }, { "text", text() },
        { "severity", severityWord(incident.first.severity) },
        { "incident", nlohmann::json::parse(judge::toJson(incident), nullptr, false) } };
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::pair<std::string, std::string>> Alert::environment() const
{
    std::vector<std::pair<std::string, std::string>> all { { "EVENT", isTest ? "test" : "incident" },
        { "RUN", runName }, { "RUN_ID", runId }, { "SEVERITY", std::string(severityWord(incident.first.severity)) },
        { "SENTENCE", incident.sentence }, { "INCIDENT", std::to_string(incident.id) },
        { "STEP", std::to_string(incident.first.step.value) }, { "RANK", std::to_string(incident.first.rank.value) },
        { "RULE", incident.first.rule }, { "NAME", incident.first.name } };
    for (auto& [name, value] : all) {
        name = "TELLTALE_ALERT_" + name;
        std::erase(value, '\0'); // a run's name is somebody else's text, and an environment ends there
        value = value.substr(0, kLongestSentence);
    }
    return all;
}

}
