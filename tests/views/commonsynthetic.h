// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>

#include <telltale/common/rowlist.h>
#include <telltale/series/query.h>
#include <telltale/store/rowsof.h>

/// A run that looks like a real one: a 12-layer transformer whose qkv of layer 7 drifts off, overflows and poisons what
/// comes after it. Thread: any.
namespace synthetic {

using namespace telltale;

inline constexpr int kLayers = 12;
inline constexpr std::array kParts { "ln1", "attn.qkv", "attn.proj", "ln2", "mlp.up", "mlp.down" };
inline constexpr std::int64_t kFirst = 31024;
inline constexpr std::int64_t kLast = 31215;
inline constexpr std::int64_t kBroken = 31190;

inline std::vector<std::string> moduleNames()
{
    std::vector<std::string> names { "embed" };
    for (int layer = 0; layer < kLayers; ++layer) {
        for (const char* part : kParts)
            names.push_back("layers." + std::to_string(layer) + "." + part);
    }
    names.push_back("head");
    return names;
}

inline std::shared_ptr<store::Catalog> catalog()
{
    auto catalog = std::make_shared<store::Catalog>();
    catalog->name = "gpt-12l-fp16";
    catalog->steps = { Step { kFirst }, Step { kLast } };
    std::int64_t id = 0;
    for (int rank = 0; rank < 8; ++rank) {
        store::SourceInfo source;
        source.id = SourceId { rank + 1 };
        source.rank = Rank { rank };
        catalog->sources.push_back(source);
        store::GroupInfo group;
        group.id = GroupId { rank + 1 };
        group.source = source.id;
        group.kind = Kind::Actv;
        group.stats = { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max };
        catalog->groups.push_back(group);
        for (const std::string& name : moduleNames()) {
            store::SeriesInfo info;
            info.id = SeriesId { ++id };
            info.source = source.id;
            info.kind = Kind::Actv;
            SeriesDesc desc;
            desc.name = name;
            desc.slot = Slot::output();
            info.desc = std::make_shared<const SeriesDesc>(std::move(desc));
            info.group = group.id;
            catalog->series.push_back(info);
        }
    }
    catalog->rows = store::indexRows(*catalog);
    return catalog;
}

/// Two revisions of the configuration.
inline store::LogPage log()
{
    store::LogPage page;
    for (const auto& [step, text] : { std::pair { 31072, "rev 12" }, std::pair { 31174, "rev 13" } }) {
        store::LogRecord& record = page.records.emplace_back();
        record.kind = "config";
        record.steps = { Step { step }, Step { step } };
        record.text = text;
    }
    return page;
}

/// One sample of module `row` (as in moduleNames) at a step.
inline series::RawValue sample(int row, std::int64_t step, std::mt19937& random)
{
    using series::CellState;
    std::normal_distribution<double> noise;
    series::RawValue raw { Step { step }, 0, CellState::Value };
    const int rows = kLayers * static_cast<int>(kParts.size()) + 2;
    const int culprit = 1 + 7 * static_cast<int>(kParts.size()) + 1;
    if (step >= 31088 && step <= 31090) {
        raw.state = CellState::Gap;
        return raw;
    }
    if (row == 0 && step < 31072) {
        raw.state = CellState::NotCollected;
        return raw;
    }
    const int part = row == 0 || row == rows - 1 ? 5 : (row - 1) % static_cast<int>(kParts.size());
    const std::array<double, 6> level { 4, 22, 14, 5, 30, 60 };
    double value = level.at(static_cast<std::size_t>(part)) * (1 + 0.02 * row) * std::exp(0.13 * noise(random));
    if (row == culprit && step > 31130)
        value *= std::exp(0.115 * static_cast<double>(step - 31130));
    if (row > culprit && row < rows && step > 31160)
        value *= 1 + 0.02 * static_cast<double>(step - 31160);
    raw.value = value;
    if (step >= kBroken && row >= culprit) {
        const bool broken = step > kBroken + 12 || step == kBroken || step % 4 == 1;
        if (row == culprit)
            raw.state = step % 5 == 3 ? CellState::NegInf : CellState::PosInf;
        else if (broken && step > kBroken)
            raw.state = CellState::NaN;
    }
    return raw;
}

/// One bucket a step.
inline std::vector<series::Bucket> buckets(int row, unsigned seed = 1)
{
    std::mt19937 random(seed + static_cast<unsigned>(row) * 977U);
    std::vector<series::Bucket> result;
    for (std::int64_t step = kFirst; step <= kLast; ++step) {
        const series::RawValue raw = sample(row, step, random);
        series::Bucket bucket;
        bucket.state = raw.state;
        if (raw.state >= series::CellState::Value) {
            bucket.samples = 1;
            bucket.nans = raw.state == series::CellState::NaN;
            bucket.posInfs = raw.state == series::CellState::PosInf;
            bucket.negInfs = raw.state == series::CellState::NegInf;
        }
        if (raw.state == series::CellState::Value) {
            bucket.finite = 1;
            bucket.min = bucket.max = bucket.mean = bucket.first = bucket.last = raw.value;
        }
        result.push_back(bucket);
    }
    return result;
}

inline series::HeatResult heat(int rows)
{
    series::HeatResult result;
    result.range = { Step { kFirst }, Step { kLast } };
    result.rows = rows;
    result.columns = static_cast<int>(kLast - kFirst + 1);
    result.reduction = series::Reduction::LargestMagnitude;
    for (int row = 0; row < rows; ++row) {
        for (const series::Bucket& bucket : buckets(row)) {
            result.values.push_back(static_cast<float>(bucket.mean));
            result.states.push_back(bucket.state);
        }
    }
    return result;
}

}
