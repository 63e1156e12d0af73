#!/bin/sh
# Modelled drives in virtual time: counts against arithmetic, the same answer from the same seed,
# and a drive that slows down, stalls, fails or runs into a limit of ours reported for what it is.
. tests/rig/lib.sh
need_command prlimit

# NAME SPEC OPTION...: one search at 64 KiB, unless the options say otherwise.
start_model() {
    name=$1
    spec=$2
    shift 2
    start "$name" "$program" run --engine "model:$spec" --device simulated --repeat 1 \
        --block-size 64K --json "$work/$name.json" "$@"
}

# NAME FILTER: of its first cell
expect_cell() {
    jq -e ".volumes[0].blocks[0] | $2" "$work/$1.json" >/dev/null || {
        jq -c '.volumes[0].blocks[0] | {tracks, limit, stalls, warnings, trials}' \
            "$work/$1.json" >&2
        fail "$1: not so: $2"
    }
}

# --- counts -------------------------------------------------------------------------------------

# 20 MB/s are 226.8 tracks of 88,200 bytes/s, at any block size. A positioning time of 1 ms, one at
# a time, is 1,000 reads/s: 46.4 tracks at 4 KiB; four at a time are 185.8. Both together take
# 1 ms + 65536/20e6 s = 4.28 ms a block of 64 KiB: 173.7 tracks.
start_model rate rate=20000000
start_model large rate=20000000 --block-size 1M
start_model position position=1ms --block-size 4K
start_model deep position=1ms,depth=4 --block-size 4K
start_model both position=1ms,rate=20000000
start_model stereo rate=20000000 --encoding pcm24 --sample-rate 96000 --channels 2
# The disk that DSKBENCH's users had: more at larger blocks, and the fit that says so.
start_model ata ata-2002 --block-size 4K,64K,1M

# NAME TRACKS LIMIT
expect_count() {
    finish "$1"
    expect_done "$1"
    expect_cell "$1" ".tracks.sustained == $2 and .limit == \"$3\" and .warnings == []"
    expect_cell "$1" '.trials[-1].verdict != null and all(.trials[]; .verdict != "pass" or
        .underruns == 0)'
}

expect_count rate 226 disk-bandwidth
expect_json "$work/rate.json" '.audio.driver == "simulated" and .method.engine == "model" and
    .method.model == "rate=20000000"'
expect_output rate "a model: rate=20000000"
expect_count large 226 disk-bandwidth
expect_count position 46 disk-iops
expect_count deep 185 disk-iops
expect_count both 173 disk-bandwidth
expect_count stereo 34 disk-bandwidth
finish ata
expect_done ata
expect_json "$work/ata.json" '.volumes[0] | ([.blocks[].tracks.sustained] |
    .[0] < .[1] and .[1] < .[2]) and .fit.position_s > 0.005 and .fit.position_s < 0.02 and
    .blocks[0].limit == "disk-iops" and .blocks[2].limit == "disk-bandwidth"'

# --- the same seed ------------------------------------------------------------------------------

for name in first second other; do
    [ $name = other ] && seed=6 || seed=5
    start_model $name hdd-7200,stall-random=200ms@20s --block-size 16K,256K --repeat 2 --seed $seed
done
for name in first second other; do
    finish $name
    expect_done $name
    jq 'del(.started, .duration_s, .tool.version)' "$work/$name.json" >"$work/$name.same"
done
cmp "$work/first.same" "$work/second.same" || fail "the same seed, another result"
! cmp -s "$work/first.same" "$work/other.same" || fail "another seed, the same result"

# --- drives that change -------------------------------------------------------------------------

start_model slows rate=20000000,slow=0.5@10s
start_model deep-rings rate=20000000,stall=2s@20s --buffer 4
start_model shallow-rings rate=20000000,stall=2s@20s

