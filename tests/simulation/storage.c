/* SPDX-License-Identifier: Apache-2.0 */
#include "storage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schedule.h"

static uint32_t chance;
static uint64_t failed;

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

void storage_begin(uint32_t one_in, uint64_t bytes)
{
    chance = one_in;
    failed = bytes != 0;
    signal(SIGXFSZ, SIG_IGN);
    limit_files(bytes ? bytes : RLIM_INFINITY);
}

uint64_t storage_end(void)
{
    chance = 0;
    limit_files(RLIM_INFINITY);
    return failed;
}

static bool refuses(void)
{
    static const int reasons[] = { ENOSPC, EIO, EDQUOT };
    schedule_point();
    if (!chance || schedule_draw(chance))
        return false;
    errno = reasons[schedule_draw(3)];
    failed++;
    return true;
}

FILE *__real_fdopen(int file, const char *mode);
FILE *__wrap_fdopen(int file, const char *mode);
FILE *__wrap_fdopen(int file, const char *mode)
{
    if (*mode == 'w' && refuses()) {
        int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        dup3(full, file, O_CLOEXEC);
        close(full);
    }
    return __real_fdopen(file, mode);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    return refuses() ? -1 : __real_rename(from, to);
}

/* The power stays: nobody waits for the disk. */
int __wrap_fsync(int file);
int __wrap_fsync(int file)
{
    (void)file;
    return refuses() ? -1 : 0;
}

int __real_mkdir(const char *name, mode_t mode);
int __wrap_mkdir(const char *name, mode_t mode);
int __wrap_mkdir(const char *name, mode_t mode)
{
    return refuses() ? -1 : __real_mkdir(name, mode);
}

/* A process cannot be drawn by a seed: it is done here. */
bool __wrap_apart_write(bool (*work)(void *user, FILE *out), void *user, FILE *out);
bool __wrap_apart_write(bool (*work)(void *user, FILE *out), void *user, FILE *out)
{
    return work(user, out);
}
