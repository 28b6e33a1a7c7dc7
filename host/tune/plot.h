/* SPDX-License-Identifier: Apache-2.0 */
/* Curves as an SVG: coverage over what it cost. Readable on light and on dark ground. */
#ifndef HOST_PLOT_H
#define HOST_PLOT_H

#include <stdio.h>

#include "base/list.h"

struct plot_point {
    double x, y;
};

/* From the left to the right; x and y are finite and not below 0. */
struct plot_curve {
    const char *name;
    LIST(struct plot_point) points;
};

enum { PLOT_CURVES = 4 }; /* at most */
struct plot {
    const char *title, *note, *x_label, *y_label; /* the note is a line below the title */
    double mark;                                  /* an x that is marked; 0: none */
    const char *mark_name;
    const struct plot_curve *curves[PLOT_CURVES];
    int count;
};

/* With few digits: "2.5 M". */
enum { PLOT_NUMBER = 32 };
const char *plot_number(double value, char text[PLOT_NUMBER]);

/* Where a curve is at this x, on the lines that are drawn; behind its end, as there. */
double plot_at(const struct plot_curve *c, double x);

bool plot_write(const struct plot *p, FILE *out); /* false: it could not be written */

#endif
