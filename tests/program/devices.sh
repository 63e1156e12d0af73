#!/bin/sh
# Without an audio output the built-in clock stands in and the result says so. A device that keeps
# no time is refused, a name that nobody bears too. Libraries' chatter does not reach the user.
. tests/rig/lib.sh

# No server of this name runs, so there is no JACK here whatever the machine has.
export JACK_DEFAULT_SERVER="trackramp-none-$$"
run="run --block-size 64K --max-tracks 8 --trial 0.5 --repeat 1"

# NAME ALSA-CONFIGURATION COMMAND...: with that as all of ALSA.
start_with() {
    echo "$2" >"$work/$1.conf"
    name=$1
    shift 2
    start "$name" env "ALSA_CONFIG_PATH=$work/$name.conf" "$program" "$@"
}

# No such card. PortAudio 19.6 aborts where nothing at all is called `default`.
nothing="pcm.default { type hw card 99 }"

make_dir fallback
# shellcheck disable=SC2086
start_with fallback "$nothing" $run --json "$work/fallback.json" "$dir"
make_dir null
# shellcheck disable=SC2086
start_with null "pcm.default { type null }" $run --json "$work/null.json" "$dir"
make_dir named
# shellcheck disable=SC2086
start_with named "$nothing" $run --device nonsense "$dir"
start_with list "$nothing" devices
start_with more "pcm.default { type null }" devices
start_with argument "$nothing" devices --all

finish list
expect_done list
grep -q '^clock .*default$' "$work/list.out" || { show list; fail "the clock is not listed"; }
[ "$(wc -l <"$work/list.out")" -eq 2 ] || { show list; fail "more than the clock is listed"; }

finish more
expect_done more
grep -q '^default .*ALSA.*default$' "$work/more.out" ||
    { show more; fail "the ALSA default is not listed"; }
grep -q '^clock ' "$work/more.out" || { show more; fail "the clock is not listed"; }

finish argument
expect_error argument 2 "devices" "--all"

finish named
expect_error named 2 "--device" "nonsense" "trackramp devices"
expect_empty "$work/named"

finish null
expect_error null 3 "\`default\`" ALSA "keeps no time" "--device clock"
[ ! -e "$work/null.json" ] || fail "null: a result without a measurement"
expect_empty "$work/null"

finish fallback
expect_done fallback
expect_output fallback "there is no audio output here, so the built-in clock kept time"
expect_json "$work/fallback.json" '.audio | .driver == "clock" and .host_api == "none" and
    .fell_back'
expect_json "$work/fallback.json" '.complete and .volumes[0].blocks[0].tracks.sustained == 8'
expect_empty "$work/fallback"
