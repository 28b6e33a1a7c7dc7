/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of compile*.c share. */
#ifndef HOST_PROGRAM_COMPILE_PARTS_H
#define HOST_PROGRAM_COMPILE_PARTS_H

#include <limits.h>
#include <stdio.h>

#include "base/temporary.h"
#include "compile.h"

/* What one compilation works with. */
struct work {
    const struct compile_request *request;
    struct temporary folder;
    char runtime[PATH_MAX];       /* sources of the run-time */
    char objects[PATH_MAX];       /* the folder with those of its objects that are made */
    char headers[PATH_MAX];       /* of the C library, and ... */
    char helpers[PATH_MAX];       /* ... what compilers call for 64 bits and floating point */
    char library[PATH_MAX];       /* headers of C++; "": not needed */
    char compiler[PATH_MAX + 64]; /* tells one from another */
    FILE *messages;
    bool stopped;
    bool explained; /* a reason better than that of the linker is there */
    struct why *why;
};

enum { COMMAND_WORDS = 256 };
struct command_words {
    char *word[COMMAND_WORDS + 1];
    size_t count;
    bool bad; /* out of memory, or there were too many */
};
void command_add(struct command_words *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void command_add_all(struct command_words *w, const char *const *words); /* up to NULL */
void command_free(struct command_words *w);
/* clang, for this machine and with these headers. */
void command_clang(struct command_words *words, const struct work *w, bool cpp);

bool compile_is_cpp(const char *name);

/* Where everything is; false: why not, and what to install. */
bool compile_find(struct work *w);

/* Runs it, and frees the words; what it says lands in NAME.log of the folder, and is passed on if `tell`.
 * True: it ended well. */
bool compile_run(struct work *w, struct command_words *words, const char *name, bool tell);

/* The objects of the run-time, which are made once for a user. */
bool compile_runtime(struct work *w);

bool compile_link(struct work *w, const char *stubs, const char *output, bool tell);
bool compile_read(struct work *w, const char *path, uint8_t **bytes, size_t *size);
/* After a link that failed: who calls what nobody has. Always false. */
bool compile_explain(struct work *w);

#endif
