/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_runner_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "test/program_walk.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"

enum {
    CHUNK = 4096,          /* cycles between looks at the harts */
    HART_PATIENCE = 50000, /* a hart that retires nothing in so many cycles hangs */
    ALL_PATIENCE = 20000,  /* if none does, so many are enough */
    DELAY_LEVELS = 6,
    MOST_SKEW = 127,
};
/* A test that takes longer does not end: harts run, but get nowhere. */
#define MOST_CYCLES UINT64_C(500000)
#define MOST_CYCLES_OF_OPERATION UINT64_C(20000)

/* TARGET_DONE: it can be reached. */
enum target_result soc_runner_reach(const struct soc_runner *m, struct why *why)
{
    const char *lost = m->plan.soc->lost ? m->plan.soc->lost(m->soc) : NULL;
    if (!lost)
        return TARGET_DONE;
    why_say(why, "%s", lost);
    return interrupted() ? TARGET_STOPPED : TARGET_LOST;
}

void soc_runner_free(struct soc_runner *m)
{
    if (!m)
        return;
    if (m->soc)
        m->plan.soc->destroy(m->soc);
    soc_code_free(&m->code);
    soc_records_free(&m->records);
    soc_final_free(&m->final);
    free(m->capture);
    free(m->values);
    free(m);
}

struct soc_runner *soc_runner_new(const struct soc_runner_plan *plan)
{
    struct soc_runner *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->plan = *plan;
    m->soc = plan->soc->create(plan->soc);
    m->capture = malloc(CAPTURE_WORDS * sizeof *m->capture);
    if (m->soc && m->capture)
        return m;
    soc_runner_free(m);
    return NULL;
}

enum { OPERATION_BYTES = 48 }; /* of code, on average of the longest tests of small ones */

struct abilities soc_runner_can(const struct soc_runner *m)
{
    const struct soc_parameters *has = &m->plan.soc->parameters;
    return (struct abilities){
        .threads = has->harts,
        .registers = SOC_REGISTERS,
        .load_sizes = 0x7f,
        .store_sizes = 0x7f,
        .swap_sizes = 1 << 2,
        .cas_sizes = 1 << 2,
        .amo_sizes = 1 << 2,
        .transactions = has->transactions,
        .interrupts = true,
        .flush = true,
        .uncached = true,
        .nonfaulting = true,
        .memory = has->memory_bytes,
        .operations = has->code_bytes / OPERATION_BYTES,
    };
}

struct machine_claims soc_runner_claims(const struct soc_runner *m)
{
    static const enum ordeal_model models[] = { [SOC_SC] = ORDEAL_SC, [SOC_TSO] = ORDEAL_TSO,
                                                [SOC_PSO] = ORDEAL_PSO, [SOC_RMO] = ORDEAL_RMO };
    return (struct machine_claims){ .model = models[m->plan.setup.model],
                                    .atomic = 4,
                                    .final = m->plan.final && m->plan.soc->read_memory,
                                    .visible = m->plan.setup.visible,
                                    .cycles = m->plan.cycles };
}

uint64_t soc_runner_cycles(const struct soc_runner *m) { return m->cycles; }
double soc_runner_seconds(const struct soc_runner *m) { return m->seconds; }

bool soc_runner_delay(struct soc_runner *m, int level)
{
    assert(level <= 7);
    m->delay_held = m->plan.vary_delay && level >= 0;
    m->delay = level < 0 ? 0 : (uint32_t)level;
    return m->plan.vary_delay;
}

bool soc_runner_coverage(struct soc_runner *m, const char *file)
{
    return m->plan.soc->coverage(m->soc, file);
}

/* ---- making ready --------------------------------------------------------------------------- */

static uint64_t cycles_of_delays(const struct program *p)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < p->threads; t++) {
        struct walker w = program_walk(p, t, 0);
        for (const struct instruction *i; (i = program_step(&w)); )
            sum += i->kind == ORDEAL_DELAY ? i->count : 0;
    }
    return sum;
}

