// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/protocol/messages.h>

namespace telltale::protocol {

/// One binary WebSocket message. Thread: any.
std::string encodeMessage(const Message& message);

/// Pre-scans (limits.h), then parses. Errors: TooLarge (over a limit), BadInput (not a message of this protocol).
/// Whatever the bytes, costs at most 16 MiB and 20 ms for 1 MiB of input. Unknown fields are ignored.
Expected<Message> decodeMessage(std::string_view bytes);

/// Decodes a payload (the caller has checked its crc). Layouts it names must be in it or in `known`; on success the new
/// ones are in the result (`layouts`) and the caller interns them. Errors: Damaged, TooLarge, BadInput, NotFound
/// (layout).
/// With `refusals`, what breaks a rule is left out and told there, and the rest is taken.
class LayoutTable; // layouttable.h
struct Refusals; // refusals.h
Expected<SampleBatch> decodePayload(std::string_view payload, const LayoutTable& known, Refusals* refusals = nullptr);

}
