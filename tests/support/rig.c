/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in a SoC, and their records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "rig.h"
#include "rv.h"
#include "unity.h"

const char *const rig_event_name[RIG_EVENTS] = {
#define EVENT(number, name, what) [number] = #name,
#include "soc.def"
#undef EVENT
};

static const char *const wait_words[] = {
#define WAIT(number, name, words) [number] = words,
#include "soc.def"
#undef WAIT
};

const struct soc_interface *rig_model(const struct soc_parameters *p)
{
    char why[1024] = "";
    const struct soc_interface *soc = model_open(p, NULL, why, sizeof why);
    TEST_ASSERT_NOT_NULL_MESSAGE(soc, why);
    return soc;
}

void rig_open(struct rig *r, const struct soc_interface *soc)
{
    *r = (struct rig){ .soc = soc, .s = soc->create(soc) };
    TEST_ASSERT_NOT_NULL(r->s);
}

void rig_close(struct rig *r)
{
    if (r->s)
        r->soc->destroy(r->s);
    free(r->record);
    *r = (struct rig){ .soc = NULL };
}

void rig_reset(struct rig *r, const struct soc_setup *setup, uint32_t words)
{
    static const uint32_t zero[1024];
    r->setup = *setup;
    r->records = 0;
    r->cycles = 0;
    r->soc->reset(r->s, setup);
    for (uint32_t i = 0; i < words; i += 1024)
        TEST_ASSERT_TRUE(r->soc->write_memory(r->s, 4 * i, zero,
                                              words - i < 1024 ? words - i : 1024));
}

void rig_load(struct rig *r, uint32_t hart, const struct rig_code *c)
{
    TEST_ASSERT_TRUE_MESSAGE(r->soc->write_code(r->s, hart, 0, c->word, c->count),
                             "the program is too long for the model");
}

void rig_poke(struct rig *r, uint32_t offset, uint32_t word)
{
    TEST_ASSERT_TRUE(r->soc->write_memory(r->s, offset, &word, 1));
}

/* ---- records -------------------------------------------------------------------------------- */

static bool has_address(uint32_t kind)
{
    return (kind >= REC_LOAD && kind <= REC_HINT) || kind == REC_VISIBLE;
}

static bool has_read(uint32_t kind)
{
    return kind == REC_LOAD || kind == REC_ATOMIC || kind == REC_LR || kind == REC_SC ||
           kind == REC_TX_ABORT || kind == REC_MARK || kind == REC_LOST;
}

static bool has_written(uint32_t kind)
{
    return kind == REC_STORE || kind == REC_ATOMIC || kind == REC_SC || kind == REC_VISIBLE;
}

static size_t parse(struct rig *r, const uint32_t *w, size_t count)
{
    uint32_t kind = w[0] & 15;
    size_t n = 2 + has_address(kind) + has_read(kind) + has_written(kind);
    TEST_ASSERT_TRUE_MESSAGE(kind >= REC_LOAD && kind <= REC_LOST, "no such kind of record");
    TEST_ASSERT_TRUE_MESSAGE(n <= count, "half a record");
    if (r->records == r->room) {
        r->room = r->room ? 2 * r->room : 1024;
        r->record = realloc(r->record, r->room * sizeof *r->record);
        TEST_ASSERT_NOT_NULL(r->record);
    }
    struct rig_record *x = &r->record[r->records++];
    *x = (struct rig_record){ .kind = kind, .size = w[0] >> 4 & 3, .tx = w[0] >> 6 & 1,
                              .of_visible = w[0] >> 7 & 1, .hart = w[0] >> 8 & 15,
                              .sequence = w[0] >> 12 & 255, .latency = w[0] >> 20, .cycle = w[1] };
    w += 2;
    if (has_address(kind))
        x->address = *w++;
    if (has_read(kind))
        x->read = *w++;
    if (has_written(kind))
        x->written = *w++;
    return n;
}

/* All there is of the stream, or as much as `drain` says. */
static size_t take(struct rig *r)
{
    uint32_t words[4096];
    size_t all = 0, n;
    size_t room = r->drain ? r->drain : 4096;
    while ((n = r->soc->read_capture(r->s, words, room)) > 0) {
        for (size_t at = 0; at < n;)
            at += parse(r, words + at, n - at);
        all += n;
        if (r->drain)
            break;
    }
    return all;
}

void rig_take_log(struct rig *r)
{
    uint32_t words[4096];
    size_t n;
    r->records = 0;
    while ((n = r->soc->read_log(r->s, words, 4096)) > 0)
        for (size_t at = 0; at < n;)
            at += parse(r, words + at, n - at);
}

/* A hart's sequence numbers are all there, none twice, and near where they belong. */
static bool sound(const struct rig *r, char *why, size_t size)
{
    uint32_t next[16] = { 0 }, lost = 0;
    uint64_t ahead[16] = { 0 }; /* bit i: next + i has come */
    for (size_t i = 0; i < r->records; i++) {
        const struct rig_record *x = &r->record[i];
        uint32_t distance = (x->sequence - next[x->hart]) & 255;
        lost += x->kind == REC_LOST;
        if (x->hart >= r->soc->parameters.harts) {
            snprintf(why, size, "record %zu is of hart %u", i, x->hart);
            return false;
        }
        if (x->kind == REC_VISIBLE || x->kind == REC_LOST || lost)
            continue;
        if (distance > 63 || ahead[x->hart] >> distance & 1) {
            snprintf(why, size, "hart %u: record %zu has sequence number %u, %u awaited", x->hart,
                     i, x->sequence, next[x->hart] & 255);
            return false;
        }
        ahead[x->hart] |= 1ull << distance;
        if (x->kind == REC_TX_ABORT) /* what was in flight has left no record */
            ahead[x->hart] |= (1ull << distance) - 1;
        while (ahead[x->hart] & 1) {
            ahead[x->hart] >>= 1;
            next[x->hart]++;
        }
        if (x->cycle > r->cycles || (x->latency < 0xfff && x->latency > x->cycle)) {
            snprintf(why, size, "record %zu completed in cycle %u after %u of %llu", i, x->cycle,
                     x->latency, (unsigned long long)r->cycles);
            return false;
        }
    }
    for (uint32_t h = 0; h < r->soc->parameters.harts; h++)
        if (ahead[h] && !lost) {
            snprintf(why, size, "hart %u: no record %u", h, next[h] & 255);
            return false;
        }
    return true;
}

