/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C ABI of libtelltale_agent.so: everything a training process needs to stream statistics, without torch and without
 * Qt.
 *
 * Promises: no call made between tt_step_begin and tt_step_commit blocks, allocates after warm-up, makes a system call
 * on the network or disk, or throws; a failure is counted and returned, never raised. One training thread per agent
 * writes (the thread that calls tt_step_*); everything else happens on the agent's own sender thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TT_AGENT_BUILD)
#define TT_API __attribute__((visibility("default")))
#else
#define TT_API
#endif

#define TT_AGENT_ABI 7

typedef struct tt_agent tt_agent;
typedef struct tt_step tt_step;
struct tt_stats; /* model/stats/stats.h; exported from this library too */
struct tt_tensor;

/* Zero-initialize, set `size = sizeof(tt_options)`, then what is wanted. Strings are copied. NULL or 0 = default or
 * taken from the environment as documented in the README (TELLTALE_JOIN, TELLTALE_MODE, TELLTALE_DIR, TELLTALE_RUN_ID,
 * ...). */
typedef struct tt_options {
    uint32_t size;
    const char* join; /* telltale://HOST:PORT#token=...&fp=... */
    const char* mode; /* "online", "offline" (spool only), "disabled" */
    const char* run_id; /* else derived from the environment */
    const char* run_name; /* shown in the window; default: run key */
    const char* role; /* default "trainer" */
    const char* spool_dir;
    const char* framework; /* "libtorch 1.13.1" */
    const char* device; /* "cpu", "cuda:0" */
    const char* config_text; /* the monitor config in force, sent as a blob */
    int32_t rank; /* -1 = from the environment */
    int32_t world_size; /* 0 = from the environment */
    int32_t dp, tp, pp, ep; /* coordinates, -1 = unknown */
    int32_t restart_count; /* -1 = from the environment */
    uint64_t ring_bytes; /* 0 = 8 MiB */
    uint64_t spool_cap_bytes; /* 0 = 2 GiB */
    uint32_t flush_ms; /* exit flush, 0 = 5000 */
    uint32_t batch_ms; /* 0 = 200 */
    uint32_t takes_configs; /* 1 = the training calls tt_config_due(): it may be offered configs while it runs, unless
                               TELLTALE_REMOTE_CONFIG=off */
} tt_options;

/* What a tensor is to the module or call that its series names. */
typedef enum tt_role {
    TT_ROLE_VALUE = 0, /* the thing itself: a parameter, a metric */
    TT_ROLE_INPUT = 1,
    TT_ROLE_OUTPUT = 2,
    TT_ROLE_BEFORE = 3, /* an argument of a collective before the call */
    TT_ROLE_AFTER = 4, /* and after it */
    TT_ROLE_NAMED = 5 /* what `word` says */
} tt_role;

/* Which tensor it is. What cannot be is mended. */
typedef struct tt_slot {
    uint32_t role; /* tt_role */
    int32_t number; /* among the tensors of this role, from 0; -1 = it is the only one */
    int32_t head; /* of an attention, -1 = none */
    int32_t expert; /* -1 = none */
    uint32_t call; /* of several in one micro step, from 0 */
    const char* word; /* of TT_ROLE_NAMED, as the training code has it; else NULL */
    const char* position; /* where the training code has it: a JSON array of places and keys from the outside in,
                             [1,"hidden",0], <= 1024 bytes; NULL = it stands by itself, or it is not known */
} tt_slot;

typedef struct tt_series {
    const char* name; /* framework's own name, UTF-8, <= 1024 bytes */
    const tt_slot* slot; /* NULL = TT_ROLE_VALUE */
    int32_t vpp_stage;
    int32_t micro_step; /* -1 = whole step */
    uint32_t form; /* telltale::form bits */
    uint32_t dtype; /* tt_dtype */
    uint64_t numel;
    const int64_t* shape;
    uint32_t ndim;
    uint32_t full_ndim;
    int64_t shard_offset; /* -1 = not sharded */
    const int64_t* full_shape;
    const char* definition; /* NULL = none */
} tt_series;

