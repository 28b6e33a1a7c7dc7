/* SPDX-License-Identifier: Apache-2.0 */
// The interface of soc.h for a model that Verilator made of rtl/.
//
// sim/build compiles it together with the model and says by SOC_* what that was made with. Each
// model is a shared object of its own in which nothing but soc_interface is visible.
#include "Vsoc.h"
#include "verilated.h"
#include "verilated_syms.h"
#if SOC_CHECKS
#include "Vsoc__Dpi.h"
#endif
#if SOC_WAVES
#include "verilated_fst_c.h"
#endif

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "field.h"
#include "soc.h"

namespace {

enum {
#define NUMBER(name, bits, value) name = value,
    MAP_NUMBERS_BEGIN = 0,
#include "soc.def"
#undef NUMBER
};

// Which word of a record is what; 0: it has none. As soc.def says, and not as the hardware does.
struct Shape {
    unsigned address, read, written;
    constexpr unsigned words() const { return 2 + !!address + !!read + !!written; }
};
constexpr Shape shape(uint32_t head)
{
    switch (FIELD_GET(head, REC_HEAD_KIND)) {
#define RECORD(number, name, address, read, written, text) \
    case number: \
        return { address, read, written };
#include "soc.def"
#undef RECORD
    default: return {};
    }
}
constexpr unsigned longest()
{
    unsigned most = 0;
    for (uint32_t kind = 0; kind < 16; kind++)
        if (shape(FIELD_PUT(REC_HEAD_KIND, kind)).words() > most)
            most = shape(FIELD_PUT(REC_HEAD_KIND, kind)).words();
    return most;
}

enum {
    WORDS = 1 << 16,    // of the stream that wait for read_capture
    LONGEST = longest() // words of a record
};

// Words that come record by record and are taken so. What was taken is dropped at the end.
class Records {
    std::vector<uint32_t> words;
    size_t taken = 0, whole = 0; // the part of a record behind `whole` is not complete yet

public:
    void clear() { words.clear(); taken = whole = 0; }
    bool empty() const { return taken == words.size(); }
    bool full() const { return words.size() - taken > WORDS - LONGEST; }
    void add(uint32_t word) { words.push_back(word); }
    // The words since the last end are a record; false: they are not.
    bool end()
    {
        bool fine = words.size() - whole == shape(words[whole]).words();
        whole = words.size();
        return fine;
    }
    size_t take(uint32_t *to, size_t room)
    {
        size_t from = taken, n;
        while (taken < whole && (n = shape(words[taken]).words()) <= room - (taken - from))
            taken += n;
        size_t count = taken - from;
        if (count)
            memcpy(to, &words[from], count * sizeof *to);
        if (taken == words.size())
            clear();
        return count;
    }
};

} // namespace

struct soc {
    VerilatedContext context;
    Vsoc top;
    uint32_t *memory, *code[SOC_HARTS]; // the model's own arrays
    uint64_t cycle = 0, time = 0;       // time goes on over resets, for waves
    Records stream, log;
    bool logs = false, failed = false, stopped = false, no_memory = false;
    char failure[512];
#if SOC_WAVES
    std::unique_ptr<VerilatedFstC> waves;
    uint64_t origin = 0;                // time of cycle 0
#endif

    // Without threads of Verilator's, which a model of one thread does not need, and whose end allocates.
    soc() : top((context.threads(1), &context), "") {}
};

// Whose model this thread is running: assertions and records are functions without an object. So
// are parts of Verilator's library, which look for the context of the thread.
static thread_local struct soc *current;

static void enter(struct soc *s)
{
    current = s;
    Verilated::threadContextp(&s->context);
}

#if SOC_CHECKS
void soc_assertion_failed(const char *name)
{
    struct soc *s = current;
    const char *file = "";
    int line = 0;
    if (s->failed)
        return;
    svScope scope = svGetScope();
    svGetCallerInfo(&file, &line);
    const char *slash = strrchr(file, '/');
    s->failed = true;
    s->stopped = s->top.bug_i == 0;
    snprintf(s->failure, sizeof s->failure, "%s (%s, %s:%d)", name,
             scope ? svGetNameFromScope(scope) : "?", slash ? slash + 1 : file, line);
}

void soc_log_record(int hart, int kind, int size, int tx, int seq, int issue, int cycle, int addr,
                    int read, int written)
{
    struct soc *s = current;
    if (!s->logs)
        return;
    uint32_t took = uint32_t(cycle) - uint32_t(issue);
    uint32_t most = FIELD_GET(REC_HEAD_LATENCY, REC_HEAD_LATENCY);
    uint32_t words[LONGEST];
    words[0] = FIELD_PUT(REC_HEAD_KIND, kind) | FIELD_PUT(REC_HEAD_SIZE, size)
             | FIELD_PUT(REC_HEAD_TX, tx) | FIELD_PUT(REC_HEAD_HART, hart)
             | FIELD_PUT(REC_HEAD_SEQUENCE, seq)
             | FIELD_PUT(REC_HEAD_LATENCY, took > most ? most : took);
    words[1] = uint32_t(cycle);
    Shape has = shape(words[0]);
    if (has.address)
        words[has.address] = uint32_t(addr);
    if (has.read)
        words[has.read] = uint32_t(read);
    if (has.written)
        words[has.written] = uint32_t(written);
    for (unsigned i = 0; i < has.words(); i++)
        s->log.add(words[i]);
    s->log.end();
}
#endif

