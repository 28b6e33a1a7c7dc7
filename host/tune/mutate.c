/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "test/default_bias.h"

enum { TRIES = 64 };

/* ---- the keys ---------------------------------------------------------------------------------- */

/* How far a number is moved where its range goes further than a test in simulation can. */
static const struct {
    uint32_t slot, most;
} limits[] = {
    { BIAS_test_threads, 16 },
    { BIAS_test_operations, 300 },
    { BIAS_test_locations, 256 },
    { BIAS_placement_set_stride, 65536 },
    { BIAS_sharing_hot_locations, 64 },
    { BIAS_sharing_migrating_every, 300 },
    { BIAS_loops_length_min, 40 },
    { BIAS_loops_length_max, 40 },
    { BIAS_loops_count_min, 40 },
    { BIAS_loops_count_max, 40 },
    { BIAS_branches_length_min, 40 },
    { BIAS_branches_length_max, 40 },
    { BIAS_transactions_length_min, 64 },
    { BIAS_transactions_length_mean, 64 },
    { BIAS_transactions_length_max, 64 },
    { BIAS_transactions_retries, 64 },
    { BIAS_delays_cycles_min, 1000 },
    { BIAS_delays_cycles_max, 1000 },
};

/* Keys of a section that mean nothing while another one is 0. */
static const struct {
    const char *section;
    uint32_t needs;
} needs[] = {
    { "loops", BIAS_loops_share },
    { "branches", BIAS_branches_share },
    { "transactions", BIAS_transactions_share },
    { "delays", BIAS_operations_delay },
    { "faults", BIAS_operations_nonfaulting },
};

enum { USUAL_WEIGHT = 40 }; /* the largest that a weight is drawn up to */

struct range {
    uint32_t least, most;
};

static bool is_weight(uint32_t slot)
{
    return slot >= BIAS_KEY_COUNT
        || (bias_keys[slot].least == 0 && bias_keys[slot].most == MOST_WEIGHT);
}

static struct range range_of(const struct mutate_plan *plan, uint32_t slot)
{
    if (is_weight(slot))
        return (struct range){ 0, MOST_WEIGHT };
    struct range range = { bias_keys[slot].least, bias_keys[slot].most };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].slot == slot)
            range.most = limits[i].most;
    if (slot == BIAS_test_threads && plan->threads < range.most)
        range.most = plan->threads;
    return range;
}

static uint32_t word_count(uint32_t slot)
{
    uint32_t n = 0;
    if (slot < BIAS_KEY_COUNT && bias_keys[slot].words)
        while (bias_keys[slot].words[n])
            n++;
    return n;
}

static bool takes_numbers(uint32_t slot)
{
    return slot >= BIAS_KEY_COUNT || bias_keys[slot].least <= bias_keys[slot].most;
}

static bool is_number(uint32_t slot, uint32_t value)
{
    return takes_numbers(slot) && !(word_count(slot) && value >= bias_keys[slot].first_word);
}

static uint32_t clamp(struct range range, uint64_t value)
{
    return value < range.least ? range.least : value > range.most ? range.most : (uint32_t)value;
}

/* ---- new values -------------------------------------------------------------------------------- */

/* Small numbers as often as large ones: each power of two as likely as the next. */
static uint32_t draw_number(uint32_t slot, struct range range, struct random *r)
{
    uint32_t most = is_weight(slot) ? USUAL_WEIGHT : range.most;
    uint32_t powers = 1, least = range.least ? range.least : 1;
    while (powers < 32 && most >> powers >= least)
        powers++;
    uint64_t power = (uint64_t)least << random_below(r, powers);
    return clamp((struct range){ range.least, most }, power + random_below(r, (uint32_t)power));
}

static uint32_t other_word(uint32_t slot, uint32_t value, struct random *r)
{
    uint32_t n = word_count(slot), first = bias_keys[slot].first_word;
    uint32_t now = is_number(slot, value) ? n : value - first;
    uint32_t word = random_below(r, now < n && n > 1 ? n - 1 : n);
    return first + word + (now < n && n > 1 && word >= now);
}

static struct bias_vary one_value(uint32_t slot, uint32_t value)
{
    return (struct bias_vary){ .slot = slot, .count = 1, .value = { value } };
}

static struct bias_vary draw_value(const struct bias_vary *v, struct range range, struct random *r)
{
    uint32_t slot = v->slot;
    bool word = word_count(slot) && (!takes_numbers(slot) || random_chance(r, 20));
    return one_value(slot, word ? other_word(slot, v->value[0], r) : draw_number(slot, range, r));
}

/* All numbers of it times two, or by two. */
static struct bias_vary scale(const struct bias_vary *v, struct range range, struct random *r)
{
    struct bias_vary to = *v;
    bool up = random_chance(r, 50);
    for (uint32_t i = 0; i < to.count; i++)
        if (is_number(v->slot, to.value[i]))
            to.value[i] = clamp(range, up ? (uint64_t)to.value[i] * 2 : to.value[i] / 2);
    return to;
}

