// SPDX-License-Identifier: GPL-3.0-or-later
#include "htmlreport.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <telltale/analysis/logdocument.h>
#include <telltale/core/plaintext.h>

#include "report.h"

namespace telltale::app {
namespace {

using judge::Incident;
using store::Severity;

constexpr std::size_t kMostIncidents = 50;
constexpr std::size_t kMostRecords = 200;
constexpr std::size_t kMostLanes = 40;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light; --ink: #1c2024; --quiet: #60646c; --line: #d9dce1; --card: #f7f8fa; --critical: #d3154c; --warning: #b35c00; --notice: #1a6fc4; }
body { font: 15px/1.5 Inter, "Noto Sans", system-ui, sans-serif; color: var(--ink); margin: 0 auto; max-width: 1160px; padding: 24px 20px 48px; }
h1 { font-size: 24px; margin: 0; } h2 { font-size: 17px; margin: 32px 0 8px; } p { margin: 4px 0; }
code, pre, .place { font-family: "JetBrains Mono", "DejaVu Sans Mono", monospace; font-size: 13px; font-variant-ligatures: none; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 12px; overflow: auto; max-height: 480px; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--quiet); font-weight: 500; } th, td { padding: 3px 16px 3px 0; vertical-align: top; overflow-wrap: anywhere; border-bottom: 1px solid var(--line); }
.quiet { color: var(--quiet); } .tag { display: inline-block; border: 1px solid var(--line); border-radius: 10px; padding: 0 8px; margin-right: 4px; }
.card { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--notice); border-radius: 6px; padding: 12px 16px; margin: 12px 0; }
.critical { border-left-color: var(--critical); } .warning { border-left-color: var(--warning); } .sentence { font-size: 17px; }
.card ul { margin: 6px 0 0; padding-left: 20px; } figure { margin: 12px 0 24px; } figure img { width: 100%; border: 1px solid var(--line); border-radius: 6px; display: block; }
figcaption { margin-bottom: 6px; } svg text { font: 12px Inter, "Noto Sans", system-ui, sans-serif; fill: var(--quiet); } details { margin: 8px 0; } summary { cursor: pointer; font-weight: 500; }
@media print { pre { max-height: none; } figure, .card { break-inside: avoid; } }
)";

/// Text from outside inside an element or an attribute; what is no UTF-8, and what a reader would not see, is replaced.
std::string html(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8SequenceLength(text.substr(at));
        if (length == 0) {
            out += "\uFFFD";
            ++at;
            continue;
        }
        const std::string_view one = text.substr(at, length);
        at += length;
        if (one == "&")
            out += "&amp;";
        else if (one == "<")
            out += "&lt;";
        else if (one == ">")
            out += "&gt;";
        else if (one == "\"")
            out += "&quot;";
        else if (one == "'")
            out += "&#39;";
        else if (one == "\n")
            out += one;
        else
            out += terminalText(one);
    }
    return out;
}

std::string htmlOf(const analysis::Json& document)
{
    return html(document.dump(2, ' ', false, analysis::Json::error_handler_t::replace));
}

const char* classOf(Severity severity)
{
    return severity == Severity::Critical ? "critical" : severity == Severity::Warning ? "warning" : "notice";
}

