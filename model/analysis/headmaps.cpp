// SPDX-License-Identifier: GPL-3.0-or-later
#include "headmaps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

namespace telltale::analysis {

namespace {

using MapJson = nlohmann::json;

constexpr std::int64_t kMost = 4096; ///< rows, columns and heads of a document that makes sense

float ofHalf(std::uint16_t bits)
{
    const int exponent = (bits >> 10) & 0x1F;
    const int mantissa = bits & 0x3FF;
    const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
    if (exponent == 31)
        return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
    return sign
        * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                         : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25));
}

tl::unexpected<Error> damaged(const char* what)
{
    return failure(ErrorCode::Damaged, std::string("a stored attention map is damaged: ") + what);
}

/// What a field of the head says; -1 where that is nothing sensible.
std::int64_t number(const MapJson& head, const char* name, std::int64_t most = kFarthestStep)
{
    const auto found = head.find(name);
    if (found == head.end() || !found->is_number_integer())
        return -1;
    const auto value = found->get<std::int64_t>();
    return value >= 0 && value <= most ? value : -1;
}

std::vector<std::int64_t> numbers(const MapJson& head, const char* name)
{
    std::vector<std::int64_t> all;
    const auto found = head.find(name);
    if (found == head.end() || !found->is_array())
        return {};
    for (const MapJson& one : *found) {
        if (!one.is_number_integer() || one.get<std::int64_t>() < 0)
            return {};
        all.push_back(one.get<std::int64_t>());
    }
    return all;
}

}

std::pair<std::int64_t, std::int64_t> HeadMaps::queriesOf(int row) const
{
    return { row * queriesPerRow, std::min((row + 1) * queriesPerRow, shape.queries) - 1 };
}

std::pair<std::int64_t, std::int64_t> HeadMaps::keysOf(int column) const
{
    return { column * keysPerColumn, std::min((column + 1) * keysPerColumn, shape.keys) - 1 };
}

Expected<HeadMaps> parseHeadMaps(std::string_view document)
{
    const std::size_t end = document.find('\n');
    if (end == std::string_view::npos)
        return damaged("it has no head");
    const MapJson head = MapJson::parse(document.substr(0, end), nullptr, false);
    if (!head.is_object())
        return damaged("its head is no JSON object");
    if (head.value("format", MapJson()) != 1 || head.value("dtype", MapJson()) != "float16")
        return failure(ErrorCode::Newer, "an attention map is of a format that this build does not know",
            "update Telltale to see it");
    HeadMaps maps;
    maps.rows = static_cast<int>(number(head, "rows", kMost));
    maps.columns = static_cast<int>(number(head, "columns", kMost));
    maps.queriesPerRow = number(head, "queries_per_row");
    maps.keysPerColumn = number(head, "keys_per_column");
    maps.looked = number(head, "looked");
    maps.shape = AttentionShape::of(numbers(head, "shape"));
    const auto heads = numbers(head, "heads");
    const bool areHeads
        = !heads.empty() && std::all_of(heads.begin(), heads.end(), [](std::int64_t one) { return one < kMost; });
    if (maps.rows < 1 || maps.columns < 1 || maps.queriesPerRow < 1 || maps.keysPerColumn < 1 || !areHeads
        || heads.size() > static_cast<std::size_t>(kMost))
        return damaged("its head says nothing of its size");
    for (const std::int64_t one : heads)
        maps.heads.push_back(static_cast<int>(one));
    maps.call = static_cast<int>(std::max<std::int64_t>(0, number(head, "call", kMost)));
    maps.chunk = static_cast<int>(std::max<std::int64_t>(0, number(head, "chunk", kMost)));
    if (const auto scale = head.find("scale"); scale != head.end() && scale->is_number())
        maps.scale = scale->get<double>();
    if (const auto words = head.find("definition"); words != head.end() && words->is_string())
        maps.definition = words->get<std::string>();

    const std::string_view bytes = document.substr(end + 1);
    const std::size_t count
        = heads.size() * static_cast<std::size_t>(maps.rows) * static_cast<std::size_t>(maps.columns);
    if (bytes.size() != 2 * count)
        return damaged("it is not as long as its head says");
    maps.cells.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto low = static_cast<unsigned char>(bytes[2 * i]);
        const auto high = static_cast<unsigned char>(bytes[2 * i + 1]);
        maps.cells[i] = ofHalf(static_cast<std::uint16_t>(low | (high << 8)));
    }
    return maps;
}

std::optional<std::size_t> HeadMaps::placeOf(int head) const
{
    const auto found = std::find(heads.begin(), heads.end(), head);
    return found == heads.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - heads.begin()));
}

std::vector<store::DocumentInfo> headMapsAt(const std::vector<store::DocumentInfo>& all, Rank rank, Step step)
{
    std::vector<store::DocumentInfo> found;
    std::map<std::string, std::size_t> places;
    for (const store::DocumentInfo& one : all) {
        if (one.rank != rank)
            continue;
        const auto [place, isNew] = places.try_emplace(one.name, found.size());
        if (isNew) {
            found.push_back(one);
            continue;
        }
        store::DocumentInfo& known = found[place->second];
        // Of the same step, that of the later attempt.
        const bool isNearer = known.step > step ? one.step <= known.step : one.step >= known.step && one.step <= step;
        if (isNearer)
            known = one;
    }
    return found;
}

std::vector<store::DocumentInfo> headMapsLike(
    const std::vector<store::DocumentInfo>& all, const store::DocumentInfo& one, StepRange range)
{
    std::map<Step, store::DocumentInfo> found;
    for (const store::DocumentInfo& other : all) {
        if (other.rank == one.rank && other.name == one.name && other.step >= range.first && other.step <= range.last)
            found.insert_or_assign(other.step, other);
    }
    std::vector<store::DocumentInfo> list;
    list.reserve(found.size());
    for (auto& [step, info] : found)
        list.push_back(std::move(info));
    return list;
}

}
