// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewstate.h"

#include <algorithm>
#include <set>
#include <utility>

#include <telltale/core/drops.h>
#include <telltale/core/numberformats.h>
#include <telltale/core/protocolone.h>
#include <telltale/items/guithread.h>
#include <telltale/store/archive.h>

#include "rowlist.h"

namespace telltale::views {

namespace {

template <typename Value> bool assign(Value& member, Value value)
{
    if (member == value)
        return false;
    member = std::move(value);
    return true;
}

QString nameOf(const store::RunRef& run, const std::shared_ptr<const store::Catalog>& catalog)
{
    if (!run)
        return {};
    return QString::fromStdString(catalog && !catalog->name.empty() ? catalog->name : run->name);
}

StepRange clampedTo(StepRange range, StepRange full)
{
    if (full.isEmpty())
        return range;
    const std::int64_t count = std::clamp<std::int64_t>(range.count(), 1, full.count());
    const std::int64_t first = std::clamp(range.first.value, full.first.value, full.last.value - count + 1);
    return { Step { first }, Step { first + count - 1 } };
}

}

StepRange stepsOf(const store::RunHandle& run, const store::Catalog& catalog)
{
    if (!run.live)
        return catalog.steps;
    return { Step { run.live->firstStep.load(std::memory_order_relaxed) },
        Step { run.live->lastStep.load(std::memory_order_relaxed) } };
}

ViewState::ViewState(QObject* parent)
    : QObject(parent)
{
    connect(&m_incidents, &items::IncidentsModel::changed, this, &ViewState::takeIncidents);
}

void ViewState::setRun(store::RunRef run)
{
    items::assertGuiThread();
    if (run == m_run)
        return;
    const bool live = run && run->isLive();
    m_run = std::move(run);
    m_catalog.reset();
    m_damage.clear();
    m_marks.clear();
    m_notes.clear();
    m_incidents.clear();
    setIncident(0);
    m_droppedSamples = 0;
    m_droppedOf.clear();
    m_agents.clear();
    m_isLogRead = false;
    m_compared.clear();
    m_zoomStack.clear();
    m_undoneZooms.clear();
    m_isSelectionOwn = false;
    m_own = {};
    m_full = {};
    m_visible = {};
    m_followSpan = 0;
    if (!m_run)
        setSelection({});
    setHover({});
    setCursor({});
    setMarks({}, {});
    const bool followChanged = assign(m_following, live);
    Q_EMIT comparedChanged();
    Q_EMIT runChanged();
    Q_EMIT catalogChanged();
    if (followChanged)
        Q_EMIT followingChanged();
    Q_EMIT fullRangeChanged();
    Q_EMIT visibleRangeChanged();
}

void ViewState::setCatalog(std::shared_ptr<const store::Catalog> catalog)
{
    items::assertGuiThread();
    if (catalog == m_catalog)
        return;
    m_catalog = std::move(catalog);
    takeStatOfKind();
    keepKnownSelection();
    Q_EMIT catalogChanged();
}

QString ViewState::damage() const
{
    return m_catalog && !m_catalog->damage.empty() ? QString::fromStdString(m_catalog->damage.front()) : m_damage;
}

void ViewState::setDamage(const QString& sentence)
{
    items::assertGuiThread();
    if (assign(m_damage, sentence))
        Q_EMIT catalogChanged();
}

void ViewState::keepKnownSelection()
{
    // The first of a live run may have no series yet.
    if (m_isSelectionOwn || !m_catalog || m_catalog->series.empty())
        return;
    m_isSelectionOwn = true;
    std::set<std::string> sought;
    for (const ModuleKey& key : m_selection)
        sought.insert(key.name.toStdString());
    for (const store::SeriesInfo& one : m_catalog->series)
        sought.erase(one.desc->name);
    std::vector<ModuleKey> kept = m_selection;
    std::erase_if(kept, [&sought](const ModuleKey& key) { return sought.contains(key.name.toStdString()); });
    setSelection(std::move(kept));
}

void ViewState::appendLog(const store::LogPage& page)
{
    bool isChanged = false;
    bool isNoted = false;
    for (const store::LogRecord& record : page.records) {
        isNoted = takeNote(record) || isNoted;
        const auto isThere = [&](const EventMark& mark) {
            return mark.rev > 0 && std::any_of(m_marks.rbegin(), m_marks.rend(), [&](const EventMark& one) {
                return one.rev == mark.rev && one.step == mark.step;
            });
        };
        if (auto mark = EventMark::of(record); mark && !isThere(*mark)) {
            // They stand in the order in which they were first read: that of their ids.
            const auto known = std::lower_bound(m_marks.begin(), m_marks.end(), mark->record,
                [](const EventMark& one, std::int64_t id) { return one.record < id; });
            if (!record.isChanged || known == m_marks.end() || known->record != mark->record) {
                m_marks.push_back(std::move(*mark));
                isChanged = true;
            } else if (assign(*known, std::move(*mark))) {
                isChanged = true;
            }
        }
        if (dropclass::isSamples(record.dropClass)) {
            m_droppedSamples += record.items;
            m_droppedOf[record.rank] += record.items;
        }
    }
    m_isLogRead = m_isLogRead || page.isLast;
    m_incidents.append(page.records);
    Q_EMIT logAppended(page);
    if (isChanged)
        Q_EMIT eventMarksChanged();
    if (isNoted)
        Q_EMIT notesChanged();
}

std::uint64_t ViewState::droppedSamples(Rank rank) const
{
    const auto known = m_droppedOf.find(rank);
    return known == m_droppedOf.end() ? 0 : known->second;
}

void ViewState::setAgents(std::vector<ConnectionInfo> agents)
{
    if (agents.empty() && m_agents.empty())
        return;
    m_agents = std::move(agents);
    Q_EMIT agentsChanged();
}

bool ViewState::takeNote(const store::LogRecord& record)
{
    auto note = store::StepNote::of(record);
    if (!note)
        return false;
    const auto known
        = std::find_if(m_notes.begin(), m_notes.end(), [&](const store::StepNote& one) { return one.id == note->id; });
    if (known != m_notes.end())
        return assign(*known, std::move(*note));
    m_notes.push_back(std::move(*note));
    return true;
}

const store::StepNote* ViewState::note(std::int64_t id) const
{
    const auto known
        = std::find_if(m_notes.begin(), m_notes.end(), [id](const store::StepNote& one) { return one.id == id; });
    return known == m_notes.end() ? nullptr : &*known;
}

void ViewState::takeIncidents()
{
    std::vector<EventMark> marks;
    marks.reserve(static_cast<std::size_t>(m_incidents.rowCount()));
    for (int row = 0; row < m_incidents.rowCount(); ++row)
        marks.push_back(EventMark::of(m_incidents.incident(row)));
    if (assign(m_incidentMarks, std::move(marks)))
        Q_EMIT eventMarksChanged();
    if (!m_isIncidentChosen)
        chooseWorstIncident();
}

void ViewState::chooseWorstIncident()
{
    const judge::Incident* worst = nullptr;
    for (int row = 0; row < m_incidents.rowCount(); ++row) {
        const judge::Incident& one = m_incidents.incident(row);
        if (!worst
            || std::pair(!one.isAcknowledged, one.first.severity)
                > std::pair(!worst->isAcknowledged, worst->first.severity))
            worst = &one;
    }
    if (assign(m_incident, worst ? worst->id : 0))
        Q_EMIT incidentChanged();
}

/// As the run has it: a slot's text alone does not say whose output it is of.
ModuleKey ViewState::keyOf(const judge::Finding& finding) const
{
    const QString name = QString::fromStdString(finding.name);
    const ModuleKeys found = m_catalog ? keysOf(*m_catalog, finding.kind, name) : ModuleKeys {};
    const auto own = std::find_if(
        found.keys.begin(), found.keys.end(), [&](const ModuleKey& key) { return key.slot.text() == finding.slot; });
    return own != found.keys.end() ? *own : ModuleKey { name, protocolone::slotOf(finding.slot, finding.kind) };
}

void ViewState::setIncident(std::int64_t id)
{
    m_isIncidentChosen = id != 0;
    if (id == 0)
        chooseWorstIncident();
    else if (assign(m_incident, id))
        Q_EMIT incidentChanged();
}

void ViewState::goToIncident(std::int64_t id)
{
    const judge::Incident* incident = m_incidents.find(id);
    if (!incident)
        return;
    setIncident(id);
    const judge::Finding& first = incident->first;
    if (first.rank.value >= 0)
        setRank(first.rank);
    if (first.kind != Kind::Unspecified && first.kind != Kind::Scalar) {
        setKind(first.kind);
        const std::vector<Stat> stats = m_catalog ? statsOf(*m_catalog, first.kind) : std::vector<Stat>();
        if (std::find(stats.begin(), stats.end(), first.stat) != stats.end())
            setStat(first.stat);
    }
    if (!first.name.empty())
        setSelection({ keyOf(first) });
    goTo(first.step);
}

bool ViewState::goToIncidentBeside(bool forward)
{
    const judge::Incident* current = m_incidents.find(m_incident);
    const bool isThere = current && m_cursor == current->first.step;
    const Step from = m_cursor.value_or(forward ? Step { m_full.first.value - 1 } : Step { m_full.last.value + 1 });
    const int row = m_incidents.rowBeside(isThere ? m_incident : 0, from, forward);
    if (row < 0)
        return false;
    goToIncident(m_incidents.incident(row).id);
    return true;
}

void ViewState::takeStatOfKind()
{
    const std::vector<Stat> stats = m_catalog ? statsOf(*m_catalog, m_kind) : std::vector<Stat>();
    const auto isPlain = [](Stat stat) { return factsOf(stat).shown != Shown::Bin && !isFormatShare(stat); };
    const auto first = std::find_if(stats.begin(), stats.end(), isPlain);
    if (first == stats.end() || std::find(stats.begin(), stats.end(), m_stat) != stats.end())
        return;
    setStat(*first);
}

/// Of each module that the keys are of, what has the kind.
static std::vector<ModuleKey> ownersOf(
    const store::Catalog& catalog, Kind kind, const std::vector<ModuleKey>& selection)
{
    std::vector<ModuleKey> owners;
    for (const ModuleKey& key : selection) {
        for (const QString& name : { key.name, key.name.section(u'.', 0, -2), key.name + QStringLiteral(".weight") }) {
            const ModuleKeys found = keysOf(catalog, kind, name);
            if (name.isEmpty() || found.keys.empty() || found.kind != kind)
                continue;
            for (const ModuleKey& one : found.keys) {
                if (std::find(owners.begin(), owners.end(), one) == owners.end())
                    owners.push_back(one);
            }
            break;
        }
    }
    return owners;
}

/// A parameter has no activation, nor a module a gradient, nor a head of attention either: what has the kind comes
/// first, and where nothing that was chosen has it, what has it of the same module is selected in its place, until
/// there is a kind again that the choice has.
void ViewState::moveSelectionToKind()
{
    if (!m_catalog || m_selection.empty() || m_kind == Kind::Scalar)
        return;
    if (m_selection != m_moved) {
        m_chosen = m_selection;
        m_chosenOmitted = m_omitted;
    }
    std::vector<ModuleKey> selection = m_chosen;
    const auto behind = std::stable_partition(
        selection.begin(), selection.end(), [&](const ModuleKey& key) { return hasKind(*m_catalog, m_kind, key); });
    if (behind != selection.begin()) {
        setSelection(std::move(selection), m_chosenOmitted);
    } else if (std::vector<ModuleKey> owners = ownersOf(*m_catalog, m_kind, m_chosen); !owners.empty()) {
        setSelection(std::move(owners));
    }
    m_moved = m_selection;
}

void ViewState::setKind(Kind kind)
{
    if (!assign(m_kind, kind))
        return;
    takeStatOfKind();
    Q_EMIT kindChanged();
    moveSelectionToKind();
}

void ViewState::setStat(Stat stat)
{
    if (assign(m_stat, stat))
        Q_EMIT statChanged();
}

void ViewState::setRank(Rank rank)
{
    if (assign(m_rank, rank))
        Q_EMIT rankChanged();
}

void ViewState::setRanks(std::optional<std::vector<Rank>> ranks)
{
    if (assign(m_ranks, std::move(ranks)))
        Q_EMIT ranksChanged();
}

QString ViewState::runName(std::size_t n) const
{
    std::vector<ComparedRun> runs { { m_run, m_catalog } };
    runs.insert(runs.end(), m_compared.begin(), m_compared.end());
    if (n >= runs.size() || !runs[n].run)
        return {};
    QString name = nameOf(runs[n].run, runs[n].catalog);
    const auto alike = std::count_if(runs.begin(), runs.end(),
        [&name](const ComparedRun& one) { return one.run && nameOf(one.run, one.catalog) == name; });
    if (alike < 2 && !(m_isSharedName && m_isSharedName(name)))
        return name;
    // One that was opened from a path has no id here, and the name of its file.
    return runs[n].run->id.empty() ? QString::fromStdString(runs[n].run->name)
                                   : name + u' ' + QString::fromStdString(store::shortRunId(runs[n].run->id));
}

void ViewState::setCompared(store::RunRef run, std::shared_ptr<const store::Catalog> catalog)
{
    setComparedRuns(
        run ? std::vector<ComparedRun> { { std::move(run), std::move(catalog) } } : std::vector<ComparedRun>());
}

void ViewState::setComparedRuns(std::vector<ComparedRun> runs)
{
    runs.resize(std::min(runs.size(), kMostCompared));
    if (!assign(m_compared, std::move(runs)))
        return;
    applyFullRange(wholeRange());
    Q_EMIT comparedChanged();
}

void ViewState::selectOmitted()
{
    std::vector<ModuleKey> all = m_selection;
    all.insert(all.end(), m_omitted.begin(), m_omitted.end());
    setSelection(std::move(all));
}

void ViewState::setSelection(std::vector<ModuleKey> selection, std::vector<ModuleKey> omitted)
{
    if (selection == m_selection && omitted == m_omitted)
        return;
    m_omitted = std::move(omitted);
    std::vector<int> colors(selection.size(), -1);
    std::set<int> taken;
    for (std::size_t i = 0; i < selection.size(); ++i) {
        colors[i] = slotOf(selection[i]);
        taken.insert(colors[i]);
    }
    int next = 0;
    for (int& slot : colors) {
        while (slot < 0 && taken.contains(next))
            ++next;
        if (slot < 0) {
            slot = next;
            taken.insert(next);
        }
    }
    m_selection = std::move(selection);
    m_slots = std::move(colors);
    Q_EMIT selectionChanged();
}

int ViewState::slotOf(const ModuleKey& key) const
{
    const auto it = std::find(m_selection.begin(), m_selection.end(), key);
    return it == m_selection.end() ? -1 : m_slots[static_cast<std::size_t>(it - m_selection.begin())];
}

void ViewState::toggleSelected(const ModuleKey& key)
{
    std::vector<ModuleKey> selection = m_selection;
    if (std::erase(selection, key) == 0)
        selection.push_back(key);
    setSelection(std::move(selection));
}

void ViewState::setModuleFilter(const QString& filter)
{
    if (assign(m_filter, filter))
        Q_EMIT moduleFilterChanged();
}

void ViewState::setCursor(std::optional<Step> step)
{
    if (assign(m_cursor, step))
        Q_EMIT cursorChanged();
}

void ViewState::goTo(Step step)
{
    setCursor(step);
    if (m_visible.contains(step) || m_visible.isEmpty())
        return;
    const std::int64_t first = step.value - m_visible.count() / 2;
    zoomTo(clampedTo({ Step { first }, Step { first + m_visible.count() - 1 } }, m_full));
}

void ViewState::setHover(std::optional<Step> step)
{
    if (assign(m_hover, step))
        Q_EMIT hoverChanged();
}

void ViewState::setMarks(std::optional<Step> a, std::optional<Step> b)
{
    const bool changedA = assign(m_markA, a);
    const bool changedB = assign(m_markB, b);
    if (changedA || changedB)
        Q_EMIT marksChanged();
}

StepRange ViewState::followedRange() const
{
    if (m_full.isEmpty() || m_followSpan <= 0 || m_followSpan >= m_full.count())
        return m_full;
    return { Step { m_full.last.value - m_followSpan + 1 }, m_full.last };
}

Step ViewState::atStep() const
{
    const Step newest = m_own.isEmpty() ? m_visible.last : std::min(m_visible.last, m_own.last);
    return m_cursor.value_or(std::max(newest, m_visible.first));
}

StepRange ViewState::wholeRange() const
{
    StepRange whole = m_own;
    for (const ComparedRun& one : m_compared) {
        const StepRange other = one.catalog ? one.catalog->steps : StepRange {};
        if (!other.isEmpty() && !whole.isEmpty())
            whole = { std::min(whole.first, other.first), std::max(whole.last, other.last) };
    }
    return whole;
}

void ViewState::setFullRange(StepRange range)
{
    m_own = range;
    applyFullRange(wholeRange());
}

void ViewState::applyFullRange(StepRange range)
{
    if (range == m_full)
        return;
    const bool sawEverything = m_visible.isEmpty() || m_visible == m_full;
    m_full = range;
    Q_EMIT fullRangeChanged();
    if (m_following || sawEverything)
        setVisible(followedRange());
    else
        setVisible(clampedTo(m_visible, m_full));
}

void ViewState::setVisible(StepRange range)
{
    if (assign(m_visible, range))
        Q_EMIT visibleRangeChanged();
}

void ViewState::zoomTo(StepRange range, bool continued)
{
    if (range.isEmpty() || m_full.isEmpty())
        return;
    const StepRange wanted
        = clampedTo({ std::max(range.first, m_full.first), std::min(range.last, m_full.last) }, m_full);
    if (wanted == m_visible)
        return;
    if (!continued || m_zoomStack.empty())
        m_zoomStack.push_back({ m_visible, m_following, m_followSpan });
    m_undoneZooms.clear();
    const bool atLiveEdge = wanted.last == m_full.last;
    const bool follows = m_following && atLiveEdge;
    if (follows)
        m_followSpan = wanted == m_full ? 0 : wanted.count();
    const bool followChanged = assign(m_following, follows);
    setVisible(wanted);
    if (followChanged)
        Q_EMIT followingChanged();
}

void ViewState::showZoom(const Zoom& zoom)
{
    m_followSpan = zoom.followSpan;
    const bool followChanged = assign(m_following, zoom.following);
    setVisible(zoom.following ? followedRange() : clampedTo(zoom.range, m_full));
    if (followChanged)
        Q_EMIT followingChanged();
}

void ViewState::zoomBack()
{
    if (m_zoomStack.empty())
        return;
    m_undoneZooms.push_back({ m_visible, m_following, m_followSpan });
    const Zoom zoom = m_zoomStack.back();
    m_zoomStack.pop_back();
    showZoom(zoom);
}

void ViewState::zoomForward()
{
    if (m_undoneZooms.empty())
        return;
    m_zoomStack.push_back({ m_visible, m_following, m_followSpan });
    const Zoom zoom = m_undoneZooms.back();
    m_undoneZooms.pop_back();
    showZoom(zoom);
}

void ViewState::zoomOutFully()
{
    if (m_full.isEmpty() || m_visible == m_full)
        return;
    m_zoomStack.push_back({ m_visible, m_following, m_followSpan });
    m_undoneZooms.clear();
    m_followSpan = 0;
    setVisible(m_full);
}

void ViewState::pan(std::int64_t steps, bool continued)
{
    if (m_full.isEmpty() || m_visible.isEmpty() || steps == 0)
        return;
    const StepRange wanted
        = clampedTo({ Step { m_visible.first.value + steps }, Step { m_visible.last.value + steps } }, m_full);
    if (wanted == m_visible)
        return;
    if (!continued || m_zoomStack.empty())
        m_zoomStack.push_back({ m_visible, m_following, m_followSpan });
    m_undoneZooms.clear();
    const bool followChanged = assign(m_following, m_following && wanted.last == m_full.last);
    setVisible(wanted);
    if (followChanged)
        Q_EMIT followingChanged();
}

void ViewState::setFollowing(bool on)
{
    if (!assign(m_following, on))
        return;
    if (on) {
        // Following again keeps the width that is on screen, so that nothing jumps but the right edge.
        if (!m_visible.isEmpty() && m_visible != m_full)
            m_followSpan = m_visible.count();
        setVisible(followedRange());
    }
    Q_EMIT followingChanged();
}

void ViewState::setFollowSpan(std::int64_t steps)
{
    m_followSpan = std::max<std::int64_t>(steps, 0);
    if (m_following)
        setVisible(followedRange());
}

}
