/* SPDX-License-Identifier: Apache-2.0 */
/* The tests to run, one after the other: made from a bias, or read from files.
 *
 * All of a source is one thread's: also what it gave is given back there. */
#ifndef HOST_TEST_SOURCE_H
#define HOST_TEST_SOURCE_H

#include "bias.h"

struct source_plan {
    const struct bias *bias;     /* of tests that are made: `count` from number `first` */
    uint64_t seed, first, count;
    char *const *files;          /* else these, "-" is standard input; ends with NULL */
    bool (*stop)(void *user);    /* asked while a file is read */
    void *user;
};

struct source_test {
    uint64_t number;             /* of the bias; of those read from 0 */
    char name[280];              /* "test-7"; of files "sb.test", the second in it "sb.test#2" */
    struct ordeal_trace *trace;
};

struct source;
struct source *source_new(const struct source_plan *plan);   /* NULL: out of memory */
void source_free(struct source *s);
/* ORDEAL_OK and a test, ORDEAL_END, or the reason in source_error(). */
enum ordeal_status source_next(struct source *s, struct source_test *test);
const struct ordeal_error *source_error(const struct source *s);
void source_take_back(struct source *s, struct source_test *test);

#endif
