/* SPDX-License-Identifier: Apache-2.0 */
#include "native_plan.h"

/* Rough costs of an operation in ns, to tell how much to do at once. */
static const uint16_t costs[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = 20,   [ORDEAL_STORE] = 20,       [ORDEAL_SWAP] = 50,    [ORDEAL_CAS] = 50,
    [ORDEAL_MEMBAR] = 30, [ORDEAL_TX_BEGIN] = 100,   [ORDEAL_PREFETCH] = 5, [ORDEAL_FLUSH] = 200,
    [ORDEAL_EVICT] = 200, [ORDEAL_INTERRUPT] = 3000, [ORDEAL_AMO] = 60,
};
static const double fault_cost = 3000, delay_cost = 1 / 3.0;

static double thread_cost(const struct program *p, const struct program_thread *t)
{
    double sum = 0, rounds = 1;
    for (uint32_t at = 0; at < t->length; at++) {
        const struct instruction *i = &t->code[at];
        double cost = costs[i->kind];
        if (i->kind == ORDEAL_DELAY)
            cost = i->count * delay_cost;
        if (i->kind == ORDEAL_LOAD && p->line[i->line].faulting)
            cost = fault_cost;
        if (i->kind == ORDEAL_LOOP_BEGIN)
            rounds = i->count;
        sum += cost * rounds + 1;
        if (i->kind == ORDEAL_LOOP_END)
            rounds = 1;
    }
    return sum;
}

/* At least 1. */
static double at_most(double bound, double wanted)
{
    double least = wanted < bound ? wanted : bound;
    return least < 1 ? 1 : least;
}

struct native_plan native_plan(const struct program *p, uint32_t cores)
{
    const double job_ns = 10e6, job_bytes = 16 << 20, most_iterations = 32768;
    const double cached_bytes = 64 << 10, spread_bytes = 64 << 20;
    const double group_ns = 3e3, crowded_group_ns = 50e3;
    uint64_t words = (uint64_t)p->slots + p->finals;
    struct native_plan plan = { .gathered = words <= NATIVE_GATHERED,
                                .stride = p->memory > LINE_BYTES ? p->memory : LINE_BYTES };
    bool crowded = p->threads > cores;
    double cost = 1;
    for (uint32_t t = 0; t < p->threads; t++) {
        double c = thread_cost(p, &p->thread[t]);
        cost = c > cost ? c : cost;
    }
    if (crowded)
        cost *= (double)p->threads / cores;
    double count = at_most(job_bytes / (8.0 * (double)words + 1), job_ns / cost);
    plan.count = (uint32_t)at_most(most_iterations, count);
    double instances = at_most(spread_bytes / (double)plan.stride,
                               cached_bytes / (LINE_BYTES * (p->lines + 1.0)));
    plan.instances = (uint32_t)at_most(plan.count, instances);
    plan.group = (uint32_t)at_most(plan.instances,
                                   (crowded ? crowded_group_ns : group_ns) / cost);
    return plan;
}
