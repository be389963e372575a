# The only entry point. `make help` lists the targets.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.SUFFIXES:
# Objects of units stay, so that a change builds again only what it touches.
.SECONDARY:

VERSION  := $(shell cat VERSION)
# REVISION is a file where there is no repository: in a package's source.
REVISION ?= $(shell cat REVISION 2>/dev/null || git -c safe.directory='*' rev-parse --short HEAD 2>/dev/null || echo unknown)

# VARIANT: release (build/), asan (build/asan/), tsan (build/tsan/), debug (build/debug/), fuzz (build/fuzz/, by clang)
VARIANT ?= release
CC      ?= gcc
PREFIX  ?= /usr/local
UNITS   ?= $(PREFIX)/lib/systemd/system
# Where the unit reads its configuration, whatever PREFIX is.
ETC     ?= /etc
PYTHON  := /usr/bin/python3

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(VARIANT),fuzz)
CC := clang
endif

OUT_release := build
OUT_asan    := build/asan
OUT_tsan    := build/tsan
OUT_debug   := build/debug
OUT_fuzz    := build/fuzz
OUT := $(OUT_$(VARIANT))
OBJ := build/obj/$(VARIANT)

WARNINGS := -Wall -Wextra -Wformat=2 -Wformat-security -Wconversion -Wsign-conversion -Wshadow \
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef -Wvla -Wcast-qual -Wpointer-arith \
  -Wwrite-strings -Wimplicit-fallthrough -Wnull-dereference -Wdouble-promotion \
  -Werror=format-security -Werror=implicit -Werror=incompatible-pointer-types -Werror=int-conversion \
  -Werror=return-type
ifneq ($(findstring clang,$(CC)),clang)
WARNINGS += -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wtrampolines -Wbidi-chars=any
endif
ifneq ($(CI),)
WARNINGS += -Werror
endif

ARCH := $(shell uname -m)
HARDENING := -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero \
  -fno-delete-null-pointer-checks -fno-strict-overflow -fno-strict-aliasing -fexceptions -fPIE
ifeq ($(ARCH),x86_64)
HARDENING += -fcf-protection=full
endif
LINK_HARDENING := -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,nodlopen -Wl,--as-needed \
  -Wl,--no-copy-dt-needed-entries

VARIANT_CFLAGS_release := -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
# The reports of sanitizers need lines and no variables: -g1 saves a fifth of the compilation.
VARIANT_CFLAGS_asan := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_CFLAGS_tsan := -O1 -g1 -fsanitize=thread
# For gdb: no optimization, all variables and macros. Nothing is fortified, since that needs -O.
VARIANT_CFLAGS_debug := -O0 -g3 -U_FORTIFY_SOURCE
VARIANT_CFLAGS_fuzz := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fsanitize=fuzzer-no-link
# What defines signed overflow takes it from the sanitizer's sight.
HARDENING_asan := $(filter-out -fno-strict-overflow,$(HARDENING))
# clang 14 has no such initialization without a further option.
HARDENING_fuzz := $(filter-out -ftrivial-auto-var-init=zero,$(HARDENING_asan))

BASE_CFLAGS := -std=c11 -D_GNU_SOURCE -I. -pthread -g -fno-omit-frame-pointer -ffile-prefix-map=$(CURDIR)=. \
  $(WARNINGS) $(or $(HARDENING_$(VARIANT)),$(HARDENING)) $(VARIANT_CFLAGS_$(VARIANT)) $(CPPFLAGS) $(CFLAGS)
BASE_LDFLAGS := -pthread $(LINK_HARDENING) $(filter -fsanitize%,$(VARIANT_CFLAGS_$(VARIANT))) $(LDFLAGS)

