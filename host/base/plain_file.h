/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are small, read as a whole and expected to be there: bias files and their idioms,
 * witnesses, signatures, coverage. A pipe would wait for who writes to it, and a device may have no end:
 * neither is read. Traces and tests are streams, and come from anywhere. */
#ifndef HOST_PLAIN_FILE_H
#define HOST_PLAIN_FILE_H

#include <stdio.h>

/* Opens a regular file, also through links, and never waits. NULL: `reason`. */
FILE *plain_file_open(const char *name, const char **reason);

#endif
