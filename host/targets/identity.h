/* SPDX-License-Identifier: Apache-2.0 */
/* Which machine it was that tests ran on: what it was built from, so that results of one are not taken
 * for those of another. */
#ifndef HOST_IDENTITY_H
#define HOST_IDENTITY_H

#include "base/hash.h"
#include "target.h"

struct machine_identity {
    char description[768];    /* for people */
    char identity[HASH_TEXT]; /* of all of it: sources, configuration, options, this program */
    char sources[HASH_TEXT];  /* of these alone; "": it has none */
    char configuration[512];  /* the names of its sizes; "": it has none */
    char revision[64]; /* of git where the sources lie, with "+" if they were changed; "": none */
};

/* Of a machine that is open. `model`: that it obeys. */
void machine_identify(const struct target *target, const void *machine,
                      const struct target_options *how, enum ordeal_model model,
                      struct machine_identity *id);

#endif
