/* SPDX-License-Identifier: Apache-2.0 */
/* Generated tests: the keys of operations, sizes, placement and sharing are seen to act, the same
 * seed gives the same test, and whatever the bias all of them can be run. */
#include "checking.h"
#include "making.h"
#include "base/random.h"

void setUp(void) { making_open(); }
void tearDown(void) { making_close(); }

/* ---- determinism --------------------------------------------------------------------------- */

#define EVERYTHING \
    "threads=5 operations=300 locations=40 prefetch=2 flush=2 evict=2 nonfaulting=4 interrupt=2 " \
    "delay=3 sl=2 ss=2 ll=2 ls=2 mixed=3 sizes.2=2 sizes.8=3 sizes.64=1 words_per_line=4 " \
    "false_sharing=20 lines_per_set=3 uncached=20 pattern=private loops.share=30 " \
    "branches.share=20 transactions.share=30 abort=20 sb=4 mp=2 iriw=2 dekker=3"

static void the_same_bytes_on_every_machine(void)
{
    start(1);
    make(0);
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(0xDFA212AD8097C195), hash_of_test());
    set(EVERYTHING);
    start(42);
    make(7);
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(0x308588A4C8D646EA), hash_of_test());
}

/* The tests of a bias file are what somebody's campaign is made of: they stay what they are. */
static void examples_make_the_tests_they_always_made(void)
{
    static const struct {
        const char *file;
        uint64_t hash;
    } cases[] = {
        { "examples/false_sharing.bias", UINT64_C(0xAD8D751E19D3EB4F) },
        { "examples/litmus.bias", UINT64_C(0xECB89B78D23E1193) },
        { "examples/mixed_sizes.bias", UINT64_C(0x605C6281848035A4) },
        { "examples/producer_consumer.bias", UINT64_C(0xFE93FAE624B070A0) },
        { "examples/small_board.bias", UINT64_C(0x1FB950EC3DE090F3) },
        { "examples/store_buffer.bias", UINT64_C(0x6007D7AB252F24D6) },
        { "examples/swaps.bias", UINT64_C(0x2B8128E211887A9E) },
        { "examples/transactions.bias", UINT64_C(0x6C58B86AF471C5AB) },
        { "examples/zoo.bias", UINT64_C(0x8867A463F6C906CE) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t hash = 0;
        bias_free(b);
        b = bias_new();
        TEST_ASSERT_TRUE_MESSAGE(bias_read(b, cases[i].file, &e), e.reason);
        start(1);
        for (uint64_t n = 0; n < 50; n++) {
            make(n);
            hash = hash * 31 + hash_of_test();
        }
        TEST_ASSERT_EQUAL_HEX64_MESSAGE(cases[i].hash, hash, cases[i].file);
    }
}

static void a_test_does_not_depend_on_those_made_before(void)
{
    uint64_t hash[4];
    set(EVERYTHING);
    start(3);
    for (uint64_t n = 0; n < 4; n++) {
        make(n);
        hash[n] = hash_of_test();
        for (uint64_t m = 0; m < n; m++)
            TEST_ASSERT_TRUE(hash[m] != hash[n]);
    }
    for (uint64_t n = 4; n-- > 0;) {
        start(3);
        make(n);
        TEST_ASSERT_EQUAL_HEX64(hash[n], hash_of_test());
    }
    start(4);
    make(0);
    TEST_ASSERT_TRUE(hash_of_test() != hash[0]);
}

/* ---- [test] -------------------------------------------------------------------------------- */

static void as_many_threads_operations_and_locations_as_asked(void)
{
    make_only("threads=7 operations=333 locations=5");
    is_sound(true);
    bool seen[5] = { false };
    for (size_t i = 0; i < length(); i++)
        if (has_location(op(i))) {
            TEST_ASSERT_LESS_THAN_UINT32(5, line_of(op(i)));
            seen[line_of(op(i))] = true;
        }
    for (int i = 0; i < 5; i++)
        TEST_ASSERT_TRUE(seen[i]);
    make_only("threads=256 operations=1 locations=65536");
    is_sound(true);
    make_only("threads=1 operations=1000 locations=1");
    is_sound(true);
}

static void lines_are_named_like_columns(void)
{
    make_only("operations=20000 locations=800");
    bool z = false, aa = false, adt = false;
    for (uint32_t base = 1; base <= ordeal_trace_names(t); base++) {
        z |= strcmp(ordeal_trace_name_text(t, base), "Z") == 0;
        aa |= strcmp(ordeal_trace_name_text(t, base), "AA") == 0;
        adt |= strcmp(ordeal_trace_name_text(t, base), "ADT") == 0;
    }
    TEST_ASSERT_TRUE(z && aa && adt);
    TEST_ASSERT_EQUAL_UINT32(800, ordeal_trace_names(t));
}

/* ---- [operations], [membar], [sizes] ------------------------------------------------------- */

/* The key whose event an operation is; a load before a CAS is no event. */
static int key_of(size_t i)
{
    static const int kinds[] = {
        [ORDEAL_LOAD] = BIAS_operations_load,
        [ORDEAL_STORE] = BIAS_operations_store,
        [ORDEAL_SWAP] = BIAS_operations_swap,
        [ORDEAL_CAS] = BIAS_operations_cas,
        [ORDEAL_PREFETCH] = BIAS_operations_prefetch,
        [ORDEAL_FLUSH] = BIAS_operations_flush,
        [ORDEAL_EVICT] = BIAS_operations_evict,
        [ORDEAL_DELAY] = BIAS_operations_delay,
        [ORDEAL_INTERRUPT] = BIAS_operations_interrupt,
        [ORDEAL_AMO] = BIAS_operations_amo,
        [ORDEAL_LOAD_RESERVED] = BIAS_operations_lrsc,
        [ORDEAL_STORE_CONDITIONAL] = BIAS_operations_lrsc,
    };
    static const int flavours[] = {
        [ORDEAL_FULL] = BIAS_membar_full, [ORDEAL_SL] = BIAS_membar_sl,
        [ORDEAL_SS] = BIAS_membar_ss, [ORDEAL_LL] = BIAS_membar_ll, [ORDEAL_LS] = BIAS_membar_ls,
        [3] = BIAS_membar_mixed, [5] = BIAS_membar_mixed, [6] = BIAS_membar_mixed,
        [7] = BIAS_membar_mixed, [9] = BIAS_membar_mixed, [10] = BIAS_membar_mixed,
        [11] = BIAS_membar_mixed, [12] = BIAS_membar_mixed, [13] = BIAS_membar_mixed,
        [14] = BIAS_membar_mixed,
    };
    const struct ordeal_op *p = op(i);
    if (p->kind == ORDEAL_MEMBAR)
        return flavours[p->barrier];
    if (p->kind == ORDEAL_LOAD && p->flags & ORDEAL_NONFAULTING)
        return BIAS_operations_nonfaulting;
    return kinds[p->kind];
}

static bool leads_to_cas(size_t i)
{
    uint32_t reg;
    bool written;
    return op(i)->kind == ORDEAL_LOAD && ordeal_trace_register_of(t, i, 0, &reg, &written);
}

static void count_events(uint64_t *count, uint64_t *all)
{
    for (size_t i = 0; i < length(); i++)
        if (!is_bracket(op(i)) && !leads_to_cas(i)) {
            count[key_of(i)]++;
            ++*all;
        }
}

static void operations_are_as_frequent_as_their_weights(void)
{
    uint64_t count[BIAS_KEY_COUNT] = { 0 }, all = 0, weights = 0;
    set("operations=50000 load=11 store=13 swap=7 cas=5 amo=17 prefetch=3 flush=4 evict=2 nonfaulting=6 "
        "interrupt=8 delay=9 full=1 sl=10 ss=12 ll=14 ls=15 mixed=16");
    start(5);
    make(0);
    count_events(count, &all);
    for (int i = BIAS_operations_load; i <= BIAS_membar_mixed; i++)
        weights += b->values[i];
    for (int i = BIAS_operations_load; i <= BIAS_membar_mixed; i++)
        about((double)all * b->values[i] / (double)weights, (double)count[i], (double)all, 4,
              bias_keys[i].name);
    is_sound(true);
}

static void what_has_no_weight_does_not_happen(void)
{
    for (int k = BIAS_operations_load; k <= BIAS_membar_mixed; k++) {
        uint64_t count[BIAS_KEY_COUNT] = { 0 }, all = 0;
        set(NOTHING);
        b->values[k] = 1;
        start(1);
        make(0);
        count_events(count, &all);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(all, count[k], bias_keys[k].name);
        TEST_ASSERT_EQUAL_UINT64(k == BIAS_operations_cas ? 100 : 200, all);
        is_sound(true);
        b->values[k] = 0;
    }
}

/* The test done from the first line to the last: of how many AMOs is the result new in its word?
 * `functions`: which there were, a bit each. */
static double new_results(uint32_t *functions)
{
    enum { WORDS = 64, VALUES = 4096 };
    static uint64_t seen[WORDS][VALUES];
    uint32_t count[WORDS] = { 0 }, amos = 0, fresh = 0;
    *functions = 0;
    for (size_t i = 0; i < length(); i++) {
        struct ordeal_op p = *op(i);
        if (p.kind != ORDEAL_AMO && !is_write(&p))
            continue;
        uint32_t word = line_of(&p), k = 0;
        TEST_ASSERT_TRUE(word < WORDS && count[word] < VALUES);
        p.read = count[word] ? seen[word][count[word] - 1] : 0;
        uint64_t written = ordeal_op_written(&p);
        while (k < count[word] && seen[word][k] != written)
            k++;
        if (p.kind == ORDEAL_AMO) {
            *functions |= 1u << p.function;
            amos++;
            fresh += written && k == count[word];
        }
        seen[word][count[word]++] = written;
    }
    TEST_ASSERT_GREATER_THAN_UINT32(1000, amos);
    return (double)fresh / amos;
}

static void results_of_amos_are_mostly_new(void)
{
    static const char *const sizes[] = { "sizes.4=1", "sizes.4=0 sizes.8=1" };
    uint32_t functions;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        set("threads=4 operations=2000 locations=64 load=0 swap=5 cas=0 membar.full=0 amo=40");
        set(sizes[i]);
        start(1);
        make(0);
        TEST_ASSERT_TRUE(new_results(&functions) > 0.8);
        TEST_ASSERT_EQUAL_HEX32((1u << ORDEAL_AMO_FUNCTIONS) - 1, functions);
    }
    make_only("operations=1000 amo=40 sizes.1=5 sizes.2=5 sizes.8=5 loops.share=50");
    is_sound(true); /* what is added each time round fits */
}

