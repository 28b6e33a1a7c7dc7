/* SPDX-License-Identifier: Apache-2.0 */
/* What rtl/board/devices.v gives, as functions: the machine on trial, its loader and its capture,
 * timer and watchdog. */
#ifndef FIRMWARE_TRIAL_DRIVER_H
#define FIRMWARE_TRIAL_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

uint32_t trial_build(void);
uint32_t trial_clock(void);
uint32_t trial_timer(void);
uint32_t trial_cause(void);
uint32_t trial_parameter(uint32_t which);          /* PARAM_* */

void trial_reset(uint32_t setup, uint32_t seed);
void trial_run(bool run);
uint32_t trial_cycle(void);
uint32_t trial_harts_done(void);                   /* one bit each */
bool trial_is_done(void);                          /* all of them, and all records are gone */
void trial_load(uint32_t address, const uint32_t *words, uint32_t count);
void trial_read(uint32_t address, uint32_t *words, uint32_t count);
uint32_t trial_peek(uint32_t hart, uint32_t which); /* the number of an EVENT, or SOC_PEEK_* */

/* Words of the capture stream that wait; takes so many of them. */
uint32_t trial_captured(void);
void trial_capture(uint32_t *to, uint32_t words);

void trial_watchdog(uint32_t cycles);

#endif
