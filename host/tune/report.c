/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"

const struct report_verdict report_verdicts[TUNING_VERDICTS] = {
    [TUNING_GAIN] = { "gain", "It reaches more than the bias as it was, by more than chance." },
    [TUNING_NO_GAIN] = { "no-gain",
                         "It does not reach more than the bias as it was, beyond what chance does." },
    [TUNING_TOO_LITTLE] = { "too-little",
                            "The budget was too small to choose from, or to compare with, the bias "
                            "as it was." },
    [TUNING_NOT_COMPARED] = { "not-asked",
                              "It was not compared with the bias as it was: --compare none." },
    [TUNING_UNFINISHED] = { "interrupted",
                            "This is how far it came: it was interrupted, and not compared to the "
                            "end.\n# The same command goes on." },
    [TUNING_UNCHOSEN] = { "interrupted",
                          "It was interrupted before each profile had been run. The same command "
                          "goes on." },
};

static const struct report_verdict *verdict_of(const struct report *r)
{
    return &report_verdicts[tuning_verdict(r->tuning)];
}

/* ---- the head ---------------------------------------------------------------------------------- */

static void write_contest(const struct report *r, FILE *out)
{
    const struct tuning *t = r->tuning;
    char cost[PLOT_NUMBER];
    if (!t->contest.count)
        return;
    fprintf(out,
            "#\n# Compared with tests that the search did not see, one sample, at %s %s each:\n",
            plot_number(contest_cost(&t->contest), cost), r->unit);
    for (int i = 0; i < t->contest.count; i++) {
        const struct contestant *who = &t->contest.who[i];
        fprintf(out, "#   %-8s %6" PRIu64 " points of coverage, in about %" PRIu64 " tests\n",
                who->curve.name, contest_reached(&t->contest, who), who->tests);
    }
    if (t->phase == TUNING_DONE)
        fprintf(
            out,
            "# Chance alone puts the first ahead of the second like this in %.2g %% of cases.\n",
            t->chance * 100);
}

/* Advice, where there is any. */
static void write_advice(const struct knob *k, FILE *out)
{
    double times = 1;
    int best = knob_best(k, &times);
    if (best > 0)
        fprintf(
            out,
            "# Advice: run it with %s %s, which brought %.1f times as many as all did on average "
            "at the same time.\n",
            k->option, k->value[best], times);
    else if (best == 0)
        fprintf(out,
                "# Advice: leave %s alone: any brought %.1f times as many as all did on average at "
                "the same time.\n",
                k->option, times);
}

/* What tests brought at each value of a knob that can be turned. */
static void write_knob(const struct report *r, const struct knob *k, FILE *out)
{
    if (k->count < 2)
        return;
    fprintf(out, "#\n# New points with %s, while the bias was searched:\n", k->option);
    for (int i = 0; i < k->count; i++) {
        char cost[PLOT_NUMBER];
        fprintf(out, "#   %-20s %6.0f in %s %s\n", k->value[i], k->paid[i].points,
                plot_number(k->paid[i].cost, cost), r->unit);
    }
    write_advice(k, out);
}

static void write_knobs(const struct report *r, FILE *out)
{
    for (int i = 0; i < KNOBS; i++)
        write_knob(r, &r->tuning->search.knobs.knob[i], out);
}

static void write_source(const struct report *r, FILE *out)
{
    const struct tuning *t = r->tuning;
    char cost[PLOT_NUMBER];
    fprintf(out, "# It comes from\n#\n#   %s\n#\n", r->command);
    fprintf(out,
            "# which searched %s %s: %" PRIu64 " round%s, %zu setting%s of which %zu %s "
            "of\n# the bias that was tuned, begun again %" PRIu64 " time%s.\n",
            plot_number(t->search_cost, cost), r->unit, t->search.rounds,
            t->search.rounds == 1 ? "" : "s", t->search.arms.count,
            t->search.arms.count == 1 ? "" : "s", t->search.roots,
            t->search.roots == 1 ? "is a profile" : "are profiles", t->search.restarts,
            t->search.restarts == 1 ? "" : "s");
    write_contest(r, out);
}

static void write_run(const struct report *r, const char *file, FILE *out)
{
    fprintf(out, " To run it:\n#\n#   ordeal run %s --bias %s/%s --check --count 1000\n#\n", r->run,
            r->place, file);
}

