/* SPDX-License-Identifier: Apache-2.0 */
/* A choice by weights; what has no weight is left out. */
#ifndef HOST_CHOICES_H
#define HOST_CHOICES_H

#include <assert.h>
#include <stdlib.h>

#include "base/random.h"

struct choices {
    uint32_t count, most, total;
    uint32_t *upto;               /* sum of the weights up to and with this one */
    uint32_t *what;
};

/* Room for `most`. False: out of memory. choices_free() either way. */
static inline bool choices_new(struct choices *c, size_t most)
{
    *c = (struct choices){ .most = (uint32_t)most,
                           .upto = calloc(most + 1, sizeof *c->upto),
                           .what = calloc(most + 1, sizeof *c->what) };
    return c->upto && c->what;
}

static inline void choices_free(struct choices *c)
{
    free(c->upto);
    free(c->what);
}

static inline void choices_clear(struct choices *c) { c->count = c->total = 0; }

static inline void choices_add(struct choices *c, uint32_t what, uint32_t weight)
{
    if (weight == 0)
        return;
    assert(c->count < c->most);
    c->total += weight;
    c->upto[c->count] = c->total;
    c->what[c->count++] = what;
}

static inline uint32_t choose(const struct choices *c, struct random *r)
{
    uint32_t i = 0;
    assert(c->count);
    if (c->count > 1)
        for (uint32_t n = random_below(r, c->total); n >= c->upto[i];)
            i++;
    return c->what[i];
}

#endif
