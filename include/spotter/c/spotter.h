/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface (L6): for loops in C (C89 and later), in C++ before C++20, and in CUDA files. The following applies
 * to every function:
 *
 * Implementation: one C++20 file of the program defines SPOTTER_C_IMPLEMENTATION before it includes this file (or
 * includes <spotter/c/implementation.hpp>, which is the same) and defines spotter_create, which chooses in C++ what
 * is kept and which rules judge. Or it includes only <spotter/c/defaults.hpp>. See docs/c.md.
 *
 * Thread: a hook belongs to one thread: no two calls on it at once. Two hooks are independent.
 *
 * Failure: no call throws, prints, or ends the program, and none changes what the loop computes. Failures are counted
 * and have a code and a sentence: spotter_get_health. A null hook is allowed everywhere: the call does nothing.
 *
 * Ownership: names, shapes and values that are kept are copied before a call returns, so buffers may be reused at
 * once. The caller owns the structures that a call fills.
 *
 * Memory: a call may allocate the first two times that it gets a name in a mode. Afterwards no call allocates or
 * locks, and none waits unless the recorder's buffer is full (options::overflow).
 *
 * Text: UTF-8 or the program's own encoding, zero-terminated. A tensor is identified by its name, never by its address.
 *
 * Environment: SPOTTER=off disables hooks; SPOTTER=dry keeps the rules and records nothing. */
#ifndef SPOTTER_C_SPOTTER_H
#define SPOTTER_C_SPOTTER_H

#include <stddef.h>

/* 64-bit integers. Where there is no <stdint.h>, define SPOTTER_INT64 and SPOTTER_UINT64 before this file is included.
 */
#if defined(SPOTTER_INT64) && defined(SPOTTER_UINT64)
typedef SPOTTER_INT64 spotter_int64;   /* signed: scalars, and distances in bytes */
typedef SPOTTER_UINT64 spotter_uint64; /* unsigned: sizes, step indices, counts */
#else
#include <stdint.h>
typedef int64_t spotter_int64;   /* signed: scalars, and distances in bytes */
typedef uint64_t spotter_uint64; /* unsigned: sizes, step indices, counts */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A hook on a run. Made by spotter_create, ended by spotter_destroy. */
typedef struct spotter_hook spotter_hook;

/* The kind of a step; part of its identity. Parameters of type int take one of these; likewise for the other lists. */
typedef enum spotter_mode { SPOTTER_TRAIN = 0, SPOTTER_EVAL = 1, SPOTTER_PREDICT = 2 } spotter_mode;

/* Element types. bool is one byte, 0 or 1; f16, bf16 and f8 are their bits; c64 and c128 are two floats, two doubles.
 */
typedef enum spotter_dtype {
    SPOTTER_BOOL = 1,
    SPOTTER_I8 = 2,
    SPOTTER_I16 = 3,
    SPOTTER_I32 = 4,
    SPOTTER_I64 = 5,
    SPOTTER_U8 = 6,
    SPOTTER_U16 = 7,
    SPOTTER_U32 = 8,
    SPOTTER_U64 = 9,
    SPOTTER_F16 = 10,
    SPOTTER_BF16 = 11,
    SPOTTER_F32 = 12,
    SPOTTER_F64 = 13,
    SPOTTER_C64 = 14,
    SPOTTER_C128 = 15,
    SPOTTER_F8_E4M3 = 16,
    SPOTTER_F8_E5M2 = 17
} spotter_dtype;

/* The largest rank; a tensor with more axes is refused (SPOTTER_RANK_TOO_DEEP). */
#define SPOTTER_MAX_RANK 8

/* The role of a tensor; rules and collections select by it. GUESS derives it from the name (docs/rules.md has the
 * table).
 */
typedef enum spotter_role {
    SPOTTER_ROLE_GUESS = -1,
    SPOTTER_ROLE_OTHER = 0,
    SPOTTER_ROLE_LOSS = 1,
    SPOTTER_ROLE_GRADIENT = 2,
    SPOTTER_ROLE_WEIGHT = 3,
    SPOTTER_ROLE_BIAS = 4,
    SPOTTER_ROLE_INPUT = 5,
    SPOTTER_ROLE_LABEL = 6,
    SPOTTER_ROLE_PREDICTION = 7,
    SPOTTER_ROLE_PREACTIVATION = 8,
    SPOTTER_ROLE_ACTIVATION = 9,
    SPOTTER_ROLE_OPTIMIZER = 10,
    SPOTTER_ROLE_METRIC = 11,
    SPOTTER_ROLE_TREE = 12,
    SPOTTER_ROLE_IMPORTANCE = 13,
    SPOTTER_ROLE_AVERAGE_SHAP = 14,
    SPOTTER_ROLE_FULL_SHAP = 15,
    SPOTTER_ROLE_HYPERPARAMETER = 16,
    SPOTTER_ROLE_TIMING = 17,
    SPOTTER_ROLE_SYSTEM = 18
} spotter_role;

