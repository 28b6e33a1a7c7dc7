/* SPDX-License-Identifier: Apache-2.0 */
/* compare: what finds bugs sooner, of several ways to make tests, at equal cost.
 *
 *     compare FILE.json way=NAME:OPTIONS way=NAME:OPTIONS … [KEY=VALUE...]
 *
 * Each way is options of `ordeal run --target sim`; the others are compared with the first. Each
 * bug of the zoo, or with mistakes=DIR each machine that tests/mistakes/build made there, is looked
 * for with seeds=N seeds from seed=S on, for cycles=N cycles of the machine at most, which is what a
 * bug that is not found costs; or, with tests=N, for so many tests, and it costs what they took.
 * bug=NAME: that one alone; jobs=N machines at a time. It goes through all bugs with the first seed, then with the next. Prints a row for each bug and a summary with
 * bootstrap intervals; interrupted, those of the seeds that are done, and the next time it goes on
 * where it was. Exit status: 0 done, 2 something is wrong, 130 ^C. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/interrupt.h"
#include "base/list.h"
#include "campaign.h"
#include "process.h"
#include "statistics.h"
#include "targets/soc/zoo.h"

enum { MOST_WAYS = 8, MOST_SEEDS = 100, DRAWS = 2000, USUAL_CYCLES = 2000000 };

struct subject {
    char name[96], program[1024];
    char words[160]; /* what the run is to be told */
};

struct way {
    char name[32];
    const char *options;
    double *cycles, *tests; /* of subject s and seed k at s * seeds + k */
    bool *found;
};

struct comparison {
    struct campaign campaign;
    LIST(struct subject) subjects;
    struct way way[MOST_WAYS];
    size_t ways;
    uint64_t seed, seeds;
    uint64_t cycles, tests; /* at most; of one of the two, the other is 0 */
    size_t done;            /* of the seeds, with all bugs and ways */
    const char *program, *file, *only, *mistakes;
};

/* ---- what is looked for ---------------------------------------------------------------------- */

/* In TSO's machine if it can be there, else in the first that can have it. */
static enum ordeal_model usual_model(const struct bug_entry *e)
{
    static const enum ordeal_model models[] = { ORDEAL_TSO, ORDEAL_SC, ORDEAL_PSO, ORDEAL_RMO };
    int m = 0;
    while (!bug_is_in(e, models[m]))
        m++;
    return models[m];
}

static bool is_wanted(const struct comparison *c, const char *name)
{
    return !c->only || strcmp(c->only, name) == 0;
}

static bool list_zoo(struct comparison *c)
{
    for (int b = 1; b < zoo.count; b++) {
        struct subject s;
        snprintf(s.name, sizeof s.name, "%s", zoo.entry[b].name);
        snprintf(s.program, sizeof s.program, "%s", c->program);
        snprintf(s.words, sizeof s.words, "--bug %s --model %s", zoo.entry[b].name,
                 ordeal_model_name(usual_model(&zoo.entry[b])));
        if (is_wanted(c, s.name) && !LIST_PUSH(&c->subjects, s))
            return false;
    }
    return true;
}

/* Each folder has a program of its own, beside the machine with the mistake, and a file `words`
 * with what else the program is to be told. */
