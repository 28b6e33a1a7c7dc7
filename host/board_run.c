#include "board_run.h"

#include <stdio.h>
#include <string.h>

#include "board_numbers.h"
#include "sim_numbers.h"

enum { FAIR = 64 };             /* cycles that a word of the stream may take */

void run_came(struct board_run *r, size_t words)
{
    r->cycle += words * FAIR;
    r->quiet = false;
}

void run_rested(struct board_run *r, uint64_t cycle, bool on_the_way)
{
    if (r->quiet && !on_the_way && cycle > r->looked)
        r->cycle += cycle - r->looked;
    r->quiet = !on_the_way;
    r->looked = cycle;
}

uint64_t run_cycle(const struct board_run *r) { return r->done ? r->last_record : r->cycle; }

/* As in sim/soc.cpp: by what soc.def says. */
static size_t record_words(uint32_t head)
{
    switch (head & 0xf) {
    case SOC_REC_LOAD: case SOC_REC_STORE: case SOC_REC_LR: case SOC_REC_VISIBLE: return 4;
    case SOC_REC_ATOMIC: case SOC_REC_SC: return 5;
    case SOC_REC_FENCE: case SOC_REC_HINT: case SOC_REC_TX_ABORT: case SOC_REC_MARK:
    case SOC_REC_LOST: return 3;
    default: return 2;
    }
}

size_t run_left_over(struct board_run *r, uint32_t *words)
{
    memcpy(words, r->partial, r->partial_words * sizeof *words);
    return r->partial_words;
}

size_t run_records(struct board_run *r, const uint32_t *words, size_t count)
{
    size_t whole = 0, length;
    while (whole < count && (length = record_words(words[whole])) <= count - whole) {
        r->last_record = words[whole + 1];
        whole += length;
    }
    r->partial_words = count - whole;
    memcpy(r->partial, words + whole, r->partial_words * sizeof *words);
    return whole;
}

bool run_parameters(const uint32_t p[16], struct soc_parameters *has, struct why *why)
{
    uint32_t flags = p[BOARD_PARAM_FLAGS];
    *has = (struct soc_parameters){
        .harts = p[BOARD_PARAM_HARTS], .sets = p[BOARD_PARAM_SETS], .ways = p[BOARD_PARAM_WAYS],
        .line_bytes = p[BOARD_PARAM_LINE_BYTES], .store_buffer = p[BOARD_PARAM_STORE_BUFFER],
        .load_queue = p[BOARD_PARAM_LOAD_QUEUE], .memory_bytes = p[BOARD_PARAM_MEMORY_BYTES],
        .code_bytes = p[BOARD_PARAM_CODE_BYTES], .capture = p[BOARD_PARAM_CAPTURE],
        .transactions = flags & BOARD_FLAG_TRANSACTIONS, .bugs = flags & BOARD_FLAG_BUGS
    };
    if (has->harts >= 1 && has->harts <= 16 && has->memory_bytes && has->memory_bytes % 4 == 0
        && has->memory_bytes < 1u << 27 && has->code_bytes && has->code_bytes % 4 == 0
        && has->code_bytes < 1u << 27)
        return true;
    snprintf(why->text, sizeof why->text, "the board says that its machine has %u harts, %u bytes "
             "of memory and %u of code: that cannot be", has->harts, has->memory_bytes,
             has->code_bytes);
    return false;
}

uint32_t run_setup(const struct soc_setup *setup)
{
    return (uint32_t)setup->model | setup->bug << 8 | setup->delay << 16
           | (uint32_t)(setup->capture == SOC_CAPTURE_LOSSY) << 24 | (uint32_t)setup->visible << 25;
}

uint32_t run_code_address(uint32_t hart, uint32_t address)
{
    return UINT32_C(1) << 31 | hart << 27 | address;
}

bool run_within(uint32_t bytes, uint32_t offset, uint32_t count)
{
    return offset % 4 == 0 && offset <= bytes && count <= (bytes - offset) / 4;
}