static void write_head(const struct report *r, const char *file, FILE *out)
{
    const struct tuning *t = r->tuning;
    char cost[PLOT_NUMBER];
    fputs("# A bias tuned by coverage.", out);
    write_run(r, file, out);
    write_source(r, out);
    fprintf(out, "# %s\n", verdict_of(r)->sentence);
    write_knobs(r, out);
    fprintf(
        out,
        "#\n# Of this bias %.1f points of coverage are expected in %s %s. A comment\n# before a "
        "key says from where to where it moved, and how many would be expected\n# if this "
        "profile had the same place without that move.\n",
        t->portfolio.expected, plot_number(t->portfolio.horizon, cost), r->unit);
}

/* ---- evidence ---------------------------------------------------------------------------------- */

/* What tests of an arm have at a slot, as text. False: out of memory. */
static bool value_of(const struct arm *a, uint32_t slot, char *text, size_t size)
{
    bool *kept = calloc(bias_slots(&a->bias), sizeof *kept);
    struct ordeal_error e;
    bool good = kept && bias_kept(&a->bias, &a->setting, kept, &e);
    if (good) {
        struct bias_vary v = setting_at(&a->bias, &a->setting, kept, slot);
        setting_text(&v, text, size);
    }
    free(kept);
    return good;
}

enum { VALUE_TEXT = 256 };

static bool has_moved(const struct arm *a, uint32_t slot, char before[VALUE_TEXT],
                      char after[VALUE_TEXT])
{
    return value_of(a->parent, slot, before, VALUE_TEXT) && value_of(a, slot, after, VALUE_TEXT)
        && strcmp(before, after) != 0;
}

static int count_moved(const struct arm *a)
{
    char before[VALUE_TEXT], after[VALUE_TEXT];
    int count = 0;
    for (uint32_t slot = 0; slot < bias_slots(&a->bias); slot++)
        count += has_moved(a, slot, before, after);
    return count;
}

/* A profile of the portfolio, by its number. */
struct chosen {
    const struct report *r;
    const struct portfolio *portfolio;
    size_t number;
};

/* Points expected when the arm that is so many steps up has its place; 0: it itself. */
static double expected_with(const struct chosen *c, size_t up)
{
    return up ? c->portfolio->instead[c->number].data[up - 1] : c->portfolio->expected;
}

static void write_giver(const struct arm *a, FILE *out)
{
    int keys = count_moved(a);
    fputs(", ", out);
    if (keys > 1)
        fprintf(out, "one of %d keys ", keys);
    fprintf(out, "taken from %s", a->other->setting.name);
}

static void write_step(const struct chosen *c, const struct arm *a, size_t up, uint32_t slot,
                       FILE *out)
{
    char before[VALUE_TEXT], after[VALUE_TEXT];
    double with = expected_with(c, up), without = expected_with(c, up + 1);
    if (!has_moved(a, slot, before, after))
        return;
    fprintf(out, "# %s -> %s", before, after);
    if (a->other)
        write_giver(a, out);
    if (with > without)
        fprintf(out, ": %.1f expected, without %.1f\n", with, without);
    else
        fprintf(out,
                ": no gain by itself (%.1f expected, without %.1f), kept with what moved later\n",
                with, without);
}

/* The moves that led to the value of a key, the first one first. */
static void write_steps(const struct chosen *c, const struct arm *a, size_t up, uint32_t slot,
                        FILE *out)
{
    if (!a->parent)
        return;
    write_steps(c, a->parent, up + 1, slot, out);
    write_step(c, a, up, slot, out);
}

static void write_origin(const struct chosen *c, const struct arm *a, FILE *out)
{
    size_t steps = 0;
    for (const struct arm *b = a; b->parent; b = b->parent)
        steps++;
    if (!steps)
        fprintf(out, "# Profile %s of the bias as it was; %" PRIu64 " tests of it were run.\n",
                a->setting.name, a->tests);
    else
        fprintf(
            out,
            "# From profile %s by %zu move%s: %.1f expected, %.1f if that had its place; %" PRIu64
            " tests were run.\n",
            arm_root(a)->setting.name, steps, steps > 1 ? "s" : "", expected_with(c, 0),
            expected_with(c, steps), a->tests);
}

static void write_note(void *user, const struct bias_profile *p, uint32_t slot, FILE *out)
{
    struct chosen c = { user, &((const struct report *)user)->tuning->portfolio, 0 };
    c.number = (size_t)(p - c.portfolio->profiles.data);
    const struct arm *a = c.portfolio->arms.data[c.number];
    if (slot == BIAS_NO_SLOT)
        write_origin(&c, a, out);
    else
        write_steps(&c, a, 0, slot, out);
}

/* ---- biases ------------------------------------------------------------------------------------ */

