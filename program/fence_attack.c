/* SPDX-License-Identifier: Apache-2.0 */
/* Robustness against TSO: whether every execution there is one of SC, by the order of its accesses. It is
 * enough to look for attacks (Bouajjani, Derevenetc and Meyer, Checking and enforcing robustness against
 * TSO, 2013): all threads run under SC but one, which from some store on keeps its stores in its buffer
 * and stops behind a load from memory. If a chain of accesses, each of which must come after the one
 * before, leads from this load to an access of what the first of these stores writes, then the load comes
 * before the store, which its program has before the load: no SC execution is that. */
#include <string.h>

#include "fence_machine.h"

const char fence_not_sc[] = "an execution that SC does not have";

enum { NO_ATTACK, DELAYING, CHAIN };
enum { WAS_READ = 1, WAS_WRITTEN = 2 };

static struct fence_attack *attack_of(const struct state *s)
{
    return &((struct fence_buffers *)s->buffers)->attack;
}

static bool is_attacker(const struct state *s, uint32_t thread)
{
    return attack_of(s)->phase != NO_ATTACK && attack_of(s)->thread == thread;
}

/* Must an access of this word come after one that is in the chain? */
static bool conflicts(const struct fence_attack *k, uint32_t address, bool writes)
{
    for (uint32_t i = 0; i < k->words; i++)
        if (k->word[i].address == (address & ~3u))
            return writes || k->word[i].how & WAS_WRITTEN;
    return false;
}

static bool in_chain(const struct state *s, const struct access *a)
{
    const struct fence_attack *k = attack_of(s);
    bool writes = a->kind == ACCESS_STORE || a->kind == ACCESS_ATOMIC;
    if (a->thread == k->thread)
        return false;
    return k->chain >> a->thread & 1
        || (a->kind != ACCESS_FENCE && conflicts(k, a->address, writes));
}

static void add_word(struct state *s, uint32_t address, uint32_t how)
{
    struct fence_attack *k = attack_of(s);
    uint32_t i = 0, word = address & ~3u;
    state_touch_buffers(s);
    while (i < k->words && k->word[i].address < word)
        i++;
    if (i == k->words || k->word[i].address != word) {
        if (k->words == FENCE_CHAIN) {
            state_too_long(s, "a chain of more than 64 words");
            return;
        }
        memmove(&k->word[i + 1], &k->word[i], (k->words++ - i) * sizeof *k->word);
        k->word[i].address = word;
        k->word[i].how = 0;
    }
    k->word[i].how |= how;
}

/* An access that comes after the attacker's load. */
static void join_chain(struct state *s, const struct access *a, uint32_t how)
{
    struct fence_attack *k = attack_of(s);
    if (k->phase != CHAIN)
        return;
    state_touch_buffers(s);
    k->chain |= 1u << a->thread;
    add_word(s, a->address, how);
    if (a->address < k->address + k->size && k->address < a->address + a->size)
        state_fail(s, EXPLORE_REACHED, "%s", fence_not_sc);
}

static enum readiness attack_look(const struct state *s, const struct access *a)
{
    if (attack_of(s)->phase == CHAIN && !in_chain(s, a))
        return READY_NOT;
    if (is_attacker(s, a->thread))
        return fence_model.look(s, a) == READY_NOT || a->kind == ACCESS_ATOMIC ? READY_NOT
             : a->kind == ACCESS_FENCE && fence_drains(a->order)               ? READY_NOT
             : a->kind == ACCESS_FENCE                                         ? READY_QUIET
                                                                               : READY;
    return a->kind == ACCESS_FENCE ? READY_QUIET : READY;
}

static uint32_t attack_load(struct state *s, const struct access *a)
{
    bool forwarded;
    if (!is_attacker(s, a->thread)) {
        join_chain(s, a, WAS_READ);
        return state_get(state_peek(s, a->address, a->size, false), a->size);
    }
    uint32_t value = fence_load_seen(s, a, &forwarded);
    if (!forwarded && state_choose(s, 2)) {
        state_touch_buffers(s);
        attack_of(s)->phase = CHAIN;
        add_word(s, a->address, WAS_READ);
    }
    return value;
}

static void attack_store(struct state *s, const struct access *a, uint32_t value)
{
    struct fence_attack *k = attack_of(s);
    bool fenced = fence_is_behind(s, a->pc);
    if (k->phase == NO_ATTACK && !fenced && state_choose(s, 2)) {
        state_touch_buffers(s);
        *k = (struct fence_attack){
            .phase = DELAYING, .thread = a->thread, .address = a->address, .size = a->size
        };
    }
    if (is_attacker(s, a->thread)) {
        fence_model.store(s, a, value);
        return;
    }
    join_chain(s, a, WAS_WRITTEN);
    state_put(s, state_peek(s, a->address, a->size, true), a->size, value);
}

static void attack_fence(struct state *s, const struct access *a) { (void)s, (void)a; }

static uint32_t attack_atomic_read(struct state *s, const struct access *a)
{
    join_chain(s, a, WAS_READ);
    return state_get(state_peek(s, a->address, a->size, false), a->size);
}

static void attack_atomic_write(struct state *s, const struct access *a, uint32_t value)
{
    join_chain(s, a, WAS_WRITTEN);
    state_put(s, state_peek(s, a->address, a->size, true), a->size, value);
}

static uint32_t attack_moves(const struct state *s, uint32_t thread)
{
    return (void)s, (void)thread, 0;
}

struct memory_model fence_attack_model(void)
{
    struct memory_model m = fence_model;
    m.look = attack_look;
    m.load = attack_load;
    m.store = attack_store;
    m.fence = attack_fence;
    m.atomic_read = attack_atomic_read;
    m.atomic_write = attack_atomic_write;
    m.moves = attack_moves;
    return m;
}
