// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/codec.h>

#include <utility>

#include <telltale/protocol/limits.h>
#include <telltale/protocol/prescan.h>
#include <telltale/protocol/steeringcodec.h>
#include <telltale/protocol/utf8.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {
namespace {

void write(const Clocks& in, wire::Clocks& out)
{
    out.set_monotonic_ns(in.monotonicNs);
    out.set_wall_ns(in.wallNs);
}

Clocks read(const wire::Clocks& in)
{
    return { in.monotonic_ns(), in.wall_ns() };
}

void write(const Hello& in, wire::Hello& out)
{
    out.set_proto_min(in.protoMin);
    out.set_proto_max(in.protoMax);
    for (const std::string& capability : in.capabilities)
        wire::append(*out.mutable_capabilities()) = toUtf8(capability);
    out.set_run_key(toUtf8(in.runKey));
    out.set_run_name(toUtf8(in.runName));
    out.set_key_source(toUtf8(in.keySource));
    out.set_agent_id(toUtf8(in.agentId));
    out.set_host(toUtf8(in.host));
    out.set_role(toUtf8(in.role));
    out.set_incarnation(in.incarnation);
    out.set_restart_count(in.restartCount);
    out.set_rank(in.rank);
    out.set_world_size(in.worldSize);
    out.set_dp(in.dp);
    out.set_tp(in.tp);
    out.set_pp(in.pp);
    out.set_ep(in.ep);
    out.set_framework(toUtf8(in.framework));
    out.set_agent_version(toUtf8(in.agentVersion));
    out.set_pid(in.pid);
    out.set_device(toUtf8(in.device));
    out.set_first_retained_seq(in.firstRetainedSeq);
    out.set_next_seq(in.nextSeq);
    write(in.clocks, *out.mutable_clocks());
    out.set_config_hash(toUtf8(in.configHash));
    out.set_remote_config_allowed(in.remoteConfigAllowed);
    out.set_proof(in.proof);
}

void write(const Hello& in, wire::Envelope& envelope)
{
    write(in, *envelope.mutable_hello());
}

Hello read(wire::Hello& in)
{
    Hello out;
    out.protoMin = in.proto_min();
    out.protoMax = in.proto_max();
    out.capabilities.assign(in.capabilities().begin(), in.capabilities().end());
    out.runKey = in.run_key();
    out.runName = in.run_name();
    out.keySource = in.key_source();
    out.agentId = in.agent_id();
    out.host = in.host();
    out.role = in.role();
    out.incarnation = in.incarnation();
    out.restartCount = in.restart_count();
    out.rank = in.rank();
    out.worldSize = in.world_size();
    out.dp = in.dp();
    out.tp = in.tp();
    out.pp = in.pp();
    out.ep = in.ep();
    out.framework = in.framework();
    out.agentVersion = in.agent_version();
    out.pid = in.pid();
    out.device = in.device();
    out.firstRetainedSeq = in.first_retained_seq();
    out.nextSeq = in.next_seq();
    out.clocks = read(in.clocks());
    out.configHash = in.config_hash();
    out.remoteConfigAllowed = in.remote_config_allowed();
    out.proof = in.proof();
    return out;
}

void write(const Welcome& in, wire::Envelope& envelope)
{
    wire::Welcome& out = *envelope.mutable_welcome();
    out.set_proto(in.proto);
    for (const std::string& capability : in.capabilities)
        wire::append(*out.mutable_capabilities()) = toUtf8(capability);
    out.set_store_id(toUtf8(in.storeId));
    out.set_epoch(in.epoch);
    out.set_durable_seq(in.durableSeq);
    out.set_credit_bytes(in.creditBytes);
    out.set_credit_batches(in.creditBatches);
    out.set_max_message(in.maxMessage);
    out.set_heartbeat_ms(in.heartbeatMs);
}

Message read(wire::Welcome& in)
{
    Welcome out;
    out.proto = in.proto();
    out.capabilities.assign(in.capabilities().begin(), in.capabilities().end());
    out.storeId = in.store_id();
    out.epoch = in.epoch();
    out.durableSeq = in.durable_seq();
    out.creditBytes = in.credit_bytes();
    out.creditBatches = in.credit_batches();
    out.maxMessage = in.max_message();
    out.heartbeatMs = in.heartbeat_ms();
    return out;
}

void write(const Batch& in, wire::Envelope& envelope)
{
    wire::Batch& out = *envelope.mutable_batch();
    out.set_seq(in.seq);
    out.set_epoch(in.epoch);
    out.set_crc(in.crc);
    out.set_payload(in.payload);
    out.set_samples(in.samples);
    out.set_scalars(in.scalars);
}

Message read(wire::Batch& in)
{
    return Batch { in.seq(), in.epoch(), in.crc(), std::move(*in.mutable_payload()), in.samples(), in.scalars() };
}

void write(const Ack& in, wire::Envelope& envelope)
{
    wire::Ack& out = *envelope.mutable_ack();
    out.set_durable_seq(in.durableSeq);
    out.set_credit_bytes(in.creditBytes);
    out.set_credit_batches(in.creditBatches);
    for (const Rejected& rejected : in.rejected) {
        wire::Rejected& entry = wire::append(*out.mutable_rejected());
        entry.set_seq(rejected.seq);
        entry.set_reason(toUtf8(rejected.reason));
        entry.set_in_part(rejected.isInPart);
        entry.set_samples(rejected.samples);
        entry.set_scalars(rejected.scalars);
    }
}

Message read(wire::Ack& in)
{
    Ack out { in.durable_seq(), in.credit_bytes(), in.credit_batches(), {} };
    out.rejected.reserve(static_cast<std::size_t>(in.rejected_size()));
    for (const wire::Rejected& entry : in.rejected())
        out.rejected.push_back({ entry.seq(), entry.reason(), entry.in_part(), entry.samples(), entry.scalars() });
    return out;
}

void write(const Nack& in, wire::Envelope& envelope)
{
    envelope.mutable_nack()->set_next_seq(in.nextSeq);
}

Message read(wire::Nack& in)
{
    return Nack { in.next_seq() };
}

void write(const Heartbeat& in, wire::Envelope& envelope)
{
    wire::Heartbeat& out = *envelope.mutable_heartbeat();
    write(in.clocks, *out.mutable_clocks());
    out.set_seq(in.seq);
    out.set_ring_bytes(in.ringBytes);
    out.set_spool_bytes(in.spoolBytes);
    out.mutable_drops_by_class()->Add(in.dropsByClass.begin(), in.dropsByClass.end());
    out.set_produced_samples(in.producedSamples);
    out.set_produced_scalars(in.producedScalars);
    out.set_is_final(in.isFinal);
    out.set_monitor_ns(in.cost.monitorNs);
    out.set_step_ns(in.cost.stepNs);
    out.set_steps(in.cost.steps);
    out.set_collected_every(in.thinning.every);
    out.set_budget_ppm(in.thinning.budgetPpm);
    out.set_next_step(in.nextStep);
}

Message read(wire::Heartbeat& in)
{
    Heartbeat out;
    out.clocks = read(in.clocks());
    out.seq = in.seq();
    out.ringBytes = in.ring_bytes();
    out.spoolBytes = in.spool_bytes();
    out.dropsByClass.assign(in.drops_by_class().begin(), in.drops_by_class().end());
    out.producedSamples = in.produced_samples();
    out.producedScalars = in.produced_scalars();
    out.isFinal = in.is_final();
    out.cost = { in.monitor_ns(), in.step_ns(), in.steps() };
    out.thinning = { in.collected_every(), in.budget_ppm() };
    out.nextStep = in.next_step();
    return out;
}

void write(const ConfigOffer& in, wire::Envelope& envelope)
{
    wire::ConfigOffer& out = *envelope.mutable_config_offer();
    out.set_rev(in.rev);
    out.set_json(toUtf8(in.json));
    out.set_hash(toUtf8(in.hash));
    out.set_apply_at_step(in.applyAtStep);
}

Message read(wire::ConfigOffer& in)
{
    return ConfigOffer { in.rev(), in.json(), in.hash(), in.apply_at_step() };
}

void write(const ConfigStatus& in, wire::Envelope& envelope)
{
    wire::ConfigStatus& out = *envelope.mutable_config_status();
    out.set_rev(in.rev);
    out.set_status(in.status);
    out.set_reason(toUtf8(in.reason));
    out.set_step(in.step);
    out.set_hash(toUtf8(in.hash));
    out.set_json(toUtf8(in.json));
}

Message read(wire::ConfigStatus& in)
{
    return ConfigStatus { in.rev(), in.status(), in.reason(), in.step(), in.hash(), in.json() };
}

void write(const RecorderAsk& in, wire::Envelope& envelope)
{
    envelope.mutable_recorder_ask()->set_why(toUtf8(in.why));
}

Message read(wire::RecorderAsk& in)
{
    return RecorderAsk { in.why() };
}

void write(const Notice& in, wire::Envelope& envelope)
{
    envelope.mutable_notice()->set_text(toUtf8(in.text));
}

Message read(wire::Notice& in)
{
    return Notice { in.text() };
}

void write(const Bye& in, wire::Envelope& envelope)
{
    wire::Bye& out = *envelope.mutable_bye();
    out.set_reason(toUtf8(in.reason));
    out.set_retry_after_ms(in.retryAfterMs);
    out.set_last_seq(in.lastSeq);
}

Message read(wire::Bye& in)
{
    return Bye { in.reason(), in.retry_after_ms(), in.last_seq() };
}

void write(const Knock& in, wire::Envelope& envelope)
{
    envelope.mutable_knock()->set_nonce(in.nonce);
}

Message read(wire::Knock& in)
{
    return Knock { in.nonce() };
}

void write(const Challenge& in, wire::Envelope& envelope)
{
    wire::Challenge& out = *envelope.mutable_challenge();
    out.set_nonce(in.nonce);
    out.set_proof(in.proof);
}

Message read(wire::Challenge& in)
{
    return Challenge { in.nonce(), in.proof() };
}

void write(const ControlHello& in, wire::Envelope& envelope)
{
    wire::ControlHello& out = *envelope.mutable_control_hello();
    out.set_proto_min(in.protoMin);
    out.set_proto_max(in.protoMax);
    out.set_program(toUtf8(in.program));
    out.set_proof(in.proof);
}

Message read(wire::ControlHello& in)
{
    return ControlHello { in.proto_min(), in.proto_max(), in.program(), in.proof() };
}

void write(const ImportRun& in, wire::Envelope& envelope)
{
    envelope.mutable_import_run()->set_file_name(toUtf8(in.fileName));
    envelope.mutable_import_run()->set_bytes(in.bytes);
}

Message read(wire::ImportRun& in)
{
    return ImportRun { in.file_name(), in.bytes() };
}

void write(const RunPart& in, wire::Envelope& envelope)
{
    envelope.mutable_run_part()->set_data(in.data);
}

Message read(wire::RunPart& in)
{
    return RunPart { std::move(*in.mutable_data()) };
}

void write(const RunTaken& in, wire::Envelope& envelope)
{
    envelope.mutable_run_taken()->set_bytes(in.bytes);
}

Message read(wire::RunTaken& in)
{
    return RunTaken { in.bytes() };
}

void write(const FindStream& in, wire::Envelope& envelope)
{
    write(in.stream, *envelope.mutable_find_stream()->mutable_stream());
}

Message read(wire::FindStream& in)
{
    return FindStream { read(*in.mutable_stream()) };
}

void write(const NoteWrite& in, wire::Envelope& envelope)
{
    wire::NoteWrite& out = *envelope.mutable_note_write();
    out.set_run(toUtf8(in.run));
    out.set_first_step(in.steps.first.value);
    out.set_last_step(in.steps.last.value);
    out.set_text(toUtf8(in.text));
    out.set_author(toUtf8(in.author));
    out.set_wall_ns(in.wallNs);
    out.set_id(static_cast<std::uint64_t>(in.id));
    out.set_removed(in.isRemoved);
}

Message read(wire::NoteWrite& in)
{
    return NoteWrite { in.run(), { Step { in.first_step() }, Step { in.last_step() } }, in.text(), in.author(),
        in.wall_ns(), static_cast<std::int64_t>(in.id()), in.removed() };
}

void write(const ControlReply& in, wire::Envelope& envelope)
{
    wire::ControlReply& out = *envelope.mutable_control_reply();
    out.set_error(toUtf8(in.error));
    out.set_todo(toUtf8(in.todo));
    out.set_run_id(toUtf8(in.runId));
    out.set_capsule(toUtf8(in.capsule));
    for (const std::string& sentence : in.damage)
        wire::append(*out.mutable_damage()) = toUtf8(sentence);
    out.set_agent_token(toUtf8(in.agentToken));
}

Message read(wire::ControlReply& in)
{
    ControlReply out { in.error(), in.todo(), in.run_id(), in.capsule(), {}, in.agent_token() };
    out.damage.assign(in.damage().begin(), in.damage().end());
    return out;
}

}

