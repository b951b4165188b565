// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/slot.h>

namespace telltale::config {

/// A finding about one field: shown to the user as it stands.
struct Problem {
    std::string pointer; ///< JSON pointer, "/ops/0"
    std::string sentence; ///< what is wrong, what is allowed, the nearest known name
    bool isError = true; ///< false: a warning
};

/// One of alert.rules.
struct AlertRule {
    std::string name; ///< AnomalyTurbulence or AnomalyNan
    std::optional<double> threshold;

    bool operator==(const AlertRule&) const = default;
};

/// What stands for a selection of which nothing could be read: it selects nothing, where an empty one selects
/// everything. A name of no module, a rank of no job, a regular expression that finds nothing, a step that
/// never comes.
inline constexpr std::string_view kNoTarget = "(none)";
inline constexpr int kNoRank = 1'000'000;
inline constexpr std::string_view kNoCode = "(?!)";
inline constexpr std::int64_t kNoStep = 1'000'000'000'000'000;

/// The monitor's config.json, every field. Defaults are msprobe's; what each field means stands once, in the field
/// table (fieldtable.cpp).
struct MonitorConfig {
    std::map<std::string, std::string>
        targets; ///< name or glob -> tuple selection text ("" = all); empty map = everything
    std::map<std::string, std::vector<std::string>> l2Targets; ///< hook -> module names
    bool recordingL2Features = false;
    std::string saOrder = "s,b,h,d";
    bool printStruct = false;
    std::vector<int> moduleRanks; ///< empty = all
    bool urDistribution = false;
    bool xyDistribution = false;
    bool allXy = false; ///< a parsed config without targets holds true
    bool forwardOnly = false;
    bool backwardOnly = false;
    bool mvDistribution = false;
    bool paramDistribution = false;
    bool wgDistribution = false;
    bool mgDirection = false;
    bool ccEnable = false;
    std::vector<std::string> ccCodeline; ///< regular expressions, empty = every call
    bool ccPreHook = false;
    bool ccLogOnly = false;
    std::vector<AlertRule> alertRules;
    bool alertDump = false;
    bool stackInfo = false;
    bool monitorMbsGrad = false;
    std::vector<std::string> format; ///< empty = stream with a join string, else csv
    std::vector<std::string> ops { "norm" };
    double eps = 1e-8;
    std::optional<std::int64_t> ndigits; ///< decimals in files; none = 9 significant digits
    std::int64_t stepCountPerRecord = 1;
    std::vector<std::string> appendOutput; ///< empty, or the two ends of a time window
    bool squashName = false;
    std::int64_t startStep = 0;
    std::int64_t stepInterval = 1;
    std::int64_t collectTimes = 100'000'000;
    bool dynamicOn = false; ///< counts only where DYNAMIC_MONITOR is on, as in msprobe
    bool attentionHook = false; ///< from here on: the object "telltale"
    std::int64_t attentionQueries = 32; ///< 0 = all
    std::map<std::string, std::vector<int>> attentionMaps; ///< module or glob -> heads (none = the first few)
    std::int64_t attentionMapsInterval = 100; ///< steps
    std::vector<std::int64_t> attentionMapsSteps; ///< in place of the interval where there are any
    std::int64_t attentionMapsSize = 64; ///< rows and columns of a map, at most
    std::string actvGradInput = "share"; ///< or "total": which gradient of a module's input
    bool stopAfterStruct = false;
    bool stopAfterCcLog = false;
    bool alertTwoSided = false;
    bool checksum = false;
    std::vector<std::string> histogram; ///< kinds whose tensors have one
    std::int64_t threads = 2;
    double overheadBudget = 0; ///< percent of the time of a step; 0 = no limit
    bool environment = true; ///< versions, host, command line
    bool systemMetrics = true; ///< what process and machine use
    std::int64_t flightRecorder = 0; ///< steps of detail that are kept in memory; 0 = none
    std::map<std::string, std::string> extras; ///< what else stood in "telltale": name -> JSON text

    /// Whether the gates let this step be collected; collect_times is the collector's to count.
    bool collectsAt(std::int64_t step) const { return step >= startStep && (step - startStep) % stepInterval == 0; }
};

struct ParsedConfig {
    MonitorConfig config; ///< bad fields hold their defaults
    std::vector<Problem> problems; ///< all of them, in document order
};

/// `//` comments and trailing commas are accepted. Fails only when the text is not a JSON object at all.
Expected<ParsedConfig> parseMonitorConfig(std::string_view text);
/// Every field in force as JSON text in msprobe's nesting: what is read back gives the same config.
std::string monitorConfigText(const MonitorConfig& config);
/// The JSON Schema of config.json, as resources/schema/monitor-config.schema.json holds it.
std::string monitorConfigSchema();

/// Does `name` (dotted) fall under `target` (exact name selects itself and everything below; globs allowed)? Wrappers'
/// components (module, _orig_mod, _fsdp_wrapped_module, _checkpoint_wrapped_module) count on neither side. A chunk
/// before the target ("1:layers.0") asks for that chunk alone; a name without one is of chunk 0.
bool targetMatches(std::string_view target, std::string_view name);
/// The same of `name` itself, not of what lies below it.
bool targetNames(std::string_view target, std::string_view name);
/// Does a target's selection (a value of MonitorConfig::targets) ask for this input or output, or for its
/// gradient? "" and "{}" ask for everything; {"output": "tuple[2]:1"} for output_1 alone.
bool selectsSlot(std::string_view selection, const Slot& slot, bool gradient);

}