static bool write_mix(const struct report *r, const char *file, FILE *out)
{
    const struct portfolio *p = &r->tuning->portfolio;
    struct bias_notes notes = { write_note, (void *)r };
    struct bias rest = *r->tuning->plan.search.base;
    rest.profiles.count = 0;
    write_head(r, file, out);
    for (size_t i = 0; i < p->profiles.count; i++) {
        if (i == (size_t)p->chosen)
            fputs("\n# ---- the rest of the bias as it was, kept for what only that finds\n", out);
        bias_write_profile(&rest, &p->profiles.data[i], &notes, out);
    }
    fputs("\n# ---- what holds for all profiles that do not say otherwise, as it was\n\n", out);
    return bias_write(&rest, out, false);
}

static bool has_candidate(const struct report *r)
{
    return !tuning_keeps_tuned(r->tuning) && r->tuning->portfolio.chosen;
}

static bool write_untuned(const struct report *r, FILE *out)
{
    fprintf(out, "# The bias as it was%s.",
            has_candidate(r) ? ": tuning brought nothing better" : "");
    write_run(r, REPORT_BIAS, out);
    write_source(r, out);
    fprintf(out, "# %s\n# %s\n",
            has_candidate(r) ? "What the search chose is in " REPORT_CANDIDATE "."
                             : "Nothing was chosen, and nothing compared.",
            verdict_of(r)->sentence);
    write_knobs(r, out);
    putc('\n', out);
    return bias_write(r->tuning->plan.search.base, out, false);
}

static bool write_bias(const struct report *r, FILE *out)
{
    return tuning_keeps_tuned(r->tuning) ? write_mix(r, REPORT_BIAS, out) : write_untuned(r, out);
}

static bool write_candidate(const struct report *r, FILE *out)
{
    return write_mix(r, REPORT_CANDIDATE, out);
}

/* ---- the plot ---------------------------------------------------------------------------------- */

static bool write_plot(const struct report *r, FILE *out)
{
    struct tuning *t = r->tuning;
    struct plot_curve curves[PLOT_CURVES];
    char title[160], note[160], x_label[64], names[PLOT_CURVES][64];
    struct plot p = {
        .title = title, .note = note, .x_label = x_label, .y_label = "points of coverage reached"
    };
    bool compared = t->contest.count > 0;
    snprintf(title, sizeof title, "Coverage of %s%s", r->about,
             compared ? ": the tuned bias against the bias as it was" : " while tuning");
    snprintf(note, sizeof note, "seed %" PRIu64 "; %s", t->plan.search.seed,
             compared ? "one sample: with other tests it would look otherwise"
                      : "the search alone: nothing was compared");
    snprintf(x_label, sizeof x_label, "cost, %s", r->unit);
    p.mark = compared ? contest_cost(&t->contest) : 0;
    p.mark_name = "equal cost";
    p.count = compared ? t->contest.count : 1;
    for (int i = 0; i < p.count; i++) {
        curves[i] = compared ? t->contest.who[i].curve : t->curve;
        snprintf(names[i], sizeof names[i], "%s, %" PRIu64 " tests", curves[i].name,
                 compared ? t->contest.who[i].tests : t->tests);
        curves[i].name = names[i];
        p.curves[i] = &curves[i];
    }
    return plot_write(&p, out);
}

/* ---- files ------------------------------------------------------------------------------------- */

static bool write_cover(const struct report *r, FILE *out)
{
    return cover_write(r->tuning->cover, out) == 0;
}

static bool always(const struct report *r)
{
    (void)r;
    return true;
}

static int write_file(const struct report *r, const char *path,
                      bool (*write)(const struct report *r, FILE *out))
{
    struct output out;
    int error = output_open(&out, path);
    if (error)
        return error;
    bool good = write(r, out.file);
    error = output_commit(&out);
    return error || good ? error : EIO;
}

/* A file that is not wanted now may be there from a run with a smaller budget. */
bool report_write(const struct report *r, struct why *why)
{
    static const struct {
        const char *name;
        bool (*wanted)(const struct report *r);
        bool (*write)(const struct report *r, FILE *out);
    } files[] = { { REPORT_BIAS, always, write_bias },
                  { REPORT_CANDIDATE, has_candidate, write_candidate },
                  { REPORT_COVER, always, write_cover },
                  { REPORT_PLOT, always, write_plot } };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", r->directory, files[i].name);
        if (!files[i].wanted(r)) {
            unlink(path);
            continue;
        }
        int error = write_file(r, path, files[i].write);
        if (error)
            return why_say(why, "%s: %s", path, strerror(error));
    }
    return true;
}
