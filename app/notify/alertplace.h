// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace telltale::notify {

/// What a message on the desktop is about, for who clicks on it. Thread: any (a value).
struct AlertPlace {
    std::string locator {}; ///< RunLocator::text() of the run; "" = of none, as a test is
    std::int64_t incident = 0; ///< 0 = several
    bool operator==(const AlertPlace&) const = default;
};

}
