/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a program's sources: which of them an event is about, and how it reads. An access of
 * std::atomic lies in a header and a lock in the run-time; what is shown is the line of the innermost
 * caller that is in neither. */
#ifndef HOST_PROGRAM_LINES_H
#define HOST_PROGRAM_LINES_H

#include <stdio.h>

#include "base/list.h"
#include "events.h"
#include "image.h"

struct source_file {
    char *name;
    char *text;              /* NULL: it cannot be read */
    char missing[128];       /* instead of any line of it; "": it is not there, or not for us */
    LIST(const char *) line; /* each ends with 0 */
};

struct lines {
    const struct image *image;
    LIST(struct source_file *) files;
};

void lines_free(struct lines *l);
/* The innermost line at this instruction that is not the library's; false: there is none. */
bool lines_own(const struct lines *l, uint32_t pc, struct source_place *place);
/* False: nobody knows, or all of it is the library's. */
bool lines_place(const struct lines *l, const struct program_event *e, struct source_place *place);
/* Without the blanks around it; "": the source is not there. Of one that is there and could not be
 * read, why not, in parentheses. Lives as long as `l`. */
const char *lines_text(struct lines *l, const struct source_place *place);
/* "NAME:LINE", what stands between, and the text: all that came with the program is escaped. */
void lines_put(struct lines *l, const char *name, const struct source_place *place,
               const char *between, FILE *out);
/* As seen from where we are. */
const char *lines_near_name(const char *path);
/* The last part of a path. */
const char *lines_short_name(const char *path);

#endif