/* ---- what RISC-V has ------------------------------------------------------------------------ */

#define RISCV \
    NOTHING \
    " threads=3 operations=2000 locations=8 load=20 store=20 swap=10 cas=5 amo=10 " \
    "lrsc=20 membar.tso=5 membar.sets=20 marks.rmw=50 dependencies.share=50 " \
    "dependencies.atomics=50 dependencies.plain=1 dependencies.data=2 dependencies.control=3"

static void an_sc_follows_its_lr(void)
{
    uint32_t pairs = 0;
    make_only(RISCV " transactions.share=20 loops.share=20 branches.share=20");
    for (size_t i = 0; i < length(); i++) {
        if (op(i)->kind != ORDEAL_STORE_CONDITIONAL)
            continue;
        size_t lr = i;
        while (op(--lr)->thread != op(i)->thread)
            ;
        TEST_ASSERT_EQUAL(ORDEAL_LOAD_RESERVED, op(lr)->kind);
        TEST_ASSERT_EQUAL(op(i)->base, op(lr)->base);
        TEST_ASSERT_EQUAL_UINT64(op(i)->address, op(lr)->address);
        TEST_ASSERT_EQUAL(op(i)->size_log2, op(lr)->size_log2);
        pairs++;
    }
    TEST_ASSERT_GREATER_THAN_UINT32(300, pairs);
    is_sound(true);
    struct program p;
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&p, t, "made", &e), e.reason);
    TEST_ASSERT_TRUE(p.asks.marks && p.asks.data && p.asks.control && p.asks.reserve_sizes);
    TEST_ASSERT_FALSE(p.asks.plain_marks);
    program_free(&p);
}

