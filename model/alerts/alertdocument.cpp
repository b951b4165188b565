// SPDX-License-Identifier: GPL-3.0-or-later
// alerts.json: read with every problem said, written whole or without its secrets.
#include <telltale/alerts/alertsettings.h>

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace telltale::alerts {
namespace {

using AlertJson = nlohmann::ordered_json;

/// Reads one object: what it knows is taken, what is wrong or unknown is a problem with its place.
class AlertReader {
public:
    AlertReader(const AlertJson& json, std::string place, std::vector<std::string>& problems)
        : m_json(json)
        , m_place(std::move(place))
        , m_problems(problems)
    {
        if (!json.is_object())
            problem("must be an object");
    }
    ~AlertReader()
    {
        if (!m_json.is_object())
            return;
        for (const auto& [name, value] : m_json.items()) {
            if (std::find(m_known.begin(), m_known.end(), name) == m_known.end() && name != "$schema")
                m_problems.push_back(fmt::format("there is no \"{}{}\"", prefix(), name));
        }
    }
    AlertReader(const AlertReader&) = delete;
    AlertReader& operator=(const AlertReader&) = delete;

    const AlertJson* at(const char* name)
    {
        m_known.emplace_back(name);
        const auto found = m_json.is_object() ? m_json.find(name) : m_json.end();
        return found == m_json.end() ? nullptr : &*found;
    }
    void read(const char* name, bool& into)
    {
        if (const AlertJson* json = at(name); json && json->is_boolean())
            into = json->get<bool>();
        else if (json)
            problem("must be true or false", name);
    }
    void read(const char* name, int& into, int least, int most)
    {
        const AlertJson* json = at(name);
        if (!json)
            return;
        if (json->is_number_integer() && *json >= least && *json <= most)
            into = json->get<int>();
        else
            problem(fmt::format("must be a whole number from {} to {}", least, most), name);
    }
    void read(const char* name, std::string& into)
    {
        if (const AlertJson* json = at(name); json && json->is_string())
            into = json->get<std::string>();
        else if (json)
            problem("must be a text", name);
    }
    template <typename Take> void each(const char* name, Take take)
    {
        const AlertJson* json = at(name);
        if (!json)
            return;
        if (!json->is_array() || json->size() > AlertSettings::kMostChannels)
            return problem(fmt::format("must be an array of at most {}", AlertSettings::kMostChannels), name);
        for (std::size_t i = 0; i < json->size(); ++i) {
            AlertReader one((*json)[i], fmt::format("{}{}[{}]", prefix(), name, i), m_problems);
            take(one);
        }
    }
    void problem(const std::string& sentence, const char* name = "")
    {
        std::string place = *name == '\0' ? m_place : prefix() + name;
        m_problems.push_back(fmt::format("\"{}\" {}", place.empty() ? "the document" : place, sentence));
    }

private:
    std::string prefix() const { return m_place.empty() ? "" : m_place + '.'; }

    const AlertJson& m_json;
    std::string m_place;
    std::vector<std::string>& m_problems;
    std::vector<std::string> m_known;
};

Webhook webhookFrom(AlertReader& reader)
{
    Webhook hook;
    std::string word(shapeWord(hook.shape));
    reader.read("name", hook.name);
    reader.read("on", hook.isOn);
    reader.read("url", hook.url);
    reader.read("template", word);
    reader.read("secret", hook.secret);
    reader.read("timeout_s", hook.timeoutS, 1, AlertSettings::kLongestTimeoutS);
    reader.read("per_minute", hook.perMinute, 1, AlertSettings::kMostPerMinute);
    // An address is secret: a sentence never repeats it.
    if (const std::string why = problemOfUrl(hook.url); !why.empty() && hook.isOn)
        reader.problem("cannot be posted to: " + why, "url");
    if (const auto shape = shapeFromWord(word))
        hook.shape = *shape;
    else
        reader.problem("must be generic, slack, feishu or dingtalk", "template");
    if (!hook.secret.empty() && hook.shape != Shape::Feishu && hook.shape != Shape::DingTalk)
        reader.problem("is for feishu and dingtalk, which sign with it", "secret");
    if (hook.name.empty())
        hook.name = shapeWord(hook.shape);
    return hook;
}

Command commandFrom(AlertReader& reader)
{
    Command command;
    reader.read("name", command.name);
    reader.read("on", command.isOn);
    reader.read("timeout_s", command.timeoutS, 1, AlertSettings::kLongestTimeoutS);
    const AlertJson* argv = reader.at("argv");
    const bool isList = argv && argv->is_array() && !argv->empty()
        && std::all_of(argv->begin(), argv->end(), [](const AlertJson& word) {
               return word.is_string() && word.get_ref<const std::string&>().find('\0') == std::string::npos;
           });
    if (isList)
        command.argv = argv->get<std::vector<std::string>>();
    if (command.argv.empty() || command.argv.front().empty())
        reader.problem(R"(must be the program and its words: ["/usr/bin/logger", "-t", "telltale"])", "argv");
    else if (command.name.empty())
        command.name = command.argv.front().substr(command.argv.front().rfind('/') + 1);
    return command;
}

/// "slack", "slack 2": by its name one is known to the log, and what waits for it when the document changes.
template <typename Channel> void numberNames(std::vector<Channel>& channels)
{
    for (auto one = channels.begin(); one != channels.end(); ++one) {
        const std::string name = one->name;
        const auto isTaken = [&](const Channel& other) { return other.name == one->name; };
        for (int number = 2; std::any_of(channels.begin(), one, isTaken); ++number)
            one->name = fmt::format("{} {}", name, number);
    }
}

AlertJson jsonOf(const AlertSettings& settings, bool isShown)
{
    AlertJson webhooks = AlertJson::array();
    for (const Webhook& hook : settings.webhooks) {
        AlertJson& one = webhooks.emplace_back(AlertJson { { "name", hook.name }, { "on", hook.isOn },
            { "url", isShown ? shownUrl(hook.url) : hook.url }, { "template", shapeWord(hook.shape) },
            { "timeout_s", hook.timeoutS }, { "per_minute", hook.perMinute } });
        if (!hook.secret.empty())
            one["secret"] = isShown ? "…" : hook.secret;
    }
    AlertJson commands = AlertJson::array();
    for (const Command& command : settings.commands) {
        // Words of a command may be a password; its name says which it is.
        AlertJson argv = command.argv;
        if (isShown && argv.size() > 1)
            argv = { command.argv.front(), "…" };
        commands.push_back({ { "name", command.name }, { "on", command.isOn }, { "argv", std::move(argv) },
            { "timeout_s", command.timeoutS } });
    }
    return { { "severity", settings.least == store::Severity::Critical ? "critical" : "warning" },
        { "settle_s", settings.settleS },
        { "desktop", { { "on", settings.isDesktopOn }, { "quiet_s", settings.desktopQuietS } } },
        { "console", { { "on", settings.isConsoleOn } } }, { "webhooks", std::move(webhooks) },
        { "commands", std::move(commands) } };
}

std::string dumped(const AlertJson& json)
{
    return json.dump(2, ' ', false, AlertJson::error_handler_t::replace);
}

}

Expected<AlertSettings> AlertSettings::fromJson(const std::string& text)
{
    const AlertJson json = AlertJson::parse(text, nullptr, false, true);
    if (json.is_discarded())
        return failure(ErrorCode::BadInput, "it is no JSON", "'telltale alerts --schema' says what may stand there");
    AlertSettings settings;
    std::vector<std::string> problems;
    {
        AlertReader reader(json, "", problems);
        std::string word = "warning";
        reader.read("severity", word);
        if (word == "warning" || word == "critical")
            settings.least = word == "critical" ? store::Severity::Critical : store::Severity::Warning;
        else
            reader.problem("must be warning or critical", "severity");
        reader.read("settle_s", settings.settleS, 0, AlertSettings::kLongestSettleS);
        if (const AlertJson* said = reader.at("desktop")) {
            AlertReader desktop(*said, "desktop", problems);
            desktop.read("on", settings.isDesktopOn);
            desktop.read("quiet_s", settings.desktopQuietS, 0, AlertSettings::kLongestQuietS);
        }
        if (const AlertJson* said = reader.at("console"))
            AlertReader(*said, "console", problems).read("on", settings.isConsoleOn);
        reader.each("webhooks", [&](AlertReader& one) { settings.webhooks.push_back(webhookFrom(one)); });
        reader.each("commands", [&](AlertReader& one) { settings.commands.push_back(commandFrom(one)); });
    }
    numberNames(settings.webhooks);
    numberNames(settings.commands);
    if (!problems.empty())
        return failure(ErrorCode::BadInput, fmt::format("{}", fmt::join(problems, "; ")));
    return settings;
}

std::string AlertSettings::toJson() const
{
    return dumped(jsonOf(*this, false));
}

std::string AlertSettings::toShownJson() const
{
    return dumped(jsonOf(*this, true));
}

}
