// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/probesummary.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <telltale/core/histogram.h>
#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/mappedfile.h>

namespace telltale::exchange {
namespace {

std::string wordOf(std::string_view cell)
{
    const auto isSpace = [](unsigned char c) { return std::isspace(c) != 0; };
    while (!cell.empty() && isSpace(static_cast<unsigned char>(cell.front())))
        cell.remove_prefix(1);
    while (!cell.empty() && isSpace(static_cast<unsigned char>(cell.back())))
        cell.remove_suffix(1);
    std::string word(cell);
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    return word;
}

/// The upper end of "(-1, 0]".
std::optional<std::string> endOfInterval(std::string_view word)
{
    const std::size_t comma = word.find(", ");
    const bool isInterval = word.starts_with('(') && (word.ends_with(']') || word.ends_with(')'))
        && comma != std::string_view::npos && comma > 1 && word.find(',', comma + 1) == std::string_view::npos
        && comma + 3 < word.size();
    return isInterval ? std::optional(std::string(word.substr(comma + 2, word.size() - comma - 3))) : std::nullopt;
}

/// A number of elements that is exact as a double; nothing: the shape is none.
std::optional<std::uint64_t> numelOf(const std::vector<std::int64_t>& shape)
{
    std::uint64_t numel = 1;
    for (const std::int64_t size : shape) {
        if (size > 0 && numel > (std::uint64_t { 1 } << 53) / static_cast<std::uint64_t>(size))
            return {};
        numel *= static_cast<std::uint64_t>(size);
    }
    return numel;
}

}

ProbeHead::ProbeHead(const std::vector<std::string_view>& cells)
    : columns(cells.size())
    , name(columns)
    , max(columns)
    , min(columns)
    , norm(columns)
    , shape(columns)
{
    for (std::size_t i = 0; i < columns; ++i) {
        const std::string word = wordOf(cells[i]);
        for (const auto& [text, place] : { std::pair { "param_name", &name }, { "max", &max }, { "min", &min },
                 { "norm", &norm }, { "shape", &shape } }) {
            if (word == text)
                *place = i;
        }
        hasChecksums = hasChecksums || word == "md5";
        hasZeros = hasZeros || word == "=0";
        if (auto end = endOfInterval(word)) {
            shares.push_back(i);
            bounds.push_back(std::move(*end));
        }
    }
    if (!bounds.empty())
        bounds.pop_back(); // the last interval goes on without an end
}

/// Bins hold their lower edge, and the intervals (a, b] their upper one: the edges are the next float32 numbers.
bool ProbeSummaries::chooseBins(const ProbeHead& head, const std::string& path)
{
    if (head.shares.empty())
        return false;
    if (m_bounds && *m_bounds != head.bounds) {
        m_run.noteDamage(path + " has other bounds than the first step; its distributions are left out");
        return false;
    }
    if (m_bounds)
        return !m_edges.empty();
    m_bounds = head.bounds;
    constexpr double kInf = std::numeric_limits<double>::infinity();
    std::vector<double> edges { -kInf };
    for (const std::string& bound : head.bounds) {
        const float number = static_cast<float>(csvNumber(bound).value_or(std::nan("")));
        edges.push_back(static_cast<double>(std::nextafter(number, std::numeric_limits<float>::infinity())));
    }
    edges.push_back(kInf);
    if (!checkEdges(edges)) {
        m_run.noteDamage(path + " has bounds that do not rise; the distributions are left out");
        return false;
    }
    m_edges = std::move(edges);
    m_definition = fmt::format("elements a bin; grad_probe's bounds [{}]", fmt::join(head.bounds, ", "));
    return true;
}

std::optional<std::string> ProbeSummaries::take(
    const ProbeHead& head, const std::vector<std::string_view>& cells, std::int64_t step, bool hasBins)
{
    if (cells.size() != head.columns)
        return "it has not as many cells as the first line";
    SeriesDesc desc;
    desc.name = std::string(cells[head.name]);
    desc.shape = csvShape(head.shape < cells.size() ? cells[head.shape] : "[]");
    const auto numel = numelOf(desc.shape);
    if (!numel)
        return "its shape is none that a gradient has";
    desc.numel = *numel;
    if (head.norm >= cells.size() || cells[head.norm].empty()) // an empty gradient, or names alone
        return {};
    const std::pair<std::size_t, Stat> kWanted[] { { head.norm, Stat::Norm }, { head.min, Stat::Min },
        { head.max, Stat::Max } };
    std::vector<double> numbers;
    for (const auto& [column, stat] : kWanted) {
        const auto number = column < cells.size() ? csvNumber(cells[column]) : std::nullopt;
        if (!number)
            return fmt::format("it has no number for {}", statName(stat));
        numbers.push_back(*number);
    }
    std::vector<double> counts;
    for (const std::size_t column : head.shares) {
        const auto share = csvNumber(cells[column]);
        if (!share || !(*share >= 0 && *share <= 1))
            return "a share of its elements is no number from 0 to 1";
        counts.push_back(std::nearbyint(*share * static_cast<double>(*numel)));
    }
    ForeignSeries& values = m_process.series(Kind::GradReduced, desc);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        values.track(kWanted[i].second).add(step, numbers[i]);
    if (!hasBins || *numel == 0)
        return {};
    desc.definition = m_definition;
    Track& bins = m_process.series(Kind::GradReduced, desc, m_edges).track(Stat::Hist);
    bins.steps.push_back(step);
    bins.values.insert(bins.values.end(), counts.begin(), counts.end());
    return {};
}

std::vector<std::string> ProbeSummaries::read(const std::filesystem::path& path, std::int64_t step)
{
    std::vector<std::string> names;
    const auto file = MappedFile::open(path);
    CsvRows rows(file ? file->bytes() : std::string_view());
    const ProbeHead head(rows.next() ? rows.cells() : std::vector<std::string_view>());
    if (!head.isSummary()) {
        m_run.noteDamage(!file
                ? file.error().sentence()
                : path.string() + " is no summary of grad_probe: its first line has no column param_name");
        return names;
    }
    const bool hasBins = chooseBins(head, path.string());
    std::size_t bad = 0, count = 0;
    std::string first;
    while (rows.next()) {
        ++count;
        std::optional<std::string> wrong = "it names no parameter";
        if (head.name < rows.cells().size()) {
            names.emplace_back(rows.cells()[head.name]);
            wrong = take(head, rows.cells(), step, hasBins);
        }
        if (wrong && bad++ == 0)
            first = fmt::format("line {}: {}", rows.line(), *wrong);
    }
    if (bad > 0)
        m_run.noteDamage(
            fmt::format("{}: {} of {} lines cannot be read; the first is {}", path.string(), bad, count, first));
    if (rows.isTorn())
        m_run.noteDamage(path.string() + ": it ends within a cell");
    if (head.hasChecksums)
        m_run.leaveOut("checksums (MD5) of gradients", count);
    if (head.hasZeros)
        m_run.leaveOut("shares of zeros (=0), which the distributions have in their bins", count);
    return names;
}

}