static void marks_are_those_that_riscv_allows(void)
{
    uint32_t count[ORDEAL_OP_KINDS][4] = { { 0 } };
    make_only(RISCV " marks.plain=20");
    for (size_t i = 0; i < length(); i++)
        count[op(i)->kind][op(i)->flags >> 6]++;
    for (int marks = 0; marks < 4; marks++) {
        TEST_ASSERT_NOT_EQUAL(0, count[ORDEAL_SWAP][marks]);
        TEST_ASSERT_NOT_EQUAL(0, count[ORDEAL_CAS][marks]);
        TEST_ASSERT_NOT_EQUAL(0, count[ORDEAL_AMO][marks]);
        TEST_ASSERT_EQUAL(marks == 2, !count[ORDEAL_LOAD_RESERVED][marks]);
        TEST_ASSERT_EQUAL(marks == 1, !count[ORDEAL_STORE_CONDITIONAL][marks]);
        TEST_ASSERT_EQUAL(marks > 1, !count[ORDEAL_LOAD][marks]);
        TEST_ASSERT_EQUAL(marks % 2, !count[ORDEAL_STORE][marks]);
    }
    uint32_t marked = count[ORDEAL_SWAP][1] + count[ORDEAL_SWAP][2] + count[ORDEAL_SWAP][3];
    uint32_t all = marked + count[ORDEAL_SWAP][0];
    about(all / 2.0, marked, all, 60, "marks.rmw");
}

