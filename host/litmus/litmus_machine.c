/* SPDX-License-Identifier: Apache-2.0 */
#include "litmus/litmus_machine.h"

#include <inttypes.h>

#include "litmus/litmus_condition.h"

uint32_t litmus_register_find(enum litmus_arch arch, const struct litmus_token *t,
                              uint8_t *size_log2)
{
    if (t->kind != LITMUS_NAME)
        return LITMUS_NO_REGISTER;
    return arch == LITMUS_RISCV ? litmus_riscv_register(t)
                                : litmus_x86_register(t, arch, size_log2);
}

uint32_t litmus_location_at(const struct litmus *test, uint64_t address)
{
    uint64_t location = (address - LITMUS_ADDRESS) / LITMUS_LINE;
    return address >= LITMUS_ADDRESS && location < test->locations.count ? (uint32_t)location
                                                                         : UINT32_MAX;
}

/* ---- values ------------------------------------------------------------------------------ */

uint64_t litmus_overlay(uint64_t value, uint32_t offset, uint8_t size_log2,
                        const struct litmus_store *store)
{
    for (uint32_t n = 0; n < 1u << size_log2; n++) {
        uint32_t at = offset + n - store->offset; /* wraps below it */
        if (at < 1u << store->size_log2)
            value = (value & ~(UINT64_C(0xff) << 8 * n)) | (store->value >> 8 * at & 0xff) << 8 * n;
    }
    return value;
}

uint64_t litmus_initial(const struct litmus *test, uint32_t location, uint32_t offset,
                        uint8_t size_log2)
{
    const struct litmus_location *l = &test->locations.data[location];
    uint64_t value = litmus_cut(l->initial, l->size_log2);
    return offset < 8 ? litmus_cut(value >> 8 * offset, size_log2) : 0;
}

static bool enter(struct litmus_values *values, uint64_t value)
{
    for (uint32_t i = 0; i < values->count; i++)
        if (values->value[i] == value)
            return true;
    if (values->count == LITMUS_VALUES)
        return false;
    values->value[values->count++] = value;
    return true;
}

/* What covers the place hides what was there; with what does not every value goes. */
bool litmus_close(struct litmus_values *values, uint32_t offset, uint8_t size_log2,
                  const struct litmus_store *store, size_t stores)
{
    uint32_t end = offset + (1u << size_log2);
    for (size_t k = 0; k < stores; k++)
        if (store[k].offset <= offset && store[k].offset + (1u << store[k].size_log2) >= end
            && !enter(values, litmus_overlay(0, offset, size_log2, &store[k])))
            return false;
    for (uint32_t i = 0; i < values->count; i++)
        for (size_t k = 0; k < stores; k++)
            if ((store[k].offset > offset || store[k].offset + (1u << store[k].size_log2) < end)
                && !enter(values, litmus_overlay(values->value[i], offset, size_log2, &store[k])))
                return false;
    return true;
}

uint32_t litmus_choose(struct litmus_machine *m, uint32_t of)
{
    struct litmus_script *s = m->script;
    if (of <= 1)
        return 0;
    if (s->at == s->count) {
        s->choice[s->count].chosen = 0;
        s->choice[s->count++].of = of;
    }
    return s->choice[s->at++].chosen;
}

/* Stores to it that it may see: other threads' by what is known of them, and its own earlier
 * ones. */
static bool gather(const struct litmus_machine *m, const struct litmus_event *e,
                   struct litmus_store *found, size_t *count, uint64_t *own)
{
    *count = 0;
    *own = litmus_initial(m->test, e->location, e->offset, e->size_log2);
    for (uint32_t i = 0; i < m->events; i++) {
        const struct litmus_event *old = &m->event[i];
        struct litmus_store s = { old->location, (uint8_t)old->offset, old->size_log2,
                                  old->written };
        if (!old->writes || s.location != e->location
            || !litmus_overlap(s.offset, s.size_log2, e->offset, e->size_log2))
            continue;
        bool whole = s.offset <= e->offset
                  && s.offset + (1u << s.size_log2) >= e->offset + (1u << e->size_log2);
        *own = litmus_overlay(*own, e->offset, e->size_log2, &s);
        *count = whole ? 0 : *count; /* what it covers is gone */
        if (!whole)
            found[(*count)++] = s;
    }
    for (uint32_t t = 0; t < m->test->threads; t++)
        for (size_t i = 0; t != m->thread && i < m->known->store[t].count; i++) {
            const struct litmus_store *s = &m->known->store[t].data[i];
            if (s->location != e->location
                || !litmus_overlap(s->offset, s->size_log2, e->offset, e->size_log2))
                continue;
            if (*count == LITMUS_VALUES)
                return false;
            found[(*count)++] = *s;
        }
    return true;
}

