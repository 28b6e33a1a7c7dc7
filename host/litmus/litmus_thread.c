/* SPDX-License-Identifier: Apache-2.0 */
/* The thread is run again and again from its beginning, each time by the next script: what
 * chooses last chooses differently first. */
#include "litmus/litmus_thread.h"

#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"

static void begin(struct litmus_machine *m)
{
    const struct litmus_thread *thread = &m->test->thread[m->thread];
    for (uint32_t r = 0; r < LITMUS_REGISTERS; r++) {
        m->reg[r].value = thread->initial[r];
        m->reg[r].needs = 0;
    }
    memset(&m->compared, 0, sizeof m->compared);
    m->next = 0;
    m->control = 0;
    m->reserved = -1;
    m->events = 0;
    m->script->at = 0;
}

enum outcome { ENDED, CUT, REFUSED };

/* `back`: by instruction, how often the way came back to it. */
static enum outcome go(struct litmus_machine *m, uint32_t unroll, uint32_t *back)
{
    const struct litmus_thread *thread = &m->test->thread[m->thread];
    bool (*step)(struct litmus_machine *, const struct litmus_instruction *) = m->test->arch
                                                                                    == LITMUS_RISCV
                                                                                 ? litmus_riscv_step
                                                                                 : litmus_x86_step;
    memset(back, 0, thread->code.count * sizeof *back);
    begin(m);
    while (m->next < thread->code.count) {
        uint32_t here = m->next;
        if (!step(m, &thread->code.data[here]))
            return REFUSED;
        if (m->next <= here && ++back[m->next] > unroll)
            return CUT;
    }
    return ENDED;
}

static bool next_script(struct litmus_script *s)
{
    while (s->count && s->choice[s->count - 1].chosen + 1 == s->choice[s->count - 1].of)
        s->count--;
    if (!s->count)
        return false;
    s->choice[s->count - 1].chosen++;
    return true;
}

static bool keep(const struct litmus_machine *m, struct litmus_ways *ways)
{
    struct litmus_way way = { ways->event.count, ways->value.count, m->events };
    for (uint32_t i = 0; i < m->events; i++)
        if (!LIST_PUSH(&ways->event, m->event[i]))
            return false;
    for (size_t i = 0; i < m->test->variables.count; i++) {
        const struct litmus_variable *v = &m->test->variables.data[i];
        if (v->thread == m->thread && !LIST_PUSH(&ways->value, m->reg[v->number].value))
            return false;
    }
    return LIST_PUSH(&ways->way, way);
}

static bool follow(struct litmus_machine *m, const struct litmus_thread_options *how,
                   uint32_t *back, struct litmus_ways *ways)
{
    struct ordeal_error *e = m->where->error;
    uint64_t tried = 0;
    do {
        if (tried++ == how->most || (tried % 1024 == 0 && interrupted())) {
            error_bad(e, m->where->file, 0, "thread %u goes more than %llu ways", m->thread,
                      (unsigned long long)tried - 1);
            e->status = ORDEAL_LIMIT;
            return false;
        }
        switch (go(m, how->unroll, back)) {
        case REFUSED: return false;
        case CUT: ways->cut = true; break;
        case ENDED:
            if (!keep(m, ways))
                return error_out_of_memory(e, m->where->file);
        }
    } while (next_script(m->script));
    return true;
}

bool litmus_thread_ways(const struct litmus *test, uint32_t thread,
                        const struct litmus_known *known, const struct litmus_thread_options *how,
                        struct litmus_lexer *where, struct litmus_ways *ways)
{
    struct litmus_script script = { 0 };
    struct litmus_machine m = {
        .test = test, .known = known, .script = &script, .where = where, .thread = thread
    };
    uint32_t *back = calloc(test->thread[thread].code.count + 1, sizeof *back);
    if (!back)
        return error_out_of_memory(where->error, where->file);
    bool fine = follow(&m, how, back, ways);
    free(back);
    return fine;
}

void litmus_ways_clear(struct litmus_ways *ways)
{
    ways->way.count = ways->event.count = ways->value.count = 0;
    ways->cut = false;
}

void litmus_ways_free(struct litmus_ways *ways)
{
    LIST_FREE(&ways->way);
    LIST_FREE(&ways->event);
    LIST_FREE(&ways->value);
}

static uint64_t dependent_stores(const struct litmus_ways *ways)
{
    uint64_t most = 0;
    for (size_t w = 0; w < ways->way.count; w++) {
        uint64_t stores = 0;
        for (uint32_t n = 0; n < ways->way.data[w].events; n++) {
            const struct litmus_event *e = &ways->event.data[ways->way.data[w].event + n];
            stores += e->writes && (e->data_of || e->address_of || e->computed);
        }
        most = stores > most ? stores : most;
    }
    return most;
}

uint64_t litmus_thread_stores(const struct litmus *test, uint32_t thread, uint32_t unroll,
                              const struct litmus_ways *ways)
{
    const struct litmus_thread *t = &test->thread[thread];
    uint64_t stores = 0, loops = 0, branches = 0;
    for (uint32_t i = 0; i < t->code.count; i++) {
        const struct litmus_instruction *at = &t->code.data[i];
        bool x86 = at->kind > LITMUS_FENCE && at->kind != LITMUS_COMPARE;
        stores += at->kind == LITMUS_STORE || at->kind == LITMUS_SC || at->kind == LITMUS_AMO
               || (x86 && at->operand[0].kind == LITMUS_MEMORY);
        branches += at->kind == LITMUS_BRANCH || at->kind == LITMUS_CMPXCHG;
        loops += at->kind == LITMUS_BRANCH && at->target <= i;
    }
    if (!branches)
        return dependent_stores(ways);
    for (; loops && stores < LITMUS_EVENTS; loops--)
        stores *= 1 + (uint64_t)unroll;
    return stores < LITMUS_EVENTS ? stores : LITMUS_EVENTS;
}