static void fences_are_all_sets(void)
{
    uint32_t seen = 0;
    make_only(NOTHING " membar.sets=1 operations=1000");
    for (size_t i = 0; i < length(); i++)
        seen |= 1u << op(i)->barrier;
    TEST_ASSERT_EQUAL_HEX32(1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 8 | 1u << 12 | 1u << 5
                                | 1u << 10 | 1u << 15,
                            seen);
    make_only(NOTHING " membar.sets=0 membar.tso=1 operations=10");
    TEST_ASSERT_EQUAL(11, op(0)->barrier);
}

static void dependences_are_of_all_uses(void)
{
    uint32_t count[ORDEAL_REGISTER_USES] = { 0 }, number;
    enum ordeal_register_use use;
    make_only(RISCV);
    for (size_t i = 0; i < length(); i++)
        for (size_t k = 0; ordeal_trace_register_use(t, i, k, &number, &use); k++) {
            count[use]++;
            TEST_ASSERT_TRUE(use != ORDEAL_REGISTER_DATA
                             || (op(i)->kind != ORDEAL_LOAD
                                 && op(i)->kind != ORDEAL_LOAD_RESERVED));
        }
    TEST_ASSERT_GREATER_THAN_UINT32(100, count[ORDEAL_REGISTER_READ]);
    TEST_ASSERT_GREATER_THAN_UINT32(100, count[ORDEAL_REGISTER_DATA]);
    TEST_ASSERT_GREATER_THAN_UINT32(2 * count[ORDEAL_REGISTER_READ],
                                    count[ORDEAL_REGISTER_CONTROL]);
    TEST_ASSERT_EQUAL(0, count[ORDEAL_REGISTER_ADDRESS]);
}

static void mixed_membars_are_all_pairs_and_triples(void)
{
    uint32_t seen = 0;
    make_only(NOTHING " membar.mixed=1 operations=1000");
    for (size_t i = 0; i < length(); i++)
        seen |= 1u << op(i)->barrier;
    TEST_ASSERT_EQUAL_HEX32(1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12
                            | 1 << 13 | 1 << 14, seen);
}

static void a_cas_compares_with_a_load_of_the_same_place_just_before(void)
{
    uint64_t cas = 0;
    make_only("operations=1001 sizes.8=1 sizes.1=1 cas=20 locations=1000");
    for (size_t i = 0; i < length(); i++) {
        if (op(i)->kind != ORDEAL_CAS)
            continue;
        size_t k = i - 1;
        while (op(k)->thread != op(i)->thread)
            k--;
        TEST_ASSERT_EQUAL(ORDEAL_LOAD, op(k)->kind);
        TEST_ASSERT_EQUAL_UINT32(op(i)->base, op(k)->base);
        TEST_ASSERT_EQUAL_UINT64(op(i)->address, op(k)->address);
        TEST_ASSERT_EQUAL_UINT8(op(i)->size_log2, op(k)->size_log2);
        uint32_t reg;
        bool written;
        TEST_ASSERT_TRUE(ordeal_trace_register_of(t, k, 0, &reg, &written) && written);
        TEST_ASSERT_TRUE(op(i)->flags & ORDEAL_COMPARE_REGISTER);
        TEST_ASSERT_EQUAL_UINT64(reg, ordeal_trace_compare_of(t, i));
        cas++;
    }
    TEST_ASSERT_GREATER_THAN_UINT64(100, cas);
}

static void sizes_are_as_frequent_as_their_weights(void)
{
    static const struct { uint32_t log2, key; } sizes[] = {
        { 0, BIAS_sizes_1 }, { 1, BIAS_sizes_2 }, { 2, BIAS_sizes_4 }, { 3, BIAS_sizes_8 },
        { 6, BIAS_sizes_64 },
    };
    uint64_t count[7] = { 0 }, swaps[7] = { 0 }, all = 0, all_swaps = 0;
    make_only("operations=30000 locations=60000 sizes.1=1 sizes.2=2 sizes.4=3 sizes.8=4 "
              "sizes.64=5 cas=0");
    for (size_t i = 0; i < length(); i++) {
        bool swap = op(i)->kind == ORDEAL_SWAP;
        if (swap)
            swaps[op(i)->size_log2]++;
        else if (is_access(op(i)))
            count[op(i)->size_log2]++;
        all_swaps += swap;
        all += !swap && is_access(op(i));
    }
    for (int i = 0; i < 5; i++)
        about((double)all * b->values[sizes[i].key] / 15, (double)count[sizes[i].log2], (double)all,
              6, bias_keys[sizes[i].key].name);
    TEST_ASSERT_EQUAL_UINT64(all_swaps, swaps[2] + swaps[3]);
    about((double)all_swaps * 3 / 7, (double)swaps[2], (double)all_swaps, 25, "swaps of 4");
    is_sound(true);
}

