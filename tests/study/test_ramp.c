#include "study/ramp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Searches on a drive whose capacity is known, in tracks. */

enum { TRIALS_MOST = 20, TRIALS_ENDLESS = 200 };

struct fake {
    uint32_t capacity;
    bool estimates;          /* busy trials say what it carries ... */
    double estimate_error;   /* ... and are off by so much, one way and the other */
    double unsteady;         /* a trial's own capacity is off by up to this share, at random */
    uint32_t confirm_margin; /* the longer trial finds so many tracks less */
    double spoiled;          /* chance of a short trial to be spoiled by a stall */
    uint32_t held_most;      /* a longer trial of more than this is spoiled; UINT32_MAX: of any */
    uint32_t comfortable;    /* with more than this, rings come near to running dry; 0: they never
                                do */
    uint64_t random;
};

struct search {
    struct ramp ramp;
    uint32_t trials, confirmed; /* confirmed: the last count that was held */
    uint32_t held;              /* trials of the longer kind */
    uint32_t margin_trials;
};

/* -1 to 1. */
static double random_share(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 33) / (double)(UINT64_C(1) << 30) - 1;
}

static bool is_long(enum ramp_step step)
{
    return step == STEP_CONFIRM || step == STEP_FLOOR;
}

static bool is_spoiled(struct fake *fake, uint32_t tracks, enum ramp_step step)
{
    if (is_long(step))
        return fake->held_most != 0 && (fake->held_most == UINT32_MAX || tracks > fake->held_most);
    return fake->spoiled > 0 && random_share(&fake->random) < 2 * fake->spoiled - 1;
}

static struct ramp_trial trial(struct fake *fake, uint32_t tracks, enum ramp_step step)
{
    double capacity = fake->capacity * (1 + fake->unsteady * random_share(&fake->random));
    struct ramp_trial trial = {.clear = true, .lowest_fill_percent = 60};
    if (step == STEP_CONFIRM)
        capacity -= fake->confirm_margin;
    if (fake->estimates && tracks > 0.97 * capacity)
        trial.estimate = capacity * (1 + fake->estimate_error * random_share(&fake->random));
    trial.pass = tracks <= capacity;
    if (fake->comfortable > 0 && tracks > fake->comfortable)
        trial.lowest_fill_percent = 19;
    if (is_spoiled(fake, tracks, step))
        trial.pass = trial.clear = false;
    return trial;
}

static struct search find(struct fake fake, uint32_t guess, uint32_t cap, bool known)
{
    struct search search = {0};
    uint32_t tracks;
    enum ramp_step step;
    ramp_init(&search.ramp, guess, cap, known);
    while (ramp_next(&search.ramp, &tracks, &step)) {
        if (tracks < 1 || tracks > cap)
            fail_msg("capacity %u: %u tracks tried", fake.capacity, tracks);
        struct ramp_trial went = trial(&fake, tracks, step);
        if (went.pass && is_long(step))
            search.confirmed = tracks;
        search.held += is_long(step);
        search.margin_trials += step == STEP_MARGIN;
        ramp_report(&search.ramp, &went);
        if (++search.trials > TRIALS_ENDLESS)
            fail_msg("capacity %u, guess %u, cap %u: no end", fake.capacity, guess, cap);
    }
    assert_false(ramp_next(&search.ramp, &tracks, &step));
    if (!search.ramp.irregular)
        assert_int_equal(search.ramp.sustained, search.confirmed); /* none comes out unconfirmed */
    assert_true(search.ramp.comfortable <= search.ramp.sustained);
    return search;
}

static void expect_near(const struct search *search, uint32_t wanted, double share)
{
    double off = (double)wanted - search->ramp.sustained;
    double allowed = share * wanted > 1 ? share * wanted : 1;
    if (off > allowed || off < -allowed)
        fail_msg("%u instead of %u tracks (low %u, high %u, estimate %.1f)", search->ramp.sustained,
                 wanted, search->ramp.low, search->ramp.high, search->ramp.estimate);
}

