/* SPDX-License-Identifier: Apache-2.0 */
/* A folder in which failing tests were kept, as a list of them with a page each; or one of them. */
#ifndef HOST_FAILURES_PAGE_H
#define HOST_FAILURES_PAGE_H

#include "site.h"

/* Does it have folders of failing tests? */
bool failures_page_is(const char *folder);
bool failures_page_write(struct site *s, const char *folder, bool no_waves, struct why *why);
/* The folder that the page "failure-NUMBER" is about; false: there is none. */
bool failures_page_folder(const char *folder, size_t number, char *path, size_t size);
/* One test as the page NAME. `trail`: as of site_begin(). */
bool failures_page_write_one(struct site *s, const char *name, const char *folder,
                             const char *trail, bool no_waves, struct why *why);

#endif
