#include "model.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

/*
 * SPEC in words: one table of keys, each with the function that reads its value. That returns NULL,
 * or what would have been right. What only the whole can tell (a disk without a rate) is checked at
 * the end.
 */

enum { VALUE_BYTES = 64, PAGE_BYTES = 4096 };

/* Bounds that keep all sums of nanoseconds within 64 bits, far from anything that is meant. */
static const double WORK_MOST_S = 1000, MOMENT_MOST_S = 1e6;
/* A drive that is far faster than memory would never let virtual time go on. */
static const double READ_LEAST_S = 10e-9;
enum { RATE_LEAST = 1024, SECTOR_BYTES = 512, RPM_LEAST = 100, RPM_MOST = 100000 };

/* --- values --------------------------------------------------------------------------------- */

static int parse_time(const char *value, double most_s, double *to)
{
    double seconds;
    if (units_parse_time(value, &seconds) != 0 || seconds > most_s)
        return -1;
    *to = seconds;
    return 0;
}

static int parse_bytes(const char *value, uint64_t least, uint64_t most, uint64_t *to)
{
    uint64_t bytes;
    if (units_parse_bytes(value, &bytes) != 0 || bytes < least || bytes > most)
        return -1;
    *to = bytes;
    return 0;
}

/* Cuts `value` in two at the first `separator`. Returns what is behind it, or NULL. */
static const char *cut(const char *value, char separator, char *before)
{
    const char *at = strchr(value, separator);
    if (at == NULL || at - value >= VALUE_BYTES)
        return NULL;
    snprintf(before, VALUE_BYTES, "%.*s", (int)(at - value), value);
    return at + 1;
}

static const char *set_work_time(double *to, const char *value)
{
    return parse_time(value, WORK_MOST_S, to) == 0 ? NULL : "give a time, such as 8ms or 120us";
}

static const char *set_position(struct model_spec *spec, const char *value)
{
    return set_work_time(&spec->position_s, value);
}

static const char *set_overhead(struct model_spec *spec, const char *value)
{
    return set_work_time(&spec->overhead_s, value);
}

static const char *set_spread(struct model_spec *spec, const char *value)
{
    static const char *const names[] = {"constant", "uniform", "exponential"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]) == 0) {
            spec->distribution = (enum model_distribution)i;
            return NULL;
        }
    }
    return "use constant, uniform or exponential";
}

static const char *set_order(struct model_spec *spec, const char *value)
{
    spec->order = strcmp(value, "nearest") == 0 ? MODEL_NEAREST : MODEL_OLDEST;
    return spec->order == MODEL_NEAREST || strcmp(value, "oldest") == 0 ? NULL
                                                                        : "use oldest or nearest";
}

static const char *set_depth(struct model_spec *spec, const char *value)
{
    uint64_t depth;
    if (units_parse_count(value, &depth) != 0 || depth < 1 || depth > MODEL_DEPTH_MAX)
        return "give a whole number from 1 to 1024";
    spec->depth = (uint32_t)depth;
    return NULL;
}

static const char *set_rate(struct model_spec *spec, const char *value)
{
    uint64_t bytes;
    if (parse_bytes(value, 0, UINT64_MAX, &bytes) != 0 || (bytes > 0 && bytes < RATE_LEAST))
        return "give bytes a second, such as 40M, at least 1K; or 0: not limited";
    spec->rate_bytes_per_second = (double)bytes;
    return NULL;
}

static const char *set_split(struct model_spec *spec, const char *value)
{
    uint64_t bytes;
    if (parse_bytes(value, SECTOR_BYTES, UINT32_MAX, &bytes) != 0)
        return "give the most bytes of a part, such as 128K, at least 512";
    spec->split_bytes = (uint32_t)bytes;
    return NULL;
}

static const char *set_rpm(struct model_spec *spec, const char *value)
{
    uint64_t rpm;
    if (units_parse_count(value, &rpm) != 0 || rpm < RPM_LEAST || rpm > RPM_MOST)
        return "give turns a minute, such as 7200";
    spec->rpm = (double)rpm;
    return NULL;
}

static const char *set_seek(struct model_spec *spec, const char *value)
{
    char least[VALUE_BYTES];
    const char *most = cut(value, ':', least);
    if (most == NULL || parse_time(least, WORK_MOST_S, &spec->seek_least_s) != 0 ||
        parse_time(most, WORK_MOST_S, &spec->seek_most_s) != 0 ||
        spec->seek_most_s < spec->seek_least_s)
        return "give the shortest and the longest seek, such as 1ms:15ms";
    return NULL;
}

static const char *set_capacity(struct model_spec *spec, const char *value)
{
    return parse_bytes(value, SECTOR_BYTES, UINT64_MAX, &spec->capacity_bytes) == 0
               ? NULL
               : "give bytes, such as 6T";
}

static const char *set_slow(struct model_spec *spec, const char *value)
{
    char share[VALUE_BYTES];
    const char *after = cut(value, '@', share);
    if (after == NULL || units_parse_decimal(share, &spec->slow_factor) != 0 ||
        spec->slow_factor < 0.001 || spec->slow_factor > 1 ||
        parse_time(after, MOMENT_MOST_S, &spec->slow_after_s) != 0 || spec->slow_after_s <= 0)
        return "give a share of the speed and the time of work after which it falls to that, such "
               "as 0.5@10s";
    return NULL;
}

