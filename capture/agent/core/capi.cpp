// SPDX-License-Identifier: GPL-3.0-or-later
#define TT_AGENT_BUILD
#include <telltale/agent/telltale_agent.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include <telltale/agent/agent.h>
#include <telltale/agent/blockinglink.h>
#include <telltale/agent/layoutrequest.h>
#include <telltale/agent/memoryprobe.h>
#include <telltale/core/bytes.h>
#include <telltale/core/drops.h>
#include <telltale/core/nothrow.h>
#include <telltale/stats/stats.h>

using telltale::withoutThrowing;
using telltale::agent::Agent;
using telltale::agent::BlockType;
using telltale::agent::Layout;
using telltale::agent::Trouble;

static_assert(static_cast<int>(Trouble::None) == TT_ERROR_NONE
    && static_cast<int>(Trouble::BadInput) == TT_ERROR_BAD_INPUT
    && static_cast<int>(Trouble::Connection) == TT_ERROR_CONNECTION
    && static_cast<int>(Trouble::Rejected) == TT_ERROR_REJECTED && static_cast<int>(Trouble::Spool) == TT_ERROR_SPOOL
    && static_cast<int>(Trouble::Lost) == TT_ERROR_LOST && static_cast<int>(Trouble::Internal) == TT_ERROR_INTERNAL
    && static_cast<int>(Trouble::Notice) == TT_ERROR_NOTICE);

/// The handle of the C ABI: an agent and nothing else.
struct tt_agent {
    explicit tt_agent(telltale::agent::AgentOptions options)
        : agent(std::move(options))
    {
    }

    Agent agent;
    /// What tt_agent_last_error() gave last: several, since any thread may ask. Not thread_local, which ends the
    /// process where it finds no memory.
    mutable std::array<std::array<char, 1024>, 8> sentences {};
    mutable std::atomic<unsigned> nextSentence { 0 };
    tt_config due {}; ///< what tt_config_due() gave last
};

namespace {

/// Both texts one after the other, cut to what fits.
void putSentence(char* to, std::size_t length, const char* text, const char* rest = "") noexcept
{
    std::size_t used = 0;
    for (const char* part : { text, rest })
        for (; *part && used + 1 < length; ++part)
            to[used++] = *part;
    if (to && length > 0)
        to[used] = '\0';
}

/// A step that the wire takes.
std::int64_t nearest(std::int64_t step)
{
    return std::clamp(step, -telltale::kFarthestStep, telltale::kFarthestStep);
}

/// What an exception leaves behind: a count, and a sentence where there is memory for one.
void note(Agent& agent, const char* what) noexcept
{
    withoutThrowing([&] { agent.noteError(Trouble::Internal, std::string("internal error: ") + what); });
}

/// What body() gives; an exception is noted, and the caller gets 0, null or nothing.
template <typename Body> std::invoke_result_t<Body> guarded(Agent& agent, Body body) noexcept
{
    return withoutThrowing(body, [&agent](const char* what) noexcept {
        note(agent, what);
        return std::invoke_result_t<Body>();
    });
}

std::string textOf(const char* text)
{
    return text ? std::string(text) : std::string();
}

/// The id of the layout that `read` gives; 0 with a sentence where it gives none.
template <typename Read> std::uint32_t addLayout(tt_agent* agent, Read read)
{
    if (!agent || !agent->agent.isActive())
        return 0;
    return guarded(agent->agent, [&]() -> std::uint32_t {
        auto request = read();
        auto id = request ? agent->agent.addLayout(std::move(*request)) : tl::unexpected(request.error());
        if (!id)
            agent->agent.noteError(Trouble::BadInput, id.error().sentence());
        return id.value_or(0);
    });
}

std::byte* reserve(tt_step* step, std::uint32_t layout, BlockType type, const Layout*& found)
{
    return step ? guarded(*step->agent, [&] { return step->agent->reserve(layout, type, found); }) : nullptr;
}

/// The same for blocks whose presence bytes follow their values.
std::byte* reserveWithPresence(tt_step* step, std::uint32_t layout, BlockType type, std::uint8_t** present)
{
    if (!present)
        return nullptr;
    const Layout* found = nullptr;
    std::byte* data = reserve(step, layout, type, found);
    *present = data ? reinterpret_cast<std::uint8_t*>(data + found->valueBytes()) : nullptr;
    return data;
}

void read(const tt_agent* agent, tt_counters& out)
{
    out = {};
    const telltale::agent::Counters* from = agent ? agent->agent.counters() : nullptr;
    if (!from)
        return;
    // What became of samples is read before how many there were, so that no difference is ever negative.
    out.acked = from->acked;
    out.dropped = from->dropped;
    out.produced = from->produced;
    out.in_flight = out.produced - out.acked - out.dropped;
    out.scalars_acked = from->scalarsAcked;
    out.scalars_dropped = from->scalarsDropped;
    out.scalars_produced = from->scalarsProduced;
    out.batches_acked = from->batchesAcked;
    out.batches_sent = from->batchesSent;
    out.bytes_sent = from->bytesSent;
    out.reconnects = from->reconnects;
    out.ring_bytes = from->ringBytes;
    out.spool_bytes = from->spoolBytes;
    out.internal_errors = from->internalErrors;
    out.monitor_ns = from->monitorNs;
    out.step_ns = from->stepNs;
    out.steps = from->steps;
    out.connected = from->connected ? 1 : 0;
    out.mode = static_cast<uint32_t>(agent->agent.mode());
}

}

