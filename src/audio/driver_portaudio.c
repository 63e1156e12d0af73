#include "driver.h"
#include "errand.h"
#include "monotonic.h"
#include "units.h"

#include <portaudio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A PortAudio output. The only file that knows PortAudio.
 *
 * No call to it can be trusted to return: with a dead JACK server stopping and closing hang for
 * good, with ALSA starting can. So opening, closing and listing each run as an errand (errand.h)
 * that the main thread gives up after a while, leaving it every byte that it may still touch.
 *
 * The default output is JACK's where a JACK server runs: PortAudio itself would prefer ALSA, which
 * then often shares or fights for the same card.
 */

#define OPEN_LIMIT_NS (5 * UNITS_NS_PER_SECOND)
#define CLOSE_LIMIT_NS (1500 * UNITS_NS_PER_MS)
#define LIST_LIMIT_NS (5 * UNITS_NS_PER_SECOND)

/* A device that is this far ahead of real time keeps none (ALSA's `null`): no buffer is so deep,
 * and it would burn a core until somebody looked. */
#define RUNAWAY_NS (2 * UNITS_NS_PER_SECOND)

enum { BUS_CHANNELS = 2, PERIODS_AHEAD = 3 };

struct portaudio {
    struct driver_stream base;
    /* set before start */
    audio_render render;
    void *user;
    uint32_t frames;
    uint32_t sample_rate_hz;
    bool named;
    char wanted[256];
    char device[256];
    char host_api[64];
    PaStream *stream;
    uint64_t ahead_ns; /* how much audio the device may hold */
    /* callback only */
    uint64_t first_ns;
    uint64_t due_ns;
    /* shared: the main thread's word */
    atomic_bool abandoned;
    /* the errand's, then, when it has returned, the main thread's */
    enum driver_opened opened;
    struct error error;
};

struct listing {
    struct audio_device *devices;
    size_t count;
    int result;
    struct error error;
};

/* --- the callback -------------------------------------------------------------------------- */

/*
 * Some hosts fetch several periods at once, and then none for as long. So time runs on the frames
 * delivered: the next callback is due when those have been played, counted from when they would
 * have been begun; but the device holds no more than `ahead_ns`, which keeps a clock a little fast
 * from saving up credit that would hide a late callback.
 */
static int serve(const void *input, void *output, unsigned long count,
                 const PaStreamCallbackTimeInfo *time, PaStreamCallbackFlags flags, void *argument)
{
    (void)input;
    (void)time;
    struct portaudio *portaudio = argument;
    if (atomic_load_explicit(&portaudio->abandoned, memory_order_relaxed))
        return paAbort;
    struct driver_callback callback = {.entry_ns = monotonic_ns(), .frames = (uint32_t)count};
    portaudio->render(portaudio->user, output, callback.frames, portaudio->base.info.channels,
                      callback.entry_ns);
    callback.busy_ns = monotonic_ns() - callback.entry_ns;

    uint64_t period_ns = count * UNITS_NS_PER_SECOND / portaudio->sample_rate_hz;
    if (portaudio->first_ns == 0)
        portaudio->first_ns = portaudio->due_ns = callback.entry_ns;
    callback.late = callback.entry_ns >= portaudio->due_ns + period_ns;
    callback.xrun = (flags & paOutputUnderflow) != 0;
    if (portaudio->due_ns < callback.entry_ns)
        portaudio->due_ns = callback.entry_ns;
    portaudio->due_ns += period_ns;
    if (portaudio->due_ns > callback.entry_ns + portaudio->ahead_ns)
        portaudio->due_ns = callback.entry_ns + portaudio->ahead_ns;
    driver_count(&portaudio->base.counters, &callback);

    uint64_t frames = atomic_load_explicit(&portaudio->base.counters.frames, memory_order_relaxed);
    uint64_t played_ms = frames * 1000 / portaudio->sample_rate_hz;
    uint64_t passed_ns = callback.entry_ns - portaudio->first_ns;
    return played_ms * UNITS_NS_PER_MS > passed_ns + RUNAWAY_NS ? paAbort : paContinue;
}

/* --- choosing a device (errand) ------------------------------------------------------------ */

/* The line of an error, whoever raised it. */
static void describe(char *text, size_t text_bytes, PaError code)
{
    const PaHostErrorInfo *host =
        code == paUnanticipatedHostError ? Pa_GetLastHostErrorInfo() : NULL;
    bool host_speaks = host != NULL && host->errorText != NULL && host->errorText[0] != '\0';
    snprintf(text, text_bytes, "%s", host_speaks ? host->errorText : Pa_GetErrorText(code));
    text[strcspn(text, "\n")] = '\0';
}

static int initialize(struct error *error)
{
    PaError code = Pa_Initialize();
    if (code == paNoError)
        return 0;
    char text[128];
    describe(text, sizeof text, code);
    return error_set(error, ERROR_ENVIRONMENT,
                     "PortAudio does not start: %s; --device clock does without it", text);
}

