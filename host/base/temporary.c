/* SPDX-License-Identifier: Apache-2.0 */
#include "temporary.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MARK ".ordeal-tmp-"
#define HELD "locked"
enum {
    RANDOM = 6,                                              /* characters after the mark */
    LONGEST_STEM = NAME_MAX - (int)sizeof MARK + 1 - RANDOM, /* of a name before it */
    DEEPEST = 8,                                             /* folders in a folder of ours */
    ATTEMPTS = 100,
    HOLD_PAUSE = 10000000, /* nanoseconds between two attempts to hold a file: a second in all */
};
_Static_assert(sizeof HELD - 1 == RANDOM, "what holds a file is swept as others are");

static const struct temporary nothing = { .path = NULL, .lock = -1 };

static bool is_temporary_name(const char *name)
{
    size_t length = strlen(name), tail = strlen(MARK) + RANDOM;
    if (length < tail || strncmp(name + length - tail, MARK, strlen(MARK)) != 0)
        return false;
    for (const char *p = name + length - RANDOM; *p; p++)
        if (!isalnum((unsigned char)*p))
            return false;
    return true;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int lock_of(int descriptor, int how)
{
    int result;
    while ((result = flock(descriptor, how)) != 0 && errno == EINTR)
        continue;
    return result;
}

/* ---- removing ------------------------------------------------------------------------------ */

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* Was nothing mounted on the way from one to the other? What is may be of the same file system: it is
 * asked for the mount, where the kernel knows of it. */
static bool is_same_mount(int a, int b)
{
    struct statx x, y;
    if (statx(a, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &x) != 0
        || statx(b, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &y) != 0)
        return false;
    bool known = x.stx_mask & y.stx_mask & STATX_MNT_ID;
    return x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor
        && (!known || x.stx_mnt_id == y.stx_mnt_id);
}

/* A folder that lies in the directory itself: not where a link leads or a mount. Returns -1 and an
 * errno. */
static int open_inside(int directory, const char *name)
{
    int folder = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 || directory == AT_FDCWD || is_same_mount(directory, folder))
        return folder;
    close(folder);
    errno = EBUSY; /* as of rmdir */
    return -1;
}

