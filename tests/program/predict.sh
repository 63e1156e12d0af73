#!/bin/sh
# `trackramp predict`: its arithmetic against jq's on a result made by hand, and one line with exit
# code 2 for everything that is no result.
. tests/rig/lib.sh

# A drive of 8 ms and 40 MB/s, and one that was measured at one block size alone.
jq -n '{
    schema: "trackramp-result-1",
    track: {container: "wav", encoding: "pcm16", sample_rate: 44100, channels: 1},
    volumes: ([{
        path: "/media/audio", io: "direct",
        drive: {node: "/dev/sda1", model: "disk", rotational: true,
            stripe_unit_bytes: 0, stripe_bytes: 0},
        fit: {position_s: 0.008, rate_bytes_per_second: 40000000, knee_bytes: 320000},
        blocks: ([
            {block_bytes: 4096, limit: "disk-iops"},
            {block_bytes: 65536, limit: "disk-iops"},
            {block_bytes: 1048576, limit: "cpu"}
        ] | map({complete: true, tracks: {sustained: 9, low: 8, high: 10, knee: 10},
            throughput: {flood_bytes_per_second: 1, stream_bytes_per_second: 1}} + .))
    }] | . + [.[0] + {path: "/media/other", fit: null, blocks: .[0].blocks[:1]}])
}' >"$work/result.json"

# ENCODING-BYTES RATE CHANNELS: what jq computes from the fit for the sizes in $work/out.json.
expect_arithmetic() {
    jq -e --slurpfile result "$work/result.json" \
        "(\$result[0].volumes[0].fit) as \$fit | (.volumes[0].blocks | length) > 0 and
        (.volumes[0].blocks | all(
            (.block_bytes / (\$fit.position_s + .block_bytes / \$fit.rate_bytes_per_second)) as \$rate |
            .predicted and .tracks == (\$rate / ($2 * $3 * $1) | floor) and
            (.bytes_per_second - \$rate | fabs) <= 0.5))" "$work/out.json" >/dev/null || {
        cat "$work/out.json" >&2
        fail "not what jq computes for $1 $2 $3"
    }
}

# --- what is right ------------------------------------------------------------------------------

try same "$program" predict "$work/result.json" --json "$work/out.json"
expect_done same
expect_arithmetic 2 44100 1
expect_json "$work/out.json" '.predicted and .schema == "trackramp-prediction-1" and
    [.volumes[0].blocks[] | [.block_bytes, .tracks]] == [[4096, 5], [65536, 77], [1048576, 347]] and
    [.volumes[0].blocks[].drive_alone] == [false, false, true] and
    .volumes[1].fit == null and .volumes[1].blocks == []'
expect_output same "from $work/result.json"
expect_output same "    64 KiB        77      6.80  predicted"
expect_output same "predicted, of the drive alone: the run stopped at CPU"
expect_output same "/media/other"
expect_output same "a fit takes two block sizes at least"
grep -E '^ +[0-9.]+ [KM]iB ' "$work/same.out" >"$work/rows" || fail "no rows"
[ "$(wc -l <"$work/rows")" -eq 3 ] || fail "not three rows"
[ "$(grep -c predicted "$work/rows")" -eq 3 ] || fail "a row does not say that it is predicted"

try other "$program" predict --encoding float32 --sample-rate=96000 --channels 2 \
    --block-size 8M,16K,1M "$work/result.json" --json "$work/out.json"
expect_done other
expect_arithmetic 4 96000 2
expect_json "$work/out.json" '[.volumes[0].blocks[].block_bytes] == [8388608, 16384, 1048576] and
    .track.bytes_per_second == 768000 and .measured_track.bytes_per_second == 88200 and
    [.volumes[0].blocks[].block_measured] == [false, false, true]'
