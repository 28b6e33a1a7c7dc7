/* SPDX-License-Identifier: Apache-2.0 */
/* Waves of the machine as GTKWave sees them: every signal that the save file names is in the FST
 * file, and at each marker the hart's record of that operation is to be seen. GTKWave's own fst2vcd
 * reads the file. ORDEAL in the environment names the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"
#include "unity.h"

/* The smallest machine, one hart and one line, loses what the line held. */
void setUp(void)
{
    shell_enter();
    EXPECT(1, "$ORDEAL run --target sim --sizes h1-s1-w1-l4-b1-q1 --set threads=1 --final skip "
              "--bias $HOME_OF_TESTS/tests/zoo/old-default.bias "
              "--bug victim-dropped --count 100 --stop-after 1 --check --waves --save kept");
    EXPECT(0, "mv kept/* failure && fst2vcd failure/waves.fst >vcd");
}

void tearDown(void)
{
    shell_leave();
}

/* With both names GTKWave finds the waves beside the save file, wherever the folder is. */
static void the_folder_may_move(void)
{
    EXPECT(0, "cat failure/waves.gtkw");
    OUT("\n[dumpfile] \"/");
    OUT("/waves.fst\"\n[savefile] \"/");
    OUT("/waves.gtkw\"\n");
}

/* GTKWave says nothing of a name that it does not find. */
static void the_signals_are_there(void)
{
    int missing = -1, wanted = 0;
    EXPECT(0, "awk '$1 == \"$scope\" { scope[++depth] = $3 }\n"
              "$1 == \"$upscope\" { depth-- }\n"
              "$1 == \"$var\" { for (i = 1; i <= depth; i++) printf \"%%s.\", scope[i]\n"
              "    print $5 ($6 == \"$end\" ? \"\" : $6) }' vcd | sort -u >names");
    EXPECT(0, "grep '^soc' failure/waves.gtkw | sort -u >wanted; comm -13 names wanted >missing; "
              "wc -l <missing; wc -l <wanted; cat missing");
    TEST_ASSERT_EQUAL(2, sscanf(out, "%d %d", &missing, &wanted));
    TEST_ASSERT_EQUAL_MESSAGE(0, missing, out);
    TEST_ASSERT_TRUE(wanted > 40);
}

/* The record port of hart 0 at each of the times in `at`: valid, read, written. */
static const char look[] =
    "function number(bits, i, n)\n"
    "{ for (i = 1; i <= length(bits); i++) n = 2 * n + substr(bits, i, 1); return n + 0 }\n"
    "function tell()\n"
    "{ printf \"%.0f %.0f %.0f\\n\", number(now[valid]), number(now[got]), number(now[put]) }\n"
    "BEGIN { n = split(at, times, \" \") }\n"
    "$1 == \"$scope\" { path[++depth] = $3 }\n"
    "$1 == \"$upscope\" { depth-- }\n"
    "$1 == \"$var\" && depth == 3 && path[2] == \"harts[0]\" && path[3] == \"tile\" {\n"
    "    if ($5 == \"rec_valid_o\") valid = $4\n"
    "    if ($5 == \"rec_read_o\") got = $4\n"
    "    if ($5 == \"rec_written_o\") put = $4 }\n"
    "/^#/ { while (k < n && times[k + 1] < substr($1, 2) + 0) { tell(); k++ } next }\n"
    "/^b/ { now[$2] = substr($1, 2); next }\n"
    "/^[01]/ { now[substr($1, 2)] = substr($1, 1, 1) }\n"
    "END { while (k++ < n) tell() }\n";

static void each_mark_is_at_its_record(void)
{
    static char view[1 << 16], records[1 << 12];
    char *times, *names, *line;
    int marks = 0;
    FILE *f = fopen("look", "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(look, f);
    fclose(f);
    slurp("failure/waves.gtkw", view, sizeof view);
    times = strstr(view, "\n*");
    TEST_ASSERT_NOT_NULL(times);
    times = strchr(strchr(times, ' ') + 1, ' ') + 1; /* after the zoom and the main marker */
    EXPECT(0, "awk -f look -v at='%.*s' vcd", (int)(strstr(times, " -1") - times), times);
    strcpy(records, out);
    line = records;
    for (names = view; (names = strstr(names, "[markername] ")); names++, marks++) {
        unsigned long valid = 0, got = 0, put = 0, value;
        char name[200];
        TEST_ASSERT_EQUAL(1, sscanf(names, "[markername] %199[^\n]", name));
        TEST_ASSERT_EQUAL_MESSAGE(3, sscanf(line, "%lu %lu %lu", &valid, &got, &put), name);
        TEST_ASSERT_EQUAL_MESSAGE(1, valid, name);
        if (strchr(name, '=')) {
            value = strtoul(strchr(name, '=') + 1, NULL, 0);
            TEST_ASSERT_EQUAL_UINT_MESSAGE(value, got, name);
        }
        if (strchr(name, '#')) {
            value = strtoul(strchr(name, '#') + 1, NULL, 0);
            TEST_ASSERT_EQUAL_UINT_MESSAGE(value, put, name);
        }
        line = strchr(line, '\n') + 1;
    }
    TEST_ASSERT_TRUE(marks >= 2);
}

/* As the folder's run.txt says, which names no more than the machine. Nothing in it is executed. */
static void they_are_made_again_from_the_folder(void)
{
    EXPECT(1, "cp -r failure other; rm other/waves.*; printf '#!/bin/sh\\n: >owned\\n' "
              ">other/replay; cp other/replay other/ordeal; PATH=$PWD/other:$PATH; "
              "$ORDEAL show --waves other");
    OUT("Running it again: ordeal run --target sim --bug victim-dropped --sizes h1-s1-w1-l4-b1-q1 ");
    OUT("Waves: other/waves.gtkw, cycles ");
    EXPECT(0, "! ls . other | grep owned");
    EXPECT(0, "fst2vcd other/waves.fst | grep -v -A1 '^.date' | tail -n +5 >again; "
              "grep -v -A1 '^.date' vcd | tail -n +5 | cmp - again && "
              "ls -A other | grep -c again; true");
    TEST_ASSERT_EQUAL_STRING("0\n", out);
    EXPECT(2, "rm other/waves.*; sed -i s/victim-dropped/fill-lost/ other/run.txt; "
              "$ORDEAL show --waves other");
    ERR("other/run.txt:3: ");
}

/* With files that cannot grow, as on a full disk, the writer of waves dies or leaves half a file: the
 * test is told and kept, and no waves are. */
static void waves_that_are_not_whole_are_none(void)
{
    for (int blocks = 20; blocks <= 320; blocks *= 2) {
        EXPECT(0,
               "rm -rf again; { (trap '' XFSZ; ulimit -f %d; $ORDEAL run --target sim "
               "--sizes h1-s1-w1-l4-b1-q1 --final skip --bug victim-dropped --check --waves "
               "--save again failure/test.test); echo status=$?; } 2>&1 | cat",
               blocks);
        OUT("FAIL failure/test.test#");
        OUT(" saved=again/test-");
        OUT("status=2\n");
        OUT(" fail=1 ");
        OUT("is the disk full?");
        EXPECT(0, "ls -A again again/* | grep -c -e waves -e '^[.]'; true");
        TEST_ASSERT_EQUAL_STRING("0\n", out);
    }
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(the_folder_may_move);
    RUN_TEST(the_signals_are_there);
    RUN_TEST(each_mark_is_at_its_record);
    RUN_TEST(they_are_made_again_from_the_folder);
    RUN_TEST(waves_that_are_not_whole_are_none);
    return UNITY_END();
}