/* Bits, combined with |. */
typedef enum spotter_flag {
    SPOTTER_FLAG_NONE = 0,
    SPOTTER_FLAG_FROZEN = 1,             /* a parameter that should not change */
    SPOTTER_FLAG_FULL_BATCH = 2,         /* an input that is the whole data set at every step */
    SPOTTER_FLAG_SPARSE_ROWS = 4,        /* rows may stay zero (embeddings of unseen tokens) */
    SPOTTER_FLAG_LOGITS = 8,             /* a prediction before its softmax */
    SPOTTER_FLAG_NEGATED = 16,           /* minus the gradient: the optimizer adds it */
    SPOTTER_FLAG_GATHERED = 32,          /* a buffer that accumulates: momentum, or several backward passes */
    SPOTTER_FLAG_LOG_PROBABILITIES = 128 /* a prediction after its log_softmax */
} spotter_flag;

/* The kind of an activation. */
typedef enum spotter_activation {
    SPOTTER_ACTIVATION_UNKNOWN = 0,
    SPOTTER_ACTIVATION_RELU = 1,
    SPOTTER_ACTIVATION_TANH = 2,
    SPOTTER_ACTIVATION_SIGMOID = 3,
    SPOTTER_ACTIVATION_OTHER = 4
} spotter_activation;

/* Part of the flags: the axis of samples (0 to 7). */
#define SPOTTER_BATCH_AXIS(axis) ((((axis) & 7) + 1) << 8)
/* Part of the flags: the kind of an activation, one of spotter_activation. */
#define SPOTTER_ACTIVATED_BY(activation) ((0 + (activation)) << 12)

/* The severity of a finding: a note, no alarm; an alarm; an alarm that requests a stop unless the rule has another
 * decision. */
typedef enum spotter_severity { SPOTTER_INFO = 0, SPOTTER_WARNING = 1, SPOTTER_SEVERE = 2 } spotter_severity;

/* What to do now, mildest first: apply the update, skip it, end the training. */
typedef enum spotter_decision { SPOTTER_PROCEED = 0, SPOTTER_SKIP_UPDATE = 1, SPOTTER_STOP = 2 } spotter_decision;

/* Error codes of a hook and of its record. Some only occur when reading records; they are here because the numbers are
 * those of errc in C++. */
typedef enum spotter_error {
    SPOTTER_OK = 0,
    SPOTTER_NO_SUCH_NAME = 1, /* a null pointer for a name */
    SPOTTER_NO_SUCH_STEP = 2,
    SPOTTER_NOT_IN_STEP = 3,
    SPOTTER_NOT_YET = 4,
    SPOTTER_NO_MORE_DATA = 5,
    SPOTTER_NO_PAYLOAD = 6,
    SPOTTER_NO_SHAPE = 7, /* a null, negative or overflowing shape */
    SPOTTER_NO_SUCH_WORKER = 8,
    SPOTTER_CORRUPT = 9,
    SPOTTER_NOT_A_RUN = 10,
    SPOTTER_EXISTS = 11,
    SPOTTER_BUSY = 12,
    SPOTTER_BAD_CONFIG = 13, /* an unknown mode, role or flag */
    SPOTTER_BAD_PATTERN = 14,
    SPOTTER_WRONG_TYPE = 15, /* an unknown dtype */
    SPOTTER_UNWRITABLE = 16,
    SPOTTER_IO_ERROR = 17,
    SPOTTER_DISK_FULL = 18,
    SPOTTER_NOT_CONTIGUOUS = 19,
    SPOTTER_RANK_TOO_DEEP = 20,
    SPOTTER_UNKNOWN_VERSION = 21,
    SPOTTER_OUT_OF_MEMORY = 22,
    SPOTTER_DROPPED = 23,
    SPOTTER_NO_STEP_OPEN = 24,
    SPOTTER_USER_CODE_THREW = 25,
    SPOTTER_REPLACED = 26,     /* only when reading a record: never returned here */
    SPOTTER_NULL_POINTER = 27, /* for the values of a tensor that is not empty */
    SPOTTER_NO_DEVICE = 28     /* none that can be used, for values in a device's memory */
} spotter_error;

