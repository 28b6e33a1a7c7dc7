/* SPDX-License-Identifier: Apache-2.0 */
/* What a program of examples/programs/ says must be found of it, in lines of its first comment:
 *
 *     expect: sc PASS; tso pso FAIL exclusion; pslo FAIL freed assertion
 *     expect FENCED THREADS=3: sc tso pso pslo PASS
 *
 * After "expect" come the defines that it is compiled with; of several errors any will do. */
#ifndef TESTS_EXPECTATION_H
#define TESTS_EXPECTATION_H

#include <stdbool.h>

#include "explore.h"

enum { EXPECTED_DEFINES = 6, EXPECTED_LINES = 8, EXPECTED_LENGTH = 160 };

struct expectation {
    char text[EXPECTED_LENGTH], defines_text[EXPECTED_LENGTH]; /* the latter with 0 between them */
    const char *define[EXPECTED_DEFINES];
    unsigned defines;
    struct expected {
        bool told, pass;
        char errors[64]; /* " exclusion deadlock " */
    } model[EXPLORE_MODELS];
};

struct expectations {
    unsigned lines;
    struct expectation line[EXPECTED_LINES];
};

/* NULL: there are some; else what is wrong with the file. */
const char *expectations_read(const char *path, struct expectations *e);
bool expected_error(const struct expected *e, const char *error);

#endif