enum target_result soc_runner_load(struct soc_runner *m, const struct program *p, struct why *why)
{
    const struct soc_parameters *has = &m->plan.soc->parameters;
    struct machine_claims claims = soc_runner_claims(m);
    soc_code_free(&m->code);
    free(m->values);
    m->values = calloc(program_words(p, &claims) + 1, sizeof *m->values);
    if (!m->values || !soc_code_make(&m->code, p, has, claims.final)
        || !soc_final_plan(&m->final, p))
        return why_say(why, "out of memory"), TARGET_FAILED;
    for (uint32_t t = 0; t < p->threads; t++)
        if (has->code_bytes && m->code.hart[t].count > has->code_bytes / 4) {
            why_say(why, "the code of P%" PRIu32 " takes %" PRIu32 " bytes; a hart has %" PRIu32,
                    p->thread[t].number, m->code.hart[t].count * 4, has->code_bytes);
            return TARGET_FAILED;
        }
    m->fresh = true;
    m->image = 0;
    m->identity = program_identity(p);
    /* A transaction may wait again in every try. */
    m->most_cycles = MOST_CYCLES + MOST_CYCLES_OF_OPERATION * p->operations
                   + cycles_of_delays(p) * (p->retries ? SOC_MOST_TRIES : 2);
    return TARGET_DONE;
}

static bool write_start(struct soc_runner *m, uint64_t iteration, struct random *chance)
{
    const struct soc_interface *soc = m->plan.soc;
    const struct program *p = m->code.p;
    bool good = true;
    for (uint32_t h = 0; good && h < soc->parameters.harts; h++) {
        uint32_t start[SOC_START_WORDS];
        if (h >= p->threads) {
            good = !m->fresh || soc->write_code(m->soc, h, SOC_MAP_CODE, soc_code_idle, 2);
            continue;
        }
        const struct soc_hart_code *code = &m->code.hart[h];
        if (m->fresh)
            good = soc->write_code(m->soc, h, SOC_MAP_CODE, code->words, code->count);
        uint32_t skew = random_below(chance, MOST_SKEW + 1) >> random_below(chance, 8);
        soc_code_start(p, h, iteration, skew, start);
        good = good && soc->write_code(m->soc, h, SOC_MAP_CODE, start, SOC_START_WORDS);
    }
    m->fresh = false;
    return good;
}

static bool write_memory(struct soc_runner *m)
{
    const struct program *p = m->code.p;
    for (uint32_t l = 0; l < p->lines; l++) {
        const struct program_line *line = &p->line[l];
        uint32_t words[LINE_BYTES / 4];
        for (uint32_t w = 0; w < LINE_BYTES / 4; w++) {
            const uint8_t *b = &line->initial[w * 4];
            words[w] = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        }
        if (!line->faulting && !m->plan.soc->write_memory(m->soc, (uint32_t)line->place, words,
                                                          LINE_BYTES / 4))
            return false;
    }
    return true;
}

/* The same seed, program and iteration give the same run, cycle by cycle. */
struct soc_setup soc_runner_setup(const struct soc_runner *m, uint64_t identity, uint64_t iteration,
                                  struct random *chance)
{
    struct soc_setup setup = m->plan.setup;
    random_seed(chance, m->plan.seed ^ identity, iteration);
    setup.seed = (uint32_t)random_next(chance);
    if (m->delay_held) /* without chance: as if the options said it, for replays do */
        setup.delay = m->delay;
    else if (m->plan.vary_delay)
        setup.delay = random_below(chance, DELAY_LEVELS);
    return setup;
}

static bool start(struct soc_runner *m, uint64_t iteration)
{
    struct random chance;
    struct soc_setup setup = soc_runner_setup(m, m->identity, iteration, &chance);
    m->plan.soc->reset(m->soc, &setup);
    memset(m->progress, 0, sizeof m->progress);
    soc_records_clear(&m->records);
    return write_start(m, iteration, &chance) && write_memory(m)
           && (!m->fst || m->plan.soc->waves(m->soc, m->fst));
}

/* ---- the watchdog --------------------------------------------------------------------------- */

/* As the test calls it. */
static void say_location(struct why *why, const struct program *p, uint32_t address)
{
    uint32_t from = address >= SOC_MAP_MEMORY ? SOC_MAP_MEMORY : SOC_MAP_UNCACHED;
    uint64_t place = (address - from) & ~(uint64_t)(LINE_BYTES - 1);
    uint32_t offset = (address - from) % LINE_BYTES;
    for (uint32_t l = 0; address >= SOC_MAP_UNCACHED && l < p->lines; l++) {
        const struct program_line *line = &p->line[l];
        if (line->faulting || line->place != place)
            continue;
        if (!line->base)
            why_add(why, " 0x%" PRIx64 " at", line->address + offset);
        else if (line->address + offset == 0)
            why_add(why, " %s at", ordeal_trace_name_text(p->test, line->base));
        else
            why_add(why, " %s+%" PRIu64 " at", ordeal_trace_name_text(p->test, line->base),
                    line->address + offset);
        break;
    }
    why_add(why, " 0x%" PRIx32, address);
}

