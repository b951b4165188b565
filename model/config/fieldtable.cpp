// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/field.h>

#include <array>

#include <telltale/config/fieldtypes.h>
#include <telltale/config/specialfields.h>

namespace telltale::config {
namespace {

using C = MonitorConfig;
using Group = Field::Group;
constexpr std::int64_t kMany = 1'000'000'000'000'000;

constexpr std::array<FieldObject, 3> kObjects { {
    { "cc_distribution", "Statistics of what collective communication sends and receives.", false },
    { "alert", "What the training process itself calls an anomaly while it runs.", false },
    { "telltale", "Telltale's own fields; msprobe ignores this object.", true },
} };

constexpr std::array kFields {
    makeField<TargetsField>(Group::Where, "", "targets",
        "Modules and parameters to watch: an exact name selects the object and everything below it, * and ? match "
        "within one dotted component. Each may select \"tensor\" or an element \"tuple[2]:0\" of its input, output, "
        "input_grad and output_grad, counted as the training code wrote them. Empty: everything."),
    makeField<L2TargetsField>(Group::Layers, "", "l2_targets",
        "Modules that each deeper analysis looks at, when recording_l2_features is on: lists of names under "
        "attention_hook, linear_hook, moe_router_logit_hook and moe_router_weight_hook. An empty list under "
        "linear_hook "
        "means every linear module, under the others none."),
    makeField<Flag<&C::recordingL2Features>>(Group::Layers, "", "recording_l2_features",
        "Record the deeper analyses of l2_targets: attention, linear layers, routers."),
    makeField<SaOrderField>(
        Group::Layers, "", "sa_order", "Order of the dimensions of an attention module's query and key inputs."),
    makeField<Flag<&C::printStruct>>(Group::What, "", "print_struct",
        "Write the structure of every module's inputs and outputs at the first step. Training goes on, unless "
        "telltale.stop_after_struct asks for msprobe's stop."),
    makeField<RanksField>(Group::Where, "", "module_ranks", "Ranks that collect. Empty: all."),
    makeField<Flag<&C::urDistribution>>(
        Group::What, "", "ur_distribution", "Histograms of Adam's update and of its ratio, per parameter."),
    makeField<Flag<&C::xyDistribution>>(
        Group::What, "", "xy_distribution", "Module inputs and outputs, and their gradients."),
    makeField<Flag<&C::allXy>>(Group::Where, "", "all_xy",
        "With xy_distribution: every module, not the targets alone. Always so when there are no targets."),
    makeField<Flag<&C::forwardOnly>>(Group::Where, "", "forward_only", "With xy_distribution: only the forward pass."),
    makeField<Flag<&C::backwardOnly>>(
        Group::Where, "", "backward_only", "With xy_distribution: only the backward pass."),
    makeField<Flag<&C::mvDistribution>>(
        Group::What, "", "mv_distribution", "The optimizer's first and second moments."),
    makeField<Flag<&C::paramDistribution>>(
        Group::What, "", "param_distribution", "Parameters before and after the optimizer's step."),
    makeField<Flag<&C::wgDistribution>>(Group::What, "", "wg_distribution",
        "Weight gradients, before and after the reduction over data-parallel ranks."),
    makeField<Flag<&C::mgDirection>>(Group::What, "", "mg_direction",
        "Share of each parameter's elements whose gradient has the sign of the optimizer's momentum."),
    makeField<Flag<&C::ccEnable>>(
        Group::Communication, "cc_distribution", "enable", "Watch the collective operations."),
    makeLocalField<Expressions<&C::ccCodeline>>(Group::Communication, "cc_distribution", "cc_codeline",
        "Regular expressions over the call stack, such as \"train.py\\\\[23\\\\]\": only calls that one of them finds "
        "are watched. Empty: every call."),
    makeField<Flag<&C::ccPreHook>>(Group::Communication, "cc_distribution", "cc_pre_hook",
        "What goes into an operation too, not only what comes out."),
    makeField<Flag<&C::ccLogOnly>>(Group::Communication, "cc_distribution", "cc_log_only",
        "Only tell from which lines each operation is called; measure nothing."),
    makeField<AlertRulesField>(Group::Alerts, "alert", "rules",
        "AnomalyTurbulence: a norm or mean beyond its running mean by more than the share `threshold`. AnomalyNan: a "
        "NaN, or a magnitude above `threshold` where one is given."),
    makeLocalField<Flag<&C::alertDump>>(
        Group::Alerts, "alert", "dump", "Write each anomaly to anomaly_detected/rank{R}/anomaly.json as well."),
    makeField<Flag<&C::stackInfo>>(Group::What, "", "stack_info", "The Python call stack of every module, once."),
    makeField<Flag<&C::monitorMbsGrad>>(
        Group::What, "", "monitor_mbs_grad", "Unreduced gradients at every micro step, not only the last of a step."),
    makeLocalField<FormatField>(Group::Files, "", "format",
        "Where values go, one or several. Left out: the dashboard when a join string is set, else csv."),
    makeField<OpsField>(
        Group::What, "", "ops", "Statistics in files and alerts. The dashboard always gets all of them."),
    makeField<Fraction<&C::eps>>(Group::What, "", "eps", "Elements of a smaller magnitude count as zeros."),
    makeField<OptionalWhole<&C::ndigits, 1, 20>>(
        Group::Files, "", "ndigits", "Decimals in csv files. Left out or null: 9 significant digits."),
    makeField<Whole<&C::stepCountPerRecord, 1, 1'000'000>>(
        Group::Files, "", "step_count_per_record", "Steps that one csv file holds."),
    makeLocalField<AppendOutputField>(Group::Files, "", "append_output",
        "Two moments: a run continued after a stop writes on into this rank's output folder from between them."),
    makeField<Flag<&C::squashName>>(
        Group::Files, "", "squash_name", "Shorten names in files to what tells them apart."),
    makeField<Whole<&C::startStep, 0, kMany>>(Group::When, "", "start_step", "First step that is collected."),
    makeField<Whole<&C::stepInterval, 1, kMany>>(
        Group::When, "", "step_interval", "Every how many steps one is collected."),
    makeField<Whole<&C::collectTimes, 0, kMany>>(
        Group::When, "", "collect_times", "How many steps are collected before collection ends."),
    makeField<Flag<&C::dynamicOn>>(Group::When, "", "dynamic_on",
        "Collect, or wait until this becomes true: heeded where the environment sets DYNAMIC_MONITOR=True, and in "
        "every "
        "config that a dashboard sends. Otherwise a training collects from its start."),
    makeField<Flag<&C::attentionHook>>(Group::Layers, "telltale", "attention_hook",
        "Attention entropy, softmax maximum and largest logit of every head of every module found to be attention."),
    makeField<Whole<&C::attentionQueries, 0, 1'000'000>>(
        Group::Layers, "telltale", "attention_queries", "Query rows looked at per head and pass. 0: all."),
    makeField<AttentionMapsField>(Group::Layers, "telltale", "attention_maps",
        "Heads whose attention is sent as a map of queries and keys, by module: {\"layers.7.attn\": [0, 4]}; an empty "
        "list means the first four. A map is made of all weights of the first sequence of a batch, which costs about "
        "as "
        "much as the attention of that head itself. At most 64 heads a step; their statistics come with them."),
    makeField<Whole<&C::attentionMapsInterval, 1, kMany>>(Group::Layers, "telltale", "attention_maps_interval",
        "Every how many steps attention_maps are sent, counted from start_step: at the first that is collected."),
    makeField<MapStepsField>(Group::Layers, "telltale", "attention_maps_steps",
        "Steps at which attention_maps are sent, in place of attention_maps_interval. Where a listed step is not "
        "collected, they are sent at the next that is; steps before the config came into force are not made up for. "
        "Empty: at the interval."),
    makeField<Whole<&C::attentionMapsSize, 8, 64>>(Group::Layers, "telltale", "attention_maps_size",
        "Rows and columns that a map has at most: where a sequence is longer, several queries share a row and several "
        "keys a column."),
    makeField<ActvGradInputField>(Group::What, "telltale", "actv_grad_input",
        "Gradient of a module's input. share: what flows through the module, as msprobe has it. total: what all "
        "consumers of the tensor send back. The C++ agent has the total alone."),
    makeLocalField<Flag<&C::stopAfterStruct>>(
        Group::Files, "telltale", "stop_after_struct", "End training once print_struct has written, as msprobe does."),
    makeLocalField<Flag<&C::stopAfterCcLog>>(Group::Files, "telltale", "stop_after_cc_log",
        "End training once cc_distribution.cc_log_only has logged, as msprobe does."),
    makeField<Flag<&C::alertTwoSided>>(Group::Alerts, "telltale", "alert_two_sided",
        "AnomalyTurbulence looks at falls as well as rises, after a warm-up, and one NaN does not blind it."),
    makeField<Flag<&C::checksum>>(Group::What, "telltale", "checksum",
        "An exact checksum of every tensor measured, which tells whether two are the same to the bit. It costs a "
        "second "
        "look at each element."),
    makeField<HistogramField>(Group::What, "telltale", "histogram",
        "Kinds whose tensors get a histogram beside their statistics, at every step that collects them: signed bins by "
        "powers of two, from which the dashboard reads quantiles and what fp16, bf16 and fp8 would lose. Those of "
        "update and ratio, which ur_distribution collects, take the place of its 30 linear bins."),
    makeField<Whole<&C::threads, 1, 16>>(
        Group::What, "telltale", "threads", "Most threads that one call of the statistics kernel may use."),
    makeLocalField<OptionalPercentage<&C::overheadBudget>>(Group::When, "telltale", "overhead_budget",
        "Most that monitoring may take of the training's own time, in percent. Where what is collected takes more, "
        "only "
        "every 2nd, 4th, 8th (and so on, up to every 1024th) of the steps that the config selects is collected, whole, "
        "and the run's log says so. Left out, null or 0: no limit."),
    makeLocalField<Flag<&C::environment>>(Group::What, "telltale", "environment",
        "Keep in the run what the training runs on: versions, GPUs, host, git commit, command line without keys and "
        "passwords. Never the environment's variables. TELLTALE_ENVIRONMENT=off switches it off, too."),
    makeField<Flag<&C::systemMetrics>>(Group::What, "telltale", "system_metrics",
        "What the training's process, its machine and its GPUs use, every five seconds: scalars whose names begin with "
        "system/. TELLTALE_SYSTEM_METRICS=off switches it off, too."),
    makeField<StepsKept<&C::flightRecorder>>(Group::What, "telltale", "flight_recorder",
        "Keep the last so many steps of what this config does not send in memory, and send them when something goes "
        "wrong: a value that is not finite, a step that is given up, a training that ends with an error, an incident "
        "that the dashboard finds. Kept are weights, gradients, moments, activations and attention of the targets, as "
        "far as they are not collected, at every step and on every rank. true: 32 steps; false or 0: none. Measuring "
        "them takes its time in every step, which counts for overhead_budget."),
};

}

std::string Field::pointer() const
{
    return childPointer(object.empty() ? std::string() : childPointer({}, object), name);
}

std::span<const Field> fields()
{
    return kFields;
}

std::span<const FieldObject> fieldObjects()
{
    return kObjects;
}

}
