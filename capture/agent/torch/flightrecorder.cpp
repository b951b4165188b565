// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/flightrecorder.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include <telltale/agent/say.h>

namespace telltale {
namespace {

constexpr std::size_t kAtOnce = 4; // steps that go out between two steps
constexpr std::chrono::seconds kNoRoom { 5 }; // that one of them waits for room in the stream, where nothing else does
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;

using Json = nlohmann::json;

std::string quoted(const std::string& text)
{
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}

FlightRecorder::Plan FlightRecorder::planFor(const config::MonitorConfig& config, bool sends)
{
    Plan plan { config, {} };
    if (config.flightRecorder == 0)
        return plan;
    const auto keep = [&](bool config::MonitorConfig::*field, std::initializer_list<Kind> kinds) {
        if (sends && config.*field)
            return false;
        plan.wanted.*field = true;
        plan.kept.insert(kinds);
        return true;
    };
    using C = config::MonitorConfig;
    keep(&C::wgDistribution, { Kind::GradUnreduced, Kind::GradReduced });
    keep(&C::paramDistribution, { Kind::ParamOrigin, Kind::ParamUpdated });
    keep(&C::mvDistribution, { Kind::ExpAvg, Kind::ExpAvgSq });
    if (keep(&C::xyDistribution, { Kind::Actv, Kind::ActvGrad })) {
        plan.wanted.allXy = config.targets.empty();
        plan.wanted.forwardOnly = plan.wanted.backwardOnly = false;
    }
    if (!sends || config.attentionMaps.empty()) // with maps come statistics
        keep(&C::attentionHook, { Kind::Attention });
    return plan;
}

FlightRecorder::FlightRecorder(std::int64_t steps, std::set<Kind> kept, std::size_t mostBytes)
    : m_most(static_cast<std::size_t>(steps))
    , m_kept(std::move(kept))
    , m_mostBytes(mostBytes)
    , m_fits(m_most)
{
}

void FlightRecorder::take(std::int64_t step, std::span<SeriesTable* const> tables)
{
    Kept kept;
    kept.step = step;
    for (const SeriesTable* table : tables) {
        if (keeps(table->kind()) && table->samples() > 0) {
            const auto& values = kept.tables[table->kind()] = table->values();
            kept.bytes += values.bytes();
        }
    }
    if (!kept.tables.empty()) {
        m_bytes += kept.bytes;
        m_fits = std::max<std::size_t>(1, m_mostBytes / std::max<std::size_t>(1, kept.bytes));
        m_ring.push_back(std::move(kept));
        while (m_ring.size() > m_most || (m_bytes + m_leavingBytes > m_mostBytes && m_ring.size() > 1)) {
            m_bytes -= m_ring.front().bytes;
            m_ring.pop_front();
        }
    }
    // What broke earlier in a step is the better reason: weights after it come late.
    for (const SeriesTable* table : tables)
        if (table->kind() != Kind::ParamUpdated && table->kind() != Kind::Scalar)
            look(step, *table);
    for (const Kind kind : { Kind::ParamUpdated, Kind::Scalar })
        for (const SeriesTable* table : tables)
            if (table->kind() == kind)
                look(step, *table);
}

/// A value that is not finite is a reason where it is news: of a series that was finite for as long as the ring goes
/// back. What is so in every step, as the -Inf of a mask, is none.
void FlightRecorder::look(std::int64_t step, const SeriesTable& table)
{
    std::vector<std::int64_t>* known = nullptr;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (!table.isBroken(i))
            continue;
        if (!known) {
            known = &m_lastBroken[table.kind()];
            known->resize(std::max(known->size(), table.size()), kNever);
        }
        const auto before = std::exchange((*known)[i], step);
        if (before >= step - static_cast<std::int64_t>(m_most) || m_why)
            continue;
        const auto& desc = table.series(i);
        std::string what = desc.name;
        if (desc.slot.hasText())
            desc.slot.appendTo(what += ' ');
        const bool isMetric = table.kind() == Kind::Scalar;
        trip((isMetric ? std::string("the metric ") : std::string(kindName(table.kind())) + " of ") + what
            + " is not finite at step " + std::to_string(step));
    }
}

void FlightRecorder::trip(std::string why)
{
    if (!m_why)
        m_why = std::move(why);
}

void FlightRecorder::stepEnds(std::int64_t step, Sink& sink, std::span<SeriesTable* const> tables)
{
    m_step = step;
    if (m_fits < m_most && !std::exchange(m_isShortTold, true)) {
        std::array<char, 32> each {};
        std::snprintf(each.data(), each.size(), "%.1f", static_cast<double>(m_ring.back().bytes) / 1e6);
        tell(sink,
            "the flight recorder holds " + std::to_string(m_fits) + " steps instead of " + std::to_string(m_most) + ": "
                + std::to_string(m_mostBytes >> 20) + " MiB is the most that it keeps, and a step takes " + each.data()
                + " MB; targets choose what is kept",
            R"({"steps": )" + std::to_string(m_fits) + R"(, "bytes": )" + std::to_string(m_mostBytes) + "}");
    }
    if (const auto asked = sink.recorderAsked())
        trip(asked->empty() ? std::string("the dashboard asked for it") : std::string(*asked));
    if (m_why)
        begin(sink);
    send(sink, tables, kAtOnce, false);
}

void FlightRecorder::finish(Sink& sink, std::span<SeriesTable* const> tables)
{
    if (m_why)
        begin(sink);
    send(sink, tables, m_leaving.size(), true);
}

void FlightRecorder::letGo(Sink& sink, std::span<SeriesTable* const> tables)
{
    send(sink, tables, m_leaving.size(), false);
    if (!m_leaving.empty())
        tell(sink,
            std::to_string(m_leaving.size())
                + " of the steps that the flight recorder sends are lost: another config came first",
            "{}");
    m_leaving.clear();
    m_leavingBytes = 0;
}

void FlightRecorder::begin(Sink& sink)
{
    const std::string why = *std::exchange(m_why, std::nullopt);
    if (m_ring.empty())
        return;
    const auto first = m_ring.front().step, last = m_ring.back().step;
    const auto count = static_cast<std::int64_t>(m_ring.size());
    std::string words;
    for (const Kind kind : m_kept)
        words.append(words.empty() ? "" : ", ").append(kindName(kind));
    std::string span = "step " + std::to_string(first);
    if (first != last)
        span = "steps " + std::to_string(first) + " to " + std::to_string(last);
    if (count != last - first + 1)
        span += " (" + std::to_string(count) + " of them)";
    tell(sink, "the flight recorder sends " + span + " of " + words + ": " + why,
        R"({"first": )" + std::to_string(first) + R"(, "last": )" + std::to_string(last) + R"(, "steps": )"
            + std::to_string(count) + R"(, "why": )" + quoted(why) + "}");
    std::move(m_ring.begin(), m_ring.end(), std::back_inserter(m_leaving));
    m_ring.clear();
    m_leavingBytes += std::exchange(m_bytes, 0);
}

void FlightRecorder::send(Sink& sink, std::span<SeriesTable* const> tables, std::size_t most, bool isLast)
{
    const auto end = std::chrono::steady_clock::now() + kNoRoom;
    for (; most > 0 && !m_leaving.empty(); --most) {
        const Kept& kept = m_leaving.front();
        while (!write(kept, sink, tables)) {
            if (!isLast)
                return; // with a later step
            if (std::chrono::steady_clock::now() > end) {
                std::uint64_t samples = 0;
                for (const SeriesTable* table : tables)
                    if (const auto found = kept.tables.find(table->kind()); found != kept.tables.end())
                        samples += table->samples(found->second);
                sink.dropped(kept.step, samples, 0);
                break;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds { 2 });
        }
        m_leavingBytes -= kept.bytes;
        m_leaving.pop_front();
    }
}

bool FlightRecorder::write(const Kept& kept, Sink& sink, std::span<SeriesTable* const> tables)
{
    for (SeriesTable* table : tables)
        if (kept.tables.contains(table->kind()))
            table->registerNew(sink);
    if (!sink.beginStep(kept.step))
        return false;
    for (const SeriesTable* table : tables) {
        const auto found = kept.tables.find(table->kind());
        if (found != kept.tables.end() && !table->publish(sink, found->second)) {
            sink.abandonStep();
            return false;
        }
    }
    sink.commitStep();
    return true;
}

void FlightRecorder::tell(Sink& sink, const std::string& sentence, const std::string& json) const
{
    agent::say(sentence);
    sink.event("log", m_step, sentence, json, "flight_recorder");
}

}
