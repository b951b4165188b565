// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/protocol/messages.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {

/// What the control role says of configs, to and from the wire (see codec.h). Thread: any.
void write(const ConfigAsk& in, wire::Envelope& envelope);
void write(const ConfigPush& in, wire::Envelope& envelope);
void write(const ConfigState& in, wire::Envelope& envelope);
Message read(wire::ConfigAsk& in);
Message read(wire::ConfigPush& in);
Message read(wire::ConfigState& in);

}
