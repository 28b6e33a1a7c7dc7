/* SPDX-License-Identifier: Apache-2.0 */
/* Building traces by program: what is accepted, what is refused, how operations are said. */
#include <stdlib.h>
#include "traces.h"
#include "unity.h"

static struct ordeal *o;
static struct ordeal_trace *t;

void setUp(void)
{
    o = ordeal_new(NULL);
    t = ordeal_trace_new(o);
}

void tearDown(void)
{
    ordeal_trace_free(t);
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
}

static uint32_t thread(uint32_t number)
{
    uint32_t index = ORDEAL_NONE;
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, number, &index));
    return index;
}

static uint32_t name(const char *text)
{
    uint32_t base = ORDEAL_NONE;
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_name(t, text, strlen(text), &base));
    return base;
}

static void refuses(struct ordeal_op op, uint64_t compare, const char *reason)
{
    size_t before = ordeal_trace_length(t);
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_add(t, &op, compare));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(ordeal_last_error(o)->reason, reason),
                                 ordeal_last_error(o)->reason);
    TEST_ASSERT_EQUAL_size_t(before, ordeal_trace_length(t));
}

static void says(struct ordeal_op op, uint64_t compare, const char *text)
{
    char buffer[TRACE_FORMAT_MAX];
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, compare));
    size_t last = ordeal_trace_length(t) - 1;
    TEST_ASSERT_EQUAL_INT((int)strlen(text), ordeal_trace_format(t, last, buffer, sizeof buffer));
    TEST_ASSERT_EQUAL_STRING(text, buffer);
}

static void threads_are_numbered_as_they_come(void)
{
    TEST_ASSERT_EQUAL_UINT32(0, thread(7));
    TEST_ASSERT_EQUAL_UINT32(1, thread(4294967294u));
    TEST_ASSERT_EQUAL_UINT32(0, thread(7));
    for (uint32_t i = 0; i < 1000; i++)
        thread(i * 64);
    TEST_ASSERT_EQUAL_UINT32(1, thread(4294967294u));
    TEST_ASSERT_EQUAL_UINT32(2, thread(0));
    uint32_t index;
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_thread(t, ORDEAL_NONE, &index));
}

static void names_are_numbered_from_one(void)
{
    char text[16];
    TEST_ASSERT_EQUAL_UINT32(1, name("A"));
    TEST_ASSERT_EQUAL_UINT32(2, name("AB"));
    TEST_ASSERT_EQUAL_UINT32(1, name("A"));
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "x%d", i);
        name(text);
    }
    TEST_ASSERT_EQUAL_UINT32(2, name("AB"));
    TEST_ASSERT_EQUAL_UINT32(3, name("x0"));
    TEST_ASSERT_EQUAL_STRING("x999", ordeal_trace_name_text(t, 1002));
}

static void names_that_cannot_be_written_are_refused(void)
{
    char longest[TRACE_NAME_MAX + 1];
    uint32_t base;
    memset(longest, 'n', sizeof longest);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_name(t, longest, TRACE_NAME_MAX, &base));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_name(t, longest, TRACE_NAME_MAX + 1, &base));
    static const char *const bad[] = { "", "1A", ".A", "A B", "A+4", "A\n", "\xc3\xa4" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_BAD_USAGE,
                                  ordeal_trace_name(t, bad[i], strlen(bad[i]), &base), bad[i]);
    name("A");
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_name(t, "A\0B", 3, &base));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_name(t, "A\0", 2, &base));
}

