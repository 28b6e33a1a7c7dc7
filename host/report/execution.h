/* SPDX-License-Identifier: Apache-2.0 */
/* One execution and the verdict on it as a part of a page: the operations that violate the model as a
 * graph whose edges tell why they are there, the steps in words, when the operations were, what the signals
 * did, and the trace. It is judged here and now, from the text of the trace alone, so that whoever has
 * another text gets another part: a server may ask what if.
 *
 * PAGE.md describes the data that the part has for the script of the page. */
#ifndef HOST_EXECUTION_H
#define HOST_EXECUTION_H

#include <cJSON.h>

#include "base/why.h"
#include "tell/explain.h"
#include "tell/input.h"
#include "tell/waves.h"

enum { EXECUTION_VERSION = 1 };

struct execution {
    const char *text; /* of the trace; the caller's */
    struct input in;
    struct ordeal_verdict *verdict;
    struct naming names;
    struct proof proof; /* of a FAIL */
    struct explanation why;
    struct waves_view view; /* where to look in waves */
    cJSON *data;
};

/* `model`: to be judged by; NULL: the one that the trace claims, or TSO. False: `why`; close either way. */
bool execution_open(struct execution *x, const char *text, const char *name,
                    const enum ordeal_model *model, struct why *why);
/* The same of text that may come from anywhere, within these limits. */
bool execution_open_within(struct execution *x, const char *text, const char *name,
                           const enum ordeal_model *model, const struct ordeal_limits *limits,
                           struct why *why);
void execution_close(struct execution *x);
/* By which a page tells whether a text is the one that it shows. */
uint32_t execution_sum(const char *text);
/* What the signals did (waves_data.h), for its data, which takes it. */
void execution_add_waves(struct execution *x, cJSON *waves);
/* Ids begin with the prefix. False: out of memory. */
bool execution_write(struct execution *x, const char *prefix, FILE *out);
/* Of a machine that broke, which left no trace: signals alone, which it takes. */
bool execution_write_waves(cJSON *waves, const char *prefix, FILE *out);

#endif
