#!/bin/sh
# What is wrong on the command line: exit code 2, one line that names it, nothing on standard
# output, nothing made. A drive that cannot be written to: 3.
. tests/rig/lib.sh
make_dir drive
drive=$dir
: >"$work/file"
mkdir "$work/folder"
checks=0

# CODE WORDS COMMAND...: in order, one at a time: each takes a few milliseconds.
refused() {
    expected=$1
    words=$2
    shift 2
    try refused timeout 5 "$program" "$@" # were it accepted, it would measure for minutes
    [ "$code" -ne 124 ] || fail "accepted: $*"
    expect_error refused "$expected" trackramp: "$words"
    checks=$((checks + 1))
}

# OPTION VALUE: wrong, and named.
bad() {
    refused 2 "$1" run "$1" "$2" "$drive"
}

refused 2 "say what to do"
refused 2 nonsense nonsense
refused 2 -x -x
refused 2 --nonsense run --nonsense "$drive"
refused 2 --nonsense run --nonsense=5 "$drive"
refused 2 "-k: no such option" run -k "$drive"
refused 2 "-k: no such option" run -kx "$drive"
refused 2 "--keep: takes no value" run --keep=yes "$drive"
refused 2 --block-size run "$drive" --block-size
refused 2 --trial run "$drive" --trial

for value in 3K 16M 2K 0 "" -4K 64K,64K 64K,65536 "," "4K," ",4K" "4K,,8K" 64Q 4.5K 64KK " 64K" nonsense \
    18446744073709551616 99999999999999999999K 1000000000000000000000000000000000000000; do
    bad --block-size "$value"
done
for value in 8000 44099 768001 0 -44100 44.1k "" 44100.5 99999999999999999999; do
    bad --sample-rate "$value"
done
for value in 0 -1 1025 two "" 1.5; do
    bad --channels "$value"
done
bad --encoding mp3
bad --encoding ""
bad --encoding PCM16
bad --container mp3
bad --container ""
bad --io cached
bad --engine nonsense
for start in "" aligne Aligned 0; do
    bad --start "$start"
done
for layout in "" interleave SEQUENTIAL 1; do
    bad --layout "$layout"
done
for model in "" : model model: model:nonsense model:rate model:rate= model:rate=fast \
    model:rate=-1M model:rate=0 model:hdd-7200,speed=3 model:rate=1M, model:,rate=1M \
    model:rate=1M,stall=2s model:rate=1M,stripe=4 model:rate=1M,fail=soon \
    model:HDD-7200; do
    refused 2 --engine run --engine "$model"
done
refused 2 "--device simulated" run --device simulated "$drive"
refused 2 "--io buffered" run --engine model:hdd-7200 --io buffered
for value in 0 -1 nan inf 0.1 1e9 "" 5m s 0x5 1e999; do
    bad --trial "$value"
done
for value in 0 -1 nan inf "" 601; do
    bad --buffer "$value"
done
for option in --repeat --max-tracks --readers --queue-depth --frames; do
    for value in 0 -1 "" 1.5 many 4294967297; do
        bad $option "$value"
    done
done
bad --pool-size 0
bad --pool-size -1G
bad --pool-size lots
bad --seed -1
bad --seed ""
bad --seed 18446744073709551616
bad --device ""
refused 2 "--buffer 0.01" run --buffer 0.01 --block-size 4K --channels 100 "$drive"
bad --json ""
refused 2 --queue-depth run --engine threads --queue-depth 8 "$drive"

refused 2 "name a folder" run
refused 2 "name a folder" run --trial 1
refused 2 "$work/missing" run "$work/missing"
refused 2 "$work/missing" run "$drive" "$work/missing"
refused 2 "$work/file" run "$work/file"
refused 2 "$work/file/below" run "$work/file/below"
refused 2 "" run ""
refused 2 "--json $work/missing/out.json" run --json "$work/missing/out.json" "$drive"
refused 2 "--json $work/folder" run --json "$work/folder" "$drive"
refused 2 "--json $work/file/out.json" run --json "$work/file/out.json" "$drive"
refused 2 "clean" clean
refused 2 "$work/missing" clean "$work/missing"
refused 2 "$work/file" clean "$work/file"
refused 2 "devices" devices nonsense
[ $checks -gt 80 ] || fail "only $checks checks"
expect_empty "$drive"
[ ! -s "$work/file" ] || fail "a file was written to"

# Root writes whatever the permissions say; only a drive that is mounted so is read-only to it.
if [ "$(id -u)" -eq 0 ] && mount_image readonly 16 ext4 mkfs.ext4 -q -m 0; then
    mount -o remount,ro "$dir"
    refused 3 "$dir/trackramp-files" run --device clock "$dir"
    refused 2 "--json $dir/out.json" run --json "$dir/out.json" "$drive"
else
    skip_part "a read-only drive takes root and loop devices"
fi

# What is right although odd.
for arguments in --help -h help --version "run --help" "run --help --trial 5" "clean --help" \
    "devices --help"; do
    # shellcheck disable=SC2086
    try help "$program" $arguments
    expect_done help
    [ -s "$work/help.out" ] || fail "$arguments: says nothing"
done
try version "$program" --version
expect_output version "trackramp "
[ "$(wc -l <"$work/version.out")" -eq 1 ] || fail "--version: not one line"
try help "$program" run --help
for option in --block-size --sample-rate --encoding --channels --container --io --engine \
    --readers --queue-depth --buffer --device --frames --trial --repeat --max-tracks --pool-size \
    --seed --start --layout --json --keep; do
    expect_output help "$option"
done
try help "$program" --help
for command in run devices clean; do
    expect_output help "  $command "
done
try nothing "$program" clean "$drive"
expect_done nothing
expect_output nothing "no test files"
expect_empty "$drive"
