#ifndef TRACKRAMP_RESULT_H
#define TRACKRAMP_RESULT_H

#include "drive.h"
#include "error.h"
#include "format.h"
#include "host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * A measurement as plain data: result -> volumes (drives) -> cells (block sizes) -> trials.
 * The study fills it, reports read it; nothing here can measure anything. Names and units are
 * those of the result file `trackramp-result-1` (docs/result.schema.json).
 */

enum limit {
    LIMIT_NONE, /* not known: the cell was not finished */
    LIMIT_DISK_BANDWIDTH,
    LIMIT_DISK_IOPS,
    LIMIT_CPU,
    LIMIT_MEMORY,
    LIMIT_FILE_HANDLES,
    LIMIT_AUDIO_DEVICE,
    LIMIT_MAX_TRACKS,
    LIMIT_COUNT
};

/* `disk-bandwidth` and so on; `unknown` for LIMIT_NONE. */
const char *limit_name(enum limit limit);

/* Which step of the search a trial belonged to. */
enum ramp_step { STEP_BRACKET, STEP_CLOSE_IN, STEP_CONFIRM, STEP_FLOOR, STEP_MARGIN, STEP_COUNT };
const char *ramp_step_name(enum ramp_step step); /* `bracket`, `close-in`, `confirm`, `floor`,
                                                    `margin` */

struct result_trial {
    uint32_t ramp; /* which of the cell's searches, from 0 */
    enum ramp_step step;
    uint32_t tracks;
    double seconds;
    uint64_t underruns;
    double backlog_bytes_per_second; /* how fast the backlog's floor grew; negative: it shrank */
    double min_slack_ms; /* least of all reads: what the ring still held, as time; infinite: none */
    double lowest_fill_percent; /* of the emptiest ring, once the trial had settled */
    uint32_t stalls;            /* times the drive answered nothing though reads were wanted */
    double worst_stall_s;
    bool pass;
    char reason[160]; /* one sentence */
};

/* What was seen at the count that failed nearest above the one reported, or, where none failed, at
 * the one reported: why the limit is what it is. */
struct result_evidence {
    uint32_t tracks;
    double queue_busy_percent; /* of the time, reads were under way */
    double callback_percent;   /* of the period */
    double reader_percent;     /* of one core: the busiest reader thread */
    double process_percent;    /* of one core, all threads */
    double late_callbacks_percent;
};

/* Times in which the drive answered nothing, over all of the cell's trials. */
struct result_stalls {
    uint32_t seen;
    double observed_s; /* how long the trials looked */
    double worst_s;
    double ride_out_s; /* the --buffer that would play on through the worst; 0: none is needed */
};

/* Reads while reading flat out: ours, and those that the drive below counted; 0 where there is no
 * block device to ask. */
struct result_device {
    uint64_t our_reads, our_bytes;
    uint64_t reads, bytes;
};

/* A doubt about a cell, with what to do about it. */
struct result_warning {
    char kind[32]; /* `late-callbacks`, `device-xruns`, `not-cold`, ... */
    char text[256];
};

struct result_cell {
    uint32_t block_bytes;
    bool complete; /* every search of this cell ended with a confirmed count */
    /* tracks: the median of the searches' confirmed counts, their extremes, each one's */
    uint32_t sustained, low, high;
    uint32_t *runs;
    size_t run_count;
    uint32_t knee;        /* where the short trials put the limit, median of the searches */
    uint32_t comfortable; /* the most at which no ring fell under 20 %, median of the searches */
    uint32_t again;       /* the first cell's count once more at the end of the run; 0: not made */
    bool irregular;       /* underruns come at half the knee too: their cause is not the load */
    bool spread_wide;     /* the searches still differ by more than 5 % */
    double clean_s;       /* how long the confirmed count was held without an underrun */
    enum limit limit;
    double flood_bytes_per_second, stream_bytes_per_second;
    double process_percent, callback_percent; /* of one core, at the sustained count */
    double latency_p50_us, latency_p99_us, latency_p999_us, latency_max_us; /* submit to complete */
    uint64_t buffer_bytes;       /* ring memory at the sustained count */
    double fit_bytes_per_second; /* what the volume's fit says of this block size; 0: no fit */
    bool below_fit;              /* reads slower than that by more than noise */
    struct result_evidence evidence;
    struct result_stalls stalls;
    struct result_device device;
    uint64_t checked_samples; /* drained or buffered samples compared with the known content */
    uint64_t late_callbacks, device_xruns; /* during the cell's trials */
    struct result_trial *trials;
    size_t trial_count;
    struct result_warning *warnings;
    size_t warning_count;
};

/* t = position_s + block / rate, through the flood of every cell; rate 0 where there is no fit. */
struct result_fit {
    double position_s, rate_bytes_per_second, knee_bytes;
};

/* What a drive of that fit reads flat out at a block size, bytes per second: B / (s + B/R); 0 where
 * there is no fit. */
double result_fit_bytes_per_second(const struct result_fit *fit, uint32_t block_bytes);

struct result_volume {
    char *path; /* as given */
    struct drive drive;
    struct result_fit fit;
    uint32_t pool_files;              /* test files at the end */
    uint64_t pool_bytes;              /* what they took */
    uint64_t pool_limit_bytes;        /* the most they might have taken */
    uint32_t recommended_block_bytes; /* 0: none */
    char recommendation[512];         /* one sentence: which block size and why */
    char engine[16];                  /* in effect: `uring`, `threads` */
    char io[16];                      /* in effect: `direct`, `buffered` */
    uint32_t readers, queue_depth;
    struct result_cell *cells;
    size_t cell_count;
};

struct result_method {
    double trial_s, buffer_s;
    uint32_t repeats;
    char io[16];           /* effective */
    char io_requested[16]; /* asked for */
    char engine[16];
    uint32_t readers, queue_depth;
    uint64_t seed;
    uint64_t pool_bytes; /* the most the test files may take; on the first drive */
    uint32_t max_tracks; /* 0: no bound of the user's */
    uint32_t frames;
    char start[16];  /* `scattered`, `aligned`, `staggered` */
    char layout[16]; /* `sequential`, `interleaved` */
    char model[256]; /* the SPEC of --engine model:SPEC; empty: a real drive */
    bool keep;
    uint64_t descriptor_limit;
};

struct result_audio {
    char driver[16]; /* `portaudio`, `clock` */
    char host_api[64];
    char device[256];
    uint32_t sample_rate_hz;
    uint32_t frames_per_buffer;
    bool fell_back; /* no device was named and there is no output here */
};

struct result {
    char tool_version[32];
    time_t started;
    double duration_s;
    bool complete;      /* false: interrupted, or ended by an error */
    char ended_by[512]; /* the error's line where one ended it */
    struct host host;
    struct result_audio audio;
    struct track_format track;
    struct result_method method;
    struct result_volume *volumes;
    size_t volume_count;
};

/* Zeroed results are valid. Frees what hangs below and zeroes it; takes a zeroed one, twice. */
void result_fini(struct result *result);

/* Grow a list by one zeroed entry and return it; NULL when memory ends. The list may move: pointers
 * to its earlier entries are void afterwards. */
struct result_volume *result_add_volume(struct result *result, const char *path);
struct result_cell *result_add_cell(struct result_volume *volume, uint32_t block_bytes);
struct result_trial *result_add_trial(struct result_cell *cell);
int result_add_run(struct result_cell *cell, uint32_t tracks);

/* Adds a warning, once per kind and cell. Does nothing when memory ends. */
void result_warn(struct result_cell *cell, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
