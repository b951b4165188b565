// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/protocolone.h>

#include <algorithm>
#include <array>
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

std::optional<std::size_t> binOf(std::string_view slot)
{
    static const auto kTexts = binTexts();
    const auto found = std::find(kTexts.begin(), kTexts.end(), slot);
    return found == kTexts.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - kTexts.begin()));
}

}
