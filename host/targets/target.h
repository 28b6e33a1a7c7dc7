/* SPDX-License-Identifier: Apache-2.0 */
/* What can run a test: one interface, a folder for each (target_*.c), one table
 * (target.c).
 *
 * A target is opened once with the options of `ordeal run` and then runs many programs. It says
 * what it can do, and target_refusal() compares that with what a program asks before anything
 * runs. run() hands every iteration's values (program.h) to the sink, in order; it returns when
 * all are done, the sink says stop, ^C was pressed (interrupted()), or the machine
 * failed. After close() no process and no file is left.
 *
 * Of an exact target what a run brings depends on the options, the program and the number of the
 * iteration alone; several may be open at once. A machine is used by one thread at a time, not
 * always by the same. */
#ifndef HOST_TARGET_H
#define HOST_TARGET_H

#include "base/why.h"
#include "target_options.h"
#include "test/program.h"

struct bug_list;
struct hash;
struct soc_image;
struct soc_image_run;

enum target_result {
    TARGET_DONE,
    TARGET_STOPPED, /* by the sink or by ^C */
    TARGET_HUNG,    /* why: which thread, which operation was last seen */
    TARGET_BROKE,   /* a finding: the machine on trial stood still, failed one of its
                                    own checks, or had in a register what it did not read; why */
    TARGET_LOST,    /* why: the machine was out of reach for a while, and nobody knows
                                    what the test did; the next may be tried */
    TARGET_FAILED,  /* why: it crashed, could not be started, was lost */
};

struct target_sink {
    /* The values of one iteration, the target's again after the call; false: stop. */
    bool (*outcome)(void *user, uint64_t iteration, const uint64_t *values);
    void *user;
};

/* What a machine counted in a run, by the numbers of EVENT in rtl/soc.def: of each in all, and the
 * most that one hart counted in an iteration. */
enum { MOST_EVENTS = 64 };
struct event_counts {
    uint64_t sum[MOST_EVENTS];
    uint32_t most[MOST_EVENTS];
};

enum target_waves {
    WAVES_WRITTEN,
    WAVES_NONE,     /* this machine has none: its model was built without, or cannot be built */
    WAVES_UNWRITTEN /* they could not be written, or the run that they are of came to no end */
};

struct target {
    const char *name, *summary;  /* for --help */
    /* False: `why`. Options that it does not know were refused before: target_options_fit(). */
    bool (*open)(const struct target_options *options, void **machine, struct why *why);
    struct abilities (*can)(const void *machine);
    struct machine_claims (*claims)(const void *machine);
    bool exact;                  /* the same seed gives the same values */
    bool several;                /* it is not, but several may be open at once all the same */
    uint32_t iterations;         /* of a test when nobody says how many */
    /* 0, or fewer of a generated test whose number is below this. Many mistakes show in any test on any
     * size of the machine: these are found by different tests sooner than by the same ones again. */
    uint32_t early_tests, early_iterations;
    /* Iterations first .. first + count - 1. */
    enum target_result (*run)(void *machine, const struct program *p, uint64_t first,
                              uint64_t count, const struct target_sink *sink, struct why *why);
    void (*close)(void *machine);
    /* NULL where there is no such thing: */
    const struct bug_list *bugs; /* ways to break it: --bug */
    /* Runs one iteration once more and writes what all signals did to an FST file; with an end of
     * TARGET_BROKE too, which is no error here. */
    enum target_waves (*waves)(void *machine, const struct program *p, uint64_t iteration,
                               const char *fst, struct why *why);
    /* Runs a program that is no test (soc/soc_image.h), on the size that hold() says; its waves. */
    enum target_result (*image)(void *machine, const struct soc_image *image, uint64_t iteration,
                                struct soc_image_run *run, struct why *why);
    enum target_waves (*image_waves)(void *machine, const struct soc_image *image,
                                     uint64_t iteration, const char *fst, struct why *why);
    /* What of its code memory a hart has, in bytes. */
    uint32_t (*code_bytes)(const void *machine);
    /* Of a machine that comes in several sizes, which take turns: the name of that which runs this
     * iteration. By hold() all that it can run are run on the one of this name, until NULL is given. */
    const char *(*size)(const void *machine, const struct program *p, uint64_t iteration);
    void (*hold)(void *machine, const char *size);
    const char *(*sizes)(const void *machine, int i); /* their names; NULL after the last */
    /* What it was built from: adds that to the hash; `folder`, of PATH_MAX bytes, is where it lies.
     * False: that is not known. */
    bool (*sources)(const void *machine, struct hash *hash, char *folder);
    /* Of a machine whose queues wait at random: at this level from now on, 0 to 7; -1: as it was
     * opened. False: it does not, or the options said how. */
    bool (*delay)(void *machine, int level);
    uint64_t (*cycles)(const void *machine);  /* of the machine on trial, since it was opened */
    double (*seconds)(const void *machine);   /* that these took, what is around them left out */
    /* What was reached of its RTL so far, as Verilator writes it, to a file: a machine may have
     * several parts, from 0. False: there is no such part, or it was built without. */
    bool (*coverage)(void *machine, int part, const char *file);
    /* Of the last run(), all zero unless the machine was opened with options->events. */
    const struct event_counts *(*events)(const void *machine);
    /* Whether the options are right, so that an open() that fails means that there is no such machine,
     * or that it cannot be built. Of machines that are things: how many there are that can be used, and how many at all, without
     * asking them; whether two were built in the same way, else `why`. */
    bool (*usage)(const struct target_options *options, struct why *why);
    int (*connected)(void);
    int (*present)(void);
    bool (*alike)(const void *a, const void *b, struct why *why);
};

extern const struct target target_model, target_native, target_elf, target_sim, target_board;

extern const struct target *const targets[];  /* ends with NULL */
const struct target *target_find(const char *name);
/* Why a machine cannot run the program, in words, as snprintf; "" when it can. */
int target_refusal(const struct abilities *can, const struct program *p, char *text, size_t size);
/* What may be done about it, after `why`: an option of the machine, and, for a test that was made, from
 * which profile (NULL: none) and which keys of the bias make others. */
void target_advise(const struct target *t, const struct abilities *can, const struct program *p,
                   bool made, const char *profile, struct why *why);
/* "; --harts makes a machine of more", or "" where there is no such option. */
const char *target_more_threads(const struct target *t);

#endif
