/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts between harts, told by the marks that handlers leave.
 *
 * A hart is interrupted at most as often as others sent it an interrupt; several that come together
 * may be taken as one. An interrupt is there for certain when its sender is done. If its receiver
 * only then comes to its own end, it must have taken one since: its mark is younger than the store
 * that sent it, for the handler marks after it has taken back whatever was there. */
#include <inttypes.h>

#include "soc_records.h"

enum {
    SLACK = 64,           /* cycles until a hart has seen what is there */
    MOST_LATENCY = 0xfff, /* a record tells that, or more */
};

bool soc_interrupts_add(struct soc_records *r, const struct soc_ipi *ipi)
{
    return LIST_PUSH(&r->ipis, *ipi);
}

static const struct soc_record *end_of(const struct soc_hart_records *h)
{
    const struct soc_record *last = h->list.count ? &h->list.data[h->list.count - 1] : NULL;
    return last && last->kind == SOC_REC_DONE ? last : NULL;
}

/* Was it there while its receiver still ran, and not taken? */
static bool is_lost(const struct soc_records *r, const struct soc_ipi *ipi)
{
    const struct soc_hart_records *to = &r->hart[ipi->to];
    const struct soc_record *sent = end_of(&r->hart[ipi->from]), *end = end_of(to);
    if (!ipi->cycle || !sent || !end || end->completion - end->issue >= MOST_LATENCY)
        return false;
    return end->issue > sent->completion && end->issue - sent->completion > SLACK
        && to->last_interrupt < ipi->cycle;
}

static bool say_lost(const struct soc_records *r, const struct soc_ipi *ipi, struct why *why)
{
    return why_say(why,
                   "hart %" PRIu32 " never took an interrupt that hart %" PRIu32
                   " sent at cycle %" PRIu32 ": that was done at cycle %" PRIu32
                   ", it ran on until %" PRIu32,
                   ipi->to, ipi->from, ipi->cycle, end_of(&r->hart[ipi->from])->completion,
                   end_of(&r->hart[ipi->to])->issue);
}

bool soc_interrupts_check(const struct soc_records *r, struct why *why)
{
    uint32_t sent[SOC_HARTS] = { 0 };
    for (size_t i = 0; i < r->ipis.count; i++) {
        const struct soc_ipi *ipi = &r->ipis.data[i];
        sent[ipi->to]++;
        if (is_lost(r, ipi))
            return say_lost(r, ipi, why);
    }
    for (uint32_t h = 0; h < SOC_HARTS; h++)
        if (r->hart[h].interrupts > sent[h])
            return why_say(why,
                           "hart %" PRIu32 " took %" PRIu32 " interrupts, but %" PRIu32
                           " were sent to it; the last at cycle %" PRIu32,
                           h, r->hart[h].interrupts, sent[h], r->hart[h].last_interrupt);
    return true;
}
