/* SPDX-License-Identifier: Apache-2.0 */
/* How a program begins and ends, around its main. */
#include <stdbool.h>
#include <stdlib.h>

#include "calls.h"

extern void (*__init_array_start[])(void), (*__init_array_end[])(void);
extern void (*__fini_array_start[])(void), (*__fini_array_end[])(void);

WEAK void __ordeal_begin(void)
{
    for (void (**f)(void) = __init_array_start; f < __init_array_end; f++)
        (*f)();
}

/* ---- the end -------------------------------------------------------------------------------- */

enum { HANDLERS = 64 };
static struct handler {
    void (*function)(void *);
    void *argument;
} handler[HANDLERS];
static int handlers;

WEAK int __cxa_atexit(void (*function)(void *), void *argument, void *object)
{
    (void)object;
    if (handlers == HANDLERS)
        return -1;
    handler[handlers++] = (struct handler){ function, argument };
    return 0;
}

static void call_plain(void *function) { ((void (*)(void))function)(); }

WEAK int atexit(void (*function)(void)) { return __cxa_atexit(call_plain, (void *)function, 0); }

WEAK void exit(int status)
{
    while (handlers > 0) {
        handlers--;
        handler[handlers].function(handler[handlers].argument);
    }
    for (void (**f)(void) = __fini_array_end; f > __fini_array_start;)
        (*--f)();
    _Exit(status);
}

static int error_number;
WEAK int *__errno_location(void) { return &error_number; }
