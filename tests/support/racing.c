/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs for several harts that race. */
#include <stdio.h>
#include <string.h>

#include "machines.h"
#include "racing.h"
#include "unity.h"

enum { BARRIERS = 0x8000, CYCLES = 2000000 };

struct rig racing;
uint32_t racing_harts;
char racing_context[256];

static struct rig_code code;

void racing_open(uint32_t number)
{
    rig_open(&racing, machine(number));
    racing_harts = racing.soc->parameters.harts;
}

void racing_close(void)
{
    if (racing.soc)
        rig_close(&racing);
}

void racing_run(void (*body)(uint32_t hart, uint32_t k), uint32_t k, const struct soc_setup *setup)
{
    rig_reset(&racing, setup, (BARRIERS + 4096) / 4);
    for (uint32_t h = 0; h < racing_harts; h++) {
        code.count = 0;
        racing_set(S10, MAP_MEMORY);
        racing_set(S9, 1);
        body(h, k);
        racing_emit(rv_done());
        rig_load(&racing, h, &code);
    }
    rig_run(&racing, CYCLES);
}

void racing_race(uint32_t number, uint32_t models, uint32_t offsets,
                 void (*body)(uint32_t hart, uint32_t k), void (*check)(uint32_t k),
                 const uint32_t *events)
{
    uint64_t happened[RIG_EVENTS] = { 0 };
    racing_open(number);
    for (uint32_t model = SOC_SC; model <= SOC_RMO; model++)
        for (uint32_t k = 0; k < offsets && (models >> model & 1); k++) {
            const struct soc_setup setup = { .model = model, .seed = 77 + k, .delay = k % 4 * 2 };
            snprintf(racing_context, sizeof racing_context, "%s, model %u, offset %u",
                     racing.soc->name, model, k);
            racing_run(body, k, &setup);
            check(k);
            for (uint32_t e = 0; e < RIG_EVENTS; e++)
                happened[e] += rig_counters(&racing, e);
        }
    for (; *events < RIG_EVENTS; events++)
        TEST_ASSERT_TRUE_MESSAGE(happened[*events] > 0, rig_event_name[*events]);
    racing_close();
}

void racing_expect(uint32_t hart, uint32_t mark, uint32_t value)
{
    char message[300];
    snprintf(message, sizeof message, "hart %u, mark %u; %s", hart, mark, racing_context);
    TEST_ASSERT_EQUAL_UINT32_MESSAGE(value, rig_mark(&racing, hart, mark), message);
}

/* ---- parts of programs ---------------------------------------------------------------------- */

void racing_emit(uint32_t word) { rig_emit(&code, word); }
void racing_set(uint32_t rd, uint32_t value) { rig_li(&code, rd, value); }
uint32_t racing_here(void) { return code.count; }
int32_t racing_at(uint32_t line, uint32_t word) { return (int32_t)(RACING_LINE * line + 4 * word); }

void racing_address(uint32_t rd, uint32_t line, uint32_t word)
{
    racing_emit(rv_addi(rd, S10, racing_at(line, word)));
}

void racing_jump_back(uint32_t branch, uint32_t to)
{
    racing_emit(branch | rv_b(4 * ((int32_t)to - (int32_t)code.count), 0, 0, 0, 0));
}

void racing_meet(uint32_t n)
{
    racing_set(T3, MAP_UNCACHED + BARRIERS + 4 * n);
    racing_set(T4, racing_harts);
    racing_emit(rv_fence(15, 15));
    racing_emit(rv_amoadd(ZERO, S9, T3));
    racing_emit(rv_lw(T5, T3, 0));
    racing_emit(rv_bne(T5, T4, -4));
}

void racing_nap(uint32_t turns)
{
    if (turns == 0)
        return;
    racing_set(T3, turns);
    racing_emit(rv_addi(T3, T3, -1));
    racing_emit(rv_bne(T3, ZERO, -4));
}

void racing_store(uint32_t line, uint32_t word, uint32_t value)
{
    racing_set(A0, value);
    racing_emit(rv_sw(A0, S10, racing_at(line, word)));
}

void racing_load(uint32_t line, uint32_t word)
{
    racing_emit(rv_lw(A1, S10, racing_at(line, word)));
    racing_emit(rv_mark(A1));
}

uint32_t racing_loop(uint32_t counter, uint32_t turns)
{
    racing_set(counter, turns);
    return racing_here();
}

void racing_again(uint32_t counter, uint32_t top)
{
    racing_emit(rv_addi(counter, counter, -1));
    racing_jump_back(rv_bne(counter, ZERO, 0), top);
}
