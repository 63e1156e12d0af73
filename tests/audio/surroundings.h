#ifndef TRACKRAMP_TESTS_AUDIO_SURROUNDINGS_H
#define TRACKRAMP_TESTS_AUDIO_SURROUNDINGS_H

/*
 * What test_portaudio.c runs in: an ALSA configuration of its own, a JACK server of its own, and a
 * child process for each test.
 */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CHILD_LIMIT_S = 40, NO_JACKD = 77 };

/* In a child: the line goes to standard output, and the parent sees the exit code. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(STDOUT_FILENO, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                 \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static char server[64]; /* of JACK, this process's own */
static char folder[] = "/tmp/trackramp-audio-XXXXXX";
static char config[sizeof folder + 16];

static int rig_jack(const char *action, const char *more)
{
    char command[256];
    snprintf(command, sizeof command, "sh tests/rig/jack.sh %s %s %s", action, server, more);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void skip_or_fail(const char *reason)
{
    print_message("skipped: %s\n", reason);
    const char *ci = getenv("CI");
    if (ci != NULL && strcmp(ci, "true") == 0)
        fail_msg("skipped under CI: %s", reason);
    skip();
}

static void need_jack(const char *rate)
{
    int code = rig_jack("start", rate);
    if (code == NO_JACKD)
        skip_or_fail("no jackd here");
    assert_int_equal(code, 0);
}

/* No such card: it does not open, so PortAudio does not offer it. But PortAudio 19.6 aborts where
 * nothing is called `default`. */
#define ALSA_NOTHING "pcm.default { type hw card 99 }\n"
#define ALSA_DEFAULT_NULL "pcm.default { type null }\n"

/* The whole ALSA configuration of the children to come: no system file is read but this one, so
 * that a sound card of the machine is not found. */
static void alsa_is(const char *text)
{
    FILE *file = fopen(config, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void run_in_child(void (*test)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(CHILD_LIMIT_S);
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO); /* ALSA and JACK talk */
        test();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int setup(void **state)
{
    (void)state;
    snprintf(server, sizeof server, "trackramp-test-%d", (int)getpid());
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(config, sizeof config, "%s/alsa.conf", folder);
    setenv("ALSA_CONFIG_PATH", config, 1);
    setenv("JACK_DEFAULT_SERVER", server, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_jack("stop", "");
    unlink(config);
    return rmdir(folder);
}

static int jack_stop(void **state)
{
    (void)state;
    return rig_jack("stop", "");
}

#endif
