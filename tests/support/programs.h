/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for tests of the engine: sources as text to images. */
#ifndef TESTS_PROGRAMS_H
#define TESTS_PROGRAMS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "program/compile.h"
#include "unity.h"

/* The image of a source, written to this file of the current folder; fails the test if there is none. */
static inline struct image *program_image_of(const char *file, const char *source,
                                             const struct compile_request *how)
{
    struct compile_request request = *how;
    struct compiled compiled;
    struct why why = { "" };
    struct ordeal_error error = { 0 };
    struct image *image = NULL;
    FILE *out = fopen(file, "w");
    TEST_ASSERT_NOT_NULL(out);
    fputs(source, out);
    TEST_ASSERT_EQUAL(0, fclose(out));
    request.source = &file;
    request.sources = 1;
    bool good = compile_program(&request, &compiled, &why);
    TEST_ASSERT_TRUE_MESSAGE(good, compiled.messages && *compiled.messages ? compiled.messages
                                                                           : why.text);
    TEST_ASSERT_TRUE_MESSAGE(image_load(file, compiled.elf, compiled.size, &image, &error),
                             error.reason);
    compiled_free(&compiled);
    return image;
}

#endif
