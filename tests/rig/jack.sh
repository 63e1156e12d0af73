#!/bin/sh
# A JACK server without hardware, for tests: it keeps real time and plays to nobody.
#
#   jack.sh start NAME [RATE] [PERIOD]   returns once clients can connect (44100, 256)
#   jack.sh stop NAME                    ends it, and leaves nothing behind
#   jack.sh kill NAME                    with SIGKILL: a server that crashes; stop it nevertheless
#
# NAME is the server's: clients find it through JACK_DEFAULT_SERVER=NAME, and `default` without.
# Exit codes: 0 done, 1 failed, 77 no jackd here.
set -eu

usage() {
    sed -n '4,6s/^# *//p' "$0" >&2
    exit 2
}

[ $# -ge 2 ] || usage
action=$1
name=$2
state=${TMPDIR:-/tmp}/trackramp-jack-$name

# A zombie that nobody has reaped yet does not run.
running() {
    kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# Waits up to five seconds for a command to succeed.
await() {
    tries=50
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.1
    done
}

answers() {
    jack_wait -s "$name" -c | grep -q '^running'
}

gone() {
    ! running "$1"
}

# To JACK even a zombie is a server that still runs.
reaped() {
    ! kill -0 "$1" 2>/dev/null
}

# A server that is told to end takes its shared memory along. A killed one leaves what it had
# mapped, and its place in the registry, which has eight: only a server of the same name gives that
# back. The registry itself stays, for other servers share it, and so does the metadata store while
# another server runs.
end() {
    [ -f "$state.pid" ] || return 0
    pid=$(cat "$state.pid")
    mapped=$(sed -n 's,.* \(/dev/shm/jack-[0-9]*-[0-9]*\)$,\1,p' "/proc/$pid/maps" 2>/dev/null || true)
    kill "-$1" "$pid" 2>/dev/null || true
    await gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
    rm -f "$state.pid" "$state.log"
    [ "$1" != KILL ] || echo "$pid" >"$state.killed"
    # shellcheck disable=SC2086 # one word a file
    rm -f /dev/shm/jack_"$name"_* /dev/shm/jack_sem.*_"$name"_* $mapped
    pidof jackd jackdbus >/dev/null || rm -rf "/dev/shm/jack_db-$(id -u)"
}

# RATE PERIOD
begin() {
    [ ! -f "$state.killed" ] || await reaped "$(cat "$state.killed")" || true
    rm -f "$state.killed"
    jackd --no-realtime -n "$name" -d dummy -r "$1" -p "$2" >"$state.log" 2>&1 </dev/null &
    echo $! >"$state.pid"
    if ! await answers; then
        cat "$state.log" >&2
        end TERM
        exit 1
    fi
}

case $action in
start)
    command -v jackd >/dev/null || exit 77
    if [ -f "$state.pid" ] && running "$(cat "$state.pid")"; then
        echo "jack.sh: server $name runs already; jack.sh stop $name" >&2
        exit 1
    fi
    begin "${3:-44100}" "${4:-256}"
    ;;
stop)
    end TERM
    if [ -f "$state.killed" ]; then
        begin 44100 256
        end TERM
    fi
    ;;
kill)
    end KILL
    ;;
*)
    usage
    ;;
esac
