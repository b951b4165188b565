// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/telltalecsvrows.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include <telltale/core/histogram.h>
#include <telltale/core/protocolone.h>
#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/csvtext.h>

namespace telltale::exchange {
namespace {

constexpr std::string_view kHist = "hist ";

/// Edges whose bins have these texts: known ones exactly, others as far as the texts say.
std::vector<double> edgesOf(const std::vector<std::string>& texts)
{
    for (const std::span<const double> known : { octaveEdges(), std::span<const double>(*protocolone::edges()) }) {
        bool isIt = known.size() == texts.size() + 1;
        for (std::size_t bin = 0; isIt && bin < texts.size(); ++bin)
            isIt = binText(known, bin) == texts[bin];
        if (isIt)
            return { known.begin(), known.end() };
    }
    std::vector<double> edges;
    for (const std::string& text : texts) {
        const std::size_t comma = text.find(", ");
        if (text.size() < 5 || comma == std::string::npos)
            return {};
        const auto low = csvNumber(std::string_view(text).substr(1, comma - 1));
        const auto high = csvNumber(std::string_view(text).substr(comma + 2, text.size() - comma - 3));
        if (!low || !high)
            return {};
        if (edges.empty())
            edges.push_back(*low);
        edges.push_back(*high);
    }
    return edges;
}

}

TelltaleCsvRows::TelltaleCsvRows(std::string path, ForeignRun& run)
    : m_path(std::move(path))
    , m_run(run)
{
}

void TelltaleCsvRows::takeLine(std::string_view line, std::size_t number)
{
    const std::size_t first = line.find(',');
    const std::size_t last = line.rfind(',');
    if (first == std::string_view::npos || last <= first) {
        m_bad = m_bad == 0 ? number : m_bad;
        ++m_badLines;
        return;
    }
    const std::string_view middle = line.substr(first, last - first);
    if (middle != m_middle) {
        m_middle = middle;
        m_place = placeOf(middle);
    }
    std::int64_t step = 0;
    const auto read = std::from_chars(line.data(), line.data() + first, step);
    const bool isRead = read.ec == std::errc() && read.ptr == line.data() + first;
    if (!isRead || !m_place || !takeValue(step, line.substr(last + 1))) {
        m_bad = m_bad == 0 ? number : m_bad;
        ++m_badLines;
    }
}

void TelltaleCsvRows::finish()
{
    for (auto& [key, place] : m_places) {
        if (place.bins)
            finishBins(place);
    }
    if (m_badLines > 0)
        m_run.noteDamage(m_path + ": " + std::to_string(m_badLines) + " lines are not as telltale writes them, line "
            + std::to_string(m_bad) + " the first");
}

TelltaleCsvRows::Place* TelltaleCsvRows::placeOf(std::string_view middle)
{
    const auto [at, isNew] = m_places.try_emplace(std::string(middle));
    if (isNew && !fill(at->second, middle)) {
        m_places.erase(at);
        return nullptr;
    }
    return &at->second;
}

bool TelltaleCsvRows::fill(Place& place, std::string_view middle)
{
    CsvRows rows(middle.substr(1));
    if (!rows.next() || rows.cells().size() != 9 || rows.isTorn())
        return false;
    const auto& cells = rows.cells();
    const auto rank = csvInteger(cells[0]);
    const auto attempt = csvInteger(cells[1]);
    const auto kind = kindFromName(cells[2]);
    const auto micro = csvInteger(cells[5]);
    const auto chunk = csvInteger(cells[6]);
    const bool isSound = rank && attempt && kind && micro && chunk && *rank >= 0 && *rank < 10'000'000 && *attempt >= 0
        && *attempt < 100'000 && std::abs(*micro) < 1'000'000'000 && std::abs(*chunk) < 1'000'000'000;
    if (!isSound)
        return false;
    place.process = &m_run.process(Rank { static_cast<std::int32_t>(*rank) }, static_cast<int>(*attempt));
    place.kind = *kind;
    place.desc.name = textOfCell(cells[3]);
    place.desc.slot = protocolone::slotOf(textOfCell(cells[4]), *kind);
    place.desc.microStep = static_cast<std::int32_t>(*micro);
    place.desc.vppStage = static_cast<std::int32_t>(*chunk);
    place.desc.definition = textOfCell(cells[7]);
    if (cells[8].starts_with(kHist)) {
        std::string key(middle.substr(0, middle.size() - cells[8].size()));
        key.resize(std::min(key.size(), middle.rfind(kHist)));
        std::shared_ptr<BinsRead>& bins = m_bins[key];
        if (!bins)
            bins = std::make_shared<BinsRead>();
        place.bins = bins;
        place.bin = bins->texts.size();
        bins->texts.emplace_back(cells[8].substr(kHist.size()));
        return true;
    }
    const auto stat = statFromName(cells[8]);
    if (!stat || !isStoredStat(*stat) || (*kind == Kind::Scalar) != (*stat == Stat::Value))
        return false;
    place.stat = *stat;
    place.series = &place.process->series(place.kind, place.desc);
    return true;
}

bool TelltaleCsvRows::takeValue(std::int64_t step, std::string_view text)
{
    if (m_place->bins) {
        std::vector<double>& counts = m_place->bins->counts[step];
        const auto count = text.empty() ? std::optional(-1.0) : csvNumber(text);
        if (!count)
            return false;
        counts.resize(std::max(counts.size(), m_place->bin + 1), -1);
        counts[m_place->bin] = *count;
        return true;
    }
    Track& track = m_place->series->track(m_place->stat);
    if (isIdentity(m_place->stat)) {
        std::uint64_t bits = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
        if (read.ec != std::errc() || read.ptr != text.data() + text.size())
            return false;
        track.add(step, std::bit_cast<double>(bits));
        return true;
    }
    const auto value = csvNumber(text);
    if (value)
        track.add(step, *value);
    return value.has_value();
}

void TelltaleCsvRows::finishBins(const Place& place)
{
    if (place.bin != 0)
        return;
    const std::vector<double> edges = edgesOf(place.bins->texts);
    if (!checkEdges(edges)) {
        m_run.leaveOut("histograms whose bins cannot be told", place.bins->counts.size());
        return;
    }
    Track& track = place.process->series(place.kind, place.desc, edges).track(Stat::Hist);
    for (const auto& [step, counts] : place.bins->counts) {
        if (counts.size() + 1 != edges.size()
            || std::any_of(counts.begin(), counts.end(), [](double count) { return !(count >= 0); })) {
            m_run.leaveOut("histograms of which a bin is missing");
            continue;
        }
        track.steps.push_back(step);
        track.values.insert(track.values.end(), counts.begin(), counts.end());
    }
}

}
