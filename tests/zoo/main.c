/* SPDX-License-Identifier: Apache-2.0 */
/* zoo: every bug of the machine against random tests, and the machine without bugs against them.
 *
 *     zoo FILE.json [KEY=VALUE...]
 *
 * count=N tests of a bug at most; clean=N tests of each machine without bugs; models=usual|all:
 * each bug on one machine or on every one that can have it; shrink=SECONDS to make each failure
 * small; bug=NAME: that one alone; jobs=N machines at a time; seed=S, bias=FILE,
 * config=KEY=VALUE,...: as of `ordeal run`, without them as it is when nothing is said: its default
 * bias, on sizes of the machine that take turns. Prints tables in the shape of the thesis' Tables 6.1
 * and 6.2. Interrupted, it goes on where it was.
 * Exit status: 0 all bugs were found and nothing else, 1 not so, 2 something is wrong, 130 ^C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/interrupt.h"
#include "base/list.h"
#include "campaign.h"
#include "process.h"
#include "targets/soc/zoo.h"

/* The machine without bugs comes in these sizes: as usual, two lines of cache, two small sets, the
 * smallest of everything, no choice of a way, many ways, no transactions. */
static const char *const sizes[] = {
    "sets=16,ways=2",
    "sets=1,ways=2",
    "sets=2,ways=2,store-buffer=4",
    "sets=1,ways=1,store-buffer=1,load-queue=1",
    "sets=4,ways=1,line=64",
    "sets=4,ways=4,line=32",
    "transactions=0",
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const enum ordeal_model models[] = { ORDEAL_SC, ORDEAL_TSO, ORDEAL_PSO, ORDEAL_RMO };
enum { MODELS = sizeof models / sizeof *models };

struct tally { int there, found, violations, broke; };

/* A bug in a machine, and what came of it. */
struct search {
    int bug, m;
    const cJSON *result;
    double small; /* operations of the failing test made small; 0: it is not */
};

/* A machine without bugs. */
struct clean {
    const char *size;
    int m;
    const cJSON *result;
};

struct trial {
    struct campaign campaign;
    const char *program, *file;  /* ordeal; the results */
    const char *bias, *config;   /* for every bug; NULL: as ordeal likes */
    char tests[512];             /* the same as words of a command line */
    uint64_t count, clean, seed; /* tests of a bug at most; of each machine without one */
    uint64_t shrink;             /* seconds to make a failure small; 0: as it is */
    bool every_model;
    const char *only; /* one bug; NULL: all */
    LIST(struct search) searches;
    LIST(struct clean) cleans;
    struct tally by_area[16][MODELS];    /* areas as the zoo lists them */
    int missed, dirty;                   /* bugs not found; machines without bugs that failed */
};

/* ---- bugs ------------------------------------------------------------------------------------ */

static int area_of(const struct bug_entry *e)
{
    int area = 0;
    while (strcmp(zoo.areas[area].name, e->area) != 0)
        area++;
    return area;
}

/* Most are looked for in the usual machine, TSO. */
static bool is_asked(const struct trial *t, const struct bug_entry *e, int m)
{
    if (!bug_is_in(e, models[m]))
        return false;
    if (t->every_model)
        return true;
    if (bug_is_in(e, ORDEAL_TSO))
        return models[m] == ORDEAL_TSO;
    for (int before = 0; before < m; before++)
        if (bug_is_in(e, models[before]))
            return false;
    return true;
}

static const char *count_or_none(double number, char text[24])
{
    snprintf(text, 24, number > 0 ? "%.0f" : "-", number);
    return text;
}

static void print_bug(const struct search *found)
{
    const struct bug_entry *e = &zoo.entry[found->bug];
    const cJSON *r = found->result;
    char core[24], shrunk[24];
    printf("%-28s %-14s %-5s %-9s %8.0f %12.0f %6s %6s %8.1f\n", e->name, e->area,
           ordeal_model_name(models[found->m]), result_verdict(r), result_number(r, "tests"),
           result_number(r, "cycles"), count_or_none(result_number(r, "core"), core),
           count_or_none(found->small, shrunk), result_number(r, "seconds"));
}

static const cJSON *run(struct trial *t, const char *name, const char *words, double seconds)
{
    return campaign_run(&t->campaign, &(struct run){ .program = t->program,
                                                     .name = name,
                                                     .words = words,
                                                     .seed = t->seed,
                                                     .seconds = seconds });
}

/* The test that failed once more, to make it small, if that goes in the time. */
static bool shrink(struct trial *t, struct search *s, const char *name, const char *machine)
{
    char words[2048], again[160];
    snprintf(again, sizeof again, "%s small", name);
    snprintf(words, sizeof words, "%s --first %.0f --count 1 --shrink --save '%s.failures/%s'",
             machine, result_number(s->result, "tests") - 1, t->file, again);
    const cJSON *r = run(t, again, words, (double)t->shrink);
    s->small = result_number(r, "small");
    return r;
}

static bool search_bug(void *user, size_t i)
{
    struct trial *t = user;
    struct search *s = &t->searches.data[i];
    const char *bug = zoo.entry[s->bug].name, *model = ordeal_model_name(models[s->m]);
    char name[128], machine[1024], words[2048];
    snprintf(name, sizeof name, "%s %s", bug, model);
    snprintf(machine, sizeof machine, "--bug %s --model %s%s", bug, model, t->tests);
    snprintf(words, sizeof words, "%s --count %llu --stop-after 1 --save '%s.failures/%s'", machine,
             (unsigned long long)t->count, t->file, name);
    s->result = run(t, name, words, 0);
    return s->result && (!t->shrink || !result_found(s->result) || shrink(t, s, name, machine));
}

static void tell_bug(void *user, size_t i)
{
    struct trial *t = user;
    const struct search *s = &t->searches.data[i];
    struct tally *tally = &t->by_area[area_of(&zoo.entry[s->bug])][s->m];
    bool found = result_found(s->result);
    bool broke = cJSON_IsTrue(cJSON_GetObjectItem(s->result, "broke"));
    tally->there++;
    tally->found += found;
    tally->violations += found && !broke;
    tally->broke += found && broke;
    t->missed += !found;
    print_bug(s);
}

static bool list_bugs(struct trial *t)
{
    for (int b = 1; b < zoo.count; b++)
        for (int m = 0; m < MODELS; m++) {
            struct search s = { .bug = b, .m = m };
            if ((!t->only || strcmp(t->only, zoo.entry[b].name) == 0)
                && is_asked(t, &zoo.entry[b], m) && !LIST_PUSH(&t->searches, s))
                return false;
        }
    return true;
}

static bool search_bugs(struct trial *t)
{
    printf("\nBugs: %s, %s, seed %llu, at most %llu tests\n\n"
           "%-28s %-14s %-5s %-9s %8s %12s %6s %6s %8s\n",
           t->config ? t->config : "sizes take turns", t->bias ? t->bias : "the default bias",
           (unsigned long long)t->seed, (unsigned long long)t->count, "bug", "area", "model",
           "verdict", "tests", "cycles", "core", "small", "seconds");
    return list_bugs(t) && campaign_each(&t->campaign, t->searches.count, search_bug, tell_bug, t);
}

/* ---- tables over all of them ----------------------------------------------------------------- */

static struct tally sum(const struct trial *t, int area, int m)
{
    struct tally all = { 0 };
    for (int a = 0; zoo.areas[a].name; a++)
        for (int k = 0; k < MODELS; k++)
            if ((area < 0 || a == area) && (m < 0 || k == m)) {
                const struct tally *x = &t->by_area[a][k];
                all.there += x->there;
                all.found += x->found;
                all.violations += x->violations;
                all.broke += x->broke;
            }
    return all;
}

static void print_share(struct tally x)
{
    char text[32] = "-";
    if (x.there)
        snprintf(text, sizeof text, "%d/%d", x.found, x.there);
    printf(" %13s", text);
}

static void print_areas(const struct trial *t)
{
    printf("\nFound, by functional area (Table 6.2)\n\n%-8s", "machine");
    for (int a = 0; zoo.areas[a].name; a++)
        printf(" %13s", zoo.areas[a].name);
    printf(" %13s\n", "all");
    for (int m = 0; m <= MODELS; m++) {
        int which = m < MODELS ? m : -1;
        if (!sum(t, -1, which).there)
            continue;
        printf("%-8s", m < MODELS ? ordeal_model_name(models[m]) : "Total");
        for (int a = 0; zoo.areas[a].name; a++)
            print_share(sum(t, a, which));
        print_share(sum(t, -1, which));
        putchar('\n');
    }
    for (int a = 0; zoo.areas[a].name; a++)
        if (zoo.areas[a].note)
            printf("%s: %s\n", zoo.areas[a].name, zoo.areas[a].note);
}

static void print_ways(const struct trial *t)
{
    printf("\nHow they were found (Table 6.1)\n\n%-8s %13s %13s %13s\n", "machine", "violation",
           "broke", "not found");
    for (int m = 0; m <= MODELS; m++) {
        struct tally x = sum(t, -1, m < MODELS ? m : -1);
        if (x.there)
            printf("%-8s %13d %13d %13d\n", m < MODELS ? ordeal_model_name(models[m]) : "Total",
                   x.violations, x.broke, x.there - x.found);
    }
}

/* ---- without bugs ---------------------------------------------------------------------------- */

/* Short tests, each once: what counts is how many there are. */
static bool run_clean(void *user, size_t i)
{
    struct trial *t = user;
    struct clean *clean = &t->cleans.data[i];
    const char *model = ordeal_model_name(models[clean->m]);
    char name[128], words[2048];
    snprintf(name, sizeof name, "clean %s %s", model, clean->size);
    snprintf(words, sizeof words,
             "--model %s --sizes usual --config %s%s%s%s --set test.operations=12 --iterations 1 "
             "--count %llu --save '%s.failures/%s'",
             model, clean->size, t->bias ? " --bias '" : "", t->bias ? t->bias : "",
             t->bias ? "'" : "", (unsigned long long)t->clean, t->file, name);
    clean->result = run(t, name, words, 0);
    return clean->result;
}

static void tell_clean(void *user, size_t i)
{
    struct trial *t = user;
    const struct clean *c = &t->cleans.data[i];
    const cJSON *r = c->result;
    bool clean = result_number(r, "status") == 0;
    t->dirty += !clean;
    printf("%-5s %-42s %-9s %8.0f %8.0f %9.0f %14.0f %8.1f\n", ordeal_model_name(models[c->m]),
           c->size, clean ? "clean" : result_verdict(r), result_number(r, "tests"),
           result_number(r, "fail"), result_number(r, "undecided"), result_number(r, "cycles"),
           result_number(r, "seconds"));
}

static bool run_cleans(struct trial *t)
{
    if (!t->clean)
        return true;
    printf("\nThe machine without bugs\n\n%-5s %-42s %-9s %8s %8s %9s %14s %8s\n", "model",
           "config", "", "tests", "fail", "undecided", "cycles", "seconds");
    for (int s = 0; s < SIZES; s++)
        for (int m = 0; m < MODELS; m++) {
            struct clean clean = { .size = sizes[s], .m = m };
            if (!LIST_PUSH(&t->cleans, clean))
                return false;
        }
    return campaign_each(&t->campaign, t->cleans.count, run_clean, tell_clean, t);
}

/* ---- main ------------------------------------------------------------------------------------ */

static bool parse_number(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

static bool is_bug(const char *name)
{
    for (int b = 1; b < zoo.count; b++)
        if (strcmp(zoo.entry[b].name, name) == 0)
            return true;
    return false;
}

static bool parse(struct trial *t, const char *word)
{
    const struct {
        const char *key;
        const char **text;
        uint64_t *number;
    } keys[] = {
        { "count", NULL, &t->count },         { "clean", NULL, &t->clean },
        { "seed", NULL, &t->seed },           { "shrink", NULL, &t->shrink },
        { "jobs", NULL, &t->campaign.cores }, { "bug", &t->only, NULL },
        { "bias", &t->bias, NULL },           { "config", &t->config, NULL },
    };
    size_t length = strcspn(word, "=");
    const char *value = word + length + (word[length] == '=');
    if (!*value)
        return word[length] == '=';  /* a variable of make that is not set */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].key) == length && memcmp(keys[i].key, word, length) == 0) {
            if (keys[i].number)
                return parse_number(value, keys[i].number);
            *keys[i].text = value;
            return keys[i].text != &t->only || is_bug(value);
        }
    t->every_model = strcmp(word, "models=all") == 0;
    return t->every_model || strcmp(word, "models=usual") == 0;
}

