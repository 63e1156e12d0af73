#!/bin/sh
# The result file of a real run keeps to the schema, goes where it was asked to go, and leaves the
# rest of standard output to the table.
. tests/rig/lib.sh

checker=$built/tests/report/test_json
[ -x "$checker" ] || skip "needs $checker, which make test builds"

# FILE
expect_by_schema() {
    [ -s "$1" ] || fail "$1: nothing was written"
    TRACKRAMP_RESULT_FILE=$1 "$checker" >"$work/schema.out" 2>"$work/schema.err" || {
        show schema
        fail "$1: not by the schema"
    }
}

make_dir one
one=$dir
make_dir two
two=$dir
make_dir three
echo old >"$work/results.json"
ln -s results.json "$work/link.json"
make_dir four
# shellcheck disable=SC2086
start both "$program" run $short --json "$work/link.json" "$one" "$two/."
# shellcheck disable=SC2086
start sizes "$program" run $short --block-size 256K,64K --json "$work/sizes.json" "$work/three"
# shellcheck disable=SC2086
start output "$program" run $short --json - "$dir"

finish output
expect_code output 0
expect_by_schema "$work/output.out"
expect_json "$work/output.out" '.complete and .schema == "trackramp-result-1"'
head -c 10 "$work/output.err" | grep -q '^trackramp ' || fail "no table on standard error"
grep -q 'max-tracks' "$work/output.err" || fail "no row on standard error"

finish both
expect_done both
[ -L "$work/link.json" ] || fail "the link is gone"
expect_by_schema "$work/results.json"
expect_json "$work/results.json" "[.volumes[].path] == [\"$one\", \"$two/.\"]"
expect_json "$work/results.json" '.complete and .duration_s > 1 and .method.max_tracks == 8 and
    (.volumes | all(.blocks[0].block_bytes == 65536))'
expect_output both "$one"
expect_output both "$two/."

finish sizes
expect_done sizes
expect_by_schema "$work/sizes.json"
expect_json "$work/sizes.json" '.volumes[0] | [.blocks[].block_bytes] == [262144, 65536] and
    .recommended_block_bytes == 65536 and has("fit")'
expect_output sizes "Choose 64 KiB"
[ "$(find "$work" -maxdepth 1 -name '*.part')" = "" ] || fail "an unfinished result is left"
for name in one two three four; do
    expect_empty "$work/$name"
done
