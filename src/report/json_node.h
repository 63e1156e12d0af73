#ifndef TRACKRAMP_JSON_NODE_H
#define TRACKRAMP_JSON_NODE_H

#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reading a JSON file that anybody may have written: every value is asked for by name, type and
 * range, and what is not as asked is one line of error that names the file and the place in it
 * (`volumes[0].blocks[2].limit`). Main thread.
 *
 * A node is an object or a list in the file, and knows what it lies in; it is valid as long as its
 * parent and the tree are. All functions return 0, or -1 with an ERROR_USAGE in the root's error.
 */
struct node {
    const struct node *parent; /* NULL: the file as a whole */
    const char *name;          /* NULL: an entry of a list */
    size_t index;
    json_t *value;
    const char *path;
    struct error *error;
};

/*
 * Parses the file `path` (`-`: no special meaning) into the object `root`. Of one that is not
 * there, is no file, is larger than 64 MiB, is cut short or is no JSON, the error says which, and
 * the line. Ends with node_close, which takes a zeroed root too.
 */
int node_open(struct node *root, const char *path, struct error *error);
void node_close(struct node *root);

/* What must be there: an object, a list, and the list's entries, all of them objects. */
int node_object(const struct node *in, const char *name, struct node *object);
int node_list(const struct node *in, const char *name, struct node *list);
int node_entry(const struct node *list, size_t index, struct node *entry);
size_t node_count(const struct node *list);

/* Values that must be there. Numbers lie from `least` to `most`; text lives as long as the tree. */
int node_whole(const struct node *in, const char *name, uint64_t least, uint64_t most,
               uint64_t *value);
int node_number(const struct node *in, const char *name, double least, double most, double *value);
int node_truth(const struct node *in, const char *name, bool *value);
int node_text(const struct node *in, const char *name, const char **value);

/* Whether it is there and not null. */
bool node_has(const struct node *in, const char *name);

/* The error about a value: `is ...` or `must be ...`, a phrase without full stop. Returns -1. */
int node_fail(const struct node *in, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
