/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_waves.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soc_image.h"

/* What the other process has to say, in memory that both see. */
struct said {
    bool good;
    struct why why;
};

static void write_waves(const struct soc_runner_plan *plan, const struct soc_waves_job *job,
                        const char *fst, struct said *said)
{
    struct soc_runner *m = soc_runner_new(plan);
    if (!m)
        said->good = why_say(&said->why, "out of memory");
    else if (job->image)
        said->good = soc_image_waves(m, job->image, job->iteration, fst, &said->why);
    else
        said->good = soc_runner_waves(m, job->test, job->iteration, fst, &said->why);
    soc_runner_free(m);
}

static bool wait_for(pid_t child, const struct said *said, struct why *why)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return why_say(why, "who writes the waves is lost: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return said->good || why_say(why, "%s", said->why.text);
    bool killed = WIFSIGNALED(status);
    return why_say(why, "the waves could not be written: who does it %s %d%s",
                   killed ? "was killed by signal" : "ended with status",
                   killed ? WTERMSIG(status) : WEXITSTATUS(status),
                   killed && WTERMSIG(status) == SIGBUS ? "; is the disk full?" : "");
}

static bool write_apart(const struct soc_runner_plan *plan, const struct soc_waves_job *job,
                        const char *fst, struct said *said, struct why *why)
{
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        return why_say(why, "the waves could not be written: %s", strerror(errno));
    if (child == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
            write_waves(plan, job, fst, said);
        _exit(0);
    }
    return wait_for(child, said, why);
}

/* ---- whether all of it is there ---------------------------------------------------------------- */

/* An FST file is a row of blocks: a byte that says what it is, and the length of the rest, 8 bytes
 * with the highest first. A length is filled in when all of the block is written. */
static bool is_whole(FILE *in)
{
    uint64_t at = 0, length;
    uint8_t head[9];
    if (fseeko(in, 0, SEEK_END) != 0)
        return false;
    uint64_t size = (uint64_t)ftello(in);
    for (; at < size; at += 1 + length) {
        if (fseeko(in, (off_t)at, SEEK_SET) != 0 || fread(head, 1, sizeof head, in) != sizeof head)
            return false;
        length = 0;
        for (size_t i = 1; i < sizeof head; i++)
            length = length << 8 | head[i];
        if (length < 8 || length > size - at - 1)
            return false;
    }
    return at > 0;
}

/* The writer does not see that a write fails, and fills in the lengths of what came to the disk. So
 * where there is room for no more behind the file, nobody knows whether there was for all of it. */
static bool has_room_behind(FILE *file)
{
    enum { ROOM = 65536 };
    off_t size = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    return size >= 0 && posix_fallocate(fileno(file), size, ROOM) == 0
        && ftruncate(fileno(file), size) == 0;
}

static bool check_file(const char *fst, struct why *why)
{
    FILE *in = fopen(fst, "r+e");
    bool whole = in && is_whole(in) && has_room_behind(in);
    if (in)
        fclose(in);
    return whole || why_say(why, "%.800s: the waves are not whole; is the disk full?", fst);
}

static void remove_files(const char *fst)
{
    char beside[PATH_MAX];
    unlink(fst);
    if (snprintf(beside, sizeof beside, "%s.hier", fst) < (int)sizeof beside)
        unlink(beside); /* the writer's own */
}

bool soc_waves_write(const struct soc_runner_plan *plan, const struct soc_waves_job *job,
                     const char *fst, bool is_fst, struct why *why)
{
    struct said *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                             -1, 0);
    if (said == MAP_FAILED)
        return why_say(why, "out of memory");
    bool good = write_apart(plan, job, fst, said, why) && (!is_fst || check_file(fst, why));
    munmap(said, sizeof *said);
    if (!good)
        remove_files(fst);
    return good;
}
