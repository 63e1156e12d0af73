#ifndef TRACKRAMP_TESTS_BENCH_FIXTURE_H
#define TRACKRAMP_TESTS_BENCH_FIXTURE_H

/* A bench on a modelled drive, in virtual time. Included behind cmocka's own headers. */

#include "simulation.h"
#include "study/bench.h"

#include <stdlib.h>

struct scene {
    struct plan plan;
    struct study_observer observer;
    struct bench bench;
    struct error error;
};

static inline void scene_ignore(void *user, const struct study_progress *progress)
{
    (void)user;
    (void)progress;
}

static inline bool scene_goes_on(void *user)
{
    (void)user;
    return false;
}

static inline void assert_done(const struct scene *scene, int result)
{
    assert_string_equal(scene->error.text, "");
    assert_int_equal(result, 0);
}

/* Opened for the drive that `model` describes, with `changes`' block size, format, ring, start and
 * pool. */
static inline struct scene *scene_new(const char *model, const struct plan *changes)
{
    static const char *const directory = "modelled";
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    struct plan *plan = &scene->plan;
    *plan = *changes;
    plan->directories = &directory;
    plan->directory_count = 1;
    plan->block_size_count = 1;
    plan->direct = true;
    plan->engine = PLAN_ENGINE_MODEL;
    plan->device = "simulated";
    plan->frames = 256;
    plan->trial_s = 5;
    plan->repeats = 1;
    scene->observer =
        (struct study_observer){.progress = scene_ignore, .interrupted = scene_goes_on};
    assert_done(scene, model_parse(&plan->model, model, &scene->error));
    simulation_begin();
    assert_done(scene, bench_init(&scene->bench, plan, &scene->observer, &scene->error));
    assert_done(scene, bench_open_drive(&scene->bench, directory, &scene->error));
    bench_set_engine(&scene->bench, ENGINE_MODEL);
    assert_done(scene, bench_set_block(&scene->bench, plan->block_bytes[0], &scene->error));
    return scene;
}

static inline void scene_free(struct scene *scene)
{
    assert_done(scene, bench_close_drive(&scene->bench, &scene->error));
    bench_fini(&scene->bench);
    simulation_end();
    free(scene);
}

#endif
