/* SPDX-License-Identifier: Apache-2.0 */
/* A regression as pages: an overview, and a page for each cause of failures. Of several databases the
 * newest is shown, and what changed from one to the next. */
#ifndef HOST_REGRESSION_PAGE_H
#define HOST_REGRESSION_PAGE_H

#include "site.h"

bool regression_page_write(struct site *s, char **files, int count, bool no_waves, struct why *why);

#endif