/// Where it showed: a lane a block and rank, over the steps of the run.
std::string lanesOf(const Incident& incident, StepRange run)
{
    if (incident.reach.empty() || run.isEmpty())
        return {};
    constexpr int kLeft = 220, kRight = 1100, kLane = 20;
    const auto count = std::min(incident.reach.size(), kMostLanes);
    const auto x = [&](Step step) {
        return kLeft
            + (kRight - kLeft) * static_cast<double>(step.value - run.first.value)
            / static_cast<double>(std::max<std::int64_t>(run.count(), 1));
    };
    const int height = static_cast<int>(count) * kLane + 28;
    std::string out = fmt::format(
        "<figure><figcaption>Where it showed, over the steps of the run{}</figcaption>"
        "<svg viewBox=\"0 0 1110 {}\" width=\"100%\" role=\"img\" aria-label=\"Where it showed\">",
        incident.reach.size() > count ? fmt::format(" (the first {} of {} places)", count, incident.reach.size()) : "",
        height);
    for (std::size_t i = 0; i < count; ++i) {
        const judge::Reach& reach = incident.reach[i];
        const int y = static_cast<int>(i) * kLane + 4;
        out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}{}</text>"
                           "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"12\" rx=\"2\" fill=\"{}\"/>",
            kLeft - 10, y + 11, html(reach.block),
            reach.rank.value < 0 ? "" : fmt::format(", rank {}", reach.rank.value), x(reach.steps.first), y,
            std::max(x(Step { reach.steps.last.value + 1 }) - x(reach.steps.first), 2.0),
            incident.first.severity == Severity::Critical ? "#d3154c" : "#b35c00");
    }
    const int y = static_cast<int>(count) * kLane + 20;
    out += fmt::format(
        "<text x=\"{}\" y=\"{}\">step {}</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text></svg></figure>",
        kLeft, y, run.first.value, kRight, y, run.last.value);
    return out;
}

/// As the window says it.
std::string stateOf(const Incident& incident, const ReportContent& content)
{
    const bool isRunOver = content.run.state != store::RunState::Live || analysis::isRunOver(*content.catalog);
    if (incident.isOver || (isRunOver && incident.lastStep < content.catalog->steps.last))
        return fmt::format("nothing new since step {}", incident.lastStep.value);
    return isRunOver ? "not over at the run's end" : fmt::format("last seen at step {}", incident.lastStep.value);
}

std::string cardOf(const Incident& incident, const ReportContent& content, bool isWhole)
{
    std::string out
        = fmt::format("<div class=\"card {}\"><p class=\"sentence\">{}</p><p class=\"quiet\">{}, rule {}, {}{}{}</p>",
            classOf(incident.first.severity), html(incident.sentence), classOf(incident.first.severity),
            html(incident.first.rule), stateOf(incident, content),
            incident.folded > 0 ? fmt::format(", {} later findings folded", incident.folded) : "",
            incident.isAcknowledged ? ", acknowledged" : "");
    if (!incident.evidence.empty() || !incident.ties.empty() || !incident.notes.empty()) {
        out += "<ul>";
        for (const judge::Finding& finding : incident.evidence)
            out += fmt::format("<li>step {}, <span class=\"place\">{}</span>: {}</li>", finding.step.value,
                html(judge::placeOf(finding)), html(finding.sentence));
        for (const std::string& tie : incident.ties)
            out += fmt::format("<li>at the same moment: {}</li>", html(tie));
        for (const std::string& note : incident.notes)
            out += fmt::format("<li>note: {}</li>", html(note));
        out += "</ul>";
    }
    out += "</div>";
    return isWhole ? out + lanesOf(incident, content.catalog->steps) : out;
}

std::string incidentsOf(const ReportContent& content)
{
    std::string out = content.isOfOne ? "<h2>Incident</h2>" : "<h2>Incidents</h2>";
    if (content.incidents.empty())
        return out + "<p>Nothing abnormal was found while this run was recorded.</p>";
    std::size_t shown = 0;
    for (const Incident& incident : content.incidents) {
        if (shown == kMostIncidents)
            break;
        out += cardOf(incident, content, shown++ == 0);
    }
    if (content.incidents.size() > shown)
        out += fmt::format("<p class=\"quiet\">and {} more: telltale incidents {}</p>",
            content.incidents.size() - shown, html(content.run.id));
    return out;
}

std::string picturesOf(const std::vector<ReportPicture>& pictures)
{
    std::string out;
    for (const ReportPicture& picture : pictures) {
        out += fmt::format("<figure><figcaption><b>{}</b> <span class=\"quiet\">{}</span></figcaption>",
            html(picture.title), html(picture.caption));
        if (!picture.bytes.isEmpty())
            out += fmt::format("<img alt=\"{}\" src=\"data:{};base64,{}\">", html(picture.title), picture.type,
                picture.bytes.toBase64().toStdString());
        out += "</figure>";
    }
    return out;
}

