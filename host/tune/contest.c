/* SPDX-License-Identifier: Apache-2.0 */
#include "contest.h"

#include <assert.h>
#include <math.h>

/* Numbers of tests that the search does not come to. */
static const uint64_t FIRST = UINT64_C(1) << 40;

void contest_add(struct contest *c, const char *name, const struct bias *bias)
{
    assert(c->count < CONTESTANTS);
    c->who[c->count++] = (struct contestant){ .bias = bias, .curve.name = name };
}

void contest_free(struct contest *c)
{
    for (int i = 0; i < c->count; i++)
        LIST_FREE(&c->who[i].curve.points);
    c->count = 0;
}

/* Those that lag behind, so that all have cost about the same whenever it ends. */
int contest_choose(struct contest *c, struct batch batches[MOST_BATCHES])
{
    double most = 0;
    int count = 0;
    for (int i = 0; i < c->count; i++)
        most = fmax(most, c->who[i].cost);
    bool level = contest_cost(c) >= most;
    for (int i = 0; i < c->count; i++)
        if (c->who[i].cost < c->cost && (level || c->who[i].cost < most))
            batches[count++] = (struct batch){ .bias = c->who[i].bias,
                                               .first = FIRST + c->who[i].tests,
                                               .count = c->batch,
                                               .owner = &c->who[i] };
    return count;
}

double contest_cost(const struct contest *c)
{
    double least = c->cost;
    for (int i = 0; i < c->count; i++)
        least = fmin(least, c->who[i].cost);
    return least;
}

uint64_t contest_reached(const struct contest *c, const struct contestant *who)
{
    uint64_t reached = 0;
    for (size_t i = 0; i < who->curve.points.count; i++)
        if (who->curve.points.data[i].x <= contest_cost(c))
            reached = (uint64_t)who->curve.points.data[i].y;
    return reached;
}

static bool take_test(struct contestant *who, const struct tune_test *t)
{
    cover_hits_add(&who->seen, &t->hits);
    who->cost += (double)t->cost;
    who->tests++;
    who->reached = cover_hits_count(&who->seen);
    struct plot_point *last = who->curve.points.data + who->curve.points.count;
    if (who->curve.points.count && last[-1].y == (double)who->reached)
        return true; /* only where it rises, and at the end */
    return LIST_PUSH(&who->curve.points, ((struct plot_point){ who->cost, (double)who->reached }));
}

bool contest_take(struct contest *c, const struct batch *batches, int count,
                  const struct tune_round *round)
{
    (void)c;
    size_t at = 0;
    bool good = true;
    for (int i = 0; i < count; i++)
        for (uint64_t k = 0; good && k < batches[i].count; k++)
            good = take_test(batches[i].owner, &round->tests.data[at++]);
    return good;
}
