/* SPDX-License-Identifier: GPL-3.0-or-later */
/**
 * libtelltale_reader.so: runs read from other languages, by the code that the desktop reads them with: any format back
 * to 1, checked sums, damage that is said, runs that are being recorded. Nothing is ever written.
 *
 * Texts are UTF-8. A function that fails gives NULL or 0, and tr_error() of its run says why and what to do. One run is
 * used by one thread at a time; different ones by any.
 */
#ifndef TELLTALE_READER_H
#define TELLTALE_READER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TR_READER_ABI 1

#ifdef TR_READER_BUILD
#define TR_API __attribute__((visibility("default")))
#else
#define TR_API
#endif

typedef struct tr_run tr_run;
typedef struct tr_frame tr_frame;

/** TR_READER_ABI of the library. */
TR_API uint32_t tr_abi_version(void);

/** A run by its path, or by its id (or the beginning of one) in a data directory; NULL there is the user's own. What
 * is wrong is written to `why`. */
TR_API tr_run* tr_open(const char* run, const char* data_dir, char* why, size_t length);
TR_API void tr_close(tr_run*);
/** Why the last function failed; valid until the next one of this run. */
TR_API const char* tr_error(const tr_run*);

/* Each gives a JSON document as it is now, which tr_free() frees. */

/** {"path", "id", "name", "created_ns", "first_step", "last_step", "durable_step", "state", "sources": [{"rank",
 * "attempt", "host", "pid", "device", "framework", "dp", "tp", "pp", "ep", "first_step", "last_step", "state"}],
 * "kinds": {KIND: {"stats": [], "series": N}}, "damage": []}. Up to "durable_step" every process that still runs has
 * told all that it will tell; without one to wait for it is the last. */
TR_API char* tr_facts(tr_run*);
/** What the run says of itself: {"hyperparameters", "environment", "environment_by_rank", "tags", "notes", "config"}.
 */
TR_API char* tr_document(tr_run*);
/** [{"name", "slot", "chunk", "definition", "micro_step", "rank", "attempt", "kind", "stats", "shape", "dtype",
 * "elements", "bins"}] of a selection (see tr_frame_read). */
TR_API char* tr_series(tr_run*, const char* selection);
/** The log, as `telltale log --json` says it; records of one kind, or of all where `kind` is NULL. */
TR_API char* tr_log(tr_run*, const char* kind);
/** As `telltale incidents --json`: first cause first. */
TR_API char* tr_incidents(tr_run*);
TR_API void tr_free(char*);

/** What stands in a column. */
enum { TR_F32 = 0, TR_F64 = 1, TR_U64 = 2, TR_I64 = 3 };

typedef struct tr_column {
    const char* name; /**< a statistic: "norm" */
    uint32_t type;
    uint32_t width; /**< values a row: 1, or the bins of a histogram */
    const void* data; /**< rows x width */
    const uint8_t* missing; /**< a byte a row, 1 where nothing was measured; NULL where everything was */
} tr_column;

typedef struct tr_frame_view {
    uint32_t size; /**< sizeof(tr_frame_view), set by the caller */
    uint32_t columns;
    uint64_t rows; /**< a row is what one series has at one step: series after series, steps rising */
    const int64_t* steps; /**< of the rows */
    uint64_t series;
    const uint64_t* counts; /**< rows of each series */
    const char* series_json; /**< as of tr_series */
    const tr_column* column;
    uint64_t edge_count; /**< bins + 1 where histograms were asked for */
    const double* edges;
    uint64_t damaged; /**< values that are stored and cannot be read: they are missing */
} tr_frame_view;

/** Reads every stored value of a selection: {"kinds": [], "stats": [], "modules": TEXT, "ranks": [], "steps": [FIRST,
 * LAST]}; what is left out chooses everything, histograms apart ("stats": ["hist"] asks for them, and for nothing
 * else). `threads`: 0 = as the machine has processors. */
TR_API tr_frame* tr_frame_read(tr_run*, const char* selection, uint32_t threads);
/** Valid until tr_frame_free(). */
TR_API int tr_frame_get(const tr_frame*, tr_frame_view*);
TR_API void tr_frame_free(tr_frame*);

#ifdef __cplusplus
}
#endif
#endif
