#!/bin/sh
# Every container with every encoding: files are made, played and checked, and the result tells the
# right rate. Seven at a time, which a few tracks each bear.
. tests/rig/lib.sh

# NAME CONTAINER ENCODING RATE CHANNELS
start_format() {
    make_dir "$1"
    # shellcheck disable=SC2086
    start "$1" "$program" run $short --max-tracks 4 $engine --container "$2" \
        --encoding "$3" --sample-rate "$4" --channels "$5" --json "$work/$1.json" "$dir"
}

finish_format() {
    finish "$1"
    expect_done "$1"
    case $3 in
    pcm16) bytes=2 ;;
    pcm24) bytes=3 ;;
    *) bytes=4 ;;
    esac
    expect_json "$work/$1.json" ".complete and .track == {container: \"$2\", encoding: \"$3\",
        sample_rate: $4, channels: $5, bytes_per_second: $(($4 * $5 * bytes))}"
    expect_json "$work/$1.json" '.volumes[0].blocks[0] | .tracks.sustained == 4
        and .limit == "max-tracks" and .checked_samples > 0 and .complete'
    expect_empty "$work/$1"
}

# Rates and channels in turn, so that every container and every encoding meets several.
list=$work/list
n=0
for container in wav rf64 w64 aiff caf; do
    for encoding in pcm16 pcm24 pcm32 float32; do
        case $((n % 5)) in
        0) rate=44100 ;;
        1) rate=48000 ;;
        2) rate=96000 ;;
        3) rate=88200 ;;
        4) rate=50000 ;;
        esac
        case $((n % 3)) in
        0) channels=1 ;;
        1) channels=2 ;;
        2) channels=5 ;;
        esac
        echo "$container-$encoding $container $encoding $rate $channels"
        n=$((n + 1))
    done
done >"$list"

# The default engine and the threads in turn.
engine=
for first in 1 8 15; do
    sed -n "$first,$((first + 6))p" "$list" >"$work/batch"
    while read -r name container encoding rate channels; do
        start_format "$name" "$container" "$encoding" "$rate" "$channels"
    done <"$work/batch"
    while read -r name container encoding rate channels; do
        finish_format "$name" "$container" "$encoding" "$rate" "$channels"
    done <"$work/batch"
    [ "$engine" = "" ] && engine="--engine threads" || engine=
done
[ "$n" -eq 20 ] || fail "$n formats, not 20"
