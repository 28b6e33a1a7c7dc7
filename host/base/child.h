/* SPDX-License-Identifier: Apache-2.0 */
/* A program run as a child: without a shell, without input, its output kept in a file, in a process
 * group of its own that is killed as a whole by its number, and dead when ordeal dies. Of output
 * without an end the file has the end: whenever it is longer than CHILD_LOG it begins anew. */
#ifndef HOST_CHILD_H
#define HOST_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "why.h"

enum { CHILD_LOG = 16 << 20 }; /* bytes */

struct child {
    pid_t pid;                   /* 0: there is none */
    int log;                     /* its output, while it is there */
    int status;                  /* of the one that ended, as waitpid gives it */
};

/* Is there such a program on PATH, or at this path? */
bool child_exists(const char *program);
/* A file's name as an argument: one that begins with '-' or '@' gets a "./" before it, and is neither an
 * option nor, for compilers, a file of options. It is the name itself, or `to`. */
const char *child_argument(const char *name, char *to, size_t size);
/* argv[0] is looked up on PATH. `directory`: it runs there; NULL: here. False: `why`. */
bool child_start(struct child *c, char *const *argv, const char *directory, const char *log,
                 struct why *why);
/* The same of a program that works on what strangers wrote. */
struct child_limits {
    /* Bytes that it may have, and write to one file; 0: as many as it likes. */
    uint64_t memory, file;
    /* Its TMPDIR, which goes away with what it leaves there; NULL: as ours. */
    const char *temporary;
};
bool child_start_within(struct child *c, char *const *argv, const struct child_limits *limits,
                        const char *log, struct why *why);
/* True until it ended by itself. */
bool child_running(struct child *c);
enum child_end {
    CHILD_ENDED,  /* by itself: see status */
    CHILD_HUNG,   /* not within the time */
    CHILD_STOPPED /* ^C */
};
/* Waits for its end, so many seconds (0: as long as it takes). It is not there any more, whichever
 * end it was. */
enum child_end child_wait(struct child *c, double seconds);
/* Asks it to end, as ^C would; harmless when it ended. */
void child_ask(const struct child *c);
/* Kills it and what it started; harmless when it ended. */
void child_stop(struct child *c);
/* The last line of a log, or, of a log of ordeal itself, its last complaint, as text that does nothing; "": it
 * has none. */
void child_last_words(const char *log, char *line, size_t size);
/* "ended with status 1" or "was killed by signal 9", and what it said last, as far as the log has
 * it. */
void child_obituary(const struct child *c, const char *name, const char *log, struct why *why);

#endif
