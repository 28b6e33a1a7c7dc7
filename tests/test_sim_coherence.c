/* SPDX-License-Identifier: Apache-2.0 */
/* The coherence protocol, transition by transition: each is caused on purpose, harts taking turns,
 * and the event counters say that it happened so. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"
#include "racing.h"
#include "unity.h"

enum { FILLERS = 6 };

void setUp(void) {}
void tearDown(void) { racing_close(); }

/* ---- transitions: scripts ------------------------------------------------------------------- */

/* Steps, one hart at a time: hart, operation, line. L load, S store, A add 1 atomically, F flush,
 * P prefetch to read, W prefetch to write, R load reserved, C store conditional that succeeds, c
 * one that fails, E load of other lines of the set until nothing else is in the cache. Then
 * counters of harts: =, or at least. */
struct script { const char *name, *steps, *counts; };

static const struct script scripts[] = {
    { "I to E, E to M in silence", "0La 0Sa 0La",
      "0:UPGRADE=0 0:FROM_MEMORY=1 0:FROM_CACHE=0 1:SNOOP_HIT=0" },
    { "I to M", "0Sa 0Sa 0La", "0:FROM_MEMORY=1 0:UPGRADE=0 0:MISS=1" },
    { "M to S by a read, S to M by an upgrade", "0Sa 1La 0Sa 1La",
      "0:UPGRADE=1 0:SNOOP_SUPPLY=2 1:INVALIDATED=1 1:FROM_CACHE=2 0:FROM_MEMORY=1" },
    { "E to S by a read", "0La 1La 0Sa 1La",
      "0:SNOOP_HIT=2 0:SNOOP_SUPPLY=1 1:FROM_MEMORY=1 0:UPGRADE=1 1:INVALIDATED=1" },
    { "E to I by a write", "0La 1Sa 0La",
      "0:INVALIDATED=1 0:SNOOP_SUPPLY=0 1:FROM_MEMORY=1 0:FROM_CACHE=1 1:SNOOP_SUPPLY=1" },
    { "M to I by a write", "0Sa 1Sa 0La",
      "0:SNOOP_SUPPLY=1 0:INVALIDATED=1 1:FROM_CACHE=1 0:FROM_CACHE=1 1:INVALIDATED=0" },
    { "S to I by an upgrade", "0La 1La 1Sa 0La 1La",
      "0:INVALIDATED=1 1:UPGRADE=1 1:SNOOP_SUPPLY=1 0:FROM_CACHE=1" },
    { "S to I by a write that misses", "0La 1La 2Sa 0La 1La",
      "0:INVALIDATED=1 1:INVALIDATED=1 2:UPGRADE=0 2:SNOOP_SUPPLY=1 1:FROM_MEMORY=2" },
    { "many readers, one writer", "0Sa 1La 2La 3La 0Sa 1La 2La 3La 3Sa 0La 1La 2La",
      "0:UPGRADE=1 3:UPGRADE=1 1:INVALIDATED=2 2:INVALIDATED=2 0:INVALIDATED=1" },
    { "a dirty line read becomes clean: the next comes from memory", "0Sa 1La 2La",
      "1:FROM_CACHE=1 2:FROM_MEMORY=1 2:FROM_CACHE=0" },
    { "S replaced", "0La 1La 0E 1Sa 0La", "0:EVICT_CLEAN>1 0:EVICT_DIRTY=0 0:INVALIDATED=0" },
    { "E replaced", "0La 0E 0La", "0:EVICT_CLEAN>1 0:EVICT_DIRTY=0" },
    { "M replaced", "0Sa 0E 0La 1La", "0:EVICT_DIRTY=1 0:SNOOP_SUPPLY=0 1:FROM_CACHE=0" },
    { "M replaced, then written elsewhere", "0Sa 0E 1Sa 0La 1E 0La", "0:EVICT_DIRTY=1" },
    { "flush of I, E, S and M", "0Fa 0La 0Fa 0La 1La 0Fa 0La 0Sa 0Fa 1La 0La 1Fa 0Sa 1La",
      "0:FROM_CACHE=0 1:FROM_CACHE=1 0:SNOOP_SUPPLY=1" },
    { "atomics take the line to write", "0Aa 1Aa 0Aa 1La", "0:INVALIDATED=1 0:UPGRADE=0" },
    { "an atomic on S is an upgrade", "0La 1La 0Aa 1La", "0:UPGRADE=1 1:INVALIDATED=1" },
    { "prefetch to read", "0Pa 0La 0Sa", "0:FROM_MEMORY=1 0:UPGRADE=0 0:MISS=1" },
    { "prefetch to write", "1La 0Wa 0Sa 1La", "0:UPGRADE=0 0:MISS=1 1:INVALIDATED=1" },
    { "prefetch to write of S", "0La 1La 0Wa 0Sa 1La", "0:UPGRADE=1 1:INVALIDATED=1" },
    { "prefetched lines are snooped", "0Pa 1Sa 0La 0Wa 1La 0Sa 1Sa 0La", "0:INVALIDATED=2" },
    { "prefetch of M", "0Sa 0Pa 0Wa 1La", "0:MISS=1 0:SNOOP_SUPPLY=1" },
    { "reservation used", "0Ra 0Ca 0La 1La", "0:SC_FAILED=0 0:RESERVATION_LOST=0" },
    { "reservation used up", "0Ra 0Ca 0ca 1La", "0:SC_FAILED=1 0:RESERVATION_LOST=0" },
    { "reservation lost to a store", "0Ra 1Sa 0ca 0La", "0:SC_FAILED=1 0:RESERVATION_LOST=1" },
    { "reservation lost to an atomic", "0Ra 1Aa 0ca 0La", "0:SC_FAILED=1 0:RESERVATION_LOST=1" },
    { "reservation lost to a reservation", "0Ra 1Ra 1Ca 0ca", "0:SC_FAILED=1 1:SC_FAILED=0" },
    { "reservation lost to a replacement", "0Ra 0E 0ca", "0:SC_FAILED=1 0:RESERVATION_LOST=1" },
    { "no reservation", "0ca 0La", "0:SC_FAILED=1" },
    { "two lines do not mix", "0Sa 1Sb 0Lb 1La 0Sb 1Sa 0La 1Lb",
      "0:INVALIDATED=1 1:INVALIDATED=1" },
};