static PaDeviceIndex default_output(void)
{
    const PaHostApiInfo *jack = Pa_GetHostApiInfo(Pa_HostApiTypeIdToHostApiIndex(paJACK));
    if (jack != NULL && jack->defaultOutputDevice != paNoDevice)
        return jack->defaultOutputDevice;
    PaDeviceIndex index = Pa_GetDefaultOutputDevice();
    /* PortAudio's default is that of its first host API with any device, such as a microphone. */
    for (PaHostApiIndex api = 0; index == paNoDevice && api < Pa_GetHostApiCount(); api++)
        index = Pa_GetHostApiInfo(api)->defaultOutputDevice;
    return index;
}

static PaDeviceIndex named_output(const char *wanted, struct error *error)
{
    PaDeviceIndex found = paNoDevice;
    unsigned matches = 0;
    for (PaDeviceIndex index = 0; index < Pa_GetDeviceCount(); index++) {
        const PaDeviceInfo *device = Pa_GetDeviceInfo(index);
        if (device->maxOutputChannels < 1)
            continue;
        if (strcmp(device->name, wanted) == 0)
            return index;
        if (wanted[0] != '\0' && strcasestr(device->name, wanted) != NULL) {
            found = index;
            matches++;
        }
    }
    if (matches == 1)
        return found;
    if (matches > 1)
        error_set(error, ERROR_USAGE,
                  "--device: `%s` fits %u audio outputs; give one's whole name, as "
                  "`trackramp devices` lists them",
                  wanted, matches);
    else
        error_set(error, ERROR_USAGE,
                  "--device: no audio output here is called `%s`; `trackramp devices` lists them, "
                  "and --device clock always works",
                  wanted);
    return paNoDevice;
}

/* --- opening and closing (errands) --------------------------------------------------------- */

static int refuse(struct portaudio *portaudio, const PaDeviceInfo *device, PaError code)
{
    uint32_t rate_hz = portaudio->sample_rate_hz;
    uint32_t device_hz = (uint32_t)(device->defaultSampleRate + 0.5);
    char text[128];
    describe(text, sizeof text, code);
    if (code != paInvalidSampleRate)
        return error_set(&portaudio->error, ERROR_ENVIRONMENT,
                         "audio output `%s` (%s) does not open: %s; free it, choose another with "
                         "--device, or --device clock",
                         portaudio->device, portaudio->host_api, text);
    if (device_hz == rate_hz)
        return error_set(&portaudio->error, ERROR_ENVIRONMENT,
                         "audio output `%s` (%s) does not run at %u Hz; choose another "
                         "--sample-rate, or --device clock",
                         portaudio->device, portaudio->host_api, rate_hz);
    return error_set(&portaudio->error, ERROR_ENVIRONMENT,
                     "audio output `%s` (%s) runs at %u Hz and refuses %u Hz; use --sample-rate "
                     "%u, or --device clock",
                     portaudio->device, portaudio->host_api, device_hz, rate_hz, device_hz);
}

static int open_stream(struct portaudio *portaudio, PaDeviceIndex index)
{
    const PaDeviceInfo *device = Pa_GetDeviceInfo(index);
    snprintf(portaudio->device, sizeof portaudio->device, "%s", device->name);
    snprintf(portaudio->host_api, sizeof portaudio->host_api, "%s",
             Pa_GetHostApiInfo(device->hostApi)->name);
    double periods_s = (double)portaudio->frames * PERIODS_AHEAD / portaudio->sample_rate_hz;
    double low_s = device->defaultLowOutputLatency;
    PaStreamParameters parameters = {
        .device = index,
        .channelCount =
            device->maxOutputChannels < BUS_CHANNELS ? device->maxOutputChannels : BUS_CHANNELS,
        .sampleFormat = paFloat32,
        .suggestedLatency = low_s > periods_s ? low_s : periods_s,
    };
    portaudio->base.info = (struct audio_info){
        .driver = "portaudio",
        .host_api = portaudio->host_api,
        .device = portaudio->device,
        .sample_rate_hz = portaudio->sample_rate_hz,
        .frames = portaudio->frames,
        .channels = (uint32_t)parameters.channelCount,
    };
    PaError code = Pa_OpenStream(&portaudio->stream, NULL, &parameters, portaudio->sample_rate_hz,
                                 portaudio->frames, paNoFlag, serve, portaudio);
    if (code != paNoError)
        return refuse(portaudio, device, code);
    double latency_s = Pa_GetStreamInfo(portaudio->stream)->outputLatency;
    double ahead_s = latency_s > periods_s ? latency_s : periods_s;
    portaudio->ahead_ns = (uint64_t)(ahead_s * (double)UNITS_NS_PER_SECOND);
    code = Pa_StartStream(portaudio->stream);
    if (code == paNoError)
        return 0;
    refuse(portaudio, device, code);
    Pa_CloseStream(portaudio->stream);
    return -1;
}

