/* SPDX-License-Identifier: Apache-2.0 */
/* How every program of ours begins, whatever it was started with: with three standard streams, and
 * with signals that end nothing in the middle of a write. */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include <stdbool.h>

/* The first thing that main does.
 *
 * A standard stream that is closed becomes /dev/null, opened the wrong way round: no file that is
 * opened later takes its number, and who reads or writes it gets EBADF, so that a result that has
 * nowhere to go is an error and one that nobody asked for is not. A closed pipe (SIGPIPE) and a file
 * that may not grow (SIGXFSZ, of `ulimit -f`) are errors of write like any other. Children that
 * ended can be waited for even if whoever started us ignores theirs.
 *
 * Returns 0, or an errno: a stream is closed and there is no /dev/null. */
int process_begin(void);

/* The last thing that main does: what was printed is written. Returns NULL, or a sentence: some of it
 * is lost. Where nothing was printed nothing is, whatever standard output is. */
const char *process_end(void);

/* In a handler of `signal`: is it a request of its own, or does it come so soon behind the last one
 * that it is the same? timeout(1) signals the program it started and then, at once, its group, so
 * that a second signal which ends everything in the middle would have come with the first. */
bool process_asked_anew(int signal);

/* In a child, before exec: other programs expect the usual signals. Safe after fork. */
void process_restore_signals(void);

#endif
