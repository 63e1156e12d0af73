#!/bin/sh
# Kept files that are not what they were: other bytes are corruption and end the run, a wrong size
# is put right, and what cannot be read or replaced is named.
. tests/rig/lib.sh

# NAME OPTION...
start_keep() {
    name=$1
    shift
    # shellcheck disable=SC2086
    start "$name" "$program" run $short --keep "$@" "$work/$name"
}

kept() {
    echo "$work/$1/trackramp-files/track-00000$2.wav"
}

for name in flipped cut folder failing; do
    make_dir $name
    start_keep $name
done
for name in flipped cut folder failing; do
    finish $name
    expect_done $name
    [ -f "$(kept $name 7)" ] || fail "$name: the files were not kept"
done

# All of the audio, so that whatever is looked at is wrong; the size stays.
size=$(stat -c %s "$(kept flipped 5)")
head -c $((size - 4096)) /dev/urandom |
    dd "of=$(kept flipped 5)" bs=4096 seek=1 conv=notrunc status=none
truncate -s -1000 "$(kept cut 5)"
rm "$(kept folder 5)"
mkdir "$(kept folder 5)"
stat -c '%n %i %Y' "$(kept cut 4)" >"$work/cut.before"

start_keep flipped
start_keep cut
start_keep folder
if command -v strace >/dev/null; then
    # A drive that fails to read one file, as far as the program can tell.
    # shellcheck disable=SC2086
    start failing strace -f -qq -o /dev/null -P "$(kept failing 5)" -e trace=pread64 \
        -e inject=pread64:error=EIO:when=20+ \
        "$program" run $short --keep --engine threads "$work/failing"
    finish failing
    expect_error failing 3 "$(kept failing 5)" "reading 65536 bytes" "Input/output error"
else
    skip_part "needs strace"
fi

finish flipped
expect_code flipped 3
expect_line flipped "$(kept flipped 5)" corruption

finish cut
expect_done cut
[ "$(stat -c %s "$(kept cut 5)")" -eq "$size" ] || fail "cut: not replaced"
stat -c '%n %i %Y' "$(kept cut 4)" | cmp - "$work/cut.before" || fail "cut: a good file went too"
[ -f "$(kept cut 7)" ] || fail "cut: the files after it are missing"

finish folder
expect_error folder 3 "$(kept folder 5)" "move that folder away"
[ -d "$(kept folder 5)" ] || fail "folder: somebody's folder is gone"

for name in flipped cut failing; do
    try clean "$program" clean "$work/$name"
    expect_done clean
    expect_empty "$work/$name"
done
try clean "$program" clean "$work/folder"
expect_done clean
rmdir "$(kept folder 5)"
try clean "$program" clean "$work/folder"
expect_empty "$work/folder"
