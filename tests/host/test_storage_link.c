#include "host/storage_link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/trackramp-test-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* A file below the folder, the folders it lies in made. */
static void put(const char *name, const char *text)
{
    char command[512];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s/%s')\" && echo '%s' >'%s/%s'",
             folder, name, text, folder, name);
    assert_int_equal(system(command), 0);
}

static double link_of(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return storage_link_bytes_per_second(path);
}

/* Trees as the kernel shows them; the hub's speed is not the device's. */
static void usb_and_sata_tell_their_speed(void **state)
{
    (void)state;
    put("pci0/usb2/speed", "10000");
    put("pci0/usb2/2-1/speed", "480");
    put("pci0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb/stat", "0");
    assert_true(link_of("pci0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb") == 60e6);
    put("pci1/ata3/link3/ata_link/link3/sata_spd", "6.0 Gbps");
    put("pci1/ata3/host2/target2:0:0/2:0:0:0/block/sda/stat", "0");
    assert_true(link_of("pci1/ata3/host2/target2:0:0/2:0:0:0/block/sda") == 750e6);
    put("pci1/ata4/link4/ata_link/link4/sata_spd", "<unknown>");
    put("pci1/ata4/host3/block/sdc/stat", "0");
    assert_true(link_of("pci1/ata4/host3/block/sdc") == 0);
    put("pci2/net/speed", "1000");
    put("pci2/net/virtio1/block/vda/stat", "0");
    assert_true(link_of("pci2/net/virtio1/block/vda") == 0);
    assert_true(link_of("nowhere") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(usb_and_sata_tell_their_speed, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