extern "C" {

uint32_t tt_abi_version(void)
{
    return withoutThrowing([]() -> uint32_t { return TT_AGENT_ABI; });
}

const char* tt_version(void)
{
    return withoutThrowing([] { return telltale::agent::agentVersion(); });
}

tt_agent* tt_agent_open(const tt_options* options, char* err, size_t err_len)
{
    putSentence(err, err_len, "");
    const auto open = [&]() -> tt_agent* {
        auto resolved = telltale::agent::AgentOptions::resolve(options, telltale::agent::processEnvironment);
        if (resolved)
            return new tt_agent(std::move(*resolved));
        putSentence(err, err_len, resolved.error().sentence().c_str());
        return nullptr;
    };
    return withoutThrowing(open, [&](const char* what) noexcept -> tt_agent* {
        putSentence(err, err_len, "the agent cannot start: ", what);
        return nullptr;
    });
}

int tt_join_try(const char* join, uint32_t timeout_ms, char* err, size_t err_len)
{
    putSentence(err, err_len, "");
    const auto tryIt = [&] {
        if (!telltale::agent::hasMemoryFor(0))
            throw std::bad_alloc();
        const auto parsed = telltale::protocol::JoinString::parse(textOf(join));
        const auto done = parsed ? telltale::agent::tryJoin(*parsed, std::chrono::milliseconds(timeout_ms))
                                 : tl::unexpected<telltale::Error>(parsed.error());
        if (!done)
            putSentence(err, err_len, done.error().sentence().c_str());
        return done ? 1 : 0;
    };
    return withoutThrowing(tryIt, [&](const char* what) noexcept {
        putSentence(err, err_len, "the join string cannot be tried: ", what);
        return 0;
    });
}

int tt_agent_close(tt_agent* agent, const char* reason)
{
    if (!agent)
        return 1;
    // A forked copy has no sender thread to join and owns nothing: leave it to the end of the child.
    if (agent->agent.isChild())
        return 0;
    return guarded(agent->agent, [&] {
        const bool isAcknowledged = agent->agent.close(reason ? reason : "finished");
        // Not after an exception: the sender may still run.
        delete agent;
        return isAcknowledged ? 1 : 0;
    });
}

void tt_agent_counters(const tt_agent* agent, tt_counters* out)
{
    if (!out)
        return;
    withoutThrowing([&] { read(agent, *out); });
}

void tt_agent_cost(tt_agent* agent, uint64_t inside_ns, uint64_t elapsed_ns, uint64_t steps)
{
    if (agent)
        guarded(agent->agent, [&] { agent->agent.noteCost(inside_ns, elapsed_ns, steps); });
}

void tt_agent_thinning(tt_agent* agent, uint64_t every, uint64_t budget_ppm)
{
    if (agent)
        guarded(agent->agent, [&] { agent->agent.noteThinning(every, budget_ppm); });
}

int tt_agent_flush(tt_agent* agent, uint32_t timeout_ms)
{
    if (!agent)
        return 1;
    return guarded(agent->agent, [&] { return agent->agent.flush(std::chrono::milliseconds(timeout_ms)) ? 1 : 0; });
}

const char* tt_agent_last_error(const tt_agent* agent)
{
    if (!agent)
        return "";
    const auto last = [&]() -> const char* {
        auto& place = agent->sentences[agent->nextSentence++ % agent->sentences.size()];
        putSentence(place.data(), place.size(), agent->agent.lastError().second.c_str());
        return place.data();
    };
    return withoutThrowing(last, [](const char*) noexcept { return "the memory is exhausted"; });
}

uint32_t tt_agent_error(const tt_agent* agent, char* err, size_t err_len)
{
    putSentence(err, err_len, "");
    if (!agent)
        return TT_ERROR_NONE;
    const auto last = [&] {
        const auto [trouble, sentence] = agent->agent.lastError();
        putSentence(err, err_len, sentence.c_str());
        return static_cast<uint32_t>(trouble);
    };
    return withoutThrowing(last, [&](const char* what) noexcept -> uint32_t {
        putSentence(err, err_len, what);
        return TT_ERROR_INTERNAL;
    });
}

void tt_agent_spool_dir(const tt_agent* agent, char* out, size_t len)
{
    putSentence(out, len, agent ? agent->agent.spoolDir().c_str() : "");
}

uint32_t tt_layout_add(
    tt_agent* agent, uint32_t kind, const uint8_t* stats, uint32_t stat_count, const tt_series* series, uint32_t count)
{
    return addLayout(agent, [&] { return telltale::agent::readRequest(kind, stats, stat_count, series, count); });
}

uint32_t tt_layout_add_histograms(
    tt_agent* agent, uint32_t kind, const double* edges, uint32_t edge_count, const tt_series* series, uint32_t count)
{
    return addLayout(
        agent, [&] { return telltale::agent::readHistogramRequest(kind, edges, edge_count, series, count); });
}

tt_step* tt_step_begin(tt_agent* agent, int64_t step)
{
    if (!agent)
        return nullptr;
    return guarded(agent->agent, [&] { return telltale::isStep(step) ? agent->agent.beginStep(step) : nullptr; });
}

tt_stats* tt_step_stats(tt_step* step, uint32_t layout)
{
    const Layout* found = nullptr;
    return reinterpret_cast<tt_stats*>(reserve(step, layout, BlockType::Stats, found));
}

float* tt_step_floats(tt_step* step, uint32_t layout, uint8_t** present)
{
    return reinterpret_cast<float*>(reserveWithPresence(step, layout, BlockType::Floats, present));
}

double* tt_step_doubles(tt_step* step, uint32_t layout, uint8_t** present)
{
    return reinterpret_cast<double*>(reserveWithPresence(step, layout, BlockType::Doubles, present));
}

uint64_t* tt_step_counts(tt_step* step, uint32_t layout, uint8_t** present)
{
    return reinterpret_cast<uint64_t*>(reserveWithPresence(step, layout, BlockType::Counts, present));
}

void tt_step_commit(tt_step* step)
{
    if (step)
        guarded(*step->agent, [&] { step->agent->commitStep(); });
}

void tt_step_abandon(tt_step* step)
{
    if (step)
        guarded(*step->agent, [&] { step->agent->abandonStep(); });
}

void tt_step_dropped(tt_agent* agent, int64_t step, uint64_t samples, uint64_t scalars)
{
    if (agent)
        guarded(agent->agent, [&] { agent->agent.countUnstored(nearest(step), samples, scalars); });
}

const tt_config* tt_config_due(tt_agent* agent, int64_t next_step)
{
    if (!agent)
        return nullptr;
    return guarded(agent->agent, [&]() -> const tt_config* {
        const auto* due = agent->agent.configDue(nearest(next_step));
        if (!due)
            return nullptr;
        agent->due = { due->rev, due->applyAtStep, due->json.c_str() };
        return &agent->due;
    });
}

const char* tt_recorder_asked(tt_agent* agent)
{
    if (!agent)
        return nullptr;
    return guarded(agent->agent, [&]() -> const char* {
        const std::string* why = agent->agent.recorderAsked();
        return why ? why->c_str() : nullptr;
    });
}

void tt_config_words(tt_agent* agent, int64_t** next_step, const uint8_t** is_waiting)
{
    if (!next_step || !is_waiting)
        return;
    *next_step = nullptr;
    *is_waiting = nullptr;
    if (agent)
        guarded(agent->agent, [&] { agent->agent.configWords(*next_step, *is_waiting); });
}

void tt_config_in_force(tt_agent* agent, uint64_t rev, int64_t step, const char* json, const char* why)
{
    if (agent && json)
        guarded(agent->agent, [&] { agent->agent.setConfigInForce(rev, nearest(step), json, why ? why : ""); });
}

int tt_config_is_offered(tt_agent* agent, const char* json)
{
    return agent && json ? guarded(agent->agent, [&] { return agent->agent.isConfigOffered(json) ? 1 : 0; }) : 0;
}

void tt_config_refuse(tt_agent* agent, uint64_t rev, int64_t step, const char* reason)
{
    if (agent)
        guarded(agent->agent, [&] { agent->agent.refuseConfig(rev, nearest(step), reason ? reason : ""); });
}

uint32_t tt_crc32c(const void* bytes, size_t len)
{
    return withoutThrowing([&] {
        return telltale::crc32c(len > 0 ? std::string_view(static_cast<const char*>(bytes), len) : std::string_view());
    });
}

int tt_event(tt_agent* agent, const char* kind, int64_t step, const char* text, const char* json)
{
    tt_event_fields fields {};
    fields.size = sizeof fields;
    fields.kind = kind;
    fields.step = step;
    fields.text = text;
    fields.json = json;
    return tt_event_add(agent, &fields);
}

int tt_event_add(tt_agent* agent, const tt_event_fields* event_fields)
{
    // Of a caller that is older than this library there is less.
    tt_event_fields fields {};
    if (!agent || !event_fields || event_fields->size < offsetof(tt_event_fields, last_step) || !event_fields->kind)
        return 0;
    std::memcpy(&fields, event_fields, std::min<std::size_t>(event_fields->size, sizeof fields));
    return guarded(agent->agent, [&] {
        telltale::Event event;
        event.kind = fields.kind;
        event.step = telltale::Step { nearest(fields.step) };
        if (fields.last_step > fields.step)
            event.lastStep = telltale::Step { nearest(fields.last_step) };
        event.text = textOf(fields.text);
        event.json = textOf(fields.json);
        event.rule = textOf(fields.rule);
        event.phase = textOf(fields.phase);
        event.cause = textOf(fields.cause);
        event.author = textOf(fields.author);
        event.rev = fields.rev;
        event.ref = fields.ref;
        return agent->agent.pushEvent(std::move(event)) ? 1 : 0;
    });
}

int tt_blob(tt_agent* agent, const char* kind, const char* name, int64_t step, const void* bytes, size_t len)
{
    if (!agent || !kind || (!bytes && len > 0))
        return 0;
    return guarded(agent->agent, [&] {
        telltale::Blob blob;
        blob.kind = kind;
        blob.name = textOf(name);
        blob.step = telltale::Step { nearest(step) };
        if (len > telltale::agent::kSideQueueBytes) {
            agent->agent.countRefused(telltale::dropclass::kBlobs, nearest(step), len, "a document was too large");
            return 0;
        }
        blob.bytes.assign(static_cast<const char*>(bytes), len);
        return agent->agent.pushBlob(std::move(blob)) ? 1 : 0;
    });
}
}
