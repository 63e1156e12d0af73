#ifndef TRACKRAMP_SKIP_H
#define TRACKRAMP_SKIP_H

#include <stdlib.h>
#include <string.h>

/*
 * Leaves a cmocka test that cannot run here, saying why. Where CI=true everything is meant to be
 * there, and a test that cannot run has failed. Include after cmocka.h.
 */
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        const char *ci = getenv("CI");                                                             \
        if (ci != NULL && strcmp(ci, "true") == 0)                                                 \
            fail_msg("%s", reason);                                                                \
        print_message("skipped: %s\n", reason);                                                    \
        skip();                                                                                    \
    } while (0)

#endif