bool litmus_choose_value(struct litmus_machine *m, const struct litmus_instruction *i,
                         struct litmus_event *e)
{
    struct litmus_store found[LITMUS_VALUES];
    struct litmus_values values;
    size_t count;
    values.count = 1;
    if (!gather(m, e, found, &count, &values.value[0])
        || !litmus_close(&values, e->offset, e->size_log2, found, count)) {
        litmus_refuse(m->where, i->place, "this may read more than %d values", LITMUS_VALUES);
        m->where->error->status = ORDEAL_LIMIT;
        return false;
    }
    e->reads = true;
    e->read = values.value[litmus_choose(m, values.count)];
    return true;
}

/* ---- accesses ---------------------------------------------------------------------------- */

bool litmus_locate(struct litmus_machine *m, const struct litmus_instruction *i,
                   const struct litmus_operand *operand, uint8_t size_log2, struct litmus_event *e)
{
    bool based = operand->reg != LITMUS_NO_REGISTER;
    uint64_t address = (uint64_t)operand->number + (based ? m->reg[operand->reg].value : 0);
    *e = (struct litmus_event){ .size_log2 = size_log2, .line = i->place.line };
    e->location = litmus_location_at(m->test, address);
    e->address_of = based ? m->reg[operand->reg].needs : 0;
    if (e->location == LITMUS_NOWHERE)
        return litmus_refuse(m->where, i->place,
                             "thread %u may come here with address 0x%" PRIx64
                             ", where there is no location",
                             m->thread, address);
    e->offset = (uint32_t)(address - litmus_address_of(e->location));
    if (e->offset & ((1u << size_log2) - 1))
        return litmus_refuse(m->where, i->place, "%s+%u is not aligned to the %u bytes accessed",
                             m->test->locations.data[e->location].name, e->offset, 1u << size_log2);
    return true;
}

uint64_t litmus_add_event(struct litmus_machine *m, const struct litmus_instruction *i,
                          const struct litmus_event *e)
{
    if (m->events == LITMUS_EVENTS) {
        litmus_refuse(m->where, i->place, "thread %u may do more than %d accesses and fences",
                      m->thread, LITMUS_EVENTS);
        return 0;
    }
    struct litmus_event *to = &m->event[m->events];
    *to = *e;
    if (e->kind != ORDEAL_MEMBAR) { /* a branch before a fence is one before what follows it */
        to->control_of = m->control;
        m->control = 0;
    }
    return UINT64_C(1) << m->events++;
}

bool litmus_add_fence(struct litmus_machine *m, const struct litmus_instruction *i, uint8_t barrier)
{
    struct litmus_event e = { .kind = ORDEAL_MEMBAR, .extra = barrier, .line = i->place.line };
    return !barrier || litmus_add_event(m, i, &e);
}

bool litmus_relation_holds(enum litmus_relation relation, uint64_t a, uint64_t b)
{
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (relation) {
    case LITMUS_ALWAYS: return true;
    case LITMUS_EQ: return a == b;
    case LITMUS_NE: return a != b;
    case LITMUS_LT: return sa < sb;
    case LITMUS_GE: return sa >= sb;
    case LITMUS_LE: return sa <= sb;
    case LITMUS_GT: return sa > sb;
    case LITMUS_LTU: return a < b;
    case LITMUS_GEU: return a >= b;
    case LITMUS_LEU: return a <= b;
    case LITMUS_GTU: return a > b;
    case LITMUS_SIGN: return (int64_t)(a - b) < 0;
    default: return (int64_t)(a - b) >= 0;
    }
}
