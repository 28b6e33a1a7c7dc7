/* SPDX-License-Identifier: Apache-2.0 */
/* What pages are made of, as it is named on the command line: which kind it is, and its pages. */
#ifndef HOST_SUBJECT_H
#define HOST_SUBJECT_H

#include "site.h"

enum subject { SUBJECT_DATABASE, SUBJECT_FAILURE, SUBJECT_FAILURES, SUBJECT_TUNING, SUBJECT_NONE };

/* SUBJECT_NONE: `why`. */
enum subject subject_kind(const char *name, struct why *why);
/* Of a kind that is no database there is one name. */
bool subject_write(struct site *s, enum subject kind, char **names, int count, bool no_waves,
                   struct why *why);

#endif
