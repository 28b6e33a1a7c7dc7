/* SPDX-License-Identifier: Apache-2.0 */
/* A design of one's own on trial, as docs/your-design.md says: machines, shared objects behind
 * sim/soc.h, given by --soc. One is the reference machine in C, one the example examples/mychip.cpp
 * around a top of Verilator, which is loaded through the loader's port, as on a board: it must do
 * exactly what the model of the same hardware does. ORDEAL in the environment names the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"
#include "unity.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define REFERENCE(flags, more)                                                                     \
    EXPECT(0, "${CC:-cc} -O1 -shared -fPIC -D_GNU_SOURCE " flags " -I'%s/sim' -I'%s/rtl' "         \
              "-I'%s/tests/support' '%s/tests/support/iss.c' '%s/tests/support/iss_hart.c' "       \
              more " -o machine.so", home, home, home, home, home)
#define RUN "$ORDEAL run --target sim "

static void a_machine_in_c(void)
{
    REFERENCE("-DISS_SHARED=4", "");
    EXPECT(0, RUN "--soc ./machine.so --bias '%s/examples/zoo.bias' --count 30 --check", home);
    OUT(" pass=30 fail=0 ");
    EXPECT(2, RUN "--soc ./machine.so --bug upgrade-wins --check");
    ERR("the model was built without bugs");
    EXPECT(2, RUN "--soc ./machine.so --count 1 --coverage reached");
    ERR("the model was built without coverage");
}

/* ---- coverage -------------------------------------------------------------------------------- */

static const char counting[] =
    "#include <stdio.h>\n"
    "#include \"iss.h\"\n"
    "struct soc_interface soc_interface;\n"
    "static bool coverage(struct soc *s, const char *file)\n"
    "{ FILE *f = fopen(file, \"w\"); (void)s;\n"
    "  return f && fputs(\"# SystemC::Coverage-3\\n\", f) >= 0\n"
    "      && fputs(\"C '\\1f\\2a.v\\1l\\2\" \"7\\1page\\2v_line/a\\1o\\2reached' 3\\n\", f) >= 0\n"
    "      && fclose(f) == 0; }\n"
    "__attribute__((constructor)) static void prepare(void)\n"
    "{ soc_interface = *iss_interface(4); soc_interface.parameters.coverage = true;\n"
    "  soc_interface.coverage = coverage; }\n";

/* Each machine has a file of its own, in each run others. */
static void what_was_reached_is_written(void)
{
    FILE *f = fopen("counting.c", "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(counting, f);
    fclose(f);
    REFERENCE("", "counting.c");
    EXPECT(0, RUN "--soc ./machine.so --count 4 --check --jobs 1 --coverage reached "
                  "--cover points");
    EXPECT(0, "grep '^rtl' points");
    TEST_ASSERT_EQUAL_STRING("rtl.line.a.v:7:0.reached 3 1 0 -\n", out);
    EXPECT(0, RUN "--soc ./machine.so --count 4 --check --jobs 2 --coverage others --cover points");
    EXPECT(0, "grep -q '^rtl.line.a.v:7:0.reached 9 1 0 -$' points"); /* one machine, then two */
    EXPECT(0, "cat reached/*.dat");
    OUT("reached' 3\n");
    EXPECT(0, "ls reached | wc -l; " RUN "--soc ./machine.so --count 4 --check --jobs 2 "
              "--coverage reached >log; ls reached | wc -l");
    long before = 0, after = 0;
    TEST_ASSERT_EQUAL(2, sscanf(out, "%ld %ld", &before, &after));
    TEST_ASSERT_TRUE(before >= 1);
    TEST_ASSERT_TRUE(after >= before + 2);
    EXPECT(2, "touch file && " RUN "--soc ./machine.so --count 4 --coverage file");
    ERR("--coverage 'file': ");
}

/* ---- a top of Verilator ---------------------------------------------------------------------- */

#define SAME_TESTS                                                                                 \
    "--bias '%s/examples/zoo.bias' --set threads=2 --count 20 --iterations 2 --visible "

static void the_example_does_what_the_model_does(void)
{
    EXPECT(0, "awk -f '%s/rtl/header.awk' '%s/rtl/soc.def' '%s/rtl/zoo.def' >soc.vh", home, home,
           home);
    EXPECT(0, "verilator --cc --exe --build -Wno-lint -Wno-style -I. -I'%s/rtl' --top-module soc "
              "--prefix Vmychip -GNHARTS=2 -GSETS=1 -GWAYS=2 -GMEMORY_WORDS=262144 "
              "-GCODE_WORDS=65536 -GCAPTURE_DEPTH=256 -MAKEFLAGS OPT_FAST=-O0 "
              "-CFLAGS '-fPIC -I%s/sim -I%s/rtl -DHARTS=2 -DSETS=1 -DWAYS=2 "
              "-DMEMORY_BYTES=1048576 -DCODE_BYTES=262144' -LDFLAGS -shared '%s'/rtl/*.v "
              "'%s/examples/mychip.cpp' -o mychip.so", home, home, home, home, home);
    EXPECT(0, RUN "--soc obj_dir/mychip.so " SAME_TESTS ">own", home);
    EXPECT(0,
           RUN "--sizes h2-s1-w2-l4-b8-q4 " SAME_TESTS ">ours && cmp own ours && "
               "grep -c '^P' own",
           home);
    TEST_ASSERT_TRUE(atol(out) > 400);
    EXPECT(1, RUN "--soc obj_dir/mychip.so " SAME_TESTS "--check --count 400 --bug upgrade-wins "
              "--stop-after 1", home);
    OUT("FAIL ");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(a_machine_in_c);
    RUN_TEST(what_was_reached_is_written);
    RUN_TEST(the_example_does_what_the_model_does);
    return UNITY_END();
}
