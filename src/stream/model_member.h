#ifndef TRACKRAMP_MODEL_MEMBER_H
#define TRACKRAMP_MODEL_MEMBER_H

#include "model.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The inside of a modelled drive: model.c cuts requests up for the members of a stripe and keeps
 * the time, model_member.c leads the parts through a member, model_disk.c moves a disk's arm.
 * All times in here are work time in nanoseconds: it stands still while the drive stalls.
 */

/* What one member has to do for a request; without a stripe, all of it. */
struct model_part {
    struct model_request *request;
    uint64_t place_bytes; /* on the member */
    uint32_t bytes;
    struct model_part *next; /* among those waiting outside, or the unused */
};

/* A part that is inside the drive: one of `depth`. */
struct model_slot {
    uint64_t key;   /* when it is positioned; on a disk, how many had been served when it came */
    uint64_t order; /* of coming in; the tie-break */
    struct model_part *part;
};

struct model_member {
    uint64_t event_ns; /* the end of what is moving, or when a part is ready; UINT64_MAX: none */
    struct model_part *waiting, **waiting_end; /* outside, the oldest first */
    struct model_slot *slots;                  /* a heap by key; on a disk, the oldest first */
    uint32_t slot_count;
    struct model_part *moving; /* being transferred; on a disk, from the first movement on */
    uint64_t served;           /* parts, since the beginning */
    uint64_t head_bytes;       /* where a disk's head is */
    /* for a drive that slows down */
    bool busy;
    uint64_t since_ns;  /* busy, or idle */
    uint64_t worked_ns; /* before that, since the last rest */
};

/* A disk in the units that its arm is computed in. */
struct model_disk {
    uint64_t turn_ns;
    uint64_t track_bytes, cylinder_bytes;
    double ns_per_byte;
    double seek_least_ns, seek_span_ns, capacity_bytes;
};

/* What all members have in common. */
struct model_common {
    const struct model_spec *spec;
    double position_ns, ns_per_byte;
    uint64_t overhead_ns, slow_after_ns, slow_rest_ns;
    struct model_disk disk; /* where rpm is not 0 */
    uint64_t random;        /* state */
    uint64_t order;         /* parts that came in so far */
};

/* `spec` must outlive it. */
void model_common_init(struct model_common *common, const struct model_spec *spec, uint64_t seed);

/* `slots` has room for `depth`. */
void model_member_init(struct model_member *member, struct model_slot *slots);

/* Gives a member a part. Events before `at_ns` have been dealt with. */
void model_member_add(struct model_member *member, struct model_common *common,
                      struct model_part *part, uint64_t at_ns);

/* Deals with the member's event, at its time. Returns the part that ended, or NULL. */
struct model_part *model_member_step(struct model_member *member, struct model_common *common);

/* When its next part ends, unless more are added before; UINT64_MAX when it has none. */
uint64_t model_member_end_ns(const struct model_member *member, const struct model_common *common);

/* A draw from the exponential distribution of mean 1. */
double model_exponential(uint64_t *random);

void model_disk_init(struct model_disk *disk, const struct model_spec *spec);

/* Which of a member's slots is read next, if the arm can start at `at_ns`, and how long the arm
 * takes. There is at least one. */
uint32_t model_disk_choose(const struct model_disk *disk, const struct model_spec *spec,
                           const struct model_member *member, uint64_t at_ns,
                           uint64_t *positioning_ns);

#endif
