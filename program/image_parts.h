/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of image_*.c share: the image from inside. */
#ifndef PROGRAM_IMAGE_PARTS_H
#define PROGRAM_IMAGE_PARTS_H

#include "image.h"

/* More flags of an instruction. */
enum {
    IMAGE_LANDING = 8,  /* its address is somewhere: indirect jumps may come here */
    IMAGE_JOINED = 16,  /* target of a branch or JAL */
    IMAGE_TABLE = 32,   /* an indirect jump that goes to landings of its own function */
    IMAGE_POINTER = 64, /* s0 is the frame pointer here */
    IMAGE_CALLERS = 128 /* neither sp nor s0 was changed yet: the frame is the caller's */
};

/* From here on `pc` is of this row, until the next one. */
struct line_row {
    uint32_t pc, line, column;
    const char *file; /* NULL: nobody knows */
};

/* A function as debug information tells it. */
struct function {
    uint32_t begin, end;
    const char *name;
    bool pointer; /* its variables are told by their distance from s0 */
};

/* Code of a function that was put into another one, and the line that called it there. */
struct inlined {
    uint32_t begin, end, line;
    int depth; /* grows inwards */
    const char *file, *name;
};

/* A variable of a function's frame, by its distance from the frame base. */
struct frame_variable {
    uint32_t function; /* where it begins */
    int32_t offset;
    uint32_t size;
    const char *name;
};

struct image {
    char *name;
    uint8_t *bytes; /* of the file */
    size_t size;
    uint32_t entry;
    bool unoptimised; /* compiled by ordeal without optimisation: see image_frame.c */
    struct image_stacks stacks;
    bool chip; /* linked for the multiprocessor of rtl/ */

    struct segment *segment;
    size_t segments;
    uint8_t *memory; /* of all segments */

    uint32_t code_begin, code_bytes;
    struct instruction *code;
    /* By instruction: the first one of its function; a number that returns have in common with places
     * behind calls where they go. */
    uint32_t *function_of, *returns, *behind;

    struct frame_slot *slot;
    size_t slots;
    uint64_t *dead;       /* by instruction, of ... */
    uint32_t *first_slot; /* ... this one and those behind it */

    struct symbol *symbol; /* by address */
    size_t symbols;
    uint32_t *by_name;

    struct line_row *row; /* by address */
    size_t rows;
    struct function *function; /* by address */
    size_t functions;
    struct inlined *inlined;
    size_t inlines;
    struct frame_variable *variable; /* by function, then offset */
    size_t variables;
    char **text; /* names and files that debug information had */
    size_t texts;
};

/* As printf; false, so that a function can end with it. */
bool image_bad(const struct image *i, struct ordeal_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool image_no_memory(const struct image *i, struct ordeal_error *error);

/* What a word at this address is. */
struct instruction image_decode(uint32_t word, uint32_t pc);

/* Lines, functions and variables, if there is debug information; false: out of memory. */
bool image_read_debug(struct image *i, void *elf);
/* Of libelf's and libdw's: the debug information, where lack of memory ends the program with status 2. */
struct Dwarf;
struct Elf;
struct Dwarf *image_debug_open(struct Elf *elf);

/* Once code, symbols and debug information are there: where JALRs may go, what is live, cycles; then
 * which accesses are private. False: out of memory. */
bool image_analyse_flow(struct image *i);
bool image_analyse_frames(struct image *i);

bool image_is_branch(const struct instruction *in);
/* A JALR that goes back to who called. */
bool image_is_return(const struct instruction *in);
/* Where a call or jump of two instructions goes, AUIPC and the JALR at `pc`; 0: it is none. */
uint32_t image_far_target(const struct image *i, uint32_t pc);
/* The variables of the frame of the function that begins here, by offset. */
const struct frame_variable *image_variables(const struct image *i, uint32_t function,
                                             size_t *count);

#endif
