/* SPDX-License-Identifier: Apache-2.0 */
/* The bugs of the soft-core multiprocessor (rtl/zoo.def), as `--target sim --bug` knows them. */
#ifndef HOST_ZOO_H
#define HOST_ZOO_H

#include "targets/bug_list.h"

extern const struct bug_list zoo;    /* a bug's number is that of the machine's BUG select */

#endif
