// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparecsv.h"

#include <cmath>

#include <telltale/common/csv.h>
#include <telltale/common/kindtext.h>
#include <telltale/plot/curvecsv.h>

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kMapColumns = 8; ///< what a cell says, behind where it is
constexpr int kCurveColumns = 11;

QString word(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

void writeHead(CsvWriter& csv, std::initializer_list<const char*> names)
{
    for (const char* name : names)
        csv.text(QLatin1String(name));
}

void writeDeviation(CsvWriter& csv, const QString& what, const judge::Deviation& one)
{
    csv.text(what).integer(one.step.value).integer(one.rank.value).text(QString::fromStdString(one.key.name));
    csv.text(QString::fromStdString(one.key.slot.text())).text(word(kindName(one.kind))).text(word(statName(one.stat)));
    csv.text(QString::fromStdString(judge::comparedText(one.a, one.stat, true)));
    csv.text(QString::fromStdString(judge::comparedText(one.b, one.stat, true)));
    if (std::isfinite(one.relative))
        csv.number(one.relative);
    else
        csv.empty();
    csv.endRow();
}

/// `empty`: cells behind those of the map.
void writeCells(CsvWriter& csv, const HeatPicture& picture, int empty)
{
    const HeatSides& sides = *picture.sides;
    const auto columns = static_cast<std::size_t>(picture.columns());
    for (std::size_t row = 0; row < picture.rows.size(); ++row) {
        const Row& of = picture.rows[row];
        for (std::size_t c = 0; c < columns; ++c) {
            const std::size_t at = picture.sideRows[row] * columns + c;
            if (sides.statesA[at] == CellState::NotCollected && sides.statesB[at] == CellState::NotCollected)
                continue;
            const StepRange steps = picture.stepsOf(static_cast<int>(c));
            csv.text(of.key.name).text(of.slotText()).integer(of.microStep).integer(of.rank.value);
            csv.text(word(kindName(of.kind)));
            csv.text(word(statName(picture.stat))).integer(steps.first.value).integer(steps.last.value);
            const auto a = static_cast<double>(sides.valuesA[at]);
            const auto b = static_cast<double>(sides.valuesB[at]);
            writeCell(csv, sides.statesA[at], a, true);
            writeCell(csv, sides.statesB[at], b, true);
            if (sides.statesA[at] == CellState::Value && sides.statesB[at] == CellState::Value)
                csv.number(b - a).number(a == b ? 1 : b / a);
            else
                csv.empty().empty();
            csv.text(sides.nameA).text(sides.nameB);
            for (int i = 0; i < empty; ++i)
                csv.empty();
            csv.endRow();
        }
    }
}

}

Expected<void> writeDifferenceCsv(QIODevice* device, const HeatPicture* picture, const CurvePicture* curves)
{
    CsvWriter csv(device);
    writeHead(csv,
        { "name", "slot", "micro_step", "rank", "kind", "statistic", "first_step", "last_step", "a_state", "a",
            "b_state", "b", "difference", "ratio", "a_run", "b_run" });
    if (curves)
        writeHead(
            csv, { "state", "value", "min", "max", "mean", "samples", "nans", "posinfs", "neginfs", "of_runs", "run" });
    csv.endRow();
    if (picture && picture->sides)
        writeCells(csv, *picture, curves ? kCurveColumns : 0);
    for (std::size_t i = 0; curves && i < curves->series.size(); ++i) {
        const CurveSeries& one = curves->series[i];
        for (int b = 0; b < static_cast<int>(one.result.buckets.size()) && !one.isHidden; ++b) {
            if (one.result.buckets[static_cast<std::size_t>(b)].state == CellState::NotCollected)
                continue;
            writeBucket(csv, one, b, kMapColumns);
            csv.text(one.ofRunNames.join(QStringLiteral("; ")));
            csv.text(one.ofRunNames.isEmpty() ? curves->runs.value(one.run) : one.runName);
            csv.endRow();
        }
    }
    return csv.finish();
}

Expected<void> writeFindingsCsv(QIODevice* device, const judge::Comparison* found)
{
    CsvWriter csv(device);
    writeHead(csv, { "what", "step", "rank", "name", "slot", "kind", "statistic", "a", "b", "relative" });
    csv.endRow();
    if (!found)
        return csv.finish();
    for (const judge::Deviation& one : found->first)
        writeDeviation(csv, QStringLiteral("first"), one);
    for (const judge::Comparison::OfKind& of : found->kinds) {
        if (of.largest)
            writeDeviation(csv, QStringLiteral("largest"), *of.largest);
    }
    return csv.finish();
}

Expected<void> writeFactsCsv(QIODevice* device, const QStringList& runs, const std::vector<judge::DifferingFact>& facts)
{
    CsvWriter csv(device);
    writeHead(csv, { "section", "field" });
    for (const QString& run : runs)
        csv.text(run);
    csv.endRow();
    for (const judge::DifferingFact& fact : facts) {
        csv.text(QString::fromStdString(fact.section)).text(QString::fromStdString(fact.name));
        for (const auto& value : fact.values) {
            if (value)
                csv.text(QString::fromStdString(*value));
            else
                csv.empty();
        }
        csv.endRow();
    }
    return csv.finish();
}

}
