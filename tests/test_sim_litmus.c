/* SPDX-License-Identifier: Apache-2.0 */
/* The litmus idioms on the hardware, under each model, with large and tiny caches: outcomes that
 * the model forbids never appear, those that it allows and the machine was built to show do. */
#include <stdio.h>
#include <string.h>

#include "machines.h"
#include "racing.h"
#include "unity.h"

enum { ROUNDS = 24, SEEDS = 6, STRIDE = 80, COLD = 0x10000 };

/* Threads of operations: S store (location, value), L load, X swap, F fence: of w (store) and r
 * (load), what before what, or of everything. `outcome`: values of all loads and swaps in the
 * order they stand here, then final values of locations. Models of `must` show it, those of
 * `never` do not; a letter each. */
struct litmus { const char *name, *threads, *outcome, *must, *never; };

static const struct litmus all[] = {
    { "SB", "Sx1 Ly|Sy1 Lx", "00", "TPR", "S" },
    { "SB, one fence", "Sx1 Fwr Ly|Sy1 Lx", "00", "TPR", "S" },
    { "SB, fences", "Sx1 Fwr Ly|Sy1 Fwr Lx", "00", "", "STPR" },
    { "SB, full fences", "Sx1 F Ly|Sy1 F Lx", "00", "", "STPR" },
    { "SB, fences of another kind", "Sx1 Fww Ly|Sy1 Fww Lx", "00", "TPR", "S" },
    { "SB, swaps", "Xx1 Ly|Xy1 Lx", "0000", "", "STPR" },
    { "SB, a swap elsewhere", "Sx1 Xz1 Ly|Sy1 F Lx", "000", "", "STPR" },
    { "SB, own stores read", "Sx1 Lx Ly|Sy1 Ly Lx", "1010", "TP", "S" },
    { "SB of three", "Sx1 Ly|Sy1 Lz|Sz1 Lx", "000", "TPR", "S" },
    { "SB, fences, of three", "Sx1 F Ly|Sy1 F Lz|Sz1 F Lx", "000", "", "STPR" },
    { "R", "Sx1 Sy1|Sy2 Lx", "0y2", "TPR", "S" },
    { "R, fences", "Sx1 Fww Sy1|Sy2 Fwr Lx", "0y2", "", "STPR" },
    { "MP", "Sx1 Sy1|Ly Lx", "10", "PR", "ST" },
    { "MP, stores fenced", "Sx1 Fww Sy1|Ly Lx", "10", "R", "STP" },
    { "MP, loads fenced", "Sx1 Sy1|Ly Frr Lx", "10", "PR", "ST" },
    { "MP, fences", "Sx1 Fww Sy1|Ly Frr Lx", "10", "", "STPR" },
    { "MP, fences of another kind", "Sx1 Fwr Sy1|Ly Frw Lx", "10", "", "ST" },
    { "MP, a swap behind", "Sx1 Xy1|Ly Frr Lx", "010", "", "STPR" },
    { "MP, a third store", "Sx1 Sz1 Sy1|Ly Lx", "10", "PR", "ST" },
    { "S", "Sx2 Sy1|Ly Sx1", "1x2", "PR", "ST" },
    { "S, fences", "Sx2 Fww Sy1|Ly Frw Sx1", "1x2", "", "STPR" },
    { "2+2W", "Sx1 Sy2|Sy1 Sx2", "x1y1", "PR", "ST" },
    { "2+2W, fences", "Sx1 Fww Sy2|Sy1 Fww Sx2", "x1y1", "", "STPR" },
    { "LB", "Lx Sy1|Ly Sx1", "11", "", "STP" },
    { "WRC", "Sx1|Lx Sy1|Ly Lx", "110", "", "STP" },
    { "WRC, fences", "Sx1|Lx Frw Sy1|Ly Frr Lx", "110", "", "STPR" },
    { "RWC", "Sx1|Lx Ly|Sy1 Lx", "100", "TPR", "S" },
    { "RWC, fences", "Sx1|Lx Frr Ly|Sy1 Fwr Lx", "100", "", "STPR" },
    { "ISA2", "Sx1 Sy1|Ly Sz1|Lz Lx", "110", "", "ST" },
    { "ISA2, fences", "Sx1 Fww Sy1|Ly Frw Sz1|Lz Frr Lx", "110", "", "STPR" },
    { "IRIW", "Sx1|Sy1|Lx Ly|Ly Lx", "1010", "R", "STP" },
    { "IRIW, fences", "Sx1|Sy1|Lx Frr Ly|Ly Frr Lx", "1010", "", "STPR" },
    { "W+RWC", "Sx1 Sy1|Ly Lz|Sz1 Lx", "100", "TPR", "S" },
    { "3.2W", "Sx1 Sy2|Sy1 Sz2|Sz1 Sx2", "x1y1z1", "", "ST" },
    { "CoRR", "Sx1|Lx Lx", "10", "", "STPR" },
    { "CoRR of two", "Sx1|Sx2|Lx Lx|Lx Lx", "1221", "", "STPR" },
    { "CoWR", "Sx1 Lx|Sx2", "0", "", "STPR" },
    { "CoWR, the other's", "Sx1 Lx|Sx2", "2x1", "", "STPR" },
    { "CoRW", "Lx Sx1|Sx2", "2x2", "", "STPR" },
    { "CoWW", "Sx1 Sx2", "x1", "", "STPR" },
    { "two swaps", "Xx1|Xx2", "00", "", "STPR" },
    { "two swaps, the last one", "Xx1|Xx2", "01x1", "", "STPR" },
};