static void operations_are_said_in_the_text_notation(void)
{
    uint32_t p = thread(3), a = name("A");
    enum { V = ORDEAL_HAS_VALUE };
    says((struct ordeal_op){ ORDEAL_LOAD, 2, V, { 0 }, p, a, 0, 0, 7, 0 }, 0, "P3 L[A]=7");
    says((struct ordeal_op){ ORDEAL_LOAD, 2, 0, { 0 }, p, a, 0, 4, 7, 0 }, 0, "P3 L[A+4]");
    says((struct ordeal_op){ ORDEAL_STORE, 0, V, { 0 }, p, 0, 0, 0x1041, 0, 255 }, 0,
         "P3 S[0x1041/1]#255");
    says((struct ordeal_op){ ORDEAL_SWAP, 2, V, { 0 }, p, a, 0, 0, 1, 2 }, 0, "P3 SWAP[A]=1#2");
    says((struct ordeal_op){ ORDEAL_CAS, 3, V, { 0 }, p, 0, 0, 8, 1, UINT64_MAX }, 5,
         "P3 CAS[0x8/8]=1?5#0xffffffffffffffff");
    says((struct ordeal_op){ ORDEAL_CAS, 2, 0, { 0 }, p, a, 0, 0, 1, 2 }, 4294967295,
         "P3 CAS[A]?4294967295#2");
    says((struct ordeal_op){ .kind = ORDEAL_MEMBAR, .barrier = ORDEAL_FULL }, 0, "P3 MEMBAR");
    says((struct ordeal_op){ .kind = ORDEAL_MEMBAR, .barrier = ORDEAL_SL | ORDEAL_LL }, 0,
         "P3 MEMBAR.LL.SL");
    says((struct ordeal_op){ ORDEAL_AMO, 2, V, { ORDEAL_AMO_ADD }, p, a, 0, 0, 1, 5 }, 0,
         "P3 AMOADD[A]=1#5");
    says((struct ordeal_op){ ORDEAL_AMO, 3, 0, { ORDEAL_AMO_MAXU }, p, a, 0, 8, 1, 5 }, 0,
         "P3 AMOMAXU[A+8/8]#5");
    says((struct ordeal_op){ .kind = ORDEAL_TX_BEGIN }, 0, "P3 TX.BEGIN");
    says((struct ordeal_op){ .kind = ORDEAL_TX_ABORT }, 0, "P3 TX.ABORT");
    says((struct ordeal_op){ .kind = ORDEAL_TX_END }, 0, "P3 TX.END");
    says((struct ordeal_op){ ORDEAL_FLUSH, 6, 0, { 0 }, p, a, 0, 64, 0, 0 }, 0,
         "P3 FLUSH[A+64/64]");
}

static void operations_of_tests_are_said_too(void)
{
    uint32_t p = thread(3), a = name("A");
    says((struct ordeal_op){ .kind = ORDEAL_DELAY, .write = 20 }, 0, "P3 DELAY#20");
    says((struct ordeal_op){ .kind = ORDEAL_INTERRUPT, .write = 77 }, 0, "P3 IPI#77");
    says((struct ordeal_op){ .kind = ORDEAL_LOOP_BEGIN, .write = TRACE_COUNT_MAX }, 0,
         "P3 LOOP.BEGIN#4294967294");
    says((struct ordeal_op){ .kind = ORDEAL_LOOP_END, .write = 5 }, 0, "P3 LOOP.END");
    says((struct ordeal_op){ .kind = ORDEAL_BRANCH_BEGIN }, 0, "P3 BRANCH.BEGIN");
    says((struct ordeal_op){ .kind = ORDEAL_BRANCH_ELSE }, 0, "P3 BRANCH.ELSE");
    says((struct ordeal_op){ .kind = ORDEAL_BRANCH_END }, 0, "P3 BRANCH.END");
    says((struct ordeal_op){ .kind = ORDEAL_TX_BEGIN, .flags = ORDEAL_HAS_LIMIT, .write = 3 }, 0,
         "P3 TX.BEGIN#3");
    says((struct ordeal_op){ .kind = ORDEAL_TX_BEGIN, .flags = ORDEAL_HAS_LIMIT }, 0,
         "P3 TX.BEGIN#0");
    says((struct ordeal_op){ ORDEAL_LOAD, 2, ORDEAL_NONFAULTING, { 0 }, p, a, 0, 4, 0, 0 }, 0,
         "P3 NFL[A+4]");
    says((struct ordeal_op){ .kind = ORDEAL_LOAD,
                             .flags = ORDEAL_NONFAULTING | ORDEAL_HAS_VALUE,
                             .thread = p,
                             .base = a,
                             .address = 4 },
         0, "P3 NFL[A+4/1]=0");
    says((struct ordeal_op){ ORDEAL_CAS, 0, ORDEAL_COMPARE_REGISTER, { 0 }, p, a, 0, 0, 0, 5 }, 300,
         "P3 CAS[A/1]?r300#5");
}