static void tick(struct soc *s)
{
    s->time += 10;
    s->top.clk_i = 1;
    s->top.eval();
#if SOC_WAVES
    if (s->waves)
        s->waves->dump(s->time - s->origin);
#endif
    s->top.clk_i = 0;
    s->top.eval();
#if SOC_WAVES
    if (s->waves)
        s->waves->dump(s->time - s->origin + 5);
#endif
}

static uint32_t *array(struct soc *s, const char *scope)
{
    const VerilatedScope *found = s->context.scopeFind(scope);
    const VerilatedVar *var = found ? found->varFind("array") : nullptr;
    return var ? static_cast<uint32_t *>(var->datap()) : nullptr;
}

static void soc_destroy(struct soc *s)
{
    if (!s)
        return;
    enter(s);
#if SOC_WAVES
    if (s->waves)
        s->waves->close();
#endif
    s->top.final();
    delete s;
}

static void soc_reset(struct soc *s, const struct soc_setup *setup)
{
    enter(s);
    s->stream.clear();
    s->log.clear();
    s->failed = s->stopped = s->no_memory = false;
    s->logs = setup->log;
    s->top.model_i = setup->model;
    s->top.bug_i = SOC_BUGS ? setup->bug : 0;
    s->top.seed_i = setup->seed;
    s->top.level_i = setup->delay;
    s->top.lossy_i = setup->capture == SOC_CAPTURE_LOSSY;
    s->top.visible_i = setup->visible;
    s->top.out_ready_i = s->top.out_room_i = 1;
    s->top.peek_hart_i = 15;
    s->top.rst_i = 1;
    for (int i = 0; i < 3; i++)
        tick(s);
    s->top.rst_i = 0;
    s->cycle = 0;
#if SOC_WAVES
    s->origin = s->time;
#endif
}

// While a model is made, memory that is out is no exception: Verilator's constructors destroy scopes that
// they have not configured yet, which crashes. What there is of the model by then stays where it is.
static thread_local jmp_buf *way_out;

void *operator new(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory && way_out)
        longjmp(*way_out, 1);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

void *operator new[](size_t size) { return operator new(size); }
void operator delete(void *memory) noexcept { free(memory); }
void operator delete(void *memory, size_t) noexcept { free(memory); }
void operator delete[](void *memory) noexcept { free(memory); }
void operator delete[](void *memory, size_t) noexcept { free(memory); }

// Verilator does not look whether it got a copy.
extern "C" char *strdup(const char *text) noexcept
{
    size_t size = strlen(text) + 1;
    char *copy = static_cast<char *>(malloc(size));
    if (!copy && way_out)
        longjmp(*way_out, 1);
    return copy ? static_cast<char *>(memcpy(copy, text, size)) : nullptr;
}

static struct soc *make_soc()
{
    try {
        std::unique_ptr<struct soc> s(new struct soc);
#if SOC_WAVES
        s->context.traceEverOn(true);
#endif
        enter(s.get());
        s->top.eval();
        s->memory = array(s.get(), "soc.memory");
        bool fine = s->memory;
        for (int h = 0; h < SOC_HARTS; h++) {
            std::string scope = "soc.harts[" + std::to_string(h) + "].tile.code";
            s->code[h] = array(s.get(), scope.c_str());
            fine = fine && s->code[h];
        }
        if (!fine) {
            fprintf(stderr, "%s: the model has no memory\n", SOC_NAME);
            return nullptr;
        }
        struct soc_setup setup = {};
        soc_reset(s.get(), &setup);
        return s.release();
    } catch (const std::exception &) { // of memory, or of a thread that Verilator starts
        return nullptr;
    }
}

static struct soc *soc_create(const struct soc_interface *)
{
    jmp_buf here;
    if (setjmp(here)) {
        way_out = nullptr;
        return nullptr;
    }
    way_out = &here;
    struct soc *s = make_soc();
    way_out = nullptr;
    return s;
}

static bool within(uint32_t bytes, uint32_t offset, uint32_t count)
{
    return offset % 4 == 0 && offset <= bytes && count <= (bytes - offset) / 4;
}

static bool soc_write_code(struct soc *s, uint32_t hart, uint32_t address, const uint32_t *words,
                           uint32_t count)
{
    if (hart >= SOC_HARTS || !within(SOC_CODE_BYTES, address, count))
        return false;
    memcpy(s->code[hart] + address / 4, words, count * sizeof *words);
    return true;
}

