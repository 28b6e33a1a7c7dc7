/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/output.h"

/* ---- the head ---------------------------------------------------------------------------------- */

static void write_contest(const struct report *r, FILE *out)
{
    const struct tuning *t = r->tuning;
    char cost[PLOT_NUMBER];
    if (!t->contest.count) {
        fputs("# It was not compared with the bias as it was.\n", out);
        return;
    }
    fprintf(out, "# Compared with tests that the search did not see, at %s %s each:\n",
            plot_number(contest_cost(&t->contest), cost), r->unit);
    for (int i = 0; i < t->contest.count; i++) {
        const struct contestant *who = &t->contest.who[i];
        fprintf(out, "#   %-8s %6" PRIu64 " points of coverage, in about %" PRIu64 " tests\n",
                who->curve.name, contest_reached(&t->contest, who), who->tests);
    }
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
}

static void write_head(const struct report *r, FILE *out)
{
    const struct tuning *t = r->tuning;
    char cost[PLOT_NUMBER];
    fprintf(out,
            "# A bias tuned by coverage. To run it:\n#\n#   ordeal run %s --bias %s/" REPORT_BIAS
            " --check --count 1000\n#\n",
            r->run, r->directory);
    fprintf(out, "# It comes from\n#\n#   %s\n#\n", r->command);
    fprintf(out,
            "# which searched %s %s: %" PRIu64 " rounds, %zu settings of which %zu are profiles "
            "of\n# the bias that was tuned, begun again %" PRIu64 " times.\n",
            plot_number(t->search_cost, cost), r->unit, t->search.rounds, t->search.arms.count,
            t->search.roots, t->search.restarts);
    write_contest(r, out);
    for (int i = 0; i < KNOBS; i++)
        write_knob(r, &t->search.knobs.knob[i], out);
    if (t->phase != TUNING_DONE)
        fputs("#\n# This is how far it came: it was interrupted. The same command goes on.\n", out);
    fprintf(out,
            "#\n# A comment before a key says from where to where it moved, how many points of "
            "coverage that were\n# new then came with it, and at the same time without it.\n");
}

/* ---- evidence ---------------------------------------------------------------------------------- */

static void write_paid(const struct report *r, double points, double cost, FILE *out)
{
    char text[PLOT_NUMBER];
    fprintf(out, "%.0f new in %s %s", points, plot_number(cost, text), r->unit);
}

/* What an arm paid, and since it was born the one it comes from. */
static void write_evidence(const struct report *r, const struct arm *a, FILE *out)
{
    double without = a->parent->paid.cost - a->parent_paid.cost;
    write_paid(r, a->paid.points, a->paid.cost, out);
    if (without > 0) {
        fputs(", without it ", out);
        write_paid(r, a->parent->paid.points - a->parent_paid.points, without, out);
    } else {
        fputs(", not run without it since", out);
    }
    putc('\n', out);
}

static void write_origin(const struct report *r, const struct arm *a, FILE *out)
{
    fprintf(out, "# From %s %s: ", a->parent ? "profile" : "the bias as it was, profile",
            arm_root(a)->setting.name);
    write_paid(r, a->paid.points, a->paid.cost, out);
    fprintf(out, " (%" PRIu64 " tests)\n", a->tests);
}

/* Before a profile, what it comes from; before a key, the moves that led to its value. */
static void write_steps(const struct report *r, const struct arm *a, uint32_t slot, FILE *out)
{
    char before[128], after[128];
    if (!a->parent)
        return;
    write_steps(r, a->parent, slot, out);
    if (slot == BIAS_NO_SLOT && a->other) {
        fprintf(out, "# Some keys come from %s: ", a->other->setting.name);
        write_evidence(r, a, out);
    } else if (!a->other && a->move.after.slot == slot) {
        setting_text(&a->move.before, before, sizeof before);
        setting_text(&a->move.after, after, sizeof after);
        fprintf(out, "# %s -> %s: ", before, after);
        write_evidence(r, a, out);
    }
}

static void write_note(void *user, const struct bias_profile *p, uint32_t slot, FILE *out)
{
    const struct report *r = user;
    const struct portfolio *portfolio = &r->tuning->portfolio;
    const struct arm *a = portfolio->arms.data[p - portfolio->profiles.data];
    if (slot == BIAS_NO_SLOT)
        write_origin(r, a, out);
    write_steps(r, a, slot, out);
}

bool report_bias(const struct report *r, FILE *out)
{
    const struct portfolio *p = &r->tuning->portfolio;
    struct bias_notes notes = { write_note, (void *)r };
    struct bias rest = *r->tuning->plan.search.base;
    rest.profiles.count = 0;
    write_head(r, out);
    for (size_t i = 0; i < p->profiles.count; i++) {
        if (i == (size_t)p->chosen)
            fputs("\n# ---- the rest of the bias as it was, kept for what only that finds\n", out);
        bias_write_profile(&rest, &p->profiles.data[i], &notes, out);
    }
    fputs("\n# ---- what holds for all profiles that do not say otherwise, as it was\n\n", out);
    return bias_write(&rest, out, false);
}

/* ---- the plot ---------------------------------------------------------------------------------- */

static bool write_plot(const struct report *r, FILE *out)
{
    struct tuning *t = r->tuning;
    char title[128], x_label[64];
    struct plot p = { .title = title, .x_label = x_label, .y_label = "points of coverage reached" };
    snprintf(title, sizeof title, "Coverage of %s", r->about);
    snprintf(x_label, sizeof x_label, "cost, %s", r->unit);
    for (int i = 0; i < t->contest.count; i++)
        p.curves[p.count++] = &t->contest.who[i].curve;
    if (p.count == 0)
        p.curves[p.count++] = &t->curve;
    return plot_write(&p, out);
}

/* ---- files ------------------------------------------------------------------------------------- */

static bool write_cover(const struct report *r, FILE *out)
{
    return cover_write(r->tuning->cover, out) == 0;
}

bool report_write(const struct report *r, struct why *why)
{
    static const struct {
        const char *name;
        bool (*write)(const struct report *r, FILE *out);
    } files[] = { { REPORT_BIAS, report_bias },
                  { REPORT_COVER, write_cover },
                  { REPORT_PLOT, write_plot } };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX];
        struct output out;
        snprintf(path, sizeof path, "%s/%s", r->directory, files[i].name);
        int error = output_open(&out, path);
        if (!error) {
            bool good = files[i].write(r, out.file);
            error = output_commit(&out);
            error = error || good ? error : EIO;
        }
        if (error)
            return why_say(why, "%s: %s", path, strerror(error));
    }
    return true;
}
