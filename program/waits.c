/* SPDX-License-Identifier: Apache-2.0 */
#include "waits.h"

#include <stdio.h>

#include "calls.h"
#include "memory_model.h"

/* "&lock", "&rows+8", or the number. */
static void name_of(const struct state *s, uint32_t address, char *text, size_t size)
{
    const struct symbol *symbol = image_symbol_at(s->code->image, address);
    if (!symbol)
        snprintf(text, size, "0x%08x", address);
    else if (symbol->address == address)
        snprintf(text, size, "&%s", symbol->name);
    else
        snprintf(text, size, "&%s+%u", symbol->name, address - symbol->address);
}

static void tell_mutex(const struct state *s, uint32_t thread, uint32_t mutex, char *text,
                       size_t size)
{
    char name[80];
    uint32_t holder = s->model->peek(s, thread, mutex);
    name_of(s, mutex, name, sizeof name);
    if (holder)
        snprintf(text, size, "for mutex %s, which thread %u holds", name, holder - 1);
    else
        snprintf(text, size, "for mutex %s", name);
}

static bool tell_call(const struct state *s, uint32_t thread, char *text, size_t size)
{
    const struct thread *t = &s->thread[thread];
    switch (t->x[17]) {
    case PROGRAM_CALL_MUTEX_LOCK: tell_mutex(s, thread, t->x[10], text, size); return true;
    case PROGRAM_CALL_COND_WAIT: tell_mutex(s, thread, t->x[11], text, size); return true;
    case PROGRAM_CALL_THREAD_JOIN:
        snprintf(text, size, "for thread %u to end", t->x[10]);
        return true;
    default: return false;
    }
}

bool thread_waits_for(const struct state *s, uint32_t thread, char *text, size_t size)
{
    const struct thread *t = &s->thread[thread];
    char name[80];
    const struct instruction *i = image_instruction(s->code->image, t->pc);
    if (t->status == THREAD_WAITS) {
        name_of(s, t->condition, name, sizeof name);
        snprintf(text, size, "for condition %s", name);
        return true;
    }
    if (t->status != THREAD_RUNS && t->status != THREAD_WOKEN)
        return false;
    if (i && i->operation == OPERATION_ECALL && tell_call(s, thread, text, size))
        return true;
    snprintf(text, size, "for others");
    return true;
}