static const char *set_slow_rest(struct model_spec *spec, const char *value)
{
    return parse_time(value, MOMENT_MOST_S, &spec->slow_rest_s) == 0
               ? NULL
               : "give the time of rest that restores the speed, such as 30s";
}

static const char *set_any_stall(struct model_spec *spec, const char *value, bool random)
{
    char length[VALUE_BYTES];
    const char *every = cut(value, '@', length);
    if (spec->stall_s > 0)
        return "there is one kind of stall only";
    if (every == NULL || parse_time(length, WORK_MOST_S, &spec->stall_s) != 0 ||
        parse_time(every, MOMENT_MOST_S, &spec->stall_every_s) != 0 || spec->stall_s <= 0 ||
        spec->stall_every_s < 0.001)
        return "give a stall's length and how often one comes, such as 2s@20s";
    if (!random && spec->stall_s >= spec->stall_every_s)
        return "a stall must be over before the next one begins, as in 2s@20s";
    spec->stall_random = random;
    return NULL;
}

static const char *set_stall(struct model_spec *spec, const char *value)
{
    return set_any_stall(spec, value, false);
}

static const char *set_stall_random(struct model_spec *spec, const char *value)
{
    return set_any_stall(spec, value, true);
}

static const char *set_stripe(struct model_spec *spec, const char *value)
{
    char members[VALUE_BYTES];
    const char *unit = cut(value, 'x', members);
    uint64_t count, bytes;
    if (unit == NULL || units_parse_count(members, &count) != 0 || count < 1 ||
        count > MODEL_MEMBERS_MAX || parse_bytes(unit, SECTOR_BYTES, UINT32_MAX, &bytes) != 0)
        return "give members, 64 at most, and the unit, such as 4x64K";
    spec->members = (uint32_t)count;
    spec->unit_bytes = (uint32_t)bytes;
    return NULL;
}

static const char *add_fault(struct model_spec *spec, enum model_fault_kind kind, const char *at,
                             const char *late)
{
    struct model_fault fault = {.kind = kind};
    if (parse_time(at, MOMENT_MOST_S, &fault.at_s) != 0)
        return "give the moment, such as 3s";
    if (late != NULL && parse_time(late, MOMENT_MOST_S, &fault.late_s) != 0)
        return "give the moment and by how much, such as 3s:500ms";
    if (spec->fault_count == MODEL_FAULTS_MAX)
        return "there is room for 8 faults";
    spec->faults[spec->fault_count++] = fault;
    return NULL;
}

static const char *add_fail(struct model_spec *spec, const char *value)
{
    return add_fault(spec, MODEL_FAULT_ERROR, value, NULL);
}

static const char *add_short(struct model_spec *spec, const char *value)
{
    return add_fault(spec, MODEL_FAULT_SHORT, value, NULL);
}

static const char *add_wrong(struct model_spec *spec, const char *value)
{
    spec->data = true; /* or nobody would see it */
    return add_fault(spec, MODEL_FAULT_WRONG, value, NULL);
}

static const char *add_late(struct model_spec *spec, const char *value)
{
    char at[VALUE_BYTES];
    const char *late = cut(value, ':', at);
    return late == NULL ? "give the moment and by how much, such as 3s:500ms"
                        : add_fault(spec, MODEL_FAULT_LATE, at, late);
}

static const char *set_device_gone(struct model_spec *spec, const char *value)
{
    return parse_time(value, MOMENT_MOST_S, &spec->device_gone_s) == 0 && spec->device_gone_s > 0
               ? NULL
               : "give the moment, such as 3s";
}

static const char *set_memory(struct model_spec *spec, const char *value)
{
    return parse_bytes(value, 1, UINT64_MAX, &spec->memory_limit_bytes) == 0
               ? NULL
               : "give bytes, such as 64M";
}

static const char *set_data(struct model_spec *spec, const char *value)
{
    spec->data = strcmp(value, "yes") == 0;
    return spec->data || strcmp(value, "no") == 0 ? NULL : "use yes or no";
}

static const struct key {
    const char *name;
    const char *(*set)(struct model_spec *spec, const char *value);
    bool often; /* may stand more than once */
} keys[] = {
    {"position", set_position, false}, {"spread", set_spread, false},
    {"depth", set_depth, false},       {"order", set_order, false},
    {"rate", set_rate, false},         {"overhead", set_overhead, false},
    {"split", set_split, false},       {"rpm", set_rpm, false},
    {"seek", set_seek, false},         {"capacity", set_capacity, false},
    {"slow", set_slow, false},         {"slow-rest", set_slow_rest, false},
    {"stall", set_stall, false},       {"stall-random", set_stall_random, false},
    {"stripe", set_stripe, false},     {"fail", add_fail, true},
    {"short", add_short, true},        {"wrong", add_wrong, true},
    {"late", add_late, true},          {"device-gone", set_device_gone, false},
    {"memory", set_memory, false},     {"data", set_data, false},
};
enum { KEYS = sizeof keys / sizeof *keys };

