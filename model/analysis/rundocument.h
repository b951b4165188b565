// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// In the order in which it was written.
using Json = nlohmann::ordered_json;

/// What a run says of itself beside its measurements. Thread: any (a value).
struct RunDocument {
    Json hyperparameters = Json::object(); ///< as the training said last
    Json environment = Json::object(); ///< of the lowest rank
    std::map<Rank, Json> otherEnvironments; ///< of each other rank, what it says otherwise; ranks that say the same not
    Json config = Json::object(); ///< config.json as it is in force
    std::vector<std::string> tags;
    std::string notes;
    std::string notesAuthor; ///< empty: the training itself
};

/// One value of a document by its place in it. Thread: any (a value).
struct Fact {
    std::string name; ///< "optimizer.lr"
    std::string value; ///< "0.001"; texts as they are, lists as JSON
    bool operator==(const Fact&) const = default;
};
/// Every value of an object, in its order.
std::vector<Fact> factsOf(const Json& object);

/// Reads all of it; what a run does not say is empty. Thread: query. Cost: a document a rank, and the log's records of
/// three kinds.
Expected<RunDocument> readRunDocument(store::RunReader& reader);
/// config.json as it is in force, or was at the end; empty where the run does not say. Thread: query.
Json configOf(store::RunReader& reader);
/// {"hyperparameters", "environment", "environment_by_rank", "tags", "notes", "config"}
Json toJson(const RunDocument& document);
/// No rank of it is being recorded: what goes on is then said to be not over at the run's end. Thread: any.
bool isRunOver(const store::Catalog& catalog);

/// What a person makes of a run's tags and notes, as events of its log (of rank -1). A person's word counts for more
/// than the training's: a tag that somebody has taken away stays away, and notes that somebody wrote stay.
Event tagsEvent(const std::vector<std::string>& added, const std::vector<std::string>& removed, Step step);
Event notesEvent(const std::string& notes, Step step);
inline constexpr const char* kTagsRecord = "tags";
inline constexpr const char* kNotesRecord = "notes";
inline constexpr std::size_t kMostTags = 64;

}
