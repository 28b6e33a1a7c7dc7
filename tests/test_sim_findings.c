/* SPDX-License-Identifier: Apache-2.0 */
/* What is done about a machine in simulation that fails, from outside: a standstill or a failed
 * check of its own is a finding, kept, made small and run again like a violation; waves, and where
 * to look in them. The machine is none of ours: a shared object of a page that never gets on.
 * ORDEAL in the environment names the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"
#include "unity.h"
#include "tell/waves.h"

/* Harts 0 and 1 wait for ever; BREAKS: an assertion fails instead; FULL: waves cannot be written. */
static const char machine[] =
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include \"soc.h\"\n"
    "struct soc { uint64_t cycle; };\n"
    "static struct soc *create(const struct soc_interface *self)\n"
    "{ (void)self; return calloc(1, sizeof(struct soc)); }\n"
    "static void destroy(struct soc *s) { free(s); }\n"
    "static void reset(struct soc *s, const struct soc_setup *u) { (void)u; s->cycle = 0; }\n"
    "static bool write_code(struct soc *s, uint32_t h, uint32_t a, const uint32_t *w, uint32_t n)\n"
    "{ (void)s, (void)h, (void)a, (void)w, (void)n; return true; }\n"
    "static bool write_memory(struct soc *s, uint32_t a, const uint32_t *w, uint32_t n)\n"
    "{ (void)s, (void)a, (void)w, (void)n; return true; }\n"
    "static bool read_memory(struct soc *s, uint32_t a, uint32_t *w, uint32_t n)\n"
    "{ (void)s, (void)a, (void)w, (void)n; return false; }\n"
    "static uint64_t step(struct soc *s, uint64_t n) { s->cycle += n; return n; }\n"
    "static bool done(const struct soc *s) { (void)s; return false; }\n"
    "static uint64_t cycle(const struct soc *s) { return s->cycle; }\n"
    "static size_t read_words(struct soc *s, uint32_t *w, size_t n)\n"
    "{ (void)s, (void)w, (void)n; return 0; }\n"
    "static uint32_t counter(struct soc *s, uint32_t h, uint32_t e)\n"
    "{ (void)s, (void)h, (void)e; return 0; }\n"
    "static void hart(struct soc *s, uint32_t h, struct soc_hart *t)\n"
    "{ (void)s; *t = (struct soc_hart){ .done = h > 1, .waits = 5, .address = 0x80000004,\n"
    "                                   .instructions = 12 }; }\n"
    "static const char *assertion(const struct soc *s)\n"
    "{ (void)s;\n"
    "#ifdef BREAKS\n"
    "  return \"one_owner (cache.v:7)\";\n"
    "#endif\n"
    "  return NULL; }\n"
    "static bool waves(struct soc *s, const char *file)\n"
    "{ (void)s;\n"
    "#ifdef FULL\n"
    "  return !file;\n"
    "#endif\n"
    "  FILE *f = file ? fopen(file, \"w\") : NULL;\n"
    "  if (f) fputs(\"waves\", f), fclose(f);\n"
    "  return !file || f; }\n"
    "static bool coverage(struct soc *s, const char *file) { (void)s, (void)file; return false; }\n"
    "const struct soc_interface soc_interface = {\n"
    "    .version = SOC_VERSION, .name = \"stuck\",\n"
    "    .parameters = { .harts = 4, .memory_bytes = 1 << 20, .code_bytes = 1 << 18,\n"
    "                    .waves = WAVES },\n"
    "    .create = create, .destroy = destroy, .reset = reset, .write_code = write_code,\n"
    "    .write_memory = write_memory, .read_memory = read_memory, .step = step, .done = done,\n"
    "    .cycle = cycle, .read_capture = read_words, .read_log = read_words,\n"
    "    .counter = counter, .hart = hart, .assertion = assertion, .waves = waves,\n"
    "    .coverage = coverage };\n";

/* ---- running --------------------------------------------------------------------------------- */

