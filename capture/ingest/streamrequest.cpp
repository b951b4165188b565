// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/streamrequest.h>

#include <algorithm>

namespace telltale::ingest {

store::StreamRequest requestOf(const protocol::Hello& hello, std::uint64_t token)
{
    store::StreamRequest out;
    out.token = token;
    out.runKey = hello.runKey;
    out.runName = hello.runName;
    out.keySource = hello.keySource;
    out.agentId = hello.agentId;
    out.host = hello.host;
    out.incarnation = hello.incarnation;
    out.restartCount = static_cast<int>(std::min<std::uint32_t>(hello.restartCount, 1u << 30));
    out.rank = Rank { hello.rank };
    out.worldSize = hello.worldSize;
    out.dp = hello.dp;
    out.tp = hello.tp;
    out.pp = hello.pp;
    out.ep = hello.ep;
    out.framework = hello.framework;
    out.agentVersion = hello.agentVersion;
    out.pid = hello.pid;
    out.device = hello.device;
    out.firstRetainedSeq = hello.firstRetainedSeq;
    return out;
}

}
