// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/signfile.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <telltale/core/plaintext.h>
#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/mappedfile.h>

namespace telltale::exchange {
namespace {

constexpr std::size_t kMostElements = std::size_t { 1 } << 53;
constexpr std::size_t kLongestHead = 64u << 10;
constexpr std::size_t kLongestType = 60; ///< in a sentence

/// What stands behind 'key': in the text of a Python dict, up to the end of the value; empty: it is not there.
std::string_view entryOf(std::string_view dict, std::string_view key)
{
    const std::size_t at = dict.find(fmt::format("'{}'", key));
    const std::size_t colon = at == std::string_view::npos ? at : dict.find(':', at);
    if (colon == std::string_view::npos)
        return {};
    std::string_view rest = dict.substr(colon + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return rest.substr(0, rest.starts_with('(') ? rest.find(')') + 1 : rest.find_first_of(",}"));
}

/// The array's description in front of the elements, "{'descr': '|b1', ...}", and where they start.
std::pair<std::string_view, std::size_t> dictOf(std::string_view bytes)
{
    const auto at = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
    if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY") || at(6) < 1 || at(6) > 3)
        return {};
    const bool isShort = at(6) == 1;
    const std::size_t begin = isShort ? 10 : 12;
    const std::size_t size = at(8) | at(9) << 8 | (isShort ? 0 : at(10) << 16 | at(11) << 24);
    if (size > kLongestHead || bytes.size() < begin + size)
        return {};
    return { bytes.substr(begin, size), begin + size };
}

/// Where the elements lie whose index goes up from `first` in the order of the last index.
class Walk {
public:
    Walk(const SignFile& file, std::size_t first)
        : m_shape(file.shape)
        , m_index(file.shape.size())
        , m_strides(file.shape.size(), 1)
    {
        const std::size_t last = m_shape.size() - 1;
        for (std::size_t i = 1; i <= last && file.isFortran; ++i)
            m_strides[i] = m_strides[i - 1] * static_cast<std::size_t>(m_shape[i - 1]);
        for (std::size_t i = last; i > 0 && !file.isFortran; --i)
            m_strides[i - 1] = m_strides[i] * static_cast<std::size_t>(m_shape[i]);
        for (std::size_t i = m_shape.size(); i-- > 0; first /= static_cast<std::size_t>(m_shape[i])) {
            m_index[i] = first % static_cast<std::size_t>(m_shape[i]);
            m_at += m_index[i] * m_strides[i];
        }
    }
    std::size_t next()
    {
        const std::size_t here = m_at;
        for (std::size_t i = m_shape.size(); i-- > 0;) {
            m_at += m_strides[i];
            if (++m_index[i] < static_cast<std::size_t>(m_shape[i]))
                break;
            m_at -= m_index[i] * m_strides[i];
            m_index[i] = 0;
        }
        return here;
    }

private:
    const std::vector<std::int64_t>& m_shape;
    std::vector<std::size_t> m_index, m_strides;
    std::size_t m_at = 0;
};

}

Expected<SignFile> SignFile::open(const std::filesystem::path& path)
{
    const auto file = MappedFile::open(path);
    if (!file)
        return tl::unexpected<Error>(file.error());
    const auto [dict, start] = dictOf(file->bytes());
    const std::string_view dtype = entryOf(dict, "descr"), order = entryOf(dict, "fortran_order"),
                           shape = entryOf(dict, "shape");
    if (dtype.empty() || (order != "True" && order != "False") || !shape.starts_with('('))
        return failure(ErrorCode::Damaged, path.string() + " is no NumPy file that can be read");
    if (dtype != "'|b1'" && dtype != "'?'" && dtype != "'bool'")
        return failure(ErrorCode::BadInput,
            fmt::format("{} has elements of {}, and signs are bools", path.string(),
                terminalText(dtype.substr(0, kLongestType))));
    SignFile found { path, csvShape(shape), order == "True", start, 1 };
    for (const std::int64_t size : found.shape) {
        if (size > 0 && found.numel > kMostElements / static_cast<std::size_t>(size))
            return failure(ErrorCode::Damaged, path.string() + " has a shape that no array has");
        found.numel *= static_cast<std::size_t>(size);
    }
    const std::size_t right = start + found.numel;
    if (file->bytes().size() != right)
        return failure(ErrorCode::Damaged,
            fmt::format("{} is {}: {} bytes are right, and it has {}", path.string(),
                file->bytes().size() < right ? "cut off" : "longer than its head says", right, file->bytes().size()));
    return found;
}

Expected<std::string> SignFile::part(std::size_t first, std::size_t count) const
{
    const auto file = MappedFile::open(path);
    if (!file)
        return tl::unexpected<Error>(file.error());
    if (file->bytes().size() < start + numel || first + count > numel)
        return failure(ErrorCode::Damaged, path.string() + " became shorter while it was read");
    std::string document
        = fmt::format("{{\"shape\": [{}], \"first\": {}, \"count\": {}, \"order\": \"lowest bit first\"}}\n",
            fmt::join(shape, ", "), first, count);
    const std::size_t head = document.size();
    document.resize(head + (count + 7) / 8);
    const char* elements = file->bytes().data() + start;
    const auto put = [&](std::size_t i, bool isAbove) {
        document[head + i / 8] = static_cast<char>(document[head + i / 8] | (isAbove ? 1 << i % 8 : 0));
    };
    if (!isFortran || shape.size() < 2) {
        for (std::size_t i = 0; i < count; ++i)
            put(i, elements[first + i] != 0);
        return document;
    }
    if (count == 0)
        return document;
    Walk walk(*this, first);
    for (std::size_t i = 0; i < count; ++i)
        put(i, elements[walk.next()] != 0);
    return document;
}

}
