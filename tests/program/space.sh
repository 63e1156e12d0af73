#!/bin/sh
# On a drive with little room: nothing is left behind where there is too little, other files stay as
# they are, and at least a tenth of what was free stays so at every moment of a run.
. tests/rig/lib.sh

free_bytes() {
    stat -f -c '%a %S' "$1" | awk '{ printf "%d\n", $1 * $2 }'
}

# DIR BYTES: somebody's files, and so many bytes free beside them.
fill() {
    head -c 100000 /dev/urandom >"$1/precious"
    mkdir "$1/folder"
    cp "$1/precious" "$1/folder/track-000000.wav"
    while [ "$(free_bytes "$1")" -gt "$2" ]; do
        more=$(($(free_bytes "$1") - $2))
        # Large pieces, then single blocks: the filesystem needs some blocks for itself.
        fallocate -o "$(stat -c %s "$1/ballast" 2>/dev/null || echo 0)" \
            -l $((more > 262144 ? more - 131072 : 4096)) "$1/ballast" 2>/dev/null || break
    done
    find "$1" -type f -exec cksum {} + >"$1.before"
    find "$1" >"$1.names"
}

expect_as_before() {
    find "$1" -type f -exec cksum {} + | cmp - "$1.before" || fail "$1: files are not as they were"
    find "$1" | cmp - "$1.names" || fail "$1: other files than before"
}

mount_ext4 little 32
fill "$dir" 150000
# shellcheck disable=SC2086
try little "$program" run $short "$dir"
expect_error little 3 "$dir" "the drive is full" "free some space"
expect_as_before "$dir"

mount_ext4 full 32
fill "$dir" 0
# shellcheck disable=SC2086
try full "$program" run $short "$dir"
expect_error full 3 "$dir" "full"
expect_as_before "$dir"

# More tracks are asked for than there is room for files: they share those there are.
mount_ext4 room 64
fill "$dir" 30000000
before=$(free_bytes "$dir")
# shellcheck disable=SC2086
start room "$program" run $short --max-tracks 300 --pool-size 1G --json "$work/room.json" "$dir"
lowest=$before
while kill -0 "$(cat "$work/room.pid")" 2>/dev/null; do
    now=$(free_bytes "$dir")
    [ "$now" -ge "$lowest" ] || lowest=$now
    sleep 0.05
done
finish room
expect_done room
[ "$lowest" -ge $((before / 10)) ] || fail "room: only $lowest of $before bytes stayed free"
[ "$lowest" -lt $((before / 5)) ] || fail "room: $lowest of $before bytes stayed free: no test"
expect_json "$work/room.json" ".volumes[0] | .files < 300 and .pool_bytes <= $((before * 9 / 10))
    and .blocks[0].tracks.sustained > .files"
expect_as_before "$dir"
