/* SPDX-License-Identifier: Apache-2.0 */
#include "cover.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "cover_parts.h"

/* ---- what one test reached ------------------------------------------------------------------- */

void cover_hits_add(struct cover_hits *to, const struct cover_hits *from)
{
    for (size_t i = 0; i < COVER_WORDS; i++)
        to->bits[i] |= from->bits[i];
}

uint32_t cover_hits_count(const struct cover_hits *h)
{
    uint32_t count = 0;
    for (size_t i = 0; i < COVER_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(h->bits[i]);
    return count;
}

uint32_t cover_news(const struct cover *c, const struct cover_hits *h)
{
    uint32_t count = 0;
    for (size_t i = 0; i < COVER_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(h->bits[i] & ~c->reached.bits[i]);
    return count;
}

/* ---- the set --------------------------------------------------------------------------------- */

struct cover *cover_new(void) { return calloc(1, sizeof(struct cover)); }

void cover_free(struct cover *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->rtl.count; i++)
        free(c->rtl.data[i].name);
    for (size_t i = 0; i < c->labels.count; i++)
        free(c->labels.data[i]);
    LIST_FREE(&c->rtl);
    LIST_FREE(&c->labels);
    LIST_FREE(&c->runs);
    LIST_FREE(&c->folders);
    free(c->slots);
    free(c);
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* A label kept by the set, equal ones once; NULL: out of memory. There are few. */
static const char *keep_label(struct cover *c, const char *label)
{
    if (!label)
        label = "";
    for (size_t i = c->labels.count; i-- > 0;)
        if (strcmp(c->labels.data[i], label) == 0)
            return c->labels.data[i];
    char *kept = strdup(label);
    if (!kept || !LIST_PUSH(&c->labels, kept)) {
        free(kept);
        return NULL;
    }
    return kept;
}

static bool is_earlier(const struct cover_origin *a, const struct cover_origin *b)
{
    if (a->seed != b->seed)
        return a->seed < b->seed;
    if (a->number != b->number)
        return a->number < b->number;
    return strcmp(a->label, b->label) < 0;
}

/* The label is the set's. */
static void count_point(struct cover_mark *m, uint64_t count, const struct cover_origin *test)
{
    if (count && (!m->count || is_earlier(test, &m->first)))
        m->first = *test;
    m->count = plus(m->count, count);
}

bool cover_count(struct cover *c, uint32_t point, uint64_t count, const struct cover_origin *test)
{
    assert(point < COVER_POINTS && count > 0);
    struct cover_origin kept = { test->seed, test->number, keep_label(c, test->label) };
    if (!kept.label)
        return false;
    count_point(&c->points[point], count, &kept);
    cover_hit(&c->reached, point);
    return true;
}

bool cover_add(struct cover *c, const struct cover_hits *h, const struct cover_origin *test)
{
    struct cover_origin kept = { test->seed, test->number, keep_label(c, test->label) };
    if (!kept.label)
        return false;
    for (size_t i = 0; i < COVER_WORDS; i++)
        for (uint64_t left = h->bits[i]; left; left &= left - 1)
            count_point(&c->points[i * 64 + (size_t)__builtin_ctzll(left)], 1, &kept);
    cover_hits_add(&c->reached, h);
    c->tests = plus(c->tests, 1);
    return true;
}

/* ---- points of RTL, by name ------------------------------------------------------------------ */

static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return h;
}

/* Where the name is, or would be, in a table that has room. */
static uint32_t *slot_of(const struct cover *c, const char *name)
{
    for (uint64_t i = hash(name);; i++) {
        uint32_t *slot = &c->slots[i & (c->slot_count - 1)];
        if (*slot == 0 || strcmp(c->rtl.data[*slot - 1].name, name) == 0)
            return slot;
    }
}

static bool make_room(struct cover *c)
{
    if (c->rtl.count * 2 < c->slot_count)
        return true;
    size_t count = c->slot_count ? c->slot_count * 2 : 1024;
    uint32_t *slots = count <= UINT32_MAX ? calloc(count, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(c->slots);
    c->slots = slots;
    c->slot_count = count;
    for (size_t i = 0; i < c->rtl.count; i++)
        *slot_of(c, c->rtl.data[i].name) = (uint32_t)i + 1;
    return true;
}

bool cover_add_rtl(struct cover *c, const char *name, uint64_t count,
                   const struct cover_origin *test)
{
    struct cover_origin kept = { test->seed, test->number, keep_label(c, test->label) };
    if (!kept.label || !make_room(c))
        return false;
    uint32_t *slot = slot_of(c, name);
    if (*slot == 0) {
        struct cover_rtl_point fresh = { .name = strdup(name) };
        if (!fresh.name || !LIST_PUSH(&c->rtl, fresh)) {
            free(fresh.name);
            return false;
        }
        *slot = (uint32_t)c->rtl.count;
    }
    struct cover_mark *m = &c->rtl.data[*slot - 1].mark;
    c->rtl_reached += !m->count && count;
    count_point(m, count, &kept);
    return true;
}

static const struct cover_mark *find_rtl(const struct cover *c, const char *name)
{
    uint32_t slot = c->slot_count ? *slot_of(c, name) : 0;
    return slot ? &c->rtl.data[slot - 1].mark : NULL;
}

/* ---- where it comes from --------------------------------------------------------------------- */

void cover_ran_on(struct cover *c, const struct cover_can *can) { cover_can_add(&c->can, can); }
const struct cover_can *cover_machines(const struct cover *c) { return &c->can; }

const struct cover_run *cover_run_at(const struct cover *c, size_t i)
{
    return i < c->runs.count ? &c->runs.data[i] : NULL;
}

/* By target, seed and how; 0: they can touch. */
static int compare_kinds(const struct cover_run *a, const struct cover_run *b)
{
    int targets = strcmp(a->target, b->target);
    if (targets || a->seed != b->seed)
        return targets ? targets : a->seed < b->seed ? -1 : 1;
    return a->how < b->how ? -1 : a->how > b->how;
}

static int compare_runs(const void *a, const void *b)
{
    const struct cover_run *x = a, *y = b;
    int kinds = compare_kinds(x, y);
    return kinds ? kinds : x->first < y->first ? -1 : x->first > y->first;
}

bool cover_ran(struct cover *c, const struct cover_run *run)
{
    struct cover_run all = *run;
    size_t kept = 0;
    all.target = keep_label(c, run->target);
    if (!all.target)
        return false;
    if (!LIST_PUSH(&c->runs, all)) /* so that there is room: what touches it goes */
        return false;
    c->runs.count--;
    for (size_t i = 0; i < c->runs.count; i++) {
        const struct cover_run r = c->runs.data[i];
        bool touches = compare_kinds(&r, &all) == 0 && r.first <= all.next && all.first <= r.next;
        if (touches && r.first < all.first)
            all.first = r.first;
        if (touches && r.next > all.next)
            all.next = r.next;
        if (!touches)
            c->runs.data[kept++] = r;
    }
    bool sorted = kept == 0 || compare_runs(&c->runs.data[kept - 1], &all) < 0;
    c->runs.data[kept] = all;
    c->runs.count = kept + 1;
    if (!sorted)
        LIST_SORT(&c->runs, compare_runs);
    return true;
}

uint64_t cover_has_run(const struct cover *c, const struct cover_run *run)
{
    uint64_t count = 0;
    for (size_t i = 0; i < c->runs.count; i++) {
        const struct cover_run *r = &c->runs.data[i];
        uint64_t first = r->first > run->first ? r->first : run->first;
        uint64_t next = r->next < run->next ? r->next : run->next;
        if (compare_kinds(r, run) == 0 && first < next)
            count += next - first;
    }
    return count;
}

uint64_t cover_repeats(const struct cover *c)
{
    uint64_t told = 0;
    for (size_t i = 0; i < c->runs.count; i++)
        told = plus(told, c->runs.data[i].next - c->runs.data[i].first);
    return c->runs.count && c->tests > told ? c->tests - told : 0;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool cover_add_folder(struct cover *c, const char *folder)
{
    const char *kept = keep_label(c, folder);
    for (size_t i = 0; kept && i < c->folders.count; i++)
        if (c->folders.data[i] == kept)
            return true;
    if (!kept || !LIST_PUSH(&c->folders, kept))
        return false;
    LIST_SORT(&c->folders, compare_texts);
    return true;
}

const char *cover_folder_at(const struct cover *c, size_t i)
{
    return i < c->folders.count ? c->folders.data[i] : NULL;
}

/* ---- two sets -------------------------------------------------------------------------------- */

bool cover_merge(struct cover *to, const struct cover *from)
{
    for (uint32_t p = 0; p < COVER_POINTS; p++) {
        const struct cover_mark *m = &from->points[p];
        if (m->count && !cover_count(to, p, m->count, &m->first))
            return false;
    }
    for (size_t i = 0; i < from->rtl.count; i++) {
        const struct cover_rtl_point *p = &from->rtl.data[i];
        if (!cover_add_rtl(to, p->name, p->mark.count, &p->mark.first))
            return false;
    }
    for (size_t i = 0; i < from->runs.count; i++)
        if (!cover_ran(to, &from->runs.data[i]))
            return false;
    for (size_t i = 0; i < from->folders.count; i++)
        if (!cover_add_folder(to, from->folders.data[i]))
            return false;
    cover_can_add(&to->can, &from->can);
    to->tests = plus(to->tests, from->tests);
    return true;
}

uint64_t cover_news_of(const struct cover *c, const struct cover *from, enum cover_source source)
{
    uint64_t news = 0;
    for (size_t i = 0; source == COVER_RTL && i < from->rtl.count; i++) {
        const struct cover_mark *m = find_rtl(c, from->rtl.data[i].name);
        news += from->rtl.data[i].mark.count && !(m && m->count);
    }
    for (const struct cover_group *g = cover_groups; g < cover_groups + COVER_GROUP_COUNT; g++)
        for (uint32_t p = g->first; g->source == source && p < cover_group_end(g); p++)
            news += cover_is_hit(&from->reached, p) && !cover_is_hit(&c->reached, p);
    return news;
}

/* ---- looking at it --------------------------------------------------------------------------- */

uint64_t cover_tests(const struct cover *c) { return c->tests; }
uint64_t cover_count_of(const struct cover *c, uint32_t point) { return c->points[point].count; }

bool cover_is_known(const struct cover *c, uint32_t point)
{
    return cover_point_exists(point) && (c->points[point].count || cover_can_reach(&c->can, point));
}

uint64_t cover_reached(const struct cover *c, enum cover_source source)
{
    uint64_t count = source == COVER_RTL ? c->rtl_reached : 0;
    for (const struct cover_group *g = cover_groups; g < cover_groups + COVER_GROUP_COUNT; g++)
        for (uint32_t p = g->first; g->source == source && p < cover_group_end(g); p++)
            count += cover_is_hit(&c->reached, p);
    return count;
}

uint64_t cover_known(const struct cover *c, enum cover_source source)
{
    uint64_t count = source == COVER_RTL ? c->rtl.count : 0;
    for (const struct cover_group *g = cover_groups; g < cover_groups + COVER_GROUP_COUNT; g++)
        for (uint32_t p = g->first; g->source == source && p < cover_group_end(g); p++)
            count += cover_is_known(c, p);
    return count;
}

struct sorted {
    LIST(struct cover_entry) entries;
    char (*names)[COVER_NAME_SIZE];
};

static int by_name(const void *a, const void *b)
{
    const struct cover_entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static bool gather(const struct cover *c, struct sorted *s)
{
    s->names = malloc(COVER_POINTS * sizeof *s->names);
    bool good = s->names;
    for (uint32_t p = 0; good && p < COVER_POINTS; p++) {
        if (!cover_is_known(c, p))
            continue;
        cover_point_name(p, s->names[p]);
        struct cover_entry e = { s->names[p], c->points[p].count, c->points[p].first };
        good = LIST_PUSH(&s->entries, e);
    }
    for (size_t i = 0; good && i < c->rtl.count; i++) {
        const struct cover_rtl_point *p = &c->rtl.data[i];
        struct cover_entry e = { p->name, p->mark.count, p->mark.first };
        good = LIST_PUSH(&s->entries, e);
    }
    return good;
}

bool cover_walk(struct cover *c, bool (*each)(void *user, const struct cover_entry *e), void *user)
{
    struct sorted s = { .names = NULL };
    bool good = gather(c, &s);
    if (good)
        LIST_SORT(&s.entries, by_name);
    for (size_t i = 0; good && i < s.entries.count; i++)
        good = each(user, &s.entries.data[i]);
    LIST_FREE(&s.entries);
    free(s.names);
    return good;
}
