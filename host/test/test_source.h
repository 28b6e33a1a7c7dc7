/* SPDX-License-Identifier: Apache-2.0 */
/* The tests to run, one after the other: made from a bias, or read from files.
 *
 * All of a source is one thread's: also what it gave is given back there. */
#ifndef HOST_TEST_SOURCE_H
#define HOST_TEST_SOURCE_H

#include "bias.h"

/* How the machine is to be set for a test, where it can be: struct target. */
struct test_knobs {
    const char *size; /* NULL: all in turn */
    uint32_t delay;   /* level + 1; 0: as it likes */
};

struct test_source_plan {
    const struct bias *bias;     /* of tests that are made: `count` from number `first` */
    uint64_t seed, first, count;
    struct test_knobs knobs;
    const struct test_source_plan *then; /* of another bias, after these; NULL: none */
    char *const *files;          /* else these, "-" is standard input; ends with NULL */
    bool (*stop)(void *user);    /* asked while a file is read */
    void *user;
};

struct test_source_test {
    uint64_t number;             /* of the bias; of those read from 0 */
    char name[280];              /* "test-7"; of files "sb.test", the second in it "sb.test#2" */
    const char *profile;         /* of the bias that it was drawn from; NULL: there is none */
    struct ordeal_trace *trace;
    struct test_knobs knobs;
};

struct test_source;
struct test_source *test_source_new(const struct test_source_plan *plan); /* NULL: out of memory */
void test_source_free(struct test_source *s);
/* ORDEAL_OK and a test, ORDEAL_END, or the reason in test_source_error(). */
enum ordeal_status test_source_next(struct test_source *s, struct test_source_test *test);
const struct ordeal_error *test_source_error(const struct test_source *s);
void test_source_take_back(struct test_source *s, struct test_source_test *test);

#endif
