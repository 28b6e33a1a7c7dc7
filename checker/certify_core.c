/* SPDX-License-Identifier: Apache-2.0 */
/* Certifies that a part of an execution speaks for the whole: were the whole legal, so would be the
 * part, and a proof about the part refutes both.
 *
 * Take a legal order of the whole and leave out what is not in the core. Program order, membars and
 * known orders ask nothing new of what remains. A load still returns the latest store before it, if
 * that one remains: so all that it may have seen must. The same goes for final values. And the
 * dependences, transactions and cycles of the part must be there in the whole: leaving out the last
 * writer of a register must not make an older one its writer, nor a part of a transaction shorten
 * it. */
#include "certify.h"

bool certify_in_core(const struct ordeal_verdict *v, uint32_t op)
{
    size_t low = 0, high = v->core.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->core.data[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->core.count && v->core.data[low] == op;
}

static bool remains(const struct ordeal_verdict *v, const struct execution *whole, uint32_t store)
{
    return is_initial(whole, store) || certify_in_core(v, whole->op[store]);
}

static enum ordeal_status check_loads(const struct ordeal_verdict *v, const struct execution *whole)
{
    char load[EVENT_TEXT], store[EVENT_TEXT];
    for (uint32_t e = whole->locations; e < whole->events; e++) {
        if (whole->is_store[e] || !certify_in_core(v, whole->op[e]))
            continue;
        for (uint32_t i = whole->candidate_first[e]; i < whole->candidate_first[e + 1]; i++)
            if (!remains(v, whole, whole->candidate[i]))
                return fail(v->o, ORDEAL_INTERNAL, "%s in the core may have seen %s, which is not",
                            certify_event_text(whole, e, load),
                            certify_event_text(whole, whole->candidate[i], store));
    }
    return ORDEAL_OK;
}

static bool speaks_of_final(const struct execution *x, uint32_t source)
{
    for (uint32_t k = 0; k < x->finals; k++)
        if (x->final[k].source == source)
            return true;
    return false;
}

static enum ordeal_status check_finals(const struct ordeal_verdict *v,
                                       const struct execution *whole)
{
    char text[EVENT_TEXT];
    for (uint32_t k = 0; k < whole->finals; k++) {
        const struct final *f = &whole->final[k];
        for (uint32_t i = 0; i < f->count; i++)
            if (!remains(v, whole, whole->final_store[f->first + i])
                && speaks_of_final(v->x, f->source))
                return fail(v->o, ORDEAL_INTERNAL, "%s may have left a final value of the core, "
                            "but is not in it",
                            certify_event_text(whole, whole->final_store[f->first + i], text));
    }
    return ORDEAL_OK;
}

static bool depends(const struct execution *whole, uint32_t from, uint32_t to, uint8_t use)
{
    assert(from < whole->groups && to < whole->groups);
    uint32_t low = 0, high = whole->dependences;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (whole->dependence[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < whole->dependences && whole->dependence[low].to == to; low++)
        if (whole->dependence[low].from == from && whole->dependence[low].use == use)
            return true;
    return false;
}

/* group_of: by operation, a group of it in the whole. */
static enum ordeal_status check_groups(const struct ordeal_verdict *v,
                                       const struct execution *whole, const uint32_t *group_of)
{
    const struct execution *x = v->x;
    char text[EVENT_TEXT];
    for (uint32_t e = x->locations; e < x->events; e++) {
        uint32_t g = x->group[e], h = group_of[x->op[e]];
        uint32_t first = group_of[x->op[x->group_first[g]]];
        const char *why = NULL;
        if (!certify_in_core(v, x->op[e]) || h == NONE)
            why = "it is not in the core";
        else if (whole->instruction[h] != whole->instruction[first]
                 || ((x->group_flags[g] & GROUP_TX) && !(whole->group_flags[h] & GROUP_TX)))
            why = "it is atomic with what it is not in the whole";
        else if (v->time_order && x->begin
                 && (x->begin[g] > whole->begin[h] || x->end[g] < whole->end[h]))
            why = "its transaction takes longer in the whole";
        if (why)
            return fail(v->o, ORDEAL_INTERNAL, "the core does not stand for the whole: %s: %s",
                        certify_event_text(x, e, text), why);
    }
    bool registers = v->model == ORDEAL_RMO || certify_is_riscv(v->model);
    for (uint32_t d = 0; registers && d < x->dependences; d++) {
        uint32_t from = x->group_first[x->dependence[d].from];
        uint32_t to = x->group_first[x->dependence[d].to];
        if (!depends(whole, group_of[x->op[from]], group_of[x->op[to]], x->dependence[d].use))
            return fail(v->o, ORDEAL_INTERNAL, "the core does not stand for the whole: %s: it "
                        "depends on what it does not in the whole",
                        certify_event_text(x, to, text));
    }
    for (uint32_t k = 0; k < x->reservations; k++) {
        uint32_t lr = group_of[x->op[x->reservation[k].first]];
        uint32_t sc = group_of[x->op[x->group_first[x->reservation[k].group]]];
        const struct reservation *r = reservation_of(whole, sc);
        if (!r || whole->group[r->first] != lr)
            return fail(v->o, ORDEAL_INTERNAL,
                        "the core does not stand for the whole: an SC uses "
                        "another reservation there");
    }
    return ORDEAL_OK;
}

enum ordeal_status certify_core(const struct ordeal_verdict *v, const struct execution *whole)
{
    struct scratch scratch = { .o = v->o };
    uint32_t *group_of = scratch_none(&scratch, ordeal_trace_length(whole->trace));
    enum ordeal_status status = group_of ? certify_amos(whole) : scratch_status(&scratch);
    if (status == ORDEAL_OK)
        status = check_loads(v, whole);
    for (uint32_t e = whole->locations; group_of && e < whole->events; e++)
        group_of[whole->op[e]] = whole->group[e];
    if (status == ORDEAL_OK)
        status = check_finals(v, whole);
    if (status == ORDEAL_OK)
        status = check_groups(v, whole, group_of);
    scratch_free(&scratch);
    return status;
}
