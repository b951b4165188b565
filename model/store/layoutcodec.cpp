// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/layoutcodec.h>

#include <algorithm>

#include <telltale/core/histogram.h>
#include <telltale/core/protocolone.h>
#include <telltale/store/byteparser.h>
#include <telltale/store/checkedrow.h>

namespace telltale::store {
namespace {

constexpr std::size_t kLeastSeriesBytes = 49; ///< of any version: every text and shape empty

void putText(std::string& out, std::string_view text)
{
    putLe(out, static_cast<std::uint32_t>(text.size()));
    out += text;
}

void putShape(std::string& out, const std::vector<std::int64_t>& shape)
{
    putLe(out, static_cast<std::uint32_t>(shape.size()));
    out += encodeShape(shape);
}

void putSlot(std::string& out, const Slot& slot)
{
    putLe(out, static_cast<std::uint8_t>(slot.role));
    for (const std::int32_t part : { slot.number, slot.head, slot.expert, slot.bin })
        putLe(out, part);
    putLe(out, slot.call);
    putText(out, slot.word);
    putText(out, slot.position);
}

Slot parseSlot(ByteParser& in)
{
    Slot slot;
    slot.role = static_cast<Role>(in.number<std::uint8_t>());
    for (std::int32_t* part : { &slot.number, &slot.head, &slot.expert, &slot.bin })
        *part = in.number<std::int32_t>();
    slot.call = in.number<std::uint32_t>();
    slot.word = in.text();
    slot.position = in.text();
    return slot;
}

std::vector<std::int64_t> parseShape(ByteParser& in)
{
    const std::size_t count = in.number<std::uint32_t>();
    return count > in.left() / 8 ? (in.take(in.left() + 1), std::vector<std::int64_t> {})
                                 : decodeShape(in.take(count * 8));
}

}

std::string encodeShape(const std::vector<std::int64_t>& shape)
{
    std::string out;
    for (std::int64_t size : shape)
        putLe(out, size);
    return out;
}

std::vector<std::int64_t> decodeShape(std::string_view bytes)
{
    std::vector<std::int64_t> shape(bytes.size() / 8);
    for (std::size_t i = 0; i < shape.size(); ++i)
        shape[i] = getLe<std::int64_t>(bytes, i * 8);
    return shape;
}

std::string encodeLayout(const SeriesLayout& layout)
{
    std::string out;
    putLe(out, std::uint8_t { 3 });
    putLe(out, layout.id.value);
    putLe(out, static_cast<std::uint8_t>(layout.kind));
    putLe(out, static_cast<std::uint8_t>(layout.stats.size()));
    for (Stat stat : layout.stats)
        putLe(out, static_cast<std::uint8_t>(stat));
    putLe(out, static_cast<std::uint32_t>(layout.series.size()));
    for (const SeriesDesc& series : layout.series) {
        putText(out, series.name);
        putSlot(out, series.slot);
        putText(out, series.definition);
        putLe(out, series.vppStage);
        putLe(out, series.microStep);
        putLe(out, series.form);
        putLe(out, static_cast<std::uint8_t>(series.dtype));
        putLe(out, series.numel);
        putLe(out, series.shardOffset);
        putShape(out, series.shape);
        putShape(out, series.fullShape);
    }
    putLe(out, static_cast<std::uint32_t>(layout.edges.size()));
    for (const double edge : layout.edges)
        putLe(out, edge);
    return out;
}

Expected<std::shared_ptr<const SeriesLayout>> decodeLayout(std::string_view bytes)
{
    ByteParser in(bytes);
    auto layout = std::make_shared<SeriesLayout>();
    const auto version = in.number<std::uint8_t>();
    layout->id.value = in.number<std::uint32_t>();
    layout->kind = static_cast<Kind>(in.number<std::uint8_t>());
    for (char stat : in.take(in.number<std::uint8_t>()))
        layout->stats.push_back(static_cast<Stat>(stat));
    const auto count = in.number<std::uint32_t>();
    layout->series.reserve(std::min<std::size_t>(count, in.left() / kLeastSeriesBytes));
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        SeriesDesc& series = layout->series.emplace_back();
        series.name = in.text();
        series.slot = version < 3 ? Slot::named(in.text()) : parseSlot(in);
        series.definition = in.text();
        series.vppStage = in.number<std::int32_t>();
        series.microStep = in.number<std::int32_t>();
        series.form = in.number<std::uint32_t>();
        series.dtype = static_cast<DType>(in.number<std::uint8_t>());
        series.numel = in.number<std::uint64_t>();
        series.shardOffset = in.number<std::int64_t>();
        series.shape = parseShape(in);
        series.fullShape = parseShape(in);
    }
    for (auto edges = version == 1 ? 0 : in.number<std::uint32_t>(); edges > 0 && !in.failed(); --edges)
        layout->edges.push_back(in.number<double>());
    for (SeriesDesc& series : layout->series) {
        if (version < 3)
            series.slot = protocolone::slotOf(series.slot.word, layout->kind, layout->hasBinsAsSeries());
    }
    const auto isKnown = [](const SeriesDesc& series) { return series.dtype <= DType::Bool && series.slot.isSound(); };
    const bool isSound = layout->kind != Kind::Unspecified && static_cast<int>(layout->kind) < kKindCount
        && std::all_of(layout->stats.begin(), layout->stats.end(), isStoredStat)
        && std::all_of(layout->series.begin(), layout->series.end(), isKnown)
        && (layout->edges.empty() || checkEdges(layout->edges));
    if (version < 1 || version > 3 || !in.atEnd() || !isSound)
        return failure(ErrorCode::Damaged, "a layout of the capsule is damaged");
    return shareLayout(std::move(layout));
}

}
