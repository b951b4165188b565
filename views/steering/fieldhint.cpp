// SPDX-License-Identifier: GPL-3.0-or-later
#include "fieldhint.h"

#include <algorithm>

#include <QCoreApplication>

#include <telltale/common/theme.h>

#include "configdraft.h"
#include "fieldtext.h"

namespace telltale::views {
namespace {

struct FieldHint {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::FieldHint)
};

struct Constant {
    const char* name;
    const char* words;
};

constexpr Constant kConstants[] {
    { "collect_times", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "collected steps") },
    { "xy_distribution", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "activations") },
    { "wg_distribution", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "weight gradients") },
    { "mv_distribution", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "moments") },
    { "param_distribution", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "parameters") },
    { "ur_distribution", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "Adam's update") },
    { "stack_info", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "call stacks") },
    { "eps", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "for zeros") },
    { "step_count_per_record", QT_TRANSLATE_NOOP("telltale::views::FieldHint", "steps a file") },
};

}

QString fieldHint(const config::Field& field, const config::Json& value, const ConfigDraft& draft)
{
    const auto one = std::find_if(std::begin(kConstants), std::end(kConstants),
        [&](const Constant& constant) { return field.name == constant.name; });
    if (one != std::end(kConstants))
        return FieldHint::tr(one->words);
    const std::int64_t number = value.is_number_integer() ? value.get<std::int64_t>() : -1;
    if (field.name == "step_interval" || field.name == "attention_maps_interval")
        return number == 1 ? FieldHint::tr("every step") : FieldHint::tr("1 step in %1").arg(formatStep(number));
    if (field.name == "attention_queries")
        return number == 0 ? FieldHint::tr("all rows") : FieldHint::tr("rows a head");
    if (field.name == "flight_recorder")
        return number == 0 ? FieldHint::tr("keeps none") : FieldHint::tr("steps kept");
    if (field.name == "overhead_budget")
        return value.is_null() ? FieldHint::tr("no limit") : FieldHint::tr("% of step time");
    if (field.name == "ndigits")
        return value.is_null() ? FieldHint::tr("9 significant") : FieldHint::tr("decimals");
    const config::RunFacts& run = draft.run();
    if (field.name == "targets") {
        const auto selected = config::selectedCount(draft.config(), run);
        if (!selected)
            return {};
        // The model's own count, which is more than the tree shows: not every module has a tensor.
        return *selected == run.modules.size()
            ? FieldHint::tr("all modules")
            : FieldHint::tr("%1 of %2")
                  .arg(formatStep(static_cast<qint64>(*selected)), formatStep(static_cast<qint64>(run.modules.size())));
    }
    if (field.name == "module_ranks" && !run.ranks.empty()) {
        const auto chosen = std::count_if(value.begin(), value.end(), [&](const config::Json& rank) {
            return rank.is_number_integer()
                && std::binary_search(run.ranks.begin(), run.ranks.end(), rank.get<std::int64_t>());
        });
        const auto all = static_cast<qint64>(run.ranks.size());
        return FieldHint::tr("%1 of %2").arg(formatStep(value.empty() ? all : chosen), formatStep(all));
    }
    return {};
}

}
