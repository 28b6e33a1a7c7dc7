/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of `ordeal tune` as a page: what the search brought, and every key of the bias that moved. */
#ifndef HOST_TUNING_PAGE_H
#define HOST_TUNING_PAGE_H

#include "site.h"

bool tuning_page_is(const char *folder);
bool tuning_page_write(struct site *s, const char *folder, struct why *why);

#endif
