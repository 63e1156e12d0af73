#!/bin/sh
# A run on each filesystem, past the page cache where that works and else through it, after an
# error that says so; the result names the filesystem, and nothing is left on it.
. tests/rig/lib.sh
need_root "to mount small drives"

# NAME OPTION...
start_on() {
    name=$1
    shift
    # shellcheck disable=SC2086
    start "$name" "$program" run $short --engine "$engine" --json "$work/$name.json" "$@" \
        "$work/$name"
}

# NAME MIB TYPE MAKE...
make_drive() {
    name=$1
    if mount_image "$@"; then
        find "$dir" -mindepth 1 ! -path "$dir/lost+found*" >"$work/$name.names"
        start_on "$name"
        drives="$drives $name"
    else
        skip_part "$name cannot be mounted: $(tail -n 1 "$work/$name.log")"
    fi
}

# Files that io_uring reads are held by the kernel besides, which FUSE shows.
engine=uring
drives=
make_drive ext4 32 ext4 mkfs.ext4 -q
make_drive xfs 320 xfs mkfs.xfs -q
make_drive btrfs 160 btrfs mkfs.btrfs -q
make_drive ntfs 32 ntfs-3g mkntfs -Q -F -q
make_drive exfat 32 exfat-fuse mkfs.exfat
make_dir tmpfs
mount -t tmpfs -o size=64M none "$dir" || fail "a tmpfs cannot be mounted"
: >"$work/tmpfs.names"
start_on tmpfs
drives="$drives tmpfs"
# It does not tell how much space it has, and what lies on it never leaves memory.
make_dir ramfs
mount -t ramfs none "$dir" || fail "a ramfs cannot be mounted"
: >"$work/ramfs.names"
start_on ramfs --pool-size 16M --io buffered
drives="$drives ramfs"

for name in $drives; do
    finish "$name"
    [ "$name" = ramfs ] && io=buffered || io=direct
    if lacks_uring "$name"; then
        engine=threads
        start_on "$name" --pool-size 16M --io "$io"
        finish "$name"
    fi
    if [ "$code" -ne 0 ]; then
        expect_error "$name" 3 "$work/$name/trackramp-files/" "--io buffered"
        io=buffered
        start_on "$name" --io buffered
        finish "$name"
    fi
    expect_done "$name"
    case $name in
    ntfs | exfat) type='^(fuseblk|ntfs|exfat)' ;;
    *) type="^$name\$" ;;
    esac
    expect_json "$work/$name.json" ".volumes[0] | (.filesystem.type | test(\"$type\")) and
        .blocks[0].tracks.sustained == 8"
    # What was asked; guards.sh looks at what it came to.
    expect_json "$work/$name.json" ".method.io_requested == \"$io\""
    case $name in
    tmpfs | ramfs)
        node=
        expect_json "$work/$name.json" '.volumes[0].io == "buffered"'
        ;;
    *) node=/dev/loop ;;
    esac
    expect_json "$work/$name.json" ".volumes[0].drive.node | startswith(\"$node\")"
    [ "$name" != ramfs ] || expect_json "$work/ramfs.json" \
        '[.volumes[0].blocks[0].warnings[].kind] | index("not-cold") or index("cache-unknown")'
    find "$work/$name" -mindepth 1 ! -path "$work/$name/lost+found*" >"$work/$name.left"
    cmp "$work/$name.left" "$work/$name.names" ||
        fail "$name: something is left: $(head -n 3 "$work/$name.left" | tr '\n' ' ')"
    echo "$name: $io"
done
