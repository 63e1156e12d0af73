#!/bin/sh
# What deceives a measurement is named in its result: memory, caches below the filesystem, reads
# that were asked to be direct and are not, files of which nobody tells what is cached. And where
# nothing deceives, nothing is said.
. tests/rig/lib.sh
need_root "to mount small drives"
need_command losetup setpriv fallocate

guards="memory unverified loop-cached not-direct cache-below served-from-cache unwritten sparse
    compressed inline small-data above-link above-flood"

# NAME FOLDER OPTION...: into NAME.json. Enough data to be read twice, in files as short as can be.
start_in() {
    name=$1 folder=$2
    shift 2
    # shellcheck disable=SC2086
    start "$name" $as "$program" run --trial 0.5 --repeat 1 --max-tracks 8 --block-size 64K \
        --device clock --engine threads --sample-rate 48000 --channels 8 --encoding float32 \
        --pool-size 64M --json "$work/$name.json" "$@" "$work/$folder"
}
as=

# NAME DIO TYPE OPTIONS MAKE...: mount_loop of a new drive, made by that command.
make_drive() {
    make_dir "$1"
    truncate -s 400M "$dir.img"
    name=$1 dio=$2 type=$3 options=$4
    shift 4
    "$@" "$dir.img" >"$dir.log" 2>&1 && mount_loop "$name" "$dio" "$type" "$options"
}

# NAME IO KIND...: it is done, reads were IO in effect, and of the guards these warn of its cell.
# `KIND?`: this one may.
expect_guards() {
    of=$1 io=$2
    shift 2
    finish "$of"
    expect_done "$of"
    jq -r '.volumes[0].blocks[0].warnings[].kind' "$work/$of.json" >"$work/$of.kinds"
    for kind in $guards; do
        wrong=
        case " $* " in
        *" $kind "*) grep -qx "$kind" "$work/$of.kinds" || wrong="does not warn of $kind" ;;
        *" $kind? "*) ;;
        *) ! grep -qx "$kind" "$work/$of.kinds" || wrong="warns of $kind" ;;
        esac
        [ -z "$wrong" ] || {
            jq -c '.volumes[0] | .io, .blocks[0].warnings, .blocks[0].device' "$work/$of.json" >&2
            fail "$of: $wrong"
        }
    done
    expect_json "$work/$of.json" ".volumes[0].io == \"$io\" and .method.io == \"$io\" and
        all(.volumes[0].blocks[0].warnings[]; .text | length > 40 and length < 255)"
    echo "$of: $io $(tr '\n' ' ' <"$work/$of.kinds")"
}

# Nothing to be said, and by itself, so that no other reads disturb it.
make_drive plain on ext4 rw mkfs.ext4 -q -m 0 ||
    skip "a small drive cannot be mounted: $(tail -n 1 "$work/plain.log")"
start_in plain plain --keep
expect_guards plain direct
expect_json "$work/plain.json" '.method.io_requested == "direct" and
    (.volumes[0].blocks[0].device | .our_reads > 0 and .reads >= .our_reads * 0.9 and
        .bytes >= .our_bytes * 0.9 and .bytes < .our_bytes * 2)'

make_drive loop off ext4 rw mkfs.ext4 -q -m 0 || fail "no loop device through the page cache"
start_in loop loop --keep
make_drive journal on ext4 data=journal mkfs.ext4 -q -m 0 || fail "no journalled ext4"
start_in journal journal
make_dir tmpfs
mount -t tmpfs -o size=400M none "$dir" || fail "a tmpfs cannot be mounted"
start_in memory tmpfs
ntfs=
if make_drive ntfs on ntfs-3g rw mkntfs -Q -F -q; then
    ntfs=1
    start_in ntfs ntfs --keep
else
    skip_part "no ntfs-3g can be mounted: $(tail -n 1 "$work/ntfs.log")"
fi
# What cannot be compressed is stored as it is.
btrfs=
if make_drive btrfs on btrfs compress-force=zstd mkfs.btrfs -q; then
    btrfs=1
    start_in btrfs btrfs
else
    skip_part "no Btrfs can be mounted: $(tail -n 1 "$work/btrfs.log")"
fi
overlay=
make_dir overlay
mkdir "$work/lower" "$work/upper" "$work/over"
if mount -t overlay -o "lowerdir=$work/lower,upperdir=$work/upper,workdir=$work/over" none "$dir"; then
    overlay=1
    start_in overlay overlay --keep
else
    skip_part "no overlay can be mounted"
fi

expect_guards loop buffered loop-cached
expect_guards journal buffered not-direct cache-below? served-from-cache?
expect_guards memory buffered memory
[ -z "$btrfs" ] || expect_guards btrfs direct

# Just written, all of it lies in the cache below, which only the drive's own count betrays. Cold,
# the second reading is the faster one.
if [ -n "$ntfs" ]; then
    expect_guards ntfs buffered unverified served-from-cache
    umount "$work/ntfs"
    mount_loop ntfs on ntfs-3g rw || fail "the NTFS cannot be mounted again"
    start_in again ntfs
fi

# Space that was never written reads as zeros, faster than any drive: the content tells.
for file in "$work"/loop/trackramp-files/*.wav; do
    bytes=$(stat -c %s "$file")
    rm "$file"
    fallocate -l "$bytes" "$file" || fail "no space can be reserved"
done
start_in hollow loop

# Files of somebody else, through the page cache: what is cached of them, the system does not tell.
# Of those on a drive, the drive's own count says that they were cold; on an overlay nothing does.
chmod 777 "$work" "$work/plain" "$work/plain/trackramp-files"
cp "$program" "$work/trackramp"
program=$work/trackramp
as="setpriv --reuid=65534 --regid=65534 --clear-groups"
start_in others plain --io buffered
if [ -n "$overlay" ]; then
    expect_guards overlay direct unverified
    chmod 777 "$work/overlay" "$work/overlay/trackramp-files"
    start_in unknown overlay --io buffered
    expect_guards unknown buffered unverified small-data
    grep -qx cache-unknown "$work/unknown.kinds" || fail "unknown: does not warn of cache-unknown"
fi
expect_guards others buffered
[ -z "$ntfs" ] || expect_guards again buffered unverified cache-below served-from-cache
finish hollow
expect_code hollow 3
expect_line hollow "$work/loop/trackramp-files/track-" corruption