MODULES := base model config storage view loop upstream webhook oidc tracing http reconcile api
DAEMON_SRC := $(foreach m,$(MODULES),$(wildcard $(m)/*.c) $(wildcard $(m)/*/*.c)) $(wildcard daemon/*.c)
SIM_SRC := $(wildcard simulator/*.c simulator/*/*.c)
CLI_SRC := $(wildcard cli/*.c cli/*/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c tests/storage/test_*.c)

DAEMON_OBJ := $(DAEMON_SRC:%.c=$(OBJ)/%.o)
LIB_OBJ := $(filter-out $(OBJ)/daemon/%,$(DAEMON_OBJ))
EMBEDDED := $(OBJ)/api/openapi_data.o $(OBJ)/api/dashboard_data.o
SIM_OBJ := $(SIM_SRC:%.c=$(OBJ)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(OBJ)/%.o)
UNIT_BIN := $(UNIT_SRC:%.c=$(OUT)/%)
UNIT_SUPPORT := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/support/*.c))

DAEMON_LIBS := -lmicrohttpd -lgnutls -lcurl -ljansson -lsqlite3 -lsodium -lyaml -lsystemd -lz -lssl -lcrypto -luuid -lcjose -lm
SIM_LIBS := -lmicrohttpd -ljansson -lcrypto -lm
CLI_LIBS := -lcurl -ljansson -lyaml -lutf8proc -lsodium -lz -lm
# One of each library.
HEADERS := microhttpd.h curl/curl.h jansson.h sqlite3.h sodium.h yaml.h systemd/sd-daemon.h zlib.h openssl/crypto.h gnutls/gnutls.h cjose/cjose.h uthash.h utf8proc.h

.PHONY: all help deps deps-test run test quick test-loaded fresh soak check check-asan check-tsan bench format lint install deb clean units fuzz fuzz-targets tidy FORCE
MAN := build/man/shootd.8
COMPLETIONS := build/completion/bash build/completion/zsh build/completion/fish
all: $(OUT)/shootd $(OUT)/cleura-sim $(OUT)/shootctl $(if $(filter release,$(VARIANT)),$(MAN) $(COMPLETIONS))

help:
	@echo "make             build build/shootd, build/shootctl and build/cleura-sim"
	@echo "make run         install what is missing, build, start the simulator and shootd on loopback"
	@echo "make test        install what is missing, build, run every test (FULL=1: more of what tests repeat)"
	@echo "make quick       the units, and the black-box tests of the folders that differ from main"
	@echo "make check-asan  the units, and the tests that read foreign bytes, under address+undefined sanitizers (FULL=1: all)"
	@echo "make check-tsan  the units, and the tests in which threads meet, under the thread sanitizer"
	@echo "make fuzz        fuzz every parser with clang, then whole requests (SECONDS=60 each, TARGETS=; takes $(FUZZ_TAKES))"
	@echo "make fresh       the two commands and README's on a bare Debian 12 made for it (root; STAGE=, AS=; takes $(FRESH_TAKES))"
	@echo "make VARIANT=debug  build/debug/shootd and the others for gdb (CONTRIBUTING.md)"
	@echo "make compile_commands.json  the commands of the compiler, for editors and clang-tidy"
	@echo "make tidy        clang-tidy over the sources (DIRS=\"base model\"; some minutes)"
	@echo "make soak        mixed load with faults, memory and counters are watched (MINUTES=10)"
	@echo "make test-loaded  the tests beside busy processes (LOAD=8 TIMES=3 TESTS=; takes $(LOADED_TAKES))"
	@echo "make deb         the Debian packages shootd and cleura-sim, into build/deb"
	@echo "make deps        install what building and running need; deps-test: what the tests need, too"
	@echo "make bench       the benchmarks, one report (takes $(BENCH_TAKES))"
	@echo "make format | lint | clean | install DESTDIR= PREFIX="

# The commands that may take longer than 15 minutes, on two cores: they print it when they start.
BENCH_TAKES := 30 minutes
FRESH_TAKES := an hour, a stage of it 15 minutes
LOADED_TAKES := 15 minutes for each of its TIMES
FUZZ_TAKES = $(shell echo $$(( ($(words $(FUZZ_TARGETS)) / 2 + 1) * $(SECONDS) / 60 + 3 ))) minutes
takes = @echo "make $@ takes $(1)"

# V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' '$(1)' '$@')

# A change of compiler or flags rebuilds everything. What is missing is named before the first file is compiled.
build/obj/$(VARIANT)/.flags: FORCE
	@command -v $(firstword $(CC)) >/dev/null || { echo "make: no compiler '$(firstword $(CC))': 'make deps' installs what building needs" >&2; exit 1; }
	@[ -e $@ ] || printf '#include <%s>\n' $(HEADERS) | $(CC) -E -x c - >/dev/null || \
	  { echo "make: libraries are missing: 'make deps' installs what building needs" >&2; exit 1; }
	@mkdir -p $(@D)
	@echo '$(CC) $(BASE_CFLAGS) $(BASE_LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(BASE_CFLAGS) $(BASE_LDFLAGS)' > $@

# In production a parameter that only the type of the function asks for has ATTR_UNUSED. Nearly every test has one,
# so tests are compiled without the warning.
TEST_WARNINGS = $(if $(filter tests/% fuzz/% bench/%,$<),-Wno-unused-parameter)
$(OBJ)/%.o: %.c build/obj/$(VARIANT)/.flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(BASE_CFLAGS) $(TEST_WARNINGS) -MMD -MP -c -o $@ $<

$(OBJ)/base/version.o: BASE_CFLAGS += -DSHOOTD_VERSION='"$(VERSION)"' -DSHOOTD_REVISION='"$(REVISION)"'
$(OBJ)/base/version.o: build/obj/$(VARIANT)/.revision
build/obj/$(VARIANT)/.revision: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(REVISION)' | cmp -s - $@ || echo '$(VERSION) $(REVISION)' > $@

# openapi.yaml is part of the binary: GET /openapi.yaml and /openapi.json.
$(OBJ)/api/openapi_data.o: build/openapi_data.c build/openapi.json
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -c -o $@ $<
build/openapi_data.c build/openapi.json &: openapi.yaml tools/embed_openapi.py
	@mkdir -p $(@D)
	$(Q)$(PYTHON) tools/embed_openapi.py openapi.yaml build/openapi.json > build/openapi_data.c

# The page at / is part of the binary, too. npm builds it where that is installed (tools/dashboard.sh); DASHBOARD=no leaves it out, and
# `make run` then installs no npm (tools/deps.sh). DASHBOARD=required makes it an error when it cannot be built.
DASHBOARD ?= auto
DASHBOARD_SRC := $(shell find dashboard \( -name node_modules -o -name types \) -prune -o -type f -print 2>/dev/null)
$(OBJ)/api/dashboard_data.o: build/dashboard_data.c build/obj/$(VARIANT)/.flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -c -o $@ $<
build/dashboard_data.c: $(DASHBOARD_SRC) tools/dashboard.sh tools/embed_dashboard.py build/.dashboard
	$(call say,NPM)
	$(Q)tools/dashboard.sh $(DASHBOARD)
	$(Q)$(PYTHON) tools/embed_dashboard.py build/dashboard > $@
build/.dashboard: FORCE
	@mkdir -p $(@D)
	@echo '$(DASHBOARD) '"$$(command -v npm)" | cmp -s - $@ || echo '$(DASHBOARD) '"$$(command -v npm)" > $@

$(OUT)/shootd: $(DAEMON_OBJ) $(EMBEDDED)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) -o $@ $^ $(DAEMON_LIBS)

$(OUT)/cleura-sim: $(SIM_OBJ) $(OBJ)/base/mem.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) -o $@ $^ $(SIM_LIBS)

# The command line takes of base and model what it uses, and nothing else of the daemon.
CLI_LIB := $(OBJ)/cli_base.a
$(CLI_LIB): $(filter $(OBJ)/base/% $(OBJ)/model/%,$(LIB_OBJ))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(OUT)/shootctl: $(CLI_OBJ) $(CLI_LIB)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) -o $@ $^ $(CLI_LIBS)

# All manual pages: what the programs say of themselves.
$(MAN): build/shootd build/cleura-sim build/shootctl tools/man.py CHANGELOG.md docs/operations.md
	$(call say,MAN)
	$(Q)$(PYTHON) tools/man.py $(@D)

$(COMPLETIONS): build/completion/%: build/shootctl
	@mkdir -p $(@D)
	$(Q)build/shootctl completion $* > $@

# Each unit takes of the archives what it needs: there are fifty, and a link with all objects takes twice the time. gold, where it is
# there, takes half the time of the usual linker.
UNIT_LINKER := $(if $(shell command -v ld.gold),-fuse-ld=gold)
LIB := $(OBJ)/lib.a
$(LIB): $(LIB_OBJ) $(EMBEDDED)
	$(Q)rm -f $@ && $(AR) rcsT $@ $^
CLI_PARTS := $(OBJ)/cli_parts.a
$(CLI_PARTS): $(filter-out $(OBJ)/cli/main.o,$(CLI_OBJ))
	$(Q)rm -f $@ && $(AR) rcsT $@ $^
# Objects before archives, whatever the order in which rules name them.
objects_first = $(filter %.o,$^) $(filter-out %.o,$^)
$(OUT)/tests/unit/test_cli_%: $(OBJ)/tests/unit/test_cli_%.o $(CLI_PARTS) $(CLI_LIB)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) $(UNIT_LINKER) -o $@ $(objects_first) $(CLI_LIBS) -lcmocka
$(OUT)/tests/%: $(OBJ)/tests/%.o $(UNIT_SUPPORT) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) $(UNIT_LINKER) -o $@ $(objects_first) $(DAEMON_LIBS) -lcmocka

units: $(UNIT_BIN)

# Each file of fuzz/ that is no help for the others is a target: with libFuzzer a program of its own; in the
# replay of their inputs, which needs no clang, a function of its own name.
FUZZ_SUPPORT := fuzz/fuzz.c fuzz/http_input.c fuzz/odd_members.c
# Those of the command line link that; a server of the fuzzer's is in the place of its HTTP.
FUZZ_CLI_SUPPORT := fuzz/cli_server.c
FUZZ_CLI_TARGETS := $(patsubst fuzz/%.c,%,$(filter-out $(FUZZ_CLI_SUPPORT),$(wildcard fuzz/cli_*.c)))
FUZZ_DAEMON_TARGETS := $(patsubst fuzz/%.c,%,$(filter-out $(FUZZ_SUPPORT) fuzz/cli_%,$(wildcard fuzz/*.c)))
FUZZ_TARGETS := $(FUZZ_DAEMON_TARGETS) $(FUZZ_CLI_TARGETS)
FUZZ_SUPPORT_OBJ := $(FUZZ_SUPPORT:%.c=$(OBJ)/%.o)
FUZZ_CLI_OBJ := $(OBJ)/fuzz/fuzz.o $(FUZZ_CLI_SUPPORT:%.c=$(OBJ)/%.o) $(filter-out $(OBJ)/cli/main.o $(OBJ)/cli/http.o,$(CLI_OBJ)) $(CLI_LIB)
FUZZ_BIN := $(FUZZ_DAEMON_TARGETS:%=build/fuzz/%)
FUZZ_CLI_BIN := $(FUZZ_CLI_TARGETS:%=build/fuzz/%)
FUZZ_REPLAY_OBJ := $(FUZZ_DAEMON_TARGETS:%=$(OBJ)/fuzz/replay_%.o) $(FUZZ_SUPPORT_OBJ)

$(OBJ)/fuzz/replay_%.o: fuzz/%.c build/obj/$(VARIANT)/.flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(BASE_CFLAGS) $(TEST_WARNINGS) -DLLVMFuzzerTestOneInput=fuzz_target_$* -MMD -MP -c -o $@ $<
$(OUT)/tests/unit/test_fuzz_replay: $(FUZZ_REPLAY_OBJ)
$(OUT)/tests/unit/test_cli_fuzz_replay: $(OBJ)/tests/unit/test_cli_fuzz_replay.o $(FUZZ_CLI_TARGETS:%=$(OBJ)/fuzz/replay_%.o) $(FUZZ_CLI_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) $(UNIT_LINKER) -o $@ $^ $(CLI_LIBS) -lcmocka

ifeq ($(VARIANT),fuzz)
fuzz-targets: $(FUZZ_BIN) $(FUZZ_CLI_BIN)
$(FUZZ_CLI_BIN): build/fuzz/%: $(OBJ)/fuzz/%.o $(FUZZ_CLI_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(CLI_LIBS)
$(FUZZ_BIN): build/fuzz/%: $(OBJ)/fuzz/%.o $(FUZZ_SUPPORT_OBJ) $(LIB_OBJ) $(EMBEDDED)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(DAEMON_LIBS)
endif

deps:
	@tools/deps.sh run
deps-test:
	@tools/deps.sh test

run: deps
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@tools/run.sh

test: deps-test
	@$(MAKE) --no-print-directory -j$(shell nproc) all units
	@tools/test.py $(OUT)

quick: deps-test
	@$(MAKE) --no-print-directory -j$(shell nproc) all units
	@tools/test.py $(OUT) --quick

fresh:
	$(call takes,$(FRESH_TAKES))
	@tools/fresh.sh

# LOAD=8 TIMES=3 TESTS="tests/api/test_x.py -k y"
test-loaded: deps-test
	$(call takes,$(LOADED_TAKES))
	@$(MAKE) --no-print-directory -j$(shell nproc) all units
	@tools/loaded.sh

# Each target for this long, two at a time. TARGETS="spec row": only those.
SECONDS ?= 60
fuzz:
	$(call takes,$(FUZZ_TAKES))
	@tools/deps.sh fuzz
	@$(MAKE) --no-print-directory -j$(shell nproc) VARIANT=fuzz fuzz-targets
	@$(MAKE) --no-print-directory -j$(shell nproc) VARIANT=asan all
	@tools/fuzz.sh $(SECONDS) $(or $(TARGETS),$(FUZZ_TARGETS) requests.py)

# Mixed load with faults for so long; SOAK_SEED=n repeats the dice of a run. FULL=1 make test is the other long one.
MINUTES ?= 10
soak: deps-test
	$(call takes,$(MINUTES) minutes and what building takes; FULL=1 make test repeats the other long tests in full)
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) tests/soak/soak.py $(MINUTES)

check: test
check-asan: deps-test
	@$(MAKE) --no-print-directory -j$(shell nproc) build/cleura-sim
	@$(MAKE) --no-print-directory -j$(shell nproc) VARIANT=asan all units
	@tools/test.py build/asan
check-tsan: deps-test
	@$(MAKE) --no-print-directory -j$(shell nproc) build/cleura-sim
	@$(MAKE) --no-print-directory -j$(shell nproc) VARIANT=tsan all units
	@tools/test.py build/tsan

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i
lint:
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror
	@$(PYTHON) tools/structure.py --check
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/api/test_layout.py tests/api/test_words.py tests/api/test_names.py

# Editors and clang-tidy read it: one entry for each source, with the flags of this Makefile. gcc's own options are left out, because
# clang reads this file.
COMPILED := $(DAEMON_SRC) $(SIM_SRC) $(CLI_SRC) $(UNIT_SRC) $(wildcard tests/support/*.c) $(wildcard fuzz/*.c)
FOR_CLANG = $(filter-out -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wtrampolines -Wbidi-chars=any \
  -ftrivial-auto-var-init=zero,$(BASE_CFLAGS))
VERSION_FLAGS := -DSHOOTD_VERSION='\"$(VERSION)\"' -DSHOOTD_REVISION='\"$(REVISION)\"'
compile_commands.json: FORCE
	@printf '%s\n' $(COMPILED) | $(PYTHON) tools/compile_commands.py "$(CC) $(FOR_CLANG)" > $@
compile_commands.json: BASE_CFLAGS += $(VERSION_FLAGS)

DIRS ?= $(MODULES) daemon cli simulator
tidy: compile_commands.json
	@git ls-files $(foreach d,$(DIRS),'$(d)/*.c') | xargs -n 4 -P $(shell nproc) clang-tidy --quiet

$(OUT)/bench/bare_mhd: $(OBJ)/bench/bare_mhd.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) -o $@ $^ -lmicrohttpd
$(OUT)/bench/open_loop: $(OBJ)/bench/open_loop.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_LDFLAGS) -o $@ $^
$(OUT)/bench/fast_clock.so: bench/fast_clock.c build/obj/$(VARIANT)/.flags
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE_CFLAGS) -fPIC -shared -o $@ $<
bench: all $(OUT)/bench/bare_mhd $(OUT)/bench/open_loop $(OUT)/bench/fast_clock.so
	$(call takes,$(BENCH_TAKES))
	@$(PYTHON) bench/all.py

install: all
	install -D -m 0755 build/shootd $(DESTDIR)$(PREFIX)/bin/shootd
	install -D -m 0755 build/shootctl $(DESTDIR)$(PREFIX)/bin/shootctl
	install -D -m 0755 build/cleura-sim $(DESTDIR)$(PREFIX)/bin/cleura-sim
	install -d $(DESTDIR)$(PREFIX)/share/doc/shootd/docs $(DESTDIR)$(PREFIX)/share/doc/shootd/contrib
	install -D -m 0644 build/completion/bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/shootctl
	install -D -m 0644 build/completion/zsh $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_shootctl
	install -D -m 0644 build/completion/fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/shootctl.fish
	for page in build/man/*; do install -D -m 0644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$(basename $$page); done
	install -m 0644 config/shootd.sample.yaml openapi.yaml README.md CHANGELOG.md $(DESTDIR)$(PREFIX)/share/doc/shootd
	install -m 0644 docs/*.md $(DESTDIR)$(PREFIX)/share/doc/shootd/docs
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/doc/shootd/docs/images docs/images/*
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/doc/shootd/kubernetes deploy/kubernetes/*.yaml
	install -m 0644 contrib/nginx.conf $(DESTDIR)$(PREFIX)/share/doc/shootd/contrib
	install -m 0755 contrib/*.sh contrib/*.py $(DESTDIR)$(PREFIX)/share/doc/shootd/contrib
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/doc/shootd/contrib/prometheus contrib/prometheus/*.yaml
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/doc/shootd/contrib/grafana contrib/grafana/*.json
	for unit in systemd/*.service systemd/*.socket; do \
	  sed 's|@PREFIX@|$(PREFIX)|g' $$unit | install -D -m 0644 /dev/stdin $(DESTDIR)$(UNITS)/$$(basename $$unit); done
	install -D -m 0644 systemd/sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/shootd.conf
# The sample is the configuration of a new installation; one that is there stays. (Of the package it is a conffile.)
	[ -e $(DESTDIR)$(ETC)/shootd/shootd.yaml ] || install -D -m 0644 config/shootd.sample.yaml $(DESTDIR)$(ETC)/shootd/shootd.yaml

# Debian packages into build/deb; the same commit gives the same bytes.
deb:
	@tools/deps.sh deb
	@tools/deb.sh

clean:
	rm -rf build

FORCE:

-include $(shell find build/obj/$(VARIANT) -name '*.d' 2>/dev/null)
