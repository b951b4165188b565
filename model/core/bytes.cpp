// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/bytes.h>

#include <array>
#include <bit>
#include <memory>

#include <zstd.h>

#if defined(__x86_64__)
#include <immintrin.h>

#include <telltale/core/processor.h>
#endif

namespace telltale {

static_assert(std::endian::native == std::endian::little, "Telltale's formats are little-endian");

namespace {

constexpr std::uint32_t kCastagnoli = 0x82F63B78u;

constexpr std::array<std::uint32_t, 256> makeTable()
{
    std::array<std::uint32_t, 256> table {};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit)
            c = (c & 1u) != 0 ? (c >> 1) ^ kCastagnoli : c >> 1;
        table[i] = c;
    }
    return table;
}
constexpr auto kTable = makeTable();

std::uint32_t crcPortable(const unsigned char* p, std::size_t n, std::uint32_t crc)
{
    for (std::size_t i = 0; i < n; ++i)
        crc = kTable[(crc ^ p[i]) & 0xFFu] ^ (crc >> 8);
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2,crc32"))) std::uint32_t crcHardware(
    const unsigned char* p, std::size_t n, std::uint32_t crc)
{
    std::uint64_t wide = crc;
    for (; n >= 8; p += 8, n -= 8) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    auto narrow = static_cast<std::uint32_t>(wide);
    for (; n > 0; ++p, --n)
        narrow = _mm_crc32_u8(narrow, *p);
    return narrow;
}

/// 16 elements of 4 bytes at a time: a 16 x 4 byte transposition in four registers.
void shuffle4(const char* in, std::size_t count, char* out)
{
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const auto* src = reinterpret_cast<const __m128i*>(in + i * 4);
        __m128i a = _mm_loadu_si128(src);
        __m128i b = _mm_loadu_si128(src + 1);
        __m128i c = _mm_loadu_si128(src + 2);
        __m128i d = _mm_loadu_si128(src + 3);
        const __m128i low = _mm_set1_epi32(0xFF);
        for (std::size_t byte = 0; byte < 4; ++byte) {
            const __m128i ab = _mm_packs_epi32(_mm_and_si128(a, low), _mm_and_si128(b, low));
            const __m128i cd = _mm_packs_epi32(_mm_and_si128(c, low), _mm_and_si128(d, low));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + byte * count + i), _mm_packus_epi16(ab, cd));
            a = _mm_srli_epi32(a, 8);
            b = _mm_srli_epi32(b, 8);
            c = _mm_srli_epi32(c, 8);
            d = _mm_srli_epi32(d, 8);
        }
    }
    for (; i < count; ++i) {
        for (std::size_t byte = 0; byte < 4; ++byte)
            out[byte * count + i] = in[i * 4 + byte];
    }
}

void unshuffle4(const char* in, std::size_t count, char* out)
{
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m128i b0 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
        const __m128i b1 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + count + i));
        const __m128i b2 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 2 * count + i));
        const __m128i b3 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * count + i));
        const __m128i lo01 = _mm_unpacklo_epi8(b0, b1);
        const __m128i hi01 = _mm_unpackhi_epi8(b0, b1);
        const __m128i lo23 = _mm_unpacklo_epi8(b2, b3);
        const __m128i hi23 = _mm_unpackhi_epi8(b2, b3);
        auto* dst = reinterpret_cast<__m128i*>(out + i * 4);
        _mm_storeu_si128(dst, _mm_unpacklo_epi16(lo01, lo23));
        _mm_storeu_si128(dst + 1, _mm_unpackhi_epi16(lo01, lo23));
        _mm_storeu_si128(dst + 2, _mm_unpacklo_epi16(hi01, hi23));
        _mm_storeu_si128(dst + 3, _mm_unpackhi_epi16(hi01, hi23));
    }
    for (; i < count; ++i) {
        for (std::size_t byte = 0; byte < 4; ++byte)
            out[i * 4 + byte] = in[byte * count + i];
    }
}