static bool soc_write_memory(struct soc *s, uint32_t offset, const uint32_t *words, uint32_t count)
{
    if (!within(SOC_MEMORY_BYTES, offset, count))
        return false;
    memcpy(s->memory + offset / 4, words, count * sizeof *words);
    return true;
}

static bool soc_read_memory(struct soc *s, uint32_t offset, uint32_t *words, uint32_t count)
{
    if (!within(SOC_MEMORY_BYTES, offset, count))
        return false;
    memcpy(words, s->memory + offset / 4, count * sizeof *words);
    return true;
}

static void make_cycle(struct soc *s)
{
    // The word that is valid now is taken by the edge.
    if (s->top.out_valid_o) {
        s->stream.add(s->top.out_data_o);
        if (s->top.out_last_o && !s->stream.end()) {
            s->failed = s->stopped = true;
            snprintf(s->failure, sizeof s->failure, "capture_record_length (soc.cpp)");
        }
    }
    tick(s);
    s->cycle++;
}

static uint64_t soc_step(struct soc *s, uint64_t cycles)
{
    uint64_t made = 0;
    enter(s);
    try {
        for (; made < cycles && !s->top.idle_o && !s->stopped && !s->stream.full(); made++)
            make_cycle(s);
    } catch (const std::exception &) { // of memory: what it did is not known
        s->no_memory = s->stopped = true;
    }
    return made;
}

static const char *soc_lost(const struct soc *s)
{
    return s->no_memory ? "out of memory" : nullptr;
}

static bool soc_done(const struct soc *s)
{
    return s->top.idle_o && s->stream.empty();
}

static uint64_t soc_cycle(const struct soc *s)
{
    return s->cycle;
}

static size_t soc_read_capture(struct soc *s, uint32_t *words, size_t room)
{
    return s->stream.take(words, room);
}

static size_t soc_read_log(struct soc *s, uint32_t *words, size_t room)
{
    return s->log.take(words, room);
}

// No clock: nothing but the port's own answer changes. In between it is at a hart that there
// hardly is, which costs the model least.
static uint32_t peek(struct soc *s, uint32_t hart, uint32_t which)
{
    enter(s);
    s->top.peek_hart_i = hart;
    s->top.peek_i = which;
    s->top.eval();
    s->top.peek_hart_i = 15;
    return s->top.peek_o;
}

static uint32_t soc_counter(struct soc *s, uint32_t hart, uint32_t event)
{
    return hart < SOC_HARTS && event < PEEK_PC ? peek(s, hart, event) : 0;
}

static void soc_hart(struct soc *s, uint32_t hart, struct soc_hart *state)
{
    memset(state, 0, sizeof *state);
    if (hart >= SOC_HARTS)
        return;
    state->done = s->top.done_o >> hart & 1;
    state->pc = peek(s, hart, PEEK_PC);
    state->waits = peek(s, hart, PEEK_WAIT);
    state->address = peek(s, hart, PEEK_WAIT_ADDRESS);
    state->instructions = peek(s, hart, PEEK_INSTRUCTIONS);
}

static const char *soc_assertion(const struct soc *s)
{
    return s->failed ? s->failure : nullptr;
}

static bool soc_waves(struct soc *s, const char *file)
{
#if SOC_WAVES
    enter(s);
    if (s->waves)
        s->waves->close();
    s->waves.reset();
    if (!file)
        return true;
    s->waves.reset(new (std::nothrow) VerilatedFstC);
    if (!s->waves)
        return false;
    s->top.trace(s->waves.get(), 99);
    s->waves->open(file);
    if (s->waves->isOpen())
        return true;
    s->waves.reset();
    return false;
#else
    (void)s;
    return !file;
#endif
}

static bool soc_coverage(struct soc *s, const char *file)
{
#if SOC_COVERAGE
    s->context.coveragep()->write(file);
    return true;
#else
    (void)s, (void)file;
    return false;
#endif
}

extern "C" __attribute__((visibility("default"))) const struct soc_interface soc_interface = {
    SOC_VERSION,
    SOC_NAME,
    { SOC_HARTS, SOC_SETS, SOC_WAYS, SOC_LINE_WORDS * 4, SOC_STORE_BUFFER, SOC_LOAD_QUEUE,
      SOC_MEMORY_BYTES, SOC_CODE_BYTES, SOC_CAPTURE, SOC_TRANSACTIONS, SOC_BUGS, SOC_WAVES,
      SOC_COVERAGE, SOC_CHECKS, SOC_LEAN },
    soc_create,
    soc_destroy,
    soc_reset,
    soc_write_code,
    soc_write_memory,
    soc_read_memory,
    soc_step,
    soc_done,
    soc_cycle,
    soc_read_capture,
    soc_read_log,
    soc_counter,
    soc_hart,
    soc_assertion,
    soc_waves,
    soc_coverage,
    soc_lost,
};
