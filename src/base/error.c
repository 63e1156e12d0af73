#include "error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *error, enum error_kind kind, const char *format, ...)
{
    if (error->kind != ERROR_NONE)
        return -1;
    error->kind = kind;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -1;
}