void unshuffle8(const char* in, std::size_t count, char* out)
{
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const auto bytes = [&](std::size_t byte) {
            return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + byte * count + i));
        };
        auto* dst = reinterpret_cast<__m128i*>(out + i * 8);
        const auto store = [&dst](__m128i low, __m128i high) { // four bytes of four numbers each, two numbers a store
            _mm_storeu_si128(dst++, _mm_unpacklo_epi32(low, high));
            _mm_storeu_si128(dst++, _mm_unpackhi_epi32(low, high));
        };
        const __m128i b0 = bytes(0), b1 = bytes(1), b2 = bytes(2), b3 = bytes(3);
        const __m128i b4 = bytes(4), b5 = bytes(5), b6 = bytes(6), b7 = bytes(7);
        const __m128i lo01 = _mm_unpacklo_epi8(b0, b1), hi01 = _mm_unpackhi_epi8(b0, b1);
        const __m128i lo23 = _mm_unpacklo_epi8(b2, b3), hi23 = _mm_unpackhi_epi8(b2, b3);
        const __m128i lo45 = _mm_unpacklo_epi8(b4, b5), hi45 = _mm_unpackhi_epi8(b4, b5);
        const __m128i lo67 = _mm_unpacklo_epi8(b6, b7), hi67 = _mm_unpackhi_epi8(b6, b7);
        store(_mm_unpacklo_epi16(lo01, lo23), _mm_unpacklo_epi16(lo45, lo67));
        store(_mm_unpackhi_epi16(lo01, lo23), _mm_unpackhi_epi16(lo45, lo67));
        store(_mm_unpacklo_epi16(hi01, hi23), _mm_unpacklo_epi16(hi45, hi67));
        store(_mm_unpackhi_epi16(hi01, hi23), _mm_unpackhi_epi16(hi45, hi67));
    }
    for (; i < count; ++i) {
        for (std::size_t byte = 0; byte < 8; ++byte)
            out[i * 8 + byte] = in[byte * count + i];
    }
}
#endif

struct CompressorDeleter {
    void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
};
struct DecompressorDeleter {
    void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
};

}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc)
{
    const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
#if defined(__x86_64__)
    if (processor().sse42)
        return ~crcHardware(p, bytes.size(), ~crc);
#endif
    return ~crcPortable(p, bytes.size(), ~crc);
}

void byteShuffle(std::string_view in, std::size_t width, std::string& out)
{
    out.resize(in.size());
    const std::size_t count = in.size() / width;
#if defined(__x86_64__)
    if (width == 4) {
        shuffle4(in.data(), count, out.data());
        return;
    }
#endif
    for (std::size_t byte = 0; byte < width; ++byte) {
        for (std::size_t i = 0; i < count; ++i)
            out[byte * count + i] = in[i * width + byte];
    }
}

void byteUnshuffleTo(std::string_view in, std::size_t width, char* out)
{
    const std::size_t count = in.size() / width;
#if defined(__x86_64__)
    if (width == 4) {
        unshuffle4(in.data(), count, out);
        return;
    }
    if (width == 8) {
        unshuffle8(in.data(), count, out);
        return;
    }
#endif
    for (std::size_t byte = 0; byte < width; ++byte) {
        for (std::size_t i = 0; i < count; ++i)
            out[i * width + byte] = in[byte * count + i];
    }
}

void byteUnshuffle(std::string_view in, std::size_t width, std::string& out)
{
    out.resize(in.size());
    byteUnshuffleTo(in, width, out.data());
}

void zstdAppend(std::string_view in, std::string& out, int level)
{
    thread_local std::unique_ptr<ZSTD_CCtx, CompressorDeleter> context { ZSTD_createCCtx() };
    const std::size_t start = out.size();
    out.resize(start + ZSTD_compressBound(in.size()));
    const std::size_t n
        = ZSTD_compressCCtx(context.get(), out.data() + start, out.size() - start, in.data(), in.size(), level);
    // With a buffer of ZSTD_compressBound bytes compression fails only when memory runs out.
    out.resize(ZSTD_isError(n) != 0 ? start : start + n);
}

Expected<void> zstdInto(std::string_view in, char* out, std::size_t decodedSize)
{
    thread_local std::unique_ptr<ZSTD_DCtx, DecompressorDeleter> context { ZSTD_createDCtx() };
    const std::size_t n = ZSTD_decompressDCtx(context.get(), out, decodedSize, in.data(), in.size());
    if (ZSTD_isError(n) != 0)
        return failure(ErrorCode::Damaged, std::string("compressed data is damaged (") + ZSTD_getErrorName(n) + ")");
    if (n != decodedSize)
        return failure(ErrorCode::Damaged, "compressed data has another size than stated");
    return {};
}

}
