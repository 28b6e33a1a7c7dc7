/* SPDX-License-Identifier: Apache-2.0 */
/* Exploration with buffers of any size, and fences: outcomes of random programs are those of the plain
 * machines of tiny.h, whose buffers have no bound either; and all minimal sets of fences are as many,
 * with as many fences each, as trying every subset on those machines finds. SEEDS and FIRST in the
 * environment say how many programs, and from which. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "fence.h"
#include "tiny.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

enum { MOST_STATES = 4000 };

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : usual;
}

static struct image *image_of(const struct tiny_program *p)
{
    size_t size;
    struct image *image = NULL;
    struct ordeal_error error = { 0 };
    void *elf = tiny_elf(p, &size);
    TEST_ASSERT_TRUE_MESSAGE(image_load("tiny.elf", elf, size, &image, &error), error.reason);
    free(elf);
    return image;
}

static struct explore_options options_of(enum tiny_model model, uint32_t address[TINY_COLUMNS],
                                         uint8_t size[TINY_COLUMNS])
{
    tiny_columns(address);
    memset(size, 4, TINY_COLUMNS);
    return (struct explore_options){
        .model = model == TINY_PSO ? EXPLORE_PSO : EXPLORE_TSO,
        .local = EXPLORE_LOCAL_STATIC,
        .jobs = 1,
        .outcome_address = address,
        .outcome_size = size,
        .outcomes = TINY_COLUMNS,
    };
}

/* ---- outcomes ----------------------------------------------------------------------------- */

static bool has_row(const struct tiny_outcomes *o, const uint32_t *row)
{
    for (size_t i = 0; i < o->rows; i++)
        if (!memcmp(o->row[i], row, sizeof o->row[i]))
            return true;
    return false;
}

/* False: it says that it does not know. */
static bool explores_as(const struct tiny_program *p, enum tiny_model model,
                        const struct tiny_outcomes *right)
{
    uint32_t address[TINY_COLUMNS], count;
    uint8_t size[TINY_COLUMNS];
    struct explore_options how = options_of(model, address, size);
    struct explore_progress before = { 0 };
    struct program_code code;
    struct fence_machine machine;
    struct fence_outcome o;
    struct ordeal_error error;
    struct image *image = image_of(p);
    TEST_ASSERT_TRUE(program_code_new(&code, image, &error));
    TEST_ASSERT_TRUE(fence_machine_new(&machine, &code));
    how.symbolic = &machine;
    TEST_ASSERT_TRUE(fence_search(&how, &before, fence_now(), &o));
    bool decided = o.verdict == EXPLORE_PASS;
    if (!decided)
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(o.note, "different sizes"), o.note);
    bool same = !decided || o.rows.count == right->rows;
    for (uint32_t i = 0; decided && i < o.rows.count; i++)
        same = same && has_row(right, word_table_get(&o.rows, i, &count));
    if (!same) {
        tiny_print(p, stderr);
        fprintf(stderr, "%s: %zu outcomes, the machine has %zu\n", explore_model_names[how.model],
                o.rows.count, right->rows);
    }
    TEST_ASSERT_TRUE_MESSAGE(same, "other outcomes than the machine's");
    fence_outcome_free(&o);
    fence_machine_free(&machine);
    program_code_free(&code);
    image_free(image);
    return decided;
}

static void outcomes_are_those_of_a_plain_machine(void)
{
    uint64_t first = number("FIRST", 1), seeds = number("SEEDS", 300);
    unsigned decided = 0, machines = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct tiny_program p;
        tiny_random(&p, seed);
        for (enum tiny_model model = TINY_TSO; model <= TINY_PSO; model++) {
            struct tiny_outcomes right;
            if (tiny_outcomes(&p, model, (struct tiny_limits){ .most_states = MOST_STATES },
                              &right)) {
                machines++;
                decided += explores_as(&p, model, &right);
            }
            tiny_outcomes_free(&right);
        }
    }
    TEST_ASSERT_GREATER_THAN(machines / 2, decided);
}

/* ---- minimal sets, by all subsets ---------------------------------------------------------- */

enum { STORES = 4 };

/* Two threads of loads and of STORES stores of whole words in all. */
static void random_program(struct tiny_program *p, struct random *r)
{
    unsigned stores = 0, registers[2] = { 0 };
    memset(p, 0, sizeof *p);
    p->threads = 2;
    while (stores < STORES) {
        unsigned t = random_below(r, 2);
        struct tiny_op *op = &p->op[t][p->ops[t]];
        bool load = random_chance(r, 45);
        if (p->ops[t] == 6 || (load && registers[t] == TINY_REGISTERS))
            continue;
        *op = (struct tiny_op){ .kind = load ? TINY_LOAD : TINY_STORE,
                                .size = 4,
                                .address = (uint8_t)(4 * random_below(r, TINY_WORDS)),
                                .source = TINY_REGISTERS,
                                .value = 1 + stores };
        if (load)
            op->target = (uint8_t)registers[t]++;
        stores += !load;
        p->ops[t]++;
    }
    for (unsigned t = 0; t < 2; t++) /* a load at the end sees more */
        if (registers[t] < TINY_REGISTERS)
            p->op[t][p->ops[t]++] = (struct tiny_op){
                .kind = TINY_LOAD,
                .size = 4,
                .address = (uint8_t)(4 * random_below(r, TINY_WORDS)),
                .target = (uint8_t)registers[t]
            };
}