/* An event with all that it may say. Zero-initialize, set `size = sizeof(tt_event_fields)`, then what is said. */
typedef struct tt_event_fields {
    uint32_t size;
    const char* kind; /* "anomaly", "config", "log", ...: UTF-8, <= 1024 bytes, as are rule, phase, cause and author */
    int64_t step;
    int64_t last_step; /* behind step; else the event is of one step */
    const char* text; /* for people */
    const char* json; /* for programs */
    const char* rule; /* that found it */
    const char* phase; /* of what lasts: where it is now */
    const char* cause;
    const char* author; /* of a change */
    uint64_t rev; /* revision of the config, 0 = none */
    uint64_t ref; /* id in the run's log of the first record, of this kind and rank, that this one changes; 0 = none */
} tt_event_fields;

typedef struct tt_counters {
    uint64_t produced, acked, dropped; /* samples: produced = acked + dropped + in_flight */
    uint64_t in_flight; /* in ring, spool or unacknowledged */
    uint64_t scalars_produced, scalars_acked, scalars_dropped;
    uint64_t batches_sent, batches_acked, bytes_sent, reconnects;
    uint64_t ring_bytes, spool_bytes;
    uint64_t internal_errors;
    uint64_t monitor_ns, step_ns, steps; /* sums of tt_agent_cost() */
    uint32_t connected; /* 1 while a session is open */
    uint32_t mode; /* 0 disabled, 1 online, 2 offline */
} tt_counters;

/* What an error is about. Programs decide by this; the sentence beside it is for people and may change. */
typedef enum tt_error {
    TT_ERROR_NONE = 0,
    TT_ERROR_BAD_INPUT = 1, /* what the caller gave breaks a rule */
    TT_ERROR_CONNECTION = 2, /* no server, or none that lets this agent in: tried again */
    TT_ERROR_REJECTED = 3, /* the server did not take a batch */
    TT_ERROR_SPOOL = 4, /* files of the spool cannot be read or written: nothing is kept there */
    TT_ERROR_LOST = 5, /* what had been taken is gone, and counted as dropped */
    TT_ERROR_INTERNAL = 6,
    TT_ERROR_NOTICE = 7 /* worth knowing, and nothing is lost by it */
} tt_error;

TT_API uint32_t tt_abi_version(void);
TT_API const char* tt_version(void);

/* Opens an agent and starts its sender thread. Never touches the network in this call. On bad input returns NULL and
 * puts one sentence into err. mode "disabled" gives an agent whose calls all do nothing. */
TT_API tt_agent* tt_agent_open(const tt_options* options, char* err, size_t err_len);
/* Flushes for at most flush_ms, says Bye(reason: "finished", "error", "restarting"), frees. What is not acknowledged
 * stays in the spool. Returns 1 when everything was acknowledged, else 0. NULL is allowed. */
TT_API int tt_agent_close(tt_agent* agent, const char* reason);
TT_API void tt_agent_counters(const tt_agent* agent, tt_counters* out);
/* What monitoring takes: of `elapsed_ns`, the length of `steps` steps from boundary to boundary, the training's threads
 * spent `inside_ns` in the monitor (the host's time). Added to sums that the dashboard gets now and then; costs some
 * additions. */
TT_API void tt_agent_cost(tt_agent* agent, uint64_t inside_ns, uint64_t elapsed_ns, uint64_t steps);
/* From now on one step in `every` is collected, to stay within a budget of `budget_ppm` millionths of a step's time;
 * 0 = all that the config selects. The dashboard says so. */
TT_API void tt_agent_thinning(tt_agent* agent, uint64_t every, uint64_t budget_ppm);
/* Waits until everything produced so far is acknowledged or timeout_ms passed; 1 = all acknowledged. Not for hooks. */
TT_API int tt_agent_flush(tt_agent* agent, uint32_t timeout_ms);
/* The last error as one sentence ("" = none); valid until the eighth call after this one, and the agent's end. */
TT_API const char* tt_agent_last_error(const tt_agent* agent);
/* The last error as a tt_error, with its sentence ("" = none) in err. */
TT_API uint32_t tt_agent_error(const tt_agent* agent, char* err, size_t err_len);
/* The folder of the spools, as the options and the environment name it. */
TT_API void tt_agent_spool_dir(const tt_agent* agent, char* out, size_t len);

