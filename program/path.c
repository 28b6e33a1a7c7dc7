/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: links to parents say through which states; the steps between are found by expanding again.
 */
#include <stdlib.h>
#include <string.h>

#include "exploration.h"

struct looking {
    uint32_t child; /* state to reach; 0: the step with number `step` */
    uint32_t step;
    struct explore_path *path;
    size_t choices; /* of the path so far */
    bool found, no_memory;
};

static void add_step(struct looking *l, const struct choices *c, struct step_taken taken)
{
    struct explore_path *p = l->path;
    void *steps = realloc(p->step, (p->steps + 1) * sizeof *p->step);
    if (steps)
        p->step = steps;
    void *choice = realloc(p->choice, (l->choices + c->used + 1) * sizeof *p->choice);
    if (choice)
        p->choice = choice;
    l->no_memory = !steps || !choice;
    if (l->no_memory)
        return;
    p->step[p->steps++] = (struct explore_step){ (uint16_t)taken.thread, (uint16_t)taken.flush,
                                                 (uint32_t)l->choices, c->used };
    memcpy(p->choice + l->choices, c->drawn, c->used * sizeof *c->drawn);
    l->choices += c->used;
}

static bool visit_look(struct explorer *e, struct step_taken taken, void *user)
{
    struct looking *l = user;
    bool is_new;
    if (l->child && e->s->end != STEP_DONE)
        return true;
    bool here = l->child ? packer_pack(e->k, &is_new) == l->child : e->step == l->step;
    if (!here)
        return true;
    add_step(l, &e->s->choices, taken);
    l->found = true;
    return false;
}

static bool look(struct explorer *e, struct looking *l, uint32_t from)
{
    l->found = false;
    expand(e, from, visit_look, l);
    return l->found && !l->no_memory;
}

bool exploration_path(struct exploration *x, const struct found *f, struct explore_path *path)
{
    size_t length = 0;
    for (uint32_t n = f->state; x->parent[n]; n = x->parent[n])
        length++;
    uint32_t *state = malloc((length + 1) * sizeof *state), n = f->state;
    struct looking l = { .path = path };
    if (!state)
        return false;
    for (size_t i = length + 1; i--; n = x->parent[n])
        state[i] = n;
    bool ok = true;
    for (size_t i = 0; ok && i < length; i++) {
        l.child = state[i + 1];
        ok = look(&x->explorer[0], &l, state[i]);
    }
    l.child = 0;
    l.step = f->step;
    if (ok && f->error != EXPLORE_DEADLOCK)
        ok = look(&x->explorer[0], &l, f->state);
    free(state);
    return ok;
}