/* All bits that stores write. */
static uint64_t bits_written(const char *setting)
{
    uint64_t bits = 0;
    make_only("operations=200 locations=8 load=0 cas=0 swap=0 full=0");
    set(setting);
    start(3);
    make(0);
    for (size_t i = 0; i < length(); i++)
        bits |= op(i)->write;
    is_sound(true);
    return bits;
}

static void values_are_small_wide_or_high(void)
{
    TEST_ASSERT_EQUAL_HEX64(0, bits_written("values=small") & 0xffffff00);
    TEST_ASSERT_EQUAL_HEX64(0xffffffff, bits_written("values=wide"));
    uint64_t high = bits_written("values=high");
    TEST_ASSERT_EQUAL_HEX64(0, high & 0xffff);
    TEST_ASSERT_TRUE(high > 0xffff);
    TEST_ASSERT_EQUAL_HEX64(0xffff, bits_written("values=wide sizes.2=1 sizes.4=0"));
    TEST_ASSERT_EQUAL_HEX64(0, bits_written("values=wide loops.share=50") & 0xffffff00);
}

/* Unless they are small, what is written to one word is written to no other. */
static void wide_values_tell_their_word(void)
{
    make_only("operations=200 locations=8 load=0 cas=0 swap=0 full=0 values=wide");
    for (size_t i = 0; i < length(); i++)
        for (size_t k = 0; k < i; k++)
            TEST_ASSERT_TRUE(op(i)->write != op(k)->write);
}

/* The same words in the same threads, and new values each time. */
static void idioms_are_repeated_in_a_row(void)
{
    make_only("operations=24 load=0 store=0 swap=0 cas=0 full=0 idioms.mp=1 repeat=12");
    TEST_ASSERT_EQUAL_size_t(48, length());
    for (size_t i = 4; i < length(); i++) {
        TEST_ASSERT_EQUAL_UINT8(op(i - 4)->kind, op(i)->kind);
        TEST_ASSERT_EQUAL_UINT32(op(i - 4)->thread, op(i)->thread);
        TEST_ASSERT_EQUAL_UINT32(op(i - 4)->base, op(i)->base);
        TEST_ASSERT_EQUAL_UINT64(op(i - 4)->write + (op(i)->kind == ORDEAL_STORE), op(i)->write);
    }
    is_sound(true);
    set("operations=23"); /* the last one has no room */
    start(1);
    make(0);
    TEST_ASSERT_EQUAL_size_t(44, length());
}

/* What stands between is of the bias, in a transaction what may be there; an idiom is still whole, in
 * order, and no thread longer than it may be. */
static void something_stands_between_the_steps_of_an_idiom(void)
{
    static const uint8_t idiom[] = { ORDEAL_TX_BEGIN, ORDEAL_SWAP, ORDEAL_SWAP, ORDEAL_TX_END };
    const char *text = "[idiom t]\nweight = 1000\ntest =\n P0 TX.BEGIN#4\n P0 SWAP[x]#1\n"
                       " P0 SWAP[y]#1\n P0 TX.END\n";
    FILE *f = fmemopen((void *)text, strlen(text), "r");
    TEST_ASSERT_TRUE_MESSAGE(bias_read_stream(b, f, "between", &e), e.reason);
    fclose(f);
    set("operations=40 threads=1 locations=8 load=1 store=0 swap=0 cas=0 full=0 flush=1 repeat=9 "
        "between=60");
    start(1);
    size_t between = 0, flushes = 0, steps = 0;
    for (uint64_t n = 0; n < 50; n++) {
        bool inside = false;
        size_t operations = 0;
        make(n);
        for (size_t i = 0; i < length(); i++) {
            uint8_t kind = op(i)->kind;
            operations += kind != ORDEAL_TX_BEGIN && kind != ORDEAL_TX_END;
            TEST_ASSERT_FALSE(inside && kind == ORDEAL_FLUSH);
            flushes += kind == ORDEAL_FLUSH;
            between += inside && kind == ORDEAL_LOAD;
            if (kind == ORDEAL_LOAD || kind == ORDEAL_FLUSH)
                continue;
            TEST_ASSERT_EQUAL_UINT8(idiom[steps++ % sizeof idiom], kind);
            inside = kind == ORDEAL_TX_BEGIN || (inside && kind != ORDEAL_TX_END);
        }
        TEST_ASSERT_EQUAL_size_t(0, steps % sizeof idiom);
        TEST_ASSERT_EQUAL_size_t(40, operations);
    }
    TEST_ASSERT_GREATER_THAN_size_t(200, between);
    TEST_ASSERT_GREATER_THAN_size_t(0, flushes);
}

