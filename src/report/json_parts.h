#ifndef TRACKRAMP_JSON_PARTS_H
#define TRACKRAMP_JSON_PARTS_H

#include "result.h"

#include <jansson.h>

/* Parts of the result file (docs/result.schema.json): new references, or NULL when memory ends. Any
 * thread. */

/* `track`. */
json_t *json_track(const struct track_format *track);

/* `volumes[].fit`; null where there is none. */
json_t *json_fit(const struct result_fit *fit);

/* An entry of `volumes[].blocks[]`. */
json_t *json_cell(const struct result_cell *cell);

#endif
