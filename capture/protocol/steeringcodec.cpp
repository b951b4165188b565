// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/steeringcodec.h>

#include <algorithm>

#include <telltale/protocol/utf8.h>

namespace telltale::protocol {
namespace {

void write(const RankSteering& in, wire::RankState& out)
{
    out.set_rank(in.rank.value);
    out.set_host(toUtf8(in.host));
    out.set_state(static_cast<std::uint32_t>(in.state));
    out.set_rev(in.rev);
    out.set_step(in.step);
    out.set_took_ms(in.tookMs);
    out.set_reason(toUtf8(in.reason));
    out.set_runs_rev(in.runsRev);
    out.set_runs(toUtf8(in.runs));
}

RankSteering read(const wire::RankState& in)
{
    RankSteering out;
    out.rank = Rank { in.rank() };
    out.host = in.host();
    if (in.state() < kSteeringStateNames.size()) // one of a later version says nothing
        out.state = static_cast<RankSteering::State>(in.state());
    out.rev = in.rev();
    out.step = in.step();
    out.tookMs = in.took_ms();
    out.reason = in.reason();
    out.runsRev = in.runs_rev();
    out.runs = in.runs();
    return out;
}

}

void write(const ConfigAsk& in, wire::Envelope& envelope)
{
    wire::ConfigAsk& out = *envelope.mutable_config_ask();
    out.set_run(toUtf8(in.run));
    out.set_rev(in.rev);
    out.set_rank_plus_one(static_cast<std::uint32_t>(std::max(in.rank, -1)) + 1);
}

Message read(wire::ConfigAsk& in)
{
    return ConfigAsk { in.run(), in.rev(), static_cast<std::int32_t>(in.rank_plus_one() - 1) };
}

void write(const ConfigPush& in, wire::Envelope& envelope)
{
    wire::ConfigPush& out = *envelope.mutable_config_push();
    out.set_run(toUtf8(in.request.runId));
    out.set_json(toUtf8(in.request.config));
    for (const Rank rank : in.request.ranks)
        out.add_ranks(rank.value);
    out.set_at_step(in.request.atStep);
    out.set_author(toUtf8(in.request.author));
}

Message read(wire::ConfigPush& in)
{
    ConfigPush out { { in.run(), in.json(), {}, in.at_step(), in.author() } };
    for (const std::int32_t rank : in.ranks())
        out.request.ranks.emplace_back(rank);
    return out;
}

void write(const ConfigState& in, wire::Envelope& envelope)
{
    wire::ConfigState& out = *envelope.mutable_config_state();
    out.set_run_id(toUtf8(in.steering.runId));
    out.set_rev(in.steering.rev);
    out.set_json(toUtf8(in.steering.config));
    out.set_author(toUtf8(in.steering.author));
    out.set_apply_at_step(in.steering.applyAtStep);
    out.set_wall_ns(in.steering.wallNs);
    for (const Rank rank : in.steering.asked)
        out.add_asked(rank.value);
    for (const RankSteering& rank : in.steering.ranks)
        write(rank, wire::append(*out.mutable_ranks()));
}

Message read(wire::ConfigState& in)
{
    ConfigState out;
    out.steering.runId = in.run_id();
    out.steering.rev = in.rev();
    out.steering.config = in.json();
    out.steering.author = in.author();
    out.steering.applyAtStep = in.apply_at_step();
    out.steering.wallNs = in.wall_ns();
    for (const std::int32_t rank : in.asked())
        out.steering.asked.emplace_back(rank);
    for (const wire::RankState& rank : in.ranks())
        out.steering.ranks.push_back(read(rank));
    return out;
}

}