static void hints_go_where_the_thread_just_was(void)
{
    uint32_t last[2] = { 0 };
    make_only("operations=500 prefetch=20 flush=20 near=100");
    for (size_t i = 0; i < length(); i++) {
        bool hint = op(i)->kind == ORDEAL_PREFETCH || op(i)->kind == ORDEAL_FLUSH;
        if (hint && last[op(i)->thread])
            TEST_ASSERT_EQUAL_UINT32(last[op(i)->thread], op(i)->base);
        if (has_location(op(i)))
            last[op(i)->thread] = op(i)->base;
    }
    is_sound(true);
}

static void narrow_accesses_go_anywhere_in_the_word(void)
{
    uint64_t offsets = 0;
    make_only("operations=2000 locations=4 sizes.1=1 sizes.8=1 words_per_line=2 store=0 swap=0 "
              "cas=0");
    for (size_t i = 0; i < length(); i++)
        if (is_access(op(i)) && op(i)->size_log2 == 0)
            offsets |= UINT64_C(1) << op(i)->address;
    TEST_ASSERT_EQUAL_HEX64(0xffff, offsets);
}

static void delays_interrupts_and_faults(void)
{
    uint64_t faulting = 0, all = 0, sum = 0, delays = 0;
    make_only("operations=5000 threads=3 delay=20 interrupt=20 nonfaulting=40 cycles_min=10 "
              "cycles_max=30 faults.share=25");
    for (size_t i = 0; i < length(); i++) {
        const struct ordeal_op *p = op(i);
        if (p->kind == ORDEAL_DELAY) {
            TEST_ASSERT_TRUE(p->write >= 10 && p->write <= 30);
            sum += p->write;
            delays++;
        } else if (p->kind == ORDEAL_INTERRUPT) {
            TEST_ASSERT_TRUE(p->write < 3 && p->write != p->thread);
        }
        bool fault = has_location(p) && ordeal_trace_memory_of(t, p->base) & ORDEAL_FAULTING;
        if (has_location(p) && p->flags & ORDEAL_NONFAULTING) {
            faulting += fault;
            all++;
        } else {
            TEST_ASSERT_FALSE(fault);
        }
    }
    about((double)all / 4, (double)faulting, (double)all, 20, "faulting");
    about(20.0 * (double)delays, (double)sum, 20.0 * (double)delays, 20, "cycles");
    make_only("faults.share=0");
    for (uint32_t base = 1; base <= ordeal_trace_names(t); base++)
        TEST_ASSERT_EQUAL_UINT8(0, ordeal_trace_memory_of(t, base));
}

/* ---- [placement] --------------------------------------------------------------------------- */

static void words_share_lines(void)
{
    uint64_t offsets = 0;
    make_only("operations=2000 locations=10 words_per_line=4");
    for (size_t i = 0; i < length(); i++)
        if (is_access(op(i))) {
            uint32_t line = line_of(op(i)), word = (uint32_t)op(i)->address / 4;
            TEST_ASSERT_TRUE(word < 4 && line * 4 + word < 10);
            offsets |= UINT64_C(1) << (line * 4 + word);
        }
    TEST_ASSERT_EQUAL_HEX64(0x3ff, offsets);
    make_only("sizes.8=1");
    for (size_t i = 0; i < length(); i++)
        if (is_access(op(i)))
            TEST_ASSERT_TRUE(op(i)->address < 32);
}

static void threads_share_lines_but_not_words(void)
{
    uint64_t own = 0, all = 0;
    make_only("operations=5000 threads=4 locations=16 words_per_line=4 false_sharing=60");
    for (size_t i = 0; i < length(); i++)
        if (is_access(op(i))) {
            own += op(i)->address / 4 == op(i)->thread;
            all++;
        }
    about((0.6 + 0.4 / 4) * (double)all, (double)own, (double)all, 15, "own words");
    make_only("false_sharing=100");
    for (size_t i = 0; i < length(); i++)
        if (is_access(op(i)))
            TEST_ASSERT_EQUAL_UINT64(4 * op(i)->thread, op(i)->address);
}