# Half of 226.8 from then on.
finish slows
expect_done slows
expect_cell slows '.tracks.sustained == 113 and .tracks.knee == 226 and
    .limit == "disk-bandwidth" and [.warnings[].kind] == ["slowed"]'
expect_output slows "slowed down"

# 2 of 20 s without an answer leave nine tenths of the reads: 204.1 tracks, less what it takes to
# catch up while rings of 4 s last. The knee is what the drive does between stalls.
finish deep-rings
expect_done deep-rings
expect_cell deep-rings '.tracks.sustained >= 194 and .tracks.sustained <= 204 and
    .tracks.knee >= 222 and .tracks.knee <= 227 and .tracks.clean_s >= 60 and
    .stalls.per_minute > 2.7 and .stalls.per_minute < 3.3 and
    .stalls.worst_s > 1.95 and .stalls.worst_s < 2.1 and [.warnings[].kind] == ["stalls"]'
expect_output deep-rings "stalls"

# Rings of 1 s cannot outlast them, however few tracks there are.
finish shallow-rings
expect_done shallow-rings
expect_cell shallow-rings '.tracks.sustained == 0 and .tracks.knee >= 222 and
    .tracks.knee <= 227 and [.warnings[].kind] == ["irregular"] and
    any(.trials[]; .step == "floor" and .verdict == "fail") and
    .stalls.ride_out_buffer_s >= 2 and .stalls.ride_out_buffer_s <= 4'

# --- faults -------------------------------------------------------------------------------------

# The first of two block sizes is measured in 27 s: what it gave is not lost.
start_model fails rate=20000000,fail=40s --block-size 64K,128K
start_model gone rate=20000000,device-gone=40s --block-size 64K,128K
start_model wrong rate=20000000,wrong=4s,wrong=5s,wrong=6s,wrong=8s
start_model short rate=20000000,short=3s,short=5s
start_model late rate=20000000,late=4s:100ms

finish fails
expect_code fails 3
expect_line fails "modelled file" "reading 131072 bytes" "Input/output error"
finish gone
expect_code gone 3
expect_line gone "audio output" "it is gone"
finish wrong
expect_error wrong 3 "modelled file" "corruption"
for name in fails gone; do
    expect_json "$work/$name.json" ".complete == false and (.ended_by | length) > 0"
    expect_cell $name ".complete and .tracks.sustained == 226"
done
# What comes in two reads, or late but in time, is no fault.
for name in short late; do
    finish $name
    expect_done $name
    expect_cell $name '.tracks.sustained == 226 and .limit == "disk-bandwidth"'
done

# --- limits of ours -----------------------------------------------------------------------------

start_model memory rate=20000000,memory=10M
start_model bound nvme-ssd --max-tracks 300
start_model endless infinite --max-tracks 500 --block-size 4K
start descriptors prlimit --nofile=164:164 "$program" run --engine model:nvme-ssd \
    --device simulated --repeat 1 --block-size 64K --max-tracks 5000 \
    --json "$work/descriptors.json"

# Rings of two blocks of 64 KiB: 80 in 10 MiB.
finish memory
expect_done memory
expect_cell memory '.tracks.sustained == 80 and .limit == "memory" and
    .buffer_bytes == 10 * 1048576'
expect_output memory ">= 80"
for bound in bound:300 endless:500; do
    finish ${bound%:*}
    expect_done ${bound%:*}
    expect_cell ${bound%:*} ".tracks.sustained == ${bound#*:} and .limit == \"max-tracks\""
done
# A modelled file takes no descriptor.
finish descriptors
expect_done descriptors
expect_cell descriptors '.tracks.sustained == 5000 and .limit == "max-tracks"'

# --- nothing on any drive -----------------------------------------------------------------------

make_dir untouched
(cd "$dir" && "$program" run --engine model:usb-stick --repeat 1 --block-size 64K >"$work/in.out" \
    2>"$work/in.err") || fail "in a folder: $(cat "$work/in.err")"
expect_empty "$dir"
expect_output in "usb-stick"
