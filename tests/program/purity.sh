#!/bin/sh
# What runs in the audio callback calls nothing: the release objects of src/rt, linked to one, may
# leave only memcpy, memset and memmove for others to provide. Whatever waits, allocates or enters
# the system would show here by its name.
set -u
cd "$(dirname "$0")/../.." || exit 1
objects=${BUILD:-build}/rt
for tool in ld nm; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool here (binutils)"
        exit 77
    }
done
folder=$(mktemp -d "${TMPDIR:-/tmp}/trackramp-purity-XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

# Prints what the objects want from others and may not have.
impure() {
    ld -r -o "$folder/all.o" "$@" || exit 1
    nm -u "$folder/all.o" | awk '{ print $NF }' | grep -vx 'memcpy\|memset\|memmove'
}

for source in src/rt/*.c; do
    name=$(basename "$source" .c)
    if [ ! -f "$objects/$name.o" ]; then
        echo "$objects/$name.o is missing: build first (make)"
        exit 1
    fi
done
if found=$(impure "$objects"/*.o); then
    echo "src/rt calls: $found"
    exit 1
fi
nm "$folder/all.o" | grep -q ' T mixer_render$' || {
    echo "mixer_render is not in $objects: nothing was looked at"
    exit 1
}

# The check must be able to fail.
cat >"$folder/impure.c" <<'END'
extern void *malloc(unsigned long);
extern void *impure(void);
void *impure(void) { return malloc(9); }
END
if ! ${CC:-cc} -c -o "$folder/impure.o" "$folder/impure.c"; then
    echo "no C compiler to check the check with: ${CC:-cc}"
    exit 1
fi
if [ "$(impure "$objects"/*.o "$folder/impure.o")" != malloc ]; then
    echo "a call of malloc was not found"
    exit 1
fi
echo "src/rt calls nothing but memcpy, memset and memmove"
