// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>

namespace telltale::store {

/// `layout.bytes`: u8 version 3, u32 id, u8 kind, u8 stats + that many u8, u32 series; each series: name, slot and
/// definition, i32 vppStage, i32 microStep, u32 form, u8 dtype, u64 numel, i64 shardOffset, shape and fullShape as u32
/// count + that many i64; then the edges as u32 count + that many f64. Texts are u32 length + bytes. A slot is u8 role,
/// i32 number, head, expert and bin, u32 call, word, position; its text before version 3. No edges in version 1. Equal
/// layouts give equal bytes.
std::string encodeLayout(const SeriesLayout& layout);
Expected<std::shared_ptr<const SeriesLayout>> decodeLayout(std::string_view bytes);

/// `series.shape` and `series.full_shape`.
std::string encodeShape(const std::vector<std::int64_t>& shape);
std::vector<std::int64_t> decodeShape(std::string_view bytes);

}