static void expect_few(const struct search *search, uint32_t most)
{
    if (search->trials > most)
        fail_msg("%u trials to find %u", search->trials, search->ramp.sustained);
}

/* 1, 2, 3 ... and then in steps of a few percent, to 20,000. */
static uint32_t next_capacity(uint32_t capacity)
{
    return capacity + 1 + capacity / 37;
}

/* --- a steady drive ----------------------------------------------------------------------- */

static const double guesses[] = {0.6, 0.9, 1, 1.03, 1.2, 1.8};
enum { GUESSES = sizeof guesses / sizeof *guesses };

static uint32_t guess_at(uint32_t capacity, double share)
{
    double guess = capacity * share;
    return guess > 1 ? (uint32_t)guess : 1;
}

static void test_every_capacity_without_estimates(void **state)
{
    (void)state;
    for (uint32_t capacity = 1; capacity <= 20000; capacity = next_capacity(capacity)) {
        for (int i = 0; i < GUESSES; i++) {
            struct fake fake = {.capacity = capacity};
            struct search search = find(fake, guess_at(capacity, guesses[i]), 100000, false);
            expect_near(&search, capacity, 0.01);
            expect_few(&search, TRIALS_MOST);
            assert_true(search.ramp.sustained <= capacity);
            assert_false(search.ramp.capped);
        }
    }
}

static void test_every_capacity_with_estimates(void **state)
{
    (void)state;
    uint64_t with = 0, without = 0;
    for (uint32_t capacity = 1; capacity <= 20000; capacity = next_capacity(capacity)) {
        for (int i = 0; i < GUESSES; i++) {
            struct fake fake = {.capacity = capacity};
            without += find(fake, guess_at(capacity, guesses[i]), 100000, false).trials;
            fake.estimates = true;
            struct search search = find(fake, guess_at(capacity, guesses[i]), 100000, false);
            expect_near(&search, capacity, 0.01);
            expect_few(&search, TRIALS_MOST);
            with += search.trials;
        }
    }
    assert_true(with * 3 < without * 2); /* that is what they are for */
}

static void test_a_guess_far_off_ends_too(void **state)
{
    (void)state;
    static const uint32_t far[] = {1, 7, 500, 20000, 90000};
    for (uint32_t capacity = 1; capacity <= 20000; capacity = next_capacity(capacity)) {
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            struct search search = find((struct fake){.capacity = capacity}, far[i], 100000, false);
            expect_near(&search, capacity, 0.01);
            expect_few(&search, 50);
        }
    }
}

/* --- bounds ------------------------------------------------------------------------------- */

static void test_a_cap_below_the_capacity_is_marked(void **state)
{
    (void)state;
    for (uint32_t cap = 1; cap <= 5000; cap = next_capacity(cap)) {
        for (int i = 0; i < GUESSES; i++) {
            struct fake fake = {.capacity = 6000, .estimates = i % 2 == 0};
            struct search search = find(fake, guess_at(cap, guesses[i]), cap, false);
            assert_int_equal(search.ramp.sustained, cap);
            assert_true(search.ramp.capped);
            expect_few(&search, TRIALS_MOST);
        }
    }
}

static void test_a_cap_at_or_near_the_capacity(void **state)
{
    (void)state;
    for (uint32_t cap = 995; cap <= 1005; cap++) {
        struct search search = find((struct fake){.capacity = 1000}, 1200, cap, false);
        expect_near(&search, cap < 1000 ? cap : 1000, 0.01);
        assert_int_equal(search.ramp.capped, search.ramp.sustained == cap);
    }
}

