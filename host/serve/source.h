/* SPDX-License-Identifier: Apache-2.0 */
/* What is served: pages of one database or folder, made when they are asked for. It is found by
 * what the command line named and by numbers; a database's word for a folder is followed below
 * its own folder alone. */
#ifndef HOST_SOURCE_H
#define HOST_SOURCE_H

#include "live.h"
#include "report/subject.h"
#include "what_if.h"

struct source {
    enum subject kind;
    char *name;
    bool no_waves;
    struct live live; /* of a database */
};

/* False: `why`; close either way. A database that cannot be read is found now. */
bool source_open(struct source *s, const char *name, bool no_waves, struct why *why);
void source_close(struct source *s);

/* The page as text, for the caller to free; NULL: there is no such page, and `why` is empty, or
 * `why`. */
char *source_page(struct source *s, const char *page, size_t *size, struct why *why);
/* The trace that a page shows; as in struct what_if_source. */
char *source_trace(void *source, const char *page, const char *part, enum ordeal_model *model,
                   bool *known, struct why *why);
/* For the header Content-Security-Policy of every page. */
extern const char source_policy[];

#endif
