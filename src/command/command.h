#ifndef TRACKRAMP_COMMAND_H
#define TRACKRAMP_COMMAND_H

#include <stdio.h>

/* The commands. Each takes its own arguments (argv[0] is the command's name) and the user's
 * terminal for errors, prints what it has to say, and returns the exit code. */
int command_run(int argc, char **argv, FILE *console);
int command_devices(int argc, char **argv, FILE *console);
int command_clean(int argc, char **argv, FILE *console);
int command_predict(int argc, char **argv, FILE *console);

#endif
