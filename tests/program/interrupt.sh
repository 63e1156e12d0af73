#!/bin/sh
# A run that is stopped half way: by a signal, by Ctrl-C on a terminal, by SIGKILL. What was
# measured is told, and no file stays, at the latest after the next run or `trackramp clean`. A
# running one is not disturbed by another.
. tests/rig/lib.sh
need_command script

# NAME OPTION...: one that would go on for minutes, its first search done after five seconds.
start_long() {
    make_dir "$1"
    name=$1
    shift
    # shellcheck disable=SC2086
    start "$name" "$program" run $short --repeat 60 --json "$work/$name.json" "$@" "$dir"
}

# NAME: one that spends its time writing test files; returns in the middle of that.
start_writing() {
    make_dir "$1"
    # shellcheck disable=SC2086
    start "$1" "$program" run $short --channels 8 --trial 100 --max-tracks 64 "$dir"
    await 30 has_test_file "$dir" .part || fail "$1: writes no file"
}

expect_stopped() {
    finish "$1"
    expect_code "$1" 130
    expect_line "$1" interrupted
    expect_output "$1" "This run is incomplete: interrupted"
    expect_json "$work/$1.json" '(.complete | not) and .ended_by == "interrupted" and
        (.volumes[0].blocks[0] | .tracks.sustained == 8 and (.complete | not))'
    expect_empty "$work/$1"
}

# --- while trials run -------------------------------------------------------------------------

start_long int
start_long term
start_long killed
make_dir keep
# shellcheck disable=SC2086
start keep "$program" run $short --keep "$dir"
make_dir terminal
mkfifo "$work/keys"
setsid script -qefc "stty cols 150; exec $program run $short --repeat 60 $dir" \
    "$work/terminal.screen" >"$work/terminal.out" 2>&1 <"$work/keys" &
echo $! >"$work/terminal.pid"
exec 3>"$work/keys"
make_dir nohup
# shellcheck disable=SC2086
start nohup nohup "$program" run $short "$dir"
await 30 has_test_file "$work/int" .wav || fail "int: no test file"
await 30 has_test_file "$work/nohup" .wav || fail "nohup: no test file"
send nohup HUP

# A second one finds the folder in use, and leaves it alone.
# shellcheck disable=SC2086
try second "$program" run $short "$work/int"
expect_error second 3 "$work/int/trackramp-files" "another trackramp is using it"
try clean "$program" clean "$work/int"
expect_error clean 3 "$work/int/trackramp-files" "another trackramp is using it"

finish keep
expect_done keep
finish nohup
expect_code nohup 0
expect_empty "$work/nohup"
sleep 2
send int INT
send term TERM
send killed KILL
printf '\003' >&3
expect_stopped int
expect_stopped term
finish killed
[ "$code" -eq 137 ] || fail "killed: exit code $code"
has_test_file "$work/killed" 7.wav || fail "killed: no files: no test"

finish terminal
exec 3>&-
expect_code terminal 130
expect_empty "$work/terminal"
for words in "writing test files" "left  64K" "pass 1/60" "reading flat out" "8 tracks" "emptiest ring" \
    "bracket" "confirm" "This run is incomplete: interrupted" "trackramp: interrupted"; do
    grep -qF "$words" "$work/terminal.screen" || fail "terminal: '$words' never stood there"
done

# --- files that were kept ---------------------------------------------------------------------

files=$work/keep/trackramp-files
[ "$(find "$files" -name 'track-*.wav' | wc -l)" -eq 8 ] || fail "keep: not 8 files"
stat -c '%n %i %Y %s' "$files"/track-* >"$work/keep.before"
# shellcheck disable=SC2086
start again "$program" run $short --keep "$work/keep"
# What was killed is cleared up by the next run.
# shellcheck disable=SC2086
start next "$program" run $short "$work/killed"

# --- while files are written ------------------------------------------------------------------

start_writing writing
send writing INT
finish writing
expect_error writing 130 interrupted
expect_empty "$work/writing"
start_writing crashed
send crashed KILL
finish crashed
has_test_file "$work/crashed" .part || fail "crashed: no unfinished file: no test"
try clean "$program" clean "$work/crashed"
expect_done clean
expect_output clean "$work/crashed: removed "
expect_empty "$work/crashed"

# --- files of others --------------------------------------------------------------------------

make_dir foreign
mkdir "$dir/trackramp-files"
for file in notes.txt track-000000.wav; do
    echo precious >"$dir/trackramp-files/$file"
done
# shellcheck disable=SC2086
try foreign "$program" run $short "$dir"
expect_error foreign 2 "$dir/trackramp-files" "not made by trackramp"
try foreign "$program" clean "$dir"
expect_error foreign 2 "$dir/trackramp-files" "not made by trackramp"
[ "$(cat "$dir/trackramp-files"/* | grep -c '^precious$')" -eq 2 ] || fail "foreign: changed"
[ "$(find "$dir" -type f | wc -l)" -eq 2 ] || fail "foreign: files were made there"

finish next
expect_done next
expect_empty "$work/killed"

finish again
expect_done again
stat -c '%n %i %Y %s' "$files"/track-* | cmp - "$work/keep.before" ||
    fail "keep: the files were not used again"
for file in notes.txt track-000003.wav.bak track-1.wav; do
    echo precious >"$files/$file"
done
try clean "$program" clean "$work/keep"
expect_done clean
expect_output clean "$work/keep: removed 8 test files"
[ "$(find "$files" -type f -exec grep -lx precious {} + | wc -l)" -eq 3 ] ||
    fail "keep: somebody's files are gone"
[ "$(find "$files" -name 'track-??????.wav' | wc -l)" -eq 0 ] || fail "keep: not clean"
rm "$files/notes.txt" "$files/track-000003.wav.bak" "$files/track-1.wav"
try clean "$program" clean "$work/keep"
expect_done clean
expect_empty "$work/keep"
