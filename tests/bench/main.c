/* SPDX-License-Identifier: Apache-2.0 */
/* bench: tables of speed and memory on the screen, and all of them as JSON.
 *
 *     bench [--quick] [--seed S] [--table NAME,...] [--golden DIR] [FILE.json]
 *     bench generate N P A [--mix M] [--tx LENGTH] [--seed S] [--shape thread|run] [--addresses]
 *                          [--values V] [--slow S] [--cas] [--roles] [--by-word]
 *
 * BENCH=quick in the environment means --quick; ORDEAL names the program for the headline. */
#include "bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

static const struct table {
    const char *name, *title;
    void (*run)(struct bench *b);
} tables[] = {
    { "parse", "reading and writing n=512K p=60 a=256", table_parse },
    { "headline", "n=512K p=60 a=256, no cycles, from a text file to a certified verdict",
      table_headline },
    { "scaling", "time per operation, p=16 a=256", table_scaling },
    { "n", "time against n (Figure 4.8); d+b is deriv+back", table_sweep_ops },
    { "p", "time against p (Figure 4.8)", table_sweep_threads },
    { "a", "time against a (Figure 4.8)", table_sweep_words },
    { "effectiveness", "valid orders found (Figure 4.7); late: runs stopped by the time limit",
      table_effectiveness },
    { "mixes", "instruction mixes, averaged over p and a (Table 4.2: n=256K)", table_mixes },
    { "transactions", "transactions of s operations (Figure 5.2)", table_transactions },
    { "hidden", "Figure 4.6 mirrored, in a legal execution of 100K operations", table_hidden },
    { "repeated", "legal executions whose values repeat: times of many seeds", table_repeated },
    { "gen", "tests made from a bias", table_generate },
    { "pairs", "Figure 4.6 mirrored, beside k independent store/load pairs", table_pairs },
    { "model", "operations a second of the machines of the models, one core", table_model },
    { "native", "tests on the CPU of this machine", table_native },
    { "replay", "many executions of one test: replays beside checks, TSO", table_replay },
    { "run", "ordeal run --check, end to end: how much of the time the target runs", table_run },
    { "sim",
      "the multiprocessor in simulation: cycles a second on one core; with --check, how "
      "much of the time it has",
      table_sim },
    { "regress", "a regression's database: tests merged a second, and what a summary of it takes",
      table_regress },
    { "invariants", "what assertions cost, p=16 a=256: those of a release, and all, beside none",
      table_invariants },
    { "explore", "programs under TSO, fenced and not (Tables 2 and 3 of Štill and Barnat)",
      table_explore },
    { "flush", "states of delayed and of plain flushing, TSO", table_flush },
    { "explore-speed", "states a second and bytes a state, TSO, all fences there",
      table_explore_speed },
    { "monitor", "SC executions with the monitor (Figure 4(a) of Burckhardt and Musuvathi)",
      table_monitor },
    { "relax", "trials of predicted cycles on dekker, of one execution and of up to 100",
      table_relax },
    { "fence", "fences for TSO and PSO, buffers without a bound (Table 1 of Linden and Wolper)",
      table_fence },
    { "litmus", "all outcomes of critical cycles under RVWMO, one core", table_litmus },
    { "wire", "the stream of a simulated board on USB's wires, in their time", table_wire },
};
enum { TABLES = sizeof tables / sizeof *tables };

static int usage(void)
{
    fprintf(
        stderr,
        "usage: bench [--quick] [--seed S] [--table NAME,...] [--golden DIR] [FILE.json]\n"
        "       bench generate N P A [--mix equal|load|store] [--tx LENGTH] [--seed S]\n"
        "                            [--shape thread|run] [--addresses] [--values V] [--slow S]\n"
        "                            [--cas] [--roles] [--by-word]\n"
        "tables:");
    for (int i = 0; i < TABLES; i++)
        fprintf(stderr, " %s", tables[i].name);
    fputc('\n', stderr);
    return 2;
}

/* ---- a workload as a text trace --------------------------------------------------------- */

/* 512K, 4M or plain; 0 is no number of anything here. */
static bool parse_count(const char *text, uint32_t *count)
{
    char *end;
    unsigned long value = strtoul(text, &end, 0);
    unsigned long unit = *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
    end += unit > 1;
    if (*end || value == 0 || value > 100000000 / unit)
        return false;
    *count = (uint32_t)(value * unit);
    return true;
}

static bool parse_mix(const char *text, enum workload_mix *mix)
{
    for (int i = 0; i < WORKLOAD_MIXES; i++)
        if (strcmp(text, workload_mix_names[i]) == 0) {
            *mix = (enum workload_mix)i;
            return true;
        }
    return false;
}

