/* SPDX-License-Identifier: Apache-2.0 */
/* Languages as automata, held to sets of words written down one by one: random operations on both
 * must give the same words up to a length, and equal sets of words equal numbers. */
#include <string.h>

#include "automaton.h"
#include "base/random.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

/* Words over three symbols of at most LONGEST symbols, each a number: 1 and then its symbols, in base
 * 4, each plus 1. */
enum { SYMBOLS = 3, LONGEST = 6, CODES = 1 << 2 * (LONGEST + 1) };

/* All words of at most `known` symbols are told right; `whole`: there are no longer ones. */
struct words {
    uint8_t in[CODES];
    int known;
    bool whole;
};

static int length_of(uint32_t code)
{
    int n = 0;
    for (; code > 3; code >>= 2)
        n++;
    return n;
}

static uint32_t symbol_of(uint32_t code, int k, int length)
{
    return (code >> 2 * (length - 1 - k) & 3) - 1;
}

static bool is_code(uint32_t code)
{
    int length = 0;
    for (; code > 3; code >>= 2, length++)
        if (!(code & 3))
            return false;
    return code == 1 && length <= LONGEST;
}

static uint32_t with(uint32_t code, uint32_t symbol) { return code << 2 | (symbol + 1); }

static uint32_t joined(uint32_t code, uint32_t other)
{
    int n = length_of(other);
    for (int k = 0; k < n; k++)
        code = with(code, symbol_of(other, k, n));
    return code;
}

static bool accepts(const struct automata *a, uint32_t language, uint32_t code)
{
    struct automaton m = automata_get(a, language);
    uint32_t state = 0;
    int n = length_of(code);
    if (!m.states)
        return false;
    for (int k = 0; k < n; k++) {
        uint32_t e = m.begin[state];
        while (e < m.begin[state + 1] && m.edge[e].symbol != symbol_of(code, k, n))
            e++;
        if (e == m.begin[state + 1])
            return false;
        state = m.edge[e].to;
    }
    return m.final[state];
}

static void compare(const struct automata *a, uint32_t language, const struct words *w)
{
    for (uint32_t code = 1; code < CODES; code++)
        if (is_code(code) && length_of(code) <= w->known)
            TEST_ASSERT_EQUAL(w->in[code], accepts(a, language, code));
}

/* ---- operations, word by word ------------------------------------------------------------- */

#define EACH(code, w) \
    for (uint32_t code = 1; code < CODES; code++) \
        if (!is_code(code) || !(w)->in[code]) { \
        } else

static struct words append(const struct words *w, uint32_t symbol)
{
    struct words r = { .known = w->known, .whole = w->whole };
    EACH(code, w)
    {
        if (length_of(code) < LONGEST)
            r.in[with(code, symbol)] = 1;
        else
            r.whole = false;
    }
    return r;
}

static struct words quotient(const struct words *w, uint32_t symbol)
{
    struct words r = { .known = w->known - !w->whole, .whole = w->whole };
    for (uint32_t code = 1; code < CODES / 4; code++)
        if (is_code(code) && length_of(code) < LONGEST)
            r.in[code] = w->in[joined(with(1, symbol), code)];
    return r;
}

static struct words either(const struct words *w, const struct words *v, bool both)
{
    struct words r = { .known = w->known < v->known ? w->known : v->known,
                       .whole = w->whole && v->whole };
    for (uint32_t code = 1; code < CODES; code++)
        r.in[code] = both ? w->in[code] && v->in[code] : w->in[code] || v->in[code];
    return r;
}

static struct words repeat(const struct words *w, uint32_t word)
{
    struct words r = *w;
    r.whole = false;
    for (int k = 0; k < LONGEST; k++)
        EACH(code, &r)
        {
            if (length_of(code) + length_of(word) <= LONGEST)
                r.in[joined(code, word)] = 1;
        }
    return r;
}

static bool keeps(const void *user, uint32_t symbol)
{
    (void)user;
    return symbol != 1;
}

static uint32_t projected(uint32_t code)
{
    uint32_t r = 1;
    int n = length_of(code);
    for (int k = 0; k < n; k++)
        if (keeps(NULL, symbol_of(code, k, n)))
            r = with(r, symbol_of(code, k, n));
    return r;
}

