// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/protocol/deliveryrules.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/messages.h>
#include <telltale/spool/heldstore.h>

namespace telltale::agent {

/// One stream (run, agent, incarnation): who it is, what of it is held and what may be sent. Thread: sender.
struct Stream {
    Stream(protocol::Hello identity, const std::filesystem::path& folder, std::uint64_t capBytes,
        std::shared_ptr<Disk> files = nullptr, std::chrono::milliseconds patience = std::chrono::milliseconds::max())
        : hello(std::move(identity))
        , disk(folder, capBytes, std::move(files))
        , held(disk, layouts, patience)
    {
    }

    protocol::Hello hello;
    protocol::LayoutTable layouts;
    protocol::SendRules rules;
    SpoolDisk disk;
    HeldStore held;
};

}
