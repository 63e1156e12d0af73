#include "model_member.h"
#include "random.h"

#include <assert.h>
#include <stdlib.h>

/*
 * The drive as queues: requests are cut up for the members of the stripe, go their way there
 * (model_member.c), and are done when all their parts are.
 *
 * Time goes from event to event, of which a member has one at most. All events are in work time. A
 * stall adds its length to the distance between work time and the caller's, so it shifts
 * everything that is to come, and nothing else has to know of stalls.
 */

enum { PARTS_PER_MEMBER = 4096 };

struct queue {
    struct model_request *first, **end;
};

struct model {
    struct model_spec spec;
    struct model_common common;
    struct model_member *members;
    struct model_slot *slots;
    uint64_t begin_ns; /* caller's time */

    uint64_t clock_ns;  /* of the last event or stall, work time */
    uint64_t offset_ns; /* caller's time less work time */
    uint64_t stall_ns;
    uint64_t next_stall_ns; /* work time; UINT64_MAX: none */
    uint64_t stall_random;  /* state */

    /* parts that nobody has: those that somebody had, and those that nobody ever had */
    struct model_part *parts, *unused;
    size_t fresh, free_count;

    struct queue outside;       /* requests for which there were no parts */
    struct queue done;          /* in the order of done_ns */
    struct model_request *late; /* likewise */
    uint32_t faults_used;       /* bits */
};

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)(seconds * 1e9 + 0.5);
}

static void queue_append(struct queue *queue, struct model_request *request)
{
    request->next = NULL;
    *queue->end = request;
    queue->end = &request->next;
}

static struct model_request *queue_take(struct queue *queue)
{
    struct model_request *request = queue->first;
    queue->first = request->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
    return request;
}

/* --- requests ------------------------------------------------------------------------------- */

/* Does to a request that is done what the specification has in store. True: it is late. */
static bool apply_fault(struct model *model, struct model_request *request)
{
    for (uint32_t i = 0; i < model->spec.fault_count; i++) {
        const struct model_fault *fault = &model->spec.faults[i];
        if ((model->faults_used >> i & 1) != 0 ||
            request->done_ns - model->begin_ns < nanoseconds(fault->at_s))
            continue;
        model->faults_used |= UINT32_C(1) << i;
        if (fault->kind != MODEL_FAULT_LATE) {
            request->fault = fault->kind;
            return false;
        }
        request->done_ns += nanoseconds(fault->late_s);
        return true;
    }
    return false;
}

static void finish_request(struct model *model, struct model_request *request)
{
    request->done_ns = model->clock_ns + model->offset_ns;
    if (!apply_fault(model, request)) {
        queue_append(&model->done, request);
        return;
    }
    struct model_request **at = &model->late;
    while (*at != NULL && (*at)->done_ns <= request->done_ns)
        at = &(*at)->next;
    request->next = *at;
    *at = request;
}

static void add_part(struct model *model, uint64_t member, struct model_request *request,
                     uint64_t place_bytes, uint32_t bytes, uint64_t at_ns)
{
    struct model_part *part = model->unused;
    if (part != NULL)
        model->unused = part->next;
    else
        part = &model->parts[model->fresh++];
    model->free_count--;
    *part = (struct model_part){.request = request, .place_bytes = place_bytes, .bytes = bytes};
    model_member_add(&model->members[member], &model->common, part, at_ns);
}

static void drop_part(struct model *model, struct model_part *part)
{
    part->next = model->unused;
    model->unused = part;
    model->free_count++;
}

/* RAID 0: unit after unit, member after member. The units of a request that lie on one member lie
 * side by side there, so a member reads them in one. */
static void cut_up(struct model *model, struct model_request *request, uint64_t at_ns)
{
    uint32_t members = model->spec.members;
    if (members == 1) {
        request->parts_left = 1;
        add_part(model, 0, request, request->offset_bytes, request->bytes, at_ns);
        return;
    }
    uint64_t unit = model->spec.unit_bytes, end = request->offset_bytes + request->bytes;
    uint64_t first = request->offset_bytes / unit, last = (end - 1) / unit;
    uint32_t parts = (uint32_t)(last - first < members ? last - first + 1 : members);
    request->parts_left = parts;
    for (uint64_t from = first; from < first + parts; from++) {
        uint64_t units = (last - from) / members + 1;
        uint64_t before = from == first ? request->offset_bytes % unit : 0;
        uint64_t behind = from + (units - 1) * members == last ? (last + 1) * unit - end : 0;
        add_part(model, from % members, request, from / members * unit + before,
                 (uint32_t)(units * unit - before - behind), at_ns);
    }
}

/* --- time ----------------------------------------------------------------------------------- */

