// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/corpus.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace telltale::demo {
namespace {

constexpr std::size_t kMaxTextBytes = 256u << 20;

}

Expected<Corpus> Corpus::fromFile(const std::string& path, std::uint64_t seed, int window)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return failure(
            ErrorCode::BadInput, "cannot read " + path + ": " + std::strerror(errno), "name a text with --text");
    std::string text { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
    if (file.bad() || text.size() > kMaxTextBytes)
        return failure(ErrorCode::BadInput, path + " cannot be read whole or is over 256 MiB");
    auto corpus = fromText(text, seed, window);
    if (!corpus)
        return failure(corpus.error().code, path + ": " + corpus.error().what, corpus.error().todo);
    return corpus;
}

Expected<Corpus> Corpus::fromText(std::string_view text, std::uint64_t seed, int window)
{
    Corpus corpus;
    corpus.m_window = static_cast<std::size_t>(window);
    if (text.size() < corpus.m_window + 2) {
        return failure(ErrorCode::BadInput, "the text has " + std::to_string(text.size()) + " characters",
            "at least " + std::to_string(window + 2) + " are needed");
    }
    std::array<std::int64_t, 256> idOf {};
    idOf.fill(-1);
    for (const char c : text)
        idOf[static_cast<unsigned char>(c)] = 0;
    for (auto& id : idOf) {
        if (id == 0)
            id = corpus.m_vocabulary++;
    }
    corpus.m_ids.reserve(text.size());
    for (const char c : text)
        corpus.m_ids.push_back(idOf[static_cast<unsigned char>(c)]);
    corpus.m_random.seed(seed);
    return corpus;
}

std::vector<std::int64_t> Corpus::draw(int count)
{
    m_home.check();
    const std::size_t starts = m_ids.size() - m_window;
    std::vector<std::int64_t> out;
    out.reserve(static_cast<std::size_t>(count) * (m_window + 1));
    for (int i = 0; i < count; ++i) {
        // Modulo instead of uniform_int_distribution, whose results the standard leaves to the library.
        const auto start = static_cast<std::ptrdiff_t>(m_random() % starts);
        const auto first = m_ids.begin() + start;
        out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(m_window + 1));
    }
    return out;
}

}