static void says_last(const char *text)
{
    char buffer[TRACE_FORMAT_MAX];
    ordeal_trace_format(t, ordeal_trace_length(t) - 1, buffer, sizeof buffer);
    TEST_ASSERT_EQUAL_STRING(text, buffer);
}

static void steps_belong_to_the_last_operation(void)
{
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_step(t, 1));
    thread(0);
    says((struct ordeal_op){ .kind = ORDEAL_LOAD, .size_log2 = 2 }, 0, "P0 L[0x0]");
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_step(t, 1));
    says((struct ordeal_op){ .kind = ORDEAL_STORE, .write = 7 }, 0, "P0 S[0x0/1]#7");
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_step(t, 256));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_step(t, 4));
    says_last("P0 S[0x0/1]#7+4");
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_step(t, 255)); /* the last word counts */
    says_last("P0 S[0x0/1]#7+255");
    says((struct ordeal_op){ .kind = ORDEAL_SWAP, .size_log2 = 3 }, 0, "P0 SWAP[0x0/8]#0");
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_step(t, UINT64_MAX));
    says((struct ordeal_op){ .kind = ORDEAL_CAS, .size_log2 = 2 }, 1, "P0 CAS[0x0]?1#0");
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_step(t, 2));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_step(t, 0)); /* none */
    static const uint64_t steps[] = { 0, 255, UINT64_MAX, 0 };
    for (size_t i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_UINT64(steps[i], ordeal_trace_step_of(t, i));
    TEST_ASSERT_EQUAL_size_t(2, t->steps.count);
    says((struct ordeal_op){ .kind = ORDEAL_SWAP, .size_log2 = 2, .flags = ORDEAL_HAS_VALUE }, 0,
         "P0 SWAP[0x0]=0#0");
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_step(t, 1));
    uint64_t offset;
    uint8_t bytes[16] = { 0 };
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_bytes(t, bytes, sizeof bytes, &offset));
    says((struct ordeal_op){ .kind = ORDEAL_STORE, .size_log2 = 4, .write = offset }, 0,
         "P0 S[0x0/16]#0x0");
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_step(t, 1));
}

static void wide_values_are_one_long_number(void)
{
    uint8_t bytes[16] = { 0x01, 0x02, [9] = 0x0a };
    uint64_t one, two;
    thread(0);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_bytes(t, bytes, 16, &one));
    memset(bytes, 0, sizeof bytes);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_bytes(t, bytes, 16, &two));
    struct ordeal_op op = { ORDEAL_SWAP, 4, ORDEAL_HAS_VALUE, { 0 }, 0, 0, 0, 32, one, two };
    says(op, 0, "P0 SWAP[0x20/16]=0xa000000000000000201#0x0");
    op.write = two + 1;
    refuses(op, 0, "does not fit");
    op.write = UINT64_MAX;
    refuses(op, 0, "does not fit");
}

static void format_truncates_as_snprintf(void)
{
    char buffer[6] = "xxxxx";
    thread(0);
    says((struct ordeal_op){ .kind = ORDEAL_TX_BEGIN }, 0, "P0 TX.BEGIN");
    TEST_ASSERT_EQUAL_INT(11, ordeal_trace_format(t, 0, buffer, sizeof buffer));
    TEST_ASSERT_EQUAL_STRING("P0 TX", buffer);
    TEST_ASSERT_EQUAL_INT(11, ordeal_trace_format(t, 0, NULL, 0));
}

