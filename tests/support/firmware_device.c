/* SPDX-License-Identifier: Apache-2.0 */
/* The board in memory: its life, and what rtl/board/devices.v gives (BOARD.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware_parts.h"

struct firmware_board firmware_board_usual = {
    .window = 1024,
    .cycles = 100,
    .parameters = {
        [PARAM_HARTS] = 4, [PARAM_SETS] = 16, [PARAM_WAYS] = 2, [PARAM_LINE_BYTES] = 16,
        [PARAM_STORE_BUFFER] = 8, [PARAM_LOAD_QUEUE] = 4, [PARAM_MEMORY_BYTES] = 65536,
        [PARAM_CODE_BYTES] = 16384, [PARAM_CAPTURE] = 64,
        [PARAM_FLAGS] = FLAG_TRANSACTIONS | FLAG_BUGS | FLAG_MULDIV | FLAG_COUNTERS | FLAG_VISIBLE
            | FLAG_DELAYS | FLAG_MONITOR,
        [PARAM_MODEL] = 4, [PARAM_RAM_BYTES] = 65536, [PARAM_SERIAL] = 0xb0a2d001
    }
};

/* Whose registers firmware reaches: that whose turn it is. */
static _Thread_local struct firmware_device *current;

_Noreturn void firmware_wrong(const char *what, uint32_t offset)
{
    fprintf(stderr, "firmware %s: register 0x%03x\n", what, (unsigned)offset);
    abort();
}

static void *room(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        abort();
    }
    return p;
}

/* ---- registers ------------------------------------------------------------------------------ */

/* The word of the machine that LOAD_ADDRESS names; goes on to the next. */
static uint32_t *loaded(struct firmware_device *d)
{
    struct trial *t = &d->trial;
    uint32_t address = t->load_address, hart = address >> 27 & 15;
    uint32_t offset = (address & 0x07ffffff) / 4;
    uint32_t words = d->board.parameters[address >> 31 ? PARAM_CODE_BYTES : PARAM_MEMORY_BYTES] / 4;
    if (t->runs)
        firmware_wrong("loads while the machine runs", DEV_LOAD_DATA);
    if (offset >= words || hart >= d->board.parameters[PARAM_HARTS])
        firmware_wrong("loads what the machine does not have", DEV_LOAD_DATA);
    t->load_address = (address & 0xf8000000) | ((address + 4) & 0x07ffffff);
    return (address >> 31 ? t->code + hart * words : t->memory) + offset;
}

static uint32_t done(const struct firmware_device *d)
{
    const struct trial *t = &d->trial;
    uint32_t all = (1u << d->board.parameters[PARAM_HARTS]) - 1;
    return t->done | (t->done == all && t->taken == t->count ? 0x80000000 : 0);
}

