#include "study/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/*
 * Backlog curves as trials see them: a drive that serves at a rate, in grants of 100 ms where a
 * controller holds it, with credit saved up, stalls and a floor of reads that are always under
 * way; tracks that ask for blocks evenly; looked at every 5 ms.
 */

static const double look_s = 0.005, grant_s = 0.1;

/* 227 mono tracks of 44.1/16, in blocks a second. */
static const double demand_64k = 227 * 88200 / 65536.0, demand_1m = 227 * 88200 / 1048576.0;

struct drive {
    double trial_s, demand; /* in blocks a second */
    double capacity_share;  /* of the demand */
    bool in_grants;         /* serves in bursts of 100 ms */
    double credit_blocks;   /* served at once at the beginning */
    double lead_in_blocks;  /* missing at the start */
    double stall_at_s, stall_s;
    double ring_blocks;     /* the backlog at which a ring runs dry; 0: never */
    double gap_at_s, gap_s; /* nobody looks */
    uint32_t noise_blocks;  /* in turn this much more and not */
    double floor_blocks;    /* never less: reads under way */
};

struct outcome {
    struct verdict verdict;
    double decided_s;
};

static double served(const struct drive *drive, double from_s, double to_s)
{
    double rate = drive->capacity_share * drive->demand;
    if (drive->stall_s > 0 && from_s >= drive->stall_at_s &&
        from_s < drive->stall_at_s + drive->stall_s)
        return 0;
    if (!drive->in_grants)
        return rate * (to_s - from_s);
    return rate * grant_s * (floor(to_s / grant_s) - floor(from_s / grant_s));
}

static struct outcome hold(struct drive drive)
{
    struct outcome outcome = {.decided_s = INFINITY};
    struct verdict_terms terms = {drive.trial_s, drive.demand};
    verdict_init(&outcome.verdict, &terms);
    double backlog = drive.lead_in_blocks, credit = drive.credit_blocks;
    uint64_t steps = (uint64_t)(drive.trial_s / look_s) + 20;
    for (uint64_t step = 1; step <= steps; step++) {
        double from_s = (double)(step - 1) * look_s, now_s = (double)step * look_s;
        backlog += drive.demand * look_s;
        double most = fmax(0, backlog - drive.floor_blocks);
        double done = served(&drive, from_s, now_s) + credit;
        credit = fmin(credit, fmax(0, done - most));
        done = fmin(done, most);
        backlog -= done;
        if (now_s > drive.gap_at_s && now_s < drive.gap_at_s + drive.gap_s)
            continue;
        struct verdict_sample sample = {
            .time_s = now_s,
            .backlog_blocks = (uint64_t)backlog + (step % 7 == 0 ? drive.noise_blocks : 0),
            .underruns = drive.ring_blocks > 0 && backlog > drive.ring_blocks};
        if (verdict_add(&outcome.verdict, &sample) != VERDICT_OPEN) {
            outcome.decided_s = now_s;
            break;
        }
    }
    return outcome;
}

/* A drive at 64 KiB blocks whose lead-in, and nothing else, is out of the ordinary. */
static struct drive ordinary(double capacity_share)
{
    return (struct drive){.trial_s = 5,
                          .demand = demand_64k,
                          .capacity_share = capacity_share,
                          .in_grants = true,
                          .lead_in_blocks = demand_64k * 0.12};
}

static void expect(struct outcome outcome, enum verdict_state state, enum verdict_cause cause)
{
    if (outcome.verdict.state != state || outcome.verdict.cause != cause)
        fail_msg("state %d cause %d at %.2f s, growth %.3f", outcome.verdict.state,
                 outcome.verdict.cause, outcome.decided_s,
                 outcome.verdict.growth_blocks_per_second);
}

/* --- overload ----------------------------------------------------------------------------- */

static void test_overload_fails_and_its_size_is_seen(void **state)
{
    (void)state;
    static const double overloads[] = {0.01, 0.02, 0.05, 0.2};
    for (size_t i = 0; i < sizeof overloads / sizeof *overloads; i++) {
        for (int grants = 0; grants < 2; grants++) {
            struct drive drive = ordinary(1 - overloads[i]);
            drive.in_grants = grants;
            struct outcome outcome = hold(drive);
            expect(outcome, VERDICT_FAIL, VERDICT_BACKLOG);
            assert_true(outcome.verdict.busy);
            double seen = outcome.verdict.growth_blocks_per_second / drive.demand;
            assert_true(fabs(seen - overloads[i]) < 0.003 + 0.1 * overloads[i]);
        }
    }
}

static void test_clear_overload_is_called_early(void **state)
{
    (void)state;
    /* 5 % of 305 blocks a second: more than 8 blocks in three windows beyond the settling two. */
    assert_true(hold(ordinary(0.80)).decided_s < 2.2);
    assert_true(hold(ordinary(0.95)).decided_s < 3.5);
    /* What is close to the limit is given its time. */
    assert_true(hold(ordinary(0.98)).decided_s > 4.9);
    /* Never before it can be told from a beginning: the settled windows and three more. */
    assert_true(hold(ordinary(0.1)).decided_s >= 5.0 / VERDICT_WINDOWS * 5);
}