static void open_errand(void *argument)
{
    struct portaudio *portaudio = argument;
    portaudio->opened = DRIVER_FAILED;
    if (initialize(&portaudio->error) != 0)
        return;
    PaDeviceIndex index =
        portaudio->named ? named_output(portaudio->wanted, &portaudio->error) : default_output();
    if (index == paNoDevice)
        portaudio->opened = portaudio->named ? DRIVER_FAILED : DRIVER_NO_OUTPUT;
    else if (open_stream(portaudio, index) == 0)
        portaudio->opened = DRIVER_OPENED;
    if (portaudio->opened != DRIVER_OPENED)
        Pa_Terminate();
}

static void close_errand(void *argument)
{
    struct portaudio *portaudio = argument;
    Pa_AbortStream(portaudio->stream);
    Pa_CloseStream(portaudio->stream);
    Pa_Terminate();
}

/* --- the driver (main thread) -------------------------------------------------------------- */

/* A JACK server that libjack starts would be the user's surprise, and outlive us. */
static void never_start_servers(void)
{
    setenv("JACK_NO_START_SERVER", "1", 1);
}

static enum driver_opened portaudio_open(struct driver_stream **stream,
                                         const struct audio_options *options, struct error *error)
{
    struct portaudio *portaudio = aligned_alloc(_Alignof(struct portaudio), sizeof *portaudio);
    if (portaudio == NULL) {
        error_set(error, ERROR_ENVIRONMENT, "out of memory opening the audio output; free some");
        return DRIVER_FAILED;
    }
    memset(portaudio, 0, sizeof *portaudio);
    portaudio->render = options->render;
    portaudio->user = options->user;
    portaudio->frames = options->frames;
    portaudio->sample_rate_hz = options->sample_rate_hz;
    portaudio->named = options->device != NULL;
    if (portaudio->named)
        snprintf(portaudio->wanted, sizeof portaudio->wanted, "%s", options->device);
    never_start_servers();
    if (errand_run(open_errand, portaudio, OPEN_LIMIT_NS) != 0) {
        atomic_store_explicit(&portaudio->abandoned, true, memory_order_relaxed);
        error_set(error, ERROR_ENVIRONMENT,
                  "audio output `%s` hangs while it is opened (a stuck sound server?); choose "
                  "another with --device, or --device clock",
                  portaudio->named ? portaudio->wanted : "default");
        return DRIVER_FAILED;
    }
    enum driver_opened opened = portaudio->opened;
    if (opened == DRIVER_OPENED) {
        *stream = &portaudio->base;
        return opened;
    }
    if (opened == DRIVER_FAILED)
        error_set(error, portaudio->error.kind, "%s", portaudio->error.text);
    free(portaudio);
    return opened;
}

static void portaudio_close(struct driver_stream *stream)
{
    struct portaudio *portaudio = (struct portaudio *)stream;
    if (errand_run(close_errand, portaudio, CLOSE_LIMIT_NS) == 0)
        free(portaudio);
    else
        atomic_store_explicit(&portaudio->abandoned, true, memory_order_relaxed);
}

const struct driver driver_portaudio = {.open = portaudio_open, .close = portaudio_close};

/* --- listing ------------------------------------------------------------------------------- */

static void list_errand(void *argument)
{
    struct listing *listing = argument;
    listing->result = initialize(&listing->error);
    if (listing->result != 0)
        return;
    PaDeviceIndex devices = Pa_GetDeviceCount(), best = default_output();
    listing->devices = calloc((size_t)(devices > 0 ? devices : 0) + 1, sizeof *listing->devices);
    if (listing->devices == NULL)
        listing->result = error_set(&listing->error, ERROR_ENVIRONMENT,
                                    "out of memory listing the audio outputs; free some");
    for (PaDeviceIndex index = 0; listing->devices != NULL && index < devices; index++) {
        const PaDeviceInfo *device = Pa_GetDeviceInfo(index);
        if (device->maxOutputChannels < 1)
            continue;
        struct audio_device *entry = &listing->devices[listing->count++];
        snprintf(entry->name, sizeof entry->name, "%s", device->name);
        snprintf(entry->host_api, sizeof entry->host_api, "%s",
                 Pa_GetHostApiInfo(device->hostApi)->name);
        entry->channels = (uint32_t)device->maxOutputChannels;
        entry->default_sample_rate_hz = device->defaultSampleRate;
        entry->is_default = index == best;
    }
    Pa_Terminate();
}

int driver_portaudio_list(struct audio_device **devices, size_t *count, struct error *error)
{
    struct listing *listing = calloc(1, sizeof *listing);
    if (listing == NULL)
        return error_set(error, ERROR_ENVIRONMENT,
                         "out of memory listing the audio outputs; free some");
    never_start_servers();
    if (errand_run(list_errand, listing, LIST_LIMIT_NS) != 0)
        return error_set(error, ERROR_ENVIRONMENT,
                         "PortAudio hangs while it looks for audio outputs: is a sound server "
                         "stuck? --device clock does without");
    int result = listing->result;
    if (result == 0) {
        *devices = listing->devices;
        *count = listing->count;
    } else {
        error_set(error, listing->error.kind, "%s", listing->error.text);
    }
    free(listing);
    return result;
}