static void lines_fall_into_one_set(void)
{
    uint64_t place;
    make_only("operations=1000 locations=9");
    for (uint32_t base = 1; base <= ordeal_trace_names(t); base++)
        TEST_ASSERT_FALSE(ordeal_trace_place_of(t, base, &place));
    make_only("lines_per_set=3 set_stride=8192");
    TEST_ASSERT_EQUAL_UINT32(9, ordeal_trace_names(t));
    for (uint32_t base = 1; base <= ordeal_trace_names(t); base++) {
        struct ordeal_op any = { .base = base };
        uint32_t line = line_of(&any);
        TEST_ASSERT_TRUE(ordeal_trace_place_of(t, base, &place));
        TEST_ASSERT_EQUAL_UINT64(line / 3 * 64 + line % 3 * 8192, place);
    }
    is_sound(true);
}

static uint32_t uncached_lines(void)
{
    uint32_t count = 0;
    for (uint32_t base = 1; base <= ordeal_trace_names(t); base++)
        count += ordeal_trace_memory_of(t, base) == ORDEAL_UNCACHED;
    return count;
}

static void some_lines_are_uncached(void)
{
    make_only("operations=1000 locations=10 uncached=25");
    TEST_ASSERT_EQUAL_UINT32(3, uncached_lines());
    uint64_t first = hash_of_test();
    make(1);
    TEST_ASSERT_EQUAL_UINT32(3, uncached_lines());
    TEST_ASSERT_TRUE(first != hash_of_test());
    make_only("uncached=100");
    TEST_ASSERT_EQUAL_UINT32(10, uncached_lines());
    make_only("uncached=0");
    TEST_ASSERT_EQUAL_UINT32(0, uncached_lines());
}

/* ---- [sharing] ----------------------------------------------------------------------------- */

static void uniform_sharing(void)
{
    uint64_t count[8] = { 0 }, all = 0;
    make_only("operations=20000 locations=8 pattern=uniform");
    for (size_t i = 0; i < length(); i++)
        if (is_access(op(i))) {
            count[line_of(op(i))]++;
            all++;
        }
    for (int i = 0; i < 8; i++)
        about((double)all / 8, (double)count[i], (double)all, 6, "location");
}

static void hot_locations(void)
{
    uint64_t hot = 0, all = 0;
    make_only("operations=20000 locations=20 pattern=hot hot_locations=2 hot_percent=70");
    for (size_t i = 0; i < length(); i++)
        if (is_access(op(i))) {
            hot += line_of(op(i)) < 2;
            all++;
        }
    about(0.7 * (double)all, (double)hot, (double)all, 8, "hot");
}

static void producers_and_consumers(void)
{
    make_only("operations=2000 threads=3 locations=10 pattern=producer cas=0 evict=3");
    for (size_t i = 0; i < length(); i++)
        if (has_location(op(i)))
            TEST_ASSERT_TRUE((line_of(op(i)) % 3 == op(i)->thread) == is_write(op(i)));
}

static void locations_migrate(void)
{
    uint32_t position[3] = { 0 };
    make_only("operations=2000 threads=3 locations=10 pattern=migrating migrating_every=50");
    for (size_t i = 0; i < length(); i++) {
        uint32_t thread = op(i)->thread, at = position[thread]++;
        if (op(i)->kind == ORDEAL_CAS)
            at--; /* it was decided on with the load */
        if (has_location(op(i)))
            TEST_ASSERT_EQUAL_UINT32((thread + at / 50) % 3, line_of(op(i)) % 3);
    }
}

static void locations_are_private_but_for_some_accesses(void)
{
    uint64_t own = 0, all = 0;
    make_only("operations=20000 threads=4 locations=16 pattern=private private_shared=20");
    for (size_t i = 0; i < length(); i++)
        if (has_location(op(i))) {
            own += line_of(op(i)) % 4 == op(i)->thread;
            all++;
        }
    about((0.8 + 0.2 / 4) * (double)all, (double)own, (double)all, 8, "own");
    make_only("private_shared=0");
    for (size_t i = 0; i < length(); i++)
        if (has_location(op(i)))
            TEST_ASSERT_EQUAL_UINT32(op(i)->thread, line_of(op(i)) % 4);
}

/* ---- all together -------------------------------------------------------------------------- */

/* Any values that pass bias_check give sound tests. */
static void whatever_goes_together_gives_sound_tests(void)
{
    static const char *const extremes[] = {
        "threads=3 operations=170 locations=2 sizes.1=1 load=0 cas=0 swap=0 full=0",
        "threads=2 operations=127 locations=16 words_per_line=16 sizes.1=1 sizes.64=1 load=0",
        "operations=1020 sizes.1=1 branches.share=100 else=100 load=0",
        "sizes.1=1 loops.share=100 count_max=243 load=0 locations=8 operations=50",
        "operations=1 threads=256 locations=2 sizes.1=1 load=0",
        "threads=2 locations=32 operations=1020 sizes.1=1 transactions.share=50 disjoint=yes",
    };
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        bias_free(b);
        b = bias_new();
        set(extremes[i]);
        start(i);
        for (uint64_t n = 0; n < 5; n++) {
            make(n);
            is_sound(true);
        }
    }
}