/* flags: "-DBREAKS", and -DWAVES=true or false. */
static void build(const char *flags)
{
    FILE *f = fopen("machine.c", "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(machine, f);
    fclose(f);
    EXPECT(0, "${CC:-cc} -shared -fPIC %s -I'%s/sim' machine.c -o machine.so", flags, home);
}

void setUp(void)
{
    shell_enter();
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
}

void tearDown(void)
{
    shell_leave();
}

/* ---- findings -------------------------------------------------------------------------------- */

#define RUN "$ORDEAL run --target sim --soc machine.so "

static void a_standstill_is_a_finding(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--check --count 2 --shrink");
    OUT("FAIL test-0#0 model=TSO profile=");
    OUT(" broke=yes reason=\"all harts hang");
    OUT("; hart 0 is at ");
    OUT("and waits for its store buffer to empty");
    OUT(", for 20480 cycles");
    OUT("FAIL test-1#0 ");
    OUT("saved=ordeal-failures/test-000001\nSMALL test-1#0 small=1 tried=");
    OUT("tests=2 ");
    OUT(" fail=2 ");
    EXPECT(0, "ls ordeal-failures/test-000000 | tr '\\n' ' '");
    TEST_ASSERT_EQUAL_STRING("bias.ini explanation.txt replay run.txt seed small test.test "
                             "verdict.json verdict.txt ",
                             out);
    EXPECT(0, "ls ordeal-failures/test-000000/small | tr '\\n' ' '");
    TEST_ASSERT_EQUAL_STRING("explanation.txt replay run.txt seed test.test verdict.json "
                             "verdict.txt ",
                             out);
    EXPECT(1, "cd / && %s/ordeal-failures/test-000000/replay", directory);
    OUT("broke=yes");
    EXPECT(1, "$ORDEAL show ordeal-failures/test-000000");
    OUT("FAIL test.test: the machine broke: all harts hang");
}

static void so_is_a_check_that_fails(void)
{
    build("-DWAVES=true -DBREAKS");
    EXPECT(1, RUN "--check --json --no-save");
    OUT("\"broke\":true,\"reason\":\"assertion one_owner (cache.v:7), cycle ");
}

static void traces_are_not_mixed_with_findings(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--count 2");
    TEST_ASSERT_EQUAL_STRING("", out);
    ERR("ordeal run: test-0#0: all harts hang");
    ERR("ordeal run: test-1#0: all harts hang");
}

static void several_machines_find_the_same(void)
{
    build("-DWAVES=true");
    for (int jobs = 1; jobs <= 3; jobs += 2)
        sh(RUN "--check --count 30 --stop-after 7 --no-save --jobs %d >all%d; echo $? >>all%d; "
           "sed -Ei 's/([a-z]*_per_second|seconds|running_percent)=[0-9.]+//g' all%d",
           jobs, jobs, jobs, jobs);
    EXPECT(0, "cmp all1 all3 && cat all1");
    OUT("FAIL test-6#0");
    OUT(" fail=7 ");
    TEST_ASSERT_NULL(strstr(out, "test-7#0"));
}

/* ---- waves ----------------------------------------------------------------------------------- */

static void waves_are_kept_and_looked_at(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--check --waves");
    EXPECT(0, "cat ordeal-failures/test-000000/waves.fst");
    TEST_ASSERT_EQUAL_STRING("waves", out);
    EXPECT(0, "cat ordeal-failures/test-000000/waves.gtkw");
    OUT("[dumpfile] \"");
    OUT("ordeal-failures/test-000000/waves.fst\"\n");
    OUT("[markername] Ahart 0 waits\n");
    OUT("soc.harts[1].tile.bus_addr_o[31:0]\n");
    TEST_ASSERT_NULL(strstr(out, "soc.harts[2]"));
    EXPECT(1, "$ORDEAL show --waves ordeal-failures/test-000000");
    OUT("Waves: ordeal-failures/test-000000/waves.gtkw, cycles ");
    OUT("there is no display; open it with: gtkwave ordeal-failures/test-000000/waves.gtkw\n");
}

static void waves_can_be_had_later(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--check");
    EXPECT(1, "$ORDEAL show --waves --soc machine.so ordeal-failures/test-000000");
    OUT("Running it again: ordeal run --target sim --soc ");
    OUT("/machine.so --seed 1 --first-iteration 0 --iterations 1 --no-save --against TSO --waves ");
    EXPECT(0, "ls -A ordeal-failures/test-000000 | grep -v '^waves' | wc -l; "
              "cat ordeal-failures/test-000000/waves.fst");
    TEST_ASSERT_EQUAL_STRING("8\nwaves", out);
}

#define KEPT "ordeal-failures/test-000000"
#define SHOW "$ORDEAL show --waves --soc machine.so " KEPT

/* A folder that came with a report of a bug: what is run is this program alone. */
static void nothing_in_a_folder_is_executed(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--check");
    EXPECT(0,
           "printf '#!/bin/sh\ntouch %s/executed\n' >" KEPT "/replay; cp " KEPT "/replay sh; "
           "cp sh gtkwave; cp sh ordeal; cp sh " KEPT "/ordeal; chmod +x sh gtkwave ordeal",
           directory);
    EXPECT(1, "ORDEAL=./sh PATH=/usr/bin:/bin " SHOW);
    EXPECT(1, "test -e executed");
    EXPECT(0, "cat " KEPT "/waves.fst");
    TEST_ASSERT_EQUAL_STRING("waves", out);
}

static void what_is_ones_own_is_named_again(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--check");
    EXPECT(0, "grep machine.so " KEPT "/replay");
    EXPECT(1, "grep machine.so " KEPT "/run.txt");
    EXPECT(2, "$ORDEAL show --waves " KEPT);
    ERR("name it with --soc");
    EXPECT(2, "sed -i s/needs.soc/soc=machine.so/ " KEPT "/run.txt; " SHOW);
    ERR(KEPT "/run.txt:3: expected 'KEY VALUE'");
    EXPECT(2, "sed -i s/soc=machine.so/soc' 'machine.so/ " KEPT "/run.txt; " SHOW);
    ERR(KEPT "/run.txt:3: there is no 'soc' to be said of a machine");
    EXPECT(2, "sed -i s/soc.machine.so/sizes' 'usual/ " KEPT "/run.txt; " SHOW);
    ERR("leave out --soc");
    EXPECT(2, "$ORDEAL show --soc machine.so " KEPT);
    ERR("add that");
    EXPECT(0, "ls -A " KEPT " | grep again | wc -l");
    TEST_ASSERT_EQUAL_STRING("0\n", out);
}

static void nothing_is_opened_through_a_folder(void)
{
    static const char *const names[] = { "run.txt",   "test.test",  "explanation.txt",
                                         "waves.fst", "waves.gtkw", "trace.trace" };
    build("-DWAVES=true");
    EXPECT(1, RUN "--check");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char refusal[128];
        snprintf(refusal, sizeof refusal, "other/%s: it is a link, and expected is a file",
                 names[i]);
        EXPECT(0,
               "rm -rf other; cp -r " KEPT " other; touch outside; "
               "if [ -e other/%s ]; then mv other/%s outside; fi; ln -s ../outside other/%s",
               names[i], names[i], names[i]);
        EXPECT(2, "$ORDEAL show --waves --soc machine.so other");
        ERR(refusal);
    }
    EXPECT(0, "rm -rf other; cp -r " KEPT " other; rm other/test.test; mkfifo other/test.test");
    EXPECT(2, "$ORDEAL show --waves --soc machine.so other");
    ERR("other/test.test: it is something else, and expected is a file");
    EXPECT(0, "rm -rf other; cp -r " KEPT " other; truncate -s 300M other/test.test");
    EXPECT(2, "$ORDEAL show --waves --soc machine.so other");
    ERR("other/test.test: it has 314572800 bytes");
}

