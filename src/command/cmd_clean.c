#include "command.h"

#include "error.h"
#include "study.h"

#include <string.h>

static int show_help(void)
{
    fputs("Usage: trackramp clean DIR...\n\n"
          "Removes the test files that `trackramp run` left in each DIR (after --keep, or when it\n"
          "was killed), and nothing else.\n",
          stdout);
    return 0;
}

int command_clean(int argc, char **argv, FILE *console)
{
    int worst = 0;
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return show_help();
    if (argc < 2) {
        fputs("trackramp: clean: name the folder that was measured\n", console);
        return ERROR_USAGE;
    }
    for (int i = 1; i < argc; i++) {
        struct error error = {0};
        uint32_t files;
        if (study_clean(argv[i], &files, &error) != 0) {
            fprintf(console, "trackramp: %s\n", error.text);
            worst = (int)error.kind > worst ? (int)error.kind : worst;
        } else if (files == 0) {
            printf("%s: no test files\n", argv[i]);
        } else {
            printf("%s: removed %u test files\n", argv[i], files);
        }
    }
    return worst;
}
