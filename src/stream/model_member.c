#include "model_member.h"
#include "random.h"

#include <math.h>
#include <string.h>

/*
 * The way of a part through a member. Up to `depth` parts are inside: each is positioned (all at
 * once), then they are transferred, one at a time, in the order in which they became ready. A part
 * keeps its place until its transfer ends; only then the next one comes in from outside, where
 * they stand in the order in which they were given.
 *
 * A disk has one arm, which serves one part after another: it chooses among those inside, moves,
 * and transfers.
 */

double model_exponential(uint64_t *random)
{
    return -log1p(-random_unit(random));
}

static uint64_t draw_position(struct model_common *common)
{
    double share = 1;
    if (common->spec->distribution == MODEL_UNIFORM)
        share = 2 * random_unit(&common->random);
    else if (common->spec->distribution == MODEL_EXPONENTIAL)
        share = model_exponential(&common->random);
    return (uint64_t)(common->position_ns * share + 0.5);
}

static uint64_t transfer_ns(const struct model_common *common, const struct model_part *part)
{
    uint32_t split = common->spec->split_bytes;
    uint64_t pieces = split == 0 ? 1 : ((uint64_t)part->bytes + split - 1) / split;
    return pieces * common->overhead_ns +
           (uint64_t)((double)part->bytes * common->ns_per_byte + 0.5);
}

/* How long work takes that begins at `at_ns`, for a member that may have become slow by then. */
static uint64_t paced(const struct model_member *member, const struct model_common *common,
                      uint64_t at_ns, uint64_t work_ns)
{
    if (common->slow_after_ns == 0 ||
        member->worked_ns + (at_ns - member->since_ns) < common->slow_after_ns)
        return work_ns;
    return (uint64_t)((double)work_ns / common->spec->slow_factor + 0.5);
}

static bool slot_before(const struct model_slot *one, const struct model_slot *other)
{
    return one->key != other->key ? one->key < other->key : one->order < other->order;
}

static void heap_push(struct model_member *member, struct model_slot slot)
{
    uint32_t at = member->slot_count++;
    for (; at > 0 && slot_before(&slot, &member->slots[(at - 1) / 2]); at = (at - 1) / 2)
        member->slots[at] = member->slots[(at - 1) / 2];
    member->slots[at] = slot;
}

static struct model_part *heap_pop(struct model_member *member)
{
    struct model_slot *slots = member->slots;
    struct model_part *part = slots[0].part;
    struct model_slot last = slots[--member->slot_count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < member->slot_count; child = 2 * at + 1) {
        if (child + 1 < member->slot_count && slot_before(&slots[child + 1], &slots[child]))
            child++;
        if (!slot_before(&slots[child], &last))
            break;
        slots[at] = slots[child];
        at = child;
    }
    slots[at] = last;
    return part;
}

/* Lets parts in from outside while there are free places. */
static void admit(struct model_member *member, struct model_common *common, uint64_t at_ns)
{
    while (member->waiting != NULL &&
           member->slot_count + (member->moving != NULL) < common->spec->depth) {
        struct model_slot slot = {.order = common->order++, .part = member->waiting};
        member->waiting = slot.part->next;
        if (member->waiting == NULL)
            member->waiting_end = &member->waiting;
        if (common->spec->rpm > 0) {
            slot.key = member->served;
            member->slots[member->slot_count++] = slot;
        } else {
            slot.key = at_ns + paced(member, common, at_ns, draw_position(common));
            heap_push(member, slot);
        }
    }
}

/* The arm goes to the next part. Returns when that has been transferred. */
static uint64_t move_arm(struct model_member *member, struct model_common *common, uint64_t at_ns)
{
    /* The drive sees to the command before the arm moves. */
    uint64_t positioning_ns, ready_ns = at_ns + common->overhead_ns;
    uint32_t chosen =
        model_disk_choose(&common->disk, common->spec, member, ready_ns, &positioning_ns);
    struct model_part *part = member->slots[chosen].part;
    member->slot_count--;
    memmove(&member->slots[chosen], &member->slots[chosen + 1],
            (member->slot_count - chosen) * sizeof *member->slots);
    member->moving = part;
    member->head_bytes = part->place_bytes + part->bytes;
    return at_ns + paced(member, common, at_ns, positioning_ns + transfer_ns(common, part));
}

/* Begins what can begin, and notes when that ends. */
static void begin(struct model_member *member, struct model_common *common, uint64_t at_ns)
{
    admit(member, common, at_ns);
    if (member->moving != NULL)
        return; /* its event stands */
    if (member->slot_count == 0) {
        member->event_ns = UINT64_MAX;
    } else if (common->spec->rpm > 0) {
        member->event_ns = move_arm(member, common, at_ns);
    } else if (member->slots[0].key <= at_ns) {
        member->moving = heap_pop(member);
        member->event_ns =
            at_ns + paced(member, common, at_ns, transfer_ns(common, member->moving));
    } else {
        member->event_ns = member->slots[0].key;
    }
}

void model_common_init(struct model_common *common, const struct model_spec *spec, uint64_t seed)
{
    *common = (struct model_common){
        .spec = spec,
        .position_ns = spec->position_s * 1e9,
        .ns_per_byte = spec->rate_bytes_per_second > 0 ? 1e9 / spec->rate_bytes_per_second : 0,
        .overhead_ns = (uint64_t)(spec->overhead_s * 1e9 + 0.5),
        .slow_after_ns = (uint64_t)(spec->slow_after_s * 1e9 + 0.5),
        .slow_rest_ns = (uint64_t)(spec->slow_rest_s * 1e9 + 0.5),
        .random = seed,
    };
    if (spec->rpm > 0)
        model_disk_init(&common->disk, spec);
}

void model_member_init(struct model_member *member, struct model_slot *slots)
{
    *member = (struct model_member){
        .event_ns = UINT64_MAX, .waiting_end = &member->waiting, .slots = slots};
}

void model_member_add(struct model_member *member, struct model_common *common,
                      struct model_part *part, uint64_t at_ns)
{
    if (!member->busy) {
        if (common->slow_rest_ns > 0 && at_ns - member->since_ns >= common->slow_rest_ns)
            member->worked_ns = 0;
        member->busy = true;
        member->since_ns = at_ns;
    }
    part->next = NULL;
    *member->waiting_end = part;
    member->waiting_end = &part->next;
    begin(member, common, at_ns);
}

struct model_part *model_member_step(struct model_member *member, struct model_common *common)
{
    uint64_t at_ns = member->event_ns;
    struct model_part *ended = member->moving;
    if (ended != NULL) {
        member->moving = NULL;
        member->served++;
        if (member->waiting == NULL && member->slot_count == 0) {
            member->busy = false;
            member->worked_ns += at_ns - member->since_ns;
            member->since_ns = at_ns;
        }
    }
    begin(member, common, at_ns);
    return ended;
}

uint64_t model_member_end_ns(const struct model_member *member, const struct model_common *common)
{
    uint64_t at_ns = member->event_ns;
    if (at_ns == UINT64_MAX || member->moving != NULL)
        return at_ns;
    return at_ns + paced(member, common, at_ns, transfer_ns(common, member->slots[0].part));
}
