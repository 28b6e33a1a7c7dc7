/* SPDX-License-Identifier: Apache-2.0 */
/* Where the example of a cause lies that a database names: below the database's own folder, or
 * nowhere. */
#ifndef HOST_EXAMPLE_H
#define HOST_EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* DATABASE-files/NAME to `path`. False: NAME is none, leads out of the folder, or goes through a
 * link; the path is there for messages. */
bool example_folder(const char *database, const char *name, char *path, size_t size);

#endif
