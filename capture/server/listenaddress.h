// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <QHostAddress>

#include <telltale/core/expected.h>

namespace telltale::server {

/// Where to listen, as `--listen ADDR:PORT` writes it. Thread: any (a value).
struct ListenAddress {
    QHostAddress address { QHostAddress::LocalHost };
    std::uint16_t port = 0; ///< 0 = any free one

    /// "127.0.0.1:47800", "[::1]:0", "localhost:47800", "0.0.0.0:47800". Other host names are refused: which address
    /// they mean is not ours to guess.
    static Expected<ListenAddress> parse(std::string_view text);
    bool isLoopback() const { return address.isLoopback(); }
    /// "127.0.0.1:47800" or "[::1]:47800".
    std::string toString() const;
};

}
