/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the C library's header; the variable is one for all threads, and nothing of the
 * run-time sets it. */
#define __PICOLIBC_ERRNO_FUNCTION __errno_location
#include_next <errno.h>