static void test_capacity_zero(void **state)
{
    (void)state;
    static const uint32_t starts[] = {1, 2, 10, 1000, 20000};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct search search = find((struct fake){.capacity = 0}, starts[i], 20000, false);
        assert_int_equal(search.ramp.sustained, 0);
        assert_false(search.ramp.capped);
        expect_few(&search, 30);
    }
    assert_int_equal(find((struct fake){.capacity = 0}, 1, 1, false).trials, 1);
}

static void test_capacity_one_of_one(void **state)
{
    (void)state;
    struct search search = find((struct fake){.capacity = 1}, 1, 1, false);
    assert_int_equal(search.ramp.sustained, 1);
    assert_true(search.ramp.capped);
}

/* --- later searches ----------------------------------------------------------------------- */

static void test_a_known_start_needs_few_trials(void **state)
{
    (void)state;
    for (uint32_t capacity = 50; capacity <= 20000; capacity = next_capacity(capacity)) {
        struct search search = find((struct fake){.capacity = capacity}, capacity, 100000, true);
        expect_near(&search, capacity, 0.01);
        expect_few(&search, 5);
        /* The drive has moved by 3 % meanwhile. */
        uint32_t earlier = (uint32_t)(capacity * 1.03);
        search = find((struct fake){.capacity = capacity}, earlier, 100000, true);
        expect_near(&search, capacity, 0.01);
        expect_few(&search, 10);
        earlier = (uint32_t)(capacity * 0.97);
        search = find((struct fake){.capacity = capacity}, earlier, 100000, true);
        expect_near(&search, capacity, 0.01);
        expect_few(&search, 10);
    }
}

/* --- weather ------------------------------------------------------------------------------ */

/* What the short trials pass the long one does not: down, until one is confirmed. */
static void test_what_does_not_last_is_left(void **state)
{
    (void)state;
    for (uint32_t margin = 0; margin < 1000; margin += 7) {
        struct fake fake = {.capacity = 1000, .confirm_margin = margin};
        struct search search = find(fake, 1000, 100000, false);
        assert_true(search.ramp.sustained > 0);
        assert_true(search.ramp.sustained <= 1000 - margin);
        assert_true(search.ramp.knee >= 990 && search.ramp.knee <= 1000);
        expect_few(&search, TRIALS_MOST);
    }
    struct search none =
        find((struct fake){.capacity = 100, .confirm_margin = 100}, 100, 200, false);
    assert_int_equal(none.ramp.sustained, 0);
    assert_true(none.ramp.knee >= 99);
}

static void test_estimates_that_are_off(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct fake fake = {
            .capacity = 1000, .estimates = true, .estimate_error = 0.02, .random = seed};
        struct search search = find(fake, 1100, 100000, false);
        expect_near(&search, 1000, 0.03);
        expect_few(&search, TRIALS_MOST);
    }
}

/* Useless: what they say has nothing to do with the fake. It still ends, and is still right. */
static void test_estimates_that_are_nonsense(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct fake fake = {
            .capacity = 1000, .estimates = true, .estimate_error = 0.9, .random = seed};
        struct search search = find(fake, 1100, 100000, false);
        assert_true(search.ramp.sustained <= 1000);
        expect_few(&search, 60);
    }
}

static void test_an_unsteady_drive(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct fake fake = {.capacity = 1000,
                            .estimates = seed % 2 == 0,
                            .estimate_error = 0.005,
                            .unsteady = 0.02,
                            .random = seed};
        struct search search = find(fake, 1150, 100000, false);
        expect_near(&search, 1000, 0.06);
        expect_few(&search, TRIALS_MOST);
    }
}

/* --- stalls ------------------------------------------------------------------------------- */

/* A stall spoils a trial at any count. Judged by single trials, the search would sink. */
static void test_spoiled_trials_are_made_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct fake fake = {
            .capacity = 990, .estimates = seed % 2 == 0, .spoiled = 0.1, .random = seed};
        struct search search = find(fake, 800, 100000, false);
        expect_near(&search, 990, 0.02);
    }
}