/* --- the whole ------------------------------------------------------------------------------ */

/* All errors begin alike: with what is at fault. */
static int refuse(struct error *error, const char *at_fault, const char *what)
{
    return error_set(error, ERROR_USAGE, "--engine model: %s: %s", at_fault, what);
}

static int refuse_key(struct error *error, const char *pair)
{
    char names[ERROR_TEXT_BYTES] = "no such key; use";
    for (size_t i = 0; i < KEYS; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s %s", i > 0 ? "," : "",
                 keys[i].name);
    return refuse(error, pair, names);
}

static int refuse_name(struct error *error, const char *name)
{
    char names[ERROR_TEXT_BYTES] = "no such drive; use";
    for (const struct model_preset *preset = model_presets; preset->name != NULL; preset++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s %s",
                 preset > model_presets ? "," : "", preset->name);
    snprintf(names + strlen(names), sizeof names - strlen(names),
             ", or pairs such as position=8ms,rate=40M");
    return refuse(error, name, names);
}

/* One `key=value`. `given` has a bit for each key that was there before. */
static int read_pair(struct model_spec *spec, const char *pair, uint32_t *given,
                     struct error *error)
{
    size_t length = strcspn(pair, "=");
    for (uint32_t i = 0; i < KEYS; i++) {
        if (strlen(keys[i].name) != length || strncmp(pair, keys[i].name, length) != 0)
            continue;
        if (!keys[i].often && (*given >> i & 1) != 0)
            return refuse(error, pair, "this key was there before");
        *given |= UINT32_C(1) << i;
        const char *wanted = keys[i].set(spec, pair + length + 1);
        return wanted == NULL ? 0 : refuse(error, pair, wanted);
    }
    return refuse_key(error, pair);
}

/* Pairs by commas. `text` has room for all of it. */
static int read_pairs(struct model_spec *spec, const char *text, struct error *error)
{
    uint32_t given = 0;
    for (const char *from = text;; from++) {
        char pair[MODEL_TEXT_BYTES];
        size_t length = strcspn(from, ",");
        snprintf(pair, sizeof pair, "%.*s", (int)length, from);
        if (strchr(pair, '=') == NULL)
            return refuse(error, length > 0 ? pair : spec->text,
                          "give key=value pairs by commas; a drive's name comes first");
        if (read_pair(spec, pair, &given, error) != 0)
            return -1;
        from += length;
        if (*from == '\0')
            return 0;
    }
}

static int check(const struct model_spec *spec, struct error *error)
{
    bool disk = spec->rpm > 0;
    double rate = spec->rate_bytes_per_second;
    /* of 4 KiB, at its best */
    double read_s =
        spec->position_s / spec->depth + spec->overhead_s + (rate > 0 ? PAGE_BYTES / rate : 0);
    if (disk && spec->position_s > 0)
        return refuse(error, "position", "with rpm, the seek and the platter decide; leave it out");
    if (disk && rate <= 0)
        return refuse(error, "rpm", "what passes the head in a turn is missing; give rate too");
    if (disk && spec->seek_most_s > 0 && spec->capacity_bytes == 0)
        return refuse(error, "seek", "the way across the disk is missing; give capacity too");
    if (!disk &&
        (spec->seek_most_s > 0 || spec->capacity_bytes > 0 || spec->order == MODEL_NEAREST))
        return refuse(error, "seek, capacity, order=nearest",
                      "only a disk has these; give rpm too");
    if (spec->distribution != MODEL_CONSTANT && spec->position_s <= 0)
        return refuse(error, "spread", "there is no time to spread; give position too");
    if (spec->slow_rest_s > 0 && spec->slow_after_s <= 0)
        return refuse(error, "slow-rest", "the drive does not become slow; give slow too");
    if (read_s / spec->members < READ_LEAST_S)
        return refuse(error, spec->text,
                      "a read takes no time at all; give rate, position or overhead");
    return 0;
}

int model_parse(struct model_spec *spec, const char *text, struct error *error)
{
    struct model_spec read = {.depth = 1, .members = 1};
    char name[MODEL_TEXT_BYTES];
    size_t length = strcspn(text, ",");
    if (strlen(text) >= sizeof read.text)
        return refuse(error, "SPEC", "longer than the 255 characters that there is room for");
    snprintf(read.text, sizeof read.text, "%s", text);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (strchr(name, '=') == NULL) {
        const struct model_preset *preset = model_presets;
        while (preset->name != NULL && strcmp(preset->name, name) != 0)
            preset++;
        if (preset->name == NULL)
            return refuse_name(error, length > 0 ? name : "\"\"");
        if (read_pairs(&read, preset->pairs, error) != 0)
            return -1;
        text += length + (text[length] == ',' ? 1 : 0);
    }
    /* behind a preset's name, there may be nothing, but not a comma and nothing */
    if ((*text != '\0' || read.text[length] == ',') && read_pairs(&read, text, error) != 0)
        return -1;
    if (check(&read, error) != 0)
        return -1;
    *spec = read;
    return 0;
}
