// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>
#include <QStringList>

#include <telltale/core/connectioninfo.h>
#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/core/slot.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/stepnote.h>

#include "eventmark.h"

namespace telltale::views {

/// A row that can be selected: one tensor by name and slot, of any kind or rank (the views add those).
struct ModuleKey {
    QString name;
    Slot slot {}; ///< its identity; with a bin where it is one of its histogram
    bool operator==(const ModuleKey&) const = default;
    std::strong_ordering operator<=>(const ModuleKey&) const = default;
    QString slotText() const { return QString::fromStdString(slot.text()); }
};

/// A run beside the one that is shown, and its directory as it was when the comparison began.
struct ComparedRun {
    store::RunRef run;
    std::shared_ptr<const store::Catalog> catalog;
    bool operator==(const ComparedRun&) const = default;
};

/// The steps of a run by now: what is recorded says so itself, what is over stands in its directory. Thread: any.
StepRange stepsOf(const store::RunHandle& run, const store::Catalog& catalog);

/// Owns everything that the views share: run, kind, statistic, rank, selection, cursor, visible steps, zoom stack,
/// follow mode. A view never keeps its own copy of any of these; it asks here and listens here. Thread: gui.
class ViewState : public QObject {
    Q_OBJECT
public:
    explicit ViewState(QObject* parent = nullptr);

    store::RunRef run() const { return m_run; }
    /// Clears cursor, zoom and comparison; follow on for live runs. Of the selection, what the run has stays.
    void setRun(store::RunRef run);
    std::shared_ptr<const store::Catalog> catalog() const { return m_catalog; }
    void setCatalog(std::shared_ptr<const store::Catalog> catalog); ///< a newer directory of the same run
    /// What of it cannot be read, in one sentence, as far as it is known; empty: nothing.
    QString damage() const;
    void setDamage(const QString& sentence); ///< that reading all of the run has found
    /// More of the run's log, in the order in which it was stored.
    void appendLog(const store::LogPage& page);
    const std::vector<EventMark>& eventMarks() const { return m_marks; }
    /// What people wrote at steps of the run, oldest first, with what they removed again.
    const std::vector<store::StepNote>& notes() const { return m_notes; }
    void wantNote(std::int64_t id) { Q_EMIT noteWanted(id); } ///< its mark was clicked
    const store::StepNote* note(std::int64_t id) const; ///< null where the log has none such yet
    /// The run's incidents, as far as the log was read.
    items::IncidentsModel* incidents() { return &m_incidents; }
    const items::IncidentsModel* incidents() const { return &m_incidents; }
    /// Everything that the log had when the run was opened has been read, and all that came since but a page.
    bool isLogRead() const { return m_isLogRead; }
    const std::vector<EventMark>& incidentMarks() const { return m_incidentMarks; } ///< by step
    /// The incident that cards show; 0 = none.
    std::int64_t incident() const { return m_incident; }
    void setIncident(std::int64_t id); ///< until somebody does, it is the worst that nobody has acknowledged
    bool isIncidentChosen() const { return m_isIncidentChosen; }
    /// Shows where it began: module, rank, kind, statistic and step, everywhere.
    void goToIncident(std::int64_t id);
    ModuleKey keyOf(const judge::Finding& finding) const; ///< the tensor that it is of
    /// The one after or before the current one, or after or before the cursor. False: there is none.
    bool goToIncidentBeside(bool forward);
    std::uint64_t droppedSamples() const { return m_droppedSamples; } ///< as far as the log was read
    std::uint64_t droppedSamples(Rank rank) const; ///< the same of one rank; -1 = what is of none
    /// The run's agents as they were in the last second; empty where nothing is recorded.
    const std::vector<ConnectionInfo>& agents() const { return m_agents; }
    void setAgents(std::vector<ConnectionInfo> agents);

    Kind kind() const { return m_kind; }
    void setKind(Kind kind); ///< with the kind's first statistic where it lacks the chosen one
    Stat stat() const { return m_stat; }
    void setStat(Stat stat);
    /// Rank shown where a view shows one rank.
    Rank rank() const { return m_rank; }
    void setRank(Rank rank);

    /// Which ranks views of several ranks draw beside rank(): every rank of the run without a list.
    const std::optional<std::vector<Rank>>& ranks() const { return m_ranks; }
    void setRanks(std::optional<std::vector<Rank>> ranks);

    const std::vector<ModuleKey>& selection() const { return m_selection; } ///< in order of selection
    /// `omitted`: what belongs to the selection too and is left out because it would be too much to draw.
    void setSelection(std::vector<ModuleKey> selection, std::vector<ModuleKey> omitted = {});
    const std::vector<ModuleKey>& omitted() const { return m_omitted; }
    void selectOmitted(); ///< what was left out as well
    void toggleSelected(const ModuleKey& key);
    /// Color slot of a selected row: the lowest free one when it was selected, kept while it stays selected; -1 if
    /// not.
    int slotOf(const ModuleKey& key) const;
    QString moduleFilter() const { return m_filter; } ///< text, glob* or /regex/; rows of views show what matches
    void setModuleFilter(const QString& filter);

    std::optional<Step> cursor() const { return m_cursor; } ///< pinned
    void setCursor(std::optional<Step> step);
    void goTo(Step step); ///< the cursor, and the visible steps where they do not hold it
    std::optional<Step> hover() const { return m_hover; } ///< follows the mouse
    void setHover(std::optional<Step> step);
    std::optional<Step> markA() const { return m_markA; }
    std::optional<Step> markB() const { return m_markB; }
    void setMarks(std::optional<Step> a, std::optional<Step> b);