static struct bias_vary least(const struct bias_vary *v, struct range range)
{
    return one_value(v->slot, range.least);
}

/* With and without it; or any number from half to twice of it. */
static struct bias_vary spread(const struct bias_vary *v, struct range range, struct random *r)
{
    uint32_t low = v->value[0], high = v->value[0];
    for (uint32_t i = 1; i < v->count; i++) {
        low = v->value[i] < low ? v->value[i] : low;
        high = v->value[i] > high ? v->value[i] : high;
    }
    if (high == 0)
        high = draw_number(v->slot, range, r);
    bool without = range.least == 0 && random_chance(r, 50);
    return (struct bias_vary){
        .slot = v->slot,
        .count = 2,
        .range = !without,
        .value = { without ? 0 : clamp(range, low / 2),
                   without ? high : clamp(range, (uint64_t)high * 2) },
    };
}

static struct bias_vary narrow(const struct bias_vary *v, struct random *r)
{
    return one_value(v->slot, v->value[random_below(r, v->count)]);
}

static struct bias_vary move_value(const struct bias_vary *v, struct range range, struct random *r)
{
    bool numbers = true;
    for (uint32_t i = 0; i < v->count; i++)
        numbers = numbers && is_number(v->slot, v->value[i]);
    if (!numbers)
        return draw_value(v, range, r);
    switch (random_below(r, 6)) {
    case 0: return draw_value(v, range, r);
    case 1: return least(v, range);
    case 2: return spread(v, range, r);
    case 3: return v->count > 1 ? narrow(v, r) : draw_value(v, range, r);
    default: return scale(v, range, r);
    }
}

/* Lines of a set lie at whole lines; a choice between a value and itself is none. */
static void tidy(struct bias_vary *v)
{
    if (v->count == 2 && v->value[0] == v->value[1])
        *v = one_value(v->slot, v->value[0]);
    for (uint32_t i = 0; v->slot == BIAS_placement_set_stride && i < v->count; i++)
        v->value[i] = v->value[i] < 64 ? 64 : v->value[i] / 64 * 64;
}

static bool is_same(const struct bias_vary *a, const struct bias_vary *b)
{
    return a->count == b->count && (a->count == 1 || a->range == b->range)
        && memcmp(a->value, b->value, a->count * sizeof *a->value) == 0;
}

/* ---- one move ---------------------------------------------------------------------------------- */

/* What is needed to change a setting. */
struct change {
    const struct mutate_plan *plan;
    struct bias_profile *to;
    bool *kept; /* by slot */
};

static bool begin(struct change *c, const struct mutate_plan *plan, const struct bias_profile *from,
                  const char *name, struct bias_profile *to)
{
    struct ordeal_error e;
    *c = (struct change){ plan, to, calloc(bias_slots(plan->base), sizeof *c->kept) };
    bool good = setting_copy(to, from, name) && c->kept;
    return good && bias_kept(plan->base, to, c->kept, &e);
}

/* Nothing is left of one that came to nothing. */
static bool end(struct change *c, bool good)
{
    free(c->kept);
    if (!good)
        setting_free(c->to);
    return good;
}

static bool is_valid(const struct change *c)
{
    struct bias b = setting_bias(c->plan->base, c->to);
    struct ordeal_error e;
    return bias_check(&b, &e);
}

static bool is_zero(const struct change *c, uint32_t slot)
{
    struct bias_vary v = setting_at(c->plan->base, c->to, c->kept, slot);
    for (uint32_t i = 0; i < v.count; i++)
        if (v.value[i])
            return false;
    return true;
}

/* Would nothing change if it were moved? */
static bool is_idle(const struct change *c, uint32_t slot)
{
    for (size_t i = 0; slot < BIAS_KEY_COUNT && i < sizeof needs / sizeof *needs; i++)
        if (strcmp(bias_keys[slot].section, needs[i].section) == 0 && slot != needs[i].needs)
            return is_zero(c, needs[i].needs);
    return false;
}

static const char *section_of(uint32_t slot)
{
    return slot < BIAS_KEY_COUNT ? bias_keys[slot].section : "idioms";
}

/* Sections are as likely as one another, and so are the keys of one. */
static uint32_t draw_slot(const struct bias *base, struct random *r)
{
    uint32_t slots = bias_slots(base), starts[BIAS_KEY_COUNT + 1], sections = 0;
    for (uint32_t i = 0; i < slots; i++)
        if (i == 0 || strcmp(section_of(i), section_of(i - 1)) != 0)
            starts[sections++] = i;
    starts[sections] = slots;
    uint32_t section = random_below(r, sections);
    return starts[section] + random_below(r, starts[section + 1] - starts[section]);
}

/* Changes the slot, if what comes out is another setting, and one that is valid. */
static bool try_value(struct change *c, const struct bias_vary *before, struct bias_vary *after)
{
    struct bias_vary own = { 0 }, *there = (struct bias_vary *)setting_find(c->to, before->slot);
    tidy(after);
    after->at = (struct bias_origin){ "", 0, 1 };
    if (is_same(before, after))
        return false;
    if (there)
        own = *there;
    if (!setting_put(c->to, after))
        return false;
    if (is_valid(c))
        return true;
    if (there)
        *there = own;
    else
        c->to->varies.count--;
    return false;
}

