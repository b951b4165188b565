// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <openssl/ssl.h>

namespace telltale::agent {

/// sha256 of the peer's certificate (DER) in lower-case hex; empty without one. Thread: any.
std::string certificateFingerprint(SSL* connection);
/// Ignores case and colons.
bool isSameFingerprint(std::string_view a, std::string_view b);

}