std::string factsOf(const std::string& title, const analysis::Json& document)
{
    const auto facts = analysis::factsOf(document);
    if (facts.empty())
        return {};
    std::string out = fmt::format("<details open><summary>{}</summary><table>", title);
    for (const analysis::Fact& fact : facts)
        out += fmt::format("<tr><th>{}</th><td>{}</td></tr>", html(fact.name), html(fact.value));
    return out + "</table></details>";
}

std::string headOf(const ReportContent& content)
{
    const store::Catalog& catalog = *content.catalog;
    std::map<Rank, const store::SourceInfo*> ranks;
    for (const store::SourceInfo& source : catalog.sources)
        ranks[source.rank] = &source;
    std::string frameworks;
    for (const auto& [rank, source] : ranks) {
        if (frameworks.find(source->framework) == std::string::npos)
            frameworks += (frameworks.empty() ? "" : ", ") + source->framework;
    }
    std::string out = fmt::format("<h1>{}</h1><p class=\"quiet\">run {} · {} · started {} · steps {} to {} · {}{}</p>",
        html(catalog.name), html(content.run.id), store::runStateName(content.run.state),
        utcTimeText(catalog.createdNs), catalog.steps.first.value, catalog.steps.last.value,
        countText(ranks.size(), "rank", "ranks"), frameworks.empty() ? "" : " · " + html(frameworks));
    if (!content.document.tags.empty()) {
        out += "<p>";
        for (const std::string& tag : content.document.tags)
            out += fmt::format("<span class=\"tag\">{}</span>", html(tag));
        out += "</p>";
    }
    if (!content.document.notes.empty())
        out += fmt::format("<p style=\"white-space: pre-wrap\">{}</p>", html(content.document.notes));
    for (const std::string& sentence : catalog.damage)
        out += fmt::format("<div class=\"card critical\">This run is damaged: {}</div>", html(sentence));
    return out;
}

std::string logOf(const std::vector<store::LogRecord>& log)
{
    if (log.empty())
        return {};
    const std::size_t first = log.size() > kMostRecords ? log.size() - kMostRecords : 0;
    std::string out = fmt::format("<details><summary>Log{}</summary><table><tr><th>Time</th><th>Step</th><th>Rank</"
                                  "th><th>Kind</th><th>What</th></tr>",
        first > 0 ? fmt::format(" (the last {} of {})", kMostRecords, log.size()) : "");
    for (std::size_t i = first; i < log.size(); ++i) {
        const store::LogRecord& record = log[i];
        out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            utcTimeText(record.placeNs()), record.steps.isEmpty() ? "" : std::to_string(record.placeStep().value),
            record.rank.value < 0 ? "" : std::to_string(record.rank.value), html(record.kind),
            html(analysis::textOf(record)));
    }
    return out + "</table></details>";
}

}

std::string htmlReport(const ReportContent& content)
{
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
                      "style-src 'unsafe-inline'\">"
                      "<meta name=\"viewport\" content=\"width=device-width\"><title>"
        + html(content.catalog->name) + "</title><style>" + std::string(kStyle) + "</style></head><body>";
    out += headOf(content);
    out += incidentsOf(content);
    out += picturesOf(content.pictures);
    out += "<h2>About the run</h2>";
    out += factsOf("Hyperparameters", content.document.hyperparameters);
    if (!content.document.config.empty())
        out += "<details><summary>config.json</summary><pre>" + htmlOf(content.document.config) + "</pre></details>";
    out += factsOf("Environment", content.document.environment);
    out += logOf(content.log);
    return out + "<p class=\"quiet\">Made by Telltale " TELLTALE_VERSION ".</p></body></html>\n";
}

}
