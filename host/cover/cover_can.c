/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_can.h"

#include "exec_parts.h"
#include "test/registers.h"

const char *const cover_ability_words[COVER_ABILITY_COUNT] = {
#define ABILITY(NAME, word) word,
    COVER_ABILITIES(ABILITY)
#undef ABILITY
};

enum {
#define EVENT(number, name, text) EVENT_##name = number,
#include "soc.def"
#undef EVENT
};

/* ---- machines -------------------------------------------------------------------------------- */

/* Sizes of accesses that the generator makes: loads and stores; atomic ones. */
enum { GENERATED = 1 | 2 | 4 | 8 | 64, GENERATED_ATOMIC = 4 | 8 };

/* Atomic accesses are of those sizes of 4 and 8 bytes that others have: where they lack 8 bytes, tests
 * of all kinds have none of that size (as host/test/default_bias.c makes them). */
static bool lacks_wide(const uint32_t *sizes)
{
    bool lacks = false;
    for (int kind = 2; kind < 5; kind++)
        lacks |= (sizes[kind] & GENERATED_ATOMIC) == 4;
    return lacks;
}

struct cover_can cover_can_of(const struct abilities *can, const struct machine_claims *claims,
                              bool events)
{
    const uint32_t sizes[] = { can->load_sizes, can->store_sizes, can->swap_sizes, can->cas_sizes,
                               can->amo_sizes };
    struct cover_can found = { .threads = can->threads, .models = 1u << claims->model };
    uint32_t made[] = { GENERATED, GENERATED_ATOMIC };
    if (lacks_wide(sizes))
        made[0] &= ~8u;
    for (uint32_t kind = 0; kind < 5; kind++)
        for (uint32_t size = 0; size <= 6; size++)
            if (sizes[kind] & made[kind > 1] & 1u << size)
                found.accesses |= 1u << (kind * 5 + (size < 4 ? size : 4));
    bool dep = can->registers >= REGISTERS + REGISTER_COMPARED;
    const bool has[] = { can->transactions, can->uncached, dep, claims->cycles, events };
    static_assert(sizeof has == COVER_ABILITY_COUNT * sizeof *has, "one for each");
    for (uint32_t i = 0; i < COVER_ABILITY_COUNT; i++)
        found.has |= (uint32_t)has[i] << i;
    return found;
}

void cover_can_add(struct cover_can *to, const struct cover_can *from)
{
    to->accesses |= from->accesses;
    to->has |= from->has;
    to->models |= from->models;
    to->threads = to->threads > from->threads ? to->threads : from->threads;
}

static bool has(const struct cover_can *c, enum cover_ability a) { return c->has >> a & 1; }

/* ---- what models let be ---------------------------------------------------------------------- */

/* Does the model keep such a pair in order, with this between its accesses? Where that is not
 * certain, no. */
static bool is_kept(enum ordeal_model model, enum exec_pair pair, enum exec_bond bond)
{
    bool load_first = pair == EXEC_RW || pair == EXEC_RR;
    if (bond == EXEC_BOND_FENCE || bond == EXEC_BOND_TX)
        return true;
    switch (model) {
    case ORDEAL_SC: return true;
    case ORDEAL_TSO:
    case ORDEAL_PC: return pair != EXEC_WR || bond == EXEC_BOND_RMW;
    case ORDEAL_PSO: return load_first;
    default: return load_first && bond == EXEC_BOND_DEP;
    }
}

/* Can a cycle be closed? Under PC stores are not there for all at once: of more than two threads
 * any can. */
static bool may_close(const struct cover_can *can, uint32_t shape, const uint8_t *bonds)
{
    struct exec_shape_pairs pairs = exec_shape_pairs(shape);
    for (enum ordeal_model m = ORDEAL_SC; m < ORDEAL_MODELS; m++) {
        bool kept = m != ORDEAL_PC || pairs.threads == 2;
        for (uint32_t i = 0; kept && i < pairs.count; i++)
            kept = is_kept(m, pairs.pair[i], bonds[i]);
        if (can->models >> m & 1 && !kept)
            return true;
    }
    return false;
}

/* ---- points by groups ------------------------------------------------------------------------ */

static bool does(const struct cover_can *can, uint32_t access)
{
    return can->accesses >> access & 1;
}

static bool reach_meet(const struct cover_can *can, const uint8_t *at)
{
    return does(can, at[1]) && does(can, at[2]);
}
static bool reach_own(const struct cover_can *can, const uint8_t *at)
{
    return does(can, at[0]) && does(can, at[1]);
}
static bool reach_initial(const struct cover_can *can, const uint8_t *at)
{
    return does(can, at[0]) && (!at[1] || has(can, COVER_CAN_UNCACHED));
}

/* By narrower stores. */
static bool reach_torn(const struct cover_can *can, const uint8_t *at)
{
    uint32_t narrower = (1u << at[0] % 5) - 1;
    return reach_initial(can, at) && can->accesses >> 5 & narrower;
}
static bool reach_forward(const struct cover_can *can, const uint8_t *at)
{
    return !at[2] || has(can, COVER_CAN_TX);
}
static bool reach_pass(const struct cover_can *can, const uint8_t *at)
{
    return (!at[1] || has(can, COVER_CAN_TX)) && (!at[2] || has(can, COVER_CAN_UNCACHED));
}

