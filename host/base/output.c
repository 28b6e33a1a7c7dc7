/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The permissions the file would have had without the detour. */
static mode_t intended_mode(const struct stat *existing)
{
    if (existing)
        return existing->st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int open_temporary(struct output *out, const struct stat *existing)
{
    if (asprintf(&out->temporary, "%s.XXXXXX", out->name) < 0) {
        out->temporary = NULL;
        return ENOMEM;
    }
    int descriptor = mkostemp(out->temporary, O_CLOEXEC);
    int error = errno;
    if (descriptor >= 0) {
        fchmod(descriptor, intended_mode(existing));
        out->file = fdopen(descriptor, "w");
        if (out->file)
            return 0;
        error = errno;
        close(descriptor);
        unlink(out->temporary);
    }
    free(out->temporary);
    out->temporary = NULL;
    return error;
}

int output_open(struct output *out, const char *name)
{
    *out = (struct output){ .name = name };
    if (strcmp(name, "-") == 0) {
        out->file = stdout;
        return 0;
    }
    struct stat existing;
    bool exists = stat(name, &existing) == 0;
    if (exists && S_ISDIR(existing.st_mode))
        return EISDIR;
    if (!exists || S_ISREG(existing.st_mode))
        return open_temporary(out, exists ? &existing : NULL);
    out->file = fopen(name, "we");
    return out->file ? 0 : errno;
}

static void forget(struct output *out)
{
    free(out->temporary);
    *out = (struct output){ .name = out->name };
}

int output_commit(struct output *out)
{
    errno = 0;
    bool bad = fflush(out->file) != 0 || ferror(out->file);
    int error = bad ? (errno ? errno : EIO) : 0;
    if (out->file != stdout) {
        if (fclose(out->file) != 0 && !error)
            error = errno;
        if (out->temporary && !error && rename(out->temporary, out->name) != 0)
            error = errno;
        if (out->temporary && error)
            unlink(out->temporary);
    }
    forget(out);
    return error;
}

void output_abandon(struct output *out)
{
    if (!out->file)
        return;
    if (out->file != stdout)
        fclose(out->file);
    if (out->temporary)
        unlink(out->temporary);
    forget(out);
}
