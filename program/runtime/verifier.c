/* SPDX-License-Identifier: Apache-2.0 */
/* The nondeterministic values of SV-COMP: each draws from what its type can hold and the engine's
 * options allow. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "calls.h"

#define NONDET(type, name, low, high) \
    WEAK type __VERIFIER_nondet_##name(void) \
    { \
        return (type)ordeal_call2(ORDEAL_NONDET, low, high); \
    }

NONDET(bool, bool, 0, 1)
NONDET(bool, _Bool, 0, 1)
NONDET(char, char, CHAR_MIN, CHAR_MAX)
NONDET(signed char, schar, SCHAR_MIN, SCHAR_MAX)
NONDET(unsigned char, uchar, 0, UCHAR_MAX)
NONDET(unsigned char, u8, 0, UCHAR_MAX)
NONDET(short, short, SHRT_MIN, SHRT_MAX)
NONDET(unsigned short, ushort, 0, USHRT_MAX)
NONDET(unsigned short, u16, 0, USHRT_MAX)
NONDET(int, int, INT_MIN, INT_MAX)
NONDET(unsigned, uint, 0, INT_MAX)
NONDET(unsigned, unsigned, 0, INT_MAX)
NONDET(unsigned, u32, 0, INT_MAX)
NONDET(long, long, INT_MIN, INT_MAX)
NONDET(unsigned long, ulong, 0, INT_MAX)
NONDET(unsigned long, unsigned_long, 0, INT_MAX)
NONDET(long long, longlong, INT_MIN, INT_MAX)
NONDET(unsigned long long, ulonglong, 0, INT_MAX)
NONDET(size_t, size_t, 0, INT_MAX)
NONDET(float, float, INT_MIN, INT_MAX)
NONDET(double, double, INT_MIN, INT_MAX)

WEAK void __VERIFIER_assert(int condition)
{
    if (!condition)
        ordeal_call0(ORDEAL_REACH_ERROR);
}