static bool parse_generate(int argc, char **argv, struct workload_spec *spec,
                           enum workload_shape *shape)
{
    static const struct option options[] = {
        { "mix", required_argument, NULL, 'm' },
        { "tx", required_argument, NULL, 't' },
        { "seed", required_argument, NULL, 's' },
        { "shape", required_argument, NULL, 'o' },
        { "addresses", no_argument, NULL, 'a' },
        { "values", required_argument, NULL, 'v' },
        { "slow", required_argument, NULL, 'd' },
        { "cas", no_argument, NULL, 'c' },
        { "roles", no_argument, NULL, 'r' },
        { "by-word", no_argument, NULL, 'w' },
        { NULL, 0, NULL, 0 },
    };
    bool good = true;
    for (int c; good && (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'm': good = parse_mix(optarg, &spec->mix); break;
        case 't': good = parse_count(optarg, &spec->transaction); break;
        case 's': spec->seed = strtoull(optarg, NULL, 0); break;
        case 'o': *shape = strcmp(optarg, "run") == 0 ? WORKLOAD_AS_RUN : WORKLOAD_BY_THREAD; break;
        case 'a': spec->addresses = true; break;
        case 'v': good = parse_count(optarg, &spec->values); break;
        case 'd': good = parse_count(optarg, &spec->slow); break;
        case 'c': spec->cas = true; break;
        case 'r': spec->roles = true; break;
        case 'w': spec->by_word = true; break;
        default: good = false;
        }
    }
    return good && argc - optind == 3 && parse_count(argv[optind], &spec->ops)
        && parse_count(argv[optind + 1], &spec->threads)
        && parse_count(argv[optind + 2], &spec->words);
}

static int generate(int argc, char **argv)
{
    struct workload_spec spec = { .seed = 1 };
    enum workload_shape shape = WORKLOAD_BY_THREAD;
    if (!parse_generate(argc, argv, &spec, &shape))
        return usage();
    struct workload *w = workload_run(&spec);
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *t = o ? ordeal_trace_new(o) : NULL;
    bool good = w && t && workload_trace(w, shape, 0, t) == ORDEAL_OK;
    if (good) {
        ordeal_trace_claim(t, spec.by_word ? ORDEAL_PSO : ORDEAL_TSO);
        good = ordeal_write_text(t, stdout) == ORDEAL_OK && fflush(stdout) == 0;
    }
    ordeal_trace_free(t);
    ordeal_free(o);
    workload_free(w);
    if (!good)
        fprintf(stderr, "bench: could not write the workload\n");
    return good ? 0 : 1;
}

/* ---- the tables ------------------------------------------------------------------------- */

static bool selected(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ','), at += at != NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return list == NULL;
}

static void run_tables(struct bench *b, const char *list)
{
    for (int i = 0; i < TABLES; i++) {
        if (!selected(list, tables[i].name))
            continue;
        report_table(&b->report, tables[i].name, tables[i].title);
        tables[i].run(b);
    }
    fprintf(b->report.out, "\n%u targets met, %u missed\n", b->report.met, b->report.missed);
}

static int run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "generate") == 0)
        return generate(argc - 1, argv + 1);

    static const struct option options[] = {
        { "quick", no_argument, NULL, 'q' },        { "seed", required_argument, NULL, 's' },
        { "table", required_argument, NULL, 't' },  { "golden", required_argument, NULL, 'g' },
        { NULL, 0, NULL, 0 },
    };
    const char *list = NULL, *mode = getenv("BENCH"), *program = getenv("ORDEAL");
    struct bench b = { .seed = 1, .golden = "tests/golden", .quick = mode && !strcmp(mode, "quick"),
                       .program = program && access(program, X_OK) == 0 ? program : NULL };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'q': b.quick = true; break;
        case 's': b.seed = strtoull(optarg, NULL, 0); break;
        case 't': list = optarg; break;
        case 'g': b.golden = optarg; break;
        default: return usage();
        }
    }
    if (argc - optind > 1 || !report_new(&b.report, stdout))
        return usage();
    cJSON_AddStringToObject(b.report.root, "version", ORDEAL_VERSION);
    cJSON_AddBoolToObject(b.report.root, "quick", b.quick);
    cJSON_AddNumberToObject(b.report.root, "seed", (double)b.seed);

    double start = bench_clock();
    run_tables(&b, list);
    printf("%.0f s\n", bench_clock() - start);
    bool written = optind == argc || report_write(&b.report, argv[optind]);
    if (!written)
        fprintf(stderr, "bench: could not write %s\n", argv[optind]);
    report_free(&b.report);
    return written ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (process_begin() != 0)
        return 1;
    int status = run(argc, argv);
    const char *lost = process_end();
    if (lost)
        fprintf(stderr, "bench: %s\n", lost);
    return lost ? 1 : status;
}
