// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/series/query.h>

#include <cmath>

namespace telltale::series {

CellState readoutState(Stat stat, const CellValue& cell, std::uint64_t numel)
{
    const NonFinite rule = factsOf(stat).nonFinite;
    if (cell.state < CellState::NegInf)
        return cell.state == CellState::Absent && rule == NonFinite::OverAll ? CellState::NaN : cell.state;
    if (std::isnan(cell.value))
        return cell.state;
    const bool nothingFinite = numel > 0 && cell.nans + cell.posInfs + cell.negInfs >= numel;
    switch (rule) {
    case NonFinite::OverFinite:
    case NonFinite::OverAll:
        return nothingFinite ? CellState::NaN : CellState::Value;
    case NonFinite::Least:
        return cell.nans > 0 ? CellState::NaN : cell.negInfs > 0 ? CellState::NegInf : CellState::Value;
    case NonFinite::Greatest:
        return cell.nans > 0 ? CellState::NaN : cell.posInfs > 0 ? CellState::PosInf : CellState::Value;
    case NonFinite::Magnitude:
        return cell.nans > 0 ? CellState::NaN : CellState::PosInf;
    case NonFinite::Itself:
    case NonFinite::Counts:
    case NonFinite::Bits:
        break;
    }
    return cell.state;
}

bool isPartOf(Stat stat, const CellValue& cell, std::uint64_t numel)
{
    return factsOf(stat).nonFinite == NonFinite::OverFinite && isNonFinite(cell.state)
        && readoutState(stat, cell, numel) == CellState::Value;
}

}
