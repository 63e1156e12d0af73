#!/bin/sh
# With a JACK server running, it is the default output, and the result says so. A server at another
# rate is refused; one that dies in mid-run ends the run, with what was measured kept.
. tests/rig/lib.sh

start_jack a 44100
ours=$server
start_jack b 48000
other=$server
# A JACK server is all there is: no sound card of this machine.
echo 'pcm.default { type hw card 99 }' >"$work/alsa.conf"
export ALSA_CONFIG_PATH="$work/alsa.conf"

# NAME SERVER OPTION...
start_on() {
    make_dir "$1"
    on=$2
    name=$1
    shift 2
    start "$name" env "JACK_DEFAULT_SERVER=$on" "$program" run --block-size 64K --max-tracks 8 \
        --trial 0.5 --json "$work/$name.json" "$@" "$dir"
}

try list env "JACK_DEFAULT_SERVER=$ours" "$program" devices
expect_done list
grep -q '^system .*JACK Audio Connection Kit .*44100 Hz  default$' "$work/list.out" ||
    { show list; fail "JACK is not listed as the default"; }

start_on killed "$ours" --repeat 60
start_on default "$ours" --repeat 1
start_on named "$ours" --repeat 1 --device system
start_on rate "$other" --repeat 1

finish rate
expect_error rate 3 "JACK Audio Connection Kit" 44100 48000 "--device clock"
[ ! -e "$work/rate.json" ] || fail "rate: a result without a measurement"
expect_empty "$work/rate"

for name in default named; do
    finish $name
    expect_done $name
    expect_json "$work/$name.json" '.audio | .driver == "portaudio" and .device == "system" and
        .host_api == "JACK Audio Connection Kit" and .sample_rate == 44100 and (.fell_back | not)'
    expect_json "$work/$name.json" \
        '.complete and .volumes[0].blocks[0].tracks.sustained == 8'
    expect_output $name "system on JACK Audio Connection Kit"
    expect_empty "$work/$name"
done

# By now the other has finished its first search, and is in the next.
sleep 2
before=$(date +%s)
tests/rig/jack.sh kill "$ours"
finish killed
took=$(($(date +%s) - before))
[ $took -le 15 ] || fail "killed: the run ended only after $took s"
expect_code killed 3
expect_line killed "\`system\`" "JACK Audio Connection Kit" "it is gone" "--device clock"
expect_output killed "This run is incomplete: audio output \`system\`"
expect_json "$work/killed.json" '(.complete | not) and (.ended_by | contains("system")) and
    (.volumes[0].blocks[0].trials | length) >= 2 and .volumes[0].blocks[0].tracks.sustained == 8'
expect_empty "$work/killed"
