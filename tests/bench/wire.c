/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of a simulated board on its wires, in the time of the bus, not of this computer. */
#include "bench.h"

#include <stdio.h>

#include "wire_speed.h"

static const struct { const char *name; struct wire_plan plan; double asked; } boards[] = {
    /* the least share of the bus, in percent; 0: none is asked */
    { "board, 12 MHz, a count", { .model = "h2-s16-w2-l4-b8-q4", .words = 100000 }, 80 },
    { "board, 12 MHz, capture", { .model = "h2-s16-w2-l4-b8-q4", .capture = true,
                                    .words = 100000 }, 80 },
    { "... 1 % of each fault", { .model = "h2-s16-w2-l4-b8-q4", .capture = true,
                                             .faults = "all=0.01", .words = 100000 }, 0 },
    { "smallest, 16 MHz", { .model = "lean", .capture = true, .words = 20000 }, 0 },
};

void table_wire(struct bench *b)
{
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++) {
        struct wire_plan plan = boards[i].plan;
        struct wire_speed speed;
        struct why why;
        char asked[32];
        if (b->quick)
            plan.words /= 5;
        bool good = wire_measure(&plan, &speed, &why);
        if (!good)
            fprintf(stderr, "bench: %s: %s\n", boards[i].name, why.text);
        snprintf(asked, sizeof asked, "%.0f %% of the bus", boards[i].asked);
        cJSON *row = row_new();
        row_text(row, "board", boards[i].name);
        row_number(row, "words", plan.words);
        row_number(row, "faults", (double)speed.faults);
        row_number(row, "KB/s", speed.bytes_per_second / 1e3);
        row_number(row, "bus %", speed.percent);
        row_target(row, boards[i].asked > 0 ? asked : NULL,
                   good && speed.percent >= boards[i].asked);
        row_end(&b->report, row);
    }
}