/* A name that was looked up once. Valid as long as its hook, and only for that hook. All zeros means no name; calls
 * ignore it. */
typedef struct spotter_tensor {
    void* it; /* owned by the hook; null: no name */
} spotter_tensor;

/* What closing a step returns. */
typedef struct spotter_verdict {
    spotter_decision decision; /* the strongest one requested */
    int alarm;                 /* 1 if a finding is a warning or worse; notes leave it 0 */
    size_t findings;           /* number for spotter_get_finding, 8 at most, strongest first */
    size_t left_out;           /* number of further ones */
} spotter_verdict;

/* One rule at one step, with its evidence. A longer text is cut; each is zero-terminated. */
typedef struct spotter_finding {
    spotter_severity severity; /* the rule's, or as set in spotter_create */
    spotter_decision decision; /* requested by this one; the verdict has the strongest of all */
    spotter_mode mode;         /* with index: the step */
    spotter_uint64 index;      /* in its mode, as given to spotter_begin */
    double measured;           /* the value of `measure`, in its unit */
    double threshold;          /* the limit that was exceeded, in the same unit */
    spotter_uint64 others;     /* further tensors that violate */
    char relation[4];          /* how measured relates to threshold: "<", ">=", ... */
    char rule[64];             /* its name, or the one given with named */
    char reason[128];          /* which of the rule's conditions holds */
    char tensor[256];          /* the first violating one, in order of observation; may be empty */
    char measure[64];          /* what was measured */
    char detail[96];           /* more evidence in words; may be empty */
    char remedy[256];          /* what to do, one sentence */
} spotter_finding;

/* The state of a hook, counted since it was made. */
typedef struct spotter_health {
    spotter_error error;     /* the first failure; SPOTTER_OK while there is none */
    char what[256];          /* its sentence: what happened to which name or path, and what to do */
    spotter_uint64 steps;    /* closed */
    spotter_uint64 observed; /* observations that a rule or collection wanted */
    spotter_uint64 refused;  /* refused calls, for the reasons documented at each function */
    spotter_uint64 declared; /* new names, and changed declarations; each may have allocated */
    spotter_uint64 stored;   /* observations and scalars passed to the record */
    spotter_uint64 dropped;  /* observations and scalars lost entirely */
    spotter_uint64 thinned;  /* observations stored without values, with their statistics only */
    spotter_uint64 bytes;    /* written so far */
} spotter_health;

/* Receives the tensors of spotter_loop.show, during that call. */
typedef struct spotter_parameters spotter_parameters;

/* The functions of a loop to be examined. Set the unused ones to zero: memset it first. */
typedef struct spotter_loop {
    void* user; /* passed to each function */
    /* Calls spotter_show_parameter for each weight, from input to output; called repeatedly. Required. */
    void (*show)(void* user, spotter_parameters* to);
    /* Forward and backward of one batch, the same at each call, with the clearing of gradients that precedes it in the
     * loop; returns the loss. Required. */
    double (*backward)(void* user);
    double (*loss)(void* user);                      /* a forward pass only; null: backward is called */
    void (*update)(void* user);                      /* the update, with the clearing that follows it */
    void (*save)(void* user);                        /* called once, before everything else */
    void (*restore)(void* user);                     /* restores what else a pass or an update changes */
    void (*seed)(void* user, spotter_uint64 number); /* seeds the random numbers of a pass */
    void (*training)(void* user, int on);            /* training mode, or evaluation */
    size_t batch;                                    /* samples; 0: the first extent of the inputs */
    size_t forwards;                                 /* limit of passes; 0: 500 */
    double loss_scale;                               /* factor of gradients after a pass; 0: 1 */
    int restore_each;                                /* restore before each pass */
} spotter_loop;

/* ---- a run ---- */

/* Starts a run that records into the folder `path`; null: the rules judge and nothing is recorded. You define this
 * function, in C++ (see the top). Null where memory is exhausted. Where recording cannot start, the rules still
 * judge, and spotter_get_health says why. Pass the hook to spotter_destroy at the end. */
spotter_hook* spotter_create(const char* path);

/* Ends the run like spotter_finish, then frees the hook. */
void spotter_destroy(spotter_hook* hook);

/* Ends the run: closes an open step, writes everything that is left and waits for it. Later observations are ignored;
 * health, path and findings can still be read. */
