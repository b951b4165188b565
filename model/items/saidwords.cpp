// SPDX-License-Identifier: GPL-3.0-or-later
#include "saidwords.h"

#include <QCoreApplication>

#include "comma.h"
#include "numbertext.h"
#include "sentenceforms.h"

namespace telltale::items::saidwords {

namespace {

// The longer of two forms that fit stands first.
/// Whose numbers are steps and counts.
constexpr const char* kCounts[] {
    QT_TRANSLATE_NOOP("Said", "mean over %1 of %2 queries of each of %3 sequences%4"),
    QT_TRANSLATE_NOOP("Said", "mean over all %1 queries of each of %2 sequences%3"),
    QT_TRANSLATE_NOOP("Said", "mean over %1 of %2 queries%3"),
    QT_TRANSLATE_NOOP("Said", "mean over all %1 queries%2"),
    QT_TRANSLATE_NOOP("Said", "steps %1 to %2 were judged: %3 tensors and scalars, by %4 rules"),
    QT_TRANSLATE_NOOP("Said", "the file was cut off: %1 of its %2 bytes are missing"),
    QT_TRANSLATE_NOOP("Said", "revision %1 of the config for %2, from step %3 on"),
    QT_TRANSLATE_NOOP("Said", "revision %1 of the config is put off to step %2"),
    QT_TRANSLATE_NOOP("Said", "takes over revision %1 of the config"),
    QT_TRANSLATE_NOOP("Said", "runs revision %1 of the config"),
    QT_TRANSLATE_NOOP("Said", "refuses revision %1 of the config: %2"),
    QT_TRANSLATE_NOOP("Said", "was past step %1 when revision %2 of the config came"),
};
/// What an agent tells of what it cannot see, and how it names what it measured.
constexpr const char* kAgent[] {
    QT_TRANSLATE_NOOP("Said", "print_struct: the module structure has been recorded and training goes on"),
    QT_TRANSLATE_NOOP("Said", "%1 ends it there, as msprobe does"),
    QT_TRANSLATE_NOOP("Said", "print_struct: the model's structure is in %1"),
    QT_TRANSLATE_NOOP("Said", "stack_info: the modules' call stacks are in %1"),
    QT_TRANSLATE_NOOP("Said", "nothing is collected from this step on"),
    QT_TRANSLATE_NOOP("Said", "nothing is collected from this step on: %1"),
    QT_TRANSLATE_NOOP("Said", "%1 steps are collected, as collect_times asks"),
    QT_TRANSLATE_NOOP("Said", "%1 in the changed config"), QT_TRANSLATE_NOOP("Said", "dynamic_on is false"),
    QT_TRANSLATE_NOOP("Said", "collect_times is 0"),
    QT_TRANSLATE_NOOP("Said", "the changed config is in force from this step"),
    QT_TRANSLATE_NOOP("Said", "the config that is in force stays so: %1"),
    QT_TRANSLATE_NOOP("Said", "collectives by call site, element type and process group"),
    QT_TRANSLATE_NOOP("Said", "collectives by call site, element type and process group: %1"),
    QT_TRANSLATE_NOOP("Said", "not observed: functional collectives (%1, compiled regions) never pass Python"),
    QT_TRANSLATE_NOOP("Said", "not observed: DDP's own gradient all-reduce never passes Python: %1"),
    QT_TRANSLATE_NOOP("Said", "its result is in the reduced gradients"),
    QT_TRANSLATE_NOOP("Said", "not observed: %1 of %2, because %3"),
    QT_TRANSLATE_NOOP("Said", "not observed: activations, because no selected module ran outside compiled code"),
    QT_TRANSLATE_NOOP("Said", "select modules around the compiled ones"),
    QT_TRANSLATE_NOOP(
        "Said", "not observed in the first step: activations of %1 (not called, or inside compiled code)"),
    QT_TRANSLATE_NOOP("Said", "it neither calls scaled_dot_product_attention nor is called with queries and keys"),
    QT_TRANSLATE_NOOP("Said", "its queries and keys have no values that can be read here"),
    QT_TRANSLATE_NOOP("Said", "a MindSpore cell tells of it where it is called with query and key, %1"),
    QT_TRANSLATE_NOOP("Said", "each of four dimensions in the order of sa_order"),
    QT_TRANSLATE_NOOP("Said", "it has no weight matrix"),
    QT_TRANSLATE_NOOP("Said", "its weight is no matrix of numbers on this rank"),
    QT_TRANSLATE_NOOP("Said", "its output holds no logits"),
    QT_TRANSLATE_NOOP("Said", "its gradient and momentum do not match"),
    QT_TRANSLATE_NOOP("Said", "there are too many series"),
    QT_TRANSLATE_NOOP("Said", "its hook cannot be installed (%1)"),
    QT_TRANSLATE_NOOP(
        "Said", "its gradient was taken away in an earlier hook, as optimizers that step inside backward do"),
    QT_TRANSLATE_NOOP(
        "Said", "it ran more than once under reentrant checkpointing, whose recomputation does not say which"),
    QT_TRANSLATE_NOOP("Said", "it changes the tensor in place, and the gradient is that of the changed one"),
    QT_TRANSLATE_NOOP("Said", "it is given the same tensor more than once"),
    QT_TRANSLATE_NOOP("Said", "it returns the tensor itself"),
    QT_TRANSLATE_NOOP("Said", "what it returns holds no tensor"),
    QT_TRANSLATE_NOOP("Said", "its consumers run on several streams"),
    QT_TRANSLATE_NOOP("Said", "the gradient of the input of %1 is the total over all consumers of the tensor, %2: %3"),
    QT_TRANSLATE_NOOP("Said", "not the share that flows through the module"),
    QT_TRANSLATE_NOOP("Said", "several backward passes went through one forward: %1"),
    QT_TRANSLATE_NOOP("Said", "of the gradients of its activations the last pass's are shown"),
    QT_TRANSLATE_NOOP("Said", "l2_targets.attention_hook is empty, which means no attention module"),
    QT_TRANSLATE_NOOP("Said", "telltale.attention_hook: true measures all of them"),
    QT_TRANSLATE_NOOP("Said", "more than %1 attention calls in one step; the rest is left out"),
    QT_TRANSLATE_NOOP("Said", "attention_maps: maps are for the dashboard, and nothing goes there; none are made"),
    QT_TRANSLATE_NOOP("Said", "attention_maps: a step has at most %1 maps; those of %2 and later are left out"),
    QT_TRANSLATE_NOOP("Said", "attention_maps: %1 has none of the heads %2; none of its maps are sent"),
    QT_TRANSLATE_NOOP("Said", "attention_maps: they are not fetched from %1; none are sent"),
    QT_TRANSLATE_NOOP("Said", "attention_maps: a card has not sent those of two steps yet; the next ones are left out"),
    QT_TRANSLATE_NOOP("Said", "attention_maps: %1; it has no maps"),
    QT_TRANSLATE_NOOP("Said", "internal error while collecting %1: %2: %3"),
    QT_TRANSLATE_NOOP("Said", "%1 is switched off after %2 internal errors; training goes on"),
    QT_TRANSLATE_NOOP("Said", "%1 are dropped and counted"), QT_TRANSLATE_NOOP("Said", "%1 cannot start: %2"),
    QT_TRANSLATE_NOOP("Said", "the model had lazy parameters: it is watched from the end of its first forward on"),
    QT_TRANSLATE_NOOP("Said",
        "another optimizer than the one that watch() was given steps the parameters: it is watched from now on"),
    QT_TRANSLATE_NOOP("Said", "an optimizer steps inside backward: what it makes of its parameters is not observed"),
    QT_TRANSLATE_NOOP(
        "Said", "step %1 was tried and given up: its gradients were cleared before an optimizer took them"),
    QT_TRANSLATE_NOOP("Said", "%1 ran more than %2 times in one micro step; the first ones are kept"),
    QT_TRANSLATE_NOOP("Said", "the metric %1 is %2, not a number; it is left out"),
    QT_TRANSLATE_NOOP("Said", "the spectral norms of weights on a device are not converged in the first steps: %1"),
    QT_TRANSLATE_NOOP("Said", "they are lower bounds that grow tighter from step to step"),
    QT_TRANSLATE_NOOP("Said", "%1; nothing is collected for it"),
    QT_TRANSLATE_NOOP("Said", "%1; nothing of it is collected"), QT_TRANSLATE_NOOP("Said", "mean over queries"),
    QT_TRANSLATE_NOOP("Said", ", causal (%1)%2"), QT_TRANSLATE_NOOP("Said", ", masked"),
    QT_TRANSLATE_NOOP("Said", "top left"), QT_TRANSLATE_NOOP("Said", "bottom right"),
    QT_TRANSLATE_NOOP("Said", "head 0 of the first sequence, causal, mean over all queries, as msprobe has it"),
    QT_TRANSLATE_NOOP("Said", "causal softmax of q.k/sqrt(d), first sequence, mean over %1 queries"),
    QT_TRANSLATE_NOOP(
        "Said", "share of a query's attention, mean over the queries of a row, sum over the keys of a column%1"),
    QT_TRANSLATE_NOOP("Said", "; first sequence%1"), QT_TRANSLATE_NOOP("Said", "; every %1th query%2"),
    QT_TRANSLATE_NOOP("Said", "%1 and %2 more"), // names
};
/// What store and server say.
constexpr const char* kStore[] {
    QT_TRANSLATE_NOOP("Said", "all ranks"),
    QT_TRANSLATE_NOOP("Said", "revision %1 has replaced it"),
    QT_TRANSLATE_NOOP("Said", "it was past the step %1 times"),
    QT_TRANSLATE_NOOP("Said", "another Telltale (process %1) writes to %2"),
    QT_TRANSLATE_NOOP("Said", "close it, or use another data directory"),
    QT_TRANSLATE_NOOP("Said", "cannot listen on %1: the port is held by %2"),
    QT_TRANSLATE_NOOP("Said", "cannot listen on %1: another program holds the port"),
    QT_TRANSLATE_NOOP("Said", "cannot listen on %1: %2"),
    QT_TRANSLATE_NOOP("Said", "stop it or choose another port with --listen"),
    QT_TRANSLATE_NOOP("Said", "choose another address with --listen"),
    QT_TRANSLATE_NOOP("Said", "write ADDR:PORT, as in 127.0.0.1:47800 or [::1]:47800"),
    QT_TRANSLATE_NOOP("Said", "cannot make the data directory %1: %2"),
    QT_TRANSLATE_NOOP("Said", "choose another one with --data-dir or TELLTALE_DATA_DIR"),
    QT_TRANSLATE_NOOP("Said", "choose another data directory with --data-dir or TELLTALE_DATA_DIR"),
    QT_TRANSLATE_NOOP("Said", "cannot write %1 (%2)"),
    QT_TRANSLATE_NOOP("Said", "cannot write %1: %2"),
    QT_TRANSLATE_NOOP("Said", "cannot open %1: %2"),
    QT_TRANSLATE_NOOP("Said", "cannot read %1: %2"),
    QT_TRANSLATE_NOOP("Said", "cannot move %1: %2"),
    QT_TRANSLATE_NOOP("Said", "cannot keep %1 in the trash: %2"),
    QT_TRANSLATE_NOOP("Said", "cannot delete %1: there is no such file"),
    QT_TRANSLATE_NOOP("Said", "cannot delete %1: %2"),
    QT_TRANSLATE_NOOP("Said", "cannot delete %1 (%2)"),
    QT_TRANSLATE_NOOP("Said", "the copy was canceled"),
    QT_TRANSLATE_NOOP("Said", "the check was canceled"),
    QT_TRANSLATE_NOOP("Said", "the repair was canceled: nothing was written"),
    QT_TRANSLATE_NOOP("Said", "the thinning was canceled: nothing was changed"),
    QT_TRANSLATE_NOOP("Said", "the name %1 does not end in .telltale"),
    QT_TRANSLATE_NOOP("Said", "a run of that name is already here: %1"),
    QT_TRANSLATE_NOOP("Said", "a run of that name is being imported: %1"),
    QT_TRANSLATE_NOOP("Said", "rename it first"),
    QT_TRANSLATE_NOOP("Said", "rename the file first"),
    QT_TRANSLATE_NOOP("Said", "wait for it"),
    QT_TRANSLATE_NOOP("Said", "the run %1 is being recorded or read"),
    QT_TRANSLATE_NOOP("Said", "the run %1 is being recorded"),
    QT_TRANSLATE_NOOP("Said", "close it first"),
    QT_TRANSLATE_NOOP("Said", "repair it when it has ended"),
    QT_TRANSLATE_NOOP("Said", "thin it when it has ended"),
    QT_TRANSLATE_NOOP("Said", "%1 is the run itself"),
    QT_TRANSLATE_NOOP("Said", "choose another name for the copy"),
    QT_TRANSLATE_NOOP("Said", "this is no file name: %1"),
    QT_TRANSLATE_NOOP("Said", "name the file alone"),
    QT_TRANSLATE_NOOP("Said", "a run's name must have 1 to 1024 bytes"),
    QT_TRANSLATE_NOOP("Said", "%1 is not a run"),
    QT_TRANSLATE_NOOP("Said", "%1 is a folder, not a run"),
    QT_TRANSLATE_NOOP("Said", "there is no file %1"),
    QT_TRANSLATE_NOOP("Said", "there is no run with the id or name \"%1\" in %2"),
    QT_TRANSLATE_NOOP("Said", "the file %1 is empty"),
    QT_TRANSLATE_NOOP("Said", "a change of the run was cut short"),
    QT_TRANSLATE_NOOP("Said", "open it once where it may be written"),
    QT_TRANSLATE_NOOP("Said", "the run was written by a newer Telltale (format %1, this one reads up to %2)"),
    QT_TRANSLATE_NOOP("Said", "update Telltale to open it"),
    QT_TRANSLATE_NOOP("Said", "the file is not a Telltale run (%1)"),
    QT_TRANSLATE_NOOP("Said", "it is not a Telltale run"),
    QT_TRANSLATE_NOOP("Said", "'%1' is no name for a folder of runs"),
    QT_TRANSLATE_NOOP("Said", "say for example llama/ablation: no part may begin with a dot or end in .telltale"),
    QT_TRANSLATE_NOOP("Said", "a folder's name has %1 characters at most"),
    QT_TRANSLATE_NOOP("Said", "choose a shorter one"),
    QT_TRANSLATE_NOOP("Said", "%1 is no run of %2"),
    QT_TRANSLATE_NOOP("Said", "only those have folders; 'telltale import' takes one in"),
    QT_TRANSLATE_NOOP("Said", "there is a run %1 in this folder already"),
    QT_TRANSLATE_NOOP("Said", "%1 lies on another disk than the data directory and its trash"),
    QT_TRANSLATE_NOOP("Said", "delete it with the file manager, or name its own data directory"),
    QT_TRANSLATE_NOOP("Said", "the run %1 is pinned"),
    QT_TRANSLATE_NOOP("Said", "another run has its place: %1"),
    QT_TRANSLATE_NOOP("Said", "move that one away first"),
    QT_TRANSLATE_NOOP("Said", "the list of pinned runs cannot be read: %1"),
    QT_TRANSLATE_NOOP("Said", "layout %1 cannot be read"),
    QT_TRANSLATE_NOOP("Said", "layout %1 does not fit its groups"),
    QT_TRANSLATE_NOOP("Said", "what became of the samples cannot be read completely"),
    QT_TRANSLATE_NOOP("Said", "%1 cannot be read completely"),
    QT_TRANSLATE_NOOP("Said", "%1 has %2 damaged row, which is left out"),
    QT_TRANSLATE_NOOP("Said", "%1 has %2 damaged rows, which are left out"),
    QT_TRANSLATE_NOOP("Said", "%1 is lost: tile %2 has a wrong checksum"),
    QT_TRANSLATE_NOOP("Said", "%1: stored values are damaged and left out"),
    QT_TRANSLATE_NOOP("Said", "the newest steps: stored batches are damaged and left out"),
    QT_TRANSLATE_NOOP("Said", "%1 tiles of group %2 are missing at column %3"),
    QT_TRANSLATE_NOOP("Said", "the file's structure is damaged (%1 finding)"),
    QT_TRANSLATE_NOOP("Said", "the file's structure is damaged (%1 findings)"),
    QT_TRANSLATE_NOOP("Said", "'telltale repair' writes what can be read into a new file"),
    QT_TRANSLATE_NOOP("Said", "the question is no longer asked"),
};
/// What is wrong with a filter of runs.
constexpr const char* kFilters[] {
    QT_TRANSLATE_NOOP("Said", "'%1' is no date"),
    QT_TRANSLATE_NOOP("Said", "write 2026-11-24, 2026-11-24T10:30, today, yesterday, or an age such as 7d"),
    QT_TRANSLATE_NOOP("Said", "'%1' is no age"),
    QT_TRANSLATE_NOOP("Said", "write a number and m, h, d, w or y: 90d are ninety days"),
    QT_TRANSLATE_NOOP("Said", "%1 %2 is not a regular expression"),
    QT_TRANSLATE_NOOP("Said", "'%1' names no field of a config"),
    QT_TRANSLATE_NOOP("Said", "write FIELD=VALUE, for example lr=0.001, lr<=1e-4 or optimizer.name=adam*"),
    QT_TRANSLATE_NOOP("Said", "'%1' is no number that %2 could be compared with"),
    QT_TRANSLATE_NOOP("Said", "'%1' is no severity"),
    QT_TRANSLATE_NOOP("Said", "say notice, warning or critical"),
    QT_TRANSLATE_NOOP("Said", "'%1' is no state of a run"),
    QT_TRANSLATE_NOOP("Said", "say live, finished, failed, interrupted, lost, damaged or newer; several with commas"),
    QT_TRANSLATE_NOOP("Said", "%1 says nothing to look for"),
    QT_TRANSLATE_NOOP("Said", "runs are not chosen by '%1'"),
};
/// Why the demo does not train.
constexpr const char* kDemo[] {
    QT_TRANSLATE_NOOP("Said", "telltale-demo-trainer is neither beside telltale nor on the PATH"),
    QT_TRANSLATE_NOOP("Said", "build it (it needs LibTorch: libtorch-dev) or put it there"),
    QT_TRANSLATE_NOOP("Said", "the demo is already training"),
    QT_TRANSLATE_NOOP("Said", "the demo needs the capture server: %1"),
    QT_TRANSLATE_NOOP("Said", "cannot start %1: %2"),
    QT_TRANSLATE_NOOP("Said", "the demo: rank %1 was killed (SIG%2)"),
    QT_TRANSLATE_NOOP("Said", "the training process of rank %1 ended with exit code %2"),
};
/// What is wrong with a config.
constexpr const char* kConfigs[] {
    QT_TRANSLATE_NOOP("Said", "the field \"%1\" of \"%2\" is not known to this version; did you mean \"%3\"?"),
    QT_TRANSLATE_NOOP("Said", "the field \"%1\" of \"%2\" is not known to this version"),
    QT_TRANSLATE_NOOP("Said", "the field \"%1\" belongs into the object \"%2\""),
    QT_TRANSLATE_NOOP("Said", "the operation %1 is unknown"),
    QT_TRANSLATE_NOOP("Said", "the kind %1 is unknown"),
    QT_TRANSLATE_NOOP("Said", "the format %1 is unknown"),
    QT_TRANSLATE_NOOP("Said", "the rule %1 is unknown"),
    QT_TRANSLATE_NOOP("Said", "the side %1 is unknown"),
    QT_TRANSLATE_NOOP("Said", "the hook %1 is unknown"),
    QT_TRANSLATE_NOOP("Said", "the field %1 is unknown"),
    QT_TRANSLATE_NOOP("Said", "the argument %1 is unknown"),
    QT_TRANSLATE_NOOP("Said", "did you mean \"%1\"?"),
    QT_TRANSLATE_NOOP("Said", "known are %1"),
    QT_TRANSLATE_NOOP("Said", "\"%1\" matches nothing in this model"),
    QT_TRANSLATE_NOOP("Said", "\"%1\" is no module of this model"),
    QT_TRANSLATE_NOOP("Said", "\"%1\" is of type %2, which %3 does not look at"),
    QT_TRANSLATE_NOOP("Said", "rank %1 does not exist; this run has ranks %2 to %3"),
    QT_TRANSLATE_NOOP("Said", "rank %1 does not exist; this run has only rank %2"),
    QT_TRANSLATE_NOOP("Said", "%1 has no rule_name; it must be AnomalyTurbulence or AnomalyNan"),
    QT_TRANSLATE_NOOP("Said", "%1 needs \"args\": {\"threshold\": T} with T a number from 0; the rule is left out"),
    QT_TRANSLATE_NOOP("Said", "%1 is %2; it must be %3"),
    QT_TRANSLATE_NOOP("Said", "true or false"),
    QT_TRANSLATE_NOOP("Said", "a whole number from %1 to %2"),
    QT_TRANSLATE_NOOP("Said", "a number from %1 to %2"),
    QT_TRANSLATE_NOOP("Said", "a number from %1 up"),
    QT_TRANSLATE_NOOP("Said", "a string"),
    QT_TRANSLATE_NOOP("Said", "a list of strings"),
    QT_TRANSLATE_NOOP("Said", "a list of rules"),
    QT_TRANSLATE_NOOP("Said", "a list of operation names"),
    QT_TRANSLATE_NOOP("Said", "a list of kinds"),
    QT_TRANSLATE_NOOP("Said", "a list of module names"),
    QT_TRANSLATE_NOOP("Said", "a list of rank numbers, such as [0, 1]"),
    QT_TRANSLATE_NOOP("Said", "a list of steps, such as [0, 100]"),
    QT_TRANSLATE_NOOP("Said", "a list of at most 16 heads, such as [0, 4]; an empty one means the first four"),
    QT_TRANSLATE_NOOP("Said", "a format's name or a list of them"),
    QT_TRANSLATE_NOOP("Said", "an object"),
    QT_TRANSLATE_NOOP("Said", "an object of module or parameter names, such as {\"layers.0\": {}}"),
    QT_TRANSLATE_NOOP("Said", "an object such as {} or %1"),
    QT_TRANSLATE_NOOP("Said", "an object such as %1"),
    QT_TRANSLATE_NOOP("Said", "[] or two moments such as %1"),
    QT_TRANSLATE_NOOP("Said", "\"%1\" or \"%2\""),
    QT_TRANSLATE_NOOP("Said", "one of %1"),
    QT_TRANSLATE_NOOP("Said", // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one sentence
        "forward_only and backward_only are both true: neither activations nor their gradients are collected; set one "
        "of them to false"),
    QT_TRANSLATE_NOOP("Said", "a number in the config is larger than any number can be"),
    QT_TRANSLATE_NOOP("Said", "the config is not JSON: line %1 breaks it"),
    QT_TRANSLATE_NOOP("Said", "// comments and trailing commas are allowed, nothing else beyond JSON is"),
    QT_TRANSLATE_NOOP("Said", "the config has objects or lists inside each other more than %1 deep"),
    QT_TRANSLATE_NOOP("Said", "the config is not a JSON object"),
    QT_TRANSLATE_NOOP("Said", "it must look like {\"targets\": {}, ...}"),
};
/// PCRE2, of a regular expression.
constexpr const char* kExpressions[] {
    QT_TRANSLATE_NOOP("Said", "missing closing parenthesis"),
    QT_TRANSLATE_NOOP("Said", "unmatched closing parenthesis"),
    QT_TRANSLATE_NOOP("Said", "missing terminating ] for character class"),
    QT_TRANSLATE_NOOP("Said", "quantifier does not follow a repeatable item"),
    QT_TRANSLATE_NOOP("Said", "\\ at end of pattern"),
    QT_TRANSLATE_NOOP("Said", "range out of order in character class"),
    QT_TRANSLATE_NOOP("Said", "numbers out of order in {} quantifier"),
    QT_TRANSLATE_NOOP("Said", "number too big in {} quantifier"),
    QT_TRANSLATE_NOOP("Said", "unrecognized character follows \\"),
    QT_TRANSLATE_NOOP("Said", "unrecognized character after (? or (?-"),
    QT_TRANSLATE_NOOP("Said", "reference to non-existent subpattern"),
    QT_TRANSLATE_NOOP("Said", "lookbehind assertion is not fixed length"),
};

/// Empty where no form is known.
QString known(const QString& english)
{
    static const SentenceForms kOfCounts("Said", kCounts, QStringLiteral("(.*?)"));
    static const SentenceForms kForms("Said", forms(), QStringLiteral("(.*?)"));
    if (QString text
        = kOfCounts.translated(english, [](const QString& part) { return inLanguage(reformatNumber(part)); });
        !text.isEmpty())
        return text;
    return kForms.translated(english, inLanguage); // a number may be a process or a port, which nobody groups
}

}

const std::vector<const char*>& forms()
{
    static const std::vector<const char*> kAll = [] {
        std::vector<const char*> all;
        for (const std::span<const char* const> table : { std::span<const char* const>(kCounts),
                 std::span<const char* const>(kAgent), std::span<const char* const>(kStore),
                 std::span<const char* const>(kFilters), std::span<const char* const>(kDemo),
                 std::span<const char* const>(kConfigs), std::span<const char* const>(kExpressions) })
            all.insert(all.end(), table.begin(), table.end());
        return all;
    }();
    return kAll;
}

QString inLanguage(const QString& english)
{
    if (english.isEmpty())
        return english;
    if (QString text = known(english); !text.isEmpty())
        return text;
    // Several sentences, of which some are known.
    const QString mark = QStringLiteral("; ");
    if (english.contains(mark)) {
        QStringList parts = english.split(mark);
        for (QString& part : parts)
            part = inLanguage(part);
        return parts == english.split(mark) ? english : parts.join(semicolon()); // what nobody knows stays
    }
    // Whose it is stands before it.
    const QString colon = QStringLiteral(": ");
    for (qsizetype at = english.indexOf(colon); at >= 0; at = english.indexOf(colon, at + 1)) {
        if (const QString text = known(english.mid(at + colon.size())); !text.isEmpty())
            return english.left(at + colon.size()) + text;
    }
    return english;
}

QString of(const Error& error)
{
    return inLanguage(QString::fromStdString(error.sentence()));
}

}