static bool try_slot(struct change *c, uint32_t slot, struct random *r, struct move *move)
{
    if (c->plan->still[slot] || is_idle(c, slot))
        return false;
    struct bias_vary before = setting_at(c->plan->base, c->to, c->kept, slot);
    struct bias_vary after = move_value(&before, range_of(c->plan, slot), r);
    *move = (struct move){ before, after };
    bool good = try_value(c, &before, &after);
    move->after = after;
    return good;
}

bool mutate_one(const struct mutate_plan *plan, const struct bias_profile *from, const char *name,
                struct random *r, struct bias_profile *to, struct move *move)
{
    struct change c;
    bool ready = begin(&c, plan, from, name, to), done = false;
    for (int i = 0; ready && !done && i < TRIES; i++)
        done = try_slot(&c, draw_slot(plan->base, r), r, move);
    return end(&c, done);
}

/* ---- many -------------------------------------------------------------------------------------- */

bool mutate_cross(const struct mutate_plan *plan, const struct bias_profile *from,
                  const struct bias_profile *other, const char *name, struct random *r,
                  struct bias_profile *to)
{
    struct change c;
    bool ready = begin(&c, plan, from, name, to), changed = false;
    for (size_t i = 0; ready && i < other->varies.count; i++) {
        struct bias_vary after = other->varies.data[i];
        struct bias_vary before = setting_at(plan->base, to, c.kept, after.slot);
        if (random_chance(r, 50) && try_value(&c, &before, &after))
            changed = true;
    }
    return end(&c, changed);
}

static struct bias_vary uniform_value(const struct mutate_plan *plan, uint32_t slot,
                                      struct random *r)
{
    struct range range = range_of(plan, slot);
    uint32_t words = word_count(slot),
             numbers = takes_numbers(slot) ? range.most - range.least + 1 : 0;
    uint32_t n = random_below(r, numbers + words);
    return one_value(slot,
                     n < numbers ? range.least + n : bias_keys[slot].first_word + n - numbers);
}

static void shuffle(uint32_t *slots, uint32_t count, struct random *r)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = random_below(r, i + 1);
        slots[i] = slots[k];
        slots[k] = i;
    }
}

bool mutate_uniform(const struct mutate_plan *plan, const struct bias_profile *from,
                    const char *name, struct random *r, struct bias_profile *to)
{
    uint32_t slots = bias_slots(plan->base), *order = calloc(slots, sizeof *order);
    struct change c;
    bool ready = begin(&c, plan, from, name, to) && order;
    if (ready)
        shuffle(order, slots, r);
    for (uint32_t i = 0; ready && i < slots; i++) {
        struct bias_vary before = setting_at(plan->base, to, c.kept, order[i]);
        bool done = plan->still[order[i]];
        for (int k = 0; !done && k < 8; k++) {
            struct bias_vary after = uniform_value(plan, order[i], r);
            done = try_value(&c, &before, &after) || is_same(&before, &after);
        }
    }
    free(order);
    return end(&c, ready);
}

/* ---- what stays -------------------------------------------------------------------------------- */

/* Whether the machine lacks what this is about, or refuses tests that have something of it. One that
 * cannot be asked like that moves; children that do not fit are found out later. */
static bool is_refused(const struct mutate_plan *plan, const struct bias_profile *from,
                       const struct abilities *can, uint64_t seed, uint32_t slot)
{
    enum { TESTS = 16, PERCENT = 30 };
    struct change c;
    struct bias_profile to;
    if (slot < BIAS_KEY_COUNT && !default_bias_can(can, slot))
        return true; /* marks, say, show beside atomics alone */
    bool asked = begin(&c, plan, from, "probe", &to), refused = false;
    struct range range = range_of(plan, slot);
    struct bias_vary before = { .slot = slot, .count = 0 };
    struct bias_vary after = one_value(slot, is_weight(slot) ? USUAL_WEIGHT : PERCENT);
    if (asked && takes_numbers(slot) && range.least == 0 && try_value(&c, &before, &after))
        refused = !setting_fits(plan->base, &to, can, seed, 0, TESTS);
    return end(&c, asked) && (setting_free(&to), refused);
}

bool mutate_plan_new(struct mutate_plan *plan, const struct bias *base,
                     const struct bias_profile *from, const struct abilities *can, uint64_t seed)
{
    uint32_t slots = bias_slots(base);
    *plan = (struct mutate_plan){ .base = base,
                                  .threads = can->threads,
                                  .still = calloc(slots, sizeof *plan->still) };
    for (uint32_t slot = 0; plan->still && slot < slots; slot++)
        plan->still[slot] = bias_held(base, slot) || is_refused(plan, from, can, seed, slot);
    return plan->still;
}

void mutate_plan_free(struct mutate_plan *plan)
{
    free(plan->still);
    plan->still = NULL;
}