void spotter_finish(spotter_hook* hook);

/* Marks the run as failed, with a reason for the record (160 bytes; null: none). Does not end it. */
void spotter_fail(spotter_hook* hook, const char* why);

/* ---- a step ---- */

/* Opens step `index` of a mode. The index counts within its mode and need not be contiguous; one that does not increase
 * is a rewind. An open step is closed first; the next spotter_end returns its findings. An unknown mode is refused
 * (SPOTTER_BAD_CONFIG), and no step is opened. */
void spotter_begin(spotter_hook* hook, int mode, spotter_uint64 index);

/* Name a section of a step, within it or between steps: everything since the previous close belongs to the step that
 * is closed next. Call them in pairs, inner ones first. The time in "data" is kept at the close as the scalar
 * "time/data", in seconds; a nested section is "time/outer/inner". A section that is open at the close is split there;
 * health names it, and sections that overlap. */
void spotter_begin_section(spotter_hook* hook, const char* name);
void spotter_end_section(spotter_hook* hook, const char* name);

/* Closes the step and lets the rules judge it: call it before the weights are updated. The findings can be read until
 * the next spotter_end. Without an open step it returns findings that were not returned yet, or none. */
spotter_verdict spotter_end(spotter_hook* hook);

/* Copies finding i of the last spotter_end, or spotter_preflight, into `out`. Returns 1 if there is one, else 0
 * and leaves `out` unchanged. */
int spotter_get_finding(const spotter_hook* hook, size_t i, spotter_finding* out);

/* The same finding as a line of text, with its remedy, cut at `size` bytes including the zero (1024 always suffice):
 *     error: non_finite: originates here at train(8), "act/1": non-finite elements 1 > 0 (...) [skip_update]: look for
 * ... Returns its length, as snprintf does; 0 where there is no such finding. `buffer` may be null if `size` is 0.
 */
size_t spotter_describe_finding(const spotter_hook* hook, size_t i, char* buffer, size_t size);

/* ---- an examination of the loop, before it trains (docs/preflight.md) ---- */

/* Examines the loop by experiments. The findings are recorded, can be read like those of spotter_end, and the next
 * spotter_end returns them again. Weights and gradients are restored. With a null hook it only returns the verdict. A
 * loop without `show` or `backward` is a finding too (nothing_to_examine). */
spotter_verdict spotter_preflight(spotter_hook* hook, const spotter_loop* loop);

/* In spotter_loop.show: a weight and its gradient, of one dtype and shape, packed; the examination writes to them.
 * A null gradient: it has none yet. `flags`: bits of spotter_flag. Invalid tensors are refused and counted, as by
 * spotter_observe, and not examined. */
void spotter_show_parameter(spotter_parameters* to, const char* name, int flags, int dtype, void* weights,
                            void* gradient, int rank, const spotter_uint64* shape);

/* In spotter_loop.show: the batch, which allows further proofs: SPOTTER_ROLE_INPUT, SPOTTER_ROLE_LABEL (both are
 * changed and restored) and SPOTTER_ROLE_PREDICTION, [samples, ...]. Invalid ones are refused as there. */
void spotter_show_tensor(spotter_parameters* to, const char* name, int role, int flags, int dtype, void* values,
                         int rank, const spotter_uint64* shape);

/* ---- observing, while a step is open ---- */

/* Observes a packed row-major tensor. `shape` has `rank` sizes; rank 0 is one value, and shape may
 * be null. Refused and counted: no step open, a null name or shape, null values (of a tensor that is not empty), a rank
 * above SPOTTER_MAX_RANK, an unknown dtype. */
void spotter_observe(spotter_hook* hook, const char* name, int dtype, const void* values, int rank,
                     const spotter_uint64* shape);

/* The same, with the type checked by the compiler. */
void spotter_observe_f32(spotter_hook* hook, const char* name, const float* values, int rank,
                         const spotter_uint64* shape);
void spotter_observe_f64(spotter_hook* hook, const char* name, const double* values, int rank,
                         const spotter_uint64* shape);

/* The same with all properties. `role`: one of spotter_role. `flags`: bits of spotter_flag,
 * SPOTTER_BATCH_AXIS and SPOTTER_ACTIVATED_BY. The first role and flags given for a name hold for the run.
 * `byte_strides`: `rank` distances in bytes between neighbours along each axis, which may be negative; null: packed,
 * row-major. Values with gaps between them, or at unaligned addresses, are packed into a buffer of the hook, if a rule
 * or collection needs them. */