static uint32_t crc_word(uint32_t crc, uint32_t word)
{
    crc ^= word;
    for (int i = 0; i < 32; i++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    return crc;
}

uint32_t trial_read_register(struct firmware_device *d, uint32_t offset)
{
    struct trial *t = &d->trial;
    if (offset >= DEV_PARAMETERS && offset < DEV_PARAMETERS + 64)
        return d->board.parameters[(offset - DEV_PARAMETERS) / 4];
    switch (offset) {
    case DEV_ID:            return DEV_MAGIC;
    case DEV_BUILD:         return 0x20261116;
    case DEV_CLOCK:         return 12000000;
    case DEV_TIMER:         return t->timer += 1000;
    case DEV_RUN:           return t->runs;
    case DEV_CYCLE:         return t->cycle;
    case DEV_DONE:          return done(d);
    case DEV_LOAD_DATA:     return *loaded(d);
    case DEV_CAPTURE_COUNT: return t->count - t->taken < 64 ? (uint32_t)(t->count - t->taken) : 64;
    case DEV_CAPTURE:
        if (t->taken == t->count)
            firmware_wrong("takes a word that is not there", offset);
        return t->stream[t->taken++];
    case DEV_PEEK_DATA:     return 0x5eed0000 + t->peek;
    case DEV_CRC:           return t->crc;
    case DEV_CAUSE:         return t->cause;
    }
    firmware_wrong("reads what cannot be read", offset);
}

void trial_write_register(struct firmware_device *d, uint32_t offset, uint32_t value)
{
    struct trial *t = &d->trial;
    switch (offset) {
    case DEV_SETUP:
    case DEV_SEED:
        if (t->runs)
            firmware_wrong("sets a machine up that runs", offset);
        *(offset == DEV_SETUP ? &t->setup : &t->seed) = value;
        return;
    case DEV_RUN: {
        bool starts = value & 1 && !t->runs;
        t->runs = value & 1;
        if (!t->runs || starts) {
            t->cycle = t->done = 0;
            t->count = t->taken = 0;
        }
        if (starts && d->starts)
            d->starts(d->machine, d);
        return;
    }
    case DEV_LOAD_ADDRESS:
        t->load_address = value;
        return;
    case DEV_LOAD_DATA:
        *loaded(d) = value;
        return;
    case DEV_PEEK:
        t->peek = value;
        return;
    case DEV_CRC:
        t->crc = value;
        return;
    case DEV_CRC_DATA:
        t->crc = crc_word(t->crc, value);
        return;
    case DEV_WATCHDOG:
        t->watchdog = value;
        return;
    }
    firmware_wrong("writes what cannot be written", offset);
}

static void access(uint32_t address)
{
    current->accesses++;
    if (current->watch)
        current->watch(current->watcher, current);
    if (address % 4 != 0)
        firmware_wrong("accesses what is not a word", address);
}

uint32_t register_read(uint32_t address)
{
    access(address);
    return address < BOARD_USB ? trial_read_register(current, address - BOARD_DEVICES)
                               : core_read(&current->core, address - BOARD_USB);
}

void register_write(uint32_t address, uint32_t value)
{
    access(address);
    if (address < BOARD_USB)
        trial_write_register(current, address - BOARD_DEVICES, value);
    else
        core_write(&current->core, address - BOARD_USB, value);
}

/* ---- its life ------------------------------------------------------------------------------- */

void firmware_device_restart(struct firmware_device *d, uint32_t cause)
{
    struct firmware_device *before = current;
    d->trial.cause = cause;
    current = d;
    if (d->hart) {
        firmware_hart_reset(d->hart);
        firmware_hart_turn(d->hart); /* to where it is put off for the first time, */
        firmware_hart_turn(d->hart); /* and round the loop */
    } else {
        memset(&d->firmware, 0, sizeof d->firmware);
        firmware_start(&d->firmware, d->ring, d->board.window);
    }
    current = before;
}

struct firmware_device *firmware_device_new(const struct firmware_board *board)
{
    struct firmware_device *d = room(sizeof *d);
    d->board = board ? *board : firmware_board_usual;
    d->ring = room(d->board.window * 4);
    if (d->board.elf) {
        d->hart = firmware_hart_new(d->board.elf, d->board.window);
        d->board.parameters[PARAM_RAM_BYTES] = d->hart->bytes;
    }
    d->trial.memory = room(d->board.parameters[PARAM_MEMORY_BYTES]);
    d->trial.code = room((size_t)d->board.parameters[PARAM_CODE_BYTES] * CODE_HARTS);
    firmware_device_restart(d, CAUSE_POWER);
    return d;
}

void firmware_device_free(struct firmware_device *d)
{
    if (!d)
        return;
    firmware_hart_free(d->hart);
    free(d->ring);
    free(d->trial.memory);
    free(d->trial.code);
    free(d->trial.stream);
    free(d);
}

void firmware_device_poll(struct firmware_device *d)
{
    struct firmware_device *before = current;
    current = d;
    d->core.disturbed = false;
    if (d->trial.runs) {
        d->trial.cycle += d->board.cycles;
        if (d->runs)
            d->runs(d->machine, d);
    }
    if (d->hart)
        firmware_hart_turn(d->hart);
    else
        firmware_poll(&d->firmware);
    current = before;
}

/* ---- the machine on trial ------------------------------------------------------------------- */

void firmware_device_captures(struct firmware_device *d, const uint32_t *words, size_t count)
{
    struct trial *t = &d->trial;
    if (!t->runs)
        return;
    if (t->count + count > t->room) {
        t->room = 2 * (t->count + count);
        t->stream = realloc(t->stream, t->room * sizeof *t->stream);
        if (!t->stream)
            abort();
    }
    if (count)
        memcpy(t->stream + t->count, words, count * sizeof *words);
    t->count += count;
}

void firmware_device_done(struct firmware_device *d, uint32_t harts)
{
    d->trial.done = harts;
}

void firmware_device_machine(struct firmware_device *d, firmware_device_hook *starts,
                             firmware_device_hook *runs, void *context)
{
    d->starts = starts;
    d->runs = runs;
    d->machine = context;
}

bool firmware_device_runs(const struct firmware_device *d)
{
    return d->trial.runs;
}

uint32_t firmware_device_model(const struct firmware_device *d)
{
    return d->trial.setup;
}

uint32_t firmware_device_seed(const struct firmware_device *d)
{
    return d->trial.seed;
}

uint32_t *firmware_device_memory(struct firmware_device *d)
{
    return d->trial.memory;
}

uint32_t *firmware_device_code(struct firmware_device *d, uint32_t hart)
{
    return d->trial.code + hart * (d->board.parameters[PARAM_CODE_BYTES] / 4);
}

void firmware_device_set_cycle(struct firmware_device *d, uint32_t cycle)
{
    d->trial.cycle = cycle;
}

/* ---- the rest ------------------------------------------------------------------------------- */

uint32_t firmware_device_watchdog(struct firmware_device *d)
{
    uint32_t cycles = d->trial.watchdog;
    d->trial.watchdog = 0;
    return cycles;
}

void firmware_device_watch(struct firmware_device *d, firmware_device_hook *watch, void *context)
{
    d->watch = watch;
    d->watcher = context;
}

const struct firmware_hart *firmware_device_hart(const struct firmware_device *d)
{
    return d->hart;
}

uint64_t firmware_device_accesses(const struct firmware_device *d)
{
    return d->accesses;
}
