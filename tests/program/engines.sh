#!/bin/sh
# Both engines past the page cache and through it; the result says which were in effect.
. tests/rig/lib.sh

for engine in uring threads; do
    for io in direct buffered; do
        name=$engine-$io
        make_dir "$name"
        [ $engine = uring ] && depth="--queue-depth 24" || depth=
        # shellcheck disable=SC2086
        start "$name" "$program" run $short --engine $engine --io $io --readers 3 $depth \
            --json "$work/$name.json" "$dir"
    done
done
make_dir default
# shellcheck disable=SC2086
start default "$program" run $short --json "$work/default.json" "$dir"

for engine in uring threads; do
    for io in direct buffered; do
        name=$engine-$io
        finish "$name"
        if [ $engine = uring ] && lacks_uring "$name"; then
            skip_part "there is no io_uring here"
            continue
        fi
        expect_done "$name"
        [ $engine = uring ] && depth=24 || depth=1
        expect_json "$work/$name.json" ".method | .engine == \"$engine\" and .io == \"$io\" and
            .io_requested == \"$io\" and .readers == 3 and .queue_depth == $depth"
        expect_json "$work/$name.json" ".volumes[0] | .engine == \"$engine\" and .io == \"$io\""
        expect_json "$work/$name.json" '.volumes[0].blocks[0] | .tracks.sustained == 8 and
            .checked_samples > 0 and ([.warnings[].kind] | index("not-cold") | not)'
        expect_output "$name" "$io: "
        expect_output "$name" "engine $engine, 3 readers"
        expect_empty "$work/$name"
    done
done

finish default
expect_done default
expect_json "$work/default.json" '.method | .io == "direct" and
    (.engine == "uring" or .engine == "threads")'
expect_empty "$work/default"
