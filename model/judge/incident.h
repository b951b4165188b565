// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/store/logrecord.h>

namespace telltale::store {
class RunReader;
}

namespace telltale::judge {

/// Where in a step something is measured, in the order in which a step does it.
enum class Phase : std::uint8_t {
    Weight, ///< before the step
    Forward,
    Loss, ///< scalars: loss, learning rate, loss scale
    Backward,
    Gradient, ///< of weights, before and after they are reduced
    Optimizer, ///< moments and updates
    Updated, ///< weights after the step
    Step, ///< how long it took
};
std::string_view phaseWord(Phase phase); ///< "forward"
std::optional<Phase> phaseFromWord(std::string_view word);
Phase phaseOf(Kind kind);

/// A value that a rule found abnormal. Thread: any (a value).
struct Finding {
    std::string rule; ///< its id: "nonfinite"
    store::Severity severity = store::Severity::Warning;
    Step step;
    Rank rank { -1 }; ///< -1: of all ranks together
    Kind kind = Kind::Unspecified;
    std::string name; ///< of the tensor or scalar
    std::string slot; ///< "" or its text
    Stat stat = Stat::Unspecified;
    std::string sentence; ///< what was seen, against what was expected
    int microStep = -1; ///< as series::SeriesKey

    bool operator==(const Finding&) const = default;
};
/// "layers.3.attn:output", and which micro step where it is not the first.
std::string placeOf(const Finding& finding);

/// Where an incident shows: one block of the model ("layers.3") on one rank.
struct Reach {
    std::string block;
    Rank rank;
    StepRange steps;
    std::uint64_t findings = 0;

    bool operator==(const Reach&) const = default;
};

/// What went wrong once, with all that followed from it. Thread: any (a value).
struct Incident {
    static constexpr std::size_t kMostEvidence = 16;
    static constexpr std::size_t kMostReach = 256;

    std::int64_t id = 0; ///< of its first record in the run's log; 0 = not written there
    std::string key; ///< of what it was opened for: the same one, whoever finds it again
    Step opened; ///< at which it was first seen: the step of its records
    Finding first; ///< where it began, as far as is known
    Phase phase = Phase::Forward;
    Step lastStep; ///< at which anything of it was seen
    bool isOver = false;
    std::string sentence; ///< of the card
    std::vector<Finding> evidence; ///< what speaks for it, and what was looked at and is normal (Notice)
    std::vector<std::string>
        ties; ///< what else was abnormal at the same place in the order: which came first is not known
    std::vector<Reach> reach; ///< in model order, as it was seen
    std::uint64_t folded = 0; ///< later findings
    std::uint64_t rev = 0; ///< of the config that the rank ran, 0 = its own
    /// The incident that this one followed from, as became known late: that one has all of it, and this one is told no
    /// more. 0 = it stands by itself.
    std::int64_t into = 0;

    // What people said of it.
    enum class Label : std::uint8_t { None, True, False };
    bool isAcknowledged = false;
    Label label = Label::None;
    std::vector<std::string> notes; ///< oldest first

    bool operator==(const Incident&) const = default;
};

/// As the log's records and `telltale incidents --json` hold it.
std::string toJson(const Incident& incident);
/// Nothing for what is no incident.
std::optional<Incident> incidentFrom(const std::string& json);

/// The words of the log's records.
inline constexpr std::string_view kIncidentRecord = "incident";
inline constexpr std::string_view kAnnotationRecord = "annotation";

/// What a person does with an incident. Thread: any (a value).
struct Annotation {
    std::int64_t incident = 0;
    enum class Action : std::uint8_t { Acknowledge, Note, True, False } action = Action::Note;
    std::string note; ///< of a Note

    static std::optional<Annotation> of(const store::LogRecord& record);
};
/// The event that says so, for StoreService::append (of rank -1). `step`: Incident::opened.
Event annotationEvent(const Annotation& annotation, Step step, std::string author, std::int64_t wallNs);
/// The event that records an incident, or, where it has an id, what has become of it.
Event incidentEvent(const Incident& incident, std::int64_t wallNs);

/// Steps that a server has judged, as the run's log says. Thread: any (a value).
struct Judged {
    StepRange steps;
    std::uint64_t rows = 0; ///< tensors and scalars that were looked at
    std::uint64_t ranks = 0; ///< that they are of
    std::uint64_t rules = 0; ///< that were on
    std::int64_t id = 0; ///< of its first record in the run's log; 0 = not written there

    bool operator==(const Judged&) const = default;
};
inline constexpr std::string_view kJudgedRecord = "judged";
/// The event that says so, or, where it has an id, that it is more now.
Event judgedEvent(const Judged& judged, std::int64_t wallNs);

/// The incidents of a run as its log tells them, followed behind a cursor. Thread: any (a value).
class IncidentBook {
public:
    using Changed = std::function<void(const store::LogRecord&, const Incident&)>;
    /// Reads what was added since the last call, and says which record changed which incident.
    Expected<void> update(store::RunReader& reader, const Changed& changed = {});
    /// The incident that it changes; null where it changes none. As long as the book lives.
    const Incident* take(const store::LogRecord& record);

    /// First cause first: by step, phase, and id; without those that have become part of another.
    std::vector<const Incident*> inOrder() const;
    /// That one, or the one that it has become part of; null where there is none.
    const Incident* standing(std::int64_t id) const;
    const std::map<std::int64_t, Incident>& byId() const { return m_incidents; }
    /// What was judged, in the order of its records: one for each time that a server went on elsewhere.
    const std::vector<Judged>& judged() const { return m_judged; }

private:
    void takeJudged(const store::LogRecord& record);

    store::LogCursor m_cursor;
    std::map<std::int64_t, Incident> m_incidents;
    std::vector<Judged> m_judged;
};

}
