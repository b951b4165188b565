// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <telltale/core/steering.h>
#include <telltale/protocol/limits.h>

namespace telltale::protocol {

/// The session's messages as plain values: the only form in which the rest of the project sees the wire.
/// (telltale.proto has the numbers; protobuf's own headers stay inside capture/protocol's .cpp files.)

struct Clocks {
    std::int64_t monotonicNs = 0;
    std::int64_t wallNs = 0;
    bool operator==(const Clocks&) const = default;
};

struct Hello {
    std::uint32_t protoMin = limits::kProtoVersion;
    std::uint32_t protoMax = limits::kProtoVersion;
    std::vector<std::string> capabilities;
    std::string runKey;
    std::string runName;
    std::string
        keySource; ///< "run_id", "TELLTALE_RUN_ID", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "MASTER_ADDR", "random"
    std::string agentId; ///< host/rank/role
    std::string host;
    std::string role;
    std::uint64_t incarnation = 0;
    std::uint32_t restartCount = 0;
    std::int32_t rank = 0;
    std::int32_t worldSize = 1;
    std::int32_t dp = -1;
    std::int32_t tp = -1;
    std::int32_t pp = -1;
    std::int32_t ep = -1;
    std::string framework;
    std::string agentVersion;
    std::int64_t pid = 0;
    std::string device;
    std::uint64_t firstRetainedSeq = 1;
    std::uint64_t nextSeq = 1;
    Clocks clocks;
    std::string configHash;
    bool remoteConfigAllowed = false;
    std::string proof; ///< of this connection only, see proof.h
    bool operator==(const Hello&) const = default;
};

/// The agent's first word: whoever listens there is to prove that it knows the token.
struct Knock {
    std::string nonce;
    bool operator==(const Knock&) const = default;
};

/// The server's proof, and what the agent's proof in its Hello is to be made over.
struct Challenge {
    std::string nonce;
    std::string proof;
    bool operator==(const Challenge&) const = default;
};

struct Welcome {
    std::uint32_t proto = limits::kProtoVersion;
    std::vector<std::string> capabilities;
    std::string storeId;
    std::uint32_t epoch = 0;
    std::uint64_t durableSeq = 0;
    std::uint64_t creditBytes = 0; ///< cumulative total
    std::uint64_t creditBatches = 0; ///< cumulative total
    std::uint32_t maxMessage = 0;
    std::uint32_t heartbeatMs = 0;
    bool operator==(const Welcome&) const = default;
};

struct Batch {
    std::uint64_t seq = 0;
    std::uint32_t epoch = 0;
    std::uint32_t crc = 0; ///< crc32c of payload
    std::string payload; ///< see payload.h
    std::uint64_t samples = 0; ///< in the payload: what is lost with it where it cannot be read
    std::uint64_t scalars = 0;
    bool operator==(const Batch&) const = default;
};

struct Rejected {
    std::uint64_t seq = 0;
    std::string reason;
    bool isInPart = false; ///< the rest of the batch was taken, and its layouts are known
    std::uint64_t samples = 0; ///< not taken; with isInPart only, else it is all of the batch
    std::uint64_t scalars = 0;
    bool operator==(const Rejected&) const = default;
};

struct Ack {
    std::uint64_t durableSeq = 0;
    std::uint64_t creditBytes = 0;
    std::uint64_t creditBatches = 0;
    std::vector<Rejected> rejected;
    bool operator==(const Ack&) const = default;
};

struct Nack {
    std::uint64_t nextSeq = 0;
    bool operator==(const Nack&) const = default;
};

/// What monitoring takes of a training's time: sums since the agent began. Thread: any (a value).
struct CostSums {
    std::uint64_t monitorNs = 0; ///< inside the monitor, on the training's threads: the host's time
    std::uint64_t stepNs = 0; ///< from step boundary to step boundary
    std::uint64_t steps = 0; ///< 0 = not known
    bool operator==(const CostSums&) const = default;
};

/// How few steps an agent collects to stay within telltale.overhead_budget. Thread: any (a value).
struct Thinning {
    std::uint64_t every = 0; ///< one in so many; 0 = all that the config selects
    std::uint64_t budgetPpm = 0; ///< of a step's time
    bool operator==(const Thinning&) const = default;
};

struct Heartbeat {
    Clocks clocks;
    std::uint64_t seq = 0; ///< agent: next_seq; server: durable_seq
    std::uint64_t ringBytes = 0;
    std::uint64_t spoolBytes = 0;
    std::vector<std::uint64_t> dropsByClass; ///< index = drop class 0..4
    std::uint64_t producedSamples = 0; ///< agent only
    std::uint64_t producedScalars = 0; ///< agent only
    bool isFinal = false; ///< agent only: no more will be produced
    CostSums cost {}; ///< agent only
    Thinning thinning {}; ///< agent only
    std::int64_t nextStep = 0; ///< agent only: the step in progress, 0 = not known
    bool operator==(const Heartbeat&) const = default;
};

/// A config that a rank is to run. It replaces an earlier offer that is not applied yet; the same revision again moves
/// it to another step.
struct ConfigOffer {
    std::uint64_t rev = 0;
    std::string json;
    std::string hash;
    std::int64_t applyAtStep = 0; ///< the first step under it; <= 0 = from the next one on
    bool operator==(const ConfigOffer&) const = default;
};

/// ConfigStatus::status. Numbers are never reused; one that a reader does not know says nothing.
namespace configstatus {
inline constexpr std::uint32_t kAccepted = 1; ///< step = the rank's next
inline constexpr std::uint32_t kRefused = 2; ///< reason: a sentence for people
inline constexpr std::uint32_t kApplied = 3; ///< step = the first one under it, hash
inline constexpr std::uint32_t kPassed = 4; ///< applyAtStep has begun: nothing is applied; step = the rank's next
inline constexpr std::uint32_t kInForce = 5; ///< what the rank runs: json, hash; rev 0 = its own, reason = why
inline constexpr const char* kEdited = "was edited"; ///< stands in the reason where the job's file was
}

struct ConfigStatus {
    std::uint64_t rev = 0;
    std::uint32_t status = 0; ///< see configstatus
    std::string reason;
    std::int64_t step = 0;
    std::string hash;
    std::string json; ///< of kInForce
    bool operator==(const ConfigStatus&) const = default;
};

/// An agent is to send what its flight recorder keeps. Only to those that say they know it: others hang up.
struct RecorderAsk {
    std::string why; ///< for the run's log
    bool operator==(const RecorderAsk&) const = default;
};

/// A line for the training's console. Only to those that say they know it.
struct Notice {
    std::string text;
    bool operator==(const Notice&) const = default;
};

struct Bye {
    std::string reason; ///< "finished", "restarting", "error", or why the server hangs up
    std::uint32_t retryAfterMs = 0;
    std::uint64_t lastSeq = 0;
    bool operator==(const Bye&) const = default;
};

/// A peer of the control role: the command line, a desktop that is elsewhere.
struct ControlHello {
    std::uint32_t protoMin = 1;
    std::uint32_t protoMax = 1;
    std::string program; ///< for people
    std::string proof; ///< of this connection only, see proof.h
    bool operator==(const ControlHello&) const = default;
};

/// Asks the server to take a run in: its file follows.
struct ImportRun {
    std::string fileName;
    std::uint64_t bytes = 0;
    bool operator==(const ImportRun&) const = default;
};

struct RunPart {
    std::string data;
    bool operator==(const RunPart&) const = default;
};

/// So much of the file is written; at most limits::kImportWindow more may be on its way.
struct RunTaken {
    std::uint64_t bytes = 0;
    bool operator==(const RunTaken&) const = default;
};

/// Asks which run has the stream, or with incarnation 0 any stream of that run key, and for what it takes to bring it
/// in as the agent that it was.
struct FindStream {
    Hello stream;
    bool operator==(const FindStream&) const = default;
};

/// Ends what was asked.
struct ControlReply {
    std::string error; ///< empty = done
    std::string todo;
    std::string runId; ///< empty = no run
    std::string capsule; ///< as the server names it
    std::vector<std::string> damage;
    std::string agentToken;
    bool operator==(const ControlReply&) const = default;
};

/// Asks how a run stands with its config; the answer is a ConfigState, or a ControlReply with the error.
struct ConfigAsk {
    std::string run; ///< an id, or a name that one run alone has
    std::uint64_t rev = 0; ///< 0 = the newest
    std::int32_t rank = -1; ///< whose config in force is wanted; -1 = that of the first who has said
    bool operator==(const ConfigAsk&) const = default;
};

/// Asks for a new revision; answered as ConfigAsk is.
struct ConfigPush {
    ConfigRequest request;
    bool operator==(const ConfigPush&) const = default;
};

struct ConfigState {
    RunSteering steering; ///< with what one rank runs: all would be too much
    bool operator==(const ConfigState&) const = default;
};

/// A note at steps of a run, or what becomes of one (see store::StepNote).
struct NoteWrite {
    std::string run; ///< an id
    StepRange steps;
    std::string text;
    std::string author;
    std::int64_t wallNs = 0;
    std::int64_t id = 0; ///< of the note that changes; 0 = a new one
    bool isRemoved = false;
    bool operator==(const NoteWrite&) const = default;
};

using Message = std::variant<Hello, Welcome, Batch, Ack, Nack, Heartbeat, ConfigOffer, ConfigStatus, Bye, Knock,
    Challenge, ControlHello, ImportRun, RunPart, RunTaken, FindStream, ControlReply, ConfigAsk, ConfigPush, ConfigState,
    RecorderAsk, Notice, NoteWrite>;

}
