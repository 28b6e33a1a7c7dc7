/* SPDX-License-Identifier: Apache-2.0 */
/* A failing test as a page, from the folder in which it was kept (trial/FOLDER.md), which may
 * come from anywhere: nothing in it is executed, and what is missing or damaged is told in the
 * page. */
#ifndef HOST_FAILURE_PAGE_H
#define HOST_FAILURE_PAGE_H

#include <stdio.h>

#include "base/why.h"
#include "ordeal.h"

struct failure_page {
    const char *folder;
    const char *prefix; /* of ids */
    bool no_waves;
};

/* Is it such a folder? */
bool failure_page_is(const char *folder);
/* The contents of the page below its heading. False: out of memory. */
bool failure_page_write(const struct failure_page *p, FILE *out);
/* The trace that the part "whole" or "small" of the page shows, for the caller to free, and the
 * model that it was judged by, if `known`. NULL: `why`. */
char *failure_page_trace(const char *folder, const char *part, enum ordeal_model *model,
                         bool *known, struct why *why);
/* What is wrong with it in a line, and what it has in common with others, as verdict.json has them; "" if not. */
struct failure_page_line {
    char reason[1024], cause[128];
};
void failure_page_line(const char *folder, struct failure_page_line *line);

#endif
