/* SPDX-License-Identifier: Apache-2.0 */
/* The machine on a board behind the interface of sim/soc.h, however the board is reached: what runs
 * tests on a model runs them on a board in the same way.
 *
 * Harts wait while their records do not get through, and that may be the fault of the way to the
 * host. So the cycles that count, for whoever looks for harts that hang, are some for each word
 * that came, and those in which nothing was on its way. */
#ifndef HOST_BOARD_SOC_H
#define HOST_BOARD_SOC_H

#include "soc.h"
#include "targets/soc/soc_numbers.h"
#include "targets/target.h"

/* What became of the stream meanwhile. */
struct board_news {
    size_t words;               /* that came */
    bool ended;                 /* nothing follows */
    /* If neither: */
    uint64_t cycle;
    bool on_the_way;            /* words are, all the same */
};

/* A way to a board: what can be asked of it. Numbers are those of rtl/board/board.def. Once the
 * board is lost nothing is asked of it until the next reset, and nothing is read. */
struct board_way {
    void (*reset)(void *board, uint32_t setup, uint32_t seed);   /* DEV_SETUP, DEV_SEED */
    void (*write)(void *board, uint32_t address, const uint32_t *words, uint32_t count);
    void (*read)(void *board, uint32_t address, uint32_t *words, uint32_t count); /* in reset */
    void (*run)(void *board);
    void (*stop)(void *board); /* into reset */
    /* The board runs by itself: waits until the stream ends, rests, or has brought plenty. */
    struct board_news (*wait)(void *board);
    size_t (*take)(void *board, uint32_t *words, size_t room);   /* of the stream: how many */
    /* So many numbers of DEV_PEEK, from `first` on, all of them events or none. */
    void (*peek)(void *board, uint32_t hart, uint32_t first, uint32_t *words, uint32_t count);
    const char *(*lost)(const void *board);                      /* why; NULL: it is not */
};

/* Part of a board, which can be made a machine of once at a time. */
struct soc {
    struct soc_interface interface; /* the first member, by which create() finds the others */
    const struct board_way *way;
    void *board;
    bool created;
    struct board_run {              /* since the last reset */
        bool started, done, stopped;
        uint64_t cycle;
        uint64_t looked;            /* cycle of the last look, if `quiet` since then */
        bool quiet;
        uint32_t last_record;       /* cycle of the latest that was given on */
        uint32_t partial[SOC_LONGEST_RECORD]; /* of a record whose rest has not come */
        size_t partial_words;
        uint32_t counted; /* harts, a bit each, whose counters are known: it is done */
    } run;
    uint32_t counters[16][SOC_EVENTS];
};

/* With the words of DEV_PARAMETERS, none of which is believed. False: `why`. */
bool board_soc_init(struct soc *s, const struct board_way *way, void *board, const char *name,
                    const uint32_t parameters[16], struct why *why);

#endif
