// SPDX-License-Identifier: GPL-3.0-or-later
#include "storeseeds.h"

#include <memory>
#include <vector>

#include <telltale/store/layoutcodec.h>
#include <telltale/store/tailcodec.h>
#include <telltale/store/tilecodec.h>

namespace telltale::fuzz {
namespace {

using namespace telltale::store;
using series::PlaneType;

/// Constant, zero, packed and raw chunks by turns, as a plane's values have it.
std::string tile(int lanes, int columns, bool isBucket, std::vector<TilePlane> planes)
{
    std::vector<Step> steps;
    std::vector<float> values;
    for (int i = 0; i < columns; ++i)
        steps.push_back(Step { 10 * i + (i > 3 ? i * i : 0) });
    for (int i = 0; i < lanes * columns; ++i)
        values.push_back(static_cast<float>(i % 7) * 0.37f);
    const std::vector<double> wide(values.begin(), values.end());
    const std::vector<std::uint64_t> integers(values.size(), 3);
    std::vector<std::uint8_t> present(values.size(), 1); // a byte a cell
    present.back() = 0;
    TilePlanes out;
    out.lanes = lanes;
    out.columns = columns;
    out.firstSteps = steps;
    if (isBucket)
        out.lastSteps = steps;
    else
        out.presence = present.data();
    for (TilePlane& plane : planes) {
        plane.values = plane.type == PlaneType::F32 ? static_cast<const void*>(values.data())
            : plane.type == PlaneType::F64          ? static_cast<const void*>(wide.data())
            : plane.type == PlaneType::U64          ? static_cast<const void*>(integers.data())
                                                    : nullptr;
        plane.columnStride = static_cast<std::size_t>(lanes);
        out.planes.push_back(plane);
    }
    return encodeTile(out);
}

std::string bucketTile()
{
    std::vector<TilePlane> planes;
    for (const PlaneRole role : { PlaneRole::Min, PlaneRole::Max, PlaneRole::Mean })
        planes.push_back({ role, PlaneType::F32 });
    for (const PlaneRole role : { PlaneRole::Samples, PlaneRole::Finite })
        planes.push_back({ role, PlaneType::U64 });
    for (const PlaneRole role : { PlaneRole::Nans, PlaneRole::PosInfs, PlaneRole::NegInfs })
        planes.push_back({ role, PlaneType::Zero });
    return tile(5, 4, true, planes);
}

std::shared_ptr<SeriesLayout> layout()
{
    auto out = std::make_shared<SeriesLayout>();
    out->id = LayoutId { 1 };
    out->kind = Kind::Scalar;
    out->stats = { Stat::Value, Stat::Nans };
    for (const char* name : { "a", "b.c" }) {
        SeriesDesc series;
        series.name = name;
        series.shape = { 2, 3 };
        out->series.push_back(series);
    }
    out->series[0].slot = Slot::named("w");
    out->series[1].slot = { .role = Role::Output, .number = 1, .call = 1, .position = R"([1,"x"])" };
    return out;
}

std::string tail()
{
    TailEncoder encoder;
    for (int s = 0; s < 3; ++s) {
        StepBlock block;
        block.layout = layout();
        block.step = Step { s };
        block.columns = { { Stat::Value, std::vector<double> { 0.5, 2.0 * s } },
            { Stat::Nans, std::vector<std::uint64_t> { 0, static_cast<std::uint64_t>(s) } } };
        if (s == 2)
            block.present = { 1 };
        encoder.append(block, s);
    }
    return encoder.take();
}

}

std::map<std::string, std::string> storeSeeds()
{
    using namespace std::string_literals;
    return {
        { "fuzz_tile/floats", tile(17, 3, false, { { PlaneRole::Value, PlaneType::F32 } }) },
        { "fuzz_tile/doubles", tile(2, 9, false, { { PlaneRole::Value, PlaneType::F64 } }) },
        { "fuzz_tile/integers", tile(3, 5, false, { { PlaneRole::Value, PlaneType::U64 } }) },
        { "fuzz_tile/bins", tile(20, 5, false, { { PlaneRole::Value, PlaneType::U64, nullptr, 1, 1, true } }) },
        { "fuzz_tile/zeros", tile(3, 5, false, { { PlaneRole::Value, PlaneType::Zero } }) },
        { "fuzz_tile/buckets", bucketTile() },
        { "fuzz_tail/tail", tail() },
        { "fuzz_tail/layout", encodeLayout(*layout()) },
        // A run as it is, a byte of the file, a cell of a row, a blob with its checksum; the same of a killed run.
        { "fuzz_capsule/whole", "\0"s },
        { "fuzz_capsule/killed", "\1"s },
        { "fuzz_capsule/byte", "\0\0\1\x23\x45\2\xff\xff"s },
        { "fuzz_capsule/cell", "\0\2\5\0\3\4\2\xfe"s },
        { "fuzz_capsule/blob", "\1\6\6\0\0\0\5\2\xff\1"s },
        { "fuzz_capsule/row", "\1\1\3\0\2"s },
    };
}

}
