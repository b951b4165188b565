// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvecsv.h"

#include <telltale/common/csv.h>
#include <telltale/common/kindtext.h>

namespace telltale::views {

void writeBucket(CsvWriter& csv, const CurveSeries& one, int index, int between)
{
    const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(index)];
    const StepRange steps = stepsOf(one.result, index);
    // Scalars are stored as float64; every statistic of a tensor is a float32.
    const bool isFloat = one.row.kind != Kind::Scalar;
    const auto number = [&](double value) { isFloat ? csv.number32(value) : csv.number(value); };
    csv.text(one.row.key.name).text(one.row.slotText()).integer(one.row.microStep);
    if (one.isGroup)
        csv.text(rankListText(one.ranks, QStringLiteral(".."))); // a spreadsheet takes 1-7 for a date
    else
        csv.integer(one.row.rank.value);
    csv.text(QString::fromUtf8(kindName(one.row.kind))).text(QString::fromUtf8(statName(one.stat)));
    csv.integer(steps.first.value).integer(steps.last.value);
    for (int i = 0; i < between; ++i)
        csv.empty();
    if (one.isGroup && bucket.state == series::CellState::Value)
        csv.text(QStringLiteral("value")).empty();
    else
        writeCell(csv, bucket.state, bucket.last, isFloat);
    const bool isMedian = one.ofRuns > 0 && !one.isGroup;
    if (bucket.finite > 0 && !isMedian) {
        number(bucket.min);
        number(bucket.max);
        number(bucket.mean);
    } else {
        csv.empty().empty().empty();
    }
    csv.integer(bucket.samples).integer(bucket.nans).integer(bucket.posInfs).integer(bucket.negInfs);
}

Expected<void> writeCurveCsv(QIODevice* device, const CurvePicture* picture)
{
    CsvWriter csv(device);
    const bool comparesRuns = picture && !picture->runs.isEmpty();
    for (const char* name : { "name", "slot", "micro_step", "rank", "kind", "statistic", "first_step", "last_step",
             "state", "value", "min", "max", "mean", "samples", "nans", "posinfs", "neginfs" })
        csv.text(QLatin1String(name));
    if (comparesRuns)
        csv.text(QStringLiteral("run"));
    csv.endRow();
    for (std::size_t i = 0; picture && i < picture->series.size(); ++i) {
        const CurveSeries& one = picture->series[i];
        for (int b = 0; b < static_cast<int>(one.result.buckets.size()) && !one.isHidden; ++b) {
            if (one.result.buckets[static_cast<std::size_t>(b)].state == series::CellState::NotCollected)
                continue;
            writeBucket(csv, one, b);
            if (comparesRuns)
                csv.text(picture->runs.value(one.run));
            csv.endRow();
        }
    }
    return csv.finish();
}

}