/* Registers an immutable layout: `kind` and `stats` are numbers of telltale::Kind and telltale::Stat. For the six-op
 * kinds pass stats = NULL: norm, mean, min, max, zeros, nans, posinfs, neginfs are sent from tt_stats. A list with the
 * checksum in it is sent from tt_stats, too, which all of it must be members of; an entry of it is present when it has
 * TT_STATS_CHECKSUM as well. Otherwise each stat is a float column (scalars: one double column, stat Value). Returns
 * the layout id (>= 1), 0 on bad input. May allocate: not for hot hooks. */
TT_API uint32_t tt_layout_add(
    tt_agent* agent, uint32_t kind, const uint8_t* stats, uint32_t stat_count, const tt_series* series, uint32_t count);

/* The same for histograms. Bin i counts the elements x with edges[i] <= x < edges[i + 1]; the greatest finite edge
 * itself belongs to the bin below it. `edges` rise; there are 2 to 129 of them, and the outer ones may be infinite. One
 * sample is one bin. */
TT_API uint32_t tt_layout_add_histograms(
    tt_agent* agent, uint32_t kind, const double* edges, uint32_t edge_count, const tt_series* series, uint32_t count);

/* Starts a step: takes a slab of the ring. NULL when the ring is full (the whole step is dropped and counted; call
 * tt_step_dropped with what would have been in it), the agent is disabled, or the step is farther from 0 than 2^53. */
TT_API tt_step* tt_step_begin(tt_agent* agent, int64_t step);
/* Space for one block of a layout in this step: `count` zeroed tt_stats to fill, in layout order; an entry is present
 * when its flags say so. NULL when the slab cannot hold it (counted as dropped). At most one block per layout and step.
 */
TT_API struct tt_stats* tt_step_stats(tt_step* step, uint32_t layout);
/* The same for float-column layouts: stat_count x count floats, stat-major, and one presence byte per series. */
TT_API float* tt_step_floats(tt_step* step, uint32_t layout, uint8_t** present);
/* For scalar layouts: count doubles and presence bytes. */
TT_API double* tt_step_doubles(tt_step* step, uint32_t layout, uint8_t** present);
/* For histograms: count x (edge_count - 1) whole numbers, a histogram after the other, and a presence byte each. */
TT_API uint64_t* tt_step_counts(tt_step* step, uint32_t layout, uint8_t** present);
/* Publishes the step (one release store). `step` is invalid afterwards. */
TT_API void tt_step_commit(tt_step* step);
/* Throws the step away without counting it as produced. */
TT_API void tt_step_abandon(tt_step* step);
TT_API void tt_step_dropped(tt_agent* agent, int64_t step, uint64_t samples, uint64_t scalars);

/* Rare and small: copied at once into a bounded side queue. Return 1, or 0 when refused (too large, queue full:
 * counted). */
TT_API int tt_event(tt_agent* agent, const char* kind, int64_t step, const char* text, const char* json);
TT_API int tt_event_add(tt_agent* agent, const tt_event_fields* event);
TT_API int tt_blob(tt_agent* agent, const char* kind, const char* name, int64_t step, const void* bytes, size_t len);

/* A config that the dashboard wants in force. It reads without an error, and changes nothing that can reach files,
 * dumps, code, the end of the training or the time that monitoring may take of it. */
typedef struct tt_config {
    uint64_t rev; /* of the dashboard's revisions */
    int64_t apply_at_step; /* <= 0: the next step boundary was asked for */
    const char* json; /* every field, as "config" of tt_config_read() has them */
} tt_config;

/* Between two steps, with the number of the one that begins: the config that is to be in force from it on, NULL = none
 * (and then it costs one atomic load). Put it in force whole, or not at all, before the step begins; then say so by one
 * of the two calls below. Valid until the next call. Training thread, as they are. */
