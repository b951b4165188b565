/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statistics kernel on NVIDIA cards: the same definitions (stats.h), queued on a stream of the caller's and never
 * waited for. By the driver's own interface (libcuda.so.1, opened when it is first asked for): no CUDA toolkit, and any
 * version of the framework that owns the tensors. Thread: any; of one stream, one at a time. */
#pragma once

#include <telltale/stats/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes card number `device` ready: takes up to a second (the driver compiles the kernels, once per machine), so not in
 * a hook. NULL, or a sentence that says why the card's tensors cannot be read this way. */
const char* tt_device_open(int device);

/* Queues the measurement of `count` tensors in the memory of `device` on `stream` (a CUstream of the primary context, 0
 * the default one). results[i] is memory that host and device share (pinned); it is written whole, flags included, once
 * the stream gets there, and not touched for an empty tensor. So is bins[i], the TT_BINS counts of tt_stats_bins();
 * `bins` or any bins[i] NULL: no histogram. 0; 1 where the stream is being captured into a graph,
 * which would replay the reading into memory that is long gone: nothing is queued; -1 where the device was not opened,
 * a dtype is unknown or the driver refuses (tt_device_trouble()): some of it may be queued. */
int tt_device_stats(int device, const tt_tensor* tensors, size_t count, double eps, tt_stats* const* results,
    uint64_t* const* bins, void* stream);

/* The same for one tensor, with its description as plain arguments. */
int tt_device_stats_tensor(int device, const void* data, uint64_t numel, uint32_t dtype, double eps, tt_stats* result,
    uint64_t* bins, void* stream);

/* Queues tt_sign_agreement() of pairs that are dense in the same order; results[i] as above. */
int tt_device_sign_agreement(
    int device, const tt_tensor* a, const tt_tensor* b, size_t count, double* const* results, void* stream);

/* A mark behind everything queued on the stream so far; NULL where the driver refuses. */
void* tt_device_mark(int device, void* stream);

/* 1 when the stream has passed the mark, which is then gone; 0 not yet; -1 when the device has failed: what was queued
 * before it never comes. */
int tt_device_passed(int device, void* mark);

/* What the driver last refused on this thread, as a sentence; "" when nothing. Valid until the thread's next call. */
const char* tt_device_trouble(void);

#ifdef __cplusplus
}
#endif
