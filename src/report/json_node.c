#include "json_node.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The file is read whole, within a bound, before it is parsed: a result has some hundred bytes a
 * trial, so one of 64 MiB is something else. Nothing out of the file gets into an error but
 * numbers: its text may hold what would break the line or the terminal.
 */
enum { FILE_BYTES_MAX = 64 << 20, PLACE_BYTES = 160 };

/* --- the file --------------------------------------------------------------------------------- */

static int unreadable(const char *path, struct error *error)
{
    return error_set(error, ERROR_USAGE, "%s: cannot be read: %s", path, strerror(errno));
}

/* No size is asked for: a pipe has none, and files change. */
static int read_stream(FILE *file, const char *path, char **text, size_t *bytes,
                       struct error *error)
{
    size_t room = 0;
    *text = NULL;
    *bytes = 0;
    while (!feof(file)) {
        if (*bytes == room) {
            room = room == 0 ? 1 << 16 : 2 * room;
            char *larger = realloc(*text, room);
            if (larger == NULL)
                return error_set(error, ERROR_ENVIRONMENT, "%s: not enough memory to read it",
                                 path);
            *text = larger;
        }
        *bytes += fread(*text + *bytes, 1, room - *bytes, file);
        if (ferror(file))
            return unreadable(path, error);
        if (*bytes > FILE_BYTES_MAX)
            return error_set(error, ERROR_USAGE,
                             "%s: is larger than %d MiB, as no result file is; name one that "
                             "`trackramp run --json` wrote",
                             path, FILE_BYTES_MAX >> 20);
    }
    return 0;
}

static int read_file(const char *path, char **text, size_t *bytes, struct error *error)
{
    struct stat status;
    *text = NULL;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return unreadable(path, error);
    int result;
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode))
        result = error_set(error, ERROR_USAGE, "%s: is a folder; name a result file in it", path);
    else
        result = read_stream(file, path, text, bytes, error);
    fclose(file);
    return result;
}

static int unparsable(const char *path, size_t bytes, const json_error_t *reason,
                      struct error *error)
{
    enum json_error_code code = json_error_code(reason);
    if (code == json_error_out_of_memory || code == json_error_unknown) /* where memory ends */
        return error_set(error, ERROR_ENVIRONMENT, "%s: not enough memory to read it", path);
    if (bytes == 0)
        return error_set(error, ERROR_USAGE, "%s: is empty; it was never written to the end", path);
    if ((size_t)reason->position >= bytes)
        return error_set(error, ERROR_USAGE,
                         "%s: ends in the middle of line %d: it was cut short; take a whole copy",
                         path, reason->line);
    return error_set(error, ERROR_USAGE,
                     "%s: line %d, column %d: %s; name a file that `trackramp run --json` wrote",
                     path, reason->line, reason->column,
                     code == json_error_numeric_overflow ? "a number is too large"
                     : code == json_error_duplicate_key  ? "a name stands there twice"
                                                         : "this is no JSON");
}

int node_open(struct node *root, const char *path, struct error *error)
{
    char *text;
    size_t bytes = 0;
    json_error_t reason = {0};
    *root = (struct node){.path = path, .error = error};
    if (read_file(path, &text, &bytes, error) == 0) {
        root->value = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &reason);
        if (root->value == NULL)
            unparsable(path, bytes, &reason, error);
        else if (!json_is_object(root->value))
            error_set(error, ERROR_USAGE,
                      "%s: is JSON, but no result; name a file that `trackramp run --json` wrote",
                      path);
    }
    free(text);
    if (error->kind == ERROR_NONE)
        return 0;
    node_close(root);
    return -1;
}

void node_close(struct node *root)
{
    json_decref(root->value);
    root->value = NULL;
}

/* --- what is in it ---------------------------------------------------------------------------- */

