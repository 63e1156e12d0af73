# Shell functions shared by tests/program/*.sh, each of which begins with `. tests/rig/lib.sh`.
# shellcheck shell=sh
#
# A test works in a folder of its own, $work, on a drive that has direct reads: named after the
# script and its process, with room for small drives (loop images) in it. However the script ends,
# everything in there is undone: programs that still run, JACK servers, mounts, files. What a
# script left that was killed with SIGKILL, the next one undoes first.
set -eu

built=${BUILD:-build}
case $built in
/*) ;;
*) built=$PWD/$built ;;
esac
# shellcheck disable=SC2034 # for the scripts
program=$built/trackramp
scratch=${TRACKRAMP_SCRATCH:-/var/tmp}
test=$(basename "$0" .sh)
work=$scratch/trackramp-test-$test.$$

# What a short run needs, and no audio device.
# shellcheck disable=SC2034 # for the scripts
short="--trial 0.5 --repeat 1 --max-tracks 8 --block-size 64K --device clock"

# --- coming and going -----------------------------------------------------------------------

# FOLDER PID: whether the process is one that a test with this folder started.
started_from() {
    tr '\0' '\n' 2>/dev/null <"/proc/$2/cmdline" | grep -qF "$1"
}

# Mount points below FOLDER, the innermost first.
mounts_below() {
    awk -v below="$1/" 'index($2, below) == 1 { print $2 }' /proc/self/mounts | sort -r
}

# FOLDER SIGNAL: to the process groups of what was started from there and still runs.
signal_all() {
    some=1
    for file in "$1"/*.pid; do
        if [ -f "$file" ] && started_from "$1" "$(cat "$file")"; then
            kill -s "$2" -- "-$(cat "$file")" 2>/dev/null && some=0
        fi
    done
    return $some
}

undo() {
    if signal_all "$1" TERM; then
        # They clear up by themselves, if they can.
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
            sleep 0.2
            signal_all "$1" 0 || break
        done
        signal_all "$1" KILL || true
    fi
    for file in "$1"/*.jack; do
        [ ! -f "$file" ] || tests/rig/jack.sh stop "$(basename "$file" .jack)" || true
    done
    for point in $(mounts_below "$1"); do
        # A program that was just killed may take a moment to let go.
        umount "$point" 2>/dev/null || { sleep 0.5 && umount "$point" 2>/dev/null; } ||
            umount -l "$point" || true
    done
    [ -n "$(mounts_below "$1")" ] || rm -rf "$1"
}

undo_the_dead() {
    for folder in "$scratch"/trackramp-test-*.*; do
        pid=${folder##*.}
        name=${folder##*/trackramp-test-}
        if [ -d "$folder" ] && ! started_from "tests/program/${name%.*}.sh" "$pid"; then
            undo "$folder"
        fi
    done
}

undo_the_dead
mkdir "$work"
trap 'undo "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    echo "$test: $*" >&2
    exit 1
}

skip() {
    [ "${CI:-}" != true ] || fail "skipped under CI: $*"
    echo "$*"
    exit 77
}

# For a part of a test, which goes on without it.
skip_part() {
    [ "${CI:-}" != true ] || fail "skipped under CI: $*"
    echo "skipped: $*"
}

need_root() {
    [ "$(id -u)" -eq 0 ] || skip "needs root: $*"
}

need_command() {
    for command in "$@"; do
        command -v "$command" >/dev/null || skip "needs $command"
    done
}

need_command jq setsid

# --- running ----------------------------------------------------------------------------------

# NAME COMMAND...: in the background, in a process group of its own, so that a wrapper like strace
# can be killed with what it wraps. Output goes to $work/NAME.out and NAME.err.
start() {
    started=$1
    shift
    setsid "$@" >"$work/$started.out" 2>"$work/$started.err" </dev/null &
    echo $! >"$work/$started.pid"
}

# NAME SIGNAL
send() {
    kill -s "$2" "$(cat "$work/$1.pid")"
}

# NAME: waits for its end, and sets `code`.
finish() {
    code=0
    wait "$(cat "$work/$1.pid")" || code=$?
    rm "$work/$1.pid"
}

try() {
    start "$@"
    finish "$1"
}

# SECONDS COMMAND...: until the command succeeds; fails when it does not in that time.
await() {
    tries=$(($1 * 20))
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}

