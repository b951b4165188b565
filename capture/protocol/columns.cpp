// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/columns.h>

#include <algorithm>
#include <cstring>

#include <telltale/core/bytes.h>

namespace telltale::protocol {
namespace {

enum Plane : unsigned { kZero = 0, kRaw = 1, kZstd = 2, kConstant = 3 };

/// Below this size zstd's own header eats what it saves.
constexpr std::size_t kWorthCompressing = 24;

tl::unexpected<Error> damaged()
{
    return failure(ErrorCode::Damaged, "a column of the batch is damaged");
}

void putVarint(std::string& out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out.push_back(static_cast<char>(value | 0x80u));
    out.push_back(static_cast<char>(value));
}

bool takeVarint(std::string_view& in, std::uint64_t& value)
{
    value = 0;
    for (unsigned i = 0; i < 10 && i < in.size(); ++i) {
        const auto byte = static_cast<unsigned char>(in[i]);
        if (i == 9 && byte > 1)
            return false;
        value |= static_cast<std::uint64_t>(byte & 0x7Fu) << (7 * i);
        if (byte < 0x80) {
            in.remove_prefix(i + 1);
            return true;
        }
    }
    return false;
}

bool takeBytes(std::string_view& in, std::size_t n, std::string_view& out)
{
    if (in.size() < n)
        return false;
    out = in.substr(0, n);
    in.remove_prefix(n);
    return true;
}

unsigned encodePlane(std::string_view plane, std::string& out)
{
    if (std::memcmp(plane.data(), plane.data() + 1, plane.size() - 1) == 0) {
        if (plane[0] == 0)
            return kZero;
        out.push_back(plane[0]);
        return kConstant;
    }
    if (plane.size() >= kWorthCompressing) {
        thread_local std::string frame;
        frame.clear();
        zstdAppend(plane, frame, 1);
        if (!frame.empty() && frame.size() + 3 < plane.size()) {
            putVarint(out, frame.size());
            out.append(frame);
            return kZstd;
        }
    }
    out.append(plane);
    return kRaw;
}

Expected<void> decodePlane(unsigned code, std::string_view& in, std::span<char> plane)
{
    std::string_view part;
    switch (code) {
    case kZero:
        std::memset(plane.data(), 0, plane.size());
        return {};
    case kRaw:
        if (!takeBytes(in, plane.size(), part))
            return damaged();
        std::memcpy(plane.data(), part.data(), part.size());
        return {};
    case kConstant:
        if (!takeBytes(in, 1, part))
            return damaged();
        std::memset(plane.data(), static_cast<unsigned char>(part[0]), plane.size());
        return {};
    default: {
        std::uint64_t length = 0;
        if (!takeVarint(in, length) || length > in.size() || !takeBytes(in, static_cast<std::size_t>(length), part))
            return damaged();
        return zstdInto(part, plane.data(), plane.size());
    }
    }
}

}

void xorSteps(std::string& words, std::size_t stepBytes)
{
    for (std::size_t at = words.size(); at > stepBytes && stepBytes > 0;) {
        at -= stepBytes;
        char* now = words.data() + at;
        const char* before = now - stepBytes;
        for (std::size_t i = 0; i < stepBytes; ++i)
            now[i] = static_cast<char>(now[i] ^ before[i]);
    }
}

void encodePlanes(std::string_view words, std::size_t width, std::string& out)
{
    const std::size_t count = words.size() / width;
    if (count == 0 || std::all_of(words.begin(), words.end(), [](char c) { return c == 0; }))
        return;
    thread_local std::string planes;
    byteShuffle(words, width, planes);
    const std::size_t header = out.size();
    out.append((width + 3) / 4, '\0');
    for (std::size_t i = 0; i < width; ++i) {
        const unsigned code = encodePlane(std::string_view(planes).substr(i * count, count), out);
        char& codes = out[header + i / 4];
        codes = static_cast<char>(static_cast<unsigned char>(codes) | (code << (2 * (i % 4))));
    }
}

Expected<void> decodePlanes(std::string_view encoded, std::size_t width, std::span<char> words)
{
    if (encoded.empty()) {
        std::fill(words.begin(), words.end(), '\0');
        return {};
    }
    const std::size_t count = words.size() / width;
    std::string_view codes;
    if (count == 0 || !takeBytes(encoded, (width + 3) / 4, codes))
        return damaged();
    thread_local std::string planes;
    if (planes.size() < words.size())
        planes.resize(words.size());
    for (std::size_t i = 0; i < width; ++i) {
        const unsigned code = (static_cast<unsigned char>(codes[i / 4]) >> (2 * (i % 4))) & 3u;
        if (auto done = decodePlane(code, encoded, { planes.data() + i * count, count }); !done)
            return done;
    }
    if (!encoded.empty())
        return damaged();
    byteUnshuffleTo(std::string_view(planes).substr(0, words.size()), width, words.data());
    return {};
}

void encodeVarints(std::span<const std::uint64_t> values, std::string& out)
{
    if (std::all_of(values.begin(), values.end(), [](std::uint64_t v) { return v == 0; }))
        return;
    thread_local std::string varints;
    thread_local std::string frame;
    varints.clear();
    frame.clear();
    for (const std::uint64_t value : values)
        putVarint(varints, value);
    if (varints.size() >= kWorthCompressing)
        zstdAppend(varints, frame, 1);
    const bool isCompressed = !frame.empty() && frame.size() + 3 < varints.size();
    out.push_back(static_cast<char>(isCompressed ? kZstd : kRaw));
    if (isCompressed)
        putVarint(out, varints.size());
    out.append(isCompressed ? frame : varints);
}

Expected<void> decodeVarints(std::string_view encoded, std::span<std::uint64_t> values)
{
    if (encoded.empty()) {
        std::fill(values.begin(), values.end(), std::uint64_t { 0 });
        return {};
    }
    const auto code = static_cast<unsigned char>(encoded[0]);
    encoded.remove_prefix(1);
    thread_local std::string varints;
    if (code == kZstd) {
        std::uint64_t size = 0;
        if (!takeVarint(encoded, size) || size < values.size() || size > 10 * values.size())
            return damaged();
        varints.resize(static_cast<std::size_t>(size));
        if (auto done = zstdInto(encoded, varints.data(), varints.size()); !done)
            return done;
        encoded = varints;
    } else if (code != kRaw) {
        return damaged();
    }
    for (std::uint64_t& value : values) {
        if (!takeVarint(encoded, value))
            return damaged();
    }
    if (!encoded.empty())
        return damaged();
    return {};
}

}
