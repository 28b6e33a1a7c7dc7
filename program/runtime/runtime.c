/* SPDX-License-Identifier: Apache-2.0 */
/* The run-time of C as one file, which is compiled in one go. */
#include "atomic.c"
#include "memory.c"
#include "print.c"
#include "start.c"
#include "string.c"
#include "threads.c"
#include "verifier.c"