/* A file, or a folder of this user, with what is in it, mounts excepted. Returns 0 or an errno. */
static int remove_tree(int directory, const char *name, int depth)
{
    if (unlinkat(directory, name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return errno;
    struct stat here;
    int folder = open_inside(directory, name);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    int error = entries ? 0 : errno;
    if (!entries && folder >= 0)
        close(folder);
    if (entries && (depth == 0 || fstat(folder, &here) != 0 || here.st_uid != geteuid()))
        error = EPERM;
    for (struct dirent *e; !error && (e = readdir(entries));)
        if (!is_dots(e->d_name))
            error = remove_tree(folder, e->d_name, depth - 1);
    if (entries)
        closedir(entries);
    return error ? error : unlinkat(directory, name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

/* ---- those whose owner is gone ------------------------------------------------------------- */

/* A descriptor that holds its lock; -1: it has an owner, is not ours, or nobody can tell. */
static int lock_abandoned(int directory, const char *name)
{
    struct stat opened, named;
    int found = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ours = found >= 0 && fstat(found, &opened) == 0
             && (S_ISREG(opened.st_mode) || S_ISDIR(opened.st_mode)) && opened.st_uid == geteuid()
             && lock_of(found, LOCK_EX | LOCK_NB) == 0
             && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0
             && is_same(&opened, &named);
    if (ours || found < 0)
        return found;
    close(found);
    return -1;
}

static void sweep_one(int directory, const char *where, const char *name,
                      const struct temporary_sweep *how)
{
    char path[PATH_MAX];
    int lock = lock_abandoned(directory, name);
    if (lock < 0)
        return;
    int error = how->dry ? 0 : remove_tree(directory, name, DEEPEST);
    snprintf(path, sizeof path, "%s%s%s", where, *where ? "/" : "", name);
    if (how->tell)
        how->tell(how->user, path, error);
    close(lock);
}

/* Takes the descriptor. */
static int sweep_opened(int opened, const char *where, const struct temporary_sweep *how)
{
    DIR *entries = opened < 0 ? NULL : fdopendir(opened);
    int error = entries ? 0 : errno;
    if (!entries && opened >= 0)
        close(opened);
    struct temporary_sweep flat = *how;
    flat.inside = false;
    for (struct dirent *e; entries && (e = readdir(entries));) {
        char path[PATH_MAX];
        if (is_temporary_name(e->d_name)) {
            sweep_one(dirfd(entries), where, e->d_name, how);
        } else if (how->inside && !is_dots(e->d_name)) {
            int folder = open_inside(dirfd(entries), e->d_name);
            snprintf(path, sizeof path, "%s%s%s", where, *where ? "/" : "", e->d_name);
            if (folder >= 0)
                sweep_opened(folder, path, &flat);
        }
    }
    if (entries)
        closedir(entries);
    return error;
}

int temporary_sweep(const char *directory, const struct temporary_sweep *how)
{
    bool here = strcmp(directory, ".") == 0;
    int opened = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return opened < 0 ? errno : sweep_opened(opened, here ? "" : directory, how);
}

static void sweep_beside(const char *name)
{
    const char *slash = strrchr(name, '/');
    char directory[PATH_MAX] = ".";
    if (slash)
        snprintf(directory, sizeof directory, "%.*s", slash == name ? 1 : (int)(slash - name),
                 name);
    temporary_sweep(directory, &(struct temporary_sweep){ .dry = false });
}

/* ---- making -------------------------------------------------------------------------------- */

/* A name that is too long for the mark loses its end. */
static char *marked(const char *name, const char *tail)
{
    const char *slash = strrchr(name, '/'), *stem = slash ? slash + 1 : name;
    char *path;
    if (asprintf(&path, "%.*s%.*s" MARK "%s", (int)(stem - name), name, LONGEST_STEM, stem, tail)
        < 0)
        return NULL;
    return path;
}

static int make_file(char *path) { return mkostemp(path, O_CLOEXEC); }

static int make_folder(char *path)
{
    if (!mkdtemp(path))
        return -1;
    int opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    if (opened < 0)
        rmdir(path);
    errno = error;
    return opened;
}

/* Whoever sweeps may be faster than the lock: then it is gone, and another is made. */
static int make_locked(struct temporary *t, const char *name, int (*make)(char *path))
{
    *t = nothing;
    sweep_beside(name);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct stat made;
        char *path = marked(name, "XXXXXX");
        int opened = path ? make(path) : -1;
        int error = path ? errno : ENOMEM;
        if (opened >= 0) {
            lock_of(opened, LOCK_EX);
            if (fstat(opened, &made) == 0 && made.st_nlink > 0) {
                *t = (struct temporary){ path, opened };
                return 0;
            }
            close(opened);
        }
        free(path);
        if (opened < 0 && (error != ENOENT || attempt > 0))
            return error;
    }
    return EBUSY;
}

int temporary_file(struct temporary *t, const char *name, int *descriptor)
{
    int error = make_locked(t, name, make_file);
    if (error)
        return error;
    *descriptor = fcntl(t->lock, F_DUPFD_CLOEXEC, 0);
    if (*descriptor >= 0)
        return 0;
    error = errno;
    temporary_remove(t);
    return error;
}

int temporary_folder(struct temporary *t, const char *name)
{
    return make_locked(t, name, make_folder);
}

const char *temporary_directory(void)
{
    const char *given = getenv("TMPDIR");
    return given && *given ? given : P_tmpdir;
}

bool temporary_room(struct temporary *t, const char *purpose, struct why *why)
{
    const char *directory = temporary_directory();
    assert(!strchr(purpose, '/'));
    char whole[PATH_MAX], name[PATH_MAX + 64];
    *t = nothing;
    int error = realpath(directory, whole) ? 0 : errno;
    if (!error) {
        snprintf(name, sizeof name, "%s/%s", whole, purpose);
        error = temporary_folder(t, name);
    }
    return !error
        || why_say(why, "no temporary folder can be made in '%.800s'%s: %s", directory,
                   getenv("TMPDIR") ? ", which TMPDIR names"
                                    : "; TMPDIR may name another directory",
                   strerror(error));
}

/* ---- a file that is to have one owner ------------------------------------------------------ */

/* Of another user it can only be read, which is enough for a lock. */
static int open_hold(const char *path)
{
    int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int opened = open(path, O_RDWR | O_CREAT | flags, 0666);
    return opened < 0 && errno == EACCES ? open(path, O_RDONLY | flags) : opened;
}

/* Where nobody can lock anything, nobody can tell. Whoever had it may have removed it meanwhile:
 * then the next attempt makes another. */
static int lock_hold(int lock, const char *path)
{
    struct stat opened, named;
    bool locked = lock_of(lock, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    bool there = fstat(lock, &opened) == 0 && lstat(path, &named) == 0 && is_same(&opened, &named);
    return there ? 0 : EWOULDBLOCK;
}

/* Returns 0 or an errno; EWOULDBLOCK: `holder` has it, 0: another process. */
static int try_hold(struct temporary *t, char *path, long *holder)
{
    char text[24] = "";
    int lock = open_hold(path);
    if (lock < 0)
        return errno;
    int error = lock_hold(lock, path);
    if (error) {
        *holder = pread(lock, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
        close(lock);
        return error;
    }
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    bool told = ftruncate(lock, 0) == 0 && pwrite(lock, text, (size_t)length, 0) == length;
    (void)told; /* on a full disk who it is stays unknown */
    *t = (struct temporary){ path, lock };
    return 0;
}

bool temporary_hold(struct temporary *t, const char *name, struct why *why)
{
    struct stat is;
    *t = nothing;
    if (stat(name, &is) == 0 && !S_ISREG(is.st_mode))
        return true;
    long holder = 0;
    char *path = marked(name, HELD);
    int error = path ? try_hold(t, path, &holder) : ENOMEM;
    for (int i = 1; i < ATTEMPTS && error == EWOULDBLOCK; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = HOLD_PAUSE }, NULL);
        error = try_hold(t, path, &holder);
    }
    if (!error)
        return true;
    free(path);
    if (error != EWOULDBLOCK)
        return why_say(why, "%s", strerror(error));
    if (holder <= 0)
        return why_say(why, "in use by another process; let it end, or name another file");
    return why_say(why, "in use by process %ld; let it end, or name another file", holder);
}

/* ---- the end ------------------------------------------------------------------------------- */

void temporary_release(struct temporary *t)
{
    if (!t->path)
        return;
    close(t->lock);
    free(t->path);
    *t = nothing;
}

void temporary_remove(struct temporary *t)
{
    struct stat opened, named;
    if (t->path && fstat(t->lock, &opened) == 0 && lstat(t->path, &named) == 0
        && is_same(&opened, &named))
        remove_tree(AT_FDCWD, t->path, DEEPEST);
    temporary_release(t);
}
