// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/series/query.h>

#include <cmath>

namespace telltale::series {

Reduction reductionFor(Stat stat)
{
    switch (stat) {
    case Stat::Norm:
    case Stat::Max:
    case Stat::AbsMax:
        return Reduction::LargestMagnitude;
    case Stat::Min:
        return Reduction::Smallest;
    default:
        return Reduction::Mean;
    }
}

CellState readoutState(Stat stat, const CellValue& cell, std::uint64_t numel)
{
    if (cell.state < CellState::NegInf)
        return cell.state == CellState::Absent && stat == Stat::Zeros ? CellState::NaN : cell.state;
    if (std::isnan(cell.value))
        return cell.state;
    const bool nothingFinite = numel > 0 && cell.nans + cell.posInfs + cell.negInfs >= numel;
    switch (stat) {
    case Stat::Norm:
    case Stat::Mean:
    case Stat::Zeros:
        return nothingFinite ? CellState::NaN : CellState::Value;
    case Stat::Min:
        return cell.nans > 0 ? CellState::NaN : cell.negInfs > 0 ? CellState::NegInf : CellState::Value;
    case Stat::Max:
        return cell.nans > 0 ? CellState::NaN : cell.posInfs > 0 ? CellState::PosInf : CellState::Value;
    case Stat::AbsMax:
        return cell.nans > 0 ? CellState::NaN : CellState::PosInf;
    default:
        return cell.state;
    }
}

}
