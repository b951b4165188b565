// SPDX-License-Identifier: GPL-3.0-or-later
// The one-pass statistics and the sign agreement on an NVIDIA card. One read of each tensor; sums in double, in an
// order that depends on the tensor's size and alignment alone; results go straight to the host's memory.
//
// Compiled by makeptx.sh to devicekernel.ptx, which is kept so that building needs neither a card nor CUDA; the driver
// makes a program of it for the card that is there.
#include "devicekernel.h"

#include "devicebins.h"
#include "deviceelements.h"

#define KERNEL extern "C" __attribute__((global)) void __attribute__((launch_bounds(TT_DEVICE_THREADS)))
#define SHARED __attribute__((shared))

// What a block's threads share. Not internal to this file: of such variables the compiler believes to know all that
// writes them, and reads them ahead of the barriers.
extern "C" {
alignas(8) SHARED unsigned char telltale_shared[TT_DEVICE_THREADS / 32 * sizeof(tt_device_partial)];
SHARED bool telltale_is_last;
}

namespace {

using Partial = tt_device_partial;

constexpr U32 kThreads = TT_DEVICE_THREADS;

/// What one thread has read. Minimum and maximum stay in the type of the elements, counts in 32 bits. kIsFull: the
/// checksum too, and where they are asked for the bins.
template <typename T, bool kIsFull> struct Reading {
    using Wide = typename Widened<T>::Type;
    static constexpr bool kFull = kIsFull;
    Wide eps = 0; // below it lies what counts as zero
    double sum = 0;
    double sumsq = 0;
    Wide min = __builtin_inf();
    Wide max = -__builtin_inf();
    U32 zeros = 0;
    U32 nans = 0;
    U32 posInfs = 0;
    U32 negInfs = 0;
    long long checksum = 0;
    Column column; // of the bins

    /// An element that is known to be finite.
    DEVICE void addFinite(T element)
    {
        const Wide x = widened(element);
        const auto wide = static_cast<double>(x);
        sum += wide;
        sumsq += wide * wide;
        min = x < min ? x : min;
        max = x > max ? x : max;
        zeros += __builtin_elementwise_abs(x) < eps;
        addMore(element, x);
    }

    DEVICE void add(T element)
    {
        const Wide x = widened(element);
        if (isFinite(x)) {
            addFinite(element);
        } else {
            nans += x != x;
            posInfs += x > 0;
            negInfs += x < 0;
            addMore(element, x);
        }
    }

    DEVICE void addMore(T element, Wide x)
    {
        if constexpr (kIsFull) {
            checksum += integerOf(element);
            column.count(x);
        }
    }

    DEVICE Partial partial() const
    {
        return { sum, sumsq, static_cast<double>(min), static_cast<double>(max), zeros, nans, posInfs, negInfs,
            static_cast<U64>(checksum) };
    }
};

DEVICE void merge(Partial& into, const Partial& more)
{
    into.sum += more.sum;
    into.sumsq += more.sumsq;
    into.min = more.min < into.min ? more.min : into.min;
    into.max = more.max > into.max ? more.max : into.max;
    into.zeros += more.zeros;
    into.nans += more.nans;
    into.pos_infs += more.pos_infs;
    into.neg_infs += more.neg_infs;
    into.checksum += more.checksum;
}
DEVICE void merge(long long& into, long long more)
{
    into += more;
}

/// What the thread `down` places further on in the warp has.
template <typename Part> DEVICE Part below(const Part& part, U32 down)
{
    constexpr int kWords = sizeof(Part) / sizeof(U32);
    struct {
        int word[kWords];
    } out = bitsOf<decltype(out)>(part);
#pragma unroll
    for (int& word : out.word)
        word = __nvvm_shfl_sync_down_i32(0xFFFFFFFFU, word, static_cast<int>(down), 31);
    return bitsOf<Part>(out);
}

/// Everything of a block in its first thread, always in the same order. Every thread has something to give: where there
/// is nothing, what changes nothing.
template <typename Part> DEVICE void gather(Part& mine)
{
    constexpr U32 kWarp = 32;
    auto* const shared = reinterpret_cast<Part*>(telltale_shared);
    const U32 thread = __nvvm_read_ptx_sreg_tid_x();
#pragma unroll 1
    for (U32 down = kWarp / 2; down > 0; down /= 2)
        merge(mine, below(mine, down));
    if (thread % kWarp == 0)
        shared[thread / kWarp] = mine;
    __syncthreads();
    if (thread == 0) {
#pragma unroll 1
        for (U32 warp = 1; warp < kThreads / kWarp; ++warp)
            merge(mine, shared[warp]);
    }
    __syncthreads();
}

DEVICE Partial nothing(const Partial&)
{
    return Reading<double, false> {}.partial();
}
DEVICE long long nothing(long long)
{
    return 0;
}

/// This thread's share of a tensor.
template <typename T, typename Reading>
DEVICE void readShare(const T* data, U64 numel, U32 block, U32 blocks, Reading& reading)
{
    const U64 first = static_cast<U64>(block) * kThreads + __nvvm_read_ptx_sreg_tid_x();
    const U64 stride = static_cast<U64>(blocks) * kThreads;
#pragma unroll Reading::kFull ? 1 : 4
    for (U64 i = first; i < numel; i += stride)
        reading.add(data[i]);
}

/// The same, 16 bytes at a time between two ragged ends.
template <typename T, typename Reading>
DEVICE void readWideShare(const T* data, U64 numel, U32 block, U32 blocks, Reading& reading)
{
    constexpr U64 kWide = sizeof(Words) / sizeof(T);
    const U32 thread = __nvvm_read_ptx_sreg_tid_x();
    U64 head = (sizeof(Words) - reinterpret_cast<U64>(data) % sizeof(Words)) % sizeof(Words) / sizeof(T);
    head = head < numel ? head : numel;
    const U64 count = (numel - head) / kWide;
    const auto* words = reinterpret_cast<const Words*>(data + head);
    const U64 stride = static_cast<U64>(blocks) * kThreads;
    U64 i = static_cast<U64>(block) * kThreads + thread;
    const auto addAny = [&](auto x) { reading.add(x); };
#pragma unroll 1
    for (; i + 3 * stride < count; i += 4 * stride) {
        const Words four[4]
            = { load(words + i), load(words + i + stride), load(words + i + 2 * stride), load(words + i + 3 * stride) };
        if constexpr (Reading::kFull) { // so much to do with each that unrolling would only make the text longer
            Words one = four[0], next = four[1], third = four[2];
#pragma unroll 1
            for (int k = 0; k < 4; ++k) {
                forEach<T>(one, addAny);
                one = next;
                next = third;
                third = four[3];
            }
        } else if (areFinite<T>(four[0]) & areFinite<T>(four[1]) & areFinite<T>(four[2]) & areFinite<T>(four[3])) {
#pragma unroll
            for (const Words one : four)
                forEach<T>(one, [&](auto x) { reading.addFinite(x); });
        } else {
#pragma unroll 1
            for (int k = 0; k < 4; ++k)
                forEach<T>(load(words + i + k * stride), addAny);
        }
    }
#pragma unroll 1
    for (; i < count; i += stride)
        forEach<T>(load(words + i), addAny);
    if (block == 0) {
        if (thread < head)
            reading.add(data[thread]);
        const U64 rest = head + count * kWide + thread;
        if (rest < numel)
            reading.add(data[rest]);
    }
}

template <typename T, bool kIsFull>
DEVICE Partial read(const tt_device_job& job, double eps, float narrowEps, U32 block)
{
    using Wide = typename Widened<T>::Type;
    Reading<T, kIsFull> reading;
    reading.eps = sizeof(Wide) == sizeof(float) ? static_cast<Wide>(narrowEps) : static_cast<Wide>(eps);
    if constexpr (kIsFull)
        reading.column = Column(job.bins != nullptr);
    const auto* data = static_cast<const T*>(job.data);
    if constexpr (kIsUsual<T>)
        readWideShare(data, job.numel, block, job.blocks, reading);
    else
        readShare(data, job.numel, block, job.blocks, reading);
    return reading.partial();
}

template <bool kIsFull> DEVICE Partial read(const tt_device_job& job, double eps, float narrowEps, U32 block)
{
    switch (job.dtype & ~WITH_CHECKSUM) {
    case F32:
        return read<float, kIsFull>(job, eps, narrowEps, block);
    case F64:
        return read<double, kIsFull>(job, eps, narrowEps, block);
    case F16:
        return read<Half, kIsFull>(job, eps, narrowEps, block);
    case BF16:
        return read<BFloat, kIsFull>(job, eps, narrowEps, block);
    case I8:
        return read<signed char, kIsFull>(job, eps, narrowEps, block);
    case U8:
        return read<unsigned char, kIsFull>(job, eps, narrowEps, block);
    case I16:
        return read<short, kIsFull>(job, eps, narrowEps, block);
    case I32:
        return read<int, kIsFull>(job, eps, narrowEps, block);
    case I64:
        return read<long long, kIsFull>(job, eps, narrowEps, block);
    default:
        return read<Boolean, kIsFull>(job, eps, narrowEps, block);
    }
}

/// struct tt_stats of stats.h.
struct Stats {
    double sum;
    double sumsq;
    float norm;
    float mean;
    float min;
    float max;
    float zeros;
    U32 flags;
    U64 numel;
    U64 finite;
    U64 zeroCount;
    U64 nans;
    U64 posInfs;
    U64 negInfs;
    U64 checksum;
};
static_assert(sizeof(Stats) == 96, "as the host has it");

/// Inf would say that an element was infinite: a finite value beyond float's range becomes its largest finite one.
DEVICE float toFloat(double x)
{
    constexpr double kMost = 3.4028234663852886e38;
    return static_cast<float>(x > kMost ? kMost : x < -kMost ? -kMost : x);
}

DEVICE void publish(const tt_device_job& job, const Partial& all)
{
    Stats out = {};
    out.numel = job.numel;
    out.nans = all.nans;
    out.posInfs = all.pos_infs;
    out.negInfs = all.neg_infs;
    out.finite = job.numel - all.nans - all.pos_infs - all.neg_infs;
    out.zeroCount = all.zeros;
    out.zeros = static_cast<float>(static_cast<double>(all.zeros) / static_cast<double>(job.numel));
    if (out.finite > 0) {
        out.sum = all.sum;
        out.sumsq = all.sumsq;
        out.norm = toFloat(__nvvm_sqrt_rn_d(all.sumsq));
        out.mean = toFloat(all.sum / static_cast<double>(out.finite));
        out.min = toFloat(all.min);
        out.max = toFloat(all.max);
    }
    out.flags = 1; // TT_STATS_PRESENT
    if (job.dtype & WITH_CHECKSUM) {
        out.checksum = all.checksum;
        out.flags |= 2; // TT_STATS_CHECKSUM
    }
    *static_cast<Stats*>(job.result) = out;
}

/// 1, 0 or -1; NaN has no sign.
template <typename T> DEVICE int signOf(T x)
{
    const auto wide = widened(x);
    return wide > 0 ? 1 : wide < 0 ? -1 : 0;
}

/// The sign of one element, whatever float it is.
DEVICE int signAt(const void* data, U32 dtype, U64 i)
{
    switch (dtype) {
    case F32:
        return signOf(static_cast<const float*>(data)[i]);
    case F64:
        return signOf(static_cast<const double*>(data)[i]);
    case F16:
        return signOf(static_cast<const Half*>(data)[i]);
    default:
        return signOf(static_cast<const BFloat*>(data)[i]);
    }
}

DEVICE long long agree(const tt_device_job& job, U32 block)
{
    long long sum = 0;
    const U64 stride = static_cast<U64>(job.blocks) * kThreads;
    for (U64 i = static_cast<U64>(block) * kThreads + __nvvm_read_ptx_sreg_tid_x(); i < job.numel; i += stride)
        sum += signAt(job.data, job.dtype, i) * signAt(job.other, job.other_dtype, i);
    return sum;
}

DEVICE void publish(const tt_device_job& job, long long sum)
{
    *static_cast<double*>(job.result) = (static_cast<double>(sum) / static_cast<double>(job.numel) + 1) / 2;
}

using Parameter = const __attribute__((address_space(101))) tt_device_jobs; // where a launch's parameters lie

/// Which tensor of the launch a block works for. The parameter is read where it lies: a thread that takes its address
/// in C++ gets a copy of all of it.
DEVICE tt_device_job jobOf(Parameter* jobs, U32 block, U32& number)
{
    number = 0;
    while (number + 1 < jobs->count && block >= jobs->job[number + 1].first_block)
        ++number;
    const auto& job = jobs->job[number];
    return { job.data, job.other, job.result, job.bins, job.numel, job.dtype, job.other_dtype, job.first_block, job.blocks };
}
#define PARAMETER_OF(kernel)                                                                                           \
    ({                                                                                                                 \
        U64 address;                                                                                                   \
        asm("mov.b64 %0, " #kernel "_param_0;" : "=l"(address));                                                       \
        reinterpret_cast<Parameter*>(address);                                                                         \
    })

/// The last block of a tensor to come takes all of them together; whether this is it. `tickets` has one count a tensor,
/// 0 between launches.
template <typename Part>
DEVICE bool finish(const tt_device_job& job, Part mine, Part* partials, U32* tickets, U32 number, U32 block)
{
    gather(mine);
    const U32 thread = __nvvm_read_ptx_sreg_tid_x();
    Part* const parts = partials + job.first_block;
    if (thread == 0) {
        parts[block] = mine;
        __nvvm_membar_gl();
        telltale_is_last = __nvvm_atom_inc_gen_ui(tickets + number, job.blocks - 1) == job.blocks - 1;
    }
    __syncthreads();
    if (!telltale_is_last)
        return false;
    __nvvm_membar_gl();
    Part all = nothing(mine);
    for (U32 i = thread; i < job.blocks; i += kThreads)
        merge(all, parts[i]);
    gather(all);
    if (thread == 0)
        publish(job, all);
    return true;
}

}

KERNEL telltale_stats(tt_device_jobs, Partial* partials, U32* tickets)
{
    Parameter* const jobs = PARAMETER_OF(telltale_stats);
    U32 number;
    const U32 of = __nvvm_read_ptx_sreg_ctaid_x();
    const tt_device_job job = jobOf(jobs, of, number);
    const U32 block = of - job.first_block;
    finish(job, read<false>(job, jobs->eps, jobs->narrow_eps, block), partials, tickets, number, block);
}

/// The same with checksums and histograms. `counts` has TT_DEVICE_BINS a tensor, 0 between launches.
KERNEL telltale_full_stats(tt_device_jobs, Partial* partials, U32* tickets, U64* counts)
{
    Parameter* const jobs = PARAMETER_OF(telltale_full_stats);
    U32 number;
    const U32 of = __nvvm_read_ptx_sreg_ctaid_x();
    const tt_device_job job = jobOf(jobs, of, number);
    const U32 block = of - job.first_block;
    U64* const own = counts + number * TT_DEVICE_BINS;
    if (job.bins)
        clearBins();
    const Partial mine = read<true>(job, jobs->eps, jobs->narrow_eps, block);
    if (job.bins)
        addBins(own);
    if (finish(job, mine, partials, tickets, number, block) && job.bins)
        takeBins(own, static_cast<U64*>(job.bins));
}

KERNEL telltale_sign_agreement(tt_device_jobs, long long* partials, U32* tickets)
{
    U32 number;
    const U32 of = __nvvm_read_ptx_sreg_ctaid_x();
    const tt_device_job job = jobOf(PARAMETER_OF(telltale_sign_agreement), of, number);
    const U32 block = of - job.first_block;
    finish(job, agree(job, block), partials, tickets, number, block);
}
