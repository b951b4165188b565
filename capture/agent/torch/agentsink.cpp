// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/agentsink.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <telltale/agent/remoteconfig.h>

namespace telltale {
namespace {

tt_slot slotOf(const Slot& slot)
{
    return { static_cast<std::uint32_t>(slot.role), slot.number, slot.head, slot.expert, slot.call, slot.word.c_str(),
        slot.position.c_str() };
}

tt_series seriesOf(const SeriesDesc& desc, const tt_slot& slot)
{
    tt_series out {};
    out.name = desc.name.c_str();
    out.slot = &slot;
    out.vpp_stage = desc.vppStage;
    out.micro_step = desc.microStep;
    out.form = desc.form;
    out.dtype = static_cast<std::uint32_t>(desc.dtype);
    out.numel = desc.numel;
    out.shape = desc.shape.data();
    out.ndim = static_cast<std::uint32_t>(desc.shape.size());
    out.full_ndim = static_cast<std::uint32_t>(desc.fullShape.size());
    out.shard_offset = desc.shardOffset;
    out.full_shape = desc.fullShape.data();
    out.definition = desc.definition.empty() ? nullptr : desc.definition.c_str();
    return out;
}

/// As the C ABI takes them.
struct PlainSeries {
    explicit PlainSeries(std::span<const SeriesDesc> from)
    {
        series.reserve(from.size());
        slots.reserve(from.size()); // they are pointed to
        for (const auto& desc : from)
            series.push_back(seriesOf(desc, slots.emplace_back(slotOf(desc.slot))));
    }

    std::vector<tt_series> series;
    std::vector<tt_slot> slots;
};

}

Expected<std::unique_ptr<AgentSink>> AgentSink::open(const tt_options& options)
{
    std::array<char, 512> why {};
    tt_agent* agent = tt_agent_open(&options, why.data(), why.size());
    if (!agent)
        return failure(ErrorCode::BadInput, why.data());
    return std::unique_ptr<AgentSink>(new AgentSink(agent));
}

AgentSink::AgentSink(tt_agent* agent)
    : m_agent(agent)
    , m_takesConfigs(agent::takesRemoteConfig(std::getenv("TELLTALE_REMOTE_CONFIG")))
{
}

AgentSink::~AgentSink()
{
    if (m_step)
        tt_step_abandon(m_step);
    tt_agent_close(m_agent, m_goodbye);
}

std::uint32_t AgentSink::addHistograms(Kind kind, std::span<const double> edges, std::span<const SeriesDesc> series)
{
    const PlainSeries plain(series);
    return tt_layout_add_histograms(m_agent, static_cast<std::uint32_t>(kind), edges.data(),
        static_cast<std::uint32_t>(edges.size()), plain.series.data(), static_cast<std::uint32_t>(series.size()));
}

std::uint32_t AgentSink::addLayout(Kind kind, std::span<const Stat> stats, std::span<const SeriesDesc> series)
{
    const PlainSeries plain(series);
    static_assert(sizeof(Stat) == sizeof(std::uint8_t));
    return tt_layout_add(m_agent, static_cast<std::uint32_t>(kind),
        stats.empty() ? nullptr : reinterpret_cast<const std::uint8_t*>(stats.data()),
        static_cast<std::uint32_t>(stats.size()), plain.series.data(), static_cast<std::uint32_t>(series.size()));
}

bool AgentSink::beginStep(std::int64_t step)
{
    m_step = tt_step_begin(m_agent, step);
    return m_step != nullptr;
}

tt_stats* AgentSink::stats(std::uint32_t layout)
{
    return tt_step_stats(m_step, layout);
}

float* AgentSink::floats(std::uint32_t layout, std::uint8_t** present)
{
    return tt_step_floats(m_step, layout, present);
}

double* AgentSink::doubles(std::uint32_t layout, std::uint8_t** present)
{
    return tt_step_doubles(m_step, layout, present);
}

std::uint64_t* AgentSink::counts(std::uint32_t layout, std::uint8_t** present)
{
    return tt_step_counts(m_step, layout, present);
}

void AgentSink::commitStep()
{
    tt_step_commit(m_step);
    m_step = nullptr;
}

void AgentSink::dropped(std::int64_t step, std::uint64_t samples, std::uint64_t scalars)
{
    tt_step_dropped(m_agent, step, samples, scalars);
}

void AgentSink::abandonStep()
{
    tt_step_abandon(m_step);
    m_step = nullptr;
}

void AgentSink::event(
    const char* kind, std::int64_t step, const std::string& text, const std::string& json, const char* rule)
{
    tt_event_fields fields {};
    fields.size = sizeof fields;
    fields.kind = kind;
    fields.step = step;
    fields.text = text.c_str();
    fields.json = json.c_str();
    fields.rule = rule;
    tt_event_add(m_agent, &fields);
}

std::optional<std::string_view> AgentSink::recorderAsked()
{
    const char* why = tt_recorder_asked(m_agent);
    return why ? std::optional<std::string_view>(why) : std::nullopt;
}

void AgentSink::blob(const char* kind, const char* name, std::int64_t step, std::string_view bytes)
{
    tt_blob(m_agent, kind, name, step, bytes.data(), bytes.size());
}

void AgentSink::cost(std::chrono::nanoseconds inside, std::chrono::nanoseconds elapsed)
{
    tt_agent_cost(m_agent, static_cast<std::uint64_t>(inside.count()), static_cast<std::uint64_t>(elapsed.count()), 1);
}

void AgentSink::thinning(std::int64_t every, double percent)
{
    tt_agent_thinning(
        m_agent, static_cast<std::uint64_t>(every), static_cast<std::uint64_t>(std::llround(percent * 1e4)));
}

std::optional<Sink::DueConfig> AgentSink::configDue(std::int64_t step)
{
    const tt_config* due = tt_config_due(m_agent, step);
    return due ? std::optional(DueConfig { due->rev, due->json }) : std::nullopt;
}

void AgentSink::setConfigInForce(std::uint64_t rev, std::int64_t step, const std::string& json, const std::string& why)
{
    tt_config_in_force(m_agent, rev, step, json.c_str(), why.c_str());
}

void AgentSink::refuseConfig(std::uint64_t rev, std::int64_t step, const std::string& why)
{
    tt_config_refuse(m_agent, rev, step, why.c_str());
}

bool AgentSink::isConfigOffered(const std::string& text)
{
    return tt_config_is_offered(m_agent, text.c_str()) != 0;
}

bool AgentSink::isSteered() const
{
    return m_takesConfigs && counters().connected != 0;
}

tt_counters AgentSink::counters() const
{
    tt_counters out {};
    tt_agent_counters(m_agent, &out);
    return out;
}

std::string AgentSink::lastError() const
{
    return tt_agent_last_error(m_agent);
}

std::string AgentSink::keepingFolder() const
{
    std::array<char, 4096> folder {};
    tt_agent_spool_dir(m_agent, folder.data(), folder.size());
    return tt_agent_error(m_agent, nullptr, 0) == TT_ERROR_SPOOL ? std::string() : std::string(folder.data());
}

bool AgentSink::flush(std::uint32_t timeoutMs)
{
    return tt_agent_flush(m_agent, timeoutMs) == 1;
}

}