static void senseless_operations_are_refused(void)
{
    uint32_t p = thread(0), a = name("A");
    refuses((struct ordeal_op){ .kind = ORDEAL_OP_KINDS }, 0, "kind");
    refuses((struct ordeal_op){ .kind = ORDEAL_TX_END, .thread = p + 1 }, 0, "thread");
    refuses((struct ordeal_op){ .kind = ORDEAL_LOAD, .size_log2 = 2, .base = a + 1 }, 0, "name");
    refuses((struct ordeal_op){ .kind = ORDEAL_LOAD, .size_log2 = 7 }, 0, "64 bytes");
    refuses((struct ordeal_op){ .kind = ORDEAL_LOAD, .size_log2 = 3, .address = 4 }, 0, "aligned");
    refuses((struct ordeal_op){ .kind = ORDEAL_MEMBAR }, 0, "LL");
    refuses((struct ordeal_op){ .kind = ORDEAL_MEMBAR, .barrier = 16 }, 0, "LL");
    refuses((struct ordeal_op){ .kind = ORDEAL_STORE, .size_log2 = 1, .write = 65536 }, 0, "fit");
    refuses((struct ordeal_op){ .kind = ORDEAL_AMO, .size_log2 = 2, .function = 8 }, 0, "MAXU");
    refuses((struct ordeal_op){ .kind = ORDEAL_AMO, .size_log2 = 4 }, 0, "8 bytes");
    refuses((struct ordeal_op){ .kind = ORDEAL_AMO, .size_log2 = 0, .write = 256 }, 0, "fit");
    refuses((struct ordeal_op){ .kind = ORDEAL_LOAD, .flags = ORDEAL_HAS_VALUE, .read = 256 }, 0,
            "fit");
    refuses((struct ordeal_op){ .kind = ORDEAL_CAS, .size_log2 = 0 }, 256, "fit");
    refuses((struct ordeal_op){ .kind = ORDEAL_LOOP_BEGIN }, 0, "at least once");
    refuses((struct ordeal_op){ .kind = ORDEAL_LOOP_BEGIN, .write = ORDEAL_NONE }, 0, "count");
    refuses((struct ordeal_op){ .kind = ORDEAL_DELAY, .write = ORDEAL_NONE }, 0, "count");
    refuses((struct ordeal_op){ .kind = ORDEAL_INTERRUPT, .write = UINT64_MAX }, 0, "count");
    refuses((struct ordeal_op){ .kind = ORDEAL_TX_BEGIN, .flags = ORDEAL_HAS_LIMIT,
                                .write = ORDEAL_NONE }, 0, "count");
    refuses((struct ordeal_op){ .kind = ORDEAL_CAS, .size_log2 = 2,
                                .flags = ORDEAL_COMPARE_REGISTER | ORDEAL_HAS_VALUE }, 0,
            "no value read");
    refuses((struct ordeal_op){ .kind = ORDEAL_CAS, .size_log2 = 4,
                                .flags = ORDEAL_COMPARE_REGISTER }, 0, "8 bytes");
    refuses((struct ordeal_op){ .kind = ORDEAL_CAS, .size_log2 = 2,
                                .flags = ORDEAL_COMPARE_REGISTER }, UINT64_C(1) << 32, "registers");
}

