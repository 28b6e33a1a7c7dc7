/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the monitor are the closure, and what it finds is what is there by definition: on random
 * interleavings, of which ORDERS in the environment says how many, and FIRST from which seed on.
 *
 * The oracle has no clocks: it closes the relations over a matrix, and asks of each access and each
 * write before it whether the execution with the access before that write has a cycle. Where some
 * accesses have several locations and others one of them, the clocks alone are compared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor.h"
#include "oracle.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

enum { MOST = 28, LOCATIONS = 4, THREADS = 4 };

struct order {
    uint32_t threads, count;
    bool mixed; /* some accesses have two locations, others one of them */
    struct monitor_access access[MOST];
    uint32_t location[MOST][2];
};
static uint64_t now_at; /* the seed, for who debugs a failure */
struct relation {
    bool holds[MOST][MOST];
};

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : usual;
}

static void draw(struct order *o, uint64_t seed, enum monitor_model model)
{
    static const uint8_t kinds[] = { MONITOR_LOAD,       MONITOR_LOAD,   MONITOR_LOAD,
                                     MONITOR_STORE,      MONITOR_STORE,  MONITOR_STORE,
                                     MONITOR_FENCE,      MONITOR_LOCKED, MONITOR_ATOMIC,
                                     MONITOR_STORE_FENCE };
    uint64_t random = seed;
    o->threads = 2 + (uint32_t)oracle_random(&random, THREADS - 1);
    o->mixed = oracle_random(&random, 4) == 0;
    o->count = 3 + (uint32_t)oracle_random(&random, MOST - 3);
    uint32_t kind_count = 6 + (uint32_t)oracle_random(&random, model == MONITOR_PSO ? 5 : 3);
    for (uint32_t i = 0; i < o->count; i++) {
        struct monitor_access *a = &o->access[i];
        a->kind = kinds[oracle_random(&random, kind_count)];
        a->thread = (uint32_t)oracle_random(&random, o->threads);
        bool fence = a->kind == MONITOR_FENCE || a->kind == MONITOR_STORE_FENCE;
        a->locations = fence ? 0 : 1 + (o->mixed && oracle_random(&random, 3) == 0);
        a->location = o->location[i];
        o->location[i][0] = (uint32_t)oracle_random(&random, LOCATIONS);
        o->location[i][1] = (o->location[i][0] + 1) % LOCATIONS;
    }
}

/* ---- the oracle ---------------------------------------------------------------------------- */

static bool writes(const struct monitor_access *a)
{
    return a->kind == MONITOR_STORE || a->kind == MONITOR_LOCKED || a->kind == MONITOR_ATOMIC;
}

static bool touches(const struct monitor_access *a, uint32_t location)
{
    for (uint32_t k = 0; k < a->locations; k++)
        if (a->location[k] == location)
            return true;
    return false;
}

static bool share(const struct monitor_access *a, const struct monitor_access *b)
{
    return (a->locations > 0 && touches(b, a->location[0]))
        || (a->locations > 1 && touches(b, a->location[1]));
}

/* Program order that the machine keeps, word for word as PROGRAM.md has the models. */
static bool keeps(enum monitor_model model, const struct monitor_access *a,
                  const struct monitor_access *b)
{
    bool store = a->kind == MONITOR_STORE;
    if (model == MONITOR_TSO)
        return !(store && b->kind == MONITOR_LOAD) && a->kind != MONITOR_STORE_FENCE
            && b->kind != MONITOR_STORE_FENCE;
    if (b->kind == MONITOR_LOAD)
        return !store && a->kind != MONITOR_STORE_FENCE;
    if (store && (b->kind == MONITOR_STORE || b->kind == MONITOR_ATOMIC))
        return share(a, b);
    return true;
}

static void close_up(struct relation *r, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; r->holds[i][k] && j < count; j++)
                r->holds[i][j] |= r->holds[k][j];
}

/* A load that sees its own thread's store may see it in the buffer: nothing that others did before
 * that store need come before the load. */
static bool sees_own_store(const struct order *o, uint32_t load, uint32_t location)
{
    for (uint32_t i = load; i-- && o->access[load].kind == MONITOR_LOAD;)
        if (writes(&o->access[i]) && touches(&o->access[i], location))
            return o->access[i].thread == o->access[load].thread
                && o->access[i].kind == MONITOR_STORE;
    return false;
}

static bool conflict(const struct order *o, uint32_t i, uint32_t k, bool relaxed)
{
    const struct monitor_access *a = &o->access[i], *b = &o->access[k];
    for (uint32_t n = 0; n < a->locations && (writes(a) || writes(b)); n++)
        if (touches(b, a->location[n])
            && !(relaxed && writes(a) && sees_own_store(o, k, a->location[n])))
            return true;
    return false;
}

/* Of the accesses in their order; the last one, if `missed` is less than it, comes before that write
 * and all later ones to the location. */
static void relate(const struct order *o, uint32_t count, enum monitor_model model, bool relaxed,
                   uint32_t missed, uint32_t location, struct relation *r)
{
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++) {
            const struct monitor_access *a = &o->access[i], *b = &o->access[k];
            bool back = k == count - 1 && missed < k && i >= missed && touches(a, location)
                     && touches(b, location);
            bool own = a->thread == b->thread;
            if (own && (!relaxed || keeps(model, a, b)))
                r->holds[i][k] = true;
            if (back && relaxed && sees_own_store(o, i, location))
                continue;
            if (!own && conflict(o, i, k, relaxed))
                r->holds[back ? k : i][back ? i : k] = true;
        }
    close_up(r, count);
}

