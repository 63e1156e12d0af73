#include "console.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

FILE *console_open(void)
{
    if (getenv("TRACKRAMP_CHATTER") != NULL)
        return stderr;
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    FILE *console = kept >= 0 ? fdopen(kept, "w") : NULL;
    if (console == NULL || nowhere < 0)
        return stderr;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
    return console;
}
