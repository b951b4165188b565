// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/widecsvreader.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/csvtext.h>
#include <telltale/exchange/mappedfile.h>
#include <telltale/exchange/widecsvhead.h>

namespace telltale::exchange {
namespace {

constexpr std::size_t kWideHead = 64u << 10;
class WideTable {
public:
    WideTable(std::string path, WideHead head, ForeignRun& run)
        : m_path(std::move(path))
        , m_head(std::move(head))
        , m_run(run)
    {
    }

    /// A table of one run is called as that run.
    void nameRuns(const std::vector<std::string>& runs)
    {
        m_hasMany = runs.size() > 1;
        if (runs.size() == 1 && m_run.name.empty())
            m_run.name = runs[0];
    }
    /// Panels have their runs in the head.
    Expected<void> readHead()
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

    /// Tables of other metrics belong to the same attempt: a panel is a metric.
    void chooseProcess()
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

    void take(const CsvRows& rows)
    {
        const auto& cells = rows.cells();
        const auto step = m_head.step < cells.size() ? csvInteger(cells[m_head.step]) : std::nullopt;
        if (!step) {
            m_bad = m_bad == 0 ? rows.line() : m_bad;
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
                tracks[i]
                    = &trackOf(m_head.names[i], m_head.run < cells.size() ? cells[m_head.run] : std::string_view());
            tracks[i]->add(*step, *value);
        }
        if (cells.size() > m_head.names.size())
            m_run.leaveOut("cells without a column", cells.size() - m_head.names.size());
    }

    void finish(bool isTorn)
    {
        if (m_badRows > 0)
            m_run.noteDamage(m_path + ": " + std::to_string(m_badRows) + " rows have no step, line "
                + std::to_string(m_bad) + " the first");
        if (isTorn)
            m_run.noteDamage(m_path + ": it ends within a cell");
        if (m_head.kind == WideKind::Panel)
            dropDoubles();
    }

private:
    std::vector<Track*>& tracksOf(std::string_view run)
    {
        if (m_lastTracks && run == m_lastRun)
            return *m_lastTracks;
        m_lastRun = std::string(run);
        std::vector<Track*>& tracks = m_tracks[m_lastRun];
        tracks.resize(m_head.names.size());
        m_lastTracks = &tracks;
        return tracks;
    }
    std::string nameOf(const std::string& column, std::string_view run) const
    {
        const std::size_t at = m_head.kind == WideKind::Panel ? column.rfind(kRunFromMetric) : kNoColumn;
        if (at == kNoColumn)
            return m_hasMany ? textOfCell(run) + '/' + textOfCell(column) : textOfCell(column);
        const std::string metric = column.substr(at + kRunFromMetric.size());
        return textOfCell(m_hasMany ? column.substr(0, at) + '/' + metric : metric);
    }
    Track& trackOf(const std::string& column, std::string_view run)
    {
        SeriesDesc desc;
        desc.numel = 1;
        desc.name = nameOf(column, run);
        return m_process->series(Kind::Scalar, desc).track(Stat::Value);
    }
    /// A panel says the least and the most of each of its points, which is the same where it has all of them.
    void dropDoubles()
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

    const std::string m_path;
    WideHead m_head;
    ForeignRun& m_run;
    ForeignProcess* m_process = nullptr;
    std::map<std::string, std::vector<Track*>> m_tracks; ///< by run
    std::string m_lastRun;
    std::vector<Track*>* m_lastTracks = nullptr;
    bool m_hasMany = false;
    std::size_t m_bad = 0, m_badRows = 0;
};

}

bool WideCsvReader::claims(const std::filesystem::path& path) const
{
    const std::string head = headOf(path, kWideHead);
    CsvRows rows(head);
    return rows.next() && WideHead(rows.cells()).kind != WideKind::None;
}

Expected<void> WideCsvReader::read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const
{
    auto file = MappedFile::open(path);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    CsvRows rows(file->bytes());
    if (!rows.next())
        return failure(ErrorCode::BadInput, path.string() + " is empty");
    const WideHead head(rows.cells());
    WideTable table(path.string(), head, run);
    if (auto ok = table.readHead(); !ok)
        return ok;
    if (head.kind == WideKind::Log) {
        std::vector<std::string> runs;
        CsvRows again(file->bytes());
        while (again.next()) {
            const bool isNew = again.line() > 1 && head.run < again.cells().size()
                && std::find(runs.begin(), runs.end(), again.cells()[head.run]) == runs.end();
            if (isNew && runs.size() < 2)
                runs.emplace_back(again.cells()[head.run]);
        }
        table.nameRuns(runs);
    }
    table.chooseProcess();
    for (std::size_t count = 1; rows.next(); ++count) {
        table.take(rows);
        if (count % 1024 == 0) {
            const double share = static_cast<double>(rows.offset()) / static_cast<double>(file->bytes().size());
            if (auto on = goOn(progress, share); !on)
                return on;
        }
    }
    table.finish(rows.isTorn());
    return {};
}

std::string parquetAdvice(const std::filesystem::path& path)
{
    if (headOf(path, 4) != "PAR1")
        return {};
    return "python3 -c 'import sys, pandas; pandas.read_parquet(sys.argv[1]).to_csv(sys.argv[1] + \".csv\", "
           "index=False)' FILE.parquet, and import FILE.parquet.csv";
}

}
