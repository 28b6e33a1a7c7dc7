/* SPDX-License-Identifier: Apache-2.0 */
/* A part of interpose.c: what is done to files, written down in the order in which it is done. In a
 * signal's handler: nothing but system calls. */

struct call {
    int number;
    long a[6];
};

static long do_call(const struct call *c)
{
    return fault_raw(c->number, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
}

static void put(const void *bytes, size_t size)
{
    fault_raw(SYS_write, record, (long)bytes, (long)size, 0, 0, 0);
}

static void put_entry(enum fault_did did, uint64_t inode, uint64_t offset, const char *one,
                      size_t length, const char *other)
{
    size_t more = other ? strlen(other) + 1 : 0;
    struct fault_entry e = { did, (uint32_t)(length + more), inode, offset };
    put(&e, sizeof e);
    put(one, length);
    if (other)
        put(other, more);
}

static bool look(int descriptor, struct stat *s)
{
    return fault_raw(SYS_fstat, descriptor, (long)s, 0, 0, 0, 0) == 0;
}

static void record_write(const struct call *c, long written)
{
    struct stat s;
    int to = (int)c->a[0];
    if (written <= 0 || !look(to, &s))
        return;
    if (to == STDOUT_FILENO && fault_raw(SYS_getpid, 0, 0, 0, 0, 0, 0) != state->first)
        return; /* a worker's words are not what was told */
    if (to == STDOUT_FILENO) {
        put_entry(DID_PRINT, 0, 0, (const char *)c->a[1], (size_t)written, NULL);
    } else if (S_ISREG(s.st_mode)) {
        long at = c->number == SYS_pwrite64
                    ? c->a[3]
                    : fault_raw(SYS_lseek, to, 0, SEEK_CUR, 0, 0, 0) - written;
        put_entry(DID_WRITE, s.st_ino, (uint64_t)at, (const char *)c->a[1], (size_t)written, NULL);
    }
}

/* Names are as they were given, from the directory on where the command was started, and where it stays. */
static const char *name_of(long argument)
{
    const char *name = (const char *)argument;
    size_t length = strlen(here);
    return length && strncmp(name, here, length) == 0 && name[length] == '/' ? name + length + 1
                                                                             : name;
}

static void record_open(const char *name, long flags, long opened)
{
    struct stat s;
    if (opened < 0 || !(flags & (O_CREAT | O_TRUNC)) || !look((int)opened, &s)
        || !S_ISREG(s.st_mode))
        return;
    put_entry(DID_OPEN, s.st_ino, 0, name, strlen(name) + 1, NULL);
    if (flags & (O_TRUNC | O_EXCL) || !s.st_size) /* a number may have been another file's */
        put_entry(DID_TRUNCATE, s.st_ino, 0, "", 0, NULL);
}

static void record_folder(long argument)
{
    struct stat s;
    const char *name = name_of(argument);
    if (fault_raw(SYS_stat, argument, (long)&s, 0, 0, 0, 0) == 0)
        put_entry(DID_FOLDER, s.st_ino, 0, name, strlen(name) + 1, NULL);
}

static void record_name(enum fault_did did, const char *name, const char *other)
{
    put_entry(did, 0, 0, name, strlen(name) + 1, other);
}

static void record_call(const struct call *c, long result)
{
    const long *a = c->a;
    struct stat s;
    switch (c->number) {
    case SYS_write:
    case SYS_pwrite64: record_write(c, result); break;
    case SYS_open: record_open(name_of(a[0]), a[1], result); break;
    case SYS_openat: record_open(name_of(a[1]), a[2], result); break;
    case SYS_mkdir: record_folder(a[0]); break;
    case SYS_rename: record_name(DID_RENAME, name_of(a[0]), name_of(a[1])); break;
    case SYS_renameat:
    case SYS_renameat2: record_name(DID_RENAME, name_of(a[1]), name_of(a[3])); break;
    case SYS_unlink:
    case SYS_rmdir: record_name(DID_REMOVE, name_of(a[0]), NULL); break;
    case SYS_unlinkat:
        if (a[0] == AT_FDCWD)
            record_name(DID_REMOVE, name_of(a[1]), NULL);
        break;
    case SYS_fsync:
    case SYS_fdatasync:
        if (look((int)a[0], &s))
            put_entry(DID_SYNC, s.st_ino, 0, "", 0, NULL);
        break;
    case SYS_ftruncate:
        if (look((int)a[0], &s))
            put_entry(DID_TRUNCATE, s.st_ino, (uint64_t)a[1], "", 0, NULL);
        break;
    default: break;
    }
}

/* Who reads may wait for another that has to write something first. */
static long do_and_record(const struct call *c)
{
    if (kind_of(c->number) == FAULT_READ)
        return do_call(c);
    while (atomic_flag_test_and_set(&state->logging))
        continue;
    long result = do_call(c);
    if (result >= 0)
        record_call(c, result);
    atomic_flag_clear(&state->logging);
    return result;
}