static void schedule_stall(struct model *model)
{
    const struct model_spec *spec = &model->spec;
    if (model->stall_ns == 0)
        model->next_stall_ns = UINT64_MAX;
    else if (spec->stall_random)
        model->next_stall_ns +=
            nanoseconds(spec->stall_every_s * model_exponential(&model->stall_random));
    else /* the first begins after a whole interval, another after what a stall leaves of one */
        model->next_stall_ns +=
            nanoseconds(spec->stall_every_s) - (model->next_stall_ns == 0 ? 0 : model->stall_ns);
}

static struct model_member *next_member(const struct model *model)
{
    struct model_member *next = model->members;
    for (uint32_t i = 1; i < model->spec.members; i++) {
        if (model->members[i].event_ns < next->event_ns)
            next = &model->members[i];
    }
    return next;
}

static void step(struct model *model, struct model_member *member)
{
    model->clock_ns = member->event_ns;
    struct model_part *ended = model_member_step(member, &model->common);
    if (ended == NULL)
        return;
    if (--ended->request->parts_left == 0)
        finish_request(model, ended->request);
    drop_part(model, ended);
    while (model->outside.first != NULL && model->free_count >= model->spec.members)
        cut_up(model, queue_take(&model->outside), model->clock_ns);
}

/* All that happens up to `now_ns`. Returns the work time that it is then. */
static uint64_t advance(struct model *model, uint64_t now_ns)
{
    for (;;) {
        uint64_t work_ns = now_ns > model->offset_ns ? now_ns - model->offset_ns : 0;
        struct model_member *member = next_member(model);
        if (model->next_stall_ns <= member->event_ns && model->next_stall_ns <= work_ns) {
            model->clock_ns = model->next_stall_ns;
            model->offset_ns += model->stall_ns;
            schedule_stall(model);
        } else if (member->event_ns <= work_ns) {
            step(model, member);
        } else { /* within a stall, it is still when the stall began */
            return work_ns > model->clock_ns ? work_ns : model->clock_ns;
        }
    }
}

/* --- the border ----------------------------------------------------------------------------- */

void model_submit(struct model *model, struct model_request *request, uint64_t now_ns)
{
    assert(request->bytes > 0);
    uint64_t at_ns = advance(model, now_ns);
    request->fault = MODEL_FAULT_NONE;
    if (model->free_count >= model->spec.members)
        cut_up(model, request, at_ns);
    else
        queue_append(&model->outside, request);
}

static bool late_is_first(const struct model *model)
{
    const struct model_request *done = model->done.first, *late = model->late;
    return late != NULL && (done == NULL || late->done_ns < done->done_ns);
}

struct model_request *model_take(struct model *model, uint64_t now_ns)
{
    advance(model, now_ns);
    bool late = late_is_first(model);
    struct model_request *first = late ? model->late : model->done.first;
    if (first == NULL || first->done_ns > now_ns)
        return NULL;
    if (!late)
        return queue_take(&model->done);
    model->late = first->next;
    return first;
}

uint64_t model_next_ns(const struct model *model)
{
    uint64_t next_ns = UINT64_MAX;
    for (uint32_t i = 0; i < model->spec.members; i++) {
        uint64_t end_ns = model_member_end_ns(&model->members[i], &model->common);
        if (end_ns < next_ns)
            next_ns = end_ns;
    }
    if (next_ns != UINT64_MAX)
        next_ns += model->offset_ns + (model->next_stall_ns <= next_ns ? model->stall_ns : 0);
    const struct model_request *first = late_is_first(model) ? model->late : model->done.first;
    return first != NULL && first->done_ns < next_ns ? first->done_ns : next_ns;
}

struct model *model_new(const struct model_spec *spec, uint64_t seed, uint64_t now_ns)
{
    assert(spec->depth >= 1 && spec->members >= 1 && spec->members <= MODEL_MEMBERS_MAX);
    assert(spec->stall_random || spec->stall_s <= 0 || spec->stall_s < spec->stall_every_s);
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return NULL;
    model->free_count = (size_t)spec->members * PARTS_PER_MEMBER;
    model->members = calloc(spec->members, sizeof *model->members);
    model->slots = calloc((size_t)spec->members * spec->depth, sizeof *model->slots);
    model->parts = calloc(model->free_count, sizeof *model->parts);
    if (model->members == NULL || model->slots == NULL || model->parts == NULL) {
        model_free(model);
        return NULL;
    }
    model->spec = *spec;
    model_common_init(&model->common, &model->spec, random_next(&seed));
    for (uint32_t i = 0; i < spec->members; i++)
        model_member_init(&model->members[i], &model->slots[(size_t)i * spec->depth]);
    model->begin_ns = model->offset_ns = now_ns;
    model->stall_ns = nanoseconds(spec->stall_s);
    model->stall_random = random_next(&seed);
    schedule_stall(model);
    model->outside.end = &model->outside.first;
    model->done.end = &model->done.first;
    return model;
}

void model_free(struct model *model)
{
    if (model == NULL)
        return;
    free(model->members);
    free(model->slots);
    free(model->parts);
    free(model);
}

const struct model_spec *model_spec(const struct model *model)
{
    return &model->spec;
}
