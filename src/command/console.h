#ifndef TRACKRAMP_CONSOLE_H
#define TRACKRAMP_CONSOLE_H

#include <stdio.h>

/*
 * The user's standard error, for this program alone: ALSA and JACK print pages to descriptor 2,
 * from threads of their own and long after the call that upset them, so that descriptor leads
 * nowhere from here on. With TRACKRAMP_CHATTER set in the environment it stays as it is.
 */
FILE *console_open(void);

#endif
