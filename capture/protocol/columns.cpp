// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/columns.h>

#include <algorithm>
#include <bit>
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

void encodePlanes(std::string_view planes, std::size_t number, std::string& out)
{
    const std::size_t size = planes.size() / number;
    const std::size_t header = out.size();
    out.append((number + 3) / 4, '\0');
    for (std::size_t i = 0; i < number; ++i) {
        const unsigned code = encodePlane(planes.substr(i * size, size), out);
        char& codes = out[header + i / 4];
        codes = static_cast<char>(static_cast<unsigned char>(codes) | (code << (2 * (i % 4))));
    }
}

Expected<void> decodePlanes(std::string_view encoded, std::size_t number, std::span<char> planes)
{
    const std::size_t size = planes.size() / number;
    std::string_view codes;
    if (!takeBytes(encoded, (number + 3) / 4, codes))
        return damaged();
    for (std::size_t i = 0; i < number; ++i) {
        const unsigned code = (static_cast<unsigned char>(codes[i / 4]) >> (2 * (i % 4))) & 3u;
        if (auto done = decodePlane(code, encoded, planes.subspan(i * size, size)); !done)
            return done;
    }
    return encoded.empty() ? Expected<void> {} : damaged();
}

enum class Difference : unsigned char { None = 0, Xor = 1, Delta = 2, NoneInOneFrame = 3 };

template <typename Word> Word zigzag(Word now, Word before)
{
    const auto delta = static_cast<Word>(now - before);
    const auto sign = static_cast<Word>(0 - (delta >> (8 * sizeof(Word) - 1)));
    return static_cast<Word>(static_cast<Word>(delta << 1) ^ sign);
}

template <typename Word> Word unzigzag(Word value)
{
    return static_cast<Word>((value >> 1) ^ static_cast<Word>(0 - (value & 1)));
}

template <typename Word> Word wordAt(const std::string& words, std::size_t i)
{
    Word value;
    std::memcpy(&value, words.data() + i * sizeof(Word), sizeof(Word));
    return value;
}

/// Chooses the difference that leaves the fewest significant bits and applies it in place.
template <typename Word> Difference subtractSteps(std::string& words, std::size_t steps)
{
    const std::size_t count = words.size() / sizeof(Word);
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < count; ++i)
        zeros += wordAt<Word>(words, i) == 0 ? 1 : 0;
    // Where zeros come and go, differences only spread the noise.
    if (sizeof(Word) > 1 && zeros * 4 > count)
        return Difference::NoneInOneFrame;
    const std::size_t perStep = count / steps;
    if (steps < 2)
        return Difference::None;
    std::size_t xorBits = 0;
    std::size_t deltaBits = 0;
    for (std::size_t i = perStep; i < count; ++i) {
        const auto now = wordAt<Word>(words, i);
        const auto before = wordAt<Word>(words, i - perStep);
        xorBits += static_cast<std::size_t>(std::bit_width(static_cast<Word>(now ^ before)));
        deltaBits += static_cast<std::size_t>(std::bit_width(zigzag(now, before)));
    }
    const bool isDelta = deltaBits < xorBits;
    for (std::size_t i = count; i-- > perStep;) {
        const auto now = wordAt<Word>(words, i);
        const auto before = wordAt<Word>(words, i - perStep);
        const Word difference = isDelta ? zigzag(now, before) : static_cast<Word>(now ^ before);
        std::memcpy(words.data() + i * sizeof(Word), &difference, sizeof(Word));
    }
    return isDelta ? Difference::Delta : Difference::Xor;
}

template <typename Word> void addSteps(std::span<char> words, std::size_t steps, Difference difference)
{
    if (difference != Difference::Xor && difference != Difference::Delta)
        return;
    const std::size_t stepBytes = words.size() / steps;
    for (std::size_t at = stepBytes; at < words.size(); at += stepBytes) {
        char* const now = words.data() + at;
        const char* const before = now - stepBytes;
        for (std::size_t i = 0; i < stepBytes; i += sizeof(Word)) {
            Word value;
            Word base;
            std::memcpy(&value, now + i, sizeof(Word));
            std::memcpy(&base, before + i, sizeof(Word));
            value = difference == Difference::Xor ? static_cast<Word>(value ^ base)
                                                  : static_cast<Word>(base + unzigzag(value));
            std::memcpy(now + i, &value, sizeof(Word));
        }
    }
}

}

void encodeWords(std::string& words, std::size_t width, std::size_t steps, std::string& out)
{
    if (std::all_of(words.begin(), words.end(), [](char c) { return c == 0; }))
        return;
    Difference difference = Difference::None;
    switch (width) {
    case 4:
        difference = subtractSteps<std::uint32_t>(words, steps);
        break;
    case 8:
        difference = subtractSteps<std::uint64_t>(words, steps);
        break;
    default:
        difference = subtractSteps<std::uint8_t>(words, steps);
        break;
    }
    out.push_back(static_cast<char>(difference));
    thread_local std::string planes;
    byteShuffle(words, width, planes);
    if (difference == Difference::NoneInOneFrame)
        encodePlanes(planes, 1, out);
    else
        encodePlanes(planes, width, out);
}

Expected<void> decodeWords(std::string_view encoded, std::size_t width, std::size_t steps, std::span<char> words)
{
    if (encoded.empty()) {
        std::fill(words.begin(), words.end(), '\0');
        return {};
    }
    const auto difference = static_cast<unsigned char>(encoded[0]);
    if (words.empty() || difference > static_cast<unsigned>(Difference::NoneInOneFrame))
        return damaged();
    thread_local std::string planes;
    if (planes.size() < words.size())
        planes.resize(words.size());
    const std::span<char> used { planes.data(), words.size() };
    const bool isOneFrame = difference == static_cast<unsigned>(Difference::NoneInOneFrame);
    if (auto done = decodePlanes(encoded.substr(1), isOneFrame ? 1 : width, used); !done)
        return done;
    byteUnshuffleTo({ used.data(), used.size() }, width, words.data());
    switch (width) {
    case 4:
        addSteps<std::uint32_t>(words, steps, static_cast<Difference>(difference));
        break;
    case 8:
        addSteps<std::uint64_t>(words, steps, static_cast<Difference>(difference));
        break;
    default:
        addSteps<std::uint8_t>(words, steps, static_cast<Difference>(difference));
        break;
    }
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
