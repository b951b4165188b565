// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/rulesinforce.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <telltale/store/runreader.h>

namespace telltale::judge {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1 << 20;

/// "" where there is no file.
std::string fingerprint(const std::string& path)
{
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    const auto size = error ? 0 : fs::file_size(path, error);
    return error ? std::string() : fmt::format("{}/{}", time.time_since_epoch().count(), size);
}

Expected<Rules> readRules(const std::string& path)
{
    std::error_code error;
    std::ifstream file(path, std::ios::binary);
    if (!file || fs::file_size(path, error) > kMostBytes || error)
        return failure(ErrorCode::BadInput, "it cannot be read");
    std::ostringstream text;
    text << file.rdbuf();
    return Rules::fromJson(text.str());
}

}

Event rulesEvent(const Rules& rules, Step step, std::string author, std::int64_t wallNs)
{
    Event event;
    event.kind = kRulesRecord;
    event.step = step;
    event.wallNs = wallNs;
    event.text = changesBetween(Rules(), rules);
    if (event.text.empty())
        event.text = "the standard rules";
    event.json = rules.toJson();
    event.author = std::move(author);
    return event;
}

std::string changesBetween(const Rules& from, const Rules& to)
{
    std::string all;
    const auto say = [&all](const std::string& change) { all.append(all.empty() ? "" : ", ").append(change); };
    for (const RuleInfo& info : ruleTable()) {
        if (from.isOn(info.rule) != to.isOn(info.rule))
            say(fmt::format("{} {}", info.id, to.isOn(info.rule) ? "on" : "off"));
        if (from.escalation(info.rule) != to.escalation(info.rule))
            say(fmt::format("{} escalates{}", info.id,
                to.escalation(info.rule).config.empty()         ? " no more"
                    : from.escalation(info.rule).config.empty() ? ""
                                                                : " otherwise"));
        for (std::size_t i = 0; i < info.parameters.size(); ++i) {
            if (from.value(info.rule, i) != to.value(info.rule, i))
                say(fmt::format("{}.{} {} → {}", info.id, info.parameters[i].name, from.value(info.rule, i),
                    to.value(info.rule, i)));
        }
    }
    return all;
}

Expected<void> RunRules::update(store::RunReader& reader)
{
    for (;;) {
        auto page = reader.log(m_cursor, { std::string(kRulesRecord), Rank { -1 }, {} });
        if (!page)
            return tl::unexpected<Error>(std::move(page.error()));
        for (const store::LogRecord& record : page->records) {
            auto rules = Rules::fromJson(record.json);
            m_problem = rules ? std::string()
                              : fmt::format("the rules that the run's log has at step {} do not count: {}",
                                  record.steps.first.value, rules.error().sentence());
            if (!rules)
                continue;
            m_rules = *rules;
            m_since = record.steps.first;
        }
        m_cursor = page->next;
        if (page->isLast)
            return {};
    }
}

std::string DefaultRules::fileIn(const std::string& dataDir)
{
    return (fs::path(dataDir) / "rules.json").string();
}

DefaultRules::DefaultRules(const std::string& dataDir)
    : m_path(fileIn(dataDir))
{
    refresh();
}

bool DefaultRules::refresh()
{
    std::string now = fingerprint(m_path);
    if (now == m_seen)
        return false;
    m_seen = std::move(now);
    m_problem.clear();
    if (m_seen.empty()) {
        m_rules = Rules();
        m_isFile = false;
        return true;
    }
    auto rules = readRules(m_path);
    if (rules) {
        m_rules = *rules;
        m_isFile = true;
    } else {
        m_problem = fmt::format("{} does not count, {} rules stay in force: {}", m_path,
            m_isFile ? "the former" : "the standard", rules.error().sentence());
    }
    return true;
}

Expected<void> DefaultRules::save(const std::string& dataDir, const Rules& rules)
{
    const std::string path = fileIn(dataDir);
    const std::string draft = path + ".new";
    const std::string text = rules.toJson() + '\n';
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    std::error_code error;
    if (file)
        fs::rename(draft, path, error);
    if (!file || error)
        return failure(ErrorCode::Io, "the rules could not be written to " + path,
            "see that the disk has room and that the folder may be written");
    return {};
}

Expected<RulesInForce> rulesInForce(const std::string& dataDir, store::RunReader* reader)
{
    const DefaultRules standard(dataDir);
    RulesInForce found { standard.rules(),
        standard.isFile() ? RulesInForce::From::Default : RulesInForce::From::Standard, standard.problem() };
    if (reader == nullptr)
        return found;
    RunRules own;
    if (auto read = own.update(*reader); !read)
        return tl::unexpected<Error>(std::move(read.error()));
    if (!own.problem().empty())
        found.problem.append(found.problem.empty() ? "" : "; ").append(own.problem());
    if (own.rules()) {
        found.rules = *own.rules();
        found.from = RulesInForce::From::Run;
    }
    return found;
}

}
