/* SPDX-License-Identifier: Apache-2.0 */
/* A program as somebody names it, sources or an ELF file, to an image that can be explored. */
#ifndef HOST_PROGRAM_PROGRAM_FILE_H
#define HOST_PROGRAM_PROGRAM_FILE_H

#include "base/error.h"
#include "compile.h"
#include "image.h"

struct program_file {
    struct image *image;
    uint8_t *elf;
    size_t size;
    char *messages; /* of the compiler, also after a failure; NULL: none */
};

/* All of the request's sources, or the one ELF file that it has instead. False: error; to be freed
 * in either case. */
bool program_file_load(struct program_file *p, const struct compile_request *request,
                       struct ordeal_error *error);
void program_file_free(struct program_file *p);

#endif