static void test_nothing_but_spoiled_trials_ends(void **state)
{
    (void)state;
    struct fake fake = {.capacity = 990, .spoiled = 1, .held_most = UINT32_MAX};
    struct search search = find(fake, 800, 100000, false);
    assert_int_equal(search.ramp.sustained, 0);
    expect_few(&search, 7 * 25);
}

/* The floor: half the knee is not held either, so the load is not the cause. */
static void test_what_fails_at_any_count_is_irregular(void **state)
{
    (void)state;
    for (uint32_t capacity = 2; capacity <= 20000; capacity = next_capacity(capacity)) {
        struct fake fake = {.capacity = capacity, .held_most = UINT32_MAX};
        struct search search = find(fake, capacity, 100000, false);
        assert_true(search.ramp.irregular);
        assert_int_equal(search.ramp.sustained, 0);
        assert_true(search.ramp.knee >= capacity * 0.98 - 1 && search.ramp.knee <= capacity);
        assert_int_equal(search.held, 2);
    }
}

/* Half is held, but not the knee: the load has its part in it, and a count between is found. */
static void test_what_fails_above_half_is_searched_downward(void **state)
{
    (void)state;
    for (uint32_t most = 500; most < 1000; most += 7) {
        struct fake fake = {.capacity = 1000, .held_most = most};
        struct search search = find(fake, 1000, 100000, false);
        assert_false(search.ramp.irregular);
        assert_true(search.ramp.sustained <= most && search.ramp.sustained >= 490);
        assert_true(search.ramp.sustained >= most - (1000 - most) - 20 || most < 770);
        expect_few(&search, TRIALS_MOST);
    }
}

/* --- margin ------------------------------------------------------------------------------- */

static void test_a_count_with_a_margin_is_comfortable_itself(void **state)
{
    (void)state;
    struct search search = find((struct fake){.capacity = 500}, 450, 100000, false);
    assert_int_equal(search.ramp.comfortable, search.ramp.sustained);
    assert_int_equal(search.margin_trials, 0);
}

static void test_the_margin_is_looked_for_below(void **state)
{
    (void)state;
    for (uint32_t comfortable = 400; comfortable < 1000; comfortable += 13) {
        struct fake fake = {.capacity = 1000, .estimates = true, .comfortable = comfortable};
        struct search search = find(fake, 1000, 100000, false);
        assert_true(search.ramp.comfortable <= comfortable);
        assert_true(search.ramp.comfortable >= 0.9 * comfortable);
        assert_true(search.margin_trials <= 8);
        expect_near(&search, 1000, 0.01);
    }
    struct fake never = {.capacity = 1000, .comfortable = 1};
    assert_int_equal(find(never, 1000, 100000, false).ramp.comfortable, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_capacity_without_estimates),
        cmocka_unit_test(test_every_capacity_with_estimates),
        cmocka_unit_test(test_a_guess_far_off_ends_too),
        cmocka_unit_test(test_a_cap_below_the_capacity_is_marked),
        cmocka_unit_test(test_a_cap_at_or_near_the_capacity),
        cmocka_unit_test(test_capacity_zero),
        cmocka_unit_test(test_capacity_one_of_one),
        cmocka_unit_test(test_a_known_start_needs_few_trials),
        cmocka_unit_test(test_what_does_not_last_is_left),
        cmocka_unit_test(test_estimates_that_are_off),
        cmocka_unit_test(test_estimates_that_are_nonsense),
        cmocka_unit_test(test_an_unsteady_drive),
        cmocka_unit_test(test_spoiled_trials_are_made_again),
        cmocka_unit_test(test_nothing_but_spoiled_trials_ends),
        cmocka_unit_test(test_what_fails_at_any_count_is_irregular),
        cmocka_unit_test(test_what_fails_above_half_is_searched_downward),
        cmocka_unit_test(test_a_count_with_a_margin_is_comfortable_itself),
        cmocka_unit_test(test_the_margin_is_looked_for_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