/* A line of its own in GTKWave's save file could name a program to be run. */
static void a_name_does_not_become_a_line_for_gtkwave(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--check --waves");
    EXPECT(0, "mv " KEPT " \"$(printf 'x\\n^>1 evil')\"");
    EXPECT(2, "$ORDEAL show --waves \"$(printf 'x\\n^>1 evil')\"");
    ERR("GTKWave cannot be told a name");
}

/* GTKWave goes on alone, so it is waited for. */
static void a_name_does_not_become_an_option_of_gtkwave(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--check --waves");
    EXPECT(0, "mv " KEPT " ./-S; mkdir tools; "
              "printf '#!/bin/sh\necho \"$@\" >new && mv new said\n' >tools/gtkwave; "
              "chmod +x tools/gtkwave");
    EXPECT(1, "$ORDEAL show --waves -- -S");
    OUT("open it with: gtkwave ./-S/waves.gtkw\n");
    EXPECT(0, "DISPLAY=:0 PATH=$PWD/tools:$PATH $ORDEAL show --waves -- -S; "
              "while ! [ -e said ] && [ $((i=i+1)) -lt 3000 ]; do sleep 0.01; done; cat said");
    OUT("\n./-S/waves.gtkw\n");
}

static void an_old_folder_says_what_to_do(void)
{
    build("-DWAVES=true");
    EXPECT(1, RUN "--check");
    EXPECT(2, "rm " KEPT "/run.txt; " SHOW);
    ERR("run.txt: there is none");
    ERR("if you trust it, run: sh " KEPT "/replay --waves --save DIR");
}