static const struct litmus *test;

void setUp(void) {}
void tearDown(void) { racing_close(); }

/* ---- reading the table ---------------------------------------------------------------------- */

static const char *thread_at(uint32_t n)
{
    const char *p = test->threads;
    while (n > 0 && p) {
        p = strchr(p, '|');
        p = p ? p + 1 : NULL;
        n--;
    }
    return p;
}

static uint32_t thread_count(void)
{
    uint32_t n = 1;
    for (const char *p = test->threads; *p; p++)
        n += *p == '|';
    return n;
}

static const char *next(const char *op) /* NULL: the thread ends */
{
    op += strcspn(op, " |");
    return *op == ' ' ? op + 1 : NULL;
}

static uint32_t loads_of(const char *thread)
{
    uint32_t n = 0;
    for (const char *p = thread; p; p = next(p))
        n += *p == 'L' || *p == 'X';
    return n;
}

static uint32_t mix(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t h = a * 0x9E3779B9u ^ b * 0x85EBCA6Bu ^ c * 0xC2B2AE35u;
    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    return h ^ h >> 13;
}

/* ---- the program: rounds on fresh lines, threads on other harts each time ------------------- */

static int32_t offset(char location) { return (location - 'x') * STRIDE; }

static void fence(const char *op)
{
    uint32_t pred = 15, succ = 15;
    if (op[1] == 'r' || op[1] == 'w') {
        pred = op[1] == 'r' ? FENCE_R : FENCE_W;
        succ = op[2] == 'r' ? FENCE_R : FENCE_W;
    }
    racing_emit(rv_fence(pred, succ));
}

static void perform(const char *thread)
{
    uint32_t n = 0;
    racing_emit(rv_addi(T0, ZERO, 1));
    racing_emit(rv_addi(T1, ZERO, 2));
    for (const char *p = thread; p; p = next(p)) {
        uint32_t value = p[0] == 'S' || p[0] == 'X' ? (p[2] == '1' ? T0 : T1) : ZERO;
        switch (p[0]) {
        case 'S': racing_emit(rv_sw(value, S2, offset(p[1]))); break;
        case 'L': racing_emit(rv_lw(A1 + n++, S2, offset(p[1]))); break;
        case 'X': racing_emit(rv_swap(A1 + n++, value, S3 + (uint32_t)(p[1] - 'x'))); break;
        case 'F': fence(p); break;
        default: TEST_FAIL_MESSAGE(test->threads);
        }
    }
    for (uint32_t i = 0; i < n; i++)
        racing_emit(rv_mark(A1 + i));
}

/* Threads of a round stand on the harts in turn; harts that are left take them once more, so that
 * there are as many instances of the test as fit, each with lines of its own. */
static uint32_t instances(void) { return racing_harts / thread_count(); }

static uint32_t place(uint32_t round, uint32_t instance)
{
    return (round * instances() + instance) * 3 * STRIDE;
}

/* Until the cycle that all harts agree on. */
static void wait_for(uint32_t cycle)
{
    racing_set(T3, cycle);
    racing_emit(rv_csrrs(T4, RV_MCYCLE, ZERO));
    racing_emit(rv_blt(T4, T3, -4));
}

/* Misses just before the thread keep the cache busy: then what hits overtakes what misses. */
static void busy(uint32_t how, uint32_t number)
{
    racing_set(T3, MAP_MEMORY + COLD + number * STRIDE);
    for (int32_t i = 0; i < 2 && how > 1; i++)
        racing_emit(how == 2 ? rv_sw(ZERO, T3, i * STRIDE) : rv_lw(ZERO, T3, i * STRIDE));
}