static void test_a_trial_three_times_as_long_tells_finer(void **state)
{
    (void)state;
    struct drive drive = ordinary(0.994);
    drive.trial_s = 15;
    expect(hold(drive), VERDICT_FAIL, VERDICT_BACKLOG);
}

/* Half a percent may hide in a burst; it is not called before the time is up, and passes. */
static void test_what_the_trial_cannot_tell_passes(void **state)
{
    (void)state;
    struct outcome outcome = hold(ordinary(0.998));
    expect(outcome, VERDICT_PASS, VERDICT_STEADY);
    assert_true(outcome.verdict.busy && outcome.decided_s > 4.9);
}

/* --- a drive that keeps up ---------------------------------------------------------------- */

static void test_a_drive_that_keeps_up_passes(void **state)
{
    (void)state;
    static const double shares[] = {1.1, 1.5, 3};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct drive drive = ordinary(shares[i]);
        drive.in_grants = false;
        struct outcome outcome = hold(drive);
        expect(outcome, VERDICT_PASS, VERDICT_KEPT_UP);
        assert_false(outcome.verdict.busy);
        assert_true(outcome.decided_s >= 4.9 && outcome.decided_s < 5.1);
    }
}

/* Between grants of 100 ms the backlog climbs by a tenth of a second's demand, and falls again. */
static void test_bursts_of_100_ms_are_no_backlog(void **state)
{
    (void)state;
    static const double shares[] = {1.02, 1.05, 1.2};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct outcome outcome = hold(ordinary(shares[i]));
        assert_int_equal(outcome.verdict.state, VERDICT_PASS);
        assert_true(outcome.verdict.growth_blocks_per_second < 0.01 * demand_64k);
    }
}

/* It carries exactly this: the backlog it began with stays, and stays the same. */
static void test_steady_at_the_limit_passes(void **state)
{
    (void)state;
    for (int grants = 0; grants < 2; grants++) {
        struct drive drive = ordinary(1);
        drive.in_grants = grants;
        struct outcome outcome = hold(drive);
        expect(outcome, VERDICT_PASS, VERDICT_STEADY);
        assert_true(outcome.verdict.busy);
        assert_true(fabs(outcome.verdict.growth_blocks_per_second) < 0.004 * drive.demand);
    }
}

/* --- what deceives ------------------------------------------------------------------------ */

/* 150 ms of service saved up while nobody read: all of it gone before judging begins. */
static void test_saved_up_credit_hides_no_overload(void **state)
{
    (void)state;
    struct drive drive = ordinary(0.97);
    drive.credit_blocks = 0.15 * drive.demand;
    struct outcome outcome = hold(drive);
    expect(outcome, VERDICT_FAIL, VERDICT_BACKLOG);
    drive = ordinary(0.95);
    drive.credit_blocks = 0.15 * drive.demand;
    expect(hold(drive), VERDICT_FAIL, VERDICT_BACKLOG);
}

/* The drive stood still for 300 ms and works it off: weather, not load. */
static void test_a_stall_that_is_worked_off_passes(void **state)
{
    (void)state;
    for (double at_s = 0.5; at_s < 3; at_s += 0.25) {
        struct drive drive = ordinary(1.3);
        drive.in_grants = false;
        drive.stall_at_s = at_s;
        drive.stall_s = 0.3;
        struct outcome outcome = hold(drive);
        expect(outcome, VERDICT_PASS, VERDICT_KEPT_UP);
    }
}

static void test_an_underrun_fails_at_once(void **state)
{
    (void)state;
    struct drive drive = ordinary(1.5);
    drive.in_grants = false;
    drive.stall_at_s = 2;
    drive.stall_s = 1;
    drive.ring_blocks = 0.5 * drive.demand;
    struct outcome outcome = hold(drive);
    expect(outcome, VERDICT_FAIL, VERDICT_UNDERRUN);
    assert_true(fabs(outcome.verdict.underrun_s - 2.5) < 0.02);
    assert_true(outcome.decided_s == outcome.verdict.underrun_s);
}

/* 19 blocks a second: one more or less is half a window's demand, and no trend. */
static void test_one_block_of_noise_at_large_blocks_passes(void **state)
{
    (void)state;
    struct drive drive = {.trial_s = 5,
                          .demand = demand_1m,
                          .capacity_share = 1.02,
                          .lead_in_blocks = 2,
                          .noise_blocks = 1};
    assert_int_equal(hold(drive).verdict.state, VERDICT_PASS);
    drive.floor_blocks = 3; /* always some under way */
    assert_int_equal(hold(drive).verdict.state, VERDICT_PASS);
    /* A step of one block in the middle. */
    drive.capacity_share = 0.99;
    assert_int_equal(hold(drive).verdict.state, VERDICT_PASS);
    drive.capacity_share = 0.95;
    expect(hold(drive), VERDICT_FAIL, VERDICT_BACKLOG);
}

