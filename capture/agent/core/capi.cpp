// SPDX-License-Identifier: GPL-3.0-or-later
#define TT_AGENT_BUILD
#include <telltale/agent/telltale_agent.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include <telltale/agent/agent.h>
#include <telltale/agent/introduction.h>
#include <telltale/agent/layoutrequest.h>
#include <telltale/stats/stats.h>

using telltale::agent::Agent;
using telltale::agent::BlockType;
using telltale::agent::Layout;

/// The handle of the C ABI: an agent and nothing else.
struct tt_agent {
    explicit tt_agent(telltale::agent::AgentOptions options)
        : agent(std::move(options))
    {
    }

    Agent agent;
};

namespace {

void putSentence(char* err, std::size_t length, const std::string& sentence)
{
    if (!err || length == 0)
        return;
    const std::size_t bytes = std::min(sentence.size(), length - 1);
    std::memcpy(err, sentence.data(), bytes);
    err[bytes] = '\0';
}

/// A step that the wire takes.
std::int64_t nearest(std::int64_t step)
{
    return std::clamp(step, -telltale::kFarthestStep, telltale::kFarthestStep);
}

/// Nothing may leave the ABI by exception: what happens inside is counted, and the caller gets `fallback`.
template <typename Result, typename Body> Result guarded(tt_agent* agent, Result fallback, Body body) noexcept
{
    try {
        return body();
    } catch (const std::exception& error) {
        if (agent)
            agent->agent.noteError(std::string("internal error: ") + error.what());
    } catch (...) {
        if (agent)
            agent->agent.noteError("internal error");
    }
    return fallback;
}

std::string textOf(const char* text)
{
    return text ? std::string(text) : std::string();
}

}

