/* SPDX-License-Identifier: Apache-2.0 */
/* What the monitor found in a program, by lines of its source, and as traces. */
#ifndef HOST_PROGRAM_MONITOR_WORDS_H
#define HOST_PROGRAM_MONITOR_WORDS_H

#include <stdio.h>

#include <cJSON.h>

#include "account_trace.h"
#include "dpor.h"

struct monitor_story {
    const struct image *image;
    const struct dpor_finding *finding;
    const struct explore_options *options;
    enum monitor_model model;
    struct event_list events; /* of the path */
    struct account account;
};

/* Follows the finding's path. False: why. */
bool monitor_story_make(struct monitor_story *s, struct ordeal_error *why);
void monitor_story_free(struct monitor_story *s);
/* Adds store= and load= and the like. */
void monitor_story_line(struct monitor_story *s, cJSON *line, bool json);
/* The sentences below the line. */
void monitor_story_print(struct monitor_story *s, FILE *out);

/* The borderline execution as a trace, or (`relaxed`) the one next to it that no sequentially
 * consistent machine does: the same, but that the access comes before the write it could miss. */
bool monitor_story_trace(struct monitor_story *s, bool relaxed, struct account_trace *t);
/* What the checker says of the latter, which it must pass under the model: whether it fails under SC.
 * Where it passes there, the values are the same either way. */
enum account_judgement monitor_story_judge(struct monitor_story *s, bool *differs,
                                           struct ordeal_error *why);

#endif
