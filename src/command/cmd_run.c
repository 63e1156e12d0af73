#include "command.h"

#include "options.h"
#include "progress.h"
#include "report.h"
#include "study.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STOPS_TO_INSIST = 3 };

static volatile sig_atomic_t stop_requested;

/* A drive that never answers cannot be waited for: who insists gets out, and leaves the files to
 * the next run. */
static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = stop_requested + 1;
    if (stop_requested >= STOPS_TO_INSIST)
        _exit(ERROR_INTERRUPTED);
}

/* The study looks at the flag every few milliseconds, takes its files away and comes back. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART}, before;
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, &before);
        if (signals[i] == SIGHUP && before.sa_handler == SIG_IGN) /* under nohup */
            sigaction(SIGHUP, &before, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

static void show_progress(void *user, const struct study_progress *study)
{
    progress_show(user, study);
}

static bool interrupted(void *user)
{
    (void)user;
    return stop_requested != 0;
}

/* Before minutes of measuring, not after: can the result be written where it is wanted? */
static int check_target(const char *path, struct error *error)
{
    char copy[4096];
    struct stat status;
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    if (strlen(path) >= sizeof copy)
        return error_set(error, ERROR_USAGE, "--json: the file name is too long");
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return error_set(error, ERROR_USAGE, "--json %s: this is a folder; name a file", path);
        if (!S_ISREG(status.st_mode))
            return 0;
    }
    strcpy(copy, path);
    const char *folder = dirname(copy);
    if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
        return error_set(error, ERROR_USAGE, "--json %s: %s is not a folder", path, folder);
    if (access(folder, W_OK) != 0)
        return error_set(error, ERROR_USAGE, "--json %s: cannot write in %s (%s)", path, folder,
                         strerror(errno));
    return 0;
}

static bool has_trials(const struct result *result)
{
    for (size_t v = 0; v < result->volume_count; v++) {
        for (size_t c = 0; c < result->volumes[v].cell_count; c++) {
            if (result->volumes[v].cells[c].trial_count > 0)
                return true;
        }
    }
    return false;
}

/* What was measured, whole or not, before any word about how it ended. */
static void print_result(const struct result *result, const char *json, FILE *console,
                         struct error *error)
{
    bool json_on_output = json != NULL && strcmp(json, "-") == 0;
    if (json != NULL) {
        struct error failed = {0};
        if (report_json(result, json, &failed) != 0)
            error_set(error, failed.kind, "%s", failed.text);
    }
    report_table(result, json_on_output ? console : stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        error_set(error, ERROR_ENVIRONMENT,
                  "standard output: the table could not be written (%s); name a file with --json",
                  strerror(errno));
}

static int check_directories(const struct plan *plan, struct error *error)
{
    for (size_t i = 0; i < plan->directory_count && plan->engine != PLAN_ENGINE_MODEL; i++) {
        struct drive drive;
        if (drive_describe(&drive, plan->directories[i], error) != 0)
            return -1;
    }
    return 0;
}

int command_run(int argc, char **argv, FILE *console)
{
    struct error error = {0};
    struct run_options options;
    struct result result = {0};
    bool device_lost = false;
    if (options_parse_run(&options, argc, argv, &error) == 0 && options.help) {
        options_print_run(stdout);
        return 0;
    }
    if (error.kind == ERROR_NONE && check_target(options.json, &error) == 0 &&
        check_directories(&options.plan, &error) == 0) {
        struct progress progress;
        progress_init(&progress, console);
        struct study_observer observer = {
            .user = &progress, .progress = show_progress, .interrupted = interrupted};
        catch_signals();
        study_run(&options.plan, &observer, &result, &device_lost, &error);
        progress_clear(&progress);
        if (has_trials(&result))
            print_result(&result, options.json, console, &error);
    }
    if (error.kind != ERROR_NONE)
        fprintf(console, "trackramp: %s\n", error.text);
    fflush(console);
    if (device_lost) /* the audio library may never come back, and its thread may still run */
        _exit(error.kind);
    result_fini(&result);
    return (int)error.kind;
}
