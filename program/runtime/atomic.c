/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics that the machine has no instructions for: of 64 bits, and of any other size. Each is one step
 * of the engine, and so sequentially consistent whatever order was asked for. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "calls.h"

static void begin(void) { ordeal_call0(ORDEAL_ATOMIC_BEGIN); }
static void end(void) { ordeal_call0(ORDEAL_ATOMIC_END); }

/* Compilers know these names, and would not have them defined. */
#define LIBRARY(name) __asm__("__atomic_" #name) WEAK

uint64_t load_8(const volatile uint64_t *from, int order) LIBRARY(load_8);
uint64_t load_8(const volatile uint64_t *from, int order)
{
    (void)order;
    begin();
    uint64_t value = *from;
    end();
    return value;
}

/* What each does to the value that was there, `old`. */
#define CHANGE(name, result, expression) \
    uint64_t name(volatile uint64_t *at, uint64_t value, int order) LIBRARY(name); \
    uint64_t name(volatile uint64_t *at, uint64_t value, int order) \
    { \
        (void)order; \
        begin(); \
        uint64_t old = *at; \
        *at = expression; \
        end(); \
        return result; \
    }
CHANGE(exchange_8, old, value)
CHANGE(fetch_add_8, old, old + value)
CHANGE(fetch_sub_8, old, old - value)
CHANGE(fetch_and_8, old, old &value)
CHANGE(fetch_or_8, old, old | value)
CHANGE(fetch_xor_8, old, old ^ value)
CHANGE(fetch_nand_8, old, ~(old &value))

void store_8(volatile uint64_t *at, uint64_t value, int order) LIBRARY(store_8);
void store_8(volatile uint64_t *at, uint64_t value, int order)
{
    (void)order;
    begin();
    *at = value;
    end();
}

bool compare_exchange_8(volatile uint64_t *at, uint64_t *expected, uint64_t wanted, int order,
                        int failed) LIBRARY(compare_exchange_8);
bool compare_exchange_8(volatile uint64_t *at, uint64_t *expected, uint64_t wanted, int order,
                        int failed)
{
    (void)order, (void)failed;
    begin();
    uint64_t old = *at;
    bool same = old == *expected;
    if (same)
        *at = wanted;
    end();
    if (!same)
        *expected = old;
    return same;
}

bool is_lock_free(size_t size, const volatile void *at) LIBRARY(is_lock_free);
bool is_lock_free(size_t size, const volatile void *at)
{
    return size <= 4 && (size & (size - 1)) == 0 && (uintptr_t)at % size == 0;
}

/* ---- of any size ----------------------------------------------------------------------------- */

void load_any(size_t size, const void *from, void *to, int order) LIBRARY(load);
void load_any(size_t size, const void *from, void *to, int order)
{
    (void)order;
    begin();
    memcpy(to, from, size);
    end();
}

void store_any(size_t size, void *to, const void *from, int order) LIBRARY(store);
void store_any(size_t size, void *to, const void *from, int order)
{
    (void)order;
    begin();
    memcpy(to, from, size);
    end();
}

void exchange_any(size_t size, void *at, const void *value, void *old, int order) LIBRARY(exchange);
void exchange_any(size_t size, void *at, const void *value, void *old, int order)
{
    (void)order;
    begin();
    memcpy(old, at, size);
    memcpy(at, value, size);
    end();
}

bool compare_exchange_any(size_t size, void *at, void *expected, const void *wanted, int order,
                          int failed) LIBRARY(compare_exchange);
bool compare_exchange_any(size_t size, void *at, void *expected, const void *wanted, int order,
                          int failed)
{
    (void)order, (void)failed;
    begin();
    bool same = memcmp(at, expected, size) == 0;
    memcpy(same ? at : expected, same ? wanted : at, size);
    end();
    return same;
}
