#include "progress.h"

#include "monotonic.h"
#include "units.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_NS (150 * UNITS_NS_PER_MS)

void progress_init(struct progress *progress, FILE *console)
{
    *progress = (struct progress){.console = console, .terminal = isatty(fileno(console))};
}

static int terminal_columns(FILE *console)
{
    struct winsize size;
    if (ioctl(fileno(console), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

/* What matters most comes first, and the folder last: a narrow terminal cuts the end off. */
static void describe(char *line, size_t line_bytes, const struct study_progress *study)
{
    char block[32], bracket[64] = "", held[160] = "";
    units_format_block(block, sizeof block, study->block_bytes);
    if (study->wanted_bytes > 0) {
        snprintf(line, line_bytes, "writing test files: %.0f of %.0f MB  %s",
                 (double)study->done_bytes / 1e6, (double)study->wanted_bytes / 1e6,
                 study->directory);
        return;
    }
    if (study->block_bytes == 0) {
        snprintf(line, line_bytes, "%s, to choose an engine  %s", study->doing, study->directory);
        return;
    }
    if (study->high > 0)
        snprintf(bracket, sizeof bracket, " (%u to %u)", study->low, study->high);
    if (study->tracks > 0)
        snprintf(held, sizeof held, ": %u tracks%s, emptiest ring %.0f %%", study->tracks, bracket,
                 study->fill_percent);
    snprintf(line, line_bytes, "%d:%02d left  %s  pass %u/%u  %s%s  %s", (int)(study->left_s / 60),
             (int)study->left_s % 60, block, study->repeat + 1,
             study->repeats > 0 ? study->repeats : 1, study->doing, held, study->directory);
}

void progress_show(struct progress *progress, const struct study_progress *study)
{
    uint64_t now_ns = monotonic_ns();
    if (!progress->terminal || now_ns < progress->next_ns)
        return;
    progress->next_ns = now_ns + REDRAW_NS;
    char line[512];
    describe(line, sizeof line, study);
    int columns = terminal_columns(progress->console);
    fprintf(progress->console, "\r\033[K%.*s", columns - 1, line);
    fflush(progress->console);
    progress->shown = 1;
}

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", progress->console);
    fflush(progress->console);
    progress->shown = 0;
}
