// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/series/query.h>

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

}
