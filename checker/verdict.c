/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a verdict: the accessors of ordeal.h, and its end. */
#include "verdict.h"

#include <string.h>

void ordeal_verdict_free(struct ordeal_verdict *v)
{
    if (!v)
        return;
    struct ordeal *o = v->o;
    VEC_FREE(o, &v->order);
    VEC_FREE(o, &v->core);
    VEC_FREE(o, &v->proof.steps);
    VEC_FREE(o, &v->proof.literals);
    VEC_FREE(o, &v->proof.edges);
    execution_free(v->x);
    mem_free(o, v, sizeof *v);
}

enum ordeal_result ordeal_verdict_result(const struct ordeal_verdict *v) { return v->result; }
enum ordeal_model ordeal_verdict_model(const struct ordeal_verdict *v) { return v->model; }
/* None where a limit was reached before there were any. */
uint32_t ordeal_verdict_events(const struct ordeal_verdict *v) { return v->x ? v->x->events : 0; }
const char *ordeal_verdict_note(const struct ordeal_verdict *v) { return v->note; }
uint32_t ordeal_verdict_unwritten(const struct ordeal_verdict *v) { return v->unwritten; }

uint32_t ordeal_verdict_unwritten_final(const struct ordeal_verdict *v, uint64_t *value)
{
    const struct execution *x = v->x;
    if (v->result != ORDEAL_FAIL || v->unwritten != NONE || x->unwritten_final == NONE)
        return ORDEAL_NONE;
    const struct final *f = &x->final[x->unwritten_final];
    *value = execution_final_value(x, f);
    return f->loc;
}

size_t ordeal_verdict_steps(const struct ordeal_verdict *v) { return v->proof.steps.count; }

bool ordeal_verdict_counter(const struct ordeal_verdict *v, size_t i, const char **name,
                            uint64_t *value)
{
    static const struct { const char *name; size_t offset; } table[] = {
#define COUNTER(NAME) { #NAME, offsetof(struct counters, NAME) },
        COUNTERS
#undef COUNTER
    };
    if (i >= sizeof table / sizeof *table)
        return false;
    *name = table[i].name;
    memcpy(value, (const char *)&v->counters + table[i].offset, sizeof *value);
    return true;
}

void ordeal_verdict_event(const struct ordeal_verdict *v, uint32_t event, struct ordeal_event *out)
{
    const struct execution *x = v->x;
    assert(event < ordeal_verdict_events(v));
    *out = (struct ordeal_event){
        .store = x->is_store[event],
        .op = x->op[event],
        .thread = event_thread(x, event),
        .value = x->value[event],
    };
    execution_location_name(x, x->loc[event], out->location, sizeof out->location);
}

size_t ordeal_verdict_order(const struct ordeal_verdict *v, const struct ordeal_place **places)
{
    *places = v->order.data;
    return v->order.count;
}

size_t ordeal_verdict_core(const struct ordeal_verdict *v, const uint32_t **ops)
{
    *ops = v->core.data;
    return v->core.count;
}

void ordeal_verdict_step(const struct ordeal_verdict *v, size_t i, struct ordeal_step *out)
{
    assert(i < v->proof.steps.count);
    const struct proof_step *s = &v->proof.steps.data[i];
    assert(s->literal_count <= v->proof.literals.count - s->literal_first);
    assert(s->edge_count <= v->proof.edges.count - s->edge_first);
    *out = (struct ordeal_step){
        .literals = s->literal_count ? v->proof.literals.data + s->literal_first : NULL,
        .literal_count = s->literal_count,
        .edges = s->edge_count ? v->proof.edges.data + s->edge_first : NULL,
        .edge_count = s->edge_count,
    };
}

const char *ordeal_rule_name(enum ordeal_rule r)
{
    static const char *const names[] = {
#define ORDEAL_RULE(NAME, SHORT, TEXT) SHORT,
        ORDEAL_RULES
#undef ORDEAL_RULE
    };
    assert((unsigned)r < ORDEAL_RULE_COUNT);
    return names[r];
}

const char *ordeal_rule_text(enum ordeal_rule r)
{
    static const char *const texts[] = {
#define ORDEAL_RULE(NAME, SHORT, TEXT) TEXT,
        ORDEAL_RULES
#undef ORDEAL_RULE
    };
    assert((unsigned)r < ORDEAL_RULE_COUNT);
    return texts[r];
}