static void what_an_operation_does_not_have_is_dropped(void)
{
    thread(0);
    says((struct ordeal_op){ .kind = ORDEAL_TX_END, .size_log2 = 9, .base = 44, .address = 3,
                             .read = 1, .write = 2, .barrier = 99, .flags = ORDEAL_HAS_VALUE },
         0, "P0 TX.END");
    const struct ordeal_op *op = ordeal_trace_op(t, 0);
    TEST_ASSERT_EQUAL_UINT64(0, op->address | op->read | op->write | op->base | op->barrier);
    TEST_ASSERT_EQUAL_UINT8(0, op->flags);
    says((struct ordeal_op){ .kind = ORDEAL_STORE, .size_log2 = 2, .flags = 0xff }, 0,
         "P0 S.aqrl[0x0]#0");
    TEST_ASSERT_EQUAL_UINT8(ORDEAL_HAS_BEGIN | ORDEAL_HAS_END | ORDEAL_ACQUIRES | ORDEAL_RELEASES,
                            ordeal_trace_op(t, 1)->flags);
    says((struct ordeal_op){ .kind = ORDEAL_TX_BEGIN, .write = 3 }, 0, "P0 TX.BEGIN");
    TEST_ASSERT_EQUAL_UINT64(0, ordeal_trace_op(t, 2)->write);
}

static void cycles_and_registers_belong_to_the_last_operation(void)
{
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_times(t, 1, 2));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_writes_register(t, 1));
    thread(0);
    says((struct ordeal_op){ .kind = ORDEAL_STORE, .size_log2 = 2 }, 0, "P0 S[0x0]#0");
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_times(t, 1, 2));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_writes_register(t, 1));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_reads_register(t, 9));
    says((struct ordeal_op){ .kind = ORDEAL_LOAD, .size_log2 = 2,
                             .flags = ORDEAL_HAS_BEGIN | ORDEAL_HAS_END }, 0, "P0 L[0x0]");
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_times(t, 3, 2));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_times(t, 3, 4));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_writes_register(t, 8));
    says((struct ordeal_op){ .kind = ORDEAL_LOAD, .size_log2 = 2, .flags = ORDEAL_HAS_END }, 0,
         "P0 L[0x0]");
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_times(t, 3, 2));
    TEST_ASSERT_NULL(trace_time_of(t, 0));
    TEST_ASSERT_EQUAL_UINT64(4, trace_time_of(t, 1)->end);
    TEST_ASSERT_EQUAL_UINT64(0, trace_time_of(t, 2)->begin);
    TEST_ASSERT_EQUAL_UINT64(2, trace_time_of(t, 2)->end);
    TEST_ASSERT_EQUAL_size_t(2, t->registers.count);
    TEST_ASSERT_EQUAL_UINT32(1, t->registers.data[1].op);
    TEST_ASSERT_EQUAL(ORDEAL_REGISTER_WRITTEN, t->registers.data[1].use);
}

static void facts_are_checked(void)
{
    uint64_t values[3] = { 1, 5, 3 };
    enum ordeal_model m;
    uint32_t a = name("A");
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_init(t, a, 0, 2, 7));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_init(t, a, 0, 4, 0));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_init(t, a, 2, 2, 7));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_final(t, a + 1, 0, 2, 7));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_final(t, a, 0, 0, 256));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_final(t, a, 0, 0, 255));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_order(t, a, 0, 2, values, 3));
    TEST_ASSERT_EQUAL(ORDEAL_OK, trace_order_more(t, values, 2));
    values[1] = 300;
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_order(t, a, 0, 0, values, 3));
    TEST_ASSERT_EQUAL_size_t(1, t->orders.count);
    TEST_ASSERT_EQUAL_size_t(5, t->orders.data[0].count);
    TEST_ASSERT_EQUAL_UINT32(4, t->atomic);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_atomic(t, 64));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_atomic(t, 0));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_atomic(t, 12));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_atomic(t, 128));
    TEST_ASSERT_EQUAL_UINT32(64, t->atomic);
    TEST_ASSERT_FALSE(ordeal_trace_claimed(t, &m));
    ordeal_trace_claim(t, ORDEAL_PSO);
    TEST_ASSERT_TRUE(ordeal_trace_claimed(t, &m));
    TEST_ASSERT_EQUAL(ORDEAL_PSO, m);
}