/* At 19 blocks a second a rise of one block at an end of the trial has a slope of 0.11 to 0.19
 * blocks a second, up to 1 % of the demand, and yet is one block. */
static void test_a_rise_of_one_block_is_no_trend(void **state)
{
    (void)state;
    static const uint32_t rises_at_window[] = {3, 4, 10, 11};
    for (size_t i = 0; i < sizeof rises_at_window / sizeof *rises_at_window; i++) {
        struct verdict verdict;
        verdict_init(&verdict, &(struct verdict_terms){6, demand_1m});
        for (double now_s = 0; now_s < 6.01; now_s += look_s) {
            uint64_t backlog = now_s < rises_at_window[i] * 0.5 ? 3 : 4;
            struct verdict_sample sample = {.time_s = now_s, .backlog_blocks = backlog};
            verdict_add(&verdict, &sample);
        }
        assert_int_equal(verdict.state, VERDICT_PASS);
        assert_int_equal(verdict.cause, VERDICT_STEADY);
        assert_true(verdict.growth_blocks_per_second > 0.1);
    }
}

/* The main thread was kept away for longer than a window. */
static void test_late_samples_stand_for_the_windows_they_missed(void **state)
{
    (void)state;
    for (double at_s = 0.3; at_s < 4; at_s += 0.3) {
        struct drive drive = ordinary(1.2);
        drive.in_grants = false;
        drive.gap_at_s = at_s;
        drive.gap_s = 1.1;
        struct outcome outcome = hold(drive);
        expect(outcome, VERDICT_PASS, VERDICT_KEPT_UP);
        assert_int_equal(outcome.verdict.windows, VERDICT_WINDOWS);
        drive.capacity_share = 0.95;
        expect(hold(drive), VERDICT_FAIL, VERDICT_BACKLOG);
        drive.capacity_share = 1;
        expect(hold(drive), VERDICT_PASS, VERDICT_STEADY);
    }
}

/* --- edges -------------------------------------------------------------------------------- */

static void test_one_late_sample_ends_the_trial(void **state)
{
    (void)state;
    struct verdict verdict;
    verdict_init(&verdict, &(struct verdict_terms){5, demand_64k});
    assert_int_equal(verdict_add(&verdict, &(struct verdict_sample){.time_s = 60}), VERDICT_PASS);
    assert_int_equal(verdict.windows, VERDICT_WINDOWS);
}

static void test_a_verdict_stands(void **state)
{
    (void)state;
    struct outcome outcome = hold(ordinary(1.5));
    enum verdict_state state_before = outcome.verdict.state;
    struct verdict_sample worse = {.time_s = 99, .backlog_blocks = 100000, .underruns = 5};
    assert_int_equal(verdict_add(&outcome.verdict, &worse), state_before);
    assert_true(outcome.verdict.underrun_s == 0);
}

static void test_before_the_time_is_up_it_is_open(void **state)
{
    (void)state;
    struct verdict verdict;
    verdict_init(&verdict, &(struct verdict_terms){5, demand_64k});
    for (double now_s = 0; now_s < 4.99; now_s += 0.01) {
        struct verdict_sample sample = {.time_s = now_s};
        assert_int_equal(verdict_add(&verdict, &sample), VERDICT_OPEN);
    }
    assert_int_equal(verdict_add(&verdict, &(struct verdict_sample){.time_s = 5}), VERDICT_PASS);
    assert_int_equal(verdict.cause, VERDICT_KEPT_UP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overload_fails_and_its_size_is_seen),
        cmocka_unit_test(test_clear_overload_is_called_early),
        cmocka_unit_test(test_a_trial_three_times_as_long_tells_finer),
        cmocka_unit_test(test_what_the_trial_cannot_tell_passes),
        cmocka_unit_test(test_a_drive_that_keeps_up_passes),
        cmocka_unit_test(test_bursts_of_100_ms_are_no_backlog),
        cmocka_unit_test(test_steady_at_the_limit_passes),
        cmocka_unit_test(test_saved_up_credit_hides_no_overload),
        cmocka_unit_test(test_a_stall_that_is_worked_off_passes),
        cmocka_unit_test(test_an_underrun_fails_at_once),
        cmocka_unit_test(test_one_block_of_noise_at_large_blocks_passes),
        cmocka_unit_test(test_a_rise_of_one_block_is_no_trend),
        cmocka_unit_test(test_late_samples_stand_for_the_windows_they_missed),
        cmocka_unit_test(test_one_late_sample_ends_the_trial),
        cmocka_unit_test(test_a_verdict_stands),
        cmocka_unit_test(test_before_the_time_is_up_it_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
