#!/bin/sh
# The answer on a drive of known speed, from trials of the default length: right within 2 %, and the
# limit called by its name. `make speeds` measures many more. Tracks that the drive carries: its
# bytes a second over a track's, or its reads a second x block size over a track's bytes a second.
. tests/rig/lib.sh
make_dir drive

# NAME LIMITS LOWEST HIGHEST LIMIT OPTION...
measure() {
    name=$1
    limits=$2
    lowest=$3
    highest=$4
    limit=$5
    shift 5
    # shellcheck disable=SC2086
    try "$name" tests/rig/knownspeed.sh "$dir" $limits -- "$program" run --repeat 1 --device clock \
        --json "$work/$name.json" "$@" "$dir"
    [ "$code" -ne 77 ] || skip "$(cat "$work/$name.err")"
    expect_done "$name"
    jq -r '"'"$name"': \(.volumes[0].blocks[0].tracks.sustained) tracks in \(.duration_s) s"' \
        "$work/$name.json"
    expect_json "$work/$name.json" ".complete"
    expect_json "$work/$name.json" ".volumes[0].blocks[0] | .limit == \"$limit\" and
        .tracks.sustained >= $lowest and .tracks.sustained <= $highest"
    expect_empty "$dir"
}

# 20,000,000 / 88,200 = 226.8, within 2 %
measure bandwidth bytes=20000000 222.3 231.3 disk-bandwidth --block-size 64K
# 600 x 16,384 / 88,200 = 111.5, within 2 %
measure reads reads=600 109.3 113.7 disk-iops --block-size 16K
# 226.8 again, within 3 %: blocks that last for 12 s, in trials of 5 s
measure large bytes=20000000 220.0 233.6 disk-bandwidth --block-size 1M --buffer 4
