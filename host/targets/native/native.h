/* SPDX-License-Identifier: Apache-2.0 */
/* What the two processes of the native target share: the one that has the test, and its child that
 * runs it, so that a test may crash or hang.
 *
 * Both see `struct native_control`, and behind it tables and results. The code is written by the
 * parent and only executable in the child. The child makes jobs: so many iterations of one
 * program; its workers, one a thread of the test, sleep between jobs. */
#ifndef HOST_NATIVE_H
#define HOST_NATIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef NATIVE_HERE
#if defined(__x86_64__) && defined(__linux__)
#define NATIVE_HERE 1
#else
#define NATIVE_HERE 0
#endif
#endif

enum {
    NATIVE_THREADS = 256,
    NATIVE_MEMORY = 1 << 30,         /* bytes, and so far away from them lies a hole as large: */
    NATIVE_NO_MEMORY = NATIVE_MEMORY,
    /* Addresses so far apart share their sets in first and (in huge pages) second level caches. */
    NATIVE_EVICT_STRIDE = 128 << 10, NATIVE_EVICT_WAYS = 16,
    NATIVE_SCRATCH = NATIVE_EVICT_STRIDE * NATIVE_EVICT_WAYS,
    NATIVE_LINE = 64
};
#define NATIVE_CODE (UINT64_C(1) << 30)
#define NATIVE_SHARED (UINT64_C(5) << 29)  /* the control and what follows it */

/* For the generated code. */
struct native_context {
    uint64_t scratch;                /* address of memory to evict lines with */
    uint32_t process;
    uint32_t thread[NATIVE_THREADS]; /* kernel's ids of the workers */
};

/* One iteration of a thread; returns the end of the slots it filled. */
typedef uint64_t *native_entry(uint8_t *memory, uint64_t *slots, uint32_t lfsr,
                               const struct native_context *context);

/* A thread's part of a job: its values lie `stride` bytes apart from iteration to iteration. */
struct native_part {
    uint32_t entry, number, slots;
    uint64_t values, stride;         /* values: offset in the shared memory */
};

/* Where a copy of the memory has what is told of it at the end: a word each. */
struct native_final {
    uint64_t place;
};

struct native_job {
    uint64_t first, count;           /* iterations */
    uint64_t test_seed, seed;        /* of the LFSRs; of the chances of this job */
    uint32_t threads;
    uint32_t instances;              /* copies of the memory, used one after the other */
    uint32_t group;                  /* iterations between two meetings of the threads */
    uint32_t memory;                 /* offset of the first copy */
    uint64_t instance_stride;
    uint32_t lines;
    uint64_t line_table;             /* offset of struct native_line[lines] */
    uint32_t finals;
    uint64_t final_table;                /* offset of struct native_final[finals] */
    uint64_t final_values, final_stride; /* as of a thread's part */
    uint32_t fixups;
    uint64_t fixup_table;            /* offset of struct native_fixup[fixups] */
    uint32_t code_version;
    uint64_t code_length;
    bool branches, transactions;
    bool crowded;                    /* more threads than cores */
};

struct native_line {
    uint8_t initial[NATIVE_LINE];
    uint64_t place;
};

enum native_trouble { NATIVE_FINE, NATIVE_CRASHED, NATIVE_NOT_STARTED };

struct native_worker {
    _Alignas(64) _Atomic uint32_t go;      /* futex: number of the job to do */
    _Atomic uint32_t asked, answered;      /* where it is: parent asks by SIGUSR2 */
    _Atomic uint64_t instruction_pointer;
    struct native_part part;
};

struct native_control {
    struct native_context context;
    struct native_job job;
    uint64_t code;                         /* where the child sees it */
    _Alignas(64) _Atomic uint32_t event;   /* futex: something below changed */
    _Atomic uint32_t ready, finished;      /* workers there; threads done with the job */
    _Atomic uint32_t trouble;              /* enum native_trouble, and the rest of it: */
    int trouble_code;                      /* signal or errno */
    uint32_t trouble_thread;
    uint64_t trouble_at;                   /* instruction pointer */
    const char *trouble_doing;             /* a literal; the same in both processes */
    _Alignas(64) _Atomic uint32_t arrived; /* the meeting */
    _Alignas(64) _Atomic uint32_t asleep;  /* there */
    _Alignas(64) _Atomic uint32_t meeting; /* its number, and a futex */
    _Atomic uint64_t start;                /* time stamp at which all go on */
    struct native_worker worker[NATIVE_THREADS];
};

/* Never returns. `wishes`: a socket with uint32_t, how many workers there are to be; its end is the
 * end of the child. `cores`: where to put worker 0, 1, … */
struct native_child {
    struct native_control *control;
    int code_file, wishes, parent;
    const int *cores;
    uint32_t core_count;
};
_Noreturn void native_child_main(const struct native_child *c);

long native_sleep(_Atomic uint32_t *word, uint32_t unless_not, double seconds);
void native_wake(_Atomic uint32_t *word);

#endif
