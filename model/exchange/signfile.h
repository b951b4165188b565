// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>

namespace telltale::exchange {

/// A NumPy array of bools on disk, the signs of a gradient as grad_probe leaves them. Thread: any (a value).
struct SignFile {
    std::filesystem::path path;
    std::vector<std::int64_t> shape;
    bool isFortran = false; ///< the first index goes fastest
    std::size_t start = 0; ///< of the elements, a byte each
    std::size_t numel = 1;

    /// Reads the head, and looks whether the rest is there.
    static Expected<SignFile> open(const std::filesystem::path& path);
    /// `count` elements from `first` on in the order of the last index as a document of the kind grad_sign: a line of
    /// JSON, and one bit an element.
    Expected<std::string> part(std::size_t first, std::size_t count) const;
};

}
