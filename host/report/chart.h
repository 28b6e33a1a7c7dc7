/* SPDX-License-Identifier: Apache-2.0 */
/* Curves as a figure of a page, in the page's colours. */
#ifndef HOST_CHART_H
#define HOST_CHART_H

#include <stdio.h>

#include "tune/plot.h"

enum { CHART_CURVES = 6 };

struct chart {
    const char *title, *note;
    const struct plot_curve *curves[CHART_CURVES];
    int count;
    const char *const *names; /* of places 0, 1, … on the x axis; NULL: it is time, in seconds */
    int name_count;
    bool percent; /* y goes to 100 */
};

void chart_write(const struct chart *c, FILE *out);

#endif
