#include "fakes/json_schema.h"

#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct check {
    bool closed;
    char *message;
    char place[256]; /* of the value being checked, such as `/volumes/0/path` */
};

static int say(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int say(struct check *check, const char *format, ...)
{
    int length = snprintf(check->message, JSON_SCHEMA_MESSAGE_BYTES,
                          "%s: ", check->place[0] != '\0' ? check->place : "/");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->message + length, (size_t)(JSON_SCHEMA_MESSAGE_BYTES - length), format,
              arguments);
    va_end(arguments);
    return -1;
}

/* --- one keyword each: 0 or -1 --------------------------------------------------------------- */

static bool is_type(const char *name, const json_t *value)
{
    return strcmp(name, "null") == 0      ? json_is_null(value)
           : strcmp(name, "boolean") == 0 ? json_is_boolean(value)
           : strcmp(name, "integer") == 0 ? json_is_integer(value)
           : strcmp(name, "number") == 0  ? json_is_number(value)
           : strcmp(name, "string") == 0  ? json_is_string(value)
           : strcmp(name, "array") == 0   ? json_is_array(value)
           : strcmp(name, "object") == 0  ? json_is_object(value)
                                          : false;
}

static int check_type(struct check *check, const json_t *types, const json_t *value)
{
    if (json_is_string(types) && is_type(json_string_value(types), value))
        return 0;
    size_t i;
    json_t *type;
    json_array_foreach(types, i, type)
    {
        if (json_is_string(type) && is_type(json_string_value(type), value))
            return 0;
    }
    return say(check, "is of another type than the schema says");
}

static int check_required(struct check *check, const json_t *names, const json_t *value)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        if (json_is_object(value) && json_object_get(value, json_string_value(name)) == NULL)
            return say(check, "lacks `%s`", json_string_value(name));
    }
    return 0;
}

static int check_value(struct check *check, const json_t *schema, const json_t *value);

/* Checks a value inside this one, at its place. */
static int check_inner(struct check *check, const json_t *schema, const json_t *value,
                       const char *name)
{
    size_t length = strlen(check->place);
    snprintf(check->place + length, sizeof check->place - length, "/%s", name);
    int result = check_value(check, schema, value);
    if (result == 0)
        check->place[length] = '\0';
    return result;
}

static int check_properties(struct check *check, json_t *properties, json_t *value)
{
    const char *name;
    json_t *inner;
    json_object_foreach(value, name, inner)
    {
        json_t *schema = json_object_get(properties, name);
        if (schema == NULL && check->closed)
            return say(check, "has `%s`, which the schema does not list", name);
        if (schema != NULL && check_inner(check, schema, inner, name) != 0)
            return -1;
    }
    return 0;
}

static int check_items(struct check *check, const json_t *items, const json_t *value)
{
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item)
    {
        char name[32];
        snprintf(name, sizeof name, "%zu", i);
        if (check_inner(check, items, item, name) != 0)
            return -1;
    }
    return 0;
}

static int check_enum(struct check *check, const json_t *values, const json_t *value)
{
    size_t i;
    json_t *one;
    json_array_foreach(values, i, one)
    {
        if (json_equal(one, value))
            return 0;
    }
    return say(check, "is none of the values the schema lists");
}

static int check_minimum(struct check *check, const json_t *minimum, const json_t *value)
{
    if (!json_is_number(value) || json_number_value(value) >= json_number_value(minimum))
        return 0;
    return say(check, "is %g, less than %g", json_number_value(value), json_number_value(minimum));
}

static int check_pattern(struct check *check, const json_t *pattern, const json_t *value)
{
    if (!json_is_string(value))
        return 0;
    regex_t regex;
    if (regcomp(&regex, json_string_value(pattern), REG_EXTENDED | REG_NOSUB) != 0)
        return say(check, "the schema's pattern `%s` is no regular expression",
                   json_string_value(pattern));
    int found = regexec(&regex, json_string_value(value), 0, NULL, 0);
    regfree(&regex);
    return found == 0 ? 0
                      : say(check, "`%s` does not match `%s`", json_string_value(value),
                            json_string_value(pattern));
}

static int check_keyword(struct check *check, const char *keyword, json_t *rule, json_t *value)
{
    if (strcmp(keyword, "type") == 0)
        return check_type(check, rule, value);
    if (strcmp(keyword, "required") == 0)
        return check_required(check, rule, value);
    if (strcmp(keyword, "properties") == 0)
        return check_properties(check, rule, value);
    if (strcmp(keyword, "items") == 0)
        return check_items(check, rule, value);
    if (strcmp(keyword, "enum") == 0)
        return check_enum(check, rule, value);
    if (strcmp(keyword, "const") == 0)
        return json_equal(rule, value) ? 0 : say(check, "is not what the schema says");
    if (strcmp(keyword, "minimum") == 0)
        return check_minimum(check, rule, value);
    if (strcmp(keyword, "pattern") == 0)
        return check_pattern(check, rule, value);
    if (strcmp(keyword, "title") == 0 || strcmp(keyword, "description") == 0 ||
        strcmp(keyword, "$schema") == 0)
        return 0;
    return say(check, "the schema has the keyword `%s`, which is not checked", keyword);
}

static int check_value(struct check *check, const json_t *schema, const json_t *value)
{
    const char *keyword;
    json_t *rule;
    if (!json_is_object(schema))
        return say(check, "the schema here is no object");
    json_object_foreach((json_t *)schema, keyword, rule)
    {
        if (check_keyword(check, keyword, rule, (json_t *)value) != 0)
            return -1;
    }
    return 0;
}

int json_schema_check(const json_t *schema, const json_t *value, bool closed,
                      char message[JSON_SCHEMA_MESSAGE_BYTES])
{
    struct check check = {.closed = closed, .message = message};
    message[0] = '\0';
    return check_value(&check, schema, value);
}

int json_schema_check_file(const char *schema_path, const char *path, bool closed,
                           char message[JSON_SCHEMA_MESSAGE_BYTES])
{
    json_error_t error;
    json_t *schema = json_load_file(schema_path, JSON_REJECT_DUPLICATES, &error);
    json_t *value = schema != NULL ? json_load_file(path, JSON_REJECT_DUPLICATES, &error) : NULL;
    int result = -1;
    if (value != NULL)
        result = json_schema_check(schema, value, closed, message);
    else
        snprintf(message, JSON_SCHEMA_MESSAGE_BYTES, "%s: %s (line %d)",
                 schema != NULL ? path : schema_path, error.text, error.line);
    json_decref(value);
    json_decref(schema);
    return result;
}
