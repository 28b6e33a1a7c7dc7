/* SPDX-License-Identifier: Apache-2.0 */
/* Phase II of Relaxer on a machine of rtl/: stores whose label is odd stay in the store buffer of
 * their hart, loads and atomics there come later, each by chance and by hart, and harts pause before the
 * labels of the cycle, so that threads meet. What the machine did is what its capture unit saw. */
#ifndef HOST_CHIP_RELAX_H
#define HOST_CHIP_RELAX_H

#include "chip_try.h"
#include "on_chip_look.h"
#include "program/relax_trials.h"

struct instruction;

struct chip_relax {
    struct chip_try *machine;
    struct relax_plan
        plan; /* seed, trials, repeat, progress; image and labels are those on the chip */
    enum explore_model model;
};

struct chip_relaxed {
    struct relax_tried tried; /* confirmed: with the checker's proof */
    uint64_t unproved; /* executions that seem to have the cycle, and that it did not decide */
    struct on_chip_verdict *run; /* the execution of tried.witness; NULL: there is none */
    enum chip_try_end end;       /* DONE, or why there is no more, in `why` */
    bool machine_wrong;          /* the machine did what its model does not allow: `why` */
    bool bad;                    /* the program cannot run there: `why` */
    struct why why;
};

/* Trials `first` to `last` of a cycle, whose labels are those of the plan. False: no memory. The result is to
 * be freed in either case. */
bool chip_relax(const struct chip_relax *r, const struct relax_cycle *c, uint64_t first,
                uint64_t last, struct chip_relaxed *out);
void chip_relaxed_free(struct chip_relaxed *out);
/* Waves of the witness. */
bool chip_relax_waves(const struct chip_relax *r, const struct relax_cycle *c,
                      const struct relax_witness *w, const char *fst, struct why *why);

/* What an execution did, as relax_created() wants it. False: no memory; run->access is to be freed. */
bool chip_relax_run(const struct on_chip_verdict *v, const struct image *image,
                    const struct relax_labels *labels, struct relax_run *run);
/* False when it is no use to go on: the machine is wrong, or the program cannot run there. */
bool chip_relax_is_sound(const struct on_chip_verdict *v, bool *machine_wrong, bool *bad,
                         struct why *why);
/* An access to the own frame. */
bool chip_relax_is_private(const struct instruction *i);

#endif