static bool add_mistake(struct comparison *c, const char *name)
{
    struct subject s = { .words = "" };
    char path[1200];
    snprintf(s.name, sizeof s.name, "%s", name);
    snprintf(s.program, sizeof s.program, "%s/%s/ordeal", c->mistakes, name);
    snprintf(path, sizeof path, "%s/%s/words", c->mistakes, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return true; /* it is none */
    if (!fgets(s.words, sizeof s.words, f))
        s.words[0] = '\0';
    s.words[strcspn(s.words, "\n")] = '\0';
    fclose(f);
    return !is_wanted(c, name) || LIST_PUSH(&c->subjects, s);
}

static bool list_mistakes(struct comparison *c)
{
    struct dirent **entries;
    int count = scandir(c->mistakes, &entries, NULL, alphasort);
    bool good = count >= 0;
    if (!good)
        perror(c->mistakes);
    for (int i = 0; i < count; i++) {
        good = good && (entries[i]->d_name[0] == '.' || add_mistake(c, entries[i]->d_name));
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return good;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Runs are numbered by seed, then subject, then way. */
static size_t runs_of_a_seed(const struct comparison *c) { return c->subjects.count * c->ways; }

static bool run_one(void *user, size_t run)
{
    struct comparison *c = user;
    size_t k = run / runs_of_a_seed(c), subject = run / c->ways % c->subjects.count;
    const struct subject *s = &c->subjects.data[subject];
    struct way *w = &c->way[run % c->ways];
    char name[160], words[2048];
    snprintf(name, sizeof name, "%s %s", s->name, w->name);
    snprintf(words, sizeof words, "%s %s --%s %llu --stop-after 1 --no-save", s->words, w->options,
             c->tests ? "count" : "cycles", (unsigned long long)(c->tests + c->cycles));
    const cJSON *r = campaign_run(&c->campaign, &(struct run){ .program = s->program,
                                                               .name = name,
                                                               .words = words,
                                                               .seed = c->seed + k });
    if (!r)
        return false;
    size_t at = subject * c->seeds + k;
    w->found[at] = result_found(r);
    w->tests[at] = result_number(r, "tests");
    w->cycles[at] = w->found[at] || c->tests ? result_number(r, "cycles") : (double)c->cycles;
    if (w->cycles[at] < 1)
        w->cycles[at] = 1;
    return true;
}

static size_t count_found(const struct way *w, size_t first, size_t count)
{
    size_t found = 0;
    for (size_t i = first; i < first + count; i++)
        found += w->found[i];
    return found;
}

/* When the last run of a seed is done: how many bugs each way found with it. */
static void tell_seed(void *user, size_t run)
{
    struct comparison *c = user;
    if ((run + 1) % runs_of_a_seed(c) != 0)
        return;
    printf("seed %llu found, of %zu:", (unsigned long long)(c->seed + c->done), c->subjects.count);
    for (size_t i = 0; i < c->ways; i++) {
        size_t found = 0;
        for (size_t s = 0; s < c->subjects.count; s++)
            found += c->way[i].found[s * c->seeds + c->done];
        printf(" %s %zu", c->way[i].name, found);
    }
    putchar('\n');
    c->done++;
}

/* From now on only the seeds that are done. */
static void forget_the_rest(struct comparison *c)
{
    for (size_t i = 0; i < c->ways; i++)
        for (size_t s = 0; s < c->subjects.count; s++)
            for (size_t k = 0; k < c->done; k++) {
                struct way *w = &c->way[i];
                size_t from = s * c->seeds + k, to = s * c->done + k;
                w->found[to] = w->found[from];
                w->tests[to] = w->tests[from];
                w->cycles[to] = w->cycles[from];
            }
    c->seeds = c->done;
}

/* ---- a row for each bug ---------------------------------------------------------------------- */

static double median_of(const double *numbers, size_t count)
{
    double copy[MOST_SEEDS];
    memcpy(copy, numbers, count * sizeof *copy);
    return median(copy, count);
}

static void print_subject(const struct comparison *c, size_t subject)
{
    size_t first = subject * c->seeds;
    printf("%-30s", c->subjects.data[subject].name);
    for (size_t i = 0; i < c->ways; i++) {
        const struct way *w = &c->way[i];
        printf(" %3zu %9.0f %5.0f", count_found(w, first, c->seeds),
               median_of(w->cycles + first, c->seeds), median_of(w->tests + first, c->seeds));
    }
    putchar('\n');
}

static void print_subjects(const struct comparison *c)
{
    printf("\nFound of %llu seeds, cycles and tests until then (median; not found: %llu %s)\n\n"
           "%-30s",
           (unsigned long long)c->seeds, (unsigned long long)(c->tests + c->cycles),
           c->tests ? "tests" : "cycles", "");
    for (size_t i = 0; i < c->ways; i++)
        printf(" %19s", c->way[i].name);
    putchar('\n');
    for (size_t s = 0; s < c->subjects.count; s++)
        print_subject(c, s);
}

/* ---- the summary ----------------------------------------------------------------------------- */

static struct costs costs_of(const struct comparison *c, const struct way *w, bool for_a_find)
{
    return (struct costs){ w->cycles, c->subjects.count, c->seeds, for_a_find ? w->found : NULL };
}

/* What it costs, how many times less than the first way, and how sure that is. */
static void print_costs(const struct comparison *c, const struct way *w, bool for_a_find)
{
    struct costs first = costs_of(c, &c->way[0], for_a_find), costs = costs_of(c, w, for_a_find);
    struct interval middle = costs_ratio_interval(&first, &costs, DRAWS, 1);
    printf(" %14.0f %8.2f %6.2f to %5.2f", costs_mean(&costs), costs_ratio(&first, &costs),
           middle.low, middle.high);
}

/* Bugs that most seeds of the first way found and fewer than half of this one's did. */
static size_t count_lost(const struct comparison *c, const struct way *w)
{
    size_t lost = 0;
    for (size_t s = 0; s < c->subjects.count; s++)
        lost += 2 * count_found(&c->way[0], s * c->seeds, c->seeds) > c->seeds
             && 2 * count_found(w, s * c->seeds, c->seeds) < c->seeds;
    return lost;
}

static void print_summary(const struct comparison *c)
{
    size_t runs = c->subjects.count * c->seeds;
    printf("\n%-16s %8s %10s %14s %8s %15s %14s %8s %15s\n", "way", "found", "bugs lost",
           "cycles to bug", "times", "95 % of", "for a find", "times", "95 % of");
    for (size_t i = 0; i < c->ways; i++) {
        const struct way *w = &c->way[i];
        printf("%-16s %7.1f%% %10zu", w->name,
               100.0 * (double)count_found(w, 0, runs) / (double)runs, count_lost(c, w));
        print_costs(c, w, false);
        print_costs(c, w, true);
        putchar('\n');
    }
    printf(
        "\nfound: of all runs; cycles to bug: geometric mean over bugs of the mean over seeds;\n"
        "for a find: the cycles of all seeds for each that found the bug, as if one had where none\n"
        "did; times: how many times fewer than %s\n",
        c->way[0].name);
}

/* ---- main ------------------------------------------------------------------------------------ */

static bool parse_way(struct comparison *c, const char *text)
{
    size_t length = strcspn(text, ":");
    struct way *w = &c->way[c->ways];
    if (c->ways == MOST_WAYS || length == 0 || length >= sizeof w->name || text[length] != ':')
        return false;
    memcpy(w->name, text, length);
    w->options = text + length + 1;
    c->ways++;
    return true;
}

static bool parse(struct comparison *c, const char *word)
{
    const struct {
        const char *key;
        const char **text;
        uint64_t *number;
    } keys[] = {
        { "seeds", NULL, &c->seeds },   { "seed", NULL, &c->seed },
        { "cycles", NULL, &c->cycles }, { "jobs", NULL, &c->campaign.cores },
        { "tests", NULL, &c->tests },   { "mistakes", &c->mistakes, NULL },
        { "bug", &c->only, NULL },
    };
    size_t length = strcspn(word, "=");
    const char *value = word + length + (word[length] == '=');
    if (!*value)
        return word[length] == '='; /* a variable of make that is not set */
    if (strncmp(word, "way=", 4) == 0)
        return parse_way(c, value);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].key) == length && memcmp(keys[i].key, word, length) == 0) {
            char *end;
            if (keys[i].text)
                *keys[i].text = value;
            else
                *keys[i].number = strtoull(value, &end, 10);
            return keys[i].text || (*value >= '1' && *value <= '9' && *end == '\0');
        }
    return false;
}

