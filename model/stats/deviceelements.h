/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tensor's elements on a device: what their bits say, and how they are read. For devicekernel.cu alone. */
#pragma once

#define DEVICE __attribute__((device, always_inline)) inline

namespace {

using U16 = unsigned short;
using U32 = unsigned int;
using U64 = unsigned long long;

// tt_dtype of stats.h
enum DType : U32 { F32 = 1, F64, F16, BF16, I8, U8, I16, I32, I64, BOOL };
constexpr U32 WITH_CHECKSUM = 0x100; // TT_WITH_CHECKSUM

struct Half {
    U16 bits;
};
struct BFloat {
    U16 bits;
};
struct Boolean {
    unsigned char bits;
};

template <typename To, typename From> DEVICE To bitsOf(From from)
{
    To to;
    static_assert(sizeof to == sizeof from, "bits have one width");
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

/// An element in the narrowest type that holds it exactly.
template <typename T> struct Widened {
    using Type = float;
};
template <> struct Widened<double> {
    using Type = double;
};
template <> struct Widened<int> {
    using Type = double;
};
template <> struct Widened<long long> {
    using Type = double;
};

template <typename T> DEVICE typename Widened<T>::Type widened(T x)
{
    return static_cast<typename Widened<T>::Type>(x);
}
DEVICE float widened(BFloat x)
{
    return bitsOf<float>(static_cast<U32>(x.bits) << 16);
}
DEVICE float widened(Boolean x)
{
    return x.bits != 0 ? 1.0F : 0.0F;
}
DEVICE float widened(Half x)
{
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(x.bits));
    return out;
}

/// The integer that an element's bits are read as in a checksum (checksumblock.h).
template <typename T> DEVICE long long integerOf(T x)
{
    return x;
}
DEVICE long long integerOf(float x)
{
    return bitsOf<int>(x);
}
DEVICE long long integerOf(double x)
{
    return bitsOf<long long>(x);
}
DEVICE long long integerOf(Half x)
{
    return static_cast<short>(x.bits);
}
DEVICE long long integerOf(BFloat x)
{
    return static_cast<short>(x.bits);
}
DEVICE long long integerOf(Boolean x)
{
    return x.bits;
}

DEVICE bool isFinite(float x)
{
    return (bitsOf<U32>(x) & 0x7F800000U) != 0x7F800000U;
}
DEVICE bool isFinite(double x)
{
    return (bitsOf<U64>(x) & 0x7FF0000000000000ULL) != 0x7FF0000000000000ULL;
}

/// What trainings are made of is read in wide loads; with all types the kernels' text would be ten times as long.
template <typename T> constexpr bool kIsUsual = false;
template <> constexpr bool kIsUsual<float> = true;
template <> constexpr bool kIsUsual<Half> = true;
template <> constexpr bool kIsUsual<BFloat> = true;

template <typename T> constexpr U32 kExponentOf = 0;
template <> constexpr U32 kExponentOf<Half> = 0x7C00;
template <> constexpr U32 kExponentOf<BFloat> = 0x7F80;

using Words = U32 __attribute__((ext_vector_type(4)));

/// 16 bytes that nobody writes meanwhile. An instruction of its own: the compiler would put off each load until its
/// elements are looked at, and all would wait in turn.
DEVICE Words load(const Words* from)
{
    Words out;
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "l"(from));
    return out;
}

/// The elements of a word, and whether all of them are finite.
template <typename T> struct Word {
    static constexpr int kElements = 2;
    static constexpr U32 kExponent = kExponentOf<T>;
    U32 bits;
    DEVICE T element(int i) const { return T { static_cast<U16>(i == 0 ? bits : bits >> 16) }; }
    DEVICE bool isFinite() const { return (bits & kExponent) != kExponent && (bits >> 16 & kExponent) != kExponent; }
};
template <> struct Word<float> {
    static constexpr int kElements = 1;
    U32 bits;
    DEVICE float element(int) const { return bitsOf<float>(bits); }
    DEVICE bool isFinite() const { return (bits & 0x7F800000U) != 0x7F800000U; }
};

template <typename T> DEVICE bool areFinite(Words words)
{
    bool out = true;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        out &= Word<T> { words[i] }.isFinite();
    return out;
}

/// Calls visit() with the elements of four words.
template <typename T, typename Visit> DEVICE void forEach(Words words, const Visit& visit)
{
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int k = 0; k < Word<T>::kElements; ++k)
            visit(Word<T> { words[i] }.element(k));
    }
}

}
