// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/eventvalues.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include <telltale/core/histogram.h>

namespace telltale::exchange {
namespace {

double middleOf(double low, double high)
{
    return low < 0 && high > 0 ? 0 : (low + high) / 2;
}

}

void EventValues::take(EventRecords& records)
{
    while (records.nextValue(m_value))
        take(records, m_value);
}

void EventValues::settleHistograms(bool goesOn)
{
    for (auto& [name, tag] : m_histograms) {
        const std::size_t met = tag->histograms->steps.size();
        if (met > (goesOn && tag->histograms->edges.empty() ? 1U : 0U))
            settle(*tag);
    }
}

void EventValues::take(const EventRecords& records, EventValue& value)
{
    const double time = records.wallTime();
    const std::int64_t ns = time > 0 && time < 9e9 ? std::llround(time * 1e9) : 0;
    switch (value.what) {
    case EventValue::What::Scalar: {
        Tag& tag = tagOf(value.tag);
        if (tag.overSamples) {
            takeOverSamples(*m_tags[*tag.overSamples], records.step(), value.number);
            break;
        }
        tag.step = records.step();
        tag.value = value.number;
        tag.series->tracks[tag.track].add(tag.step, tag.value);
        m_step = tag.step;
        if (ns > 0)
            m_process.noteTime(tag.step, ns);
        break;
    }
    case EventValue::What::Histogram: {
        std::unique_ptr<Tag>& tag = m_histograms[std::string(value.tag)];
        if (!tag) {
            tag = std::make_unique<Tag>();
            tag->place = eventPlace(value.tag, m_file.folder, true);
            tag->histograms = std::make_unique<Histograms>();
        }
        Histograms& read = *tag->histograms;
        m_step = records.step();
        read.steps.push_back(records.step());
        read.least.push_back(value.least);
        read.limits.push_back(std::move(value.limits));
        read.counts.push_back(std::move(value.counts));
        if (ns > 0)
            m_process.noteTime(records.step(), ns);
        break;
    }
    case EventValue::What::Text: {
        std::string text;
        for (const std::string_view part : value.texts)
            text += (text.empty() ? "" : "\n") + std::string(part);
        const std::string name = (m_file.folder.empty() ? "" : m_file.folder + "/") + std::string(value.tag);
        const bool isConfig = name == "config" && text.starts_with('{');
        m_step = records.step();
        m_process.documents.push_back({ isConfig ? "config" : "text", isConfig ? "config.json" : name,
            Step { isStep(records.step()) ? records.step() : 0 }, std::move(text) });
        break;
    }
    case EventValue::What::Other:
        m_run.leaveOut("values of TensorBoard's plugin "
            + (value.plugin.empty() ? "(none)" : std::string(value.plugin.substr(0, 64))));
        break;
    }
}

/// Such a tag is written right behind its metric. Its steps are counts of samples, which would stretch the axis of
/// everything else, and its values are those of the metric: what it adds is how many samples each step had seen.
void EventValues::takeOverSamples(const Tag& metric, std::int64_t samples, double value)
{
    if (std::bit_cast<std::uint64_t>(metric.value) != std::bit_cast<std::uint64_t>(value)) {
        m_run.leaveOut("values over samples that are not those of their metric's newest step");
        return;
    }
    m_run.leaveOut("curves over samples (NAME-vs-samples), which repeat NAME: the run has their samples as an axis");
    if (m_counted == metric.step || m_byText.contains(kSamplesSeenName))
        return;
    m_counted = metric.step;
    SeriesDesc desc;
    desc.name = kSamplesSeenName;
    m_process.series(Kind::Scalar, desc).track(Stat::Value).add(metric.step, static_cast<double>(samples));
}

/// Writers go through the same tags in the same order, step after step.
EventValues::Tag& EventValues::tagOf(std::string_view text)
{
    if (!m_tags.empty()) {
        m_at = m_at + 1 < m_tags.size() ? m_at + 1 : 0;
        if (m_tags[m_at]->tag == text)
            return *m_tags[m_at];
        if (const std::size_t before = m_at == 0 ? m_tags.size() - 1 : m_at - 1; m_tags[before]->tag == text) {
            m_at = before;
            return *m_tags[before];
        }
    }
    const auto [at, isNew] = m_byText.try_emplace(std::string(text), m_tags.size());
    if (isNew) {
        auto tag = std::make_unique<Tag>();
        tag->tag = std::string(text);
        const auto metric = m_byText.find(std::string(metricOverSamples(text)));
        if (metric != m_byText.end() && !metric->first.empty() && m_tags[metric->second]->series) {
            tag->overSamples = metric->second;
        } else {
            tag->place = eventPlace(text, m_file.folder, false);
            tag->series = &m_process.series(tag->place.kind, tag->place.desc);
            tag->track = static_cast<std::size_t>(&tag->series->track(tag->place.stat) - tag->series->tracks.data());
        }
        m_tags.push_back(std::move(tag));
    }
    m_at = at->second;
    return *m_tags[m_at];
}

void EventValues::chooseEdges(Histograms& read)
{
    const bool isFirst = read.edges.empty();
    if (!isFirst && read.sameLimits.empty())
        return;
    const double least = isFirst ? read.least[0] : read.sameLeast;
    const std::vector<double> limits = isFirst ? read.limits[0] : read.sameLimits;
    bool isSame = true;
    for (std::size_t i = 0; isSame && i < read.steps.size(); ++i)
        isSame = read.limits[i] == limits && read.least[i] == least; // NOLINT(clang-diagnostic-float-equal)
    std::vector<double> edges;
    if (isSame) {
        edges.push_back(least);
        edges.insert(edges.end(), limits.begin(), limits.end());
        // Bins like TensorFlow's own begin at the least double, which stands for minus infinity.
        if (edges.size() > 1 && !(edges[0] < edges[1]))
            edges[0] = -HUGE_VAL;
        isSame = checkEdges(edges).has_value();
    }
    if (isSame) {
        read.sameLimits = limits;
        read.sameLeast = least;
        read.edges = std::move(edges);
        return;
    }
    read.sameLimits.clear();
    read.edges.assign(octaveEdges().begin(), octaveEdges().end());
}

void EventValues::settle(Tag& tag)
{
    Histograms& read = *tag.histograms;
    chooseEdges(read);
    const bool isSame = !read.sameLimits.empty();
    if (!isSame)
        m_run.leaveOut("bins of histograms that change from step to step, or are too many: their counts are put "
                       "into bins of powers of two",
            read.steps.size());
    Track& track = m_process.series(tag.place.kind, tag.place.desc, read.edges).track(Stat::Hist);
    for (std::size_t i = 0; i < read.steps.size(); ++i) {
        std::vector<double> counts(read.edges.size() - 1);
        double low = read.least[i];
        for (std::size_t bin = 0; bin < read.limits[i].size(); ++bin) {
            const double high = read.limits[i][bin];
            const std::size_t to
                = isSame ? bin : binOf(read.edges, middleOf(std::max(low, -1e300), std::min(high, 1e300)));
            if (to < counts.size() && read.counts[i][bin] > 0)
                counts[to] += read.counts[i][bin];
            low = high;
        }
        for (double& count : counts) {
            if (count != std::trunc(count) || !(count < 9e15)) {
                m_run.leaveOut("parts of whole counts in histograms");
                count = std::min(std::round(count), 9e15);
            }
        }
        track.steps.push_back(read.steps[i]);
        track.values.insert(track.values.end(), counts.begin(), counts.end());
    }
    read.steps.clear();
    read.least.clear();
    read.limits.clear();
    read.counts.clear();
}

}
