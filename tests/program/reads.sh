#!/bin/sh
# What the kernel is asked for, by strace: whole blocks at multiples of the block size, and no other
# read of a test file. With io_uring no reading call at all: its reads go through the ring.
. tests/rig/lib.sh
need_command strace

calls=read,readv,pread64,preadv,preadv2,mmap,sendfile,splice,copy_file_range,readahead
calls=$calls,io_uring_enter

# NAME OPTION...: traced, with a file a thread, so that no call is cut in two.
start_traced() {
    name=$1
    shift
    make_dir "$name"
    mkdir "$work/$name.trace"
    start "$name" strace -ff --seccomp-bpf -qq -y -s 0 -e "trace=$calls" -o "$work/$name.trace/thread" \
        "$program" run --trial 0.5 --repeat 1 --max-tracks 8 --device clock "$@" \
        --json "$work/$name.json" "$dir"
}

# The calls on test files then stand in NAME.calls, each behind its thread's file.
expect_traced() {
    expect_code "$1" 0
    expect_json "$work/$1.json" '[.volumes[0].blocks[].tracks.sustained] | all(. == 8)'
    expect_empty "$work/$1"
    (cd "$work/$1.trace" && grep -F /trackramp-files/track- ./*) >"$work/$1.calls" || true
}

expect_whole_blocks() {
    finish "$1"
    expect_traced "$1"
    grep -v ':pread64(' "$work/$1.calls" >"$work/$1.others" || true
    [ ! -s "$work/$1.others" ] ||
        fail "$1: other calls on test files: $(head -n 3 "$work/$1.others")"
    # Thread, bytes, offset.
    sed -n 's/^\([^:]*\):.*, \([0-9]*\), \([0-9]*\)) *= .*/\1 \2 \3/p' "$work/$1.calls" \
        >"$work/$1.reads"
    [ "$(wc -l <"$work/$1.reads")" -eq "$(wc -l <"$work/$1.calls")" ] || fail "$1: odd lines"
    odd=$(awk '$3 % $2 != 0' "$work/$1.reads" | head -n 3)
    [ -z "$odd" ] || fail "$1: not at multiples of the block size: $odd"
    awk '{ reads[$2]++ } END { for (bytes in reads) print bytes, reads[bytes] }' "$work/$1.reads" |
        sort -n >"$work/$1.sizes"
    [ "$(cut -d ' ' -f 1 "$work/$1.sizes" | tr '\n' ' ')" = "4096 65536 1048576 " ] ||
        fail "$1: reads by size: $(tr '\n' ';' <"$work/$1.sizes")"
    awk '$2 < 8 { exit 1 }' "$work/$1.sizes" || fail "$1: hardly any reads of some size"
    # A reader lives for one trial, so for one block size.
    mixed=$(awk '$1 in of && of[$1] != $2 { print } { of[$1] = $2 }' "$work/$1.reads" | head -n 3)
    [ -z "$mixed" ] || fail "$1: one reader read blocks of several sizes: $mixed"
}

start_traced direct --engine threads --block-size 4K,64K,1M
start_traced buffered --engine threads --block-size 4K,64K,1M --io buffered
start_traced uring --engine uring --block-size 4K,64K

expect_whole_blocks direct
expect_whole_blocks buffered
finish uring
if lacks_uring uring; then
    skip_part "there is no io_uring here"
else
    expect_traced uring
    [ ! -s "$work/uring.calls" ] || fail "uring: $(head -n 3 "$work/uring.calls")"
    entered=$(cat "$work/uring.trace"/* | grep -c '^io_uring_enter(')
    [ "$entered" -gt 100 ] || fail "uring: io_uring was entered only $entered times"
fi
