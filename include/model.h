#ifndef TRACKRAMP_MODEL_H
#define TRACKRAMP_MODEL_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A drive described in numbers, for the `model` engine: no hardware, no time of its own. It is
 * told what time it is, so it works in real time as well as in virtual time, and the same requests
 * at the same times get the same answers for the same seed. The sources of the presets' numbers
 * stand beside them in src/stream/model_presets.c.
 */

/* Of positioning times around their mean: uniform is from 0 to twice the mean. */
enum model_distribution { MODEL_CONSTANT, MODEL_UNIFORM, MODEL_EXPONENTIAL };

/* Which waiting read is taken next: the oldest, or (among the `depth` oldest) the one whose place
 * the head of a disk reaches first. */
enum model_order { MODEL_OLDEST, MODEL_NEAREST };

/* What may happen to the first read that ends at a given moment or after it. One fault is for one
 * read: of two at the same moment, the second meets the read behind. */
enum model_fault_kind {
    MODEL_FAULT_NONE,
    MODEL_FAULT_ERROR, /* EIO */
    MODEL_FAULT_SHORT, /* half of it comes */
    MODEL_FAULT_LATE,  /* it comes `late_s` later */
    MODEL_FAULT_WRONG, /* it comes as zeros, not as it was written */
};

enum {
    MODEL_FAULTS_MAX = 8,
    MODEL_TEXT_BYTES = 256,
    MODEL_DEPTH_MAX = 1024,
    MODEL_MEMBERS_MAX = 64
};

struct model_fault {
    enum model_fault_kind kind;
    double at_s; /* since the drive was made */
    double late_s;
};

struct model_spec {
    char text[MODEL_TEXT_BYTES]; /* as given */
    /* a read takes a positioning time; `depth` of them overlap in it. A read counts among the
     * `depth` until its transfer ends; then the oldest of those that wait outside comes in */
    double position_s; /* mean */
    enum model_distribution distribution;
    uint32_t depth;
    enum model_order order;
    /* or, where rpm is not 0, what a disk's head needs from where it is: a seek by distance, then
     * the turn of the platter. A disk has one arm, so nothing overlaps: of the `depth` inside, it
     * chooses by `order`. It needs a rate */
    double seek_least_s, seek_most_s; /* to the next cylinder, over all of `capacity_bytes` */
    double rpm;
    uint64_t capacity_bytes;
    /* then it is transferred, none beside another, in the order of being positioned: overhead for
     * each part of at most `split_bytes` (0: never split), and its bytes at the rate (0: in no
     * time) */
    double rate_bytes_per_second;
    double overhead_s;
    uint32_t split_bytes;
    /* after so many seconds with reads under way (0: never), reads go at this share of their speed,
     * until nothing was asked of the drive for `slow_rest_s` (0: for good) */
    double slow_factor, slow_after_s, slow_rest_s;
    /* nothing moves for `stall_s`: from every multiple of `stall_every_s`, which is longer, since
     * the drive was made; or at random, with gaps from the exponential distribution of that mean */
    double stall_s, stall_every_s;
    bool stall_random;
    /* members, striped in units; each is as described above */
    uint32_t members;
    uint32_t unit_bytes;
    /* faults */
    struct model_fault faults[MODEL_FAULTS_MAX];
    uint32_t fault_count;
    double device_gone_s;        /* the simulated audio device stops calling; 0: never */
    uint64_t memory_limit_bytes; /* of ring memory; 0: none */
    bool data; /* reads bring what the files hold, and it is checked; otherwise nothing */
};

/* Reads SPEC: a preset's name, or `key=value` pairs, or a preset's name and pairs that change it,
 * all by commas. Sizes and times are those of units_parse_bytes and units_parse_time. On failure
 * ERROR_USAGE names the pair at fault and what would be right, and `spec` stays as it was.
 *
 *     position=TIME  spread=constant|uniform|exponential  depth=COUNT  order=oldest|nearest
 *     rate=BYTES (a second)  overhead=TIME  split=BYTES
 *     rpm=COUNT  seek=LEAST:MOST  capacity=BYTES
 *     slow=SHARE@TIME  slow-rest=TIME  stall=LENGTH@EVERY  stall-random=LENGTH@EVERY
 *     stripe=MEMBERSxUNIT
 *     fail=TIME  short=TIME  wrong=TIME  late=TIME:BY (each as often as wanted)
 *     device-gone=TIME  memory=BYTES  data=yes|no (wrong= means yes)
 */
int model_parse(struct model_spec *spec, const char *text, struct error *error);

/* The presets, for help and docs: NULL behind the last. */
struct model_preset {
    const char *name;
    const char *help;  /* what drive it stands for */
    const char *pairs; /* in SPEC's own words */
};
extern const struct model_preset model_presets[];

/* One read on its way. The first paragraph is the caller's, the second the model's answer, the
 * third its own. */
struct model_request {
    uint64_t offset_bytes; /* on the drive */
    uint32_t bytes;        /* at least 1 */
    void *user;

    uint64_t done_ns;
    enum model_fault_kind fault; /* ERROR, SHORT, WRONG: for the caller to carry out */

    struct model_request *next;
    uint32_t parts_left;
};

struct model; /* opaque */

/* A drive whose time begins at `now_ns`, described as model_parse leaves it (depth and members are
 * at least 1). NULL when memory ends. Not for several threads at once. */
struct model *model_new(const struct model_spec *spec, uint64_t seed, uint64_t now_ns);
void model_free(struct model *model);

/* Gives the drive a read. It keeps the request until model_take returns it. Times never go back. */
void model_submit(struct model *model, struct model_request *request, uint64_t now_ns);

/* A request that was done by `now_ns`, in the order of being done; NULL when there is none. */
struct model_request *model_take(struct model *model, uint64_t now_ns);

/* The earliest time at which model_take may have one more, unless another is submitted before;
 * UINT64_MAX when nothing is under way. May be early, never late. */
uint64_t model_next_ns(const struct model *model);

const struct model_spec *model_spec(const struct model *model);

#endif
