#ifndef TRACKRAMP_ERROR_H
#define TRACKRAMP_ERROR_H

/*
 * What went wrong, as data: one line for a person, and the exit code it leads to.
 * A function that can fail takes a `struct error *` last and returns 0 or -1; it fills
 * the error exactly when it returns -1. The first error stands: nobody overwrites it.
 */

/* The values are the program's exit codes (docs/trackramp.1). */
enum error_kind {
    ERROR_NONE = 0,
    ERROR_USAGE = 2,         /* bad usage or input: the user can put it right on the command line */
    ERROR_ENVIRONMENT = 3,   /* device, drive, permission, memory */
    ERROR_INTERRUPTED = 130, /* the user asked to stop */
};

enum { ERROR_TEXT_BYTES = 512 };

struct error {
    enum error_kind kind;
    char text[ERROR_TEXT_BYTES]; /* one line, no newline: names the file or option, and the way out
                                  */
};

/*
 * Fills `error` with `kind` and a printf-style line; a longer line is cut.
 * Returns -1, so that a failing function can `return error_set(...)`.
 * Any thread, as long as each has an error of its own.
 */
int error_set(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