static const struct script *script;

static const char *step_at(uint32_t n)
{
    const char *p = script->steps;
    while (n > 0 && p) {
        p = strchr(p, ' ');
        p = p ? p + 1 : NULL;
        n--;
    }
    return p;
}

static void perform(char what, uint32_t line, uint32_t n)
{
    switch (what) {
    case 'L': racing_load(line, 0); break;
    case 'S': racing_store(line, 0, 100 + n); break;
    case 'A':
        racing_address(A2, line, 0);
        racing_emit(rv_amoadd(A1, S9, A2));
        racing_emit(rv_mark(A1));
        break;
    case 'F':
        racing_address(A2, line, 0);
        racing_emit(rv_flush(A2));
        break;
    case 'P': case 'W':
        racing_address(A2, line, 0);
        racing_emit(what == 'P' ? rv_prefetch_r(A2) : rv_prefetch_w(A2));
        racing_nap(800);
        break;
    case 'R':
        racing_address(A2, line, 0);
        racing_emit(rv_lr(A1, A2));
        racing_emit(rv_mark(A1));
        break;
    case 'C': case 'c':
        racing_address(A2, line, 0);
        racing_set(A0, 100 + n);
        racing_emit(rv_sc(A1, A0, A2));
        racing_emit(rv_mark(A1));
        break;
    case 'E':
        for (uint32_t i = 0; i < FILLERS; i++)
            racing_emit(rv_lw(A1, S10, racing_at(2 + i, 0)));
        break;
    default: TEST_FAIL_MESSAGE(script->steps);
    }
}

