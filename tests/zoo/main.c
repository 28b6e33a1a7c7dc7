/* zoo: every bug of the machine against random tests, and the machine without bugs against them.
 *
 *     zoo FILE.json [KEY=VALUE...]
 *
 * count=N tests of a bug at most; clean=N tests of each machine without bugs; models=usual|all:
 * each bug on one machine or on every one that can have it; shrink=yes: make what failed small;
 * bug=NAME: that one alone; seed=S, bias=FILE, config=KEY=VALUE,...: as of `ordeal run`. Prints
 * tables in the shape of the thesis' Tables 6.1 and 6.2. Interrupted, it goes on where it was.
 * Exit status: 0 all bugs were found and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"

/* The machine without bugs comes in these sizes: as usual, two lines of cache, no choice of a way,
 * long lines, the smallest of everything, no transactions. */
static const char *const sizes[] = {
    "", "sets=1,ways=2", "sets=2,ways=2,store-buffer=4", "sets=4,ways=1,line=64",
    "sets=4,ways=4,line=32", "sets=1,ways=1,store-buffer=1,load-queue=1", "transactions=0",
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

static void print_bug(const struct bug_entry *e, const char *model, const cJSON *r)
{
    char core[24] = "-", small[24] = "-";
    if (result_number(r, "core") > 0)
        snprintf(core, sizeof core, "%.0f", result_number(r, "core"));
    if (result_number(r, "small") > 0)
        snprintf(small, sizeof small, "%.0f", result_number(r, "small"));
    printf("%-28s %-14s %-5s %-9s %8.0f %12.0f %6s %6s %8.1f\n", e->name, e->area, model,
           result_verdict(r), result_number(r, "tests"), result_number(r, "cycles"), core, small,
           result_number(r, "seconds"));
}

static bool run_bug(struct campaign *c, struct tables *t, int bug, int m)
{
    const struct bug_entry *e = &zoo.entry[bug];
    const char *model = ordeal_model_name(models[m]);
    char name[128], words[2048];
    snprintf(name, sizeof name, "%s %s", e->name, model);
    snprintf(words, sizeof words, "--bug %s --model %s --config %s --bias '%s' --count %llu "
             "--stop-after 1 --save '%s.failures/%s-%s'%s", e->name, model, c->config, c->bias,
             (unsigned long long)c->count, c->file, e->name, model, c->shrink ? " --shrink" : "");
    const cJSON *r = campaign_run(c, name, words);
    if (!r)
        return false;
    struct tally *tally = &t->by_area[area_of(e)][m];
    bool broke = cJSON_IsTrue(cJSON_GetObjectItem(r, "broke"));
    tally->there++;
    tally->found += result_found(r);
    tally->violations += result_found(r) && !broke;
    tally->broke += result_found(r) && broke;
    t->missed += !result_found(r);
    print_bug(e, model, r);
    return true;
}

static bool run_bugs(struct campaign *c, struct tables *t)
{
    printf("\nBugs: %s, %s, seed %llu, at most %llu tests\n\n"
           "%-28s %-14s %-5s %-9s %8s %12s %6s %6s %8s\n", c->config, c->bias,
           (unsigned long long)c->seed, (unsigned long long)c->count,
           "bug", "area", "model", "verdict", "tests", "cycles", "core", "small", "seconds");
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

static bool run_clean(struct campaign *c, struct tables *t, int size, int m)
{
    const char *model = ordeal_model_name(models[m]);
    char name[128], words[2048], option[256] = "";
    bool plain = strcmp(sizes[size], "transactions=0") == 0;
    if (*sizes[size])
        snprintf(option, sizeof option, "--config %s", sizes[size]);
    snprintf(name, sizeof name, "clean %s %s %llu", model, sizes[size],
             (unsigned long long)c->clean);
    snprintf(words, sizeof words, "--model %s %s --bias '%s'%s --count %llu --save "
             "'%s.failures/clean-%s'", model, option, c->bias,
             plain ? " --set transactions.share=0" : "", (unsigned long long)c->clean, c->file,
             model);
    const cJSON *r = campaign_run(c, name, words);
    if (!r)
        return false;
    bool clean = result_number(r, "status") == 0;
    t->dirty += !clean;
    printf("%-5s %-42s %-9s %8.0f %8.0f %8.0f %14.0f %8.1f\n", model,
           *sizes[size] ? sizes[size] : "as usual", clean ? "clean" : result_verdict(r),
           result_number(r, "tests"), result_number(r, "fail"), result_number(r, "undecided"),
           result_number(r, "cycles"), result_number(r, "seconds"));
    return true;
}

static bool run_cleans(struct campaign *c, struct tables *t)
{
    if (!c->clean)
        return true;
    printf("\nThe machine without bugs\n\n%-5s %-42s %-9s %8s %8s %8s %14s %8s\n", "model",
           "config", "", "tests", "fail", "undecided", "cycles", "seconds");
    for (int s = 0; s < SIZES; s++)
        for (int m = 0; m < MODELS; m++)
            if (!run_clean(c, t, s, m))
                return false;
    return true;
}

/* ---- main ------------------------------------------------------------------------------------ */

static bool parse(struct campaign *c, const char *word)
{
    const struct { const char *key; const char **text; uint64_t *number; } keys[] = {
        { "count", NULL, &c->count }, { "clean", NULL, &c->clean }, { "seed", NULL, &c->seed },
        { "bug", &c->only, NULL }, { "bias", &c->bias, NULL }, { "config", &c->config, NULL },
    };
    size_t length = strcspn(word, "=");
    const char *value = word + length + (word[length] == '=');
    if (!*value)
        return true;                 /* as of a variable of make that is not set */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].key) == length && memcmp(keys[i].key, word, length) == 0) {
            if (keys[i].text)
                *keys[i].text = value;
            else
                *keys[i].number = strtoull(value, NULL, 0);
            return true;
        }
    c->every_model |= strcmp(word, "models=all") == 0;
    c->shrink |= strcmp(word, "shrink=yes") == 0;
    return strncmp(word, "models=", 7) == 0 || strncmp(word, "shrink=", 7) == 0;
}

int main(int argc, char **argv)
{
    struct campaign c = { .program = getenv("ORDEAL"), .file = argc > 1 ? argv[1] : NULL,
                          .bias = "examples/zoo.bias", .config = "sets=2,ways=2,store-buffer=4",
                          .count = 2000, .clean = 200, .seed = 1 };
    static struct tables t;
    bool good = c.file && c.program;
    for (int i = 2; good && i < argc; i++)
        good = parse(&c, argv[i]);
    if (!good) {
        fprintf(stderr, "usage: ORDEAL=PROGRAM zoo FILE.json [count=N] [clean=N] [seed=S] "
                        "[models=usual|all] [shrink=yes] [bug=NAME] [bias=FILE] [config=...]\n");
        return 2;
    }
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
    campaign_close(&c);
    return !good ? 2 : t.missed || t.dirty;
}
