#include "stream/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TRACKS = 50, OPERATIONS = 50000 };

/* The same promise in the plainest form: look at all of them, each time. */
struct naive {
    bool in[TRACKS];
    uint64_t free_frame[TRACKS], dry_frame[TRACKS];
};

static uint64_t random_state = 1;

static uint64_t random_under(uint64_t bound)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % bound;
}

/* The smallest dry frame among the ready; UINT64_MAX when none is. */
static uint64_t naive_least_dry(const struct naive *naive, uint64_t now)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t track = 0; track < TRACKS; track++) {
        if (naive->in[track] && naive->free_frame[track] <= now && naive->dry_frame[track] < least)
            least = naive->dry_frame[track];
    }
    return least;
}

/* What schedule_next_frame must say: a track that was found ready once stays ready, and the
 * others are waiting for their frame. */
static uint64_t naive_next_frame(const struct naive *naive, const bool *ready)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t track = 0; track < TRACKS; track++) {
        if (naive->in[track] && ready[track])
            return 0;
        if (naive->in[track] && naive->free_frame[track] < next)
            next = naive->free_frame[track];
    }
    return next;
}

static void test_random_operations_against_a_naive_model(void **state)
{
    (void)state;
    struct schedule schedule;
    struct naive naive = {0};
    bool ready[TRACKS] = {false};
    uint64_t now = 0, taken = 0, refused = 0;
    assert_int_equal(schedule_init(&schedule, TRACKS), 0);
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        uint32_t track = (uint32_t)random_under(TRACKS);
        if (random_under(2) == 0 && !naive.in[track]) {
            naive.in[track] = true;
            naive.free_frame[track] = now + random_under(200) - (now > 50 ? 50 : 0);
            naive.dry_frame[track] = now + random_under(40); /* many alike */
            schedule_add(&schedule, track, naive.free_frame[track], naive.dry_frame[track]);
        } else {
            now += random_under(10);
            uint64_t least = naive_least_dry(&naive, now);
            for (uint32_t i = 0; i < TRACKS; i++)
                ready[i] = naive.in[i] && (ready[i] || naive.free_frame[i] <= now);
            bool took = schedule_take(&schedule, now, &track);
            assert_int_equal(took, least != UINT64_MAX);
            taken += took;
            refused += !took;
            if (took) {
                assert_true(track < TRACKS && naive.in[track] && ready[track]);
                assert_int_equal(naive.dry_frame[track], least);
                naive.in[track] = ready[track] = false;
            }
        }
        assert_true(schedule_next_frame(&schedule) == naive_next_frame(&naive, ready));
    }
    assert_true(taken > OPERATIONS / 10 && refused > OPERATIONS / 100);
    schedule_fini(&schedule);
}

static void test_an_empty_schedule_has_nothing(void **state)
{
    (void)state;
    struct schedule schedule;
    uint32_t track;
    assert_int_equal(schedule_init(&schedule, 1), 0);
    assert_false(schedule_take(&schedule, UINT64_MAX, &track));
    assert_true(schedule_next_frame(&schedule) == UINT64_MAX);
    schedule_fini(&schedule);
    schedule_fini(&schedule); /* a closer takes it twice */
}

static void test_a_track_is_ready_at_its_frame_and_not_before(void **state)
{
    (void)state;
    struct schedule schedule;
    uint32_t track;
    assert_int_equal(schedule_init(&schedule, 1), 0);
    schedule_add(&schedule, 9, 100, 300);
    assert_int_equal(schedule_next_frame(&schedule), 100);
    assert_false(schedule_take(&schedule, 99, &track));
    assert_true(schedule_take(&schedule, 100, &track));
    assert_int_equal(track, 9);
    assert_false(schedule_take(&schedule, UINT64_MAX, &track));
    schedule_fini(&schedule);
}

/* Not the one that was free first: the one that runs dry first. */
static void test_the_ring_that_runs_dry_first_is_served_first(void **state)
{
    (void)state;
    struct schedule schedule;
    uint32_t track;
    assert_int_equal(schedule_init(&schedule, 3), 0);
    schedule_add(&schedule, 0, 10, 500);
    schedule_add(&schedule, 1, 20, 400);
    schedule_add(&schedule, 2, 30, 300);
    assert_true(schedule_take(&schedule, 20, &track));
    assert_int_equal(track, 1); /* 2 is not free yet */
    assert_int_equal(schedule_next_frame(&schedule), 0);
    assert_true(schedule_take(&schedule, 30, &track));
    assert_int_equal(track, 2);
    assert_true(schedule_take(&schedule, 30, &track));
    assert_int_equal(track, 0);
    schedule_fini(&schedule);
}

/* Reading flat out uses the ends of the range. */
static void test_the_extremes_of_time(void **state)
{
    (void)state;
    struct schedule schedule;
    uint32_t track;
    assert_int_equal(schedule_init(&schedule, 2), 0);
    schedule_add(&schedule, 0, 0, UINT64_MAX);
    schedule_add(&schedule, 1, UINT64_MAX, 0);
    assert_true(schedule_take(&schedule, UINT64_MAX - 1, &track));
    assert_int_equal(track, 0);
    assert_false(schedule_take(&schedule, UINT64_MAX - 1, &track));
    assert_true(schedule_take(&schedule, UINT64_MAX, &track));
    assert_int_equal(track, 1);
    schedule_fini(&schedule);
}

static void test_many_tracks_come_out_in_order(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct schedule schedule;
    uint64_t *dry = malloc(MANY * sizeof *dry), before = 0;
    uint32_t track, count = 0;
    assert_non_null(dry);
    assert_int_equal(schedule_init(&schedule, MANY), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        dry[i] = random_under(1000000);
        schedule_add(&schedule, i, random_under(1000), dry[i]);
    }
    while (schedule_take(&schedule, 1000, &track)) {
        assert_true(dry[track] >= before);
        before = dry[track];
        count++;
    }
    assert_int_equal(count, MANY);
    schedule_fini(&schedule);
    free(dry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_operations_against_a_naive_model),
        cmocka_unit_test(test_an_empty_schedule_has_nothing),
        cmocka_unit_test(test_a_track_is_ready_at_its_frame_and_not_before),
        cmocka_unit_test(test_the_ring_that_runs_dry_first_is_served_first),
        cmocka_unit_test(test_the_extremes_of_time),
        cmocka_unit_test(test_many_tracks_come_out_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
