/* SPDX-License-Identifier: Apache-2.0 */
/* A multiprocessor in simulation: what sim/ gives to others, and what a design of your own gives to
 * `ordeal run --target sim --soc FILE`.
 *
 * A model is a shared object that exports one `const struct soc_interface soc_interface`. It is
 * built for fixed parameters (soc_parameters); what can change at reset is in soc_setup. Any
 * number of SoCs may live in one process, each used by one thread at a time.
 *
 * The way: create; then for every run reset, write code and memory, and step until all harts are
 * done, reading the capture stream meanwhile. Addresses and records are in rtl/soc.def. The same
 * parameters, setup and contents give the same run, cycle by cycle. */
#ifndef SIM_SOC_H
#define SIM_SOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SOC_VERSION = 3 };

enum soc_model {
    SOC_SC, SOC_TSO, SOC_PSO, SOC_RMO
};

/* What the model was built with; 0: it has no such thing, or it does not matter. */
struct soc_parameters {
    uint32_t harts;            /* 1 to 16 */
    uint32_t sets, ways, line_bytes; /* lines of 4 bytes are written through */
    uint32_t store_buffer, load_queue;
    uint32_t memory_bytes;     /* at MAP_MEMORY and MAP_UNCACHED */
    uint32_t code_bytes;       /* of each hart */
    uint32_t capture;          /* records that the FIFO of a hart holds */
    bool transactions, bugs, waves, coverage;
    bool checks;               /* the assertions are in it, and read_log works */
    bool lean;                 /* it is the machine of rtl/lean/, which comes in one size */
};

enum soc_capture {
    SOC_CAPTURE_STALL,         /* a hart waits while its FIFO is full */
    SOC_CAPTURE_LOSSY          /* records are dropped then, and REC_LOST says how many */
};

/* Chosen at each reset. */
struct soc_setup {
    enum soc_model model;
    uint32_t bug;              /* number in rtl/zoo.def; 0: none */
    uint32_t seed;             /* of the delays */
    uint32_t delay;            /* 0 to 7: how long and frequent */
    enum soc_capture capture;
    bool visible;              /* records of stores when they become visible, too */
    bool log;                  /* keep what read_log gives, in a model with checks */
};

/* One hart, for whoever asks why it does not come to an end. */
struct soc_hart {
    bool done;
    uint32_t pc;               /* of the instruction that issues next */
    uint32_t waits;            /* WAIT_* of rtl/soc.def */
    uint32_t address;          /* of the operation it waits for; else 0 */
    uint32_t instructions;     /* retired since reset */
};

struct soc;

struct soc_interface {
    uint32_t version;          /* SOC_VERSION */
    const char *name;          /* of the model, for messages */
    struct soc_parameters parameters;

    struct soc *(*create)(const struct soc_interface *self); /* NULL: out of memory */
    void (*destroy)(struct soc *);
    /* Everything but code and memory is as new; harts start at MAP_CODE at the first step. */
    void (*reset)(struct soc *, const struct soc_setup *);
    /* Between reset and the first step. False: not all of it is in the model. `address` is in
     * bytes, `count` of 32-bit words. */
    bool (*write_code)(struct soc *, uint32_t hart, uint32_t address, const uint32_t *words,
                       uint32_t count);
    bool (*write_memory)(struct soc *, uint32_t offset, const uint32_t *words, uint32_t count);
    /* What the memory array holds, when all harts are done; lines that are dirty in a cache are
     * older there. May be NULL: then nobody looks what a test left in memory. */
    bool (*read_memory)(struct soc *, uint32_t offset, uint32_t *words, uint32_t count);
    /* At most so many cycles: returns how many were made. Less: all harts are done and the capture
     * stream is empty, the stream's buffer is full (read it), or an assertion failed. With a bug
     * chosen it goes on after an assertion, as hardware without them would. */
    uint64_t (*step)(struct soc *, uint64_t cycles);
    bool (*done)(const struct soc *);                      /* all harts, all records given out */
    uint64_t (*cycle)(const struct soc *);                 /* since reset */
    /* Takes words of the capture stream, whole records; returns how many. */
    size_t (*read_capture)(struct soc *, uint32_t *words, size_t room);
    /* The records as the harts gave them, before any FIFO: what read_capture must have given, apart
     * from the order of different harts and of REC_VISIBLE. Whole records; nothing without
     * soc_setup.log. */
    size_t (*read_log)(struct soc *, uint32_t *words, size_t room);
    uint32_t (*counter)(struct soc *, uint32_t hart, uint32_t event); /* EVENT of rtl/soc.def */
    void (*hart)(struct soc *, uint32_t hart, struct soc_hart *state);
    /* The first assertion that failed since reset: its name and place; NULL: none. */
    const char *(*assertion)(const struct soc *);
    /* Waves to an FST file from now on, until NULL is given or destroy. False: it cannot. Cycle c
     * since reset is at time 10 * c. */
    bool (*waves)(struct soc *, const char *file);
    /* Coverage so far, as Verilator writes it. False: it was built without. */
    bool (*coverage)(struct soc *, const char *file);
    /* A machine that is elsewhere: why it can no longer be reached, since the last reset; what
     * others return then is of no meaning. NULL: it can. May be NULL itself: it always can. */
    const char *(*lost)(const struct soc *);
};

#ifdef __cplusplus
}
#endif
#endif
