#include "model.h"

#include <stddef.h>

/*
 * Times between two random places of a disk: its data sheet's average seek is over all pairs of
 * places (IBM and Hitachi print the formula), for which the square root of the distance averages
 * 8/15; so MOST = LEAST + 15/8 x (average - LEAST). The data sheet's full stroke is longer, but
 * few seeks are that long.
 *
 * Flash: T, the time of transfer, from the reads a second at a depth of 32; overhead is what of it
 * the rate does not explain; position is what is left of one read at a depth of 1.
 */
const struct model_preset model_presets[] = {
    /* Western Digital Caviar, 7200 rpm. Average seek 8.9 ms, track to track 2.0 ms, controller
     * overhead 0.3 ms: data sheet of the WD400BB (lyberty.com/tech/hard_drives/
     * WD_Caviar_WD400BB_specs); the WD1200JB of 2002 has the same 8.9 ms (tomshardware.com/reviews/
     * western-digital-wd1200jb-8-mb-cache,433-2.html). 100 GB, measured 25 to 42 MB/s from the
     * innermost to the outermost track, so 33.5 MB/s in between, and about 13 ms to a random place:
     * the WD1000BB in tomshardware.com/reviews/round,1132-24.html. No command queue. */
    {"ata-2002", "a 7200 rpm ATA disk of 2002, without a command queue",
     "rpm=7200,seek=2ms:14.94ms,capacity=100000000000,rate=33500000,overhead=0.3ms"},
    /* Western Digital Ultrastar DC HC310, 6 TB. Average seek 7.4 ms, single track 0.23 ms, 7200
     * rpm: its specification, tables 5 to 7 (manualshive.com/en/manual/western-digital/
     * ultrastar-dc-hc310/961649?page=23). 180 MB/s is estimated, as no figure for it was found:
     * hdparm read so much from the outermost tracks of the 6 TB Ultrastar before it
     * (gist.github.com/mikewebb70/69408af5d27d73cdfb42e2a2d3a3a49c), and a denser disk will read it
     * in the middle. 32 commands are what SATA's queue (NCQ) holds. */
    {"hdd-7200", "a current 7200 rpm SATA disk",
     "rpm=7200,seek=230us:13.67ms,capacity=6000000000000,rate=180000000,depth=32,order=nearest"},
    /* Samsung 870 EVO. 560 MB/s, 13,000 reads of 4 KiB a second at a depth of 1, 98,000 at 32:
     * the maker's figures in kitguru.net/components/ssd-drives/simon-crisp/
     * samsung-ssd-870-evo-1tb-review. */
    {"sata-ssd", "a SATA solid-state drive",
     "position=66.7us,overhead=2.9us,rate=560000000,depth=32"},
    /* Samsung 980, 1 TB. 3,500 MB/s, 17,000 reads of 4 KiB a second at a depth of 1, 500,000 at
     * 32: the maker's figures in guru3d.com/articles-pages/samsung-980-1tb-nvme-ssd-review,2.html.
     */
    {"nvme-ssd", "an NVMe solid-state drive",
     "position=56.8us,overhead=0.83us,rate=3500000000,depth=32"},
    /* Lexar JumpDrive S75, 128 GB, USB 3.0. CrystalDiskMark at acex.com.au/
     * usb-3-0-flash-drive-readwrite-performance-how-is-it: 1010.5 random reads of 4 KiB a second at
     * a depth of 1, 1245.8 at 32, 136.3 MB/s in reads of 1 MiB. The rate is that of the 1 MiB less
     * what the 4 KiB take. */
    {"usb-stick", "a USB 3 flash stick", "position=187us,overhead=776us,rate=155800000,depth=2"},
    /* No drive: 1 us for any read, so that readers, callback and memory are the limit. */
    {"infinite", "no drive's limit: a microsecond for a read of any size", "overhead=1us"},
    {NULL, NULL, NULL},
};
