#include "command.h"

#include "audio.h"

#include <stdlib.h>
#include <string.h>

static int show_help(void)
{
    fputs(
        "Usage: trackramp devices\n\n"
        "Lists the audio outputs that `trackramp run --device NAME` can use here. `clock` is the\n"
        "built-in real-time clock: it needs no sound card.\n",
        stdout);
    return 0;
}

int command_devices(int argc, char **argv, FILE *console)
{
    struct error error = {0};
    struct audio_device *devices;
    size_t count;
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return show_help();
    if (argc > 1) {
        fprintf(console, "trackramp: devices: takes no arguments, such as %s\n", argv[1]);
        return ERROR_USAGE;
    }
    if (audio_list(&devices, &count, &error) != 0) {
        fprintf(console, "trackramp: %s\n", error.text);
        return (int)error.kind;
    }
    printf("%-44s %-28s %8s %9s\n", "NAME", "HOST API", "CHANNELS", "RATE");
    for (size_t i = 0; i < count; i++) {
        const struct audio_device *device = &devices[i];
        char rate[32] = "any";
        if (device->default_sample_rate_hz > 0)
            snprintf(rate, sizeof rate, "%.0f Hz", device->default_sample_rate_hz);
        printf("%-44s %-28s %8u %9s%s\n", device->name, device->host_api, device->channels, rate,
               device->is_default ? "  default" : "");
    }
    free(devices);
    return 0;
}
