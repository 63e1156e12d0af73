#!/bin/sh
# Runs test programs and scripts one after the other, and says at the end how many passed.
# Exit 77 of a script means skipped; where CI=true nothing may be skipped.
set -u
passed=0 failed=0 skipped=0
for test in "$@"; do
    began=$(date +%s)
    case $test in
    /*) output=$("$test" 2>&1) ;;
    *) output=$("./$test" 2>&1) ;;
    esac
    code=$?
    name=${test#"${BUILD:-build}"/}
    if [ "$code" -eq 77 ] && [ "${CI:-}" != true ]; then
        skipped=$((skipped + 1))
        echo "SKIP $name: $(echo "$output" | tail -n 1)"
    elif [ "$code" -eq 0 ]; then
        passed=$((passed + 1))
        echo "PASS $name ($(($(date +%s) - began)) s)"
        echo "$output" | grep -i 'skipped: ' | sed 's/^/     /'
    else
        failed=$((failed + 1))
        echo "FAIL $name (exit $code)"
        echo "$output" | tail -n 60 | sed 's/^/     /'
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