std::string encodeMessage(const Message& message)
{
    wire::Envelope envelope;
    std::visit([&envelope](const auto& value) { write(value, envelope); }, message);
    return envelope.SerializeAsString();
}

Expected<Message> decodeMessage(std::string_view bytes)
{
    if (auto ok = prescanEnvelope(bytes); !ok)
        return tl::unexpected(ok.error());
    wire::Envelope envelope;
    if (!envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return failure(ErrorCode::BadInput, "bytes are not a Telltale message");
    switch (envelope.body_case()) {
    case wire::Envelope::kHello:
        return read(*envelope.mutable_hello());
    case wire::Envelope::kWelcome:
        return read(*envelope.mutable_welcome());
    case wire::Envelope::kBatch:
        return read(*envelope.mutable_batch());
    case wire::Envelope::kAck:
        return read(*envelope.mutable_ack());
    case wire::Envelope::kNack:
        return read(*envelope.mutable_nack());
    case wire::Envelope::kHeartbeat:
        return read(*envelope.mutable_heartbeat());
    case wire::Envelope::kConfigOffer:
        return read(*envelope.mutable_config_offer());
    case wire::Envelope::kConfigStatus:
        return read(*envelope.mutable_config_status());
    case wire::Envelope::kBye:
        return read(*envelope.mutable_bye());
    case wire::Envelope::kKnock:
        return read(*envelope.mutable_knock());
    case wire::Envelope::kChallenge:
        return read(*envelope.mutable_challenge());
    case wire::Envelope::kControlHello:
        return read(*envelope.mutable_control_hello());
    case wire::Envelope::kImportRun:
        return read(*envelope.mutable_import_run());
    case wire::Envelope::kRunPart:
        return read(*envelope.mutable_run_part());
    case wire::Envelope::kRunTaken:
        return read(*envelope.mutable_run_taken());
    case wire::Envelope::kFindStream:
        return read(*envelope.mutable_find_stream());
    case wire::Envelope::kControlReply:
        return read(*envelope.mutable_control_reply());
    case wire::Envelope::kConfigAsk:
        return read(*envelope.mutable_config_ask());
    case wire::Envelope::kConfigPush:
        return read(*envelope.mutable_config_push());
    case wire::Envelope::kConfigState:
        return read(*envelope.mutable_config_state());
    case wire::Envelope::kRecorderAsk:
        return read(*envelope.mutable_recorder_ask());
    case wire::Envelope::kNotice:
        return read(*envelope.mutable_notice());
    case wire::Envelope::kNoteWrite:
        return read(*envelope.mutable_note_write());
    case wire::Envelope::BODY_NOT_SET:
        break;
    }
    return failure(ErrorCode::BadInput, "message has no body that this version knows");
}

}
