#include "text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Columns are counted as characters: UTF-8's continuation bytes take none. */
static unsigned columns(const char *text, size_t bytes)
{
    unsigned count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

static void print_clean(FILE *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        fputc(c < ' ' || c == 0x7F ? '?' : c, out);
    }
}

/* Prints the words of `text`, the first at `indent`, where the cursor is. */
static void print_words(FILE *out, unsigned indent, unsigned width, const char *text)
{
    unsigned at = indent;
    while (*text != '\0') {
        size_t bytes = strcspn(text, " ");
        unsigned wide = columns(text, bytes);
        if (at > indent && at + 1 + wide > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', out);
            at++;
        }
        print_clean(out, text, bytes);
        at += wide;
        text += bytes;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void text_paragraph(FILE *out, unsigned indent, unsigned width, const char *label,
                    const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    unsigned wide = columns(label, strlen(label));
    fprintf(out, "%s%*s", label, wide < indent ? (int)(indent - wide) : 0, "");
    print_words(out, indent, width, text);
    free(text);
}
