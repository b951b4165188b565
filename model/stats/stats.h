/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one-pass statistics kernel: definitions and C ABI. No allocation beyond scratch, no exceptions: without memory or
 * threads the calling thread does it all. Thread: any; calls may run concurrently on different results. A forked child
 * may go on calling; it has no other threads. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers equal telltale::DType (model/core/samplebatch.h). */
typedef enum tt_dtype {
    TT_F32 = 1,
    TT_F64 = 2,
    TT_F16 = 3,
    TT_BF16 = 4,
    TT_I8 = 5,
    TT_U8 = 6,
    TT_I16 = 7,
    TT_I32 = 8,
    TT_I64 = 9,
    TT_BOOL = 10
} tt_dtype;

/* Added to a dtype: the checksum too. It costs where it is asked for. */
#define TT_WITH_CHECKSUM 0x100u

/* A dense tensor in host memory. A null pointer with numel 0 is an empty tensor. */
typedef struct tt_tensor {
    const void* data;
    uint64_t numel;
    uint32_t dtype; /* tt_dtype, with TT_WITH_CHECKSUM or without */
    uint32_t reserved; /* 0 */
} tt_tensor;

/* All of one pass. norm, mean, min, max, sum and sumsq are over the finite elements; without any (finite == 0) norm,
 * mean, min and max hold 0 and mean nothing. */
typedef struct tt_stats {
    double sum; /* of finite elements */
    double sumsq; /* of squares of finite elements */
    float norm; /* sqrt(sumsq), relative error <= 1e-6 against float64 */
    float mean; /* sum / finite */
    float min;
    float max;
    float zeros; /* share of all elements with |x| < eps, 0..1 */
    uint32_t flags; /* TT_STATS_* */
    uint64_t numel;
    uint64_t finite;
    uint64_t zero_count;
    uint64_t nans;
    uint64_t pos_infs;
    uint64_t neg_infs;
    uint64_t checksum; /* the elements' bits, read as signed integers of their width (TT_U8, TT_BOOL: unsigned), added
                        * up modulo 2^64: the same in any order, and another one after any single flipped bit */
} tt_stats;

#define TT_STATS_PRESENT 1u /* this entry was measured; the kernel sets it for every tensor with numel > 0 */
#define TT_STATS_CHECKSUM 2u /* checksum holds one */

#define TT_DEFAULT_EPS 1e-8

/* Fills results[i] for tensors[i], i < count, in one call. `threads` is an upper bound (0 = 1). The result is bitwise
 * the same for any thread count and instruction set level is fixed per process. Returns 0, or -1 for an unknown dtype
 * or a null pointer with numel > 0 (those entries get flags 0, the others are filled). */
int tt_stats_compute(const tt_tensor* tensors, size_t count, double eps, tt_stats* results, int threads);

/* A histogram's bins: signed, by the exponent; see octaveEdges() of model/core/histogram.h. */
#define TT_BINS 127
/* Their TT_BINS + 1 edges; the outer ones are infinite. */
const double* tt_stats_bin_edges(void);

/* The same with histograms, made while each block is still in the nearest cache: bins[i * TT_BINS ...] gets how many
 * elements of tensors[i] lie in each bin. Infinities lie in the outer ones, NaN in none. All counts of an entry that
 * was not measured are 0. */
int tt_stats_bins(const tt_tensor* tensors, size_t count, double eps, tt_stats* results, uint64_t* bins, int threads);
int tt_stats_tensor_bins(
    const void* data, uint64_t numel, uint32_t dtype, double eps, struct tt_stats* result, uint64_t* bins, int threads);

/* As tt_stats_compute() for one tensor, with its description as plain arguments: the cheapest form to call from another
 * language. */
int tt_stats_tensor(const void* data, uint64_t numel, uint32_t dtype, double eps, struct tt_stats* result, int threads);

/* The same for a tensor that is not dense: `shape` and `stride` (in elements, of `ndim` <= 64 dimensions) as torch has
 * them; strides may be 0 or negative. Elements are taken in the order of memory, so a permuted dense tensor gives the
 * same bits as its storage. On the calling thread alone, with 64 KiB of stack. -1 also for a shape that is none. */
int tt_stats_strided(const void* data, const int64_t* shape, const int64_t* stride, uint32_t ndim, uint32_t dtype,
    double eps, struct tt_stats* result);

/* out[i] = (mean(sign(a[i]) * sign(b[i])) + 1) / 2: 1 where all signs agree, 0 where all differ; an element with a zero
 * or a NaN in it counts as half. a[i] and b[i] have equally many elements of TT_F32, TT_F64, TT_F16 or TT_BF16, mixed
 * as they like. Exact, and the same for any thread count. An empty pair has no value: NaN. Returns 0, or -1 when a pair
 * is not like that (it gets NaN, the others are filled). */
int tt_sign_agreement(const tt_tensor* a, const tt_tensor* b, size_t count, double* out, int threads);

/* "avx512", "avx2", "portable": what dispatch chose for this process. */
const char* tt_stats_kernel_name(void);

/* What this process could not have, as a sentence to be told once (the results are right all the same); NULL when it
 * had everything. */
const char* tt_stats_trouble(void);

/* The definition itself, one element at a time in double with compensated sums: the oracle for tests, and the slow
 * path. */
int tt_stats_reference(const tt_tensor* tensor, double eps, tt_stats* result);

#ifdef __cplusplus
}
#endif