static void say_operation(struct why *why, const struct soc_runner *m, uint32_t hart, uint32_t pc)
{
    const struct soc_hart_code *code = &m->code.hart[hart];
    uint32_t word = (pc - SOC_MAP_CODE) / 4;
    char text[128];
    if (hart >= m->code.p->threads || word >= code->count || code->origin[word] < 0) {
        why_add(why, "at 0x%" PRIx32, pc);
        return;
    }
    const struct instruction *i = &m->code.p->thread[hart].code[code->origin[word]];
    ordeal_trace_format(m->code.p->test, i->op, text, sizeof text);
    why_add(why, "at %s", text);
}

/* Who is not done, where it is and what it waits for. */
static void say_harts(struct why *why, struct soc_runner *m)
{
    static const char *const words[] = {
#define WAIT(number, name, text) [number] = text,
#include "soc.def"
#undef WAIT
    };
    uint64_t now = m->plan.soc->cycle(m->soc);
    for (uint32_t h = 0; h < m->plan.soc->parameters.harts; h++) {
        struct soc_hart state = { 0 };
        m->plan.soc->hart(m->soc, h, &state);
        if (state.done)
            continue;
        why_add(why, "; hart %" PRIu32 " is ", h);
        say_operation(why, m, h, state.pc);
        if (m->progress[h].since == now) {
            why_add(why, " and runs: it retires instructions");
            continue;
        }
        if (state.waits < sizeof words / sizeof *words)
            why_add(why, " and waits for %s", words[state.waits]);
        if (state.address) {
            why_add(why, ",");
            say_location(why, m->code.p, state.address);
        }
        why_add(why, ", for %" PRIu64 " cycles", now - m->progress[h].since);
    }
}

static enum target_result stands_still(struct soc_runner *m, struct why *why, const char *reason)
{
    why_say(why, "%s, cycle %" PRIu64, reason, m->plan.soc->cycle(m->soc));
    say_harts(why, m);
    return TARGET_BROKE;
}

/* Does everybody who is not done get on? */
static enum target_result watch(struct soc_runner *m, struct why *why)
{
    uint64_t now = m->plan.soc->cycle(m->soc), latest = 0;
    bool hangs = false, all_done = true;
    for (uint32_t h = 0; h < m->plan.soc->parameters.harts; h++) {
        struct progress_of_hart *was = &m->progress[h];
        struct soc_hart state = { 0 };
        m->plan.soc->hart(m->soc, h, &state);
        if (state.instructions != was->instructions)
            *was = (struct progress_of_hart){ state.instructions, now };
        if (state.done)
            continue;
        all_done = false;
        latest = was->since > latest ? was->since : latest;
        hangs |= now - was->since >= HART_PATIENCE;
    }
    if (all_done)
        return now > m->most_cycles ? stands_still(m, why, "records do not come out") : TARGET_DONE;
    if (hangs)
        return stands_still(m, why, "a hart hangs");
    if (now - latest >= ALL_PATIENCE)
        return stands_still(m, why, "all harts hang");
    if (now > m->most_cycles)
        return stands_still(m, why, "the test comes to no end");
    return TARGET_DONE;
}

/* ---- one iteration -------------------------------------------------------------------------- */

static bool read_capture(struct soc_runner *m, struct why *why)
{
    size_t count;
    do {
        count = m->plan.soc->read_capture(m->soc, m->capture, CAPTURE_WORDS);
        if (!soc_records_take(&m->records, m->capture, count, why))
            return false;
    } while (count);
    return true;
}

enum target_result soc_runner_assertion(struct soc_runner *m, struct why *why)
{
    const char *assertion = m->plan.setup.bug ? NULL : m->plan.soc->assertion(m->soc);
    if (!assertion)
        return TARGET_DONE;
    why_say(why, "assertion %.600s, cycle %" PRIu64, assertion, m->plan.soc->cycle(m->soc));
    return TARGET_BROKE;
}