TT_API const tt_config* tt_config_due(tt_agent* agent, int64_t next_step);
/* Between two steps, where a flight recorder keeps something: why the dashboard wants it, a sentence, once; NULL = it
 * does not (and then it costs one atomic load). Valid until the next call. Training thread. Who calls it has
 * takes_configs. */
TT_API const char* tt_recorder_asked(tt_agent* agent);
/* Where tt_config_due() writes and looks: while *is_waiting is 0, a training that has no time for a call may write the
 * number of the step that begins to *next_step instead. Valid until the agent is closed. NULLs where it does nothing.
 */
TT_API void tt_config_words(tt_agent* agent, int64_t** next_step, const uint8_t** is_waiting);
/* What the training runs from `step` on, for the dashboard: now, and whenever it is reached again. To be called at the
 * start, after a config that was due (with its rev), and when it changes by itself: an edit of its file, a collection
 * that ends. rev: of what it came from, 0 = its own. json: a config text; its dynamic_on says whether it collects.
 * why: a sentence. Another thread may say it of a config that was due, while the training asks for no other. */
TT_API void tt_config_in_force(tt_agent* agent, uint64_t rev, int64_t step, const char* json, const char* why);
/* 1 when the config text says what an offer says that waits for its step: a rank that was quicker may have put it into
 * the file that they share. Any thread. */
TT_API int tt_config_is_offered(tt_agent* agent, const char* json);
/* The config that was due cannot be in force; what was stays so. */
TT_API void tt_config_refuse(tt_agent* agent, uint64_t rev, int64_t step, const char* reason);

/* Whether a server answers to the join string and knows its token: 1, or 0 and one sentence in err. Blocks for at most
 * timeout_ms, sends no token, begins no run. Any thread, no agent needed. */
TT_API int tt_join_try(const char* join, uint32_t timeout_ms, char* err, size_t err_len);

/* CRC-32C (Castagnoli) of bytes, as TensorBoard's records and Telltale's own files carry it. */
TT_API uint32_t tt_crc32c(const void* bytes, size_t len);

/* The monitor's config.json. Neither needs an agent, and any thread may call them. */

/* Reads a config text (`len` bytes of UTF-8; // comments and trailing commas allowed) and gives JSON to be freed with
 * tt_free():
 *   {"ok": true, "error": null, "config": {...}, "problems": [{"pointer", "sentence", "is_error", "instead"}, ...]}
 * "config" holds every field in force, nested as msprobe has them (cc_distribution, alert) with Telltale's own under
 * "telltale"; a bad field holds its default and is one of the problems, whose "instead" says so: "1 is used". A text
 * that is no JSON object gives ok false, one sentence in "error" and all defaults. NULL only without memory. */
TT_API char* tt_config_read(const char* text, size_t len);
/* The fields that hold other than their defaults, as one line of JSON to be freed with tt_free(): equal configs give
 * equal texts. NULL only without memory. */
TT_API char* tt_config_canonical(const char* text, size_t len);
/* The text changed so that it reads as the config `wanted` (JSON text, NUL-ended): its comments, order and all that
 * both hold stay. To be freed with tt_free(); NULL only without memory. */
TT_API char* tt_config_edit(const char* text, size_t len, const char* wanted);
TT_API void tt_free(void* memory); /* NULL is allowed */
/* 1 when the dotted module or parameter name falls under the target, else 0: an exact name selects itself and
 * everything below it, * and ? match within a component, the components of wrappers (module, _orig_mod,
 * _fsdp_wrapped_module, _checkpoint_wrapped_module) count on neither side, and a chunk before either ("0:layers.1")
 * must be the same where the target has one. */
TT_API int tt_target_matches(const char* target, const char* name);
/* 1 when a target's selection, a JSON text like {"output": "tuple[2]:1"}, asks for a slot or,
 * with gradient != 0, for its gradient. "", "{}" and NULL ask for everything. */
TT_API int tt_selects_slot(const char* selection, const tt_slot* slot, int gradient);

#ifdef __cplusplus
}
#endif
