/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a program's sources: which of them an event is about, and how it reads. An access of
 * std::atomic lies in a header and a lock in the run-time; what is shown is the line of the innermost
 * caller that is in neither. */
#ifndef HOST_PROGRAM_LINES_H
#define HOST_PROGRAM_LINES_H

#include "base/list.h"
#include "events.h"
#include "image.h"

struct source_file {
    char *name;
    char *text;              /* NULL: it cannot be read */
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
/* Without the blanks around it; "": it cannot be read. Lives as long as `l`. */
const char *lines_text(struct lines *l, const struct source_place *place);
/* As seen from where we are. */
const char *lines_near_name(const char *path);
/* The last part of a path. */
const char *lines_short_name(const char *path);

#endif
