// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <utility>

#include <telltale/store/catalog.h>

namespace telltale::exchange {

/// How a value is called in TensorBoard.
enum class TagStyle {
    Readable, ///< "grad_reduced.norm/layers.0.attn.qkv.weight": TensorBoard shows a kind's statistic in one group
    Msprobe, ///< "0:layers.0.attn.qkv.weight/rank0/post_grad_norm", as TrainerMon's documents have it
};

/// The tags of one folder. A metric of the run is called as it was logged; series that would be called the same (one
/// tensor, measured in two ways) say how they were measured. Thread: one.
class TensorBoardTags {
public:
    explicit TensorBoardTags(TagStyle style)
        : m_style(style)
    {
    }
    std::string of(const store::SeriesInfo& series, Rank rank, Stat stat);

private:
    TagStyle m_style;
    std::map<std::pair<SourceId, std::string>, SeriesId> m_taken;
};

}
