/* SPDX-License-Identifier: Apache-2.0 */
/* Certifies what a total order owes to marks of acquire and release, to LR and SC, and, under the
 * models of RISC-V, to the rules of its preserved program order that certify_order.c does not know:
 * 2, 3 and 5 to 13.
 *
 * Written from the specification's list, thread by thread: each operation must stand behind the
 * highest place of those that a rule puts before it. */
#include "certify.h"

/* What a thread has done to a word, by the numbers of places. */
struct word_walk {
    uint32_t thread;       /* whose walk it is; others' does not count */
    uint32_t store;        /* its last store, as a group; 0: none */
    uint32_t saw;          /* what the last load since then saw */
    uint32_t same, others; /* highest loads since then that saw that, that saw other stores */
};

struct riscv_check {
    const struct ordeal_verdict *v;
    const struct execution *x;
    const uint32_t *at, *saw; /* see certify_riscv() */
    struct scratch scratch;
    struct word_walk *word; /* by word */
    uint32_t *forwards;     /* by group: highest place that its store's address or data rest on */
    uint32_t next_dependence;
    /* Of the thread at work: the highest places that operations behind must be behind. */
    uint32_t acquired;  /* all */
    uint32_t passed;    /* releases */
    uint32_t marked;    /* atomics with a mark */
    uint32_t branches;  /* stores, because of branches ... */
    uint32_t addresses; /* ... and of addresses */
};

static void raise(uint32_t *height, uint32_t place)
{
    if (*height < place)
        *height = place;
}

static enum ordeal_status refuse(const struct riscv_check *c, uint32_t group, uint32_t place,
                                 const char *why)
{
    char here[EVENT_TEXT], there[EVENT_TEXT];
    certify_event_text(c->x, c->x->group_first[group], here);
    certify_event_text(c->x, c->v->order.data[place - 1].event, there);
    return fail(c->v->o, ORDEAL_INTERNAL, "place %u (%s): it is not behind place %u (%s): %s",
                c->at[group], here, place, there, why);
}

static struct word_walk *walk_of(const struct riscv_check *c, uint32_t event)
{
    struct word_walk *w = &c->word[c->x->loc[event]];
    uint32_t thread = event_thread(c->x, event);
    if (w->thread != thread)
        *w = (struct word_walk){ .thread = thread, .saw = NONE };
    return w;
}

/* ---- marks ----------------------------------------------------------------------------- */

static enum ordeal_status check_marks(const struct riscv_check *c, uint32_t group)
{
    uint8_t flags = c->x->group_flags[group];
    if (c->at[group] <= c->acquired) /* rule 5 */
        return refuse(c, group, c->acquired, "that is an acquire");
    if ((flags & GROUP_RELEASE) && c->at[group] <= c->passed) /* rule 6 */
        return refuse(c, group, c->passed, "it is a release");
    if ((flags & GROUP_RCSC) && c->at[group] <= c->marked) /* rule 7 */
        return refuse(c, group, c->marked, "both are atomics that acquire or release");
    return ORDEAL_OK;
}

static void pass_marks(struct riscv_check *c, uint32_t group)
{
    uint8_t flags = c->x->group_flags[group];
    raise(&c->passed, c->at[group]);
    if (flags & GROUP_ACQUIRE)
        raise(&c->acquired, c->at[group]);
    if (flags & GROUP_RCSC)
        raise(&c->marked, c->at[group]);
}

/* ---- registers ------------------------------------------------------------------------- */

static enum ordeal_status check_registers(struct riscv_check *c, uint32_t group)
{
    const struct execution *x = c->x;
    uint32_t needed = 0, addresses = 0;
    for (; c->next_dependence < x->dependences && x->dependence[c->next_dependence].to == group;
         c->next_dependence++) {
        const struct dependence *d = &x->dependence[c->next_dependence];
        uint32_t from = c->at[d->from];
        switch (d->use) {
        case ORDEAL_REGISTER_CONTROL:
            raise(&c->branches, from); /* rule 11 */
            continue;
        case ORDEAL_REGISTER_ADDRESS:
            raise(&addresses, from);          /* rule 13 */
            raise(&c->forwards[group], from); /* rule 12 */
            break;
        case ORDEAL_REGISTER_DATA: raise(&c->forwards[group], from); break;
        }
        raise(&needed, from); /* rules 9 and 10 */
    }
    if (x->group_flags[group] & GROUP_STORES) {
        raise(&needed, c->branches);
        raise(&needed, c->addresses);
    }
    raise(&c->addresses, addresses);
    return c->at[group] > needed ? ORDEAL_OK : refuse(c, group, needed, "it depends on that");
}

