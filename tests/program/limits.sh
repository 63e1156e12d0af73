#!/bin/sh
# What the machine withholds caps the count, by its name, or is an error with a way out; it is never
# a crash: descriptors, address space, io_uring, the processor.
. tests/rig/lib.sh
need_command prlimit strace

wide="--trial 0.5 --repeat 1 --block-size 64K --device clock"

# --- descriptors ------------------------------------------------------------------------------

make_dir few
# shellcheck disable=SC2086
start few prlimit --nofile=96:96 "$program" run $wide --json "$work/few.json" "$dir"
make_dir raised
# shellcheck disable=SC2086
start raised prlimit --nofile=70:100 "$program" run $wide --engine threads \
    --json "$work/raised.json" "$dir"

# --- memory -----------------------------------------------------------------------------------

# Address space; blocks of 8 MiB make rings of 16 MiB.
make_dir space
# shellcheck disable=SC2086
start space prlimit --as=$((700 << 20)) "$program" run $wide --block-size 8M --max-tracks 1000 \
    --json "$work/space.json" "$dir"
for mebibytes in 16 32 64 128; do
    make_dir narrow-$mebibytes
    # shellcheck disable=SC2086
    start narrow-$mebibytes prlimit --as=$((mebibytes << 20)) "$program" run $wide --block-size 8M \
        --max-tracks 8 "$dir"
done

# --- io_uring ---------------------------------------------------------------------------------

# NAME ERROR OPTION...: on a kernel without it, or one that keeps it from us.
start_without_uring() {
    name=$1
    shift
    make_dir "$name"
    answer=$1
    shift
    # shellcheck disable=SC2086
    start "$name" strace -f -qq -o /dev/null -e trace=io_uring_setup \
        -e "inject=io_uring_setup:error=$answer" "$program" run $short "$@" \
        --json "$work/$name.json" "$dir"
}

start_without_uring absent ENOSYS
start_without_uring refused EPERM --engine uring
start_without_uring named ENOSYS --engine uring

# ----------------------------------------------------------------------------------------------

for name in refused named; do
    finish $name
    expect_error $name 3 "--engine uring" "io_uring" "--engine threads"
    expect_empty "$work/$name"
done
finish absent
expect_done absent
expect_json "$work/absent.json" '.complete and .method.engine == "threads" and
    .volumes[0].blocks[0].tracks.sustained == 8'
expect_empty "$work/absent"

for name in few raised; do
    [ $name = few ] && descriptors=96 || descriptors=100
    finish $name
    expect_done $name
    # 64 are left to the program itself.
    expect_json "$work/$name.json" ".method.descriptor_limit == $descriptors and
        (.volumes[0].blocks[0] | .limit == \"file-handles\" and
        .tracks.sustained == $((descriptors - 64)))"
    expect_output $name "file handles"
    expect_empty "$work/$name"
done

finish space
expect_done space
expect_json "$work/space.json" '.volumes[0].blocks[0] | .limit == "memory" and
    .tracks.sustained >= 4 and .buffer_bytes < 700 * 1048576'
expect_empty "$work/space"
for mebibytes in 16 32 64 128; do
    finish narrow-$mebibytes
    # The loader itself may find no room.
    case $code in
    0) ;;
    3) expect_error narrow-$mebibytes 3 trackramp: ;;
    127) ;;
    *)
        show narrow-$mebibytes
        fail "narrow-$mebibytes: exit code $code"
        ;;
    esac
    expect_empty "$work/narrow-$mebibytes"
done

# --- the processor ------------------------------------------------------------------------------

# A drive without a limit, and tracks whose samples are much work: alone, so that what fills the
# processor is ours.
try crowded "$program" run --trial 0.5 --repeat 1 --block-size 256K --buffer 0.2 --device clock \
    --engine model:infinite --sample-rate 192000 --encoding pcm24 --channels 8 \
    --json "$work/crowded.json"
expect_done crowded
expect_json "$work/crowded.json" '.volumes[0].blocks[0] | .limit == "cpu" and
    .tracks.sustained > 0 and .evidence.tracks > .tracks.sustained and
    .evidence.late_callbacks_percent > 5 and .evidence.callback_percent > 60'
expect_output crowded "CPU"