static enum target_result go(struct soc_runner *m, struct why *why)
{
    enum target_result result = TARGET_DONE;
    double started = now_seconds();
    while (result == TARGET_DONE) {
        double before = now_seconds();
        m->plan.soc->step(m->soc, CHUNK);
        double now = now_seconds();
        m->seconds += now - before;
        result = soc_runner_reach(m, why);
        if (result != TARGET_DONE)
            return result;
        if (!read_capture(m, why))
            return TARGET_FAILED;
        result = soc_runner_assertion(m, why);
        if (result != TARGET_DONE || m->plan.soc->done(m->soc))
            return result;
        result = interrupted() ? TARGET_STOPPED : watch(m, why);
        enum target_result there = soc_runner_reach(m, why);
        if (there != TARGET_DONE)
            return there;
        if (result == TARGET_DONE && m->plan.timeout > 0 && now - started > m->plan.timeout) {
            char reason[64];
            snprintf(reason, sizeof reason, "no end after %g s", m->plan.timeout);
            stands_still(m, why, reason);
            result = TARGET_HUNG;
        }
    }
    return result;
}

static enum target_result run_once(struct soc_runner *m, uint64_t iteration, struct why *why)
{
    struct machine_claims claims = soc_runner_claims(m);
    bool fits = start(m, iteration);
    if (soc_runner_reach(m, why)
        == TARGET_LOST) { /* nothing has run yet, so once more, with all its code */
        m->fresh = true;
        fits = start(m, iteration);
    }
    enum target_result result = soc_runner_reach(m, why);
    if (result != TARGET_DONE)
        return result == TARGET_LOST ? TARGET_FAILED : result;
    if (!fits)
        return why_say(why, "the test does not fit the model"), TARGET_FAILED;
    result = go(m, why);
    m->cycles += m->plan.soc->cycle(m->soc);
    if (result != TARGET_DONE)
        return result;
    if (m->records.lost) {
        why_say(why,
                "%" PRIu64 " records were lost: what it did is not "
                "known",
                m->records.lost);
        return TARGET_FAILED;
    }
    return soc_records_values(&m->records, &m->code, iteration, &claims, m->values, why)
             ? TARGET_DONE
             : TARGET_BROKE;
}

static void count_events(struct soc_runner *m, struct event_counts *to)
{
    for (uint32_t h = 0; h < m->plan.soc->parameters.harts; h++)
        for (uint32_t e = 0; e < SOC_EVENTS; e++) {
            uint32_t count = m->plan.soc->counter(m->soc, h, e);
            to->sum[e] += count;
            if (to->most[e] < count)
                to->most[e] = count;
        }
}

/* What the test left in memory. */
static enum target_result read_finals(struct soc_runner *m, struct why *why)
{
    const struct program *p = m->code.p;
    if (!soc_runner_claims(m).final)
        return TARGET_DONE;
    if (!soc_final_read(&m->final, p, m->plan.soc, m->soc, m->values + p->slots))
        return why_say(why, "the machine's memory cannot be read"), TARGET_FAILED;
    return soc_runner_reach(m, why);
}

enum target_result soc_runner_one(struct soc_runner *m, uint64_t iteration,
                                  const struct target_sink *sink, struct why *why)
{
    enum target_result result = interrupted() ? TARGET_STOPPED : run_once(m, iteration, why);
    if (result == TARGET_DONE && m->plan.events)
        count_events(m, m->plan.events);
    if (result == TARGET_DONE) /* last of all: it may end the run for good */
        result = read_finals(m, why);
    if (result == TARGET_DONE && !sink->outcome(sink->user, iteration, m->values))
        result = TARGET_STOPPED;
    return result;
}

enum target_result soc_runner_run(struct soc_runner *m, const struct program *p, uint64_t first,
                                  uint64_t count, const struct target_sink *sink, struct why *why)
{
    enum target_result result = soc_runner_load(m, p, why);
    for (uint64_t i = first; result == TARGET_DONE && i - first < count; i++)
        result = soc_runner_one(m, i, sink, why);
    return result;
}

bool soc_runner_waves(struct soc_runner *m, const struct program *p, uint64_t iteration,
                      const char *fst, struct why *why)
{
    enum target_result result = soc_runner_load(m, p, why);
    m->fst = fst;
    if (result == TARGET_DONE)
        result = run_once(m, iteration, why);
    m->fst = NULL;
    m->plan.soc->waves(m->soc, NULL);
    return result == TARGET_DONE || result == TARGET_BROKE;
}
