#ifndef TRACKRAMP_TESTS_MODEL_FIXTURE_H
#define TRACKRAMP_TESTS_MODEL_FIXTURE_H

#include "model.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A modelled drive under load: so many reads under way, a new one at the moment at which one is
 * done. Times begin at an odd moment, as they do outside. */

enum { FIXTURE_QUEUE_MAX = 1024 };
#define FIXTURE_BEGIN_NS UINT64_C(123456789012345)

struct load {
    const char *spec;
    uint32_t queue;      /* reads under way */
    uint32_t bytes;      /* of each */
    uint32_t reads;      /* in all */
    uint64_t span_bytes; /* random places in it; 0: one behind the other */
    uint64_t seed;
};

struct load_result {
    double seconds; /* until the last one was done */
    double mean_s;  /* submit to done */
    uint64_t print; /* of who was done when */
};

static inline struct model_spec fixture_spec(const char *text)
{
    struct model_spec spec;
    struct error error = {0};
    if (model_parse(&spec, text, &error) != 0)
        fail_msg("%s", error.text);
    return spec;
}

static inline struct model *fixture_model(const char *text)
{
    struct model_spec spec = fixture_spec(text);
    struct model *model = model_new(&spec, 1, FIXTURE_BEGIN_NS);
    assert_non_null(model);
    return model;
}

/* Goes from one model_next_ns to the next. */
static inline struct load_result fixture_run(struct load load)
{
    static struct model_request requests[FIXTURE_QUEUE_MAX];
    struct model_request *idle[FIXTURE_QUEUE_MAX];
    static uint64_t submitted_ns[FIXTURE_QUEUE_MAX];
    struct model_spec spec = fixture_spec(load.spec);
    struct model *model = model_new(&spec, load.seed, FIXTURE_BEGIN_NS);
    struct load_result result = {0};
    uint64_t random = load.seed + 1, now_ns = FIXTURE_BEGIN_NS;
    uint32_t idle_count = load.queue, sent = 0;
    assert_non_null(model);
    assert_true(load.queue <= FIXTURE_QUEUE_MAX);
    for (uint32_t i = 0; i < load.queue; i++)
        idle[i] = &requests[i];
    for (uint32_t done = 0; done < load.reads;) {
        while (idle_count > 0 && sent < load.reads) {
            struct model_request *request = idle[--idle_count];
            uint64_t block =
                load.span_bytes == 0 ? sent : random_below(&random, load.span_bytes / load.bytes);
            *request =
                (struct model_request){.offset_bytes = block * load.bytes, .bytes = load.bytes};
            submitted_ns[request - requests] = now_ns;
            model_submit(model, request, now_ns);
            sent++;
        }
        uint64_t next_ns = model_next_ns(model);
        assert_true(next_ns != UINT64_MAX && next_ns >= now_ns);
        now_ns = next_ns;
        struct model_request *request = model_take(model, now_ns);
        if (request == NULL)
            continue;                            /* model_next_ns may be early */
        assert_true(request->done_ns == now_ns); /* but not late */
        result.mean_s += (double)(now_ns - submitted_ns[request - requests]) / 1e9 / load.reads;
        result.print = (result.print ^ request->offset_bytes) * UINT64_C(0x100000001b3);
        result.print = (result.print ^ request->done_ns) * UINT64_C(0x100000001b3);
        idle[idle_count++] = request;
        done++;
    }
    assert_true(model_next_ns(model) == UINT64_MAX);
    model_free(model);
    result.seconds = (double)(now_ns - FIXTURE_BEGIN_NS) / 1e9;
    return result;
}

static inline void assert_near(double value, double wanted, double share)
{
    if (!(value >= wanted * (1 - share) && value <= wanted * (1 + share)))
        fail_msg("%.9g instead of %.9g", value, wanted);
}

#endif