extern "C" {

uint32_t tt_abi_version(void)
{
    return TT_AGENT_ABI;
}
const char* tt_version(void)
{
    return telltale::agent::agentVersion();
}

tt_agent* tt_agent_open(const tt_options* options, char* err, size_t err_len)
{
    putSentence(err, err_len, {});
    try {
        auto resolved = telltale::agent::AgentOptions::resolve(options, telltale::agent::processEnvironment);
        if (resolved)
            return new tt_agent(std::move(*resolved));
        putSentence(err, err_len, resolved.error().sentence());
    } catch (const std::exception& error) {
        putSentence(err, err_len, std::string("the agent cannot start: ") + error.what());
    }
    return nullptr;
}

int tt_join_try(const char* join, uint32_t timeout_ms, char* err, size_t err_len)
{
    putSentence(err, err_len, {});
    try {
        const auto parsed = telltale::protocol::JoinString::parse(textOf(join));
        const auto done = parsed ? telltale::agent::tryJoin(*parsed, std::chrono::milliseconds(timeout_ms))
                                 : tl::unexpected<telltale::Error>(parsed.error());
        if (done)
            return 1;
        putSentence(err, err_len, done.error().sentence());
    } catch (const std::exception& error) {
        putSentence(err, err_len, std::string("the join string cannot be tried: ") + error.what());
    }
    return 0;
}

int tt_agent_close(tt_agent* agent, const char* reason)
{
    if (!agent)
        return 1;
    // A forked copy has no sender thread to join and owns nothing: leave it to the end of the child.
    if (agent->agent.isChild())
        return 0;
    const int acknowledged
        = guarded(agent, 0, [&] { return agent->agent.close(reason ? reason : "finished") ? 1 : 0; });
    delete agent;
    return acknowledged;
}

void tt_agent_counters(const tt_agent* agent, tt_counters* out)
{
    if (!out)
        return;
    *out = {};
    const telltale::agent::Counters* from = agent ? agent->agent.counters() : nullptr;
    if (!from)
        return;
    // What became of samples is read before how many there were, so that no difference is ever negative.
    out->acked = from->acked;
    out->dropped = from->dropped;
    out->produced = from->produced;
    out->in_flight = out->produced - out->acked - out->dropped;
    out->scalars_acked = from->scalarsAcked;
    out->scalars_dropped = from->scalarsDropped;
    out->scalars_produced = from->scalarsProduced;
    out->batches_acked = from->batchesAcked;
    out->batches_sent = from->batchesSent;
    out->bytes_sent = from->bytesSent;
    out->reconnects = from->reconnects;
    out->ring_bytes = from->ringBytes;
    out->spool_bytes = from->spoolBytes;
    out->internal_errors = from->internalErrors;
    out->connected = from->connected ? 1 : 0;
    out->mode = static_cast<uint32_t>(agent->agent.mode());
}

int tt_agent_flush(tt_agent* agent, uint32_t timeout_ms)
{
    if (!agent)
        return 1;
    return guarded(agent, 0, [&] { return agent->agent.flush(std::chrono::milliseconds(timeout_ms)) ? 1 : 0; });
}

const char* tt_agent_last_error(const tt_agent* agent)
{
    static thread_local std::string sentence;
    try {
        sentence = agent ? agent->agent.lastError() : std::string();
    } catch (const std::exception&) {
        return "";
    }
    return sentence.c_str();
}

uint32_t tt_layout_add(
    tt_agent* agent, uint32_t kind, const uint8_t* stats, uint32_t stat_count, const tt_series* series, uint32_t count)
{
    if (!agent || !agent->agent.isActive())
        return 0;
    return guarded<uint32_t>(agent, 0, [&]() -> uint32_t {
        auto request = telltale::agent::LayoutRequest::parse(kind, stats, stat_count, series, count);
        if (!request) {
            agent->agent.noteError(request.error().sentence());
            return 0;
        }
        const auto id = agent->agent.addLayout(
            request->kind, std::move(request->stats), request->type, std::move(request->series));
        if (!id)
            agent->agent.noteError(id.error().sentence());
        return id.value_or(0);
    });
}

tt_step* tt_step_begin(tt_agent* agent, int64_t step)
{
    if (!agent)
        return nullptr;
    return guarded<tt_step*>(
        agent, nullptr, [&] { return telltale::isStep(step) ? agent->agent.beginStep(step) : nullptr; });
}

tt_stats* tt_step_stats(tt_step* step, uint32_t layout)
{
    if (!step)
        return nullptr;
    const Layout* found = nullptr;
    try {
        return reinterpret_cast<tt_stats*>(step->agent->reserve(layout, BlockType::Stats, found));
    } catch (const std::exception& error) {
        step->agent->noteError(error.what());
        return nullptr;
    }
}

float* tt_step_floats(tt_step* step, uint32_t layout, uint8_t** present)
{
    if (!step || !present)
        return nullptr;
    const Layout* found = nullptr;
    try {
        std::byte* data = step->agent->reserve(layout, BlockType::Floats, found);
        *present = data ? reinterpret_cast<uint8_t*>(data + found->valueBytes()) : nullptr;
        return reinterpret_cast<float*>(data);
    } catch (const std::exception& error) {
        step->agent->noteError(error.what());
        return nullptr;
    }
}

double* tt_step_doubles(tt_step* step, uint32_t layout, uint8_t** present)
{
    if (!step || !present)
        return nullptr;
    const Layout* found = nullptr;
    try {
        std::byte* data = step->agent->reserve(layout, BlockType::Doubles, found);
        *present = data ? reinterpret_cast<uint8_t*>(data + found->valueBytes()) : nullptr;
        return reinterpret_cast<double*>(data);
    } catch (const std::exception& error) {
        step->agent->noteError(error.what());
        return nullptr;
    }
}

void tt_step_commit(tt_step* step)
{
    if (step)
        step->agent->commitStep();
}

void tt_step_abandon(tt_step* step)
{
    if (step)
        step->agent->abandonStep();
}

void tt_step_dropped(tt_agent* agent, int64_t step, uint64_t samples, uint64_t scalars)
{
    if (agent)
        agent->agent.countDropped(nearest(step), samples, scalars);
}

int tt_event(tt_agent* agent, const char* kind, int64_t step, const char* text, const char* json)
{
    if (!agent || !kind)
        return 0;
    return guarded(agent, 0, [&] {
        telltale::Event event;
        event.kind = kind;
        event.step = telltale::Step { nearest(step) };
        event.text = textOf(text);
        event.json = textOf(json);
        return agent->agent.pushEvent(std::move(event)) ? 1 : 0;
    });
}

int tt_blob(tt_agent* agent, const char* kind, const char* name, int64_t step, const void* bytes, size_t len)
{
    if (!agent || !kind || (!bytes && len > 0))
        return 0;
    return guarded(agent, 0, [&] {
        telltale::Blob blob;
        blob.kind = kind;
        blob.name = textOf(name);
        blob.step = telltale::Step { nearest(step) };
        if (len > telltale::agent::kSideQueueBytes)
            return 0;
        blob.bytes.assign(static_cast<const char*>(bytes), len);
        return agent->agent.pushBlob(std::move(blob)) ? 1 : 0;
    });
}
}
