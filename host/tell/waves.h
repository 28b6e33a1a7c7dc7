/* SPDX-License-Identifier: Apache-2.0 */
/* Waves of a failing run and where to look in them: an FST file, and a save file of GTKWave that
 * opens it at the cycles of the violation, with a marker for each of its operations and the signals
 * of the harts that made them and of the bus between. */
#ifndef HOST_WAVES_H
#define HOST_WAVES_H

#include <stdbool.h>
#include <stdio.h>

#include "ordeal.h"
#include "targets/target.h"

enum { MOST_MARKS = 26, TIME_PER_CYCLE = 10 };

struct waves_mark { uint32_t hart; uint64_t cycle; char text[160]; };

struct waves_view {
    uint64_t first, last;        /* cycles to be seen; both 0: all there is */
    uint32_t harts;              /* a bit each: whose signals; 0: nobody's in particular */
    int marks;
    struct waves_mark mark[MOST_MARKS];
};

/* The signals that are shown of each hart, and of memory; those of WAVES_HART, in which one sees what
 * it does and hears of others, come first for all harts. */
enum waves_group { WAVES_HART, WAVES_LSU, WAVES_CACHE, WAVES_BUS, WAVES_MEMORY };
struct waves_signal { enum waves_group group; const char *name; int width; };
const struct waves_signal *waves_signal(size_t i);   /* NULL after the last */

/* What a verdict of FAIL is about. Without cycles in the trace there are no marks. */
void waves_of_verdict(struct waves_view *v, const struct ordeal_trace *t,
                      const struct ordeal_verdict *verdict);
/* What a machine that broke said: "…, cycle 24576; hart 1 …, for 20480 cycles". */
void waves_of_words(struct waves_view *v, const char *broke);
/* False: writing failed. `fst` is a whole path; the save file lies beside it and ends in .gtkw. */
bool waves_write_view(const struct waves_view *v, const char *fst, FILE *out);
/* "cycles 1203 to 1377: …", for people; as snprintf. */
int waves_describe(const struct waves_view *v, char *text, size_t size);
/* Opens GTKWave, which goes on alone. False: there is no display or no GTKWave; `why`. */
bool waves_open(const char *gtkw, struct why *why);

#endif
