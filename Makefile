# SPDX-License-Identifier: Apache-2.0
# ordeal: the one entry.  `make help` lists the targets.
#
# Sources are found by wildcard, one room one product: checker/ is the library, host/ the program,
# rtl/ the machine, of which sim/ makes models, tests/test_*.c one Unity program each.  Everything
# generated lies under $(BUILD).

# The value of a variable that becomes what a command says when it is first wanted: asked once, and
# late. There must be nothing else in it.
once = $(eval $(1) := $(shell $(2)))$($(1))

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(call once,JOBS,nproc)
FUZZ_SECONDS ?= 60
TEST_SECONDS ?= 1200

# A release leaves out the assertions that cost (checker/invariant.h). It is built in a place of its
# own, so that objects do not mix; models and Unity are the same.
ifdef RELEASE
SIM   := $(or $(SIM),$(BUILD)/sim)
UNITY := $(or $(UNITY),$(BUILD)/unity)
override BUILD := $(BUILD)/release
endif

# Warnings are errors where WERROR=1 says so, in CI: a newer compiler's must not stop anybody's build.
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra $(if $(WERROR),-Werror)
COMPILE   = $(CC) -std=c11 -D_GNU_SOURCE $(if $(RELEASE),-DORDEAL_RELEASE) $(WARNINGS) $(CFLAGS) $(SANITIZE)
LINK      = $(CC) $(LDFLAGS) $(SANITIZE)

# First wanted when a recipe runs, that is, after the set-up has installed what is missing.
HOST_CFLAGS   = $(call once,HOST_CFLAGS,pkg-config --cflags libcjson libgvc inih libusb-1.0 sqlite3 libmicrohttpd libdw)
HOST_LIBS     = $(call once,HOST_LIBS,pkg-config --libs libcjson libgvc inih libusb-1.0 sqlite3 libmicrohttpd libdw)
BOARD_CFLAGS  = $(call once,BOARD_CFLAGS,pkg-config --cflags umockdev-1.0 libusb-1.0)
MOCK_LIBS     = $(call once,MOCK_LIBS,pkg-config --libs umockdev-1.0)
BOARD_LIBS    = $(MOCK_LIBS) -Wl,--no-as-needed -lumockdev-preload -lm
CHECKER_LIBS := -lcadical -lstdc++ -lzstd -lz -lm

VERSION := $(shell sed -n 's/^\#define ORDEAL_VERSION "\(.*\)"/\1/p' checker/ordeal.h)
UNITY   ?= $(BUILD)/unity
OBJ     := $(BUILD)/obj