static void memory_of_tests_is_checked(void)
{
    uint32_t a = name("A"), b = name("B"), c = name("C");
    uint64_t place = 1;
    TEST_ASSERT_FALSE(ordeal_trace_place_of(t, a, &place));
    TEST_ASSERT_EQUAL_UINT8(0, ordeal_trace_memory_of(t, a));
    TEST_ASSERT_EQUAL_UINT64(0, ordeal_trace_seed_of(t));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_place(t, 0, 64));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_place(t, c + 1, 64));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_memory(t, 0, ORDEAL_UNCACHED));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_memory(t, a, 4));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_place(t, b, 4));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_place(t, b, 0x1040));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_trace_place(t, b, 0x2040));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_place(t, a, 0));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_memory(t, b, ORDEAL_UNCACHED));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_memory(t, b, ORDEAL_FAULTING));
    TEST_ASSERT_TRUE(ordeal_trace_place_of(t, a, &place));
    TEST_ASSERT_EQUAL_UINT64(0, place);
    TEST_ASSERT_TRUE(ordeal_trace_place_of(t, b, &place));
    TEST_ASSERT_EQUAL_UINT64(0x1040, place);
    TEST_ASSERT_FALSE(ordeal_trace_place_of(t, c, &place));
    TEST_ASSERT_FALSE(ordeal_trace_place_of(t, 0, &place));
    TEST_ASSERT_EQUAL_UINT8(ORDEAL_UNCACHED | ORDEAL_FAULTING, ordeal_trace_memory_of(t, b));
    TEST_ASSERT_EQUAL_UINT8(0, ordeal_trace_memory_of(t, c));
    ordeal_trace_seed(t, UINT64_MAX);
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, ordeal_trace_seed_of(t));
}

static void what_was_given_can_be_looked_at(void)
{
    uint32_t p = thread(7), a = name("A"), reg = 0, base = 0;
    uint64_t address = 0, value = 0, offset = 0;
    uint8_t size = 9, bytes[2] = { 1, 2 };
    bool written = false;
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_bytes(t, bytes, 2, &offset));
    TEST_ASSERT_EQUAL_UINT8(2, ordeal_trace_bytes_at(t, offset)[1]);
    TEST_ASSERT_EQUAL_UINT32(1, ordeal_trace_threads(t));
    TEST_ASSERT_EQUAL_UINT32(7, ordeal_trace_thread_number(t, p));
    TEST_ASSERT_EQUAL_UINT32(1, ordeal_trace_names(t));
    TEST_ASSERT_EQUAL_STRING("A", ordeal_trace_name_text(t, a));
    TEST_ASSERT_EQUAL_UINT32(4, ordeal_trace_atomic_of(t));
    TEST_ASSERT_FALSE(ordeal_trace_init_at(t, 0, &base, &address, &size, &value));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_init(t, a, 8, 3, 5));
    TEST_ASSERT_TRUE(ordeal_trace_init_at(t, 0, &base, &address, &size, &value));
    TEST_ASSERT_EQUAL_UINT32(a, base);
    TEST_ASSERT_EQUAL_UINT64(8, address);
    TEST_ASSERT_EQUAL_UINT8(3, size);
    TEST_ASSERT_EQUAL_UINT64(5, value);
    const uint64_t order[] = { 9, 4 }, *told = NULL;
    size_t count = 0;
    TEST_ASSERT_FALSE(ordeal_trace_final_at(t, 0, &base, &address, &size, &value));
    TEST_ASSERT_FALSE(ordeal_trace_order_at(t, 0, &base, &address, &size, &told, &count));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_final(t, a, 4, 2, 6));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_order(t, a, 0, 1, order, 2));
    TEST_ASSERT_TRUE(ordeal_trace_final_at(t, 0, &base, &address, &size, &value));
    TEST_ASSERT_EQUAL_UINT64(4, address);
    TEST_ASSERT_EQUAL_UINT8(2, size);
    TEST_ASSERT_EQUAL_UINT64(6, value);
    TEST_ASSERT_TRUE(ordeal_trace_order_at(t, 0, &base, &address, &size, &told, &count));
    TEST_ASSERT_EQUAL_UINT64(0, address);
    TEST_ASSERT_EQUAL_UINT8(1, size);
    TEST_ASSERT_EQUAL_size_t(2, count);
    TEST_ASSERT_EQUAL_UINT64(4, told[1]);
    for (uint64_t i = 0; i < 3; i++) {
        struct ordeal_op op = { .kind = ORDEAL_CAS, .size_log2 = 2 };
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 10 + i));
        if (i == 1) {
            TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_reads_register(t, 4));
            TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_writes_register(t, 5));
        }
    }
    for (size_t i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL_UINT64(10 + i, ordeal_trace_compare_of(t, i));
        TEST_ASSERT_EQUAL(i == 1, ordeal_trace_register_of(t, i, 0, &reg, &written));
        TEST_ASSERT_FALSE(ordeal_trace_register_of(t, i, 2, &reg, &written));
    }
    TEST_ASSERT_EQUAL_UINT32(4, reg);
    TEST_ASSERT_FALSE(written);
    TEST_ASSERT_TRUE(ordeal_trace_register_of(t, 1, 1, &reg, &written));
    TEST_ASSERT_EQUAL_UINT32(5, reg);
    TEST_ASSERT_TRUE(written);
}