static bool make_room(struct comparison *c)
{
    size_t runs = c->subjects.count * c->seeds;
    for (size_t i = 0; i < c->ways; i++) {
        struct way *w = &c->way[i];
        w->cycles = calloc(runs + 1, sizeof *w->cycles);
        w->tests = calloc(runs + 1, sizeof *w->tests);
        w->found = calloc(runs + 1, sizeof *w->found);
        if (!w->cycles || !w->tests || !w->found)
            return false;
    }
    return true;
}

static void release(struct comparison *c)
{
    for (size_t i = 0; i < c->ways; i++) {
        free(c->way[i].cycles);
        free(c->way[i].tests);
        free(c->way[i].found);
    }
    LIST_FREE(&c->subjects);
    campaign_close(&c->campaign);
}

static int usage(void)
{
    fputs("usage: ORDEAL=PROGRAM compare FILE.json way=NAME:OPTIONS way=NAME:OPTIONS... [seeds=N]\n"
          "       [seed=S] [cycles=N | tests=N] [mistakes=DIR] [bug=NAME] [jobs=N]\n",
          stderr);
    return EXIT_BAD;
}

static bool parse_all(struct comparison *c, int argc, char **argv)
{
    bool good = c->program && c->file;
    for (int i = 2; good && i < argc; i++)
        if (!parse(c, argv[i])) {
            fprintf(stderr, "compare: '%s' is not a setting\n", argv[i]);
            good = false;
        }
    if (!c->cycles && !c->tests)
        c->cycles = USUAL_CYCLES;
    return good && c->ways && c->seeds <= MOST_SEEDS && !(c->cycles && c->tests);
}

static bool compare(struct comparison *c)
{
    if (!(c->mistakes ? list_mistakes(c) : list_zoo(c)) || !make_room(c))
        return false;
    if (!c->subjects.count) {
        fprintf(stderr, "compare: there is no bug%s%s to look for\n", c->only ? " " : "",
                c->only ? c->only : "");
        return false;
    }
    if (!campaign_open(&c->campaign, c->file))
        return false;
    bool good = campaign_each(&c->campaign, c->seeds * runs_of_a_seed(c), run_one, tell_seed, c);
    forget_the_rest(c);
    if (c->done) {
        print_subjects(c);
        print_summary(c);
    }
    return good;
}

static int begin(int argc, char **argv)
{
    static struct comparison c = { .seed = 1, .seeds = 10 };
    c.program = getenv("ORDEAL");
    c.file = argc > 1 ? argv[1] : NULL;
    if (!parse_all(&c, argc, argv))
        return usage();
    interrupt_watch();
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool good = compare(&c);
    release(&c);
    if (interrupted())
        fprintf(stderr, "compare: interrupted; the next time it goes on from %s\n", c.file);
    return interrupted() ? EXIT_INTERRUPTED : good ? EXIT_FINE : EXIT_BAD;
}

int main(int argc, char **argv)
{
    if (process_begin() != 0)
        return EXIT_BAD;
    int status = begin(argc, argv);
    const char *lost = process_end();
    if (lost)
        fprintf(stderr, "compare: %s\n", lost);
    return lost ? EXIT_BAD : status;
}
