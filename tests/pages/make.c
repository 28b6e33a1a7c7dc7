/* SPDX-License-Identifier: Apache-2.0 */
/* tests/pages: makes what the pages for the browser's test are made of, in the folder that is named:
 * nightly-1.db to nightly-5.db, of which the last has an example of a failure, clean.db, hostile.db; reasons/,
 * cases/, waves/ and hangs/, failing tests with much to unfold, with two cases, and with signals; tuned/. For pages of a server: sb/, a
 * test that fails under SC, live.db, which grows by some rows when "grow" is said behind the folder, and
 * moving.plan, a regression to look at while it runs. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "regress_db.h"
#include "waves_file.h"

static const char *room;

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", room, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        exit(2);
}

static void make_databases(void)
{
    static const int causes[] = { 4, 3, 3, 2, 3 };
    for (int i = 0; i < 5; i++) {
        char name[32];
        struct regress_db_plan plan = { .when = 1794000000 + i * 86400.0,
                                        .units = 150 + 20 * i,
                                        .causes = causes[i],
                                        .folder = "failures/1-13" };
        snprintf(name, sizeof name, "nightly-%d.db", i + 1);
        regress_db_make(path_of(name), &plan);
    }
    regress_db_make(path_of("clean.db"),
                    &(struct regress_db_plan){ .when = 1794500000, .units = 30 });
    regress_db_make(
        path_of("hostile.db"),
        &(struct regress_db_plan){
            .when = 1794500000,
            .units = 4,
            .causes = 2,
            .folder = "../../etc",
            .text =
                "\"'><img src=x onerror=alert(1)><script>alert(2)</script>&amp;</script>\xe2\x80\xae evil" });
}

/* It runs, and has done part of its tests. */
static void make_live(void)
{
    regress_db_make(path_of("live.db"),
                    &(struct regress_db_plan){ .when = 1794500000, .units = 40, .causes = 2 });
    regress_db_sql(
        path_of("live.db"),
        "PRAGMA journal_mode = WAL; UPDATE run SET tests = 2000 WHERE id > 1; UPDATE run SET tests = 4000 WHERE id = 1;"
        "UPDATE session SET end = NULL WHERE id = 2");
}

static void grow(void)
{
    regress_db_sql(
        path_of("live.db"),
        "INSERT INTO unit VALUES (1, 800, 3, 2, 1794509500, 20, 600, 9000, 'done', 900);"
        "INSERT INTO test(run, number, verdict, seconds) VALUES (1, 800, 'PASS', 1), (1, 801, 'FAIL', 1),"
        " (1, 802, 'PASS', 1);"
        "INSERT INTO bucket VALUES (9, 'sig-new', 'violation', 'a load overtakes a load', NULL, 1, 801, 60, 'new');"
        "INSERT INTO failure VALUES (1, 801, 0, 9, 'TSO', NULL, 'P0 L[A]=1 < P0 L[A]=0', 60)");
}

/* A failing test as far as a page needs it. */
static void make_failure(const char *name, const char *trace)
{
    char file[64];
    mkdir(path_of(name), 0777);
    snprintf(file, sizeof file, "%s/trace.trace", name);
    write_file(file, trace);
    snprintf(file, sizeof file, "%s/test.test", name);
    write_file(file, "ordeal 1\nP0 S[A]#1\n");
    snprintf(file, sizeof file, "%s/verdict.json", name);
    write_file(file, "{\"verdict\":\"FAIL\",\"model\":\"TSO\"}\n");
}

/* A machine that hung, and was noticed thousands of cycles later. */
static void make_hang(void)
{
    static const char words[] =
        "all harts hang, cycle 8300; hart 1 waits for a load, for 4096 cycles";
    char verdict[256];
    make_failure("hangs", "");
    remove(path_of("hangs/trace.trace"));
    write_file("hangs/explanation.txt", words);
    snprintf(verdict, sizeof verdict,
             "{\"verdict\":\"FAIL\",\"model\":\"TSO\",\"broke\":true,\"reason\":\"%s\"}\n", words);
    write_file("hangs/verdict.json", verdict);
    waves_file_write(path_of("hangs/waves.fst"), 1, 300, 9000);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    room = argv[1];
    if (argc > 2) {
        grow();
        return 0;
    }
    make_live();
    make_failure("sb", "ordeal 1\nmodel SC\nP0 S[A]#1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[A]=0\n");
    write_file("sb/verdict.json", "{\"verdict\":\"FAIL\",\"model\":\"SC\"}\n");
    write_file("moving.plan",
               "[regression]\ntests = 400\nbatch = 20\nshrink = 5\n[run good]\ntarget = model\n"
               "[run bad]\ntarget = model\nbug = forward-oldest\n");
    make_databases();
    /* Figure 4.3 of the thesis. */
    make_failure("reasons",
                 "ordeal 1\nP1 S[B]#91\nP1 S[A]#1\nP1 L[A]=2\nP2 S[A]#2\nP3 S[B]#92\nP3 L[A]=2\n"
                 "P3 L[B]=92\nP4 L[B]=92\nP4 L[B]=91\n");
    /* Its Figure 4.6(a) with its mirror image: two cases, a circle in each, six threads side by side. */
    make_failure(
        "cases",
        "ordeal 1\nP1 S[B]#11\nP1 MEMBAR\nP1 L[C]=5\nP1 MEMBAR\nP1 S[A]#2\nP1 MEMBAR\nP1 L[D]=31\n"
        "P2 S[B]#12\nP2 MEMBAR\nP2 S[C]#5\nP3 S[D]#31\nP3 MEMBAR\nP3 L[E]=6\nP3 MEMBAR\nP3 S[A]#1\n"
        "P3 MEMBAR\nP3 L[B]=11\nP4 L[A]=1\nP4 MEMBAR\nP4 L[B]=12\nP5 S[D]#32\nP5 MEMBAR\nP5 S[E]#6\n"
        "P6 L[A]=2\nP6 MEMBAR\nP6 L[D]=32\n");
    make_failure("waves", "ordeal 1\nP0 S[B]#7 @120:180\nP1 S[counter_of_all]#1670116840 @145:150\n"
                          "P1 S[counter_of_all]#2 @170:190\n"
                          "P1 L[counter_of_all]=1670116840 @195:200\nP2 L[B]=0 @140:160\n");
    waves_file_write(path_of("waves/waves.fst"), 1, 300, 0);
    make_hang();
    mkdir(path_of("tuned"), 0777);
    write_file("tuned/tuned.bias", "# A bias tuned by coverage.\n\n# From profile a.\n[profile b]\n"
                                   "# 0 -> 5: 12.0 expected, without 3.0\nmembar.sl = 5\n");
    write_file("tuned/coverage.svg",
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\">"
               "<script>alert(1)</script><rect width=\"9\" height=\"9\"/></svg>\n");
    return 0;
}
