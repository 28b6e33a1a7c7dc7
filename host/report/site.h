/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of a report: a folder with a file each, or all of them in one file. Either is there
 * whole or not at all. A folder takes the place of one that holds a report and nothing else, of
 * no other.
 *
 * No page needs a server, a network or another file, and what a page may do is told to the
 * browser by a Content-Security-Policy that names our style and our script by their hashes. */
#ifndef HOST_SITE_H
#define HOST_SITE_H

#include "assets.h"
#include "base/list.h"
#include "base/output.h"
#include "base/temporary.h"
#include "base/why.h"

enum { SITE_NAME = 64 };

struct site {
    const char *target; /* FILE.html, or a folder */
    bool single;
    struct output file; /* of all, or of the page at hand */
    struct temporary folder;
    char *path;         /* of the page at hand, in the folder */
    LIST(char *) names; /* of files that were written */
    unsigned pages;
    const char *only; /* the name of the one page that is wanted, of a server; or NULL */
    const struct assets_live *live;
    struct why *why, reason; /* the first that failed */ /* says what went wrong first */
    bool failed;
};

/* False: `why`. A folder that is there and is not a report's is refused at once. */
bool site_open(struct site *s, const char *target, struct why *why);
/* One page alone, as a server sends it; all else is left out. Nothing is to be committed. */
void site_open_page(struct site *s, const char *name, const struct assets_live *live, FILE *out,
                    struct why *why);
/* Whether a page is to be written at all. */
bool site_wants(const struct site *s, const char *name);
/* NAME is made of letters, digits, '-', and the first is "index". Where to write the page's
 * contents; NULL: it failed. `trail`: the way back, the name of a page, or NULL. */
FILE *site_begin(struct site *s, const char *name, const char *title, const char *trail);
void site_end(struct site *s);
/* Where a link to a page leads. */
const char *site_link(const struct site *s, const char *name, char link[SITE_NAME + 8]);
/* The last name of a path, for titles. */
const char *site_base(const char *path);
/* All takes its place; false: `why`, and nothing is left behind. Also closes. */
bool site_commit(struct site *s);
void site_abandon(struct site *s);
/* A page could not be made: `why`, which is the file that could not be written, if it is that, and otherwise
 * what was said before, or that there is no memory. Nothing is left behind. */
void site_give_up(struct site *s);

#endif
