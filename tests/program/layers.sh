#!/bin/sh
# Every #include of our own headers against the table in docs/architecture.md, so that neither the
# code nor the document can drift. The map there says which folder a header in include/ is of.
# Then the check itself is checked: on a copy, each kind of violation must be found.
set -u
cd "$(dirname "$0")/../.." || exit 1
copy=
trap 'test -z "$copy" || rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM

# Prints the violations below a root folder, one a line; fails when there are any.
check() (
    cd "$1" || exit 1
    awk '
    function violation(text) { print text; bad = 1 }
    function exists(path,    line, is) {
        if (!(path in known)) {
            is = (getline line < path) >= 0
            close(path)
            known[path] = is
        }
        return known[path]
    }
    # The owner of a file: a folder of src/, `main.c`, or what the map says of a header.
    function folder_of(path,    part) {
        split(path, part, "/")
        return part[1] == "include" ? owner[part[2]] : part[2]
    }
    function check_own(header,    folder, target, directory) {
        folder = folder_of(FILENAME)
        directory = FILENAME
        sub(/[^\/]*$/, "", directory)
        if (exists("include/" header)) {
            target = owner[header]
            users[header, folder] = 1
        } else if (exists(directory header)) {
            return # beside the file
        } else if (folder == "main.c" && exists("src/" header)) {
            return
        } else {
            violation(FILENAME ": `" header "` is neither in include/ nor beside it")
            return
        }
        if (folder == "main.c" || folder == target || (folder, target) in may || (folder, header) in may)
            return
        # A result holds the machine and the drive by value.
        if (FILENAME == "include/result.h" && (header == "host.h" || header == "drive.h"))
            return
        violation(FILENAME ": `" folder "` may not include `" header "` of `" target "`")
    }
    FILENAME == document {
        if (/^## /) section = $0
        if (section == "## The map" && $0 == "include/") { in_map = 1; next }
        if (in_map && NF == 0) in_map = 0
        if (in_map) {
            for (i = 1; i < NF; i++) owner[$i ".h"] = $NF
        }
        if (section == "## The layers" && /^\| `/) {
            split($0, cell, "|")
            folder = cell[2]
            gsub(/[ `]/, "", folder)
            row[folder] = 1
            count = split(cell[3], piece, "`")
            for (i = 2; i <= count; i += 2) may[folder, piece[i]] = 1
        }
        next
    }
    FNR == 1 {
        files++
        folder = folder_of(FILENAME)
        if (folder == "") violation(FILENAME ": the map does not say whose it is")
        else if (folder != "main.c" && !(folder in row)) violation(FILENAME ": the table has no row for `" folder "`")
        if (FILENAME ~ /^include\//) { name = FILENAME; sub(/.*\//, "", name); headers[name] = 1 }
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, quoted, "\"")
        included++
        check_own(quoted[2])
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
        name = $0
        gsub(/.*<|>.*/, "", name)
        # Only rt is told which headers of the system it may have.
        if (folder_of(FILENAME) == "rt" && !(("rt", "<" name ">") in may))
            violation(FILENAME ": `rt` may not include <" name ">")
    }
    END {
        for (name in owner)
            if (!(name in headers)) violation("docs/architecture.md: the map has `" name "`, include/ has not")
        for (name in headers) {
            shared = 0
            for (pair in users) {
                split(pair, part, SUBSEP)
                if (part[1] == name && part[2] != owner[name]) shared = 1
            }
            if (!shared) violation("include/" name ": no other folder uses it; it belongs beside its .c")
        }
        if (files < 40 || included < 100) violation("only " files + 0 " files and " included + 0 " includes found")
        exit bad
    }' document=docs/architecture.md docs/architecture.md include/*.h src/*.c src/*/*.[ch]
)

check . || exit 1

copy=$(mktemp -d "${TMPDIR:-/tmp}/trackramp-layers-XXXXXX") || exit 1

# A file, a line to put into it, and what must be said about it.
# shellcheck disable=SC2016 # backticks are meant
must_find() {
    rm -rf "$copy/include" "$copy/src" "$copy/docs"
    mkdir "$copy/docs"
    cp docs/architecture.md "$copy/docs/" && cp -R include src "$copy/" || exit 1
    echo "$2" >>"$copy/$1"
    if found=$(check "$copy"); then
        echo "a line \`$2\` in $1 was not found"
        exit 1
    fi
    case $found in
    *"$3"*) ;;
    *)
        echo "\`$2\` in $1: \`$found\` instead of \`$3\`"
        exit 1
        ;;
    esac
}
must_find src/rt/ring.c '#include "monotonic.h"' 'may not include `monotonic.h`'
must_find src/rt/mixer.c '#include <stdio.h>' '<stdio.h>'
must_find include/ring.h '#include <stdlib.h>' '<stdlib.h>'
must_find include/ring.h '#include "track.h"' 'may not include `track.h`'
must_find src/base/units.c '#  include  "host.h"' 'may not include `host.h`'
must_find src/host/drive.c '#include "audio.h"' 'may not include `audio.h`'
must_find src/audio/audio.c '#include "mixer.h"' 'may not include `mixer.h`'
must_find src/stream/reader.c '#include "audio.h"' 'may not include `audio.h`'
must_find src/study/ramp.c '#include "report.h"' 'may not include `report.h`'
must_find src/report/json.c '#include "study.h"' 'may not include `study.h`'
must_find src/study/ramp.c '#include "rt/convert.h"' 'neither in include/ nor beside it'
must_find include/result.h '#include "audio.h"' 'may not include `audio.h`'
must_find include/orphan.h '' 'does not say whose it is'
must_find src/elsewhere.c '#include "error.h"' 'no row'
must_find docs/architecture.md '## The map
include/
  vanished base' 'the map has `vanished.h`'
echo "every #include agrees with docs/architecture.md"
