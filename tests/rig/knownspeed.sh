#!/bin/sh
# A drive of known speed: holds the whole disk behind a folder to so many bytes and reads a second,
# for one command, which runs in a control group of its own.
#
#   knownspeed.sh DIR [bytes=N] [reads=N] -- COMMAND...
#
# The exit code is the command's; 77 where the system has no such control. Needs root.
set -eu

usage() {
    sed -n '5s/^# *//p' "$0" >&2
    exit 2
}

unable() {
    echo "knownspeed.sh: $*" >&2
    exit 77
}

[ $# -ge 2 ] || usage
dir=$1
shift
bytes='' reads=''
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    bytes=*) bytes=${1#bytes=} ;;
    reads=*) reads=${1#reads=} ;;
    *) usage ;;
    esac
    shift
done
[ $# -ge 2 ] || usage
shift

# MAJOR:MINOR of the whole disk: limits on a partition are refused. Btrfs shows a number of its own
# for what it holds, so the mount's source is asked.
whole_disk() {
    source=$(findmnt -n -o SOURCE -T "$1")
    [ -b "${source%%\[*}" ] || unable "no disk lies behind $1"
    number=$(lsblk -n -d -o MAJ:MIN "${source%%\[*}" | tr -d ' ')
    if [ -e "/sys/dev/block/$number/partition" ]; then
        number=$(cat "/sys/dev/block/$number/../dev")
    fi
    echo "$number"
}

# TYPE OPTION: where such a control group filesystem is mounted.
mounted_at() {
    findmnt -n -o TARGET -t "$1" ${2:+-O "$2"} | head -n 1
}

# FOLDER: makes the group there, after those that a killed one of us left.
make_group() {
    for old in "$1"/trackramp-speed-*; do
        [ ! -d "$old" ] || [ -d "/proc/${old##*-}" ] || rmdir "$old" 2>/dev/null || true
    done
    group=$1/trackramp-speed-$$
    mkdir "$group" 2>/dev/null || unable "no control group can be made in $1"
}

# FILE TEXT: of the group.
hold() {
    echo "$2" >"$group/$1" || unable "disk $disk cannot be held: $1 refuses $2"
}

hold_version_1() {
    make_group "$1"
    [ -z "$bytes" ] || hold blkio.throttle.read_bps_device "$disk $bytes"
    [ -z "$reads" ] || hold blkio.throttle.read_iops_device "$disk $reads"
}

hold_version_2() {
    grep -qw io "$1/cgroup.controllers" || unable "the io controller is not to be had"
    grep -qw io "$1/cgroup.subtree_control" || echo +io >"$1/cgroup.subtree_control" ||
        unable "the io controller cannot be enabled"
    make_group "$1"
    hold io.max "$disk rbps=${bytes:-max} riops=${reads:-max}"
}

# A group can be removed once the last process in it is gone altogether.
# shellcheck disable=SC2317 # called at the exit
remove_group() {
    [ -z "$child" ] || kill -s TERM "$child" 2>/dev/null || true
    tries=100
    until [ -z "$group" ] || rmdir "$group" 2>/dev/null; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || break
        sleep 0.1
    done
}

[ "$(id -u)" -eq 0 ] || unable "needs root"
disk=$(whole_disk "$dir")
group='' child=''
trap remove_group EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
old=$(mounted_at cgroup blkio)
new=$(mounted_at cgroup2)
if [ -n "$old" ]; then
    hold_version_1 "$old"
elif [ -n "$new" ]; then
    hold_version_2 "$new"
else
    unable "no control groups are mounted"
fi

# shellcheck disable=SC2016 # expanded by the inner shell
sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@" &
child=$!
code=0
wait $child || code=$?
child=''
exit $code