objects     = $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(1)))
CHECKER    := $(call objects,checker/*.c) $(OBJ)/checker/solver.o
SHARED     := $(call objects,sim/models.c sim/process.c)
FST        := $(OBJ)/fst/fstapi.o $(OBJ)/fst/fastlz.o $(OBJ)/fst/lz4.o
PROGRAM    := $(call objects,program/*.c)
HOST       := $(call objects,host/*.c host/*/*.c host/*/*/*.c) $(PROGRAM) $(SHARED) $(FST)
SIMULATED  := $(filter-out $(SHARED),$(call objects,sim/*.c))
SUPPORT    := $(filter-out $(OBJ)/tests/support/firmware_%,$(call objects,tests/support/*.c \
                tests/bench/workload.c tests/bench/wire_speed.c tests/zoo/statistics.c))
FIRMWARE   := $(filter-out $(OBJ)/firmware/main.o,$(call objects,firmware/*.c tests/support/firmware_*.c))
BENCHMARK  := $(call objects,$(filter-out tests/bench/cost.c,$(wildcard tests/bench/*.c)))
CAMPAIGN   := $(call objects,$(addprefix tests/zoo/,campaign.c results.c stamp.c statistics.c))
FUZZERS    := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))

# The long ones start first, so that none of them is left alone at the end. Nothing else depends on
# that list; $(BUILD)/tests/times says how long each took.
LONG_TESTS := test_explore_random test_random test_board_whole test_sim_run test_run test_rtl test_openocd test_sim_own \
              test_sim_litmus test_check test_solver
TEST_NAMES := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))
TESTS      := $(addprefix $(BUILD)/tests/,$(filter $(TEST_NAMES),$(LONG_TESTS)) \
                $(filter-out $(LONG_TESTS),$(TEST_NAMES)))
EXAMPLES   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/example_*.c))

# Models of the machine (sim/models.h): those that come with the program, those that tests want, too.
# Others are built when somebody asks for them. They are the same for all kinds of builds.
SIM        ?= $(BUILD)/sim
SIZES      := $(shell sed -n 's/^SIZE("\(.*\)")$$/\1/p' sim/sizes.def)
SOCS       := $(SIZES) h2-s16-w2-l4-b8-q4 board-h2-s16-w2-l4-b8-q4 lean board-lean
TEST_SOCS  := h1-s1-w1-l4-b1-q1 h1-s1-w1-l4-b1-q1-waves lean-m16-k8

.PHONY: all program board firmware models run test test-usbip test-pages test-slurm simulate faults kills \
        debug sanitize sanitize-thread fuzz bench zoo compare buckets lint \
        lint-includes lint-format lint-c lint-rtl format fpga \
        cov install clean help \
        setup setup-test setup-fuzz setup-program setup-usbip setup-slurm setup-lint setup-fpga setup-pages \
        test-models test-programs build-tests run-tests build-fuzzers
.DELETE_ON_ERROR:
.SECONDARY:

all: program board models
program: $(BUILD)/ordeal $(BUILD)/libordeal.a $(BUILD)/runtime

board: firmware $(BUILD)/ordeal-board

help:
	@echo 'make           build $(BUILD)/ordeal, $(BUILD)/libordeal.a, and the usual models of the machine'
	@echo 'make program   the first two of these'
	@echo 'make RELEASE=1 [program, install, ...]  the same without assertions that cost, in build/release'
	@echo 'make board     $(BUILD)/ordeal-board, which simulates one, and its firmware'
	@echo 'make run       set up, build, put this computer on trial and a machine with a bug'
	@echo 'make test      set up, build, run all tests; the last line is "N passed, N failed".'
	@echo '               JOBS=$(JOBS) at once, TEST_SECONDS=$(TEST_SECONDS) at most for each program of them'
	@echo 'make test-usbip  the simulated board under a real Linux kernel, in QEMU: some minutes'
	@echo 'make test-pages  pages of ordeal report in a browser; the last line as of make test'
	@echo 'make test-slurm  regressions by a real Slurm, which runs whole on this computer: some minutes'
	@echo 'make simulate  host and board in one process, by seeds: SEEDS= so many, FIRST= from this one on'
	@echo 'make debug     program and tests for a debugger, unoptimised: gdb $(BUILD)/debug/ordeal, or'
	@echo '               ORDEAL=$(BUILD)/debug/ordeal gdb $(BUILD)/debug/tests/test_NAME'
	@echo 'make sanitize  the same tests with address and undefined-behaviour sanitizers'
	@echo 'make sanitize-thread  those with threads under ThreadSanitizer'
	@echo 'make fuzz      every fuzz harness, FUZZ_SECONDS=$(FUZZ_SECONDS) in all'
	@echo 'make bench     tables of speed and memory, also as JSON under $(BUILD); BENCH=quick: a minute'
	@echo 'make faults    every command with its calls failing one by one, and power lost at any moment: the'
	@echo '               list of what was tried; some hours'
	@echo 'make kills     a regression killed a hundred times, at any moment: some minutes; KILLS='
	@echo 'make zoo       every bug of rtl/zoo.def against random tests, and the machine without bugs;'
	@echo '               COUNT= tests of a bug, CLEAN= of each machine, MODELS=all, SHRINK= seconds,'
	@echo '               BUG= one alone, SEED='
	@echo 'make compare   how many cycles the old default, uniform settings, the default and a tuned bias'
	@echo '               take to each bug and to mistakes beside the zoo: hours; SEEDS='
	@echo 'make buckets   how well signatures put the failures of a bug together, over the zoo: half an hour;'
	@echo '               SEED= SHRINK=seconds'
	@echo 'make lint      what tools say of the sources: lint-includes (none goes upwards), lint-format,'
	@echo '               lint-c (clang-tidy), lint-rtl (Verilator and yosys, all warnings on)'
	@echo 'make format    lay out what changed of C by .clang-format; SINCE=COMMIT since when, for lint, too'
	@echo 'make fpga      a bitstream, and what it takes of the chip; BOARD= (tinyfpga-bx, ecp5-85f), SERIAL='
	@echo 'make cov       coverage of rtl/ by a regression: a summary, and annotated sources'
	@echo 'make setup     install what building needs and is missing (Debian)'
	@echo 'make install   program, library, header, pkg-config file, man page; PREFIX=$(PREFIX) DESTDIR='
	@echo 'make clean     remove $(BUILD)'

# ---- set-up: installs packages only when some are missing ---------------------------------

setup:
	@setup/install build
setup-test:
	@setup/install build program test
setup-fuzz:
	@setup/install build program test fuzz
setup-program:
	@setup/install build program
setup-usbip:
	@setup/install build usbip
setup-slurm:
	@setup/install build slurm
setup-lint:
	@setup/install build lint
setup-fpga:
	@setup/install build fpga
setup-pages:
	@setup/install build test pages
	@setup/browser $(BUILD)/browser

$(UNITY)/unity.c:
	setup/unity $(UNITY)

# ---- the library and the program ----------------------------------------------------------

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) $(INCLUDE) -MMD -MP -c $< -o $@

# What stands between C and libraries that throw.
$(OBJ)/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(WARNINGS) $(CFLAGS) $(SANITIZE) $(INCLUDE) -MMD -MP -c $< -o $@

# What each room may see; tests/layers says more exactly.
$(OBJ)/checker/%:   INCLUDE = -Ichecker
$(OBJ)/sim/%:       INCLUDE = -Isim -Irtl $(BOARD_CFLAGS)
$(OBJ)/sim/models%: INCLUDE = -Isim
$(OBJ)/program/%:   INCLUDE = -Iprogram -Ichecker
$(OBJ)/host/%:      INCLUDE = -Ihost -Ichecker -Iprogram -Isim -Irtl -Ifirmware $(HOST_CFLAGS)
$(OBJ)/firmware/%:  INCLUDE = -Irtl

# GTKWave's reader of waves, as it comes with Verilator. Its warnings are its own, and what sanitizers would
# say of it, as of any library.
FST_SOURCE = $(call once,FST_SOURCE,echo $$(verilator --getenv VERILATOR_ROOT)/include/gtkwave)
$(OBJ)/fst/%.o:
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) -w -DFST_CONFIG_INCLUDE='"fst_config.h"' -I$(FST_SOURCE) -c $(FST_SOURCE)/$*.c -o $@
$(OBJ)/host/report/waves_data%: INCLUDE = -Ihost -Ichecker -Isim -Irtl $(HOST_CFLAGS) -isystem $(FST_SOURCE)

# The style and the script of pages, and their hashes for the policy of a page.
hash = $$(sha256sum < $(1) | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64 -w0)
REPORT_HASHES = -DREPORT_STYLE_HASH=\"$(call hash,host/report/page.css)\" \
    -DREPORT_SCRIPT_HASH=\"$(call hash,host/report/page.js)\"
$(OBJ)/host/report/assets%: INCLUDE = -Ihost -Ichecker $(HOST_CFLAGS) $(REPORT_HASHES)
$(OBJ)/host/serve/source%: INCLUDE = -Ihost -Ichecker $(HOST_CFLAGS) $(REPORT_HASHES) \
    -DSERVE_STYLE_HASH=\"$(call hash,host/serve/live.css)\" \
    -DSERVE_SCRIPT_HASH=\"$(call hash,host/serve/live.js)\"

# The assembler includes them.
$(OBJ)/host/report/assets.o: $(addprefix host/report/,page.css page.js)
$(OBJ)/host/serve/source.o: host/report/page.css host/report/page.js host/serve/live.css host/serve/live.js
$(OBJ)/host/targets/elf/elf_runtime.o: $(addprefix host/targets/elf/,elf_runtime.S elf_link.ld)
$(OBJ)/host/test/default_bias.o: host/test/default.bias

# All names, for tests and benchmarks that reach inside.
$(BUILD)/libinside.a: $(CHECKER)
	@rm -f $@
	$(AR) rcs $@ $^

# The archive that others link: one object in which only ordeal_* is visible, so that no inner
# name can clash with a testbench's. (DW.ref.* is the compiler's, the same in every object of C++.)
$(BUILD)/libordeal.a: $(CHECKER)
	@rm -f $@
	$(LD) -r -o $(OBJ)/ordeal.o $^
	objcopy --wildcard --keep-global-symbol='ordeal_*' --keep-global-symbol='DW.ref.*' $(OBJ)/ordeal.o
	$(AR) rcs $@ $(OBJ)/ordeal.o

# The program but for its main, for tests and benchmarks of its parts.
$(BUILD)/libhost.a: $(filter-out $(OBJ)/host/main.o,$(HOST))
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/ordeal: $(HOST) $(BUILD)/libordeal.a
	$(LINK) -pthread $^ -Wl,--as-needed $(HOST_LIBS) $(CHECKER_LIBS) -o $@

# What programs of `ordeal explore` are compiled with, beside the program.
$(BUILD)/runtime:
	@mkdir -p $(@D)
	ln -sfn $(abspath program/runtime) $@

# The simulated board: what is around its model, and the program.
$(BUILD)/libboard.a: $(filter-out $(OBJ)/sim/ordeal_board.o,$(SIMULATED))
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/ordeal-board: $(OBJ)/sim/ordeal_board.o $(BUILD)/libboard.a $(SHARED)
	$(LINK) -pthread $^ $(BOARD_LIBS) -o $@

# ---- models of the machine ----------------------------------------------------------------

# What they are made of, as rtl/sources and sim/build take it.
MACHINE_RTL := $(wildcard rtl/*.v)
LEAN_RTL    := $(wildcard rtl/lean/*.v) rtl/hart_debug.v
BOARD_RTL   := $(wildcard rtl/board/*.v rtl/board/*.def)
RTL_TABLES  := $(wildcard rtl/*.vh rtl/*.def rtl/*.h) rtl/header.awk rtl/sources
SOC_CODE    := sim/soc.cpp sim/soc.h
BOARD_CODE  := sim/board.cpp sim/board.h sim/usb_wire.h sim/usb_packet.h
MODEL_TOOLS := sim/build sim/compile

MODEL_FILES := $(patsubst %,$(SIM)/%.so,$(SOCS) $(TEST_SOCS))
LEAN_FILES  := $(filter $(SIM)/lean% $(SIM)/board-lean%,$(MODEL_FILES))
BOARD_FILES := $(filter $(SIM)/board-%,$(MODEL_FILES))
$(MODEL_FILES): $(RTL_TABLES) $(MODEL_TOOLS)
	sim/build -o $@ $(basename $(@F))
$(LEAN_FILES): $(LEAN_RTL)
$(filter-out $(LEAN_FILES),$(MODEL_FILES)): $(MACHINE_RTL)
$(BOARD_FILES): $(BOARD_RTL) $(BOARD_CODE)
$(filter-out $(BOARD_FILES),$(MODEL_FILES)): $(SOC_CODE)

# The USB core alone, for its tests.
$(SIM)/usb.so: $(wildcard rtl/board/usb*.v) rtl/board/board.def rtl/check.vh rtl/header.awk \
               $(addprefix sim/,build_usb compile usb_core.cpp usb_core.h usb_wire.h usb_packet.h)
	sim/build_usb $@

# The script beside the models, for those that are not there yet.
$(BUILD)/sim/build: | $(SIM)
	@mkdir -p $(BUILD); [ -e $(BUILD)/sim ] || ln -s $(abspath $(SIM)) $(BUILD)/sim
	ln -sf $(abspath sim/build) $@
$(SIM):
	@mkdir -p $@
models:      $(SOCS:%=$(SIM)/%.so) $(BUILD)/sim/build
test-models: $(TEST_SOCS:%=$(SIM)/%.so) $(SIM)/netlist.so models

# ---- the board's firmware -----------------------------------------------------------------

RISCV         ?= riscv64-unknown-elf-
FIRMWARE_CODE := $(sort $(wildcard firmware/*.c firmware/*.S))
FIRMWARE_TEXT := $(FIRMWARE_CODE) $(sort $(wildcard firmware/*.h)) firmware/firmware.ld \
                 rtl/board/board.def rtl/soc.def rtl/field.h
FIRMWARE_FLAGS := -march=rv32i_zicsr -mabi=ilp32 -Os -g -flto -std=c11 $(WARNINGS) \
                  -ffreestanding -nostdlib -Irtl -T firmware/firmware.ld -Wl,--no-warn-rwx-segments

# Its build number is a checksum of what it is made of.
$(BUILD)/firmware/firmware.elf: $(FIRMWARE_TEXT)
	@mkdir -p $(@D)
	$(RISCV)gcc $(FIRMWARE_FLAGS) -DFIRMWARE_BUILD=$$(cat $(FIRMWARE_TEXT) | cksum | cut -d' ' -f1)u \
	    $(FIRMWARE_CODE) -o $@
	$(RISCV)size $@

# For $$readmemh: words.
$(BUILD)/firmware/firmware.hex: $(BUILD)/firmware/firmware.elf
	$(RISCV)objcopy -O binary $< $(@:.hex=.bin)
	od -An -v -tx4 -w4 --endian=little $(@:.hex=.bin) | tr -d ' ' > $@

firmware: $(BUILD)/firmware/firmware.hex

# The smallest board with it as synthesis leaves it, for a test.
$(SIM)/netlist.so: $(LEAN_RTL) $(BOARD_RTL) $(RTL_TABLES) $(wildcard rtl/board/fpga/*) tcl/fpga/build \
                   $(FIRMWARE_TEXT) $(BOARD_CODE) sim/build_netlist sim/compile \
                   | $(BUILD)/firmware/firmware.hex
	sim/build_netlist $@ tinyfpga-bx $(BUILD)/firmware/firmware.hex

# ---- tests --------------------------------------------------------------------------------

$(OBJ)/tests/%:         INCLUDE = -Ichecker -Ihost -Iprogram -Isim -Irtl -Ifirmware -Itests -Itests/support \
                                  -I$(UNITY) $(HOST_CFLAGS) $(TEST_CFLAGS)
$(OBJ)/tests/zoo/%:     INCLUDE = -Ichecker -Ihost -Isim $(HOST_CFLAGS)
$(OBJ)/tests/bench/%:   INCLUDE = -Ichecker -Ihost -Iprogram -Isim -Irtl -Ifirmware $(HOST_CFLAGS)
$(OBJ)/tests/example_%: INCLUDE = -Ichecker
$(patsubst $(BUILD)/%,$(OBJ)/%.o,$(TESTS)) $(SUPPORT): | $(UNITY)/unity.c

$(OBJ)/unity.o: $(UNITY)/unity.c
	@mkdir -p $(@D)
	$(COMPILE) -c $< -o $@

# What tests share: the oracle, generators of executions, Unity.
$(BUILD)/libsupport.a: $(SUPPORT) $(OBJ)/unity.o
	@rm -f $@
	$(AR) rcs $@ $^

# The firmware on a board made of memory. Its inner names are its own.
$(BUILD)/libfirmware.a: $(FIRMWARE)
	@rm -f $@
	$(LD) -r -o $(OBJ)/firmware.o $^
	objcopy --wildcard --keep-global-symbol='firmware_*' $(OBJ)/firmware.o
	$(AR) rcs $@ $(OBJ)/firmware.o

INSIDE := $(BUILD)/libfirmware.a $(BUILD)/libhost.a $(BUILD)/libinside.a
$(BUILD)/tests/test_%: $(OBJ)/tests/test_%.o $(BUILD)/libsupport.a $(BUILD)/libboard.a $(INSIDE)
	@mkdir -p $(@D)
	$(LINK) -pthread $^ -Wl,--as-needed $(HOST_LIBS) $(CHECKER_LIBS) $(TEST_LIBS) -o $@

MOCK_TESTS := $(BUILD)/tests/test_usb_mock $(BUILD)/tests/test_board_usb
$(MOCK_TESTS): TEST_LIBS = $(BOARD_LIBS)
$(MOCK_TESTS:$(BUILD)/%=$(OBJ)/%.o): TEST_CFLAGS = $(BOARD_CFLAGS)

$(OBJ)/tests/support/waves_file.o: TEST_CFLAGS = -isystem $(FST_SOURCE)

# Host and board by a seed: the calls that are wrapped go to tests/simulation/.
WRAPPED := pthread_create pthread_join pthread_timedjoin_np pthread_kill pthread_setname_np \
           pthread_mutex_lock pthread_mutex_unlock pthread_cond_wait pthread_cond_timedwait \
           pthread_cond_signal pthread_cond_broadcast clock_gettime sched_getaffinity apart_write interrupted \
           interrupt_watch judge_outcome fdopen rename fsync mkdir
$(BUILD)/tests/test_simulation: $(call objects,tests/simulation/*.c)
$(BUILD)/tests/test_simulation: TEST_LIBS = $(WRAPPED:%=-Wl,--wrap=%) \
    $(BUILD)/libsupport.a $(INSIDE) $(HOST_LIBS) $(CHECKER_LIBS)

# What is loaded into the program to make its calls fail.
FAULT_TESTS := $(filter $(addprefix $(BUILD)/tests/test_,faults power regress_power),$(TESTS))
$(FAULT_TESTS): | $(BUILD)/tests/faults.so
$(BUILD)/tests/faults.so: $(wildcard tests/faults/*)
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -fPIC -shared tests/faults/interpose.c -o $@

USB_CORE_TESTS := $(filter $(BUILD)/tests/test_usb_core%,$(TESTS))
$(USB_CORE_TESTS): $(SIM)/usb.so
$(USB_CORE_TESTS): TEST_LIBS = -Wl,-rpath,$(abspath $(SIM))

$(BUILD)/tests/example_%: $(OBJ)/tests/example_%.o $(BUILD)/libordeal.a
	@mkdir -p $(@D)
	$(LINK) $^ $(CHECKER_LIBS) -o $@

# What assertions cost: the jobs of cost.c with a library behind them of which nothing else is
# visible, with all assertions, with those of a release, and with none.
COSTS := $(addprefix $(OBJ)/cost_,all.o release.o none.o)
COSTED := $(wildcard checker/*.c) tests/bench/cost.c
$(OBJ)/cost_all.o:     ASSERTIONS = -UORDEAL_RELEASE -UNDEBUG
$(OBJ)/cost_release.o: ASSERTIONS = -DORDEAL_RELEASE -UNDEBUG
$(OBJ)/cost_none.o:    ASSERTIONS = -DORDEAL_RELEASE -DNDEBUG -Wno-unused
$(foreach k,all release none,$(eval $(OBJ)/cost_$(k).o: $(COSTED:%.c=$(OBJ)/cost_$(k)/%.o)))
$(foreach k,all release none,$(eval $(OBJ)/cost_$(k)/%.o: %.c ; \
    @mkdir -p $$(@D) && $$(COMPILE) $$(ASSERTIONS) -Ichecker -MMD -MP -c $$< -o $$@))
$(COSTS):
	$(LD) -r -o $@ $(COSTED:%.c=$(@:.o=)/%.o)
	objcopy --redefine-sym cost_of=$(basename $(@F)) --keep-global-symbol=$(basename $(@F)) $@

$(BUILD)/bench: $(BENCHMARK) $(COSTS) $(BUILD)/libboard.a $(INSIDE)
	$(LINK) -pthread $^ -Wl,--as-needed $(HOST_LIBS) $(CHECKER_LIBS) -o $@

# What the pages that a browser looks at are made of.
$(BUILD)/tests/pages: $(OBJ)/tests/pages/make.o $(BUILD)/libsupport.a $(BUILD)/libboard.a $(INSIDE)
	@mkdir -p $(@D)
	$(LINK) -pthread $^ -Wl,--as-needed $(HOST_LIBS) $(CHECKER_LIBS) -o $@

$(BUILD)/zoo: $(OBJ)/tests/zoo/main.o $(CAMPAIGN) $(INSIDE)
$(BUILD)/compare: $(OBJ)/tests/zoo/compare.o $(CAMPAIGN) $(INSIDE)
$(BUILD)/zoo $(BUILD)/compare:
	$(LINK) -pthread $^ -Wl,--as-needed $(HOST_LIBS) $(CHECKER_LIBS) -o $@

# First what takes longest, of one core.
build-tests: $(SIM)/netlist.so all test-models test-programs
test-programs: $(BUILD)/runtime $(TESTS) $(EXAMPLES) $(BUILD)/zoo $(BUILD)/compare
run-tests: build-tests
	@ORDEAL=$(BUILD)/ordeal JOBS=$(JOBS) TEST_SECONDS=$(TEST_SECONDS) TIMES=$(BUILD)/tests/times \
	    tests/run $(TESTS) $(EXAMPLES)

$(BUILD)/fuzz_usbip: $(OBJ)/tests/support/wire_device.o
$(BUILD)/fuzz_page: $(OBJ)/tests/support/markup.o
$(BUILD)/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(BUILD)/libboard.a $(INSIDE)
	$(LINK) -fsanitize=fuzzer -pthread $^ -Wl,--as-needed $(HOST_LIBS) $(CHECKER_LIBS) -o $@
build-fuzzers: $(FUZZERS)

# ---- what tools say of the sources --------------------------------------------------------

C_FILES := $(wildcard $(foreach room,checker program host host/* host/*/* sim firmware tests tests/*,\
             $(room)/*.c $(room)/*.h) sim/*.cpp examples/*.cpp)
# Lines that changed since the format did: .clang-format says why not all.
SINCE  = $(call once,SINCE,git log -1 --format=%h -- .clang-format)
FORMAT = git clang-format -q --extensions c,h,cpp
CHECKED := $(filter-out tests/%,$(filter %.c,$(C_FILES)))

lint-includes:
	@tests/layers
lint-format:
	@diff=$$($(FORMAT) --diff $(SINCE)) && { [ -z "$$diff" ] || { echo "$$diff"; exit 1; }; }
	@files=$$(git ls-files -o --exclude-standard '*.c' '*.h' '*.cpp') && \
	    { [ -z "$$files" ] || clang-format --dry-run -Werror $$files; }
lint-c: $(CHECKED:%.c=$(OBJ)/%.tidy)
lint-rtl:
	@rtl/lint $(BUILD)/rtl

# .clang-tidy has the checks, and why others are left out.
$(OBJ)/%.tidy: %.c .clang-tidy $(filter-out tests/%,$(filter %.h,$(C_FILES)))
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- -std=c11 -D_GNU_SOURCE $(INCLUDE) 2> $@.log || { cat $@.log; exit 1; }
	@mv $@.log $@

# ---- what people type: set-up first, then a make of its own that sees what was installed ----

AGAIN = @$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

run: setup
	$(AGAIN) all
	@ORDEAL=$(BUILD)/ordeal DEMO=$(BUILD)/demo tests/demo

test: setup-test
	$(AGAIN) run-tests

test-usbip: setup-usbip
	$(AGAIN) all
	@ORDEAL=$(BUILD)/ordeal BOARD=$(BUILD)/ordeal-board tests/usbip $(BUILD)/usbip

# What pages look like and do, in a browser.
test-pages: setup-pages
	$(AGAIN) program $(BUILD)/tests/pages
	@ORDEAL=$(BUILD)/ordeal BROWSER=$(BUILD)/browser tests/pages/run $(BUILD)/pages

test-slurm: setup-slurm
	$(AGAIN) program
	@ORDEAL=$(BUILD)/ordeal tests/slurm/run $(BUILD)/slurm

bench: setup
	$(AGAIN) all $(BUILD)/bench
	@ORDEAL=$(BUILD)/ordeal $(BUILD)/bench $(BUILD)/bench.json

faults: setup-test
	$(AGAIN) all $(FAULT_TESTS)
	@for t in $(FAULT_TESTS); do ORDEAL=$(BUILD)/ordeal FAULTS=all $$t || exit; done

# A regression killed a hundred times, at any moment.
kills: setup-test
	$(AGAIN) all $(BUILD)/tests/test_regress
	@ORDEAL=$(BUILD)/ordeal KILLS=$(or $(KILLS),100) $(BUILD)/tests/test_regress

zoo: setup
	$(AGAIN) all $(BUILD)/zoo
	@ORDEAL=$(BUILD)/ordeal $(BUILD)/zoo $(BUILD)/zoo.json count=$(COUNT) clean=$(CLEAN) \
	    models=$(MODELS) shrink=$(SHRINK) bug=$(BUG) seed=$(SEED) jobs=$(JOBS)

# Tuned on the machine without bugs, then bugs looked for: those of the zoo, and mistakes that nothing
# was tuned for.
COMPARED = $(BUILD)/compared
compare: setup
	$(AGAIN) all $(BUILD)/compare
	@ORDEAL=$(BUILD)/ordeal COMPARE=$(BUILD)/compare tests/mistakes/compare $(COMPARED) $(SEEDS)

buckets: setup
	$(AGAIN) all
	@ORDEAL=$(BUILD)/ordeal SEED=$(or $(SEED),1) tests/buckets $(BUILD)/buckets-$(or $(SEED),1)

# Any number of seeds; what fails is told with its own.
simulate: setup-test
	$(AGAIN) $(BUILD)/tests/test_simulation
	@SEEDS=$(or $(SEEDS),10000) FIRST=$(or $(FIRST),1) $(BUILD)/tests/test_simulation

fpga: setup-fpga
	$(AGAIN) firmware
	@SERIAL=$(SERIAL) tcl/fpga/build '$(BOARD)' $(BUILD)/fpga $(BUILD)/firmware/firmware.hex

cov: setup-test
	$(AGAIN) program $(BUILD)/sim/build
	@ORDEAL=$(BUILD)/ordeal tests/cov $(BUILD)/cov

# The same sources otherwise compiled, in a folder of their own; models and Unity are as ever.
VARIANT = $(AGAIN) BUILD=$(BUILD)/$@ SIM=$(SIM) UNITY=$(UNITY)

debug: setup-test
	$(VARIANT) all test-programs CFLAGS='-O0 -g3'

# Models allocate by functions of their own (sim/soc.cpp), and libstdc++ by others on their behalf; with a
# simulated board, the program is behind LD_PRELOAD; on a full disk, the writer of waves dies by SIGBUS, in a
# process of its own whose end is looked at.
sanitize: export ASAN_OPTIONS = alloc_dealloc_mismatch=0:verify_asan_link_order=0:handle_sigbus=0
sanitize: export LSAN_OPTIONS = suppressions=$(CURDIR)/tests/leaks.supp:print_suppressions=0
sanitize: setup-test
	$(VARIANT) run-tests \
	    SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'

# Where there are threads: the pipeline of a run, also with several machines of `model` and `sim` and
# with `native`, the link to a board, whose wire is in the same process, and the search of programs by
# several workers. Libraries and models are not instrumented; what Graphviz and its like do with memory that a
# thread has had before would be taken for races, and it starts threads in processes that are forked for it.
THREADED := $(filter $(TEST_NAMES),\
              test_run test_same_run test_pipeline test_native test_board_link test_board_lost \
              test_board_machine test_explore_engine)
sanitize-thread: export TSAN_OPTIONS = ignore_noninstrumented_modules=1 die_after_fork=0
sanitize-thread: setup-test
	$(VARIANT) run-tests TESTS='$(THREADED:%=$(BUILD)/$@/tests/%)' EXAMPLES= \
	    SANITIZE='-fsanitize=thread -fno-omit-frame-pointer'

fuzz: setup-fuzz
	$(AGAIN) program
	$(VARIANT) build-fuzzers CC=clang CXX=clang++ \
	    SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
	@ORDEAL=$(BUILD)/ordeal JOBS=$(JOBS) tests/fuzz/run $(BUILD)/fuzz $(FUZZ_SECONDS)

lint: setup-lint
	$(AGAIN) lint-includes lint-format lint-c lint-rtl

format: setup-lint
	@$(FORMAT) --force $(SINCE)

# ---- install ------------------------------------------------------------------------------

TARGET = $(DESTDIR)$(PREFIX)
FILL   = sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(CHECKER_LIBS)|'
install: all
	install -d $(TARGET)/bin $(TARGET)/lib/pkgconfig $(TARGET)/include $(TARGET)/share/man/man1
	install -m 755 $(BUILD)/ordeal $(BUILD)/ordeal-board $(TARGET)/bin
	install -m 644 $(BUILD)/libordeal.a $(TARGET)/lib
	install -m 644 checker/ordeal.h $(TARGET)/include
	install -d $(TARGET)/include/ordeal
	install -m 644 sim/soc.h rtl/soc.def rtl/field.h $(TARGET)/include/ordeal
	$(FILL) checker/ordeal.pc.in > $(TARGET)/lib/pkgconfig/ordeal.pc
	install -d $(TARGET)/share/ordeal/examples
	install -m 644 LICENSE $(TARGET)/share/ordeal
	install -m 644 examples/*.bias examples/*.plan examples/mychip.cpp $(TARGET)/share/ordeal/examples
	install -d $(TARGET)/share/ordeal/tcl
	install -m 644 tcl/*.cfg tcl/*.tcl $(TARGET)/share/ordeal/tcl
	install -m 644 tcl/70-ordeal.rules $(BUILD)/firmware/firmware.elf $(BUILD)/firmware/firmware.hex \
	    $(TARGET)/share/ordeal
	install -d $(TARGET)/lib/ordeal $(TARGET)/share/ordeal/sim
	install -d $(TARGET)/share/ordeal/rtl/board $(TARGET)/share/ordeal/rtl/lean
	install -m 755 $(SOCS:%=$(SIM)/%.so) $(TARGET)/lib/ordeal
	install -m 644 $(MACHINE_RTL) $(RTL_TABLES) $(TARGET)/share/ordeal/rtl
	install -m 644 $(BOARD_RTL) $(TARGET)/share/ordeal/rtl/board
	install -m 644 $(filter rtl/lean/%,$(LEAN_RTL)) $(TARGET)/share/ordeal/rtl/lean
	install -m 644 $(SOC_CODE) $(BOARD_CODE) $(TARGET)/share/ordeal/sim
	install -m 755 $(MODEL_TOOLS) $(TARGET)/share/ordeal/sim
	install -d $(TARGET)/share/ordeal/program/runtime/include $(TARGET)/share/ordeal/program/runtime/cpp \
	  $(TARGET)/share/ordeal/program/runtime/chip
	install -m 644 program/calls.def program/chip.h $(TARGET)/share/ordeal/program
	install -m 644 $(filter-out %/include %/cpp %/chip,$(wildcard program/runtime/*)) $(TARGET)/share/ordeal/program/runtime
	install -m 644 $(wildcard program/runtime/include/*) $(TARGET)/share/ordeal/program/runtime/include
	install -m 644 $(wildcard program/runtime/cpp/*) $(TARGET)/share/ordeal/program/runtime/cpp
	install -m 644 $(wildcard program/runtime/chip/*) $(TARGET)/share/ordeal/program/runtime/chip
	$(FILL) host/ordeal.1 > $(TARGET)/share/man/man1/ordeal.1

clean:
	rm -rf $(BUILD)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