static void what_cannot_be_looked_at_is_explained(void)
{
    build("-DWAVES=false");
    EXPECT(1, RUN "--check");
    EXPECT(2, "$ORDEAL show --waves --soc machine.so ordeal-failures/test-000000");
    ERR("built without waves");
    EXPECT(1, RUN "--check --waves --save other");
    ERR("test-0: the model was built without waves");
    EXPECT(0, "ls other/test-000000/test.test");
    EXPECT(2, "mkdir empty && $ORDEAL show empty");
    ERR("empty: it is no folder that 'ordeal run' made");
    EXPECT(2, "printf 'ordeal 1\\nP0 S[A]#1\\nP0 L[A]=2\\n' >some.trace && "
              "$ORDEAL show --waves some.trace");
    ERR("name its folder");
    EXPECT(2, "cp some.trace empty/trace.trace && $ORDEAL show --waves empty/trace.trace");
    ERR("run.txt: there is none");
    EXPECT(2, "$ORDEAL show --waves - <some.trace");
    ERR("name its folder");
}

/* What was asked for and could have been there is a result like others. */
static void waves_that_are_not_written_are_an_error(void)
{
    build("-DWAVES=true -DFULL");
    EXPECT(2, RUN "--check --waves");
    OUT(" saved=ordeal-failures/test-000000");
    EXPECT(0, "ls ordeal-failures/test-000000/test.test && ! ls ordeal-failures/*/waves*");
}

static void the_marks_are_those_of_the_core(void)
{
    struct ordeal *o = ordeal_new(NULL);
    char text[] = "ordeal 1\nP0 S[A]#1 @5:\nP0 S[B]#1 @6:\nP0 L[C]=0 @7:9\nP2 L[B]=1 @90:100\n"
                  "P2 L[A]=0 @95:103\n";
    FILE *f = fmemopen(text, strlen(text), "r");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "x", ORDEAL_FORMAT_TEXT);
    struct ordeal_trace *t;
    struct ordeal_verdict *v;
    struct ordeal_options how = { .model = ORDEAL_TSO };
    struct waves_view view;
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_reader_next(r, &t));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_check(t, &how, &v));
    waves_of_verdict(&view, t, v);
    TEST_ASSERT_EQUAL(4, view.marks);
    TEST_ASSERT_EQUAL(5, view.first);
    TEST_ASSERT_EQUAL(103, view.last);
    TEST_ASSERT_EQUAL_HEX(3, view.harts);
    TEST_ASSERT_EQUAL_STRING("P0 S[A]#1", view.mark[0].text);
    TEST_ASSERT_EQUAL(100, view.mark[2].cycle);
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
    ordeal_reader_free(r);
    fclose(f);
    ordeal_free(o);
}

/* GTKWave says nothing of signals that it does not find. */
static void the_signals_are_those_of_the_machine(void)
{
    static char tile[1 << 16], bus[1 << 16];
    TEST_ASSERT_EQUAL(0, chdir(home));
    slurp("rtl/tile.v", tile, sizeof tile);
    slurp("rtl/bus.v", bus, sizeof bus);
    for (size_t i = 0; waves_signal(i); i++) {
        const struct waves_signal *s = waves_signal(i);
        const char *text = s->group == WAVES_MEMORY ? bus : tile, *at = text;
        size_t length = strlen(s->name);
        while ((at = strstr(at, s->name)) && (strchr("_abcdefghijklmnopqrstuvwxyz.", at[-1])
                                              || !strchr(",;\n ", at[length])))
            at++;
        TEST_ASSERT_NOT_NULL_MESSAGE(at, s->name);
    }
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(a_standstill_is_a_finding);
    RUN_TEST(so_is_a_check_that_fails);
    RUN_TEST(traces_are_not_mixed_with_findings);
    RUN_TEST(several_machines_find_the_same);
    RUN_TEST(waves_are_kept_and_looked_at);
    RUN_TEST(waves_can_be_had_later);
    RUN_TEST(nothing_in_a_folder_is_executed);
    RUN_TEST(what_is_ones_own_is_named_again);
    RUN_TEST(nothing_is_opened_through_a_folder);
    RUN_TEST(a_name_does_not_become_a_line_for_gtkwave);
    RUN_TEST(a_name_does_not_become_an_option_of_gtkwave);
    RUN_TEST(an_old_folder_says_what_to_do);
    RUN_TEST(what_cannot_be_looked_at_is_explained);
    RUN_TEST(waves_that_are_not_written_are_an_error);
    RUN_TEST(the_marks_are_those_of_the_core);
    RUN_TEST(the_signals_are_those_of_the_machine);
    return UNITY_END();
}
