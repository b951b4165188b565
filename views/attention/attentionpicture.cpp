// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentionpicture.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <QCoreApplication>

#include <telltale/common/kindtext.h>
#include <telltale/common/rowlist.h>

namespace telltale::views {

using series::CellState;
using series::CellValue;

namespace {

/// The first part of a name that is a number: "7" of "layers.7.attn".
QString numberIn(const QString& name)
{
    for (const QString& part : name.split(QLatin1Char('.'))) {
        if (!part.isEmpty() && std::all_of(part.begin(), part.end(), [](QChar c) { return c.isDigit(); }))
            return part;
    }
    return name;
}

/// Non-finite first, in the order of their strength, then by value.
double sortKey(const CellValue& cell)
{
    if (series::isNonFinite(cell.state))
        return -std::numeric_limits<double>::infinity();
    return cell.state == CellState::Value ? cell.value : std::numeric_limits<double>::infinity();
}

}

Stat statOf(HeadValue value)
{
    switch (value) {
    case HeadValue::Entropy:
    case HeadValue::EntropyShare:
        return Stat::Entropy;
    case HeadValue::SoftmaxMax:
        return Stat::SoftmaxMax;
    case HeadValue::MaxLogit:
        return Stat::MaxLogit;
    }
    return Stat::Entropy;
}

QString headValueText(HeadValue value)
{
    if (value == HeadValue::EntropyShare)
        return QCoreApplication::translate("HeadValue", "entropy / ln n");
    return statText(statOf(value));
}

double AttentionLayer::uniformEntropy() const
{
    return shape.keys > 1 ? std::log(static_cast<double>(shape.keys)) : 0;
}

const HeadCell* AttentionPicture::cell(int layer, int column) const
{
    if (layer < 0 || layer >= static_cast<int>(layers.size()))
        return nullptr;
    const auto& heads = layers[static_cast<std::size_t>(layer)].heads;
    return column >= 0 && column < static_cast<int>(heads.size()) ? &heads[static_cast<std::size_t>(column)] : nullptr;
}

CellValue AttentionPicture::valueOf(int layer, int column, HeadValue value) const
{
    const HeadCell* head = cell(layer, column);
    if (!head)
        return {};
    switch (value) {
    case HeadValue::Entropy:
        return head->entropy;
    case HeadValue::SoftmaxMax:
        return head->softmaxMax;
    case HeadValue::MaxLogit:
        return head->maxLogit;
    case HeadValue::EntropyShare:
        break;
    }
    CellValue share = head->entropy;
    const double uniform = layers[static_cast<std::size_t>(layer)].uniformEntropy();
    if (share.state == CellState::Value && uniform <= 0)
        return {};
    if (share.state == CellState::Value)
        share.value /= uniform;
    return share;
}

ValueScale AttentionPicture::scaleOf(HeadValue value) const
{
    if (!isSpread && (value == HeadValue::EntropyShare || value == HeadValue::SoftmaxMax))
        return { ValueScale::Mode::Linear, 0, 1 };
    double low = isSpread || value == HeadValue::Entropy ? 0 : std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer) {
        const AttentionLayer& one = layers[static_cast<std::size_t>(layer)];
        if (!isSpread && value == HeadValue::Entropy && one.uniformEntropy() > 0)
            high = std::max(high, one.uniformEntropy());
        for (int column = 0; column < static_cast<int>(one.heads.size()); ++column) {
            const CellValue cell = valueOf(layer, column, value);
            if (cell.state != CellState::Value)
                continue;
            low = std::min(low, cell.value);
            high = std::max(high, cell.value);
        }
    }
    return std::isfinite(low) && std::isfinite(high) ? ValueScale(ValueScale::Mode::Linear, low, high) : ValueScale();
}

double AttentionPicture::uniformEntropy() const
{
    const std::int64_t keys = layers.empty() ? 0 : layers.front().shape.keys;
    const bool isOne = keys > 1 && std::all_of(layers.begin(), layers.end(), [keys](const AttentionLayer& layer) {
        return layer.shape.keys == keys;
    });
    return isOne ? layers.front().uniformEntropy() : 0;
}

std::array<int, 2> AttentionPicture::placeOf(const ModuleKey& key) const
{
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const auto& heads = layers[layer].heads;
        if (axes == HeadAxes::RankByHead && layers[layer].rank != rank)
            continue;
        const auto found
            = std::find_if(heads.begin(), heads.end(), [&key](const HeadCell& head) { return head.key == key; });
        if (found != heads.end())
            return { static_cast<int>(layer), static_cast<int>(found - heads.begin()) };
    }
    return { -1, -1 };
}

std::vector<ModuleKey> AttentionPicture::lowest(std::size_t most) const
{
    std::vector<std::pair<double, ModuleKey>> all;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const bool hasShare = layers[layer].uniformEntropy() > 0;
        for (std::size_t column = 0; column < layers[layer].heads.size(); ++column) {
            const CellValue value = valueOf(static_cast<int>(layer), static_cast<int>(column),
                hasShare ? HeadValue::EntropyShare : HeadValue::Entropy);
            const double key = sortKey(value);
            all.emplace_back(isSpread && std::isfinite(key) ? -key : key, layers[layer].heads[column].key);
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<ModuleKey> keys;
    std::set<ModuleKey> taken; // where the rows are ranks a head has several
    for (std::size_t i = 0; i < all.size() && keys.size() < most; ++i) {
        if (taken.insert(all[i].second).second)
            keys.push_back(all[i].second);
    }
    return keys;
}

QString AttentionPicture::shortText(const ModuleKey& key) const
{
    const auto place = placeOf(key);
    const QString number = place[0] < 0 ? numberOf(key.name) : layers[static_cast<std::size_t>(place[0])].number;
    const bool isNumber = !number.isEmpty() && number.front().isDigit();
    return (isNumber ? QStringLiteral("L%1 h%2") : QStringLiteral("%1 h%2")).arg(number).arg(key.slot.head);
}

QString AttentionPicture::numberOf(const QString& layer) const
{
    return areTold && names.contains(layer) ? numberIn(layer) : shortNameOf(layer);
}

void AttentionPicture::finish(HeadValue left)
{
    for (const AttentionLayer& layer : layers)
        names.insert(layer.name);
    std::set<QString> numbers;
    for (const QString& name : names)
        numbers.insert(numberIn(name));
    areTold = numbers.size() == names.size();
    group = layers.empty() ? 1 : layers.front().shape.group();
    orderedBy = left;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        AttentionLayer& layer = layers[i];
        layer.number = numberOf(layer.name);
        layer.label = axes == HeadAxes::RankByHead ? QString::number(layer.rank.value) : layer.number;
        columns = std::max(columns, static_cast<int>(layer.heads.size()));
        if (layer.shape.group() != group || order == HeadOrder::Value)
            group = 1; // heads that share a key do not stand together
        if (order != HeadOrder::Value)
            continue;
        std::vector<std::pair<double, HeadCell>> sorted;
        for (std::size_t column = 0; column < layer.heads.size(); ++column) {
            const double key = sortKey(valueOf(static_cast<int>(i), static_cast<int>(column), left));
            sorted.emplace_back(isHighestFirst() && std::isfinite(key) ? -key : key, layer.heads[column]);
        }
        std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::transform(
            sorted.begin(), sorted.end(), layer.heads.begin(), [](auto& one) { return std::move(one.second); });
    }
}

}