static void rewinding_takes_back_what_came_after_the_mark(void)
{
    struct ordeal_trace *whole = random_trace(o, 1, 50, false);
    struct ordeal_trace *part = random_trace(o, 1, 50, false);
    uint64_t v = 1;
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_order(whole, 0, 0, 2, &v, 1));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_order(part, 0, 0, 2, &v, 1));
    uint32_t known = ordeal_trace_names(whole), fresh, placed;
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_name(whole, "fresh", 5, &fresh));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_name(part, "fresh", 5, &fresh));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_name(part, "placed", 6, &placed));
    TEST_ASSERT_EQUAL_UINT32(known + 1, fresh);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_memory(whole, fresh, ORDEAL_UNCACHED));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_memory(part, fresh, ORDEAL_UNCACHED));
    struct trace_mark mark = trace_mark(part);
    struct ordeal_op op = { .kind = ORDEAL_CAS, .flags = ORDEAL_HAS_BEGIN, .size_log2 = 2 };
    TEST_ASSERT_EQUAL(ORDEAL_OK, trace_order_more(part, &v, 1));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_init(part, 0, 0, 2, 7));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_final(part, 0, 0, 2, 7));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(part, &op, 1));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_reads_register(part, 1));
    struct ordeal_op store = { .kind = ORDEAL_STORE, .size_log2 = 2 };
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(part, &store, 0));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_step(part, 1));
    ordeal_trace_claim(part, (whole->claim + 1) % ORDEAL_MODELS);
    ordeal_trace_seed(part, whole->seed + 1);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_memory(part, fresh, ORDEAL_FAULTING));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_place(part, fresh, 64));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_place(part, placed, 64));
    TEST_ASSERT_NOT_NULL(same_trace(whole, part));
    trace_rewind(part, &mark);
    const char *difference = same_trace(whole, part);
    TEST_ASSERT_NULL_MESSAGE(difference, difference);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_place(part, placed, 128)); /* it has none */
    ordeal_trace_free(whole);
    ordeal_trace_free(part);
}

