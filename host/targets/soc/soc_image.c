/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_image.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "chip.h"
#include "soc_runner_parts.h"

enum {
    STEP = 1024,            /* cycles between looks */
    HART_PATIENCE = 30000,  /* a hart that retires nothing in so many cycles hangs */
    STILL_PATIENCE = 50000, /* nothing changes any more */
    DRAIN = 2048,           /* after the end, for what was on its way, ... */
    MOST_DRAIN = 65536      /* ... and if harts are very slow */
};

/* One run, while it goes on. */
struct going {
    struct soc_runner *m;
    const struct soc_image *image;
    struct soc_image_run *run;
    uint32_t *shadow;       /* words of memory as the stores so far left them */
    size_t seen[SOC_HARTS]; /* records that were looked at */
    uint64_t changed;       /* the last cycle in which something did */
    bool ending;
    uint64_t since[SOC_HARTS];
    uint32_t retired[SOC_HARTS];
};

/* ---- beginning ------------------------------------------------------------------------------ */

static bool write_code(struct soc_runner *m, const struct soc_image *image)
{
    const struct soc_interface *soc = m->plan.soc;
    bool good = true;
    for (uint32_t h = 0; good && h < soc->parameters.harts; h++)
        good = soc->write_code(m->soc, h, SOC_MAP_CODE, image->each ? image->each[h] : image->code,
                               image->code_words);
    m->image = good ? image->identity : 0;
    return good;
}

static bool begin(struct going *g, uint64_t iteration)
{
    struct soc_runner *m = g->m;
    const struct soc_image *image = g->image;
    struct random chance;
    struct soc_setup setup = soc_runner_setup(m, image->identity, iteration, &chance);
    image->memory[offsetof(struct chip, seed) / 4] = (uint32_t)random_next(&chance);
    memcpy(g->shadow, image->memory, image->memory_words * sizeof *g->shadow);
    m->plan.soc->reset(m->soc, &setup);
    m->fresh = true;
    return (m->image == image->identity || write_code(m, image))
        && m->plan.soc->write_memory(m->soc, 0, image->memory, image->memory_words)
        && (!m->fst || m->plan.soc->waves(m->soc, m->fst));
}

/* ---- what comes ----------------------------------------------------------------------------- */

static bool ends_program(uint32_t mark)
{
    return mark == CHIP_STOP || mark == CHIP_TRAP || mark == CHIP_FULL || mark == CHIP_UNKNOWN
        || mark == CHIP_BAD_FREE || mark == CHIP_BAD_UNLOCK || mark == CHIP_NO_MEMORY;
}

/* Does it change memory? What the run-time keeps for itself does not count. */
static bool changes(struct going *g, const struct soc_record *r)
{
    uint32_t offset = r->address - SOC_MAP_MEMORY, word = offset / 4, at = offset % 4;
    bool writes = r->kind == SOC_REC_STORE || r->kind == SOC_REC_ATOMIC
               || (r->kind == SOC_REC_SC && !r->read);
    if (!writes || offset < CHIP_DATA - CHIP_MEMORY || word >= g->image->memory_words)
        return false;
    uint32_t mask = r->size_log2 >= 2 ? UINT32_MAX : ((1u << (8u << r->size_log2)) - 1) << 8 * at;
    uint32_t value = (g->shadow[word] & ~mask)
                   | (r->written << (mask == UINT32_MAX ? 0 : 8 * at) & mask);
    bool other = value != g->shadow[word];
    g->shadow[word] = value;
    return other;
}

static void look_at(struct going *g, const struct soc_record *r, uint64_t now)
{
    if (changes(g, r) || r->kind == SOC_REC_MARK)
        g->changed = now;
    if (r->kind != SOC_REC_MARK || !ends_program(r->read))
        return;
    if (!g->ending || (int32_t)(r->completion - g->run->end) < 0)
        g->run->end = r->completion;
    g->ending = true;
}

static bool take(struct going *g, uint64_t now, struct why *why)
{
    struct soc_runner *m = g->m;
    for (size_t count = 1; count;) {
        count = m->plan.soc->read_capture(m->soc, m->capture, CAPTURE_WORDS);
        if (!soc_records_take(&g->run->records, m->capture, count, why))
            return false;
    }
    for (uint32_t h = 0; h < SOC_HARTS; h++) {
        const struct soc_hart_records *of = &g->run->records.hart[h];
        for (; g->seen[h] < of->list.count; g->seen[h]++)
            look_at(g, &of->list.data[g->seen[h]], now);
    }
    return true;
}

/* ---- the end -------------------------------------------------------------------------------- */

static bool is_idle(const struct soc_hart *h)
{
    return h->done || h->waits == SOC_WAIT_DONE || h->waits == SOC_WAIT_INTERRUPT;
}

/* All that happened up to the end has come: a hart's newest record is later, or it is idle and had the
 * time. */
