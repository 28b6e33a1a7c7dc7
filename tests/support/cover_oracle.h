/* SPDX-License-Identifier: Apache-2.0 */
/* Points of a small execution, found slowly: every definition of docs/coverage.md word for word, by
 * trying all there is, with names made as text. It shares nothing with host/cover/, on purpose. */
#ifndef COVER_ORACLE_H
#define COVER_ORACLE_H

#include "ordeal.h"

enum { ORACLE_NAMES = 8192 };
struct cover_names {
    char name[ORACLE_NAMES][80];
    size_t count;
};

void cover_oracle(const struct ordeal_trace *t, struct cover_names *names);

#endif
