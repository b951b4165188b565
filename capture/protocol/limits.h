// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace telltale::protocol {

/// Every number that bounds what a peer may make us do. Both ends use the same ones.
namespace limits {
inline constexpr std::uint32_t kProtoVersion = 2;
inline constexpr std::uint32_t kOldestProtoVersion = 1; ///< that the server still takes
/// Both ends prove that they know the token before anything else is said (proof.h).
inline constexpr const char* kSubprotocol = "telltale.v2";
/// The agent sends the token with its upgrade request, to whoever listens. Still served, no longer spoken.
inline constexpr const char* kTokenFirstSubprotocol = "telltale.v1";
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr const char* kSpoolOnly
    = "spool"; ///< the capability of who brings what a process left, and trains nothing
inline constexpr const char* kFlightRecorder = "flight_recorder"; ///< the capability of who understands RecorderAsk
inline constexpr const char* kNotice = "notice"; ///< the capability of who has a console for a Notice
inline constexpr std::size_t kMaxNoticeBytes = 2000; ///< that is shown of one
inline constexpr int kMaxNoticesPerMinute = 10; ///< that an agent shows
inline constexpr const char* kPath = "/capture";
inline constexpr const char* kControlPath = "/control"; ///< for peers of the control role
inline constexpr std::size_t kMaxMessageBytes = 1u << 20; ///< one WebSocket message = one frame
inline constexpr std::size_t kMaxDecodedBytes = 4u << 20; ///< of one payload, checked before decoding
inline constexpr std::size_t kMaxRatio = 64; ///< decoded : encoded
inline constexpr std::size_t kMaxSubmessages = 4096;
inline constexpr std::size_t kMaxPackedElements = 65536;
inline constexpr int kMaxDepth = 8;
inline constexpr std::size_t kMaxNameBytes = 1024;
inline constexpr std::size_t kMaxSeriesPerRun = 200'000;
inline constexpr std::uint64_t kMaxSeq = std::uint64_t { 1 } << 53; ///< of a batch: no stream makes so many
inline constexpr std::size_t kMaxConfigBytes = 64u << 10; ///< of a config that is offered or in force
inline constexpr std::size_t kMaxReasonBytes = 8u << 10; ///< of what an agent says of it
inline constexpr std::size_t kMaxBlobPartBytes = 512u << 10;
inline constexpr std::size_t kMaxRunPartBytes = 512u << 10; ///< of a run that is imported
inline constexpr std::size_t kImportWindow = 4u << 20; ///< of it, on its way to the disk
inline constexpr std::size_t kMaxFragments = 64;
inline constexpr std::size_t kMaxUnsentBytes = 8u << 20; ///< bytesToWrite of a peer that does not read
inline constexpr std::size_t kMaxNewcomers = 1024; ///< connections that have not said Hello
inline constexpr std::size_t kMaxNewcomersPerAddress = 512;
inline constexpr std::chrono::milliseconds kHandshakeTimeout { 3000 };
inline constexpr std::chrono::milliseconds kHelloTimeout { 5000 };
inline constexpr std::chrono::milliseconds kMessageTimeout { 15000 };
inline constexpr std::chrono::milliseconds kHeartbeat { 5000 };
inline constexpr std::uint64_t kCreditTotalBytes = 256u << 20; ///< shared by all connected agents
inline constexpr std::uint64_t kCreditMaxBytes = 4u << 20; ///< first credit of one agent, at most
inline constexpr int kDefaultPort = 47800;
}

}