void spotter_observe_as(spotter_hook* hook, const char* name, int role, int flags, int dtype, const void* values,
                        int rank, const spotter_uint64* shape, const spotter_int64* byte_strides);

/* The same for a packed tensor in a device's memory. `values` is a device address. `stream` is the CUDA CUstream (or
 * cudaStream_t) in which they are read, after the work that is in it; null: the default stream. The hook must have been
 * made with the device (docs/device.md); any other refuses it. Returns at once, and later work in the stream may
 * overwrite the values. */
void spotter_observe_device(spotter_hook* hook, const char* name, int role, int flags, int dtype, const void* values,
                            int rank, const spotter_uint64* shape, void* stream);

/* ---- the same with names that are looked up once, and layers ---- */

/* `role` and `flags` as above. */
spotter_tensor spotter_get_tensor(spotter_hook* hook, const char* name, int role, int flags);

/* Writes `count` of them to `out`. The number replaces "{}" in the pattern, or is appended: "block/{}/w" is block/0/w,
 * block/1/w, ... */
void spotter_get_tensors(spotter_hook* hook, const char* pattern, size_t count, int role, int flags,
                         spotter_tensor* out);

/* As spotter_observe and spotter_scalar; a tensor of all zeros is ignored and not counted. */
void spotter_observe_tensor(spotter_hook* hook, spotter_tensor tensor, int dtype, const void* values, int rank,
                            const spotter_uint64* shape);
void spotter_scalar_tensor(spotter_hook* hook, spotter_tensor tensor, double value);

/* One packed buffer that holds the same parameter of every layer: slice i along its first axis, of shape[1] to
 * shape[rank - 1], is tensors[i]. If there are fewer names than layers, the rest is left out. An invalid buffer is
 * refused under the first name. */
void spotter_observe_layers(spotter_hook* hook, const spotter_tensor* tensors, size_t count, int dtype,
                            const void* values, int rank, const spotter_uint64* shape);

/* ---- values that are always kept, whatever the plan: at the open step (rules see them too), or between steps ----
 */

/* Keeps a number or a text under a name. A null name is refused (SPOTTER_NO_SUCH_NAME); a null text is an empty one. */
void spotter_scalar(spotter_hook* hook, const char* name, double value);
void spotter_scalar_f32(spotter_hook* hook, const char* name, float value);
void spotter_scalar_i64(spotter_hook* hook, const char* name, spotter_int64 value);
void spotter_scalar_text(spotter_hook* hook, const char* name, const char* value); /* rules do not see texts */

/* With an explicit time, in seconds since 1970. */
void spotter_scalar_at(spotter_hook* hook, const char* name, double value, double time);
void spotter_scalar_f32_at(spotter_hook* hook, const char* name, float value, double time);
void spotter_scalar_i64_at(spotter_hook* hook, const char* name, spotter_int64 value, double time);
void spotter_scalar_text_at(spotter_hook* hook, const char* name, const char* value, double time);

/* ---- the record ---- */

/* Makes all closed steps visible to readers, and waits for that. */
void spotter_flush(spotter_hook* hook);

/* Moves bytes from memory to the files, for a hook made with options{.drain = drain::poll}; otherwise does nothing. */
void spotter_poll(spotter_hook* hook);

/* Where the record is; empty where nothing is recorded. Lives as long as the hook. */
const char* spotter_path(const spotter_hook* hook);

/* The state of the hook: fills `out` (may be null) and returns the first failure. A null hook:
 * SPOTTER_OUT_OF_MEMORY. */
spotter_error spotter_get_health(const spotter_hook* hook, spotter_health* out);

/* A refused name, by index from 0, as a line of text: the reason, and the call that accepts it, cut at `size` bytes
 * including the zero. Returns its length; 0 where there is no such index. Calls with invalid arguments (an unknown
 * dtype) are not among them: health names the first. */
size_t spotter_describe_refused(const spotter_hook* hook, size_t i, char* buffer, size_t size);

/* ---- names; valid for ever, and empty for unknown numbers ---- */

const char* spotter_error_name(int error);       /* "disk_full" */
const char* spotter_decision_name(int decision); /* "skip_update" */
const char* spotter_severity_name(int severity); /* "warning" */
const char* spotter_mode_name(int mode);         /* "train" */
const char* spotter_version(void);               /* "0.1.0" */

#ifdef __cplusplus
}
#endif

#ifdef SPOTTER_C_IMPLEMENTATION
#include <spotter/c/implementation.hpp>
#endif

#endif
