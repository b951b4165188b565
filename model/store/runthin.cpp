// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runthin.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/store/newrunfile.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/tilesealer.h>

namespace telltale::store {
namespace {

using series::OpenTile;
using series::PlaneType;

constexpr double kShareOfCopy = 0.2;
constexpr double kShareOfTiles = 0.8; ///< of the rest

struct StoredGroup {
    LiveGroup group;
    std::vector<Stat> stats;
};

Expected<std::vector<StoredGroup>> groupsIn(sqlite3* db)
{
    std::vector<StoredGroup> groups;
    auto ok = forEachRow(db, "SELECT id, series, stats FROM grp", [&groups](const Statement& row) {
        StoredGroup& found = groups.emplace_back();
        found.group.id = GroupId(row.integer(0));
        found.group.lanes = static_cast<int>(row.integer(1));
        for (const char stat : row.blob(2))
            found.stats.push_back(static_cast<Stat>(stat));
    });
    return ok ? Expected<std::vector<StoredGroup>>(std::move(groups)) : tl::unexpected<Error>(std::move(ok.error()));
}

/// Which columns of a group stay: all groups of a layout have the same, so that they keep the same.
class Chooser {
public:
    Chooser(const ThinRule& rule, Step newest)
        : m_rule(rule)
        , m_newest(newest)
    {
    }
    bool takes(Step step)
    {
        const std::int64_t every = m_rule.every;
        const std::int64_t part = step.value / every - (step.value % every < 0 ? 1 : 0);
        const bool isFirst = !m_hasPart || part != m_part;
        m_part = part;
        m_hasPart = true;
        return isFirst || step == m_newest
            || std::any_of(m_rule.whole.begin(), m_rule.whole.end(),
                [step](const StepRange& range) { return range.contains(step); });
    }

private:
    const ThinRule& m_rule;
    const Step m_newest;
    std::int64_t m_part = 0;
    bool m_hasPart = false;
};

template <typename T> void copyLanes(OpenTile& to, int stat, int column, const void* values, int lanes, int from)
{
    const T* first = static_cast<const T*>(values) + static_cast<std::ptrdiff_t>(from) * lanes;
    to.setLanes(0, stat, column, std::span<const T>(first, static_cast<std::size_t>(lanes)));
}

void copyColumn(OpenTile& to, const OpenTile& from, int column)
{
    const int at = to.appendColumn(from.stepAt(column));
    const int lanes = from.seriesCount();
    for (int lane = 0; lane < lanes; ++lane)
        to.setPresent(lane, at, from.isPresent(lane, column));
    for (int stat = 0; stat < static_cast<int>(from.stats().size()); ++stat) {
        const series::PlaneData plane = from.plane(stat);
        if (plane.type == PlaneType::F32)
            copyLanes<float>(to, stat, at, plane.values, lanes, column);
        else if (plane.type == PlaneType::F64)
            copyLanes<double>(to, stat, at, plane.values, lanes, column);
        else if (plane.type == PlaneType::U64)
            copyLanes<std::uint64_t>(to, stat, at, plane.values, lanes, column);
    }
}

tl::unexpected<Error> canceled()
{
    return failure(ErrorCode::Canceled, "the thinning was canceled: nothing was changed");
}

/// Writes a group's tiles again, in their place: a tile is written when at least as many columns have been read.
Expected<void> thinGroup(sqlite3* db, TileSealer& sealer, const StoredGroup& stored, const ThinRule& rule,
    ThinReport& report, const Progress& progress)
{
    const std::string id = std::to_string(stored.group.id.value);
    std::vector<std::int64_t> tiles;
    auto ok = forEachRow(db, "SELECT DISTINCT c0 FROM tile WHERE lvl = 0 AND grp = " + id + " ORDER BY c0",
        [&tiles](const Statement& row) { tiles.push_back(row.integer(0)); });
    if (ok)
        ok = execute(db, ("DELETE FROM tile WHERE lvl > 0 AND grp = " + id).c_str());
    if (!ok || tiles.empty())
        return ok;
    auto newestTile = sealer.load(stored.group, stored.stats, tiles.back());
    if (!newestTile)
        return tl::unexpected<Error>(std::move(newestTile.error()));
    Chooser chooser(rule, (*newestTile)->stepAt((*newestTile)->writtenColumns() - 1));
    std::int64_t columns = 0; // sealed
    auto open = std::make_unique<OpenTile>(stored.group.id, 0, stored.stats, stored.group.lanes);
    std::size_t done = 0;
    for (const std::int64_t c0 : tiles) {
        if (progress && !progress(static_cast<double>(done++) / static_cast<double>(tiles.size())))
            return canceled();
        const auto tile = sealer.load(stored.group, stored.stats, c0);
        if (!tile)
            return tl::unexpected(tile.error());
        report.stepsBefore += static_cast<std::uint64_t>((*tile)->writtenColumns());
        for (int column = 0; column < (*tile)->writtenColumns(); ++column) {
            if (!chooser.takes((*tile)->stepAt(column)))
                continue;
            ++report.stepsAfter;
            copyColumn(*open, **tile, column);
            if (!open->isFull())
                continue;
            if (ok = sealer.seal(stored.group, *open, true); !ok)
                return ok;
            columns += series::kTileColumns;
            open = std::make_unique<OpenTile>(stored.group.id, columns, stored.stats, stored.group.lanes);
        }
    }
    const std::int64_t end = columns + open->writtenColumns();
    if (open->writtenColumns() > 0)
        ok = sealer.seal(stored.group, *open, false);
    // What is left of level 0 lies behind the newest tile.
    if (ok)
        ok = execute(db, fmt::format("DELETE FROM tile WHERE lvl = 0 AND grp = {} AND c0 >= {}", id, end).c_str());
    if (ok)
        ok = sealer.sealPartialLevels(stored.group, stored.stats, end);
    sealer.forget(stored.group.id);
    return ok;
}

Expected<ThinReport> thinFile(const std::string& path, const ThinRule& rule, const Progress& progress)
{
    auto db = openDatabase(path, OpenMode::Write);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    // Nobody else has the draft, which is made durable as a whole.
    if (auto ok = execute(db->get(), "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN"); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    auto sealer = TileSealer::create(db->get());
    const auto groups = groupsIn(db->get());
    if (!sealer || !groups)
        return tl::unexpected<Error>(sealer ? groups.error() : sealer.error());
    ThinReport report;
    const double share = 1.0 / static_cast<double>(std::max<std::size_t>(groups->size(), 1)) * kShareOfTiles;
    double begin = 0;
    for (const StoredGroup& group : *groups) {
        auto ok = thinGroup(db->get(), **sealer, group, rule, report, partOf(progress, begin, begin + share));
        begin += share;
        if (!ok && ok.error().code == ErrorCode::Canceled)
            return tl::unexpected<Error>(std::move(ok.error()));
        if (!ok)
            return failure(ok.error().code, "a part of the run cannot be read: " + ok.error().what,
                ok.error().code == ErrorCode::Damaged ? "'telltale repair' writes what can be into a new file"
                                                      : ok.error().todo);
    }
    sealer->reset();
    auto ok = execute(db->get(), "COMMIT");
    ProgressWatch watch(db->get(), progress);
    if (ok && watch.tell(kShareOfTiles))
        ok = execute(db->get(), "VACUUM");
    if (watch.isCanceled())
        return canceled();
    return ok ? Expected<ThinReport>(report) : tl::unexpected<Error>(std::move(ok.error()));
}

Event thinnedEvent(const ThinRule& rule, const ThinReport& report)
{
    Event event;
    event.kind = "thinned";
    event.text = fmt::format("thinned: one step of {} kept, {} of {} columns dropped", rule.every,
        report.stepsBefore - report.stepsAfter, report.stepsBefore);
    auto whole = nlohmann::json::array();
    for (const StepRange& range : rule.whole) {
        event.text
            += fmt::format("{}{} to {}", whole.empty() ? "; whole: steps " : ", ", range.first.value, range.last.value);
        whole.push_back({ range.first.value, range.last.value });
    }
    event.json = nlohmann::json {
        { "every", rule.every }, { "whole", std::move(whole) }, { "columns_before", report.stepsBefore },
        { "columns_after", report.stepsAfter }
    }.dump();
    return event;
}

}

Expected<ThinReport> thinRun(
    const RunLocator& run, const std::string& to, const ThinRule& rule, const Progress& progress)
{
    if (rule.every < 2)
        return failure(ErrorCode::BadInput, "a run is thinned by keeping one step of 2 or more");
    const RunSummary summary = describeRun(run);
    if (summary.state == RunState::Live)
        return failure(ErrorCode::Busy, "the run " + run.text() + " is being recorded", "thin it when it has ended");
    if (summary.state == RunState::Damaged || summary.state == RunState::Newer)
        return failure(summary.state == RunState::Newer ? ErrorCode::Newer : ErrorCode::Damaged,
            "cannot thin " + run.text() + ": " + summary.note,
            summary.state == RunState::Newer ? "" : "'telltale repair' writes what can be read into a new file");
    auto file = NewRunFile::begin(to);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    auto ok = copyRun(run, file->draft(), partOf(progress, 0, kShareOfCopy));
    if (!ok && ok.error().code == ErrorCode::Canceled)
        return canceled();
    const RunState state = endedState(summary.state);
    if (ok)
        ok = file->seal(state, summary.modifiedNs);
    if (!ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    auto report = thinFile(file->draft(), rule, partOf(progress, kShareOfCopy, 1));
    if (!report)
        return report;
    if (progress && !progress(1))
        return canceled();
    if (ok = file->finish(thinnedEvent(rule, *report), state, summary.modifiedNs); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    report->bytesBefore = summary.fileBytes;
    report->bytesAfter = runBytes(RunLocator::ofFile(to));
    return report;
}

}
