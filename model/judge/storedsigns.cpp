// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/storedsigns.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include <nlohmann/json.hpp>

namespace telltale::judge {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t { 1 } << 40; ///< of one gradient

tl::unexpected<Error> notWhole()
{
    return failure(ErrorCode::Damaged, "the stored signs of a gradient are not whole");
}

/// Adds a document, a line of JSON and the bits behind it, to those before it.
Expected<void> append(const std::string& document, StoredSigns::Bits& bits)
{
    const std::size_t end = document.find('\n');
    const nlohmann::json head = end == std::string::npos
        ? nlohmann::json()
        : nlohmann::json::parse(document.data(), document.data() + end, nullptr, false);
    const auto number = [&head](const char* name) {
        const auto found = head.is_object() ? head.find(name) : head.end();
        return head.is_object() && found != head.end() && found->is_number_unsigned() ? found->get<std::uint64_t>()
                                                                                      : kMostElements;
    };
    const std::uint64_t first = number("first");
    const std::uint64_t count = number("count");
    const std::size_t size = end == std::string::npos ? 0 : document.size() - end - 1;
    if (first >= kMostElements || count >= kMostElements || size != (count + 7) / 8 || !head.contains("shape"))
        return notWhole();
    if (first == 0) {
        bits = {};
        for (const nlohmann::json& extent : head["shape"]) {
            if (!extent.is_number_unsigned())
                return notWhole();
            bits.shape.push_back(extent.get<std::uint64_t>());
        }
    }
    // What follows another document begins at a whole byte: only the last one of a gradient may end inside of one.
    if (first != bits.count || first % 8 != 0)
        return notWhole();
    bits.bytes.insert(bits.bytes.end(), document.begin() + static_cast<std::ptrdiff_t>(end) + 1, document.end());
    bits.count += count;
    return {};
}

}

Expected<StoredSigns> StoredSigns::of(store::RunReader& reader)
{
    const auto found = reader.documents("grad_sign");
    if (!found)
        return tl::unexpected(found.error());
    StoredSigns signs;
    for (const store::DocumentInfo& one : *found) {
        signs.m_documents[{ one.rank, one.name, one.step }].push_back(one.id);
        signs.m_steps = signs.m_steps.isEmpty()
            ? StepRange { one.step, one.step }
            : StepRange { std::min(signs.m_steps.first, one.step), std::max(signs.m_steps.last, one.step) };
    }
    return signs;
}

Expected<StoredSigns::Bits> StoredSigns::read(store::RunReader& reader, const std::vector<std::int64_t>& documents)
{
    Bits bits;
    for (const std::int64_t id : documents) {
        const auto document = reader.document(id);
        if (!document)
            return tl::unexpected(document.error());
        if (auto done = append(*document, bits); !done)
            return tl::unexpected(done.error());
    }
    const std::uint64_t whole
        = std::accumulate(bits.shape.begin(), bits.shape.end(), std::uint64_t { 1 }, std::multiplies<>());
    if (bits.count != whole)
        return notWhole();
    return bits;
}

}
