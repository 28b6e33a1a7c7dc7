/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which stores became visible: what the hart wrote is found among what was seen. */
#include "soc_records.h"

/* Stores of a hart to one word become visible in program order: the first that is alike is it. */
static int by_place(const void *a, const void *b)
{
    const struct soc_visible *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

/* What a transaction stores is there for all when it commits, or never. */
static void settle_transactions(struct soc_hart_records *h)
{
    size_t kept = 0, at = 0;
    for (size_t v = 0; v < h->visible.count; v++) {
        struct soc_visible *seen = &h->visible.data[v];
        if (seen->in_transaction) {
            const struct soc_record *end = NULL;
            for (; at < h->list.count && !end; at += !end) {
                const struct soc_record *r = &h->list.data[at];
                if ((r->kind == SOC_REC_TX_COMMIT || r->kind == SOC_REC_TX_ABORT)
                    && r->completion >= seen->cycle)
                    end = r;
            }
            if (!end || end->kind == SOC_REC_TX_ABORT)
                continue;
            seen->cycle = end->completion;
        }
        h->visible.data[kept++] = *seen;
    }
    h->visible.count = kept;
}

bool soc_order_add(struct soc_records *r, const struct soc_write *w)
{
    return LIST_PUSH(&r->writes, *w);
}

static struct soc_visible *find(struct soc_hart_records *h, const struct soc_write *w)
{
    size_t low = 0, high = h->visible.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->visible.data[middle].address < w->address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < h->visible.count && h->visible.data[low].address == w->address; low++) {
        struct soc_visible *v = &h->visible.data[low];
        if (!v->taken && v->written == w->value && v->size_log2 == w->size_log2)
            return v;
    }
    return NULL;
}

struct moment { uint32_t cycle, arrival; uint64_t operation; };

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

void soc_order_rank(struct soc_records *r, uint64_t *ranks)
{
    LIST(struct moment) moments = { 0 };
    for (uint32_t h = 0; h < SOC_HARTS; h++) {
        settle_transactions(&r->hart[h]);
        if (r->hart[h].visible.count)
            qsort(r->hart[h].visible.data, r->hart[h].visible.count,
                  sizeof *r->hart[h].visible.data, by_place);
    }
    for (size_t i = 0; i < r->writes.count; i++) {
        const struct soc_write *w = &r->writes.data[i];
        struct soc_visible *v = find(&r->hart[w->hart], w);
        struct moment m = { w->cycle, (uint32_t)i, w->operation };
        if (v) {
            m = (struct moment){ v->cycle, v->arrival, w->operation };
            v->taken = true;
        }
        if (m.cycle && !LIST_PUSH(&moments, m))
            break;
    }
    if (moments.count)
        qsort(moments.data, moments.count, sizeof *moments.data, by_time);
    for (size_t i = 0; i < moments.count; i++)
        ranks[moments.data[i].operation] = i + 1;
    LIST_FREE(&moments);
}