# DIR SUFFIX: whether a test file with that ending lies there.
has_test_file() {
    for file in "$1"/trackramp-files/track-*"$2"; do
        [ ! -e "$file" ] || return 0
    done
    return 1
}

# NAME: whether that failed because this system keeps io_uring from its programs. Only then is
# what needs it left out.
lacks_uring() {
    [ "$code" -eq 3 ] && grep -qF "io_uring is not to be had" "$work/$1.err"
}

# --- what is expected -------------------------------------------------------------------------

show() {
    for stream in out err; do
        [ ! -f "$work/$1.$stream" ] || sed "s/^/$1.$stream: /" "$work/$1.$stream" >&2
    done
}

# NAME CODE
expect_code() {
    [ "$code" -eq "$2" ] || {
        show "$1"
        fail "$1: exit code $code, not $2"
    }
}

# NAME WORDS: in its output
expect_output() {
    grep -qF -e "$2" "$work/$1.out" || {
        show "$1"
        fail "$1: the output does not say '$2'"
    }
}

# NAME WORDS...: one line on standard error, with all these words in it.
expect_line() {
    of=$1
    shift
    [ "$(wc -l <"$work/$of.err")" -eq 1 ] || {
        show "$of"
        fail "$of: not one line on standard error"
    }
    for words in "$@"; do
        grep -qF -e "$words" "$work/$of.err" || {
            show "$of"
            fail "$of: the error does not say '$words'"
        }
    done
}

# NAME CODE WORDS...: nothing but one line on standard error.
expect_error() {
    of=$1
    expect_code "$of" "$2"
    [ ! -s "$work/$of.out" ] || {
        show "$of"
        fail "$of: an error, but standard output is not empty"
    }
    shift 2
    expect_line "$of" "$@"
}

# NAME: done, and silent on standard error.
expect_done() {
    expect_code "$1" 0
    [ ! -s "$work/$1.err" ] || {
        show "$1"
        fail "$1: standard error is not empty"
    }
}

# FILE FILTER: jq's filter says true.
expect_json() {
    jq -e "$2" "$1" >/dev/null || {
        jq -c 'del(.volumes[].blocks[].trials)' "$1" >&2 || cat "$1" >&2
        fail "$1: not so: $2"
    }
}

# DIR: nothing is in it.
expect_empty() {
    left=$(ls -A "$1")
    [ -z "$left" ] || fail "$1: left behind: $(find "$1" -mindepth 1 | head -n 5 | tr '\n' ' ')"
}

# --- places -----------------------------------------------------------------------------------

# NAME: makes $work/NAME and sets `dir`.
make_dir() {
    dir=$work/$1
    mkdir "$dir"
}

# NAME DIO TYPE OPTIONS: mounts NAME.img at NAME, on a loop device with direct I/O `on` or `off`
# below, which goes when it is unmounted.
mount_loop() {
    device=$(losetup --find --show "--direct-io=$2" "$work/$1.img") || return 1
    mounted=0
    mount -t "$3" -o "$4" "$device" "$work/$1" >>"$work/$1.log" 2>&1 || mounted=1
    losetup -d "$device"
    return $mounted
}

# NAME MIB MOUNT-TYPE MAKE...: a drive of its own, made by that command with the image's name
# behind it, mounted at $work/NAME, whose reads pass no cache below. Sets `dir`. Fails where that
# cannot be done.
mount_image() {
    make_dir "$1"
    truncate -s "$2M" "$dir.img"
    name=$1 type=$3
    shift 3
    "$@" "$dir.img" >"$dir.log" 2>&1 && mount_loop "$name" on "$type" rw
}

# NAME MIB: an ext4 drive, or the test is skipped.
mount_ext4() {
    need_root "to mount a small drive"
    mount_image "$1" "$2" ext4 mkfs.ext4 -q -m 0 ||
        skip "a small drive cannot be mounted: $(tail -n 1 "$work/$1.log")"
    rmdir "$dir/lost+found"
}

# NAME RATE: a JACK server, which ends with the test. Sets `server`.
start_jack() {
    server=trackramp-$1-$$
    : >"$work/$server.jack"
    answer=0
    tests/rig/jack.sh start "$server" "$2" || answer=$?
    [ "$answer" -ne 77 ] || skip "no jackd here"
    [ "$answer" -eq 0 ] || fail "the JACK server does not start"
}
