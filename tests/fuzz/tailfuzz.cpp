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
    // What a reader has no layout for is passed over.
    const auto isWanted = [](const TailBlock& head) { return head.series * head.stats <= 4096; };
    const auto whole = decodeTail(bytes, isWanted, [&](const TailBlock& tail) {
        isAny = true;
        require(isWanted(tail));
        const auto& columns = tail.block.columns;
        require(columns.size() == tail.stats);
        for (const Column& column : columns)
            require(column.size() == tail.series);
        require(tail.block.present.empty() || tail.block.present.size() == (tail.series + 63) / 64);
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
    // The bytes are the layout's identity: there is one way to say it. Those of earlier versions are said anew.
    const std::string said = encodeLayout(**layout);
    require(said == bytes || (said.front() != bytes.front() && **decodeLayout(said) == **layout));
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr std::size_t kLongest = 64 << 10;
    if (size > kLongest)
        return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    checkTail(bytes);
    checkLayout(bytes);
    decodeShape(bytes);
    return 0;
}
