/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a plan: each combination of the values of a section, and its share of the budget. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "plan_parts.h"

/* What a run is made of: an entry and which of its values. */
struct choice {
    const struct plan_entry *entry;
    size_t value;
};
struct combination {
    LIST(struct choice) choices;
};

static const char *text_of(const struct choice *c) { return c->entry->values.data[c->value]; }

static const struct choice *find(const struct combination *c, const char *key)
{
    for (size_t i = 0; i < c->choices.count; i++)
        if (strcmp(c->choices.data[i].entry->key->name, key) == 0)
            return &c->choices.data[i];
    return NULL;
}

static bool has_key(const struct plan_section *s, const struct plan_key *k)
{
    for (size_t i = 0; i < s->entries.count; i++)
        if (s->entries.data[i].key == k)
            return true;
    return false;
}

/* Those of [all] that the section does not say otherwise, then its own. `set` adds up. */
static bool gather(struct plan_text *t, const struct plan_section *s, struct combination *c)
{
    const struct plan_section *all = &t->sections.data[0];
    bool good = true;
    for (size_t i = 0; good && i < all->entries.count; i++) {
        struct choice one = { &all->entries.data[i], 0 };
        if (one.entry->key->type == PLAN_SET || !has_key(s, one.entry->key))
            good = LIST_PUSH(&c->choices, one);
    }
    for (size_t i = 0; good && i < s->entries.count; i++) {
        struct choice one = { &s->entries.data[i], 0 };
        good = LIST_PUSH(&c->choices, one);
    }
    return good || error_out_of_memory(t->e, "");
}

/* The next combination, the last key first; false: there is none. */
static bool advance(struct combination *c)
{
    for (size_t i = c->choices.count; i-- > 0;) {
        if (++c->choices.data[i].value < c->choices.data[i].entry->values.count)
            return true;
        c->choices.data[i].value = 0;
    }
    return false;
}

/* ---- one run ------------------------------------------------------------------------------------- */

static bool lists(const char *names, const char *name)
{
    size_t wanted = strlen(name), length;
    for (; *names; names += length + strspn(names + length, ", ")) {
        length = strcspn(names, ",");
        if (length == wanted && memcmp(names, name, length) == 0)
            return true;
    }
    return false;
}

static bool push(struct plan_text *t, struct plan_run *run, const char *word, bool is_file)
{
    char *copy = strdup(word);
    if (copy && LIST_PUSH(&run->is_file, is_file) && LIST_PUSH(&run->words, copy))
        return true;
    free(copy);
    return error_out_of_memory(t->e, "");
}

static bool push_choice(struct plan_text *t, struct plan_run *run, const struct choice *c)
{
    const struct plan_key *k = c->entry->key;
    const char *text = text_of(c);
    char option[40];
    if (k->targets && !lists(k->targets, run->target->name))
        return plan_refuse(t, c->entry->line, "%s is for the target %s; '%s' does not know it",
                           k->name, k->targets, run->target->name);
    if (k->type == PLAN_FLAG && strcmp(text, "no") == 0)
        return true;
    snprintf(option, sizeof option, "--%s", k->option);
    bool is_file = k->type == PLAN_FILE || strcmp(k->name, "soc") == 0;
    return push(t, run, option, false) && (k->type == PLAN_FLAG || push(t, run, text, is_file));
}

/* "NAME/seed=3,delay=4": of the keys that have several values. */
static char *name_of(const struct plan_section *s, const struct combination *c)
{
    char *text = NULL;
    size_t size = 0;
    int parts = 0;
    FILE *out = text_stream(&text, &size);
    if (!out)
        return NULL;
    fputs(s->name, out);
    for (size_t i = 0; i < c->choices.count; i++) {
        const struct choice *one = &c->choices.data[i];
        const char *value = text_of(one), *slash = strrchr(value, '/');
        if (one->entry->values.count < 2)
            continue;
        fputc(parts++ ? ',' : '/', out);
        if (one->entry->key->type != PLAN_SET)
            fprintf(out, "%s=", one->entry->key->option);
        fputs(slash && one->entry->key->type == PLAN_FILE ? slash + 1 : value, out);
    }
    return fclose(out) == 0 ? text : NULL;
}

static bool fill(struct plan_text *t, struct plan_run *run, const struct combination *c)
{
    const struct choice *target = find(c, "target"), *seed = find(c, "seeds"),
                        *model = find(c, "model"), *against = find(c, "against");
    if (!target)
        return plan_refuse(t, run->line, "the run has no target; [all] may have one, too");
    run->target = target_find(text_of(target));
    run->seed = seed ? strtoull(text_of(seed), NULL, 10) : 1;
    model = against ? against : model;
    if (model && !(run->model = strdup(text_of(model))))
        return error_out_of_memory(t->e, "");
    bool good = push(t, run, "run", false);
    for (size_t i = 0; good && i < c->choices.count; i++)
        good = push_choice(t, run, &c->choices.data[i]);
    return good;
}

