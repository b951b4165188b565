// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace telltale {

/// Zeros that take no memory before they are written, a page at a time. Does not move. Thread: its owner's; the bytes
/// are as any memory.
class ZeroPages {
public:
    /// Throws std::bad_alloc.
    explicit ZeroPages(std::size_t bytes);
    ~ZeroPages();
    ZeroPages(const ZeroPages&) = delete;
    ZeroPages& operator=(const ZeroPages&) = delete;

    std::byte* data() const { return m_data; }

private:
    const std::size_t m_bytes;
    std::byte* m_data = nullptr;
};

}