static bool is_cyclic(const struct relation *r, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (r->holds[i][i])
            return true;
    return false;
}

/* Could the last one miss this write? No SC, but the model, and a thread sees its own writes. */
static bool misses(const struct order *o, uint32_t last, enum monitor_model model, uint32_t missed,
                   uint32_t location)
{
    struct relation r;
    bool reads = o->access[missed].kind != MONITOR_STORE;
    if (writes(&o->access[last]) && reads)
        return false; /* it saw what was there before, and nothing can come between */
    for (uint32_t i = missed; i < last; i++)
        if (o->access[i].thread == o->access[last].thread && writes(&o->access[i])
            && touches(&o->access[i], location))
            return false;
    relate(o, last + 1, model, false, missed, location, &r);
    if (!is_cyclic(&r, last + 1))
        return false;
    relate(o, last + 1, model, true, missed, location, &r);
    return !is_cyclic(&r, last + 1);
}

static bool is_borderline(const struct order *o, uint32_t last, enum monitor_model model)
{
    const struct monitor_access *a = &o->access[last];
    bool may = a->kind == MONITOR_LOAD || (model == MONITOR_PSO && writes(a));
    for (uint32_t k = 0; may && k < a->locations; k++)
        for (uint32_t i = 0; i < last; i++)
            if (writes(&o->access[i]) && touches(&o->access[i], a->location[k])
                && misses(o, last, model, i, a->location[k]))
                return true;
    return false;
}

/* ---- comparing ----------------------------------------------------------------------------- */

static void compare_clocks(const struct order *o, uint32_t last, enum monitor_model model,
                           const struct monitor *m)
{
    struct relation r;
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        relate(o, last + 1, model, relaxed, UINT32_MAX, 0, &r);
        for (uint32_t i = 0; i < last; i++) {
            bool ignored = model == MONITOR_TSO && relaxed
                        && (o->access[i].kind == MONITOR_STORE_FENCE
                            || o->access[last].kind == MONITOR_STORE_FENCE);
            if (!ignored)
                TEST_ASSERT_EQUAL(r.holds[i][last], monitor_before(m, i, relaxed));
        }
    }
}

static void feed(const struct order *o, enum monitor_model model, struct monitor *m, uint32_t from)
{
    for (uint32_t i = from; i < o->count; i++) {
        struct monitor_finding f;
        bool found = monitor_add(m, &o->access[i], &f);
        compare_clocks(o, i, model, m);
        if (o->mixed)
            continue;
        TEST_ASSERT_EQUAL(is_borderline(o, i, model), found);
        if (!found)
            continue;
        struct monitor_pair pair[MOST];
        TEST_ASSERT_EQUAL(i, f.access);
        TEST_ASSERT_TRUE(misses(o, i, model, f.missed, f.location));
        uint32_t pairs = monitor_pairs(model, o->access, &f, pair, MOST);
        TEST_ASSERT_GREATER_THAN(0, pairs);
        for (uint32_t k = 0; k < pairs; k++)
            TEST_ASSERT_FALSE(keeps(model, &o->access[pair[k].first], &o->access[pair[k].second]));
    }
}

static void one_order(uint64_t seed, enum monitor_model model)
{
    struct order o;
    draw(&o, seed, model);
    uint64_t random = ~seed;
    struct monitor *m = monitor_new(model, o.threads, LOCATIONS);
    TEST_ASSERT_NOT_NULL(m);
    feed(&o, model, m, 0);
    uint32_t back = (uint32_t)oracle_random(&random, o.count);
    monitor_back(m, back);
    feed(&o, model, m, back);
    monitor_free(m);
}

static void random_orders(void)
{
    uint64_t first = number("FIRST", 1), count = number("ORDERS", 4000);
    for (uint64_t seed = first; seed < first + count; seed++) {
        now_at = seed;
        one_order(seed, MONITOR_TSO);
        one_order(seed, MONITOR_PSO);
    }
}

/* Figure 1(b), one order of which the monitor refuses and another that it does not. */
static void figure_1(void)
{
    static const uint32_t x = 0, y = 1;
    const struct monitor_access t1[] = { { MONITOR_STORE, 0, 1, &x }, { MONITOR_LOAD, 0, 1, &y } };
    const struct monitor_access t2[] = { { MONITOR_STORE, 1, 1, &y }, { MONITOR_LOAD, 1, 1, &x } };
    struct monitor *m = monitor_new(MONITOR_TSO, 2, 2);
    struct monitor_finding f;
    TEST_ASSERT_FALSE(monitor_add(m, &t1[0], &f));
    TEST_ASSERT_FALSE(monitor_add(m, &t1[1], &f));
    TEST_ASSERT_FALSE(monitor_add(m, &t2[0], &f));
    TEST_ASSERT_TRUE(monitor_add(m, &t2[1], &f));
    TEST_ASSERT_EQUAL(3, f.access);
    TEST_ASSERT_EQUAL(0, f.missed);
    monitor_back(m, 1);
    TEST_ASSERT_FALSE(monitor_add(m, &t2[0], &f));
    TEST_ASSERT_FALSE(monitor_add(m, &t1[1], &f));
    TEST_ASSERT_FALSE(monitor_add(m, &t2[1], &f));
    TEST_ASSERT_FALSE(monitor_failed(m));
    monitor_free(m);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(figure_1);
    RUN_TEST(random_orders);
    return UNITY_END();
}
