#!/bin/sh
# Installs the Debian packages that are missing: `build` for building and running, `test` for the
# tests besides. Needs root or sudo only when something is missing.
set -eu
case ${1:-} in
build)
    packages="gcc make pkg-config libsndfile1-dev portaudio19-dev liburing-dev libmount-dev
        libudev-dev libjansson-dev libasound2-data"
    ;;
test)
    packages="libcmocka-dev clang clang-format cppcheck binutils jackd2 strace jq xfsprogs btrfs-progs
        ntfs-3g exfat-fuse exfatprogs util-linux e2fsprogs"
    ;;
*)
    echo "usage: install.sh build|test" >&2
    exit 2
    ;;
esac
missing=
for package in $packages; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "install.sh: no apt-get here; please install the equivalents of:$missing" >&2
    exit 1
fi
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing$missing"
$sudo apt-get update -q
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends $missing
