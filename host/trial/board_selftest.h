/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test of a board on USB: requests and their answers, the stream, and the machine on
 * trial. */
#ifndef HOST_BOARD_SELFTEST_H
#define HOST_BOARD_SELFTEST_H

#include "targets/board/board_machine.h"

struct selftest_result {
    const char *part;           /* "echo", "stream", "capture", "link" */
    bool good;
    char text[256];             /* figures, as key=value */
    char reason[1024];          /* if it is not good */
};

enum { SELFTEST_PARTS = 4 };
/* All parts, in order; each is told when it is known. False: ^C, or one was not good. */
bool board_selftest(struct board_machine *b, uint32_t stream_words,
                    void (*tell)(void *user, const struct selftest_result *result), void *user);

#endif
