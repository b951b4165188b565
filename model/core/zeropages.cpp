// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/zeropages.h>

#include <algorithm>
#include <new>

#include <sys/mman.h>

namespace telltale {

ZeroPages::ZeroPages(std::size_t bytes)
    : m_bytes(std::max<std::size_t>(bytes, 1))
{
    void* memory = ::mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw std::bad_alloc();
    m_data = static_cast<std::byte*>(memory);
    // A huge page would bring two megabytes for the first byte. Without them it merely takes more memory.
    (void)::madvise(memory, m_bytes, MADV_NOHUGEPAGE);
}

ZeroPages::~ZeroPages()
{
    ::munmap(m_data, m_bytes);
}

}