/* What all bugs are looked for with. */
static void say_tests(struct trial *t)
{
    int used = 0;
    if (t->config)
        used = snprintf(t->tests, sizeof t->tests, " --sizes usual --config %s", t->config);
    if (t->bias)
        snprintf(t->tests + used, sizeof t->tests - (size_t)used, " --bias '%s'", t->bias);
}

static int usage(void)
{
    fputs("usage: ORDEAL=PROGRAM zoo FILE.json [count=N] [clean=N] [seed=S] [jobs=N] "
          "[models=usual|all] [shrink=SECONDS] [bug=NAME] [bias=FILE] [config=...]\n",
          stderr);
    return EXIT_BAD;
}

static bool parse_all(struct trial *t, int argc, char **argv)
{
    bool good = t->file && t->program;
    for (int i = 2; good && i < argc; i++)
        if (!parse(t, argv[i])) {
            fprintf(stderr, "zoo: '%s' is not a setting%s\n", argv[i],
                    strncmp(argv[i], "bug=", 4) == 0 ? ": 'ordeal run --target sim --bug list' has "
                                                       "the names of bugs" : "");
            good = false;
        }
    return good;
}

/* False: it came to no end. */
static bool hold(struct trial *t)
{
    if (!campaign_open(&t->campaign, t->file) || !search_bugs(t))
        return false;
    print_areas(t);
    print_ways(t);
    if (!run_cleans(t))
        return false;
    struct tally all = sum(t, -1, -1);
    printf("\n%d of %d bugs found; %d machine%s without bugs failed; %s\n", all.found, all.there,
           t->dirty, t->dirty == 1 ? "" : "s", t->file);
    return true;
}

static int begin(int argc, char **argv)
{
    static struct trial t = { .count = 1000, .clean = 200, .seed = 1 };
    t.program = getenv("ORDEAL");
    t.file = argc > 1 ? argv[1] : NULL;
    if (!parse_all(&t, argc, argv))
        return usage();
    say_tests(&t);
    interrupt_watch();
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool good = hold(&t);
    if (interrupted())
        fprintf(stderr, "zoo: interrupted; the next time it goes on from %s\n", t.file);
    campaign_close(&t.campaign);
    LIST_FREE(&t.searches);
    LIST_FREE(&t.cleans);
    return interrupted() ? EXIT_INTERRUPTED : !good ? EXIT_BAD : t.missed || t.dirty;
}

int main(int argc, char **argv)
{
    if (process_begin() != 0)
        return EXIT_BAD;
    int status = begin(argc, argv);
    const char *lost = process_end();
    if (lost)
        fprintf(stderr, "zoo: %s\n", lost);
    return lost ? EXIT_BAD : status;
}