/* Every allocation of a trace built by program may fail; what was there stays, nothing leaks. */
static void allocation_failure_is_survived(void)
{
    for (size_t k = 2; ; k++) {
        struct failing f = { .fail_at = k };
        struct ordeal_memory memory = failing_memory(&f);
        struct ordeal *starved = ordeal_new(&memory);
        struct ordeal_trace *x = ordeal_trace_new(starved);
        enum ordeal_status status = x ? ORDEAL_OK : ordeal_last_error(starved)->status;
        uint64_t offset, v = 0;
        uint8_t bytes[64] = { 0 };
        for (uint32_t i = 0; i < 100 && status == ORDEAL_OK; i++) {
            uint32_t p, a;
            char text[16];
            int length = snprintf(text, sizeof text, "n%u", i);
            struct ordeal_op op = { .kind = ORDEAL_CAS, .size_log2 = 2, .flags = ORDEAL_HAS_END };
            size_t before = x->ops.count;
            if ((status = ordeal_trace_thread(x, i, &p)) != ORDEAL_OK
                || (status = ordeal_trace_name(x, text, (size_t)length, &a)) != ORDEAL_OK
                || (status = ordeal_trace_bytes(x, bytes, 64, &offset)) != ORDEAL_OK
                || (status = ordeal_trace_init(x, a, 0, 2, 0)) != ORDEAL_OK
                || (status = ordeal_trace_order(x, a, 0, 2, &v, 1)) != ORDEAL_OK
                || (status = ordeal_trace_final(x, a, 0, 2, 0)) != ORDEAL_OK
                || (status = ordeal_trace_memory(x, a, ORDEAL_UNCACHED)) != ORDEAL_OK
                || (status = ordeal_trace_place(x, a, 64)) != ORDEAL_OK)
                break;
            status = ordeal_trace_add(x, &op, 0);
            TEST_ASSERT_EQUAL_size_t(before + (status == ORDEAL_OK), x->ops.count);
            TEST_ASSERT_EQUAL_size_t(x->ops.count, x->compares.count);
            TEST_ASSERT_EQUAL_size_t(x->ops.count, x->times.count);
            if (status == ORDEAL_OK)
                status = ordeal_trace_reads_register(x, 1);
            if (status == ORDEAL_OK)
                status = ordeal_trace_step(x, 1);
        }
        ordeal_trace_free(x);
        ordeal_free(starved);
        TEST_ASSERT_EQUAL_size_t(0, f.blocks);
        if (status == ORDEAL_OK)
            break;
        TEST_ASSERT_EQUAL(ORDEAL_NO_MEMORY, status);
    }
}

static void the_memory_limit_is_its_own_status(void)
{
    struct ordeal_limits limits = { .bytes = 100000 };
    ordeal_set_limits(o, &limits);
    thread(0);
    enum ordeal_status status = ORDEAL_OK;
    struct ordeal_op op = { .kind = ORDEAL_TX_BEGIN };
    for (int i = 0; i < 10000 && status == ORDEAL_OK; i++)
        status = ordeal_trace_add(t, &op, 0);
    TEST_ASSERT_EQUAL(ORDEAL_LIMIT, status);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(threads_are_numbered_as_they_come);
    RUN_TEST(names_are_numbered_from_one);
    RUN_TEST(names_that_cannot_be_written_are_refused);
    RUN_TEST(operations_are_said_in_the_text_notation);
    RUN_TEST(operations_of_tests_are_said_too);
    RUN_TEST(steps_belong_to_the_last_operation);
    RUN_TEST(wide_values_are_one_long_number);
    RUN_TEST(format_truncates_as_snprintf);
    RUN_TEST(senseless_operations_are_refused);
    RUN_TEST(what_an_operation_does_not_have_is_dropped);
    RUN_TEST(cycles_and_registers_belong_to_the_last_operation);
    RUN_TEST(facts_are_checked);
    RUN_TEST(memory_of_tests_is_checked);
    RUN_TEST(what_was_given_can_be_looked_at);
    RUN_TEST(rewinding_takes_back_what_came_after_the_mark);
    RUN_TEST(allocation_failure_is_survived);
    RUN_TEST(the_memory_limit_is_its_own_status);
    return UNITY_END();
}
