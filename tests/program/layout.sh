#!/bin/sh
# How test files lie on a drive, as the filesystem's own map of them shows: piece by piece in turn
# with `--layout interleaved`, one behind the other with `--layout sequential`.
. tests/rig/lib.sh
need_root "to mount small drives"
need_command filefrag

piece_bytes=262144

# NAME MIB TYPE MAKE...: two drives, as what lay on one before would decide where the rest goes.
make_drives() {
    filesystem=$1
    shift
    for layout in sequential interleaved; do
        if mount_image "$filesystem-$layout" "$@"; then
            start_on "$filesystem-$layout" "$layout"
            drives="$drives $filesystem-$layout"
        else
            skip_part "$filesystem cannot be mounted: $(tail -n 1 "$dir.log")"
            return
        fi
    done
}

# DIR: the pieces that each test file lies in, one line a file. A piece is what has no other test
# file's bytes in between, in however many extents it is listed.
count_pieces() {
    for file in "$1"/trackramp-files/track-*; do
        # A line of a map: `  0:        0..      63:      34816..     34879:     64:   ...`
        filefrag -v "$file" | tr -d ' ' | awk -F '[.:]+' -v file="$file" \
            '/^[0-9]+:[0-9]+\.\./ { print $4, file }'
    done | sort -n | awk '
        $2 != owner { pieces[$2]++ }
        { owner = $2 }
        END { for (file in pieces) print pieces[file] }'
}

# NAME LAYOUT
start_on() {
    # Files of 3 MiB are a dozen pieces each. A group of interleaved ones would be 64 of them.
    start "$1" "$program" run --trial 0.5 --repeat 1 --max-tracks 2 --block-size 1M \
        --pool-size 24M --device clock --engine threads --keep --layout "$2" \
        --json "$work/$1.json" "$work/$1"
}

# NAME LAYOUT
expect_layout() {
    name=$1
    finish "$name"
    expect_done "$name"
    expect_json "$work/$name.json" ".method.layout == \"$2\""
    files=$(find "$work/$name/trackramp-files" -name 'track-*.wav' | wc -l)
    [ "$files" -ge 2 ] || fail "$name: $files files"
    bytes=$(stat -c %s "$work/$name/trackramp-files/track-000000.wav")
    asked=$(((bytes + piece_bytes - 1) / piece_bytes))
    [ "$asked" -ge 12 ] || fail "$name: a file is only $bytes bytes long"
    count_pieces "$work/$name" >"$work/$name.$2"
    [ "$(wc -l <"$work/$name.$2")" -eq "$files" ] || fail "$name: not all files have a map"
    fewest=$(sort -n "$work/$name.$2" | head -n 1)
    most=$(sort -n "$work/$name.$2" | tail -n 1)
    # Two pieces of one file may come to lie side by side, and a file may not fit into one gap.
    case $2 in
    interleaved) [ "$fewest" -ge $((asked - 2)) ] || fail "$name: $fewest pieces, not $asked" ;;
    sequential) [ "$most" -le 3 ] || fail "$name: $most pieces, not one" ;;
    esac
    echo "$name: $2, $fewest to $most pieces a file"
}

drives=
make_drives ext4 64 ext4 mkfs.ext4 -q
make_drives xfs 320 xfs mkfs.xfs -q
make_drives btrfs 256 btrfs mkfs.btrfs -q
[ -n "$drives" ] || skip "no small drive can be mounted"
for drive in $drives; do
    expect_layout "$drive" "${drive#*-}"
done
