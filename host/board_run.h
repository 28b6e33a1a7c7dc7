/* What a run on a board is, however the board is reached: when it ends, which of its words are
 * whole records, and how many cycles count.
 *
 * Harts wait while their records do not get through, and that may be the fault of the way to the
 * host. So the cycles that count, for whoever looks for harts that hang, are some for each word
 * that came, and those in which nothing was on its way. */
#ifndef HOST_BOARD_RUN_H
#define HOST_BOARD_RUN_H

#include "soc.h"
#include "target.h"

enum { LONGEST_RECORD = 5, BOARD_EVENTS = 46 };

struct board_run {
    bool started, done;
    uint64_t cycle;
    uint64_t looked;            /* cycle of the last look, if `quiet` since then */
    bool quiet;
    uint32_t last_record;       /* cycle of the latest that was given on */
    uint32_t partial[LONGEST_RECORD]; /* of a record whose rest has not come */
    size_t partial_words;
};

/* So many words came; or none, and at this cycle, with none on their way either. */
void run_came(struct board_run *r, size_t words);
void run_rested(struct board_run *r, uint64_t cycle, bool on_the_way);
uint64_t run_cycle(const struct board_run *r);
/* For read_capture: what was left over last time goes to the front of `words`: how many. Then of
 * all that is there now the whole records: how many words that are; the rest is kept. */
size_t run_left_over(struct board_run *r, uint32_t *words);
size_t run_records(struct board_run *r, const uint32_t *words, size_t count);

/* The words of DEV_PARAMETERS, none of which is believed. False: `why`. */
bool run_parameters(const uint32_t parameters[16], struct soc_parameters *has, struct why *why);
/* The word of DEV_SETUP; that of DEV_LOAD_ADDRESS. */
uint32_t run_setup(const struct soc_setup *setup);
uint32_t run_code_address(uint32_t hart, uint32_t address);
/* Are so many words there? */
bool run_within(uint32_t bytes, uint32_t offset, uint32_t count);

#endif
