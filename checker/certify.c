/* SPDX-License-Identifier: Apache-2.0 */
/* The certifier: re-proves verdicts from the axioms, sharing no code with the search. */
#include "certify.h"

#include <string.h>

_Static_assert(ORDEAL_MODELS == 7, "a new model is to be told here, too");
uint8_t certify_assumed_membar(enum ordeal_model m)
{
    static const uint8_t assumed[ORDEAL_MODELS] = {
        [ORDEAL_SC] = ORDEAL_FULL,                        /* OpOp */
        [ORDEAL_TSO] = ORDEAL_LL | ORDEAL_LS | ORDEAL_SS, /* LoadOp, StoreStore */
        [ORDEAL_PSO] = ORDEAL_LL | ORDEAL_LS,             /* LoadOp */
        [ORDEAL_PC] = ORDEAL_LL | ORDEAL_LS | ORDEAL_SS,  /* LoadOp, StoreStore */
        [ORDEAL_RMO] = 0,
        [ORDEAL_RVWMO] = 0,
        [ORDEAL_RVTSO] = ORDEAL_LL | ORDEAL_LS
                       | ORDEAL_SS, /* Ztso: loads acquire, stores release */
    };
    assert((unsigned)m < ORDEAL_MODELS);
    return assumed[m];
}

void *scratch_zero(struct scratch *s, size_t count, size_t size)
{
    assert(s->count < SCRATCH_BLOCKS);
    void *p = mem_zero(s->o, count, size);
    if (p) {
        s->block[s->count].pointer = p;
        s->block[s->count++].bytes = count * size;
    }
    return p;
}

void *scratch_none(struct scratch *s, size_t count)
{
    void *p = scratch_zero(s, count, sizeof(uint32_t));
    if (p)
        memset(p, 0xff, count * sizeof(uint32_t));
    return p;
}

void scratch_free(struct scratch *s)
{
    while (s->count) {
        s->count--;
        mem_free(s->o, s->block[s->count].pointer, s->block[s->count].bytes);
    }
}

enum ordeal_status scratch_status(const struct scratch *s)
{
    enum ordeal_status status = s->o->error.status;
    assert(status == ORDEAL_NO_MEMORY || status == ORDEAL_LIMIT);
    return status;
}

const char *certify_event_text(const struct execution *x, uint32_t event, char text[EVENT_TEXT])
{
    char name[EVENT_TEXT - 16];
    assert(event < x->events);
    if (x->op[event] != NONE) {
        ordeal_trace_format(x->trace, x->op[event], text, EVENT_TEXT);
    } else {
        execution_location_name(x, x->loc[event], name, sizeof name);
        snprintf(text, EVENT_TEXT, "initial %s", name);
    }
    return text;
}

bool certify_has_marks(const struct execution *x)
{
    uint8_t marks = 0;
    for (uint32_t g = 0; g < x->groups; g++)
        marks |= x->group_flags[g] & (GROUP_ACQUIRE | GROUP_RELEASE | GROUP_RCSC);
    return marks || x->reservations;
}

/* The model and the execution must fit before anything else makes sense. */
static enum ordeal_status check_frame(const struct ordeal_verdict *v)
{
    if ((unsigned)v->model >= ORDEAL_MODELS)
        return fail(v->o, ORDEAL_INTERNAL, "there is no memory model %u", (unsigned)v->model);
    for (uint32_t g = 0; certify_has_views(v->model) && g < v->x->groups; g++)
        if (v->x->group_flags[g] & GROUP_TX)
            return fail(v->o, ORDEAL_INTERNAL, "PC has no transactions, the trace has");
    if (certify_has_views(v->model) && certify_has_marks(v->x))
        return fail(v->o, ORDEAL_INTERNAL, "PC has no marks, LR and SC, the trace has");
    return ORDEAL_OK;
}

static enum ordeal_status check_result(const struct ordeal_verdict *v)
{
    switch (v->result) {
    case ORDEAL_PASS: return certify_order(v);
    case ORDEAL_FAIL: return certify_proof(v);
    case ORDEAL_UNDECIDED: return ORDEAL_OK;
    }
    return fail(v->o, ORDEAL_INTERNAL, "there is no verdict %u", (unsigned)v->result);
}

enum ordeal_status certify(const struct ordeal_verdict *v)
{
    size_t used = v->o->used;
    enum ordeal_status status = check_frame(v);
    if (status == ORDEAL_OK)
        status = certify_amos(v->x);
    if (status == ORDEAL_OK)
        status = check_result(v);
    assert(v->o->used == used); /* all scratch is given back */
    return status;
}