/* ---- words ----------------------------------------------------------------------------- */

/* Rules 3 and 12. The load may have seen a store of another thread instead; that one is behind its
 * own thread's, and before the load, so that the order must be kept all the same. */
static enum ordeal_status check_forwarder(const struct riscv_check *c, uint32_t load,
                                          uint32_t store, bool registers)
{
    uint32_t group = c->x->group[load];
    if (is_atomic(c->x, store) && c->at[group] <= c->at[store])
        return refuse(c, group, c->at[store], "an atomic's store is not forwarded");
    if (registers && c->at[group] <= c->forwards[store])
        return refuse(c, group, c->forwards[store], "the store before the load depends on that");
    return ORDEAL_OK;
}

/* Rule 2. */
static enum ordeal_status check_apart(const struct riscv_check *c, uint32_t load,
                                      struct word_walk *w)
{
    uint32_t group = c->x->group[load];
    if (w->saw != c->saw[load]) {
        raise(&w->others, w->same);
        w->same = 0;
        w->saw = c->saw[load];
    }
    if (c->at[group] <= w->others)
        return refuse(c, group, w->others, "both load one word, and saw different stores");
    raise(&w->same, c->at[group]);
    return ORDEAL_OK;
}

static enum ordeal_status check_words(const struct riscv_check *c, uint32_t group, bool registers)
{
    const struct execution *x = c->x;
    enum ordeal_status status = ORDEAL_OK;
    for (uint32_t e = x->group_first[group]; !status && e < x->group_first[group + 1]; e++) {
        struct word_walk *w = walk_of(c, e);
        if (x->is_store[e]) {
            *w = (struct word_walk){ .thread = w->thread, .store = group, .saw = NONE };
            continue;
        }
        if (w->store && w->store != group)
            status = check_forwarder(c, e, w->store, registers);
        if (!status && c->v->model == ORDEAL_RVWMO)
            status = check_apart(c, e, w);
    }
    return status;
}

/* ---- the walk -------------------------------------------------------------------------- */

static enum ordeal_status check_thread(struct riscv_check *c, uint32_t thread)
{
    const struct execution *x = c->x;
    bool registers = certify_is_riscv(c->v->model);
    uint32_t end = x->thread_first[thread + 1], next;
    enum ordeal_status status = ORDEAL_OK;
    c->acquired = c->passed = c->marked = c->branches = c->addresses = 0;
    for (uint32_t first = x->thread_first[thread]; !status && first < end; first = next) {
        /* Words of one access are not ordered among themselves: check them all, then pass them. */
        for (next = first; next < end && x->instruction[next] == x->instruction[first]; next++) {
            status = status ? status : check_marks(c, next);
            status = status || !registers ? status : check_registers(c, next);
            status = status ? status : check_words(c, next, registers);
        }
        for (uint32_t g = first; g < next; g++)
            pass_marks(c, g);
        if (limit_hit(c->v->o, "certify", -1))
            return ORDEAL_LIMIT;
    }
    return status;
}

/* Rule 8. That nothing came between is looked at where values are. */
static enum ordeal_status check_pairs(const struct riscv_check *c)
{
    const struct execution *x = c->x;
    for (uint32_t k = 0; k < x->reservations; k++) {
        uint32_t lr = x->group[x->reservation[k].first], sc = x->reservation[k].group;
        if (c->at[sc] <= c->at[lr])
            return refuse(c, sc, c->at[lr], "that is its LR");
    }
    return ORDEAL_OK;
}

enum ordeal_status certify_riscv(const struct ordeal_verdict *v, const uint32_t *at,
                                 const uint32_t *saw)
{
    const struct execution *x = v->x;
    struct riscv_check c = { .v = v, .x = x, .at = at, .saw = saw, .scratch = { .o = v->o } };
    c.word = scratch_zero(&c.scratch, x->locations, sizeof *c.word);
    c.forwards = scratch_zero(&c.scratch, x->groups, sizeof *c.forwards);
    enum ordeal_status status = c.word && c.forwards ? check_pairs(&c) : scratch_status(&c.scratch);
    for (uint32_t l = 0; !status && l < x->locations; l++)
        c.word[l].thread = NONE;
    for (uint32_t t = 0; !status && t < x->threads; t++)
        status = check_thread(&c, t);
    scratch_free(&c.scratch);
    return status;
}
