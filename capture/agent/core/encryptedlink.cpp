// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/websocketlink.h>

namespace telltale::agent {

template class WebSocketLink<EncryptedStream>;

}
