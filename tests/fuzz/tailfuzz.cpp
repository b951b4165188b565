// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <telltale/store/layoutcodec.h>
#include <telltale/store/tailcodec.h>

using namespace telltale;
using namespace telltale::store;

namespace {

void require(bool holds)
{
    if (!holds)
        std::abort();
}

void checkTail(std::string_view bytes)
{
    bool isAny = false;
    const auto whole = decodeTail(bytes, [&isAny](const TailBlock& tail) {
        isAny = true;
        const auto& columns = tail.block.columns;
        const std::size_t series = columns.empty() ? 0 : columns.front().size();
        for (const Column& column : columns)
            require(column.size() == series);
        require(columns.empty() || tail.block.present.empty() || tail.block.present.size() == (series + 63) / 64);
    });
    require(whole.has_value() || (!isAny && !whole.error().what.empty()));
}

void checkLayout(std::string_view bytes)
{
    const auto layout = decodeLayout(bytes);
    if (!layout) {
        require(!layout.error().what.empty());
        return;
    }
    // The bytes are the layout's identity: there is one way to say it.
    require(encodeLayout(**layout) == bytes);
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // Blocks of zeros take megabytes of clearing for fifty bytes each: no more than an input's time allows.
    constexpr std::size_t kLongest = 2048;
    if (size > kLongest)
        return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    checkTail(bytes);
    checkLayout(bytes);
    decodeShape(bytes);
    return 0;
}
