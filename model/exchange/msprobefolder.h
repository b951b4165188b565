// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/samplebatch.h>

namespace telltale::exchange {

/// One csv file of msprobe's monitor: "actv_grad_0-3.csv", "weight_grad_step0-3.csv" of its second version.
struct MsprobeFile {
    std::filesystem::path path;
    std::string prefix; ///< "actv_grad"
    std::int64_t first = 0;
    bool isSecond = false; ///< of monitor_v2
};

/// What one process left: "Nov21_14-33-49-rank0-504d0f78", or "rank_0" of the second version.
struct MsprobeFolder {
    std::filesystem::path path;
    Rank rank;
    std::int64_t order = 0; ///< by the time in its name
    std::vector<MsprobeFile> files; ///< by kind and step
};

/// Every such folder at or below `path`, by rank and time; a csv file alone is a folder of one.
std::vector<MsprobeFolder> findMsprobe(const std::filesystem::path& path);
/// "torch.float32", "Float32", "BFloat16": as msprobe writes them on PyTorch and MindSpore.
DType msprobeDType(std::string_view text);
/// "torch.float32"; "nan" where it is not known.
std::string msprobeDTypeText(DType dtype);

}
