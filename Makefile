# trackramp: `make` builds build/trackramp; `make help` lists the rest.
VERSION := 0.1.0
PREFIX ?= /usr/local
CC ?= gcc
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
PACKAGES := sndfile portaudio-2.0 liburing mount libudev jansson
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
ifneq ($(WERROR),0)
WARNINGS += -Werror
endif
OPTIMISE ?= -O2
CFLAGS ?= -g
CPPFLAGS += -iquote include -D_GNU_SOURCE -DTRACKRAMP_VERSION='"$(VERSION)"'
# Deferred, so that `make deps` works before pkg-config or a library is there.
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES))
PKG_LIBS = $(shell pkg-config --libs $(PACKAGES))
ALL_CFLAGS = -std=c11 $(OPTIMISE) $(CFLAGS) $(WARNINGS) $(SANITIZE) -pthread $(CPPFLAGS) $(PKG_CFLAGS)
ALL_LIBS = $(SANITIZE) -pthread $(LDFLAGS) $(PKG_LIBS) -lm

SOURCES := $(wildcard src/*/*.c)
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o)
TESTS := $(wildcard tests/*/test_*.c)
TEST_PROGRAMS := $(TESTS:tests/%.c=$(BUILD)/tests/%)
HELPERS := $(patsubst tests/%.c,$(BUILD)/tests/%.o,$(wildcard tests/fakes/*.c))
SCRIPTS := $(wildcard tests/program/*.sh)
C_FILES := $(wildcard include/*.h src/*.c src/*/*.[ch] tests/*/*.[ch])

.PHONY: all
all: $(BUILD)/trackramp

$(BUILD)/trackramp: $(BUILD)/main.o $(OBJECTS)
	@echo "LD $(@F)"
	@$(CC) -o $@ $^ $(ALL_LIBS)

# The callback's loops are worth vector code, which gcc 12 leaves out at -O2; and they call nothing,
# not even what a distribution's hardening flags would slip in.
$(BUILD)/rt/%.o: OPTIMISE = -O3 -fno-stack-protector -U_FORTIFY_SOURCE

$(BUILD)/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	@echo "CC $<"
	@$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%.o: tests/%.c Makefile
	@mkdir -p $(@D)
	@echo "CC $<"
	@$(CC) $(ALL_CFLAGS) -iquote src -iquote tests -MMD -MP -c -o $@ $<

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(HELPERS) $(OBJECTS)
	@$(CC) -o $@ $^ $(ALL_LIBS) -lcmocka

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PRECIOUS: $(BUILD)/tests/%.o

.PHONY: help deps try check test asan tsan lint format install uninstall clean speeds
help:
	@echo "make            build build/trackramp"
	@echo "make try        install what is missing, build, measure this drive in about two minutes"
	@echo "make check      install what is missing, build, pass all tests, lint, sanitizers"
	@echo "make test       the tests alone     make asan, make tsan   the same under a sanitizer"
	@echo "make lint       formatting, cppcheck, clang   make format   put formatting right"
	@echo "make speeds     the count on disks of known speed, as a table; needs root and an hour"
	@echo "make install    into PREFIX (/usr/local), below DESTDIR      make uninstall"

# What a fresh Debian needs: to build and run, and what the tests want besides.
deps:
	@tests/rig/install.sh build
test-deps:
	@tests/rig/install.sh test

# Recursion: wildcards and pkg-config must see what deps has installed.
try: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all
	$(BUILD)/trackramp run --block-size 4K,32K,256K --repeat 1 --trial 2 .

# One step after another, as tests that keep time want the machine to themselves; compiling does not.
check: deps test-deps
	@for step in lint test asan tsan; do \
		$(MAKE) --no-print-directory -j$(JOBS) $$step || exit; \
	done

test: $(BUILD)/trackramp $(TEST_PROGRAMS)
	@BUILD=$(BUILD) tests/run.sh $(TEST_PROGRAMS) $(SCRIPTS)

# The test programs again, in trees of their own. What needs minutes or a timing that sanitizers
# spoil is left to `test`; threads are what tsan is for.
asan:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan OPTIMISE=-O1 \
		SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all" test-programs
tsan:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan OPTIMISE=-O1 \
		SANITIZE="-fsanitize=thread" test-threads

.PHONY: test-programs test-threads test-deps
test-programs: $(TEST_PROGRAMS)
	@BUILD=$(BUILD) tests/run.sh $(TEST_PROGRAMS)
THREADED := $(filter $(BUILD)/tests/rt/% $(BUILD)/tests/stream/% $(BUILD)/tests/audio/test_clock,$(TEST_PROGRAMS))
test-threads: $(THREADED)
	@BUILD=$(BUILD) tests/run.sh $(THREADED)

# Apart from the tests, for it takes an hour: the count on disks held to known speeds. SPEEDS picks
# rows, as in SPEEDS="20MB 64K mono".
speeds: $(BUILD)/trackramp
	@tests/rig/speeds.sh $(BUILD)/trackramp /var/tmp $(SPEEDS)

lint:
	@echo "LINT clang-format"
	@clang-format --dry-run -Werror $(C_FILES)
	@echo "LINT cppcheck"
	@cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
		--error-exitcode=1 -I include -I src -D_GNU_SOURCE -D__BYTE_ORDER__=1234 \
		-D__ORDER_LITTLE_ENDIAN__=1234 src
	@echo "LINT clang"
	@$(MAKE) --no-print-directory -s CC=clang BUILD=$(BUILD)/clang all

format:
	clang-format -i $(C_FILES)

install: $(BUILD)/trackramp
	install -D -m 755 $(BUILD)/trackramp $(DESTDIR)$(PREFIX)/bin/trackramp
	install -D -m 644 docs/trackramp.1 $(DESTDIR)$(PREFIX)/share/man/man1/trackramp.1

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/trackramp $(DESTDIR)$(PREFIX)/share/man/man1/trackramp.1

clean:
	rm -rf $(BUILD)
