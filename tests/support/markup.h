/* SPDX-License-Identifier: Apache-2.0 */
/* A strict reader of pages, which shares no code with what writes them: whatever somebody's text is, the page
 * has the elements, attributes, links and scripts of a page of ours and no others.
 *
 * Tags nest and are closed, attributes are quoted and stand once, '&' begins an entity, ids are unique, links
 * lead to an id or to a page beside it, pictures are data, scripts are data that is JSON or the one script, and
 * nothing is there that cannot be seen or turns the direction of writing. */
#ifndef SUPPORT_MARKUP_H
#define SUPPORT_MARKUP_H

#include <stddef.h>

/* NULL: it is well. Else what is wrong and where, until the next call. */
const char *markup_wrong(const char *page);

#endif
