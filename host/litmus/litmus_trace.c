/* SPDX-License-Identifier: Apache-2.0 */
/* A candidate of a litmus test as a trace. A register of the trace is an access of the thread: what
 * needs its value reads it. */
#include "litmus/litmus_run.h"

#include <string.h>

#include "litmus/litmus_condition.h"

static enum ordeal_status add_uses(struct ordeal_trace *t, uint64_t events,
                                   enum ordeal_register_use use)
{
    enum ordeal_status status = ORDEAL_OK;
    for (uint32_t n = 0; events && !status; n++, events >>= 1)
        if (events & 1)
            status = ordeal_trace_uses_register(t, n, use);
    return status;
}

/* Is the value of event n needed? Others write no register. */
static bool is_needed(const struct litmus_part *part, uint32_t n)
{
    uint64_t needed = 0;
    for (uint32_t i = n + 1; i < part->events; i++)
        needed |= part->event[i].address_of | part->event[i].data_of | part->event[i].control_of;
    return needed >> n & 1;
}

static enum ordeal_status add_event(struct ordeal_trace *t, const struct litmus_part *part,
                                    uint32_t n, uint32_t thread, const uint32_t *base)
{
    const struct litmus_event *e = &part->event[n];
    struct ordeal_op op = { .kind = e->kind,
                            .size_log2 = e->size_log2,
                            .flags = e->flags,
                            .thread = thread,
                            .line = e->line };
    op.barrier = e->extra;
    if (e->kind != ORDEAL_MEMBAR) {
        bool stores = e->kind != ORDEAL_LOAD && e->kind != ORDEAL_LOAD_RESERVED;
        bool answers = e->kind != ORDEAL_STORE;
        op.base = base[e->location];
        op.address = e->offset;
        op.read = answers ? e->read : 0;
        op.write = stores ? e->operand : 0;
        op.flags |= answers ? ORDEAL_HAS_VALUE : 0;
    }
    enum ordeal_status status = ordeal_trace_add(t, &op, 0);
    if (!status && is_needed(part, n))
        status = ordeal_trace_writes_register(t, n);
    if (!status)
        status = add_uses(t, e->address_of, ORDEAL_REGISTER_ADDRESS);
    if (!status)
        status = add_uses(t, e->data_of, ORDEAL_REGISTER_DATA);
    return status ? status : add_uses(t, e->control_of, ORDEAL_REGISTER_CONTROL);
}

static enum ordeal_status add_locations(struct ordeal_trace *t, const struct litmus *test,
                                        uint32_t *base)
{
    enum ordeal_status status = ORDEAL_OK;
    for (uint32_t i = 0; i < test->locations.count && !status; i++) {
        const struct litmus_location *l = &test->locations.data[i];
        status = ordeal_trace_name(t, l->name, strlen(l->name), &base[i]);
        if (!status && l->initial)
            status = ordeal_trace_init(t, base[i], 0, l->size_log2,
                                       litmus_cut(l->initial, l->size_log2));
    }
    return status;
}

static enum ordeal_status add_finals(struct ordeal_trace *t, const struct litmus *test,
                                     const uint64_t *final, const uint32_t *base)
{
    enum ordeal_status status = ORDEAL_OK;
    for (size_t i = 0; i < test->variables.count && !status; i++) {
        const struct litmus_variable *v = &test->variables.data[i];
        if (v->thread == LITMUS_THREADS)
            status = ordeal_trace_final(t, base[v->number], 0,
                                        test->locations.data[v->number].size_log2, final[i]);
    }
    return status;
}

struct ordeal_trace *litmus_trace(struct ordeal *o, const struct litmus *test,
                                  const struct litmus_part *part, const uint64_t *final,
                                  enum ordeal_model model)
{
    uint32_t base[LITMUS_LOCATIONS], thread = 0;
    struct ordeal_trace *t = ordeal_trace_new(o);
    if (!t)
        return NULL;
    ordeal_trace_claim(t, model);
    enum ordeal_status status = ordeal_trace_atomic(t, 8);
    if (!status)
        status = add_locations(t, test, base);
    for (uint32_t p = 0; p < test->threads && !status; p++) {
        status = ordeal_trace_thread(t, p, &thread);
        for (uint32_t n = 0; n < part[p].events && !status; n++)
            status = add_event(t, &part[p], n, thread, base);
    }
    if (!status)
        status = add_finals(t, test, final, base);
    if (!status)
        return t;
    ordeal_trace_free(t);
    return NULL;
}
