// SPDX-License-Identifier: GPL-3.0-or-later
// What a view of ranks shows, as a table.
#include <cmath>

#include <telltale/common/csv.h>
#include <telltale/common/kindtext.h>
#include <telltale/heatmap/heatcanvas.h>

#include "ranksview.h"
#include "replicacanvas.h"

namespace telltale::views {

namespace {

QString gradeWord(analysis::RankOddness::Grade grade)
{
    switch (grade) {
    case analysis::RankOddness::Grade::Odd:
        return QStringLiteral("odd");
    case analysis::RankOddness::Grade::AtTimes:
        return QStringLiteral("at_times");
    case analysis::RankOddness::Grade::Like:
        break;
    }
    return QStringLiteral("like");
}

QString samenessWord(analysis::Sameness is)
{
    switch (is) {
    case analysis::Sameness::Same:
        return QStringLiteral("same");
    case analysis::Sameness::Different:
        return QStringLiteral("different");
    case analysis::Sameness::Unknown:
        break;
    }
    return QStringLiteral("unknown");
}

void writeFace(CsvWriter& csv, const QString& face, const HeatPicture& picture)
{
    for (int row = 0; row < picture.result.rows; ++row) {
        const Row& r = picture.rows[static_cast<std::size_t>(row)];
        for (int column = 0; column < picture.columns(); ++column) {
            const StepRange steps = picture.stepsOf(row, column);
            const Rank rank = picture.axes == HeatAxes::ModuleByRank
                ? picture.columnRanks[static_cast<std::size_t>(column)]
                : r.rank;
            csv.text(face).text(r.key.name).text(r.slotText()).integer(r.microStep).integer(rank.value);
            csv.text(QString::fromUtf8(kindName(picture.kind))).text(QString::fromUtf8(statName(picture.stat)));
            csv.integer(steps.first.value).integer(steps.last.value);
            writeCell(csv, picture.state(row, column), static_cast<double>(picture.value(row, column)), true);
            if (picture.axes == HeatAxes::ModuleByStep)
                csv.empty();
            else
                csv.text(gradeWord(picture.gradeOf(rank)));
            csv.endRow();
        }
    }
}

}

void RanksView::writeReplicas(CsvWriter& csv) const
{
    for (const char* title : { "name", "slot", "kind", "statistic", "first_step", "last_step", "spread_state", "spread",
             "bits", "without_ranks" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    const ReplicaPicture* picture = m_replicas->picture();
    for (int column = 0; picture && column < picture->columns(); ++column) {
        const StepRange steps = picture->stepsOf(column);
        const auto at = static_cast<std::size_t>(column);
        csv.text(picture->key.name).text(picture->key.slotText());
        csv.text(QString::fromUtf8(kindName(picture->kind))).text(QString::fromUtf8(statName(picture->stat)));
        csv.integer(steps.first.value).integer(steps.last.value);
        const auto spread = static_cast<double>(picture->spread[at]);
        if (std::isnan(spread) && !series::isNonFinite(picture->states[at]))
            writeCell(csv, series::CellState::NotCollected, 0, true);
        else
            writeCell(csv, picture->states[at], spread, true);
        analysis::Sameness is = analysis::Sameness::Unknown;
        for (const analysis::SamenessAt& one : picture->drift.steps) {
            if (steps.contains(one.step))
                is = std::max(is, one.is);
        }
        csv.text(samenessWord(is));
        QStringList without;
        for (const Rank rank : picture->without[at])
            without.append(QString::number(rank.value));
        csv.text(without.join(u' '));
        csv.endRow();
    }
}

Expected<void> RanksView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    if (m_areReplicasShown) {
        writeReplicas(csv);
        return csv.finish();
    }
    for (const char* title : { "face", "name", "slot", "micro_step", "rank", "kind", "statistic", "first_step",
             "last_step", "state", "value", "rank_is" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    const std::array names { QStringLiteral("layers_by_steps"), QStringLiteral("layers_by_ranks"),
        QStringLiteral("ranks_by_steps") };
    for (std::size_t i = 0; i < kFaces; ++i) {
        if (const HeatPicture* picture = m_faces[i]->picture())
            writeFace(csv, names[i], *picture);
    }
    return csv.finish();
}

}