static void script_body(uint32_t hart, uint32_t k)
{
    const char *p;
    (void)k;
    for (uint32_t n = 0; (p = step_at(n)) != NULL; n++) {
        if ((uint32_t)(p[0] - '0') == hart)
            perform(p[1], p[1] == 'E' ? 0 : (uint32_t)(p[2] - 'a'), n);
        racing_meet(n);
    }
}

/* What loads must have seen, the steps done one after the other. */
static void check_values(void)
{
    uint32_t memory[8] = { 0 }, marks[16] = { 0 };
    const char *p;
    for (uint32_t n = 0; (p = step_at(n)) != NULL; n++) {
        uint32_t hart = (uint32_t)(p[0] - '0'), line = p[1] == 'E' ? 0 : (uint32_t)(p[2] - 'a');
        char message[512];
        snprintf(message, sizeof message, "%s: step %u, %.3s", racing_context, n, p);
        if (strchr("LRA", p[1]))
            TEST_ASSERT_EQUAL_UINT32_MESSAGE(memory[line], rig_mark(&racing, hart, marks[hart]++),
                                             message);
        if (strchr("Cc", p[1]))
            TEST_ASSERT_EQUAL_UINT32_MESSAGE(p[1] == 'c', rig_mark(&racing, hart, marks[hart]++),
                                             message);
        memory[line] += p[1] == 'A';
        if (strchr("SC", p[1]))
            memory[line] = 100 + n;
    }
}

static uint32_t event_of(const char *name, size_t length)
{
    for (uint32_t e = 0; e < RIG_EVENTS; e++)
        if (strlen(rig_event_name[e]) == length && strncmp(rig_event_name[e], name, length) == 0)
            return e;
    TEST_FAIL_MESSAGE(name);
    return 0;
}

static void check_counts(void)
{
    for (const char *p = script->counts; *p;) {
        uint32_t hart = (uint32_t)(*p - '0');
        size_t length = strcspn(p + 2, "=>");
        uint32_t got = rig_counter(&racing, hart, event_of(p + 2, length));
        bool least = p[2 + length] == '>';
        uint32_t wanted = (uint32_t)atoi(p + 3 + length);
        char message[512];
        snprintf(message, sizeof message, "%s: %.*s", racing_context, (int)(strcspn(p, " ")), p);
        if (least)
            TEST_ASSERT_TRUE_MESSAGE(got >= wanted, message);
        else
            TEST_ASSERT_EQUAL_UINT32_MESSAGE(wanted, got, message);
        p += strcspn(p, " ");
        p += *p == ' ';
    }
}

static uint32_t harts_of(const struct script *s)
{
    uint32_t most = 0;
    for (const char *p = s->steps; *p; p++)
        if (isdigit((unsigned char)*p) && (uint32_t)(*p - '0') + 1 > most)
            most = (uint32_t)(*p - '0') + 1;
    return most;
}

static void test_transitions(void)
{
    static const uint32_t delays[] = { 0, 2, 6 };
    for (uint32_t m = MACHINE_USUAL; m <= MACHINE_SMALL; m++) {
        racing_open(m);
        for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
            for (uint32_t n = 0; n < 12 && harts_of(&scripts[i]) <= racing_harts; n++) {
                const struct soc_setup setup = { .model = n / 3, .seed = 1 + n,
                                                 .delay = delays[n % 3] };
                script = &scripts[i];
                snprintf(racing_context, sizeof racing_context,
                         "%s (%s), %s, model %u, seed %u, delay %u",
                         script->name, script->steps, racing.soc->name, setup.model, setup.seed,
                         setup.delay);
                racing_run(script_body, 0, &setup);
                check_values();
                check_counts();
            }
        racing_close();
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_transitions);
    return UNITY_END();
}