static struct words project(const struct words *w)
{
    struct words r = { .known = LONGEST, .whole = true };
    EACH(code, w)
    r.in[projected(code)] = 1;
    return r;
}

static struct words lift(const struct words *w, const struct words *projection)
{
    struct words r = { .known = w->known, .whole = w->whole };
    EACH(code, w)
    r.in[code] = projection->in[projected(code)];
    return r;
}

/* ---- random operations -------------------------------------------------------------------- */

enum { POOL = 6 };
struct pool {
    struct automata *a;
    uint32_t language[POOL];
    struct words words[POOL];
};

static uint32_t random_word(struct random *r, uint32_t *word, int n)
{
    uint32_t code = 1;
    for (int k = 0; k < n; k++) {
        word[k] = (uint32_t)random_below(r, SYMBOLS);
        code = with(code, word[k]);
    }
    return code;
}

/* The place that the result takes. */
static void operate(struct pool *p, struct random *r)
{
    uint32_t i = (uint32_t)random_below(r, POOL), j = (uint32_t)random_below(r, POOL);
    uint32_t to = (uint32_t)random_below(r, POOL), symbol = (uint32_t)random_below(r, SYMBOLS);
    uint32_t *l = p->language, word[3], code;
    struct words *w = p->words, v;
    int n = 1 + (int)random_below(r, 3);
    switch (random_below(r, 8)) {
    case 0:
    case 1: l[to] = automata_append(p->a, l[i], symbol), v = append(&w[i], symbol); break;
    case 2: l[to] = automata_quotient(p->a, l[i], symbol), v = quotient(&w[i], symbol); break;
    case 3: l[to] = automata_union(p->a, l[i], l[j]), v = either(&w[i], &w[j], false); break;
    case 4: l[to] = automata_intersect(p->a, l[i], l[j]), v = either(&w[i], &w[j], true); break;
    case 5:
        code = random_word(r, word, n);
        l[to] = automata_repeat(p->a, l[i], word, (size_t)n), v = repeat(&w[i], code);
        break;
    case 6:
        if (!w[i].whole)
            return;
        l[to] = automata_project(p->a, l[i], keeps, NULL), v = project(&w[i]);
        break;
    default:
        if (!w[j].whole)
            return;
        v = project(&w[j]);
        l[to] = automata_lift(p->a, l[i], automata_project(p->a, l[j], keeps, NULL), keeps, NULL);
        v = lift(&w[i], &v);
    }
    w[to] = v;
}

static void restart(struct pool *p, struct random *r)
{
    for (int k = 0; k < POOL; k++) {
        p->language[k] = LANGUAGE_EMPTY_WORD;
        p->words[k] = (struct words){ .known = LONGEST, .whole = true };
        p->words[k].in[1] = 1;
        for (uint32_t n = (uint32_t)random_below(r, 4); n--;) {
            uint32_t symbol = (uint32_t)random_below(r, SYMBOLS);
            p->language[k] = automata_append(p->a, p->language[k], symbol);
            p->words[k] = append(&p->words[k], symbol);
        }
    }
}

static void compare_pairs(struct pool *p)
{
    for (int i = 0; i < POOL; i++)
        for (int j = 0; j < POOL; j++) {
            bool in = true;
            EACH(code, &p->words[j])
            in = in && p->words[i].in[code];
            if (!p->words[i].whole || !p->words[j].whole)
                continue;
            TEST_ASSERT_EQUAL(in, automata_includes(p->a, p->language[i], p->language[j]));
            if (!memcmp(p->words[i].in, p->words[j].in, CODES))
                TEST_ASSERT_EQUAL(p->language[i], p->language[j]);
        }
}

static void test_random_operations_give_the_words_they_should(void)
{
    struct random r;
    static struct pool p;
    p.a = automata_new();
    random_seed(&r, 17, 0);
    for (int round = 0; round < 300; round++) {
        restart(&p, &r);
        for (int k = 0; k < 8; k++)
            operate(&p, &r);
        for (int k = 0; k < POOL; k++)
            compare(p.a, p.language[k], &p.words[k]);
        compare_pairs(&p);
    }
    automata_free(p.a);
}

