/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal explore` on the programs of examples/programs/: the shape of Tables 2 and 3 of Štill and
 * Barnat (Model checking of C++ programs under the x86-TSO memory model, 2018), delayed against plain
 * flushing, and how fast states come and how much each takes.
 *
 * All states are visited also where there is an error, so that numbers of states can be compared. */
#include "bench.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore.h"
#include "program/compile.h"

enum { MOST_PROGRAMS = 128 };

static const char *const fenced[] = { "FENCED" };

struct run_program {
    char name[64];
    struct image *image;
};

struct programs {
    unsigned count;
    struct run_program program[MOST_PROGRAMS];
};

struct image *bench_image(const char *path, const char *const *define, size_t defines)
{
    struct compiled c = { 0 };
    struct why why = { 0 };
    struct ordeal_error error = { 0 };
    struct image *image = NULL;
    struct compile_request request = {
        .source = &path, .sources = 1, .define = define, .defines = defines
    };
    if (!compile_program(&request, &c, &why))
        fprintf(stderr, "bench: %s: %s\n", path, why.text);
    else if (!image_load(path, c.elf, c.size, &image, &error))
        fprintf(stderr, "bench: %s: %s\n", path, error.reason);
    compiled_free(&c);
    return image;
}

static void name_of(const char *path, bool is_fenced, char name[64])
{
    const char *base = strrchr(path, '/') + 1;
    snprintf(name, 64, "%.*s%s", (int)strcspn(base, "."), base, is_fenced ? " fenced" : "");
}

/* Every program, as it is and with its fences. */
static void load_all(struct programs *p)
{
    glob_t found;
    p->count = 0;
    if (glob("examples/programs/*.c", 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < 2 * found.gl_pathc && p->count < MOST_PROGRAMS; i++) {
        struct run_program *r = &p->program[p->count];
        const char *path = found.gl_pathv[i / 2];
        name_of(path, i % 2, r->name);
        r->image = bench_image(path, fenced, i % 2);
        p->count += r->image != NULL;
    }
    globfree(&found);
}

static void free_all(struct programs *p)
{
    for (unsigned i = 0; i < p->count; i++)
        image_free(p->program[i].image);
}

struct explored {
    enum explore_verdict verdict;
    bool finished; /* all states, within the limits */
    double states, seconds, bytes;
    double cpu; /* seconds of all workers */
};

static struct explored explore_it(const struct image *image, const struct explore_options *options)
{
    struct explore_result *r = NULL;
    struct ordeal_error error = { 0 };
    struct explored e = { EXPLORE_UNDECIDED, false, NAN, NAN, NAN, NAN };
    clock_t began = clock();
    if (explore(image, options, &r, &error) != ORDEAL_OK) {
        fprintf(stderr, "bench: %s\n", error.reason);
        return e;
    }
    e = (struct explored){
        .verdict = r->verdict,
        .finished = r->verdict != EXPLORE_UNDECIDED && r->at_end.states < options->most_states
                 && r->at_end.seconds < options->most_seconds,
        .states = (double)r->at_end.states,
        .seconds = r->at_end.seconds,
        .bytes = (double)r->stored_bytes,
        .cpu = (double)(clock() - began) / CLOCKS_PER_SEC,
    };
    explore_result_free(r);
    return e;
}

static struct explore_options usual(const struct bench *b)
{
    return (struct explore_options){
        .model = EXPLORE_TSO,
        .buffers = 32,
        .local = EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC,
        .all_errors = true,
        .jobs = 1,
        .most_states = b->quick ? 200000 : 5000000,
        .most_seconds = b->quick ? 5 : 60,
    };
}

/* ---- Tables 2 and 3 ---------------------------------------------------------------------- */

static const struct configuration {
    const char *name;
    uint8_t local;
    uint32_t buffers;
    double theirs; /* thousand states of their 26 programs */
} configurations[] = {
    { "base", 0, 32, 252 },
    { "+s", EXPLORE_LOCAL_STATIC, 32, 263 },
    { "+d", EXPLORE_LOCAL_DYNAMIC, 32, 250 },
    { "+sd", EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC, 32, 231 },
    { "+sdu", EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC, 0, 206 },
    { "+sd4", EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC, 4, 296 },
};
enum { CONFIGURATIONS = sizeof configurations / sizeof *configurations };

static struct explored configured[CONFIGURATIONS][MOST_PROGRAMS];

static bool all_finished(unsigned program)
{
    for (unsigned c = 0; c < CONFIGURATIONS; c++)
        if (!configured[c][program].finished)
            return false;
    return true;
}

static void configuration_row(struct bench *b, unsigned c, unsigned programs)
{
    double finished = 0, bugs = 0, states = 0, seconds = 0;
    for (unsigned i = 0; i < programs; i++) {
        const struct explored *e = &configured[c][i];
        finished += e->finished;
        bugs += e->verdict == EXPLORE_FAIL;
        if (all_finished(i)) {
            states += e->states;
            seconds += e->cpu;
        }
    }
    cJSON *row = row_new();
    row_text(row, "version", configurations[c].name);
    row_number(row, "finished", finished);
    row_number(row, "of", programs);
    row_number(row, "bugs", bugs);
    row_number(row, "states", states);
    row_number(row, "CPU s", seconds);
    row_number(row, "theirs, k", configurations[c].theirs);
    row_end(&b->report, row);
}

void table_explore(struct bench *b)
{
    struct programs p;
    load_all(&p);
    for (unsigned c = 0; c < CONFIGURATIONS; c++)
        for (unsigned i = 0; i < p.count; i++) {
            struct explore_options o = usual(b);
            o.local = configurations[c].local;
            o.buffers = configurations[c].buffers;
            configured[c][i] = explore_it(p.program[i].image, &o);
        }
    for (unsigned c = 0; c < CONFIGURATIONS; c++)
        configuration_row(b, c, p.count);
    free_all(&p);
}

/* ---- delayed and plain --------------------------------------------------------------------- */

static void flush_row(struct bench *b, const char *name, double delayed, double plain,
                      const char *asked)
{
    cJSON *row = row_new();
    row_text(row, "program", name);
    row_number(row, "delayed", delayed);
    row_number(row, "plain", plain);
    row_number(row, "ratio", delayed / plain);
    row_target(row, asked, delayed <= plain / 2);
    row_end(&b->report, row);
}

void table_flush(struct bench *b)
{
    struct programs p;
    double delayed = 0, plain = 0;
    load_all(&p);
    for (unsigned i = 0; i < p.count; i++) {
        struct explore_options o = usual(b);
        struct explored d = explore_it(p.program[i].image, &o);
        o.plain_flush = true;
        struct explored f = explore_it(p.program[i].image, &o);
        bool both = d.finished && f.finished;
        delayed += both ? d.states : 0;
        plain += both ? f.states : 0;
        flush_row(b, p.program[i].name, both ? d.states : NAN, both ? f.states : NAN, NULL);
    }
    flush_row(b, "all", delayed, plain, "at most 0.5");
    free_all(&p);
}

/* ---- speed ----------------------------------------------------------------------------------- */

static const struct large {
    const char *name, *path;
    const char *define[4];
    size_t defines;
    bool asked; /* 300,000 states a second and core, 1.7 times that on two, 24 bytes a state */
} large[] = {
    { "Peterson, 3 threads",
      "examples/programs/peterson_n.c",
      { "FENCED", "THREADS=3", "ROUNDS=2" },
      3,
      true },
    { "Michael-Scott", "examples/programs/michael_scott.c", { "FENCED", "ITEMS=6" }, 2, true },
    { "Michael-Scott, both ends",
      "examples/programs/michael_scott.c",
      { "FENCED", "SHARED_END", "ITEMS=2" },
      3,
      false },
    { "Peterson, 4 threads",
      "examples/programs/peterson_n.c",
      { "FENCED", "THREADS=4", "ROUNDS=1" },
      3,
      false },
    { "Dekker, 4 threads",
      "examples/programs/dekker.c",
      { "FENCED", "THREADS=4", "ROUNDS=1" },
      3,
      false },
    { "Bakery, 3 threads",
      "examples/programs/bakery.c",
      { "FENCED", "THREADS=3", "ROUNDS=1" },
      3,
      false },
};

static void speed_row(struct bench *b, const struct large *l, const struct image *image)
{
    struct explore_options o = usual(b);
    o.most_states = b->quick ? 300000 : 20000000;
    struct explored one = explore_it(image, &o);
    o.jobs = 2;
    struct explored two = explore_it(image, &o);
    double speed = one.states / one.cpu; /* others may use this computer, too */
    double times = two.states / two.seconds * one.seconds / one.states;
    double bytes = one.bytes / one.states;
    cJSON *row = row_new();
    row_text(row, "program", l->name);
    row_text(row, "verdict",
             one.verdict == EXPLORE_UNDECIDED ? "UNDECIDED"
             : one.verdict == EXPLORE_PASS    ? "PASS"
                                              : "FAIL");
    row_number(row, "states", one.states);
    row_number(row, "seconds", one.seconds);
    row_number(row, "k states/s", speed / 1000);
    row_number(row, "2 jobs, times", times);
    row_number(row, "bytes/state", bytes);
    row_target(row, l->asked ? "300, 1.7, 24" : NULL,
               speed >= 300000 && times >= 1.7 && (bytes <= 24 || one.states < 1e6));
    row_end(&b->report, row);
}

void table_explore_speed(struct bench *b)
{
    for (unsigned i = 0; i < sizeof large / sizeof *large; i++) {
        struct image *image = bench_image(large[i].path, large[i].define, large[i].defines);
        if (image)
            speed_row(b, &large[i], image);
        image_free(image);
    }
}
