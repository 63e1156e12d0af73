# trackramp: `make` builds build/trackramp; `make help` lists the rest.
VERSION := 0.1.0
PREFIX ?= /usr/local
CC ?= gcc
BUILD ?= build
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

.PHONY: all
all: $(BUILD)/trackramp

$(BUILD)/trackramp: $(BUILD)/main.o $(OBJECTS)
	@echo "LD $(@F)"
	@$(CC) -o $@ $^ $(ALL_LIBS)

# The callback's loops are worth vector code, which gcc 12 leaves out at -O2.
$(BUILD)/rt/%.o: OPTIMISE = -O3

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
