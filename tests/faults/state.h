/* SPDX-License-Identifier: Apache-2.0 */
/* What a test and the interposer in the program under test share, in a file that both map: which
 * call is to fail, and how many there were. */
#ifndef FAULTS_STATE_H
#define FAULTS_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/* Kinds of calls, and what they fail with. */
#define FAULT_KINDS(KIND) \
    KIND(ALLOCATE, "allocate", ENOMEM) \
    KIND(WRITE, "write", ENOSPC) \
    KIND(READ, "read", EIO) \
    KIND(OPEN, "open", EMFILE) \
    KIND(RENAME, "rename", EIO) \
    KIND(SYNC, "fsync", EIO) \
    KIND(MAP, "mmap", ENOMEM) \
    KIND(THREAD, "thread", EAGAIN) \
    KIND(FORK, "fork", EAGAIN)

enum fault_kind {
#define FAULT_ENUM(ID, NAME, ERROR) FAULT_##ID,
    FAULT_KINDS(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_COUNT
};

struct fault_state {
    uint32_t kind;
    uint32_t onwards;                   /* not that call alone, but all from it on */
    uint64_t at;                        /* the how-manieth of its kind fails; 0: none */
    _Atomic uint64_t seen[FAULT_COUNT]; /* so many calls */
    _Atomic uint64_t failed;
    _Atomic int32_t first; /* the process that was started, which may start others */
    atomic_flag logging;   /* one of them at a time */
};

#define FAULT_VARIABLE "ORDEAL_FAULTS"        /* names the file */
#define FAULT_LOG_VARIABLE "ORDEAL_FAULT_LOG" /* names a file that takes what is done to files */

/* An entry of the log, followed by `length` bytes: what was written, or the names. */
enum fault_did {
    DID_OPEN = 1, /* the name; inode */
    DID_WRITE,    /* what; inode, offset */
    DID_TRUNCATE, /* inode; offset: the length */
    DID_RENAME,   /* both names, each with its 0 */
    DID_REMOVE,   /* the name */
    DID_FOLDER,   /* the name; inode */
    DID_SYNC,     /* inode */
    DID_PRINT     /* what went to standard output */
};

struct fault_entry {
    uint32_t did, length;
    uint64_t inode, offset;
};

#endif