expect_output other "96 kHz float32 stereo"
expect_output other "predicted, beyond the block sizes measured"
expect_output other "predicted, between the block sizes measured"
for encoding in pcm24:3 pcm32:4; do
    try one "$program" predict --encoding ${encoding%:*} --json "$work/out.json" "$work/result.json"
    expect_done one
    expect_arithmetic ${encoding#*:} 44100 1
done

# What is not asked for is as it was measured.
jq '.track = {container: "aiff", encoding: "pcm24", sample_rate: 96000, channels: 2}' \
    "$work/result.json" >"$work/fine.json"
try fine "$program" predict --json "$work/out.json" "$work/fine.json"
expect_done fine
expect_arithmetic 3 96000 2
expect_output fine "96 kHz pcm24 stereo"

try output "$program" predict --json - "$work/result.json"
expect_code output 0
cp "$work/output.out" "$work/out.json"
expect_arithmetic 2 44100 1
grep -q '^predicted ' "$work/output.err" || fail "no table on standard error"

# From a pipe, and as the program itself writes results.
mkfifo "$work/pipe"
start piped "$program" predict "$work/pipe"
cat "$work/result.json" >"$work/pipe"
finish piped
expect_done piped
expect_output piped " 77 "

# --- what is wrong ------------------------------------------------------------------------------

# WORDS ARGUMENTS...
refused() {
    words=$1
    shift
    try refused timeout 5 "$program" predict "$@"
    expect_error refused 2 trackramp: "$words"
}

# WORDS FILTER: the result, changed by jq's filter, is no longer one.
spoiled() {
    jq "$2" "$work/result.json" >"$work/spoiled.json"
    refused "spoiled.json: $1" "$work/spoiled.json"
}

refused "name one result file"
refused "name one result file" "$work/result.json" "$work/result.json"
refused "--nonsense: no such option; see trackramp predict --help" --nonsense "$work/result.json"
refused "--trial: no such option" --trial 5 "$work/result.json"
refused "--json: needs a value" "$work/result.json" --json
refused "--encoding mp3" --encoding mp3 "$work/result.json"
refused "--sample-rate 8000" --sample-rate 8000 "$work/result.json"
refused "--channels 0" --channels 0 "$work/result.json"
refused "--block-size 3K" --block-size 3K "$work/result.json"
refused "--block-size 64K" --block-size 64K,64K "$work/result.json"
mkdir "$work/folder"
refused "--json $work/folder: this is a folder" --json "$work/folder" "$work/result.json"
cp "$work/result.json" "$work/before.json"
refused "this is the result itself" --json "$work/folder/../result.json" "$work/result.json"
cmp "$work/before.json" "$work/result.json" || fail "the result was changed"

refused "$work/missing.json: cannot be read: No such file" "$work/missing.json"
refused "$work/folder: is a folder" "$work/folder"
: >"$work/empty.json"
refused "empty.json: is empty" "$work/empty.json"
head -n 20 "$work/result.json" >"$work/short.json"
refused "short.json: ends in the middle of line 21" "$work/short.json"
printf '\001\377\376\000\002' >"$work/noise.json"
refused "noise.json: line 1" "$work/noise.json"
echo "12 tracks" >"$work/text.json"
refused "text.json: line 1" "$work/text.json"
truncate -s 100M "$work/large.json"
refused "large.json: is larger than 64 MiB" "$work/large.json"
refused "/dev/zero: is larger than 64 MiB" /dev/zero
cp "$work/out.json" "$work/spoiled.json"
refused "spoiled.json: is not of the schema trackramp-result-1" "$work/spoiled.json"
spoiled "is not of the schema" '.schema = "trackramp-result-2"'
spoiled "has no \`schema\`" 'del(.schema)'
spoiled "track.sample_rate is -44100" '.track.sample_rate = -44100'
spoiled "track.encoding must be text" '.track.encoding = 16'
spoiled "volumes must be a list" '.volumes = .volumes[0]'
spoiled "volumes[0].fit.position_s is -0.1" '.volumes[0].fit.position_s = -0.1'
spoiled "volumes[0].blocks[1].block_bytes must be a whole number" \
    '.volumes[0].blocks[1].block_bytes = 65536.5'
spoiled "volumes[0].blocks[2].limit is none" '.volumes[0].blocks[2].limit = "weather"'
sed 's/0\.008/NaN/' "$work/result.json" >"$work/spoiled.json"
refused "this is no JSON" "$work/spoiled.json"
sed 's/40000000/4e999/' "$work/result.json" >"$work/spoiled.json"
refused "a number is too large" "$work/spoiled.json"
spoiled "nothing can be predicted from it: a fit takes two block sizes" '.volumes = [.volumes[1]]'
spoiled "nothing can be predicted from it: the block sizes" '.volumes = [.volumes[0] | .fit = null]'
spoiled "nothing can be predicted from it: no drive" '.volumes = []'

try unwritable "$program" predict --json "$work/folder/missing/out.json" "$work/result.json"
expect_error unwritable 3 "$work/folder/missing/out.json"
expect_empty "$work/folder"

try help "$program" predict --help
expect_done help
for option in --encoding --sample-rate --channels --block-size --json --help; do
    expect_output help "$option"
done
try help "$program" --help
expect_output help "  predict "