/* ---- the rest ----------------------------------------------------------------------------- */

/* By the last symbol that is not 1, as a load sees the newest store to its variable. */
static uint64_t newest(const void *user, uint64_t seen, uint32_t symbol)
{
    (void)user;
    return symbol == 1 ? seen : symbol + 1;
}

static uint64_t newest_of(uint32_t code)
{
    uint64_t seen = 0;
    int n = length_of(code);
    for (int k = 0; k < n; k++)
        seen = newest(NULL, seen, symbol_of(code, k, n));
    return seen;
}

static void test_parts_have_every_word_once(void)
{
    struct random r;
    static struct pool p;
    struct automaton_part part[4];
    p.a = automata_new();
    random_seed(&r, 3, 0);
    for (int round = 0; round < 200; round++) {
        restart(&p, &r);
        for (int k = 0; k < 6; k++)
            operate(&p, &r);
        int n = automata_split(p.a, p.language[0], newest, NULL, part, 4);
        TEST_ASSERT_GREATER_OR_EQUAL(0, n);
        for (int k = 0; k < n; k++) {
            struct words w = p.words[0];
            EACH(code, &w)
            w.in[code] = newest_of(code) == part[k].seen;
            compare(p.a, part[k].language, &w);
            TEST_ASSERT_NOT_EQUAL(LANGUAGE_NONE, part[k].language);
        }
    }
    automata_free(p.a);
}

static void test_what_grew_is_told(void)
{
    struct random r;
    static struct pool p;
    p.a = automata_new();
    random_seed(&r, 5, 0);
    for (int round = 0; round < 200; round++) {
        uint32_t word[3], found[3], grown, language;
        int n = 1 + (int)random_below(&r, 3);
        restart(&p, &r);
        for (int k = 0; k < 6; k++)
            operate(&p, &r);
        grown = language = p.language[0];
        random_word(&r, word, n);
        for (int k = 0; k < n; k++)
            grown = automata_append(p.a, grown, word[k]);
        if (language == LANGUAGE_NONE)
            continue;
        TEST_ASSERT_EQUAL(n, automata_growth(p.a, language, grown, found, 3));
        TEST_ASSERT_EQUAL_MEMORY(word, found, (size_t)n * sizeof *word);
        TEST_ASSERT_TRUE(automata_ends_with(p.a, grown, word, (size_t)n));
        word[0] = (word[0] + 1) % SYMBOLS;
        TEST_ASSERT_FALSE(automata_ends_with(p.a, grown, word, (size_t)n));
        TEST_ASSERT_EQUAL(-1, automata_growth(p.a, grown, language, found, 3));
    }
    automata_free(p.a);
}

/* L . w . w* of the paper, and that it takes in what one more round gives. */
static void test_a_repeated_word_is_taken_in(void)
{
    struct automata *a = automata_new();
    uint32_t word[] = { 0, 2 }, once = LANGUAGE_EMPTY_WORD, more;
    for (int k = 0; k < 2; k++)
        once = automata_append(a, once, word[k]);
    uint32_t all = automata_repeat(a, once, word, 2);
    more = automata_append(a, automata_append(a, all, 0), 2);
    TEST_ASSERT_TRUE(automata_includes(a, all, more));
    TEST_ASSERT_FALSE(automata_includes(a, more, all));
    TEST_ASSERT_EQUAL(all, automata_union(a, once, more));
    TEST_ASSERT_EQUAL(all, automata_repeat(a, all, word, 2));
    TEST_ASSERT_FALSE(automata_has_empty_word(a, all));
    TEST_ASSERT_TRUE(automata_has_empty_word(a, automata_repeat(a, LANGUAGE_EMPTY_WORD, word, 2)));
    automata_free(a);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_random_operations_give_the_words_they_should);
    RUN_TEST(test_parts_have_every_word_once);
    RUN_TEST(test_what_grew_is_told);
    RUN_TEST(test_a_repeated_word_is_taken_in);
    return UNITY_END();
}