void rig_sort(struct rig *r)
{
    struct rig_record *sorted = malloc((r->records + 1) * sizeof *sorted);
    size_t n = 0;
    TEST_ASSERT_NOT_NULL(sorted);
    for (uint32_t h = 0; h < r->soc->parameters.harts; h++) {
        size_t first = n;
        for (size_t i = 0; i < r->records; i++) {
            const struct rig_record *x = &r->record[i];
            size_t at = n;
            if (x->hart != h || x->kind == REC_VISIBLE || x->kind == REC_LOST)
                continue;
            for (; at > first && (uint8_t)(sorted[at - 1].sequence - x->sequence) < 128; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = *x;
            n++;
        }
    }
    for (size_t i = 0; i < r->records; i++)
        if (r->record[i].kind == REC_VISIBLE || r->record[i].kind == REC_LOST)
            sorted[n++] = r->record[i];
    free(r->record);
    r->record = sorted;
    r->room = r->records + 1;
}

/* ---- running -------------------------------------------------------------------------------- */

static void describe(struct rig *r, const char *what, char *why, size_t size)
{
    static const char *const model[] = { "SC", "TSO", "PSO", "RMO" };
    int n = snprintf(why, size, "%s; %s, %s, seed %u, delay %u, bug %u, cycle %llu", what,
                     r->soc->name, model[r->setup.model], r->setup.seed, r->setup.delay,
                     r->setup.bug, (unsigned long long)r->soc->cycle(r->s));
    for (uint32_t h = 0; h < r->soc->parameters.harts && n > 0 && (size_t)n < size; h++) {
        struct soc_hart state;
        r->soc->hart(r->s, h, &state);
        n += snprintf(why + n, size - (size_t)n, "; hart %u at %#x waits for %s, %#x", h, state.pc,
                      state.waits < sizeof wait_words / sizeof *wait_words
                          ? wait_words[state.waits] : "what?", state.address);
    }
}

void rig_step(struct rig *r, uint64_t cycles)
{
    while (cycles > 0) {
        uint64_t made = r->soc->step(r->s, cycles);
        size_t words = take(r);
        cycles -= made;
        if (made == 0 && words == 0)
            break;
    }
    r->cycles = r->soc->cycle(r->s);
}

bool rig_try(struct rig *r, uint64_t cycles, char *why, size_t size)
{
    char what[256];
    uint64_t made = 0;
    while (!r->soc->done(r->s)) {
        uint64_t n = r->soc->step(r->s, cycles - made < 20000 ? cycles - made : 20000);
        made += n;
        size_t words = take(r);
        if (r->soc->assertion(r->s)) {
            snprintf(what, sizeof what, "assertion %s", r->soc->assertion(r->s));
            describe(r, what, why, size);
            return false;
        }
        if (made >= cycles || (n == 0 && words == 0 && !r->soc->done(r->s))) {
            describe(r, made >= cycles ? "no end" : "the model stands still", why, size);
            return false;
        }
    }
    while (take(r) > 0)
        ;
    r->cycles = r->soc->cycle(r->s);
    if (!sound(r, what, sizeof what)) {
        describe(r, what, why, size);
        return false;
    }
    return true;
}

void rig_run(struct rig *r, uint64_t cycles)
{
    char why[2048];
    if (!rig_try(r, cycles, why, sizeof why))
        TEST_FAIL_MESSAGE(why);
}

/* ---- what came of it ------------------------------------------------------------------------ */

uint32_t rig_counter(struct rig *r, uint32_t hart, uint32_t event)
{
    return r->soc->counter(r->s, hart, event);
}

uint64_t rig_counters(struct rig *r, uint32_t event)
{
    uint64_t sum = 0;
    for (uint32_t h = 0; h < r->soc->parameters.harts; h++)
        sum += rig_counter(r, h, event);
    return sum;
}

uint32_t rig_count(const struct rig *r, uint32_t hart, uint32_t kind)
{
    uint32_t n = 0;
    for (size_t i = 0; i < r->records; i++)
        n += r->record[i].hart == hart && r->record[i].kind == kind;
    return n;
}

uint32_t rig_marks(const struct rig *r, uint32_t hart) { return rig_count(r, hart, REC_MARK); }

uint32_t rig_mark(const struct rig *r, uint32_t hart, uint32_t n)
{
    for (size_t i = 0; i < r->records; i++)
        if (r->record[i].hart == hart && r->record[i].kind == REC_MARK && n-- == 0)
            return r->record[i].read;
    TEST_FAIL_MESSAGE("a mark is missing");
    return 0;
}

/* ---- programs ------------------------------------------------------------------------------- */

void rig_emit(struct rig_code *c, uint32_t word)
{
    TEST_ASSERT_TRUE(c->count < sizeof c->word / sizeof *c->word);
    c->word[c->count++] = word;
}

void rig_li(struct rig_code *c, uint32_t rd, uint32_t value)
{
    int32_t low = (int32_t)(value << 20) >> 20;
    rig_emit(c, rv_lui(rd, value - (uint32_t)low));
    rig_emit(c, rv_addi(rd, rd, low));
}
