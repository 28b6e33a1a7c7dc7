/* SPDX-License-Identifier: Apache-2.0 */
// A machine of your own behind sim/soc.h, for `ordeal run --target sim --soc FILE`. The top is one
// of Verilator with a capture unit and, as on a board, a loader: its ports are those of rtl/soc.v,
// so that this builds as it stands, in the directory above:
//
//   awk -f rtl/header.awk rtl/soc.def rtl/zoo.def > soc.vh
//   verilator --cc --exe --build -Wno-lint -Wno-style -I. -Irtl --top-module soc --prefix Vmychip \
//       -CFLAGS "-fPIC -I$PWD/sim -I$PWD/rtl" -LDFLAGS -shared rtl/*.v "$PWD/examples/mychip.cpp" \
//       -o mychip.so
//   ordeal run --target sim --soc obj_dir/mychip.so --check --count 100
#include <deque>

#include "Vmychip.h"
#include "soc.h"

#ifndef HARTS // as the top was built with: -GNHARTS=, -GSETS=, -GWAYS=, -GMEMORY_WORDS= and so on
#define HARTS 4
#define SETS 16
#define WAYS 2
#define MEMORY_BYTES 65536
#define CODE_BYTES 16384
#endif

enum {
#define NUMBER(name, bits, value) name = static_cast<int>(value),
#include "soc.def"
#undef NUMBER
};

struct soc {
    VerilatedContext context;
    Vmychip top{&context};
    uint64_t cycle = 0;
    std::deque<uint32_t> stream; // words of the capture unit,
    std::deque<size_t> records;  // and how many each record has
    size_t length = 0;           // of the one that is coming
};

// Before the edge: the word that is valid is taken by it.
static void tick(soc *s)
{
    if (s->top.out_valid_o) {
        s->stream.push_back(s->top.out_data_o);
        s->length++;
        if (s->top.out_last_o) {
            s->records.push_back(s->length);
            s->length = 0;
        }
    }
    s->top.clk_i = 1;
    s->top.eval();
    s->top.clk_i = 0;
    s->top.eval();
}

static soc *create(const struct soc_interface *) { return new soc; }
static void destroy(soc *s) { delete s; }

static void reset(soc *s, const soc_setup *how)
{
    s->top.model_i = how->model;
    s->top.bug_i = how->bug;
    s->top.seed_i = how->seed;
    s->top.level_i = how->delay;
    s->top.lossy_i = how->capture == SOC_CAPTURE_LOSSY;
    s->top.visible_i = how->visible;
    s->top.out_ready_i = 1;
    s->top.rst_i = 1; // until the first step
    for (int i = 0; i < 3; i++)
        tick(s);
    s->cycle = 0;
    s->stream.clear();
    s->records.clear();
    s->length = 0;
}

// ---- the loader, while the machine is in reset -----------------------------------------------

static bool write(soc *s, uint32_t size, uint32_t offset, const uint32_t *words, uint32_t count)
{
    if (offset % 4 || offset > size || count > (size - offset) / 4)
        return false;
    s->top.load_valid_i = 1;
    for (uint32_t i = 0; i < count; i++) {
        s->top.load_addr_i = offset + 4 * i;
        s->top.load_data_i = words[i];
        tick(s);
    }
    s->top.load_valid_i = 0;
    return true;
}

static bool write_code(soc *s, uint32_t hart, uint32_t address, const uint32_t *words,
                       uint32_t count)
{
    s->top.load_code_i = 1;
    s->top.load_hart_i = hart;
    return hart < HARTS && write(s, CODE_BYTES, address, words, count);
}

static bool write_memory(soc *s, uint32_t offset, const uint32_t *words, uint32_t count)
{
    s->top.load_code_i = 0;
    return write(s, MEMORY_BYTES, offset, words, count);
}

// Through the loader, which ends the run: what is read comes a cycle later.
static bool read_memory(soc *s, uint32_t offset, uint32_t *words, uint32_t count)
{
    if (offset % 4 || offset > MEMORY_BYTES || count > (MEMORY_BYTES - offset) / 4)
        return false;
    s->top.rst_i = 1;
    s->top.load_code_i = 0;
    for (uint32_t i = 0; i < count; i++) {
        s->top.load_addr_i = offset + 4 * i;
        tick(s);
        words[i] = s->top.load_data_o;
    }
    return true;
}

// ---- running ---------------------------------------------------------------------------------

static uint64_t step(soc *s, uint64_t cycles)
{
    uint64_t made = 0;
    s->top.rst_i = 0;
    s->top.eval();
    for (; made < cycles && !s->top.idle_o; made++)
        tick(s);
    s->cycle += made;
    return made;
}

static bool done(const soc *s) { return s->top.idle_o && s->stream.empty(); }
static uint64_t cycle(const soc *s) { return s->cycle; }

static size_t read_capture(soc *s, uint32_t *words, size_t room)
{
    size_t taken = 0;
    while (!s->records.empty() && s->records.front() <= room - taken) {
        for (size_t i = 0; i < s->records.front(); i++) {
            words[taken++] = s->stream.front();
            s->stream.pop_front();
        }
        s->records.pop_front();
    }
    return taken;
}

static uint32_t peek(soc *s, uint32_t hart, uint32_t which)
{
    s->top.peek_hart_i = hart;
    s->top.peek_i = which;
    s->top.eval();
    return s->top.peek_o;
}

static uint32_t counter(soc *s, uint32_t hart, uint32_t event)
{
    return hart < HARTS && event < PEEK_PC ? peek(s, hart, event) : 0;
}

static void hart(soc *s, uint32_t number, soc_hart *state)
{
    state->done = s->top.done_o >> number & 1;
    state->pc = peek(s, number, PEEK_PC);
    state->waits = peek(s, number, PEEK_WAIT);
    state->address = peek(s, number, PEEK_WAIT_ADDRESS);
    state->instructions = peek(s, number, PEEK_INSTRUCTIONS);
}

// ---- what it does not have -------------------------------------------------------------------

static size_t read_log(soc *, uint32_t *, size_t) { return 0; }
static const char *assertion(const soc *) { return nullptr; }
static bool no_file(soc *, const char *) { return false; }

static soc_parameters parameters()
{
    soc_parameters p = {};
    p.harts = HARTS;
    p.sets = SETS; // of a cache: what else has to be loaded for a line to be replaced
    p.ways = WAYS;
    p.line_bytes = 16;
    p.memory_bytes = MEMORY_BYTES;
    p.code_bytes = CODE_BYTES;
    p.transactions = p.bugs = true;
    return p;
}

extern "C" const soc_interface soc_interface = {
    SOC_VERSION, "mychip", parameters(), create, destroy, reset, write_code, write_memory,
    read_memory, step, done, cycle, read_capture, read_log, counter, hart, assertion,
    no_file /* waves */, no_file /* coverage */, nullptr /* lost: it cannot be */,
};
