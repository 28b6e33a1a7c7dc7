/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same in every page: its style, its script, and the policy that lets a browser take these
 * two and nothing else. */
#ifndef HOST_ASSETS_H
#define HOST_ASSETS_H

#include <stdio.h>

/* What pages of a server have besides. The policy is then the server's to send. */
struct assets_live {
    const char *style, *script;
};

/* The head of a page up to its body's first element, and its end. `live`: NULL for a file. */
void assets_begin(FILE *out, const char *title, const struct assets_live *live);
void assets_end(FILE *out, const struct assets_live *live);

#endif
