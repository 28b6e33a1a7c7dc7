/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts between harts, told by the marks that handlers leave.
 *
 * A hart is interrupted at most as often as others sent it an interrupt; several that come together
 * may be taken as one. An interrupt is there for certain when its sender has done something later
 * that waits for its stores. If its receiver only then comes to an operation, it must have taken one
 * since: its mark is younger than the store that sent it, for the handler marks after it has taken
 * back whatever was there. */
#include <inttypes.h>

#include "soc_records.h"

enum {
    SLACK = 64,           /* cycles until a hart has seen what is there */
    MOST_LATENCY = 0xfff, /* a record tells that, or more */
    FENCE_PRED_W = 0x50,  /* in a fence's immediate, with O */
    FENCE_SUCC_R = 0x0a,  /* with I */
};

bool soc_interrupts_add(struct soc_records *r, const struct soc_ipi *ipi)
{
    return LIST_PUSH(&r->ipis, *ipi);
}

static bool waits_for_stores(const struct soc_record *s)
{
    static const bool waits[] = {
        [SOC_REC_ATOMIC] = true,   [SOC_REC_LR] = true,   [SOC_REC_SC] = true,
        [SOC_REC_TX_BEGIN] = true, [SOC_REC_DONE] = true, [SOC_REC_LOST] = false,
    };
    if (s->kind == SOC_REC_FENCE)
        return s->address & FENCE_PRED_W && s->address & FENCE_SUCC_R;
    return s->kind < sizeof waits / sizeof *waits && waits[s->kind];
}

/* What its sender did with the interrupt there. NULL: nobody knows. */
static const struct soc_record *sent(const struct soc_records *r, const struct soc_ipi *ipi)
{
    const struct soc_hart_records *h = &r->hart[ipi->from];
    for (size_t i = ipi->record; ipi->cycle && i < h->list.count; i++)
        if (waits_for_stores(&h->list.data[i]))
            return &h->list.data[i];
    return NULL;
}

/* It was offered by an instruction that an interrupt would have come before, in a known cycle. */
static bool could_wait(const struct soc_record *s)
{
    return s->kind != SOC_REC_TX_COMMIT && s->kind != SOC_REC_TX_ABORT
        && s->completion - s->issue < MOST_LATENCY;
}

/* What the hart went on with when an interrupt had been there since `cycle`. NULL: nothing. */
static const struct soc_record *went_on(const struct soc_hart_records *h, uint32_t cycle)
{
    for (size_t i = 0; i < h->list.count; i++) {
        const struct soc_record *s = &h->list.data[i];
        if (could_wait(s) && s->issue > cycle && s->issue - cycle > SLACK)
            return s;
    }
    return NULL;
}

static bool took_one(const struct soc_hart_records *h, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < h->interrupts.count; i++)
        if (h->interrupts.data[i] >= from && h->interrupts.data[i] <= to)
            return true;
    return false;
}

/* True: it was there, and its receiver went on without taking it, which is said. */
static bool is_lost(const struct soc_records *r, const struct soc_ipi *ipi, struct why *why)
{
    const struct soc_hart_records *to = &r->hart[ipi->to];
    const struct soc_record *there = sent(r, ipi);
    const struct soc_record *next = there ? went_on(to, there->completion) : NULL;
    if (!next || took_one(to, ipi->cycle, next->completion))
        return false;
    return !why_say(why,
                    "hart %" PRIu32 " never took an interrupt that hart %" PRIu32
                    " sent at cycle %" PRIu32 ": that was done at cycle %" PRIu32
                    ", it went on at %" PRIu32,
                    ipi->to, ipi->from, ipi->cycle, there->completion, next->issue);
}

bool soc_interrupts_check(const struct soc_records *r, struct why *why)
{
    uint32_t sent_to[SOC_HARTS] = { 0 };
    for (size_t i = 0; i < r->ipis.count; i++) {
        sent_to[r->ipis.data[i].to]++;
        if (is_lost(r, &r->ipis.data[i], why))
            return false;
    }
    for (uint32_t h = 0; h < SOC_HARTS; h++) {
        const struct soc_hart_records *to = &r->hart[h];
        if (to->interrupts.count > sent_to[h])
            return why_say(why,
                           "hart %" PRIu32 " took %zu interrupts, but %" PRIu32
                           " were sent to it; the last at cycle %" PRIu32,
                           h, to->interrupts.count, sent_to[h],
                           to->interrupts.data[to->interrupts.count - 1]);
    }
    return true;
}
