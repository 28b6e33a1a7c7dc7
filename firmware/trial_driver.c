/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of rtl/board/devices.v: see trial_driver.h. */
#include "trial_driver.h"
#include "registers.h"

static uint32_t get(uint32_t offset)
{
    return register_read(BOARD_DEVICES + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    register_write(BOARD_DEVICES + offset, value);
}

uint32_t trial_build(void)
{
    return get(DEV_BUILD);
}

uint32_t trial_clock(void)
{
    return get(DEV_CLOCK);
}

uint32_t trial_timer(void)
{
    return get(DEV_TIMER);
}

uint32_t trial_cause(void)
{
    return get(DEV_CAUSE);
}

uint32_t trial_parameter(uint32_t which)
{
    return get(DEV_PARAMETERS + 4 * which);
}

void trial_reset(uint32_t setup, uint32_t seed)
{
    trial_run(false);
    set(DEV_SETUP, setup);
    set(DEV_SEED, seed);
}

void trial_run(bool run)
{
    set(DEV_RUN, FIELD_PUT(DEV_RUN_HARTS, run));
}

uint32_t trial_cycle(void)
{
    return get(DEV_CYCLE);
}

uint32_t trial_harts_done(void)
{
    return FIELD_GET(get(DEV_DONE), DEV_DONE_HARTS);
}

bool trial_is_done(void)
{
    return get(DEV_DONE) & DEV_DONE_ALL;
}

void trial_load(uint32_t address, const uint32_t *words, uint32_t count)
{
    set(DEV_LOAD_ADDRESS, address);
    for (; count; count--)
        set(DEV_LOAD_DATA, *words++);
}

void trial_read(uint32_t address, uint32_t *words, uint32_t count)
{
    set(DEV_LOAD_ADDRESS, address);
    for (; count; count--)
        *words++ = get(DEV_LOAD_DATA);
}

uint32_t trial_peek(uint32_t hart, uint32_t which)
{
    set(DEV_PEEK, FIELD_PUT(DEV_PEEK_HART, hart) | FIELD_PUT(DEV_PEEK_WHAT, which));
    return get(DEV_PEEK_DATA);
}

uint32_t trial_captured(void)
{
    return get(DEV_CAPTURE_COUNT);
}

void trial_capture(uint32_t *to, uint32_t words)
{
    for (; words >= 4; words -= 4, to += 4) {
        uint32_t a = get(DEV_CAPTURE), b = get(DEV_CAPTURE);
        uint32_t c = get(DEV_CAPTURE), d = get(DEV_CAPTURE);
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
    }
    for (; words; words--)
        *to++ = get(DEV_CAPTURE);
}

void trial_watchdog(uint32_t cycles)
{
    set(DEV_WATCHDOG, cycles);
}
