// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/agent/heldstore.h>
#include <telltale/protocol/deliveryrules.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/messages.h>

namespace telltale::agent {

/// One stream (run, agent, incarnation): who it is, what of it is held and what may be sent. Thread: sender.
struct Stream {
    Stream(protocol::Hello identity, std::filesystem::path folder, std::uint64_t capBytes)
        : hello(std::move(identity))
        , spool(std::move(folder), capBytes)
        , held(spool, layouts)
    {
    }

    protocol::Hello hello;
    protocol::LayoutTable layouts;
    protocol::SendRules rules;
    Spool spool;
    HeldStore held;
};

}