/* `volumes[0].blocks[2]`; what has no room is left out. */
static size_t write_place(const struct node *node, char place[PLACE_BYTES])
{
    if (node->parent == NULL)
        return 0;
    size_t at = write_place(node->parent, place);
    if (node->name == NULL)
        at += (size_t)snprintf(place + at, PLACE_BYTES - at, "[%zu]", node->index);
    else
        at += (size_t)snprintf(place + at, PLACE_BYTES - at, "%s%s", at > 0 ? "." : "", node->name);
    return at < PLACE_BYTES ? at : PLACE_BYTES - 1;
}

int node_fail(const struct node *in, const char *name, const char *format, ...)
{
    char place[PLACE_BYTES] = "", reason[PLACE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    write_place(&(struct node){.parent = in, .name = name}, place);
    return error_set(in->error, ERROR_USAGE,
                     "%s: %s %s; name a file as `trackramp run --json` writes it", in->path, place,
                     reason);
}

static int missing(const struct node *in, const char *name)
{
    return node_fail(in, name, "is missing");
}

static struct node node_below(const struct node *in, const char *name)
{
    return (struct node){.parent = in,
                         .name = name,
                         .value = json_object_get(in->value, name),
                         .path = in->path,
                         .error = in->error};
}

int node_object(const struct node *in, const char *name, struct node *object)
{
    *object = node_below(in, name);
    if (object->value == NULL)
        return missing(in, name);
    return json_is_object(object->value) ? 0 : node_fail(in, name, "must be an object");
}

int node_list(const struct node *in, const char *name, struct node *list)
{
    *list = node_below(in, name);
    if (list->value == NULL)
        return missing(in, name);
    return json_is_array(list->value) ? 0 : node_fail(in, name, "must be a list");
}

int node_entry(const struct node *list, size_t index, struct node *entry)
{
    *entry = (struct node){.parent = list,
                           .index = index,
                           .value = json_array_get(list->value, index),
                           .path = list->path,
                           .error = list->error};
    if (json_is_object(entry->value))
        return 0;
    char place[PLACE_BYTES];
    write_place(entry, place);
    return error_set(list->error, ERROR_USAGE, "%s: %s must be an object", list->path, place);
}

size_t node_count(const struct node *list)
{
    return json_array_size(list->value);
}

int node_whole(const struct node *in, const char *name, uint64_t least, uint64_t most,
               uint64_t *value)
{
    const json_t *found = json_object_get(in->value, name);
    if (found == NULL)
        return missing(in, name);
    if (!json_is_integer(found))
        return node_fail(in, name, "must be a whole number");
    json_int_t whole = json_integer_value(found);
    if (whole < 0 || (uint64_t)whole < least || (uint64_t)whole > most)
        return node_fail(in, name, "is %lld; it must be from %llu to %llu", (long long)whole,
                         (unsigned long long)least, (unsigned long long)most);
    *value = (uint64_t)whole;
    return 0;
}

int node_number(const struct node *in, const char *name, double least, double most, double *value)
{
    const json_t *found = json_object_get(in->value, name);
    if (found == NULL)
        return missing(in, name);
    if (!json_is_number(found))
        return node_fail(in, name, "must be a number");
    *value = json_number_value(found);
    if (!(*value >= least && *value <= most))
        return node_fail(in, name, "is %g; it must be from %g to %g", *value, least, most);
    return 0;
}

int node_truth(const struct node *in, const char *name, bool *value)
{
    const json_t *found = json_object_get(in->value, name);
    if (found == NULL)
        return missing(in, name);
    if (!json_is_boolean(found))
        return node_fail(in, name, "must be true or false");
    *value = json_is_true(found);
    return 0;
}

int node_text(const struct node *in, const char *name, const char **value)
{
    const json_t *found = json_object_get(in->value, name);
    if (found == NULL)
        return missing(in, name);
    if (!json_is_string(found))
        return node_fail(in, name, "must be text");
    *value = json_string_value(found);
    return 0;
}

bool node_has(const struct node *in, const char *name)
{
    const json_t *found = json_object_get(in->value, name);
    return found != NULL && !json_is_null(found);
}
