/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal fence` on the programs of Table 1 of Linden and Wolper (2013), what it writes into sources,
 * and what it refuses. */
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static long field(const char *name)
{
    const char *at = strstr(out, name);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, out);
    return strtol(at + strlen(name), NULL, 10);
}

static void the_table_of_the_paper(void)
{
    static const struct {
        const char *name, *flags;
        int mfences, sfences, most_mfences, most_states;
    } table[] = {
        { "dekker", "", 4, 0, 4, 3 * 381 },
        { "peterson", "", 2, 2, 2, 3 * 219 },
        { "peterson_n", "", 3, 3, 3, 3 * 28544 },
        { "bakery", "", 4, 2, 4, 3 * 727 },
        { "bakery", "-D ENTRIES=1", 2, 1, 2, 3 * 727 },
        { "burns", "", 2, 0, 2, 3 * 123 },
        { "szymanski", "", 0, 0, 6, 3 * 221 },
        { "dijkstra", "", 2, 0, 2, 3 * 879 },
        { "lamport_fast", "", 4, 2, 4, 3 * 5654 },
        { "alternating_bit", "", 0, 0, 0, 3 * 1184 },
        { "clh", "", 0, 0, 0, 3 * 3004 },
        { "increasing", "", 0, 0, 0, 3 * 59570 },
        { "burns", "-m tso --robust", 3, 0, 3, 1000 },
        { "dijkstra", "-m tso --robust", 4, 0, 4, 1000 },
        { "clh", "-m tso --robust", 0, 0, 0, 1000 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        EXPECT(0, "$ORDEAL fence %s '%s/examples/programs/fence/%s.c'", table[i].flags, home,
               table[i].name);
        long mfences = field(" mfences="), sfences = field(" sfences=");
        if (table[i].mfences == table[i].most_mfences)
            TEST_ASSERT_EQUAL_MESSAGE(table[i].mfences, mfences, out);
        TEST_ASSERT_LESS_OR_EQUAL_MESSAGE(table[i].most_mfences, mfences, out);
        TEST_ASSERT_EQUAL_MESSAGE(table[i].sfences, sfences, out);
        TEST_ASSERT_LESS_OR_EQUAL_MESSAGE(table[i].most_states, field(" states="), out);
        long lines = 0;
        for (const char *p = out; (p = strstr(p, "  without=")); p++)
            lines++;
        TEST_ASSERT_EQUAL_MESSAGE(mfences + sfences, lines, out);
    }
}

static void fences_go_where_they_are_told(void)
{
    EXPECT(
        0,
        "printf '%%s\\n' '#include <ordeal_program.h>' '#include <pthread.h>' "
        "'static volatile int x, y;' 'static void *one(void *n) {' '  if (1) x = 1; else x = 2;' "
        "'  if (!y) { __ordeal_critical_begin(); __ordeal_critical_end(); }' '  return n; }' "
        "'int main(void) { pthread_t t; pthread_create(&t, 0, one, 0);' '  y = 1; "
        "if (!x) { __ordeal_critical_begin(); __ordeal_critical_end(); } "
        "pthread_join(t, 0); }' > sb.c");
    EXPECT(0, "$ORDEAL fence --apply fixed.c sb.c");
    TEST_ASSERT_EQUAL(2, field(" mfences="));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out, "PASS fixed.c model=pso buffers=unbounded"), out);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out, "PASS fixed.c model=pso buffers=2"), out);
    EXPECT(0, "grep -F '{ x = 1; __ordeal_mfence(); } else' fixed.c");
    EXPECT(0, "$ORDEAL explore -m pso fixed.c");
    EXPECT(0, "$ORDEAL explore -m pso --keep-elf f.elf fixed.c && "
              "riscv64-unknown-elf-objdump -d f.elf | grep -c 'fence.*rw,rw'");
    EXPECT(2, "$ORDEAL fence --apply sb.c sb.c");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(err, "is the source itself"), err);
    EXPECT(0, "$ORDEAL fence --json sb.c | grep -F '\"fence\":\"mfence\"'");
}

/* Each waits for the other between stores: no thread alone comes back to where it was. */
static void what_does_not_end_is_undecided(void)
{
    EXPECT(0, "printf '%%s\\n' '#include <pthread.h>' 'static volatile int x, go;' "
              "'static void *one(void *n) { for (;;) { while (!go) ; x = 1; while (go) ; x = 2; } "
              "return n; }' 'int main(void) { pthread_t t; pthread_create(&t, 0, one, 0);' "
              "'  for (;;) { go = 1; go = 0; } }' > toggle.c");
    EXPECT(4, "$ORDEAL fence --limit 3000 toggle.c");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out, "UNDECIDED toggle.c"), out);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out, "the limit of 3000 states"), out);
}

/* What a load leaves of one buffer must leave the marks of sfences in the others' words that are in it:
 * else they wait there for ever (section 3). */
static void a_load_takes_no_fence_from_one_buffer_alone(void)
{
    EXPECT(0, "printf '%%s\\n' '#include <ordeal_program.h>' '#include <pthread.h>' "
              "'static volatile int x, y, stop;' 'static void *one(void *n) {' "
              "'  while (!stop) { x = 1; __ordeal_sfence(); y = 1; __ordeal_sfence(); }' "
              "'  if (x) y = 2;' '  __ordeal_mfence(); return n; }' "
              "'int main(void) { pthread_t t; pthread_create(&t, 0, one, 0);' "
              "'  stop = 1; pthread_join(t, 0); }' > marks.c");
    EXPECT(0, "$ORDEAL fence marks.c");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out, "mfences=0 sfences=0"), out);
}

static void what_is_wrong_anyway_is_told(void)
{
    EXPECT(0, "printf 'int main(void) { __builtin_trap(); }\\n' > bad.c");
    EXPECT(1, "$ORDEAL fence bad.c");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out, "under=sc"), out);
    EXPECT(2, "$ORDEAL fence");
    EXPECT(2, "$ORDEAL fence --minimal --all-minimal bad.c");
    EXPECT(2, "$ORDEAL fence --robust bad.c");
    EXPECT(2, "$ORDEAL fence nothing.c");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(the_table_of_the_paper);
    RUN_TEST(fences_go_where_they_are_told);
    RUN_TEST(what_does_not_end_is_undecided);
    RUN_TEST(a_load_takes_no_fence_from_one_buffer_alone);
    RUN_TEST(what_is_wrong_anyway_is_told);
    return UNITY_END();
}
