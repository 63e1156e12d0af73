#include "plan.h"

#include <string.h>

static const char *const start_names[PLAN_START_COUNT] = {"scattered", "aligned", "staggered"};

static const char *const layout_names[PLAN_LAYOUT_COUNT] = {"sequential", "interleaved"};

const char *plan_start_name(enum plan_start start)
{
    return start_names[start];
}

const char *plan_layout_name(enum plan_layout layout)
{
    return layout_names[layout];
}

static int find(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0)
            return i;
    }
    return -1;
}

int plan_start_parse(const char *name, enum plan_start *start)
{
    int found = find(start_names, PLAN_START_COUNT, name);
    if (found >= 0)
        *start = (enum plan_start)found;
    return found >= 0 ? 0 : -1;
}

int plan_layout_parse(const char *name, enum plan_layout *layout)
{
    int found = find(layout_names, PLAN_LAYOUT_COUNT, name);
    if (found >= 0)
        *layout = (enum plan_layout)found;
    return found >= 0 ? 0 : -1;
}