static void body(uint32_t hart, uint32_t k)
{
    uint32_t length = 180 + 50 * racing.setup.delay;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t dice = mix(k, round, hart), common = mix(k, round, 99);
        uint32_t role = (hart + round) % racing_harts, instance = role / thread_count();
        if (instance >= instances())
            continue;
        racing_set(S2, MAP_MEMORY + place(round, instance));
        for (uint32_t i = 0; i < 3; i++)
            racing_emit(rv_addi(S3 + i, S2, (int32_t)i * STRIDE));
        for (uint32_t i = 0; i < 3; i++) /* all, some or none have the lines already */
            if (common & 1 ? common & 2 : dice >> i & 1)
                racing_emit(rv_lw(A0, S2, (int32_t)i * STRIDE));
        wait_for(length * (round + 1));
        racing_nap(common & 12 ? dice >> 8 & 3 : dice >> 8 & 15);
        busy(dice >> 16 & 3, (round * racing_harts + hart) * 2);
        perform(thread_at(role % thread_count()));
    }
    racing_meet(0);
    bool finals = strpbrk(test->outcome, "xyz") != NULL;
    for (uint32_t round = 0; finals && hart == 0 && round < ROUNDS; round++)
        for (uint32_t i = 0; i < 3 * instances(); i++) {
            racing_set(S2, MAP_MEMORY + place(round, 0) + i * STRIDE);
            racing_emit(rv_lw(A1, S2, 0));
            racing_emit(rv_mark(A1));
        }
}

/* ---- outcomes ------------------------------------------------------------------------------- */

/* `marks` of each hart were looked at in earlier rounds; final values are the last of hart 0. */
static bool outcome_in(uint32_t round, uint32_t instance, const uint32_t *marks)
{
    uint32_t wanted = 0;
    for (uint32_t t = 0; t < thread_count(); t++) {
        uint32_t role = instance * thread_count() + t;
        uint32_t hart = (role + racing_harts - round % racing_harts) % racing_harts;
        for (uint32_t n = 0; n < loads_of(thread_at(t)); n++)
            if (rig_mark(&racing, hart, marks[hart] + n) !=
                (uint32_t)(test->outcome[wanted++] - '0'))
                return false;
    }
    if (!test->outcome[wanted])
        return true;
    uint32_t final = rig_marks(&racing, 0) - 3 * instances() * (ROUNDS - round) + 3 * instance;
    for (const char *p = test->outcome + wanted; *p; p += 2)
        if (rig_mark(&racing, 0, final + (uint32_t)(*p - 'x')) != (uint32_t)(p[1] - '0'))
            return false;
    return true;
}

static uint32_t outcomes_of_run(void)
{
    uint32_t marks[16] = { 0 }, seen = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < instances(); i++)
            seen += outcome_in(round, i, marks);
        for (uint32_t h = 0; h < racing_harts; h++) {
            uint32_t role = (h + round) % racing_harts;
            if (role / thread_count() < instances())
                marks[h] += loads_of(thread_at(role % thread_count()));
        }
    }
    return seen;
}

/* How often it was seen; where it must be, once is enough. */
static uint32_t occurrences(enum soc_model model, bool must, uint32_t seeds)
{
    uint32_t seen = 0;
    for (uint32_t k = 0; k < seeds && !(must && seen > 0); k++) {
        racing.setup.delay = k % 4 ? k % 4 + 1 : 0;
        racing_run(body, k, &(struct soc_setup){ .model = model, .seed = 1000 + k,
                                                 .delay = racing.setup.delay });
        seen += outcomes_of_run();
    }
    return seen;
}

static void on_machine(uint32_t number)
{
    bool small = number == MACHINE_SMALL;
    racing_open(number);
    for (uint32_t model = SOC_SC; model <= SOC_RMO; model++) {
        char letter = "STPR"[model], message[256];
        bool must = strchr(test->must, letter) != NULL, never = strchr(test->never, letter) != NULL;
        if (thread_count() > racing_harts || (!must && !never))
            continue;
        uint32_t seen = occurrences(model, must, small ? SEEDS / 2 : must ? 12 * SEEDS : SEEDS);
        snprintf(message, sizeof message, "%s: %s seen %u times, model %c, %s",
                 test->threads, test->outcome, seen, letter, racing.soc->name);
        TEST_ASSERT_FALSE_MESSAGE(never && seen > 0, message);
        TEST_ASSERT_FALSE_MESSAGE(must && seen == 0 && !small, message);
    }
    racing_close();
}

static void litmus(void)
{
    on_machine(MACHINE_USUAL);
    on_machine(MACHINE_SMALL);
}

/* An argument: only the idioms whose name begins so. */
int main(int argc, char **argv)
{
    UNITY_BEGIN();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test = &all[i];
        if (argc > 1 && strncmp(test->name, argv[1], strlen(argv[1])) != 0)
            continue;
        UnityDefaultTestRun(litmus, test->name, __LINE__);
    }
    return UNITY_END();
}
