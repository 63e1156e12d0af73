#include "fakes/sample_result.h"

#include <assert.h>
#include <stdio.h>

static void set(char *out, size_t out_bytes, const char *text)
{
    snprintf(out, out_bytes, "%s", text);
}
#define SET(field, text) set(field, sizeof(field), text)

static void add_trial(struct result_cell *cell, uint32_t ramp, enum ramp_step step, uint32_t tracks,
                      bool pass, const char *reason)
{
    struct result_trial *trial = result_add_trial(cell);
    assert(trial != NULL);
    trial->ramp = ramp;
    trial->step = step;
    trial->tracks = tracks;
    trial->seconds = 5.0123456;
    trial->underruns = pass ? 0 : 17;
    trial->backlog_bytes_per_second = pass ? -1200.5 : 350000.25;
    trial->min_slack_ms = pass ? 412.1234567 : 0;
    trial->lowest_fill_percent = pass ? 43.2109876 : 0;
    trial->stalls = 1;
    trial->worst_stall_s = 2.0404;
    trial->pass = pass;
    SET(trial->reason, reason);
}

static void fill_cell(struct result_cell *cell, uint32_t sustained, enum limit limit)
{
    cell->complete = true;
    cell->sustained = sustained;
    cell->low = sustained - sustained / 50;
    cell->high = sustained + sustained / 40;
    assert(result_add_run(cell, cell->high) == 0);
    assert(result_add_run(cell, cell->low) == 0);
    assert(result_add_run(cell, sustained) == 0);
    cell->knee = cell->high + 3;
    cell->comfortable = sustained - sustained / 10;
    cell->clean_s = 15;
    cell->limit = limit;
    cell->flood_bytes_per_second = sustained * 88200.0 * 1.04;
    cell->stream_bytes_per_second = sustained * 88200.0;
    cell->process_percent = 37.25;
    cell->callback_percent = 12.125;
    cell->latency_p50_us = 812.5;
    cell->latency_p99_us = 9120.25;
    cell->latency_p999_us = 14000.125;
    cell->latency_max_us = 231000.75;
    cell->buffer_bytes = (uint64_t)sustained * 2 * cell->block_bytes;
    cell->fit_bytes_per_second = cell->flood_bytes_per_second * 1.01;
    cell->evidence = (struct result_evidence){.tracks = cell->high + 1,
                                              .queue_busy_percent = 99.5,
                                              .callback_percent = 12.75,
                                              .reader_percent = 9.25,
                                              .process_percent = 38.125,
                                              .late_callbacks_percent = 0.0625};
    cell->stalls = (struct result_stalls){6, 120.5, 2.0404, 2.5};
    cell->device = (struct result_device){25600, 25600 * UINT64_C(4096), 25700, 105000000};
    cell->checked_samples = 2560;
    cell->late_callbacks = 2;
    cell->device_xruns = 1;
    add_trial(cell, 0, STEP_BRACKET, 2 * sustained, false, "17 underruns, first after 0.8 s");
    add_trial(cell, 0, STEP_CLOSE_IN, sustained, true, "the backlog keeps returning to its floor");
    add_trial(cell, 0, STEP_CONFIRM, sustained, true, "held without an underrun");
}

static void fill_volume(struct result_volume *volume)
{
    struct drive *drive = &volume->drive;
    SET(drive->filesystem_type, "xfs");
    SET(drive->filesystem_options, "rw,noatime,inode64");
    drive->filesystem_block_bytes = 4096;
    SET(drive->node, "/dev/md0");
    SET(drive->model, "raid0 of 4 drives");
    drive->rotational = 1;
    drive->stripe_unit_bytes = 512 * 1024;
    drive->stripe_bytes = 2048 * 1024;
    drive->read_ahead_bytes = 128 * 1024;
    volume->fit = (struct result_fit){0.0083456789, 180e6, 1502222.2};
    volume->pool_files = 64;
    volume->pool_bytes = UINT64_C(6) << 30;
    volume->recommended_block_bytes = 1048576;
    SET(volume->recommendation, "Use blocks of 1 MiB: 2040 tracks; larger blocks add less than 3 % "
                                "and smaller ones carry fewer tracks for the same drive.");
    SET(volume->engine, "uring");
    SET(volume->io, "direct");
    volume->readers = 2;
    volume->queue_depth = 32;
}

static void fill_head(struct result *result)
{
    SET(result->tool_version, "0.1.0");
    result->started = 1767323045;
    result->duration_s = 750.4567;
    result->complete = true;
    SET(result->host.os, "Debian GNU/Linux 12 (bookworm)");
    SET(result->host.kernel, "6.1.0-18-amd64");
    SET(result->host.cpu, "AMD Ryzen 7 5800X 8-Core Processor");
    result->host.cores = 16;
    result->host.memory_bytes = UINT64_C(32) << 30;
    SET(result->audio.driver, "portaudio");
    SET(result->audio.host_api, "JACK Audio Connection Kit");
    SET(result->audio.device, "system");
    result->audio.sample_rate_hz = 44100;
    result->audio.frames_per_buffer = 256;
    result->track = (struct track_format){CONTAINER_WAV, ENCODING_PCM16, 44100, 1};
    struct result_method *method = &result->method;
    method->trial_s = 5;
    method->buffer_s = 0.1;
    method->repeats = 3;
    SET(method->io, "direct");
    SET(method->io_requested, "direct");
    SET(method->engine, "uring");
    SET(method->start, "scattered");
    SET(method->layout, "sequential");
    method->readers = 2;
    method->queue_depth = 32;
    method->seed = 1;
    method->pool_bytes = UINT64_C(16) << 30;
    method->max_tracks = 5000;
    method->frames = 256;
    method->keep = true;
    method->descriptor_limit = 20000;
}

void sample_result_init(struct result *result)
{
    *result = (struct result){0};
    fill_head(result);
    struct result_volume *volume = result_add_volume(result, "/mnt/audio");
    assert(volume != NULL);
    fill_volume(volume);
    struct result_cell *cell = result_add_cell(volume, 65536);
    fill_cell(cell, 445, LIMIT_DISK_IOPS);
    cell->spread_wide = true;
    cell->again = 440;
    cell->fit_bytes_per_second = 51.25e6;
    cell->below_fit = true;
    result_warn(cell, "late-callbacks", "%d callbacks came late; close other programs", 2);
    cell = result_add_cell(volume, 1048576);
    fill_cell(cell, 2040, LIMIT_DISK_BANDWIDTH);
    result_warn(cell, "late-callbacks", "%d callbacks came late; close other programs", 5);
    result_warn(cell, "moved", "the first cell moved by 9 %% during the run; repeat it");
    fill_cell(result_add_cell(volume, 4194304), 4990, LIMIT_MAX_TRACKS);
    cell = result_add_cell(volume, 8388608);
    assert(cell != NULL);
    cell->flood_bytes_per_second = 1.75e9;
    assert(result_add_run(cell, 1990) == 0);
    cell->sustained = cell->low = cell->high = 1990;
    volume = result_add_volume(result, "/dev/shm");
    assert(volume != NULL);
    SET(volume->drive.filesystem_type, "tmpfs");
    volume->drive.rotational = -1;
    SET(volume->io, "buffered");
    SET(volume->engine, "threads");
    volume->readers = 1;
    volume->queue_depth = 1;
    cell = result_add_cell(volume, 4096);
    assert(cell != NULL);
}