static bool is_taken(const struct plan *p, const char *name)
{
    for (size_t i = 0; i + 1 < p->runs.count; i++)
        if (strcmp(p->runs.data[i].name, name) == 0)
            return true;
    return false;
}

static bool add_run(struct plan_text *t, const struct plan_section *s, const struct combination *c)
{
    struct plan *p = t->plan;
    struct plan_run fresh = { .line = s->line, .name = name_of(s, c) };
    if (!fresh.name || !LIST_PUSH(&p->runs, fresh)) {
        free(fresh.name);
        return error_out_of_memory(t->e, "");
    }
    if (is_taken(p, fresh.name))
        return plan_refuse(t, s->line, "two runs would be called '%.200s'", fresh.name);
    return fill(t, &p->runs.data[p->runs.count - 1], c);
}

/* ---- budgets ------------------------------------------------------------------------------------- */

/* Part `i` of `n` equal ones that are whole. */
static uint64_t part_of(uint64_t all, size_t i, size_t n) { return all / n + (i < all % n); }

static bool counts_cycles(const struct plan_run *run) { return run->target->cycles; }

static bool share_section(struct plan_text *t, const struct plan_section *s, size_t first)
{
    struct plan *p = t->plan;
    size_t n = p->runs.count - first;
    if (s->budget.tests && s->budget.tests < n)
        return plan_refuse(t, s->budget_line, "tests = %" PRIu64 " is too little for %zu runs",
                           s->budget.tests, n);
    for (size_t i = 0; i < n; i++) {
        struct plan_run *run = &p->runs.data[first + i];
        run->weight = s->weight / (double)n;
        run->budget.tests = part_of(s->budget.tests, i, n);
        run->budget.cycles = part_of(s->budget.cycles, i, n);
        run->budget.seconds = s->budget.seconds / (double)n;
        if (s->budget.cycles && !counts_cycles(run))
            return plan_refuse(t, s->budget_line, "cycles: the target '%s' counts none",
                               run->target->name);
    }
    return true;
}

/* Of the whole what the sections did not say themselves, by weight; each gets at least 1. */
static bool share_whole(struct plan_text *t, const char *key, uint64_t whole, size_t offset,
                        bool (*takes)(const struct plan_run *run))
{
    struct plan *p = t->plan;
    double weights = 0, before = 0;
    uint64_t said = 0, given = 0;
    for (size_t i = 0; i < p->runs.count; i++) {
        uint64_t own = *(uint64_t *)((char *)&p->runs.data[i].budget + offset);
        said += own;
        weights += !own && takes(&p->runs.data[i]) ? p->runs.data[i].weight : 0;
    }
    if (!whole || weights <= 0)
        return true;
    if (said >= whole)
        return plan_refuse(t, t->budget_line,
                           "%s = %" PRIu64 ": the runs that say their own have %" PRIu64
                           " already, and nothing is left for the others",
                           key, whole, said);
    for (size_t i = 0; i < p->runs.count; i++) {
        struct plan_run *run = &p->runs.data[i];
        uint64_t *own = (uint64_t *)((char *)&run->budget + offset);
        if (*own || !takes(run))
            continue;
        before += run->weight;
        uint64_t until = (uint64_t)((double)(whole - said) * (before / weights) + 0.5);
        *own = until > given ? until - given : 1;
        given += *own;
    }
    return true;
}

static bool takes_tests(const struct plan_run *run)
{
    (void)run;
    return true;
}

static bool share(struct plan_text *t)
{
    struct plan *p = t->plan;
    if (!share_whole(t, "tests", p->budget.tests, offsetof(struct plan_budget, tests), takes_tests)
        || !share_whole(t, "cycles", p->budget.cycles, offsetof(struct plan_budget, cycles),
                        counts_cycles))
        return false;
    for (size_t i = 0; i < p->runs.count; i++) {
        const struct plan_budget *b = &p->runs.data[i].budget;
        if (!b->tests && !b->cycles && !b->seconds && !p->budget.seconds)
            return plan_refuse(t, p->runs.data[i].line,
                               "run '%.100s' has no budget: give tests, seconds or cycles here or "
                               "in [regression]",
                               p->runs.data[i].name);
    }
    return true;
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static bool expand_section(struct plan_text *t, const struct plan_section *s)
{
    struct combination c = { { 0 } };
    size_t first = t->plan->runs.count;
    bool good = gather(t, s, &c);
    do {
        if (good && t->plan->runs.count >= PLAN_MOST_RUNS)
            good = plan_refuse(t, s->line, "there are more than %d runs", PLAN_MOST_RUNS);
        good = good && add_run(t, s, &c);
    } while (good && advance(&c));
    LIST_FREE(&c.choices);
    return good && share_section(t, s, first);
}

bool plan_expand(struct plan_text *t)
{
    if (t->sections.count < 2)
        return plan_refuse(t, 0, "there is no [run NAME]: nothing is to be run");
    for (size_t i = 1; i < t->sections.count; i++)
        if (!expand_section(t, &t->sections.data[i]))
            return false;
    return share(t);
}
