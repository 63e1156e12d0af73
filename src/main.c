#include "command/command.h"
#include "command/console.h"
#include "error.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv, FILE *console);
} commands[] = {
    {"run", "measure how many tracks the drive behind a folder plays", command_run},
    {"predict", "compute track counts for another format from a saved result", command_predict},
    {"devices", "list the audio outputs here", command_devices},
    {"clean", "remove test files that a run left behind", command_clean},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static int show_help(FILE *out)
{
    fputs("trackramp: how many audio tracks will this drive stream?\n\n"
          "Usage: trackramp COMMAND ...\n\n",
          out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fputs("\n`trackramp COMMAND --help` tells more. To begin: trackramp run FOLDER, with a folder "
          "on\n"
          "the drive in question; it needs no sound card. `trackramp --version` prints the "
          "version.\n",
          out);
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return show_help(stdout);
    if (strcmp(name, "--version") == 0) {
        puts("trackramp " TRACKRAMP_VERSION);
        return 0;
    }
    FILE *console = console_open();
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1, console);
    }
    if (argc < 2)
        fputs("trackramp: say what to do, such as `trackramp run FOLDER`; see trackramp --help\n",
              console);
    else
        fprintf(console, "trackramp: %s: no such command; see trackramp --help\n", name);
    return ERROR_USAGE;
}
