// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/joinstring.h>
#include <telltale/protocol/messages.h>
#include <telltale/protocol/proof.h>

namespace telltale::agent {

/// Denied where the join string would have us speak in the clear to another machine.
Expected<void> mayConnect(
    const protocol::JoinString& join, const std::vector<boost::asio::ip::tcp::endpoint>& endpoints);

/// Before anything is said to a server it proves that it knows the token, and then we do: the token stays here.
/// Thread: sender.
class Introduction {
public:
    explicit Introduction(const protocol::JoinString& join)
        : m_join(join)
    {
    }

    /// The first message of a new connection.
    Expected<protocol::Knock> knock();
    /// Our proof, for Hello. Denied when the server does not know the token: it is to hear no more than Bye.
    Expected<std::string> answer(const protocol::Challenge& challenge);

private:
    const protocol::JoinString& m_join;
    protocol::ProofContext m_context;
    ThreadHome m_home;
};

}