static bool is_drained(struct going *g, uint64_t now)
{
    uint32_t after = (uint32_t)now - g->run->end;
    bool all = true;
    if (after >= MOST_DRAIN || g->m->plan.soc->done(g->m->soc))
        return true;
    for (uint32_t h = 0; h < g->m->plan.soc->parameters.harts; h++) {
        const struct soc_hart_records *of = &g->run->records.hart[h];
        uint32_t newest = of->list.count ? of->list.data[of->list.count - 1].completion : 0;
        bool later = of->list.count && (int32_t)(newest - g->run->end) > 0;
        all &= later || (is_idle(&g->run->hart[h]) && after >= DRAIN);
    }
    return all;
}

static void look_at_harts(struct going *g, uint64_t now)
{
    for (uint32_t h = 0; h < g->m->plan.soc->parameters.harts; h++) {
        struct soc_hart *state = &g->run->hart[h];
        g->m->plan.soc->hart(g->m->soc, h, state);
        if (state->instructions != g->retired[h] || is_idle(state)) {
            g->retired[h] = state->instructions;
            g->since[h] = now;
        }
    }
}

static bool hangs(struct going *g, uint64_t now, struct why *why)
{
    static const char *const words[] = {
#define WAIT(number, name, text) [number] = text,
#include "soc.def"
#undef WAIT
    };
    for (uint32_t h = 0; h < g->m->plan.soc->parameters.harts; h++) {
        const struct soc_hart *state = &g->run->hart[h];
        if (now - g->since[h] < HART_PATIENCE)
            continue;
        why_say(why, "a hart hangs, cycle %" PRIu64 "; hart %" PRIu32 " is at 0x%" PRIx32, now, h,
                state->pc);
        if (state->waits < sizeof words / sizeof *words)
            why_add(why, " and waits for %s", words[state->waits]);
        if (state->address)
            why_add(why, ", 0x%" PRIx32, state->address);
        return true;
    }
    return false;
}

/* Whether it is over, and how. */
static bool is_over(struct going *g, uint64_t now)
{
    if (g->ending)
        return is_drained(g, now);
    g->run->end = (uint32_t)now;
    g->run->how = now - g->changed >= STILL_PATIENCE ? SOC_IMAGE_STILL : SOC_IMAGE_LONG;
    return g->run->how == SOC_IMAGE_STILL || now >= g->image->most_cycles;
}

static enum target_result go(struct going *g, struct why *why)
{
    struct soc_runner *m = g->m;
    double started = now_seconds();
    for (;;) {
        double before = now_seconds();
        m->plan.soc->step(m->soc, STEP);
        m->seconds += now_seconds() - before;
        uint64_t now = m->plan.soc->cycle(m->soc);
        if (!take(g, now, why))
            return TARGET_FAILED;
        look_at_harts(g, now);
        enum target_result result = soc_runner_reach(m, why);
        if (result == TARGET_DONE)
            result = soc_runner_assertion(m, why);
        if (result != TARGET_DONE)
            return result;
        if (interrupted())
            return TARGET_STOPPED;
        if (!g->ending && hangs(g, now, why))
            return TARGET_BROKE;
        if (is_over(g, now))
            return TARGET_DONE;
        if (m->plan.timeout > 0 && now_seconds() - started > m->plan.timeout) {
            why_say(why, "no end after %g s; --timeout takes another time", m->plan.timeout);
            return TARGET_HUNG;
        }
    }
}

static enum target_result run(struct going *g, uint64_t iteration, struct why *why)
{
    bool fits = begin(g, iteration);
    enum target_result result = soc_runner_reach(g->m, why);
    if (result != TARGET_DONE)
        return result;
    if (!fits)
        return why_say(why, "the program does not fit the machine"), TARGET_FAILED;
    result = go(g, why);
    g->run->cycles = g->m->plan.soc->cycle(g->m->soc);
    g->m->cycles += g->run->cycles;
    if (g->ending)
        g->run->how = SOC_IMAGE_ENDED;
    if (result == TARGET_DONE && g->run->records.lost) {
        why_say(why, "%" PRIu64 " records were lost: what it did is not known",
                g->run->records.lost);
        result = TARGET_FAILED;
    }
    return result;
}

enum target_result soc_image_run(struct soc_runner *m, const struct soc_image *image,
                                 uint64_t iteration, struct soc_image_run *to, struct why *why)
{
    struct going g = { .m = m, .image = image, .run = to };
    soc_records_clear(&to->records);
    memset(to->hart, 0, sizeof to->hart);
    g.shadow = calloc(image->memory_words, sizeof *g.shadow);
    if (!g.shadow)
        return why_say(why, "out of memory"), TARGET_FAILED;
    enum target_result result = run(&g, iteration, why);
    free(g.shadow);
    return result;
}

bool soc_image_waves(struct soc_runner *m, const struct soc_image *image, uint64_t iteration,
                     const char *fst, struct why *why)
{
    struct soc_image_run run = { 0 };
    m->fst = fst;
    enum target_result result = soc_image_run(m, image, iteration, &run, why);
    m->fst = NULL;
    m->plan.soc->waves(m->soc, NULL);
    soc_records_free(&run.records);
    return result == TARGET_DONE || result == TARGET_BROKE;
}
