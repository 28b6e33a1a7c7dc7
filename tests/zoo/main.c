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

#include "base/interrupt.h"
#include "campaign.h"
#include "base/command.h"

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

struct tables {
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
static bool is_asked(const struct campaign *c, const struct bug_entry *e, int m)
{
    if (!bug_is_in(e, models[m]))
        return false;
    if (c->every_model)
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

static void print_bug(const struct bug_entry *e, const char *model, const cJSON *r, double small)
{
    char core[24], shrunk[24];
    printf("%-28s %-14s %-5s %-9s %8.0f %12.0f %6s %6s %8.1f\n", e->name, e->area, model,
           result_verdict(r), result_number(r, "tests"), result_number(r, "cycles"),
           count_or_none(result_number(r, "core"), core), count_or_none(small, shrunk),
           result_number(r, "seconds"));
}

/* The test that failed once more, to make it small; *small is 0 if that did not go in the time. */
static bool shrink(struct campaign *c, const char *name, const char *machine, double test,
                   double *small)
{
    char words[2048], again[160];
    snprintf(again, sizeof again, "%s small", name);
    snprintf(words, sizeof words, "%s --first %.0f --count 1 --shrink --save '%s.failures/%s'",
             machine, test, c->file, again);
    const cJSON *r = campaign_run(c, again, words, (double)c->shrink);
    *small = result_number(r, "small");
    return r;
}

static bool run_bug(struct campaign *c, struct tables *t, int bug, int m)
{
    const struct bug_entry *e = &zoo.entry[bug];
    const char *model = ordeal_model_name(models[m]);
    char name[128], machine[1024], words[2048];
    double small = 0;
    snprintf(name, sizeof name, "%s %s", e->name, model);
    snprintf(machine, sizeof machine, "--bug %s --model %s%s", e->name, model, c->tests);
    snprintf(words, sizeof words, "%s --count %llu --stop-after 1 --save '%s.failures/%s'", machine,
             (unsigned long long)c->count, c->file, name);
    const cJSON *r = campaign_run(c, name, words, 0);
    bool found = result_found(r);
    if (!r || (found && c->shrink
               && !shrink(c, name, machine, result_number(r, "tests") - 1, &small)))
        return false;
    struct tally *tally = &t->by_area[area_of(e)][m];
    bool broke = cJSON_IsTrue(cJSON_GetObjectItem(r, "broke"));
    tally->there++;
    tally->found += found;
    tally->violations += found && !broke;
    tally->broke += found && broke;
    t->missed += !found;
    print_bug(e, model, r, small);
    return true;
}

static bool run_bugs(struct campaign *c, struct tables *t)
{
    printf("\nBugs: %s, %s, seed %llu, at most %llu tests\n\n"
           "%-28s %-14s %-5s %-9s %8s %12s %6s %6s %8s\n",
           c->config ? c->config : "sizes take turns", c->bias ? c->bias : "the default bias",
           (unsigned long long)c->seed, (unsigned long long)c->count, "bug", "area", "model",
           "verdict", "tests", "cycles", "core", "small", "seconds");
    for (int b = 1; b < zoo.count; b++)
        for (int m = 0; m < MODELS; m++)
            if ((!c->only || strcmp(c->only, zoo.entry[b].name) == 0)
                && is_asked(c, &zoo.entry[b], m) && !run_bug(c, t, b, m))
                return false;
    return true;
}

/* ---- tables over all of them ----------------------------------------------------------------- */

static struct tally sum(const struct tables *t, int area, int m)
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

static void print_areas(const struct tables *t)
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

static void print_ways(const struct tables *t)
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
static bool run_clean(struct campaign *c, struct tables *t, const char *size, int m)
{
    const char *model = ordeal_model_name(models[m]);
    char name[128], words[2048];
    snprintf(name, sizeof name, "clean %s %s", model, size);
    snprintf(words, sizeof words,
             "--model %s --sizes usual --config %s%s%s%s --set test.operations=12 --iterations 1 "
             "--count %llu --save '%s.failures/%s'",
             model, size, c->bias ? " --bias '" : "", c->bias ? c->bias : "", c->bias ? "'" : "",
             (unsigned long long)c->clean, c->file, name);
    const cJSON *r = campaign_run(c, name, words, 0);
    if (!r)
        return false;
    bool clean = result_number(r, "status") == 0;
    t->dirty += !clean;
    printf("%-5s %-42s %-9s %8.0f %8.0f %9.0f %14.0f %8.1f\n", model, size,
           clean ? "clean" : result_verdict(r), result_number(r, "tests"), result_number(r, "fail"),
           result_number(r, "undecided"), result_number(r, "cycles"), result_number(r, "seconds"));
    return true;
}

static bool run_cleans(struct campaign *c, struct tables *t)
{
    if (!c->clean)
        return true;
    printf("\nThe machine without bugs\n\n%-5s %-42s %-9s %8s %8s %9s %14s %8s\n", "model",
           "config", "", "tests", "fail", "undecided", "cycles", "seconds");
    for (int s = 0; s < SIZES; s++)
        for (int m = 0; m < MODELS; m++)
            if (!run_clean(c, t, sizes[s], m))
                return false;
    return true;
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

static bool parse(struct campaign *c, const char *word)
{
    const struct { const char *key; const char **text; uint64_t *number; } keys[] = {
        { "count", NULL, &c->count }, { "clean", NULL, &c->clean }, { "seed", NULL, &c->seed },
        { "shrink", NULL, &c->shrink }, { "jobs", NULL, &c->jobs }, { "bug", &c->only, NULL },
        { "bias", &c->bias, NULL }, { "config", &c->config, NULL },
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
            return keys[i].text != &c->only || is_bug(value);
        }
    c->every_model = strcmp(word, "models=all") == 0;
    return c->every_model || strcmp(word, "models=usual") == 0;
}

/* What all bugs are looked for with. */
static void say_tests(struct campaign *c)
{
    int used = 0;
    if (c->config)
        used = snprintf(c->tests, sizeof c->tests, " --sizes usual --config %s", c->config);
    if (c->bias)
        snprintf(c->tests + used, sizeof c->tests - (size_t)used, " --bias '%s'", c->bias);
}

int main(int argc, char **argv)
{
    struct campaign c = { .program = getenv("ORDEAL"),
                          .file = argc > 1 ? argv[1] : NULL,
                          .count = 1000,
                          .clean = 200,
                          .seed = 1 };
    static struct tables t;
    bool good = c.file && c.program;
    for (int i = 2; good && i < argc; i++)
        if (!parse(&c, argv[i])) {
            fprintf(stderr, "zoo: '%s' is not a setting%s\n", argv[i],
                    strncmp(argv[i], "bug=", 4) == 0 ? ": 'ordeal run --target sim --bug list' has "
                                                       "the names of bugs" : "");
            good = false;
        }
    if (!good) {
        fputs("usage: ORDEAL=PROGRAM zoo FILE.json [count=N] [clean=N] [seed=S] [jobs=N] "
              "[models=usual|all] [shrink=SECONDS] [bug=NAME] [bias=FILE] [config=...]\n", stderr);
        return EXIT_BAD;
    }
    c.files[0] = c.bias;
    say_tests(&c);
    interrupt_watch();
    setvbuf(stdout, NULL, _IOLBF, 0);
    good = campaign_open(&c) && run_bugs(&c, &t);
    if (good) {
        print_areas(&t);
        print_ways(&t);
        good = run_cleans(&c, &t);
    }
    struct tally all = sum(&t, -1, -1);
    if (good)
        printf("\n%d of %d bugs found; %d machine%s without bugs failed; %s\n", all.found,
               all.there, t.dirty, t.dirty == 1 ? "" : "s", c.file);
    if (interrupted())
        fprintf(stderr, "zoo: interrupted; the next time it goes on from %s\n", c.file);
    campaign_close(&c);
    return interrupted() ? EXIT_INTERRUPTED : !good ? EXIT_BAD : t.missed || t.dirty;
}
