/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the device's kernels and those who launch them agree on. Read by C++ and, without any header of its own, by the
 * compiler for the device. */
#pragma once

/* The kernels' text is made for any card from Pascal on. */
#define TT_DEVICE_THREADS 256 /* of a block */
#define TT_DEVICE_BLOCKS 1024 /* most of one tensor: sums depend on the size of a tensor alone, not on the card */
#define TT_DEVICE_BLOCK_ELEMENTS 4096 /* what a block of a smaller tensor reads */
#define TT_DEVICE_TENSORS 64 /* most of one launch */
#define TT_DEVICE_BINS 127 /* TT_BINS of stats.h */

/* One tensor of a launch, or the left one of a pair. */
struct tt_device_job {
    const void* data;
    const void* other; /* the right one of a pair */
    void* result; /* tt_stats, or a double; in memory that device and host share */
    void* bins; /* unsigned long long[TT_DEVICE_BINS] there; null: no histogram is asked for */
    unsigned long long numel;
    unsigned int dtype; /* with TT_WITH_CHECKSUM or without */
    unsigned int other_dtype;
    unsigned int first_block; /* of the launch */
    unsigned int blocks;
};

struct tt_device_jobs {
    struct tt_device_job job[TT_DEVICE_TENSORS];
    double eps;
    float narrow_eps; /* smallest float >= eps */
    unsigned int count;
};

/* What one block found. */
struct tt_device_partial {
    double sum;
    double sumsq;
    double min;
    double max;
    unsigned long long zeros;
    unsigned long long nans;
    unsigned long long pos_infs;
    unsigned long long neg_infs;
    unsigned long long checksum;
};
