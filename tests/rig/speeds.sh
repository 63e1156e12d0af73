#!/bin/sh
# The count on real drives of known speed: the disk behind a folder is held to so many bytes and
# reads a second, and what trackramp counts is compared with the arithmetic,
#
#   tracks = min(bytes/s, reads/s x block) / (bytes/s of a track), rounded down.
#
#   speeds.sh PROGRAM DIR [WORD...]
#
# Each WORD picks rows by a limit (20MB, 200reads, 20MB+600reads), a block size (4K, 64K, 1M) or a
# format (mono, stereo); of one kind any will do, and no word of a kind picks all. Prints a table in
# Markdown, and on standard error what is going on. Exit code 1: a count is off by more than 2 % and
# more than one track; 77: disks cannot be held here. Needs root and takes about a minute a row.
set -eu
cd "$(dirname "$0")/../.."

[ $# -ge 2 ] || {
    sed -n '6s/^# *//p' "$0" >&2
    exit 2
}
program=$1
dir=$2/trackramp-speeds.$$
shift 2
words=" $* "
mkdir "$dir"
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# KIND-OF-WORDS...: those of them that the user gave, or else all.
picked() {
    found=
    for word; do
        case $words in *" $word "*) found="$found $word" ;; esac
    done
    echo "${found:-$*}"
}

# A row picks its limits by name.
bytes_of() {
    case $1 in
    *MB*) echo "${1%%MB*}000000" ;;
    esac
}
reads_of() {
    name=${1#*MB}
    name=${name#+}
    echo "${name%reads}"
}

block_bytes_of() {
    case $1 in
    *K) echo $((${1%K} * 1024)) ;;
    *M) echo $((${1%M} * 1048576)) ;;
    esac
}

# FILE FILTER
ask() {
    jq -r "$2" "$dir/$1.json"
}

# BLOCK: how fast the disk is by itself, read flat out.
measure_free() {
    "$program" run --device clock --repeat 1 --trial 0.5 --max-tracks 64 --block-size "$1" \
        --json "$dir/free.json" "$dir" >/dev/null
    ask free '.volumes[0].blocks[0].throughput.flood_bytes_per_second'
}

off=0
# LIMIT BLOCK FORMAT FREE-BYTES-PER-SECOND
measure() {
    limit=$1 block=$2 format=$3 free=$4
    bytes=$(bytes_of "$limit")
    reads=$(reads_of "$limit")
    case $format in
    mono) rate=88200 options= ;;
    stereo) rate=576000 options="--sample-rate 96000 --encoding pcm24 --channels 2" ;;
    esac
    # shellcheck disable=SC2046
    set -- $(awk -v bytes="${bytes:-0}" -v reads="${reads:-0}" -v block="$(block_bytes_of "$block")" \
        -v rate="$rate" 'BEGIN {
            speed = bytes
            if (reads && (!speed || reads * block < speed)) speed = reads * block
            printf "%d %.2f", speed, speed / rate
        }')
    row="| $limit | $block | $format | $2"
    # A tenth above would be enough for an honest drive; this one is shared.
    if awk -v speed="$1" -v free="$free" 'BEGIN { exit !(speed * 1.3 > free) }'; then
        echo "$row | | | | the disk itself is slower |"
        return
    fi
    if awk -v tracks="$2" 'BEGIN { exit !(tracks < 1) }'; then
        echo "$row | | | | less than a track |"
        return
    fi
    echo "$limit, $block, $format: $2 tracks are expected" >&2
    code=0
    # shellcheck disable=SC2086
    tests/rig/knownspeed.sh "$dir" ${bytes:+bytes=$bytes} ${reads:+reads=$reads} -- "$program" run \
        --device clock --repeat 1 --io direct --block-size "$block" $options \
        --json "$dir/row.json" "$dir" >/dev/null || code=$?
    [ "$code" -ne 77 ] || exit 77
    [ "$code" -eq 0 ] || {
        echo "$row | | | | exit code $code |"
        off=1
        return
    }
    set -- "$2" "$(ask row '.volumes[0].blocks[0].tracks.sustained')" \
        "$(ask row '.volumes[0].blocks[0].limit')" "$(ask row '.duration_s | round')"
    row="$row | $2 | $(awk -v is="$2" -v due="$1" 'BEGIN {
        due = int(due)
        printf "%+.1f", 100 * (is - due) / due
    }')"
    awk -v is="$2" -v due="$1" 'BEGIN {
        due = int(due)
        error = is > due ? is - due : due - is
        exit error > 1 && error > 0.02 * due
    }' || {
        row="$row **off**"
        off=1
    }
    echo "$row | $4 | $3 |"
}

echo "| limit | block | format | expected | counted | error, % | seconds | limited by |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
for block in $(picked 64K 1M 4K); do
    free=$(measure_free "$block")
    for limit in $(picked 20MB 200reads 20MB+600reads 5MB 100MB 2000reads); do
        for format in $(picked mono stereo); do
            measure "$limit" "$block" "$format" "$free"
        done
    done
done
exit $off
