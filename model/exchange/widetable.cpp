// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/widetable.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <telltale/exchange/csvtext.h>

namespace telltale::exchange {

WideTable::WideTable(std::string path, WideHead head, ForeignRun& run, std::string unit)
    : m_path(std::move(path))
    , m_head(std::move(head))
    , m_run(run)
    , m_unit(std::move(unit))
{
}

void WideTable::nameRuns(const std::vector<std::string>& runs)
{
    m_hasMany = runs.size() > 1;
    if (runs.size() == 1 && m_run.name.empty())
        m_run.name = runs[0];
}

Expected<void> WideTable::readHead()
{
    std::vector<std::string> runs;
    for (std::size_t i = 1; m_head.kind == WideKind::Panel && i < m_head.names.size(); ++i) {
        const std::string& name = m_head.names[i];
        std::string run = name.substr(0, std::min(name.rfind(kRunFromMetric), name.size()));
        if (std::find(runs.begin(), runs.end(), run) == runs.end())
            runs.push_back(std::move(run));
        if (m_head.names[0] != "Step" && name.ends_with(" - _step"))
            m_head.step = i;
    }
    if (m_head.kind == WideKind::Panel && m_head.step == 0 && m_head.names[0] != "Step"
        && m_head.names[0].find("step") == std::string::npos)
        return failure(ErrorCode::BadInput,
            m_path + " has \"" + textOfCell(m_head.names[0]) + "\" on its x axis, and no steps",
            "export the panel with Step on the x axis");
    if (m_head.kind == WideKind::Panel)
        nameRuns(runs);
    return {};
}

void WideTable::chooseProcess()
{
    std::set<std::string> names;
    for (std::size_t i = 0; i < m_head.names.size(); ++i) {
        if (!m_head.isOwn(i))
            names.insert(nameOf(m_head.names[i], {}));
    }
    int attempt = 0;
    const auto isThere = [&](const ForeignSeries& series) { return names.contains(series.desc.name); };
    for (; attempt < m_run.attemptsOf(Rank { 0 }); ++attempt) {
        const auto& all = m_run.process(Rank { 0 }, attempt).all();
        if (m_head.kind == WideKind::Panel && std::none_of(all.begin(), all.end(), isThere))
            break;
    }
    m_process = &m_run.process(Rank { 0 }, attempt);
    m_process->framework = m_head.kind == WideKind::Log ? "Trackio" : "W&B";
}

void WideTable::take(const CsvRows& rows, std::size_t number)
{
    const auto& cells = rows.cells();
    const auto step = m_head.step < cells.size() ? csvInteger(cells[m_head.step]) : std::nullopt;
    if (!step) {
        m_bad = m_bad == 0 ? number : m_bad;
        ++m_badRows;
        return;
    }
    if (m_head.time < cells.size()) {
        if (const std::int64_t ns = timeOfCell(cells[m_head.time]); ns > 0) {
            m_process->noteTime(*step, ns);
            m_run.createdNs = m_run.createdNs == 0 ? ns : std::min(m_run.createdNs, ns);
        }
    }
    std::vector<Track*>& tracks = tracksOf(m_head.run < cells.size() ? cells[m_head.run] : std::string_view());
    for (std::size_t i = 0; i < std::min(cells.size(), tracks.size()); ++i) {
        if (cells[i].empty() || m_head.isOwn(i))
            continue;
        const auto value = valueOfCell(cells[i]);
        if (!value) {
            m_run.leaveOut("cells that are no numbers, as texts and media");
            continue;
        }
        if (!tracks[i])
            tracks[i] = &trackOf(m_head.names[i], m_head.run < cells.size() ? cells[m_head.run] : std::string_view());
        tracks[i]->add(*step, *value);
    }
    if (cells.size() > m_head.names.size())
        m_run.leaveOut("cells without a column", cells.size() - m_head.names.size());
}

void WideTable::finish(bool isTorn)
{
    if (m_badRows > 0)
        m_run.noteDamage(m_path + ": " + std::to_string(m_badRows) + " rows have no step, " + m_unit + " "
            + std::to_string(m_bad) + " the first");
    if (isTorn)
        m_run.noteDamage(m_path + ": it ends within a cell");
    if (m_head.kind == WideKind::Panel)
        dropDoubles();
}

std::vector<Track*>& WideTable::tracksOf(std::string_view run)
{
    if (m_lastTracks && run == m_lastRun)
        return *m_lastTracks;
    m_lastRun = std::string(run);
    std::vector<Track*>& tracks = m_tracks[m_lastRun];
    tracks.resize(m_head.names.size());
    m_lastTracks = &tracks;
    return tracks;
}

std::string WideTable::nameOf(const std::string& column, std::string_view run) const
{
    const std::size_t at = m_head.kind == WideKind::Panel ? column.rfind(kRunFromMetric) : kNoColumn;
    if (at == kNoColumn)
        return m_hasMany ? textOfCell(run) + '/' + textOfCell(column) : textOfCell(column);
    const std::string metric = column.substr(at + kRunFromMetric.size());
    return textOfCell(m_hasMany ? column.substr(0, at) + '/' + metric : metric);
}

Track& WideTable::trackOf(const std::string& column, std::string_view run)
{
    SeriesDesc desc;
    desc.numel = 1;
    desc.name = nameOf(column, run);
    return m_process->series(Kind::Scalar, desc).track(Stat::Value);
}

/// A panel says the least and the most of each of its points, which is the same where it has all of them.
void WideTable::dropDoubles()
{
    std::map<std::string, ForeignSeries*> byName;
    for (ForeignSeries& series : m_process->all())
        byName[series.desc.name] = &series;
    for (auto& [name, series] : byName) {
        const bool isEdge = name.ends_with(kLeastColumn) || name.ends_with(kMostColumn);
        const auto found = isEdge ? byName.find(name.substr(0, name.size() - kLeastColumn.size())) : byName.end();
        if (found == byName.end() || series->tracks.empty() || found->second->tracks.empty())
            continue;
        Track& edge = series->tracks[0];
        const Track& all = found->second->tracks[0];
        const bool isSame = edge.steps == all.steps
            && std::equal(edge.values.begin(), edge.values.end(), all.values.begin(), all.values.end(),
                [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
        if (isSame) {
            m_run.leaveOut("columns __MIN and __MAX that say the same as their metric");
            edge.steps.clear();
            edge.values.clear();
        }
    }
}

}