static bool reach_bond(const struct cover_can *can, uint32_t bond)
{
    return bond == EXEC_BOND_TX  ? has(can, COVER_CAN_TX)
         : bond == EXEC_BOND_DEP ? has(can, COVER_CAN_DEP)
         : bond == EXEC_BOND_RMW ? can->accesses >> 10 != 0
                                 : true;
}

static bool reach_coherence(const struct cover_can *can, const uint8_t *at)
{
    enum { CORR, CLOSED = 2 };
    bool closed = at[2] == CLOSED, loads_swap = can->models >> ORDEAL_RMO & 1;
    return reach_bond(can, at[1])
        && (!closed || (at[0] == CORR && loads_swap && !is_kept(ORDEAL_RMO, EXEC_RR, at[1])));
}

static bool reach_shape2(const struct cover_can *can, const uint8_t *at)
{
    return exec_shape_pairs(at[0]).threads <= can->threads && reach_bond(can, at[1])
        && reach_bond(can, at[2]) && (!at[3] || may_close(can, at[0], at + 1));
}

static bool reach_shape3(const struct cover_can *can, const uint8_t *at)
{
    static const uint8_t weakest[] = { EXEC_BOND_PO, EXEC_BOND_RMW, EXEC_BOND_TX };
    uint8_t bonds[3] = { weakest[at[1]], weakest[at[2]], weakest[at[3]] };
    bool there = can->threads >= 3;
    for (int i = 0; i < 3; i++)
        there = there && (bonds[i] != EXEC_BOND_TX || has(can, COVER_CAN_TX));
    return there && (!at[4] || may_close(can, COVER_AXIS_SHAPE2 + at[0], bonds));
}

static bool reach_interleave(const struct cover_can *can, const uint8_t *at)
{
    return (!at[0] || has(can, COVER_CAN_CYCLES)) && at[1] + 2u <= can->threads;
}
static bool reach_tx(const struct cover_can *can, const uint8_t *at)
{
    return has(can, COVER_CAN_TX) && at[2] + 1u <= can->threads;
}

/* A transaction meets at most all other threads. */
static bool reach_trouble(const struct cover_can *can, const uint8_t *at)
{
    static const uint32_t threads[COVER_AXIS_RATE] = { 1, 2, 2, 2, 3, 6, 18 };
    return has(can, COVER_CAN_TX) && (!at[0] || can->threads >= threads[at[1]]);
}

static bool counts(const struct cover_can *can, uint32_t event)
{
    uint32_t stores_pass = 1u << ORDEAL_PSO | 1u << ORDEAL_RMO, loads_pass = 1u << ORDEAL_RMO;
    switch (event) {
    case EVENT_STORE_OUT_OF_ORDER: return can->models & stores_pass;
    case EVENT_LOAD_OUT_OF_ORDER: return can->models & loads_pass;
    case EVENT_UNCACHED: return has(can, COVER_CAN_UNCACHED);
    case EVENT_TX_COMMITTED:
    case EVENT_TX_ABORTED:
    case EVENT_TX_CONFLICTS:
    case EVENT_TX_CAPACITIES: return has(can, COVER_CAN_TX);
    default: return true;
    }
}

static bool reach_event(const struct cover_can *can, const uint8_t *at)
{
    return has(can, COVER_CAN_EVENTS) && counts(can, at[0]);
}
static bool reach_pair(const struct cover_can *can, const uint8_t *at)
{
    return reach_event(can, at) && counts(can, at[1]);
}
static bool reach_loss(const struct cover_can *can, const uint8_t *at)
{
    (void)at;
    return has(can, COVER_CAN_EVENTS) && has(can, COVER_CAN_TX);
}

static bool (*const reach[COVER_GROUP_COUNT])(const struct cover_can *can, const uint8_t *at) = {
    [COVER_GROUP_MEET] = reach_meet,
    [COVER_GROUP_OWN] = reach_own,
    [COVER_GROUP_INITIAL] = reach_initial,
    [COVER_GROUP_TORN] = reach_torn,
    [COVER_GROUP_FORWARD] = reach_forward,
    [COVER_GROUP_PASS] = reach_pass,
    [COVER_GROUP_COHERENCE] = reach_coherence,
    [COVER_GROUP_SHAPE2] = reach_shape2,
    [COVER_GROUP_SHAPE3] = reach_shape3,
    [COVER_GROUP_INTERLEAVE] = reach_interleave,
    [COVER_GROUP_TX] = reach_tx,
    [COVER_GROUP_TROUBLE] = reach_trouble,
    [COVER_GROUP_EVENT] = reach_event,
    [COVER_GROUP_PAIR] = reach_pair,
    [COVER_GROUP_LOSS] = reach_loss,
};

bool cover_can_reach(const struct cover_can *can, uint32_t point)
{
    uint8_t at[COVER_AXES_OF_GROUP];
    const struct cover_group *g = cover_point_at(point, at);
    bool (*may)(const struct cover_can *, const uint8_t *) = reach[g - cover_groups];
    return !can->accesses || !may || may(can, at);
}