static void random_biases_give_sound_tests(void)
{
    struct random r;
    uint32_t made = 0;
    random_seed(&r, 11, 0);
    for (uint32_t round = 0; made < 300 && round < 100000; round++) {
        bias_free(b);
        b = bias_new();
        for (int i = 0; i < BIAS_KEY_COUNT; i++) {
            const struct bias_key *k = &bias_keys[i];
            uint32_t most = k->words ? 1 : k->most < 20 ? k->most : 20;
            if (random_below(&r, 3) == 0)
                b->values[i] = k->words ? random_below(&r, k->words[1] ? 2 : 1)
                                        : k->least + random_below(&r, most - k->least + 1);
        }
        b->sharing_pattern = random_below(&r, 5);
        b->test_values = random_below(&r, 3);
        b->placement_set_stride = 4096;
        b->test_operations = 1 + random_below(&r, 120);
        b->loops_share = random_below(&r, 2) * random_below(&r, 101);
        b->branches_share = random_below(&r, 2) * random_below(&r, 101);
        b->transactions_share = random_below(&r, 2) * random_below(&r, 101);
        if (!bias_check(b, &e))
            continue;
        made++;
        start(round);
        make(round);
        uint32_t plain = 0;
        for (int i = BIAS_operations_load; i <= BIAS_membar_mixed; i++)
            plain += b->values[i];
        is_sound(plain > 0);
    }
    TEST_ASSERT_EQUAL_UINT32(300, made);
}

static void memory_that_fails_is_told(void)
{
    set(EVERYTHING);
    set("operations=40");
    start(1);
    bool done = false;
    for (size_t n = 1; !done; n++) {
        struct one_failure f = { .fail_at = n };
        struct ordeal_memory memory = one_failure_memory(&f);
        struct ordeal *poor = ordeal_new(&memory);
        struct ordeal_trace *test = NULL;
        if (!poor)
            continue;
        enum ordeal_status status = generator_make(g, 0, poor, &test);
        done = status == ORDEAL_OK;
        TEST_ASSERT_TRUE(done || (status == ORDEAL_NO_MEMORY && test == NULL));
        ordeal_trace_free(test);
        TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(poor));
        ordeal_free(poor);
        TEST_ASSERT_FALSE(f.wrong_size);
    }
    make(0);
    is_sound(true);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(the_same_bytes_on_every_machine);
    RUN_TEST(examples_make_the_tests_they_always_made);
    RUN_TEST(a_test_does_not_depend_on_those_made_before);
    RUN_TEST(as_many_threads_operations_and_locations_as_asked);
    RUN_TEST(lines_are_named_like_columns);
    RUN_TEST(operations_are_as_frequent_as_their_weights);
    RUN_TEST(what_has_no_weight_does_not_happen);
    RUN_TEST(results_of_amos_are_mostly_new);
    RUN_TEST(mixed_membars_are_all_pairs_and_triples);
    RUN_TEST(an_sc_follows_its_lr);
    RUN_TEST(marks_are_those_that_riscv_allows);
    RUN_TEST(fences_are_all_sets);
    RUN_TEST(dependences_are_of_all_uses);
    RUN_TEST(a_cas_compares_with_a_load_of_the_same_place_just_before);
    RUN_TEST(sizes_are_as_frequent_as_their_weights);
    RUN_TEST(values_are_small_wide_or_high);
    RUN_TEST(wide_values_tell_their_word);
    RUN_TEST(idioms_are_repeated_in_a_row);
    RUN_TEST(something_stands_between_the_steps_of_an_idiom);
    RUN_TEST(hints_go_where_the_thread_just_was);
    RUN_TEST(narrow_accesses_go_anywhere_in_the_word);
    RUN_TEST(delays_interrupts_and_faults);
    RUN_TEST(words_share_lines);
    RUN_TEST(threads_share_lines_but_not_words);
    RUN_TEST(lines_fall_into_one_set);
    RUN_TEST(some_lines_are_uncached);
    RUN_TEST(uniform_sharing);
    RUN_TEST(hot_locations);
    RUN_TEST(producers_and_consumers);
    RUN_TEST(locations_migrate);
    RUN_TEST(locations_are_private_but_for_some_accesses);
    RUN_TEST(whatever_goes_together_gives_sound_tests);
    RUN_TEST(random_biases_give_sound_tests);
    RUN_TEST(memory_that_fails_is_told);
    return UNITY_END();
}
