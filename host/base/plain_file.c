/* SPDX-License-Identifier: Apache-2.0 */
#include "plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *plain_file_open(const char *name, const char **reason)
{
    struct stat is = { 0 };
    int opened = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool known = opened >= 0 && fstat(opened, &is) == 0, regular = known && S_ISREG(is.st_mode);
    FILE *stream = regular ? fdopen(opened, "r") : NULL;
    *reason = !known || regular   ? strerror(errno)
            : S_ISDIR(is.st_mode) ? strerror(EISDIR)
                                  : "it is not a file; a pipe or device is not read";
    if (!stream && opened >= 0)
        close(opened);
    return stream;
}
