/* SPDX-License-Identifier: Apache-2.0 */
/* Do the values of a bias go together? Each rule names the key at fault, with the line that gave
 * it, and what is allowed beside the values of the other keys. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "bias_check.h"
#include "draw.h"
#include "layout.h"
#include "program.h"
#include "registers.h"

struct checking {
    const struct bias *b;
    struct ordeal_error *e;             /* NULL: nobody wants to know */
    const struct bias_profile *profile; /* NULL: none */
    const struct idiom_list *idioms;
    const struct bias_origin
        *place; /* of an idiom that is looked at; NULL: another part of it is */
    struct layout layout;
};

/* "profile NAME: " before what is said, if there is one; its line where no other is at fault. */
static bool complain(struct checking *c, const struct bias_origin *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool complain(struct checking *c, const struct bias_origin *at, const char *format, ...)
{
    const struct bias_profile *p = c->profile;
    char reason[sizeof c->e->reason];
    va_list args;
    if (!c->e)
        return false;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (!p)
        return bias_refuse(c->e, at, "%s", reason);
    at = at->reading ? at : p->only ? &p->only_at : &p->section;
    return bias_refuse(c->e, at, "profile %s: %.450s", p->name, reason);
}

/* "test.threads = 2: ", then the reason; at the line of the key, or where it has its default of the
 * other key that matters. */
static bool fault(struct checking *c, int key, int other, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool fault(struct checking *c, int key, int other, const char *format, ...)
{
    const struct bias_key *k = &bias_keys[key];
    const struct bias_origin *at = &c->b->origins[c->b->origins[key].reading ? key : other];
    char value[32], reason[sizeof c->e->reason];
    va_list args;
    if (!c->e)
        return false;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    bias_value_text(k, c->b->values[key], value, sizeof value);
    return complain(c, at, "%s.%s = %s: %.400s", k->section, k->name, value, reason);
}

/* The same of an idiom: "idioms.sb = 7: ". */
static bool fault_of_idiom(struct checking *c, const struct idiom *x, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fault_of_idiom(struct checking *c, const struct idiom *x, const char *format, ...)
{
    char reason[sizeof c->e->reason];
    va_list args;
    if (!c->e)
        return false;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return complain(c, c->place ? c->place : bias_origin_of(c->b, x->slot),
                    "%s = %" PRIu32 ": %.400s", x->called, x->weight, reason);
}

static uint32_t section_weight(const struct bias *b, const char *section)
{
    uint32_t sum = 0;
    for (int i = 0; i < BIAS_KEY_COUNT; i++)
        sum += strcmp(bias_keys[i].section, section) == 0 ? b->values[i] : 0;
    return sum;
}

/* ---- ranges -------------------------------------------------------------------------------- */

static bool check_ranges(struct checking *c)
{
    static const int pairs[][2] = {
        { BIAS_loops_length_min, BIAS_loops_length_max },
        { BIAS_loops_count_min, BIAS_loops_count_max },
        { BIAS_branches_length_min, BIAS_branches_length_max },
        { BIAS_transactions_length_min, BIAS_transactions_length_mean },
        { BIAS_transactions_length_mean, BIAS_transactions_length_max },
        { BIAS_delays_cycles_min, BIAS_delays_cycles_max },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int low = pairs[i][0], high = pairs[i][1];
        if (c->b->values[low] > c->b->values[high])
            return fault(c, low, high, "it is more than %s = %" PRIu32, bias_keys[high].name,
                         c->b->values[high]);
    }
    return true;
}

/* ---- operations and sizes ------------------------------------------------------------------ */

static bool check_operations(struct checking *c)
{
    const struct bias *b = c->b;
    uint32_t narrow = b->sizes_1 + b->sizes_2 + b->sizes_4 + b->sizes_8;
    if (section_weight(b, "operations") + section_weight(b, "membar") + c->idioms->count == 0)
        return fault(c, BIAS_operations_load, BIAS_operations_store,
                     "no operation, membar or idiom has a weight above 0");
    if (narrow + b->sizes_64 == 0 && (b->operations_load || b->operations_store))
        return fault(c, BIAS_sizes_4, BIAS_operations_load, "no size has a weight above 0");
    if (b->operations_swap && b->sizes_4 + b->sizes_8 == 0)
        return fault(c, BIAS_operations_swap, BIAS_sizes_4,
                     "a swap is of 4 or 8 bytes; sizes.4 or sizes.8 must have a weight");
    if (b->operations_cas && b->sizes_4 + b->sizes_8 == 0)
        return fault(c, BIAS_operations_cas, BIAS_sizes_4,
                     "a CAS is of 4 or 8 bytes; sizes.4 or sizes.8 must have a weight");
    if (b->operations_amo && b->sizes_4 + b->sizes_8 == 0)
        return fault(c, BIAS_operations_amo, BIAS_sizes_4,
                     "an AMO is of 4 or 8 bytes; sizes.4 or sizes.8 must have a weight");
    if (b->operations_lrsc && b->sizes_4 + b->sizes_8 == 0)
        return fault(c, BIAS_operations_lrsc, BIAS_sizes_4,
                     "LR and SC are of 4 or 8 bytes; sizes.4 or sizes.8 must have a weight");
    if ((b->dependencies_share || b->dependencies_atomics)
        && b->dependencies_plain + b->dependencies_data + b->dependencies_control == 0)
        return fault(c, BIAS_dependencies_plain, BIAS_dependencies_share,
                     "no kind of dependence has a weight above 0");
    if (b->operations_cas && b->cas_own + b->cas_register + b->cas_value == 0)
        return fault(c, BIAS_cas_own, BIAS_operations_cas,
                     "no kind of CAS has a weight above 0; set operations.cas to 0 for none");
    if (b->operations_nonfaulting && narrow == 0)
        return fault(c, BIAS_operations_nonfaulting, BIAS_sizes_64,
                     "a non-faulting load is of 1 to 8 bytes; one of these sizes must have a "
                     "weight");
    if (b->loops_share && b->operations_store && narrow == 0)
        return fault(c, BIAS_loops_share, BIAS_sizes_64,
                     "stores of 64 bytes cannot be in loops; another size must have a weight");
    if (b->operations_interrupt && b->test_threads == 1)
        return fault(c, BIAS_operations_interrupt, BIAS_test_threads,
                     "there is no other thread; test.threads must be 2 or more");
    return true;
}

/* ---- memory -------------------------------------------------------------------------------- */

static bool check_placement(struct checking *c)
{
    const struct bias *b = c->b;
    uint32_t fit = 64u >> c->layout.word_log2;
    uint32_t sets = (c->layout.lines + b->placement_lines_per_set - 1) / b->placement_lines_per_set;
    if (b->placement_words_per_line > fit)
        return fault(c, BIAS_placement_words_per_line, BIAS_sizes_8,
                     "words are 8 bytes wide when accesses of 8 bytes have a weight; allowed is "
                     "1 to %" PRIu32, fit);
    if (b->placement_false_sharing && b->placement_words_per_line == 1)
        return fault(c, BIAS_placement_false_sharing, BIAS_placement_words_per_line,
                     "a line has one word; placement.words_per_line must be 2 or more");
    if (b->placement_set_stride % 64)
        return fault(c, BIAS_placement_set_stride, BIAS_placement_lines_per_set,
                     "it must be a multiple of 64");
    if (b->placement_lines_per_set > 1 && b->placement_set_stride < sets * 64)
        return fault(c, BIAS_placement_set_stride, BIAS_placement_lines_per_set,
                     "the first lines of %" PRIu32 " sets take %" PRIu32 " bytes; it must be that "
                     "or more", sets, sets * 64);
    return true;
}

static bool transactions_in_idioms(const struct checking *c)
{
    for (size_t i = 0; i < c->idioms->count; i++)
        for (uint32_t n = 0; n < c->idioms->data[i]->names; n++)
            if (c->idioms->data[i]->name[n].transactional)
                return true;
    return false;
}

static bool check_disjoint(struct checking *c)
{
    const struct bias *b = c->b;
    if (b->transactions_disjoint == BIAS_NO)
        return true;
    if (b->transactions_share == 0 && !transactions_in_idioms(c))
        return fault(c, BIAS_transactions_disjoint, BIAS_transactions_share,
                     "there are no transactions; transactions.share must be above 0");
    if (c->layout.lines < 2)
        return fault(c, BIAS_transactions_disjoint, BIAS_test_locations,
                     "all locations are in one line; test.locations must be above "
                     "placement.words_per_line, which is %" PRIu32, b->placement_words_per_line);
    return true;
}

/* The locations of the smaller pool. */
static uint32_t fewest_locations(const struct checking *c)
{
    uint32_t plain = c->layout.plain.count, transactional = c->layout.transactional.count;
    return plain < transactional ? plain : transactional;
}

static bool check_sharing(struct checking *c)
{
    const struct bias *b = c->b;
    uint32_t locations = fewest_locations(c);
    const char *pool = b->transactions_disjoint ? ", of which transactions have their own" : "";
    if (b->sharing_pattern == SHARING_UNIFORM)
        return true;
    if (b->sharing_pattern == SHARING_HOT)
        return b->sharing_hot_locations < locations
            || fault(c, BIAS_sharing_hot_locations, BIAS_test_locations,
                     "there are %" PRIu32 " locations%s; allowed is less", b->test_locations, pool);
    if (b->sharing_pattern == SHARING_PRODUCER && b->test_threads == 1)
        return fault(c, BIAS_sharing_pattern, BIAS_test_threads,
                     "there is no other thread to read; test.threads must be 2 or more");
    return locations >= b->test_threads
        || fault(c, BIAS_sharing_pattern, BIAS_test_locations,
                 "each thread needs a location of its own, and there are %" PRIu32 "%s for %"
                 PRIu32 " threads; raise test.locations", b->test_locations, pool, b->test_threads);
}

/* Stores that one location could come to have, and what the locations hold: each store takes a
 * fresh value, those in loops one each time round and from one location, those on both sides of a
 * branch although one side is done. What is wider than a word takes from all words of its line. */
static bool check_values(struct checking *c)
{
    const struct bias *b = c->b;
    bool lines = b->sizes_64 > 0, writes = b->operations_store || b->operations_swap
                                        || b->operations_cas || b->operations_amo
                                        || b->operations_lrsc;
    for (size_t i = 0; i < c->idioms->count; i++) {
        lines = lines || idiom_is_wide(c->idioms->data[i], 1u << c->layout.word_log2);
        for (uint32_t n = 0; n < c->idioms->data[i]->names; n++)
            writes = writes || c->idioms->data[i]->name[n].values;
    }
    uint64_t asked = (uint64_t)b->test_threads * b->test_operations;
    uint64_t places = fewest_locations(c), each = c->layout.most;
    if (b->branches_share && b->branches_otherwise)
        asked *= 2;
    if (lines)
        places /= c->layout.words;
    if (b->loops_share)
        each = each >= b->loops_count_max ? each - (b->loops_count_max - 1) : 0;
    if (!writes || each >= asked || places * each >= asked)
        return true;
    return fault(c, BIAS_test_operations, BIAS_sizes_1 + (int)c->layout.grain_log2,
                 "accesses of %u byte%s give a location %" PRIu64 " different values, and the test "
                 "could need %" PRIu64 ", all together; lower it or test.threads, raise "
                 "test.locations, or set the weight of the smallest size to 0",
                 1u << c->layout.grain_log2, c->layout.grain_log2 ? "s" : "", c->layout.most,
                 asked);
}

/* ---- blocks -------------------------------------------------------------------------------- */

static bool check_block(struct checking *c, int share, const char *shortest, uint64_t length,
                        int key, uint32_t weight)
{
    const struct bias *b = c->b;
    if (b->values[share] == 0)
        return true;
    if (weight == 0)
        return fault(c, share, BIAS_operations_load,
                     "no operation that may stand there has a weight above 0");
    return length <= b->test_operations
        || fault(c, key, BIAS_test_operations, "the shortest %s takes %" PRIu64 " operations, and "
                 "a thread has test.operations = %" PRIu32, shortest, length, b->test_operations);
}

static bool check_blocks(struct checking *c)
{
    const struct bias *b = c->b;
    uint32_t weight = section_weight(b, "operations") + section_weight(b, "membar");
    uint32_t never = (b->transactions_hints ? 0 : b->operations_flush) + b->operations_evict
                   + b->operations_interrupt;
    return check_block(c, BIAS_loops_share, "loop",
                       (uint64_t)b->loops_length_min * b->loops_count_min, BIAS_loops_count_min,
                       weight)
        && check_block(c, BIAS_branches_share, "branch", b->branches_length_min,
                       BIAS_branches_length_min, weight)
        && check_block(c, BIAS_transactions_share, "transaction", b->transactions_length_min,
                       BIAS_transactions_length_min, weight - never);
}

/* ---- idioms -------------------------------------------------------------------------------- */

/* Lines, for an idiom one of whose names reaches beyond a word; else locations. */
static bool check_idiom_memory(struct checking *c, const struct idiom *x)
{
    const struct layout *l = &c->layout;
    uint32_t word = 1u << l->word_log2, need[2] = { 0, 0 };
    bool wide = idiom_is_wide(x, word);
    for (uint32_t n = 0; n < x->names; n++) {
        const struct idiom_name *name = &x->name[n];
        if (name->bytes > word * l->words)
            return fault_of_idiom(c, x,
                                  "the idiom reaches %" PRIu32
                                  " bytes into a line, and a line has %" PRIu32
                                  " word%s of %" PRIu32 "; raise placement.words_per_line",
                                  name->bytes, l->words, l->words > 1 ? "s" : "", word);
        if (c->b->transactions_disjoint && name->plain && name->transactional)
            return fault_of_idiom(c, x,
                                  "a name of the idiom is used "
                                  "inside and outside of transactions, which transactions.disjoint "
                                  "= yes forbids");
        if (name->values > l->most)
            return fault_of_idiom(c, x,
                                  "the idiom writes %" PRIu32
                                  " values to a location, and accesses of %u bytes have %" PRIu64,
                                  name->values, 1u << l->grain_log2, l->most);
        need[c->b->transactions_disjoint && name->transactional]++;
    }
    for (int i = 0; i < 2; i++) {
        uint32_t have = i ? l->transactional.count : l->plain.count;
        have = wide ? have / l->words : have;
        if (need[i] > have)
            return fault_of_idiom(c, x,
                                  "the idiom needs %" PRIu32 " different %s, and there are %" PRIu32
                                  "; raise test.locations",
                                  need[i], wide ? "lines" : "locations", have);
    }
    return true;
}

/* All registers of a test together: programs have so many, and the generator takes some itself. */
struct noted {
    uint32_t number[MOST_REGISTERS - REGISTER_FIRST - REGISTERS], count;
};
enum { MOST_NOTED = MOST_REGISTERS - REGISTER_FIRST - REGISTERS };

static bool note(struct noted *noted, uint32_t number)
{
    uint32_t i = 0;
    while (i < noted->count && noted->number[i] != number)
        i++;
    if (i == MOST_NOTED)
        return false;
    noted->number[i] = number;
    noted->count += i == noted->count;
    return true;
}

static bool check_registers(struct checking *c)
{
    struct noted noted = { .count = 0 };
    for (size_t i = 0; i < c->idioms->count; i++) {
        const struct idiom *x = c->idioms->data[i];
        bool good = true;
        for (uint32_t k = 0; k < x->register_count && good; k++)
            good = note(&noted, x->registers[k].number);
        for (uint32_t k = 0; k < x->steps && good; k++)
            if (x->step[k].flags & ORDEAL_COMPARE_REGISTER)
                good = note(&noted, x->step[k].compare_register);
        if (!good)
            return fault_of_idiom(c, x,
                                  "the idioms have more than %d registers together; use the "
                                  "same ones",
                                  MOST_NOTED);
    }
    return true;
}

/* Lines of the pool, at most, that fall into one set. */
static uint32_t lines_in_set(const struct checking *c, const struct pool *pool)
{
    uint32_t each = c->b->placement_lines_per_set, most = 0;
    uint32_t first = pool->first / c->layout.words;
    uint32_t end = (pool->first + pool->count + c->layout.words - 1) / c->layout.words;
    for (uint32_t line = first; line < end && most < each; line = (line / each + 1) * each) {
        uint32_t upto = (line / each + 1) * each < end ? (line / each + 1) * each : end;
        most = upto - line > most ? upto - line : most;
    }
    return most;
}

/* The pool that all names of a place are in; NULL: there are two. */
static const struct pool *pool_of_place(const struct checking *c, const struct idiom *x, int place)
{
    bool seen[2] = { false, false };
    for (uint32_t n = 0; n < x->names; n++)
        if (x->name[n].placed[place])
            seen[c->b->transactions_disjoint && x->name[n].transactional] = true;
    return seen[0] && seen[1] ? NULL : seen[1] ? &c->layout.transactional : &c->layout.plain;
}

static bool too_few(struct checking *c, const struct idiom *x, int place, const char *what,
                    uint32_t have, const char *key)
{
    return fault_of_idiom(c, x,
                          "%s has %" PRIu32 " names, and of %s there %s only %" PRIu32 "; raise %s",
                          idiom_place_keys[place], x->placed[place], what, have == 1 ? "is" : "are",
                          have, key);
}

static bool check_place(struct checking *c, const struct idiom *x, int place)
{
    const struct layout *l = &c->layout;
    const struct pool *pool = pool_of_place(c, x, place);
    if (place == IDIOM_UNCACHED)
        return c->b->placement_uncached
            || fault_of_idiom(c, x, "it has uncached names; placement.uncached must be above 0");
    if (!pool)
        return fault_of_idiom(c, x,
                              "%s has names inside and outside of transactions, which "
                              "transactions.disjoint = yes keeps apart",
                              idiom_place_keys[place]);
    if (place == IDIOM_ONE_LINE && idiom_is_wide(x, 1u << l->word_log2))
        return fault_of_idiom(c, x,
                              "one_line is for names of one word each, and one of them "
                              "reaches further");
    uint32_t lines = pool->count / l->words + (pool->count % l->words > 0);
    uint32_t words = pool->count < l->words ? pool->count : l->words;
    if (place == IDIOM_ONE_LINE && x->placed[place] > words)
        return too_few(c, x, place, "words in a line", words,
                       words < l->words ? "test.locations" : "placement.words_per_line");
    if (place != IDIOM_ONE_LINE && x->placed[place] > lines)
        return too_few(c, x, place, "lines", lines, "test.locations");
    if (place == IDIOM_ONE_SET && x->placed[place] > lines_in_set(c, pool))
        return too_few(c, x, place, "lines in a set", lines_in_set(c, pool),
                       "placement.lines_per_set");
    return true;
}

static bool check_places(struct checking *c, const struct idiom *x)
{
    bool good = true;
    for (int place = 0; place < IDIOM_PLACES && good; place++)
        if (x->placed[place]) {
            const struct bias_idiom *own = &c->b->idioms.data[x->slot - BIAS_KEY_COUNT];
            c->place = own->place[place] ? &own->place_at[place] : NULL;
            good = check_place(c, x, place);
        }
    c->place = NULL;
    return good;
}

static bool check_idioms(struct checking *c)
{
    const struct bias *b = c->b;
    for (size_t i = 0; i < c->idioms->count; i++) {
        const struct idiom *x = c->idioms->data[i];
        if (x->threads > b->test_threads)
            return fault_of_idiom(c, x,
                                  "the idiom has %" PRIu32
                                  " threads; test.threads must be that or more, or the weight 0",
                                  x->threads);
        if (x->longest > b->test_operations)
            return fault_of_idiom(c, x,
                                  "a thread of the idiom has %" PRIu32
                                  " operations; test.operations must be that or more, or the "
                                  "weight 0",
                                  x->longest);
        if (!check_idiom_memory(c, x) || !check_places(c, x))
            return false;
    }
    return true;
}

bool bias_goes_together(const struct bias *b, const struct idiom_list *idioms,
                        const struct bias_profile *profile, struct ordeal_error *e)
{
    struct checking c = { .b = b, .e = e, .profile = profile, .idioms = idioms };
    layout_of_bias(&c.layout, b, idioms);
    return check_ranges(&c) && check_operations(&c) && check_placement(&c) && check_disjoint(&c)
        && check_sharing(&c) && check_blocks(&c) && check_idioms(&c) && check_registers(&c)
        && check_values(&c);
}

/* ---- profiles ------------------------------------------------------------------------------ */

/* All combinations of extreme values, or many of them where there are more. */
bool bias_check_profile(struct draw *d, uint32_t i, struct ordeal_error *e)
{
    enum { MOST = 4096 };
    const struct bias_profile *p = &d->given->profiles.data[i];
    uint32_t all = draw_extremes(d, i);
    struct random r;
    if (!p->weight_at.reading)
        return bias_refuse(e, &p->section, "profile %s has no weight; give 'weight = …', 0 to %d",
                           p->name, MOST_WEIGHT);
    random_seed(&r, 0, 0);
    for (uint32_t n = 0; n < all && n < MOST; n++) {
        draw_extreme(d, i, all <= MOST || n == 0 ? n : n == 1 ? all - 1 : random_below(&r, all));
        if (!bias_goes_together(&d->now, &d->idioms, p, e))
            return false;
    }
    return true;
}

static bool check_profiles(struct draw *d, struct ordeal_error *e)
{
    for (uint32_t i = 0; i < d->given->profiles.count; i++)
        if (!bias_check_profile(d, i, e))
            return false;
    return d->profiles.count
        || bias_refuse(e, &d->given->profiles.data[0].weight_at, "no profile has a weight above 0");
}

bool bias_check(const struct bias *b, struct ordeal_error *e)
{
    struct draw d;
    bool good = draw_new(&d, b, e);
    if (good)
        good = b->profiles.count ? check_profiles(&d, e)
                                 : bias_goes_together(&d.now, &d.idioms, NULL, e);
    draw_free(&d);
    return good;
}
