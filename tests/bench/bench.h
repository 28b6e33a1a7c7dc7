/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark's tables. Each prints and records its rows; none can fail a test. */
#ifndef ORDEAL_BENCH_H
#define ORDEAL_BENCH_H

#include "measure.h"
#include "report.h"

struct bench {
    struct report report;
    bool quick;               /* about a minute in all instead of ten */
    uint64_t seed;
    const char *program;      /* the ordeal command; NULL: not there */
    const char *golden;       /* directory of the golden traces */
};

/* A program for the engine, NULL: it cannot be compiled, which is said. */
struct image *bench_image(const char *path, const char *const *define, size_t defines);

void table_parse(struct bench *b);          /* readers */
void table_headline(struct bench *b);       /* text file to certified verdict */
void table_scaling(struct bench *b);
void table_sweep_ops(struct bench *b);      /* Figure 4.8 */
void table_sweep_threads(struct bench *b);
void table_sweep_words(struct bench *b);
void table_effectiveness(struct bench *b);  /* Figure 4.7 */
void table_mixes(struct bench *b);          /* Table 4.2 */
void table_transactions(struct bench *b);   /* Figure 5.2 */
void table_hidden(struct bench *b);         /* Figure 4.6 in 100K legal operations */
void table_repeated(struct bench *b);       /* values that repeat */
void table_generate(struct bench *b);       /* tests from a bias */
void table_pairs(struct bench *b);          /* Figure 4.6 beside k independent pairs */
void table_model(struct bench *b);          /* the machines of the models */
void table_native(struct bench *b);         /* tests on this machine's CPU */
void table_replay(struct bench *b);         /* many executions of one test */
void table_run(struct bench *b);            /* made, run and checked */
void table_sim(struct bench *b);            /* the multiprocessor in simulation */
void table_regress(struct bench *b);        /* the database of a regression */
void table_invariants(struct bench *b);     /* what assertions cost */
void table_explore(struct bench *b);        /* Štill and Barnat 2018, Tables 2 and 3 */
void table_flush(struct bench *b);          /* delayed and plain flushing */
void table_explore_speed(struct bench *b);  /* states a second, bytes a state */
void table_monitor(struct bench *b);        /* Burckhardt and Musuvathi 2008, Figure 4(a) */
void table_relax(struct bench *b);          /* trials of predicted cycles */
void table_fence(struct bench *b);          /* Linden and Wolper 2013, Table 1 */
void table_litmus(struct bench *b);         /* litmus tests: critical cycles */
void table_wire(struct bench *b);           /* the stream of a simulated board */

#endif