    /// All steps of the run so far; the tick raises it while live.
    StepRange fullRange() const { return m_full; }
    void setFullRange(StepRange range);
    StepRange ownRange() const { return m_own; } ///< without the compared run's
    StepRange visibleRange() const { return m_visible; }
    /// Where views of one step stand: the cursor, and without one the newest visible step that the run itself has.
    Step atStep() const;
    /// Pushes the current range on the zoom stack (unless it continues the last zoom, as the next notch of a wheel
    /// does); ends follow unless it ends at the live edge.
    void zoomTo(StepRange range, bool continued = false);
    void zoomBack();
    void zoomForward(); ///< takes the last zoomBack back
    void zoomOutFully();
    /// `continued`: of the same gesture as the call before, which zoomBack() takes back together.
    void pan(std::int64_t steps, bool continued = false);
    bool canZoomBack() const { return !m_zoomStack.empty(); }
    bool canZoomForward() const { return !m_undoneZooms.empty(); }

    static constexpr std::size_t kMostCompared = 7; ///< beside the run that is shown
    /// Other runs that are held against this one, in the order in which they were chosen.
    const std::vector<ComparedRun>& comparedRuns() const { return m_compared; }
    void setComparedRuns(std::vector<ComparedRun> runs); ///< the first kMostCompared of them
    /// The first of them, whose curves are drawn beside this one's, on the same axis; null for none.
    store::RunRef comparedRun() const { return m_compared.empty() ? nullptr : m_compared.front().run; }
    std::shared_ptr<const store::Catalog> comparedCatalog() const
    {
        return m_compared.empty() ? nullptr : m_compared.front().catalog;
    }
    /// Of the run that is shown (0) or the n-th of the others, with its id where another run has that name.
    QString runName(std::size_t n) const;
    /// Says whether more than one of all runs has a name; without it, only the runs shown together count.
    void setIsSharedName(std::function<bool(const QString& name)> isSharedName)
    {
        m_isSharedName = std::move(isSharedName);
    }
    QString comparedName() const { return m_compared.empty() ? QString() : runName(1); }
    void setCompared(store::RunRef run, std::shared_ptr<const store::Catalog> catalog);

    bool isFollowing() const { return m_following; }
    /// Whether a picture of these steps shows the newest: while they are followed, the run is ahead of every picture.
    bool isNewest(StepRange shown) const { return m_following || shown.last >= m_full.last; }
    void setFollowing(bool on); ///< keeps the newest steps in view (the last followSpan of them)
    std::int64_t followSpan() const { return m_followSpan; } ///< 0 = whole run
    void setFollowSpan(std::int64_t steps);

Q_SIGNALS:
    void runChanged();
    void catalogChanged();
    void logAppended(const telltale::store::LogPage& page);
    void eventMarksChanged();
    void notesChanged();
    void noteWanted(qint64 id);
    void incidentChanged(); ///< another one is the current one
    /// Somebody asks what stops being finite first in these steps, whatever is shown.
    void nonFiniteWanted(telltale::StepRange steps);
    void blobsArrived(); ///< stack texts, structures and the like
    void kindChanged();
    void statChanged();
    void rankChanged();
    void ranksChanged();
    void comparedChanged();
    void selectionChanged();
    void moduleFilterChanged();
    void cursorChanged();
    void hoverChanged();
    void marksChanged();
    void fullRangeChanged();
    void visibleRangeChanged();
    void followingChanged();
    /// New durable columns exist (at most once a tick): views that show the newest steps ask again.
    void dataArrived();
    void agentsChanged(); ///< once a second while there are any

private:
    struct Zoom {
        StepRange range;
        bool following = false;
        std::int64_t followSpan = 0;
    };
    void takeStatOfKind();
    void moveSelectionToKind();
    void keepKnownSelection();
    void takeIncidents();
    bool takeNote(const store::LogRecord& record);
    void chooseWorstIncident();
    StepRange followedRange() const;
    StepRange wholeRange() const;
    void applyFullRange(StepRange range);
    void setVisible(StepRange range);
    void showZoom(const Zoom& zoom);

    store::RunRef m_run;
    std::shared_ptr<const store::Catalog> m_catalog;
    QString m_damage;
    std::vector<EventMark> m_marks;
    std::vector<store::StepNote> m_notes;
    std::uint64_t m_droppedSamples = 0;
    std::map<Rank, std::uint64_t> m_droppedOf;
    std::vector<ConnectionInfo> m_agents;
    bool m_isLogRead = false;
    items::IncidentsModel m_incidents;
    std::vector<EventMark> m_incidentMarks;
    std::int64_t m_incident = 0;
    bool m_isIncidentChosen = false;
    Kind m_kind = Kind::GradReduced;
    Stat m_stat = Stat::Norm;
    Rank m_rank;
    std::optional<std::vector<Rank>> m_ranks;
    std::vector<ComparedRun> m_compared;
    std::function<bool(const QString&)> m_isSharedName;
    std::vector<ModuleKey> m_selection;
    std::vector<ModuleKey> m_omitted;
    std::vector<int> m_slots; ///< beside m_selection
    std::vector<ModuleKey> m_chosen; ///< what m_moved was selected in place of, for a kind
    std::vector<ModuleKey> m_chosenOmitted;
    std::vector<ModuleKey> m_moved;
    bool m_isSelectionOwn = false; ///< nothing of it is of the run before
    QString m_filter;
    std::optional<Step> m_cursor;
    std::optional<Step> m_hover;
    std::optional<Step> m_markA;
    std::optional<Step> m_markB;
    StepRange m_own; ///< steps of the run
    StepRange m_full; ///< with those of the compared run
    StepRange m_visible;
    std::vector<Zoom> m_zoomStack;
    std::vector<Zoom> m_undoneZooms;
    std::int64_t m_followSpan = 0;
    bool m_following = true;
};

}
