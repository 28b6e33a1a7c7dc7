/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
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
    int descriptor, error = temporary_file(&out->temporary, out->name, &descriptor);
    if (error)
        return error;
    fchmod(descriptor, intended_mode(existing));
    out->file = fdopen(descriptor, "w");
    if (out->file)
        return 0;
    error = errno;
    close(descriptor);
    temporary_remove(&out->temporary);
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

static void forget(struct output *out) { *out = (struct output){ .name = out->name }; }

/* What cannot be asked for it, such as a file system in memory alone, has no better answer. */
static int sync_descriptor(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
}

int output_sync(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 && errno == EACCES) { /* it may be written, but not read */
        sync();
        return 0;
    }
    if (descriptor < 0)
        return errno;
    int error = sync_descriptor(descriptor);
    close(descriptor);
    return error;
}

int output_sync_parent(const char *path)
{
    char *copy = strdup(path);
    int error = copy ? output_sync(dirname(copy)) : ENOMEM;
    free(copy);
    return error;
}

int output_directory(const char *path)
{
    struct stat is;
    if (mkdir(path, 0777) == 0)
        return output_sync_parent(path);
    if (errno != EEXIST || stat(path, &is) != 0)
        return errno;
    return S_ISDIR(is.st_mode) ? 0 : EEXIST;
}

static int sync_file(int folder, const char *name)
{
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return errno;
    int error = sync_descriptor(file);
    close(file);
    return error;
}

static int begin_writing(int folder, const char *name)
{
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) {
        sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
        close(file);
    }
    return 0;
}

static int for_each_file(DIR *folder, int (*does)(int folder, const char *name))
{
    struct stat is;
    int error = 0;
    rewinddir(folder);
    for (struct dirent *entry; !error && (entry = readdir(folder));)
        if (fstatat(dirfd(folder), entry->d_name, &is, AT_SYMLINK_NOFOLLOW) == 0
            && S_ISREG(is.st_mode))
            error = does(dirfd(folder), entry->d_name);
    return error;
}

/* All are on their way before the first is waited for, which then is one wait for all. */
int output_sync_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return errno;
    for_each_file(folder, begin_writing);
    int error = for_each_file(folder, sync_file);
    if (!error)
        error = sync_descriptor(dirfd(folder));
    closedir(folder);
    return error;
}

/* Takes its place when it is written; with `sync` not before it is on the disk. */
static int finish(struct output *out, bool sync)
{
    errno = 0;
    bool bad = fflush(out->file) != 0 || ferror(out->file);
    int error = bad ? (errno ? errno : EIO) : 0;
    if (!error && sync && out->temporary.path)
        error = sync_descriptor(fileno(out->file));
    if (out->file != stdout) {
        if (fclose(out->file) != 0 && !error)
            error = errno;
        const char *temporary = out->temporary.path;
        if (temporary && !error && rename(temporary, out->name) != 0)
            error = errno;
        if (error)
            temporary_remove(&out->temporary);
        temporary_release(&out->temporary);
    }
    forget(out);
    return error;
}

int output_finish(struct output *out) { return finish(out, false); }

int output_commit(struct output *out)
{
    bool renamed = out->temporary.path != NULL;
    int error = finish(out, true);
    return error || !renamed ? error : output_sync_parent(out->name);
}

void output_abandon(struct output *out)
{
    if (!out->file)
        return;
    if (out->file != stdout)
        fclose(out->file);
    temporary_remove(&out->temporary);
    forget(out);
}