/* The program with a fence behind the stores whose bit is in `mfences`, before those in `sfences`. */
static void with_fences(const struct tiny_program *p, unsigned mfences, unsigned sfences,
                        struct tiny_program *to)
{
    unsigned store = 0;
    *to = (struct tiny_program){ .threads = p->threads };
    for (unsigned t = 0; t < p->threads; t++)
        for (unsigned k = 0; k < p->ops[t]; k++) {
            bool is_store = p->op[t][k].kind == TINY_STORE;
            if (is_store && sfences >> store & 1)
                to->op[t][to->ops[t]++] = (struct tiny_op){ .kind = TINY_FENCE, .order = TINY_WW };
            to->op[t][to->ops[t]++] = p->op[t][k];
            if (is_store && mfences >> store & 1)
                to->op[t][to->ops[t]++] = (struct tiny_op){ .kind = TINY_FENCE,
                                                            .order = TINY_FULL };
            store += is_store;
        }
}

static bool is_wrong(void *user, const uint32_t *row) { return !has_row(user, row); }

static bool is_safe(const struct tiny_program *p, enum tiny_model model, unsigned mfences,
                    unsigned sfences, struct tiny_outcomes *sc)
{
    struct tiny_program fenced;
    struct tiny_outcomes o;
    bool safe = true;
    with_fences(p, mfences, sfences, &fenced);
    TEST_ASSERT_TRUE(tiny_outcomes(&fenced, model, (struct tiny_limits){ 0 }, &o));
    for (size_t i = 0; i < o.rows; i++)
        safe = safe && has_row(sc, o.row[i]);
    tiny_outcomes_free(&o);
    return safe;
}

/* The minimal sets among those that are safe, as bits of `minimal`. */
static void find_minimal(const bool safe[1 << STORES], bool minimal[1 << STORES])
{
    for (unsigned s = 0; s < 1 << STORES; s++) {
        minimal[s] = safe[s];
        for (unsigned k = 0; k < STORES; k++)
            if (s >> k & 1 && safe[s & ~(1u << k)])
                minimal[s] = false;
    }
}

/* How many minimal sets have so many mfences and sfences. */
struct sizes {
    unsigned of[STORES + 1][STORES + 1];
};

static void by_trying(const struct tiny_program *p, struct tiny_outcomes *sc, struct sizes *sizes)
{
    bool safe[1 << STORES], mfences[1 << STORES], sfences[1 << STORES];
    memset(sizes, 0, sizeof *sizes);
    for (unsigned s = 0; s < 1 << STORES; s++)
        safe[s] = is_safe(p, TINY_TSO, s, 0, sc);
    find_minimal(safe, mfences);
    for (unsigned m = 0; m < 1 << STORES; m++) {
        if (!mfences[m])
            continue;
        for (unsigned s = 0; s < 1 << STORES; s++)
            safe[s] = is_safe(p, TINY_PSO, m, s, sc);
        find_minimal(safe, sfences);
        for (unsigned s = 0; s < 1 << STORES; s++)
            sizes->of[__builtin_popcount(m)][__builtin_popcount(s)] += sfences[s];
    }
}

static void by_looking(const struct tiny_program *p, struct tiny_outcomes *sc, struct sizes *sizes)
{
    uint32_t address[TINY_COLUMNS];
    uint8_t size[TINY_COLUMNS];
    struct fence_options how = { .explore = options_of(TINY_PSO, address, size),
                                 .all_minimal = true,
                                 .wrong = is_wrong,
                                 .user = sc };
    struct fence_result *r;
    struct ordeal_error error;
    struct image *image = image_of(p);
    memset(sizes, 0, sizeof *sizes);
    TEST_ASSERT_EQUAL(ORDEAL_OK, fence_find(image, &how, &r, &error));
    if (r->verdict != EXPLORE_PASS)
        tiny_print(p, stderr);
    TEST_ASSERT_EQUAL_MESSAGE(EXPLORE_PASS, r->verdict, r->note);
    for (size_t i = 0; i < r->sets; i++)
        sizes->of[r->set[i].mfences][r->set[i].fences - r->set[i].mfences]++;
    how.all_minimal = false;
    fence_result_free(r);
    TEST_ASSERT_EQUAL(ORDEAL_OK, fence_find(image, &how, &r, &error));
    TEST_ASSERT_EQUAL(1, r->sets); /* the one that is found by taking away is one of all */
    TEST_ASSERT_NOT_EQUAL(0, sizes->of[r->set[0].mfences][r->set[0].fences - r->set[0].mfences]);
    TEST_ASSERT_EQUAL(r->mfences + r->sfences + 2, r->iterations);
    fence_result_free(r);
    image_free(image);
}

static void minimal_sets_are_those_of_all_subsets(void)
{
    uint64_t first = number("FIRST", 1), seeds = number("SEEDS", 100);
    unsigned fenced = 0, several = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct random r;
        struct tiny_program p;
        struct tiny_outcomes sc;
        struct sizes tried, looked;
        random_seed(&r, seed, 1);
        random_program(&p, &r);
        TEST_ASSERT_TRUE(tiny_outcomes(&p, TINY_SC, (struct tiny_limits){ 0 }, &sc));
        by_trying(&p, &sc, &tried);
        by_looking(&p, &sc, &looked);
        if (memcmp(&tried, &looked, sizeof tried))
            tiny_print(&p, stderr);
        TEST_ASSERT_EQUAL_MEMORY(&tried, &looked, sizeof tried);
        fenced += !tried.of[0][0];
        several += tried.of[1][1] + tried.of[1][0] + tried.of[2][0] > 1;
        tiny_outcomes_free(&sc);
    }
    TEST_ASSERT_GREATER_THAN(seeds / 6, fenced);
    TEST_ASSERT_TRUE(several || seeds < 100);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(outcomes_are_those_of_a_plain_machine);
    RUN_TEST(minimal_sets_are_those_of_all_subsets);
    return UNITY_END();
}
