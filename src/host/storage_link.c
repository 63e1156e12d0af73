#include "storage_link.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/*
 * A drive's folder in /sys lies inside that of what it is plugged into, and that inside the next:
 * on the way up lies the USB device, or the port of a SATA controller, each with the speed that was
 * agreed on. The figure is of bits on the cable, eight of which cannot carry more than a byte;
 * what the encoding and the protocol take besides is left out, so that no drive is faster.
 */

static const double bits_per_byte = 8;

/* `name` may hold patterns. 0 where there is no such file or no number at its beginning. */
static double read_number(const char *folder, const char *name)
{
    char pattern[PATH_MAX + 64];
    double value = 0;
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/%s", folder, name);
    if (glob(pattern, 0, NULL, &found) == 0) {
        FILE *file = fopen(found.gl_pathv[0], "re");
        if (file != NULL) {
            if (fscanf(file, "%lf", &value) != 1)
                value = 0;
            fclose(file);
        }
    }
    globfree(&found);
    return value;
}

double storage_link_bytes_per_second(const char *path)
{
    char folder[PATH_MAX];
    double bits_per_second = 0;
    snprintf(folder, sizeof folder, "%s", path);
    for (char *name; bits_per_second == 0 && (name = strrchr(folder, '/')) != NULL; *name = '\0') {
        if (strncmp(name, "/ata", 4) == 0) /* `6.0 Gbps` */
            bits_per_second = 1e9 * read_number(folder, "link*/ata_link/link*/sata_spd");
        else if (strstr(folder, "/usb") != NULL) /* `480`, in Mbit/s */
            bits_per_second = 1e6 * read_number(folder, "speed");
    }
    return bits_per_second / bits_per_byte;
}
