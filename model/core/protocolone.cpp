// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/protocolone.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string>

namespace telltale::protocolone {
namespace {

constexpr std::size_t kInner = 30;

std::array<std::string, kInner + 2> binTexts()
{
    const std::vector<double>& at = *edges();
    std::array<std::string, kInner + 2> texts;
    for (std::size_t bin = 1; bin <= kInner; ++bin) {
        char text[32];
        std::snprintf(text, sizeof text, "[%.3f, %.3f%c", at[bin], at[bin + 1], bin == kInner ? ']' : ')');
        texts[bin] = text;
    }
    texts.front() = "[-inf, -1)";
    texts.back() = "(1, inf]";
    return texts;
}

/// 0 where it begins with none.
std::int32_t numberIn(std::string_view text)
{
    std::int32_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}

ColumnType columnType(const std::vector<double>& edges, Stat stat)
{
    return stat == Stat::Hist && edges.empty() ? ColumnType::F32 : telltale::columnType(stat);
}

const std::shared_ptr<const std::vector<double>>& edges()
{
    static const auto kEdges = [] {
        constexpr double kInf = std::numeric_limits<double>::infinity();
        std::vector<double> edges { -kInf };
        for (std::size_t i = 0; i <= kInner; ++i)
            edges.push_back((2.0 * static_cast<double>(i) - kInner) / kInner);
        edges.push_back(kInf);
        return std::make_shared<const std::vector<double>>(std::move(edges));
    }();
    return kEdges;
}

Slot slotOf(std::string_view text, std::optional<Kind> kind, bool mayBeBin)
{
    static const auto kBins = binTexts();
    if (const auto bin = std::find(kBins.begin(), kBins.end(), text); mayBeBin && bin != kBins.end()) {
        Slot slot = Slot::named(text);
        slot.bin = static_cast<std::int32_t>(bin - kBins.begin());
        return slot;
    }
    const auto isOf = [kind](std::initializer_list<Kind> kinds) {
        return !kind || std::find(kinds.begin(), kinds.end(), *kind) != kinds.end();
    };
    std::vector<Slot> bases;
    if (isOf({ Kind::Actv, Kind::ActvGrad }))
        bases.insert(bases.end(), { Slot::input(), Slot::output() });
    if (isOf({ Kind::Comm }))
        bases.insert(bases.end(), { { .role = Role::Before }, { .role = Role::After } });
    if (isOf({ Kind::Attention }))
        bases.push_back(Slot::ofHead(0));
    const std::size_t at = text.rfind('@');
    const std::string_view whole = text.substr(0, at);
    const std::size_t mark = whole.rfind('_');
    for (Slot& slot : bases) {
        if (at != std::string_view::npos)
            slot.call = static_cast<std::uint32_t>(numberIn(text.substr(at + 1))) - 1;
        if (mark != std::string_view::npos)
            (slot.head < 0 ? slot.number : slot.head) = numberIn(whole.substr(mark + 1));
        // Taken for what it says only where it says nothing else: "input_01" is a name.
        if (slot.isSound() && slot.text() == text)
            return slot;
    }
    return Slot::named(text);
}

}
