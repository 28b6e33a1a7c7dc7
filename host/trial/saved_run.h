/* SPDX-License-Identifier: Apache-2.0 */
/* How the test of a kept folder is run again, as data: the folder's file run.txt (FOLDER.md) and the
 * words of its script are made of it. What is read from a file is checked: nothing in it names a
 * program, a file or a place on a network. */
#ifndef HOST_SAVED_RUN_H
#define HOST_SAVED_RUN_H

#include <stdio.h>

#include "targets/target.h"

/* A name in the folder; in the words of a run it stands for that file. */
#define SAVED_TEST "test.test"

enum { SAVED_RUN_VERSION = 1, SAVED_RUN_BYTES = 4096 };

struct saved_run {
    const struct target *target;
    struct target_options how; /* the machine: its model, its seed, the options of the table */
    enum ordeal_model against; /* what it is checked for */
    uint64_t first_iteration, iterations;
    const char
        *program; /* not SAVED_TEST, but a program by this name in the folder; NULL: that test */
    char text[SAVED_RUN_BYTES]; /* of what was read */
};

bool saved_run_write(const struct saved_run *r, FILE *out);
/* False: `e` has the reason, the line, and what is expected there. What the user has to name again is
 * in r->how as target_option_missing() tells. */
bool saved_run_read(struct saved_run *r, FILE *in, const char *name, struct ordeal_error *e);

/* The words of a command line, after the program's name: "run", "--target", …, SAVED_TEST. */
enum { MOST_RUN_WORDS = MOST_OPTION_WORDS + 24 };
struct saved_run_words {
    const char *word[MOST_RUN_WORDS + 1]; /* ends with NULL */
    size_t count;
    struct target_option_words options;
    char numbers[3][24];
};
void saved_run_words(const struct saved_run *r, struct saved_run_words *w);
/* As a word of the shell, whatever is in it. */
void saved_run_quote(const char *word, FILE *out);

#endif
