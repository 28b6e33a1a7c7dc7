/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of plans: what plan.c reads, plan_expand.c makes runs of. */
#ifndef HOST_PLAN_PARTS_H
#define HOST_PLAN_PARTS_H

#include "plan.h"

enum { PLAN_MOST_RUNS = 4096, PLAN_MOST_VALUES = 1024 };

/* What the value of a key is; table `plan_keys`. */
enum plan_type {
    PLAN_TARGET,
    PLAN_MODEL,
    PLAN_FILE,   /* a folder of `ordeal tune`: its tuned.bias */
    PLAN_SET,    /* KEY=VALUE */
    PLAN_SEEDS,  /* numbers, or FIRST..LAST */
    PLAN_COUNT,  /* a whole number above 0 */
    PLAN_NUMBER, /* a number above 0 */
    PLAN_FLAG,   /* yes or no */
    PLAN_TEXT,
};

struct plan_key {
    const char *name;
    enum plan_type type;
    const char *targets; /* that it is for; NULL: all */
    const char *option;  /* of `ordeal run`; NULL: it is of the plan alone */
    bool many;           /* it may be given several times */
};
extern const struct plan_key plan_keys[];
extern const int plan_key_count;

/* What a line says. */
struct plan_entry {
    const struct plan_key *key;
    uint32_t line;
    LIST(char *) values;
};

struct plan_section {
    char *name; /* of the run; NULL: [all] */
    uint32_t line;
    double weight;
    struct plan_budget budget;
    uint32_t budget_line;
    LIST(struct plan_entry) entries;
};

struct plan_text {
    struct plan *plan;
    LIST(struct plan_section) sections; /* the first is [all] */
    uint32_t budget_line;               /* of the whole */
    struct ordeal_error *e;
};

/* False, with the place: of the plan's file. */
bool plan_refuse(const struct plan_text *t, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes the runs of the sections, and shares the budget among them. */
bool plan_expand(struct plan_text *t);

#endif
