/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run --check` from end to end: what the target's speed is worth when all is checked. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static const struct { const char *name, *words; unsigned tests; double share; } runs[] = {
    /* the least share of the time that the target has to run, in percent; 0: none is asked */
    { "native, 2 x 100", "--target native", 1000, 50 },
    { "native, 2 x 1000", "--target native --set operations=1000", 100, 50 },
    { "native, store buffer", "--target native --bias examples/store_buffer.bias", 500, 50 },
    { "native, litmus", "--target native --bias examples/store_buffer.bias --set operations=4"
                        " -i 1000000", 10, 50 },
    { "model TSO, 2 x 100", "--target model", 20000, 0 },
    { "model RMO, 4 x 100", "--target model --model RMO --set threads=4", 5000, 0 },
};

/* The number after `name=` in the summary. */
static double field(const char *summary, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = strstr(summary, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

static void run_row(struct bench *b, size_t i)
{
    char command[512], line[1024] = "";
    unsigned tests = b->quick ? runs[i].tests / 5 : runs[i].tests;
    snprintf(command, sizeof command, "'%s' run --check --no-save --count %u %s", b->program, tests,
             runs[i].words);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) /* the last line sums up */
        ;
    bool good = pipe && pclose(pipe) == 0;
    cJSON *row = row_new();
    row_text(row, "run", runs[i].name);
    row_text(row, "verdict", good ? "PASS" : "FAIL");
    row_number(row, "seconds", field(line, "seconds"));
    row_number(row, "Mops/s", field(line, "ops_per_second") * 1e-6);
    row_number(row, "Kout/s", field(line, "iterations") / field(line, "seconds") * 1e-3);
    row_number(row, "running %", field(line, "running_percent"));
    row_target(row, runs[i].share > 0 ? "50 %" : NULL,
               field(line, "running_percent") >= runs[i].share);
    row_end(&b->report, row);
}

void table_run(struct bench *b)
{
    for (size_t i = 0; b->program && i < sizeof runs / sizeof *runs; i++)
        run_row(b, i);
}
