/* SPDX-License-Identifier: Apache-2.0 */
#include "board_firmware.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 1 << 20 };

/* Beside the program: of a build tree, or installed. */
static bool find(char path[PATH_MAX])
{
    static const char *const places[] = { "firmware", "../firmware", "../share/ordeal", NULL };
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0)
        return false;
    program[n] = '\0';
    *strrchr(program, '/') = '\0';
    for (const char *const *place = places; *place; place++)
        if (snprintf(path, PATH_MAX, "%s/%s/firmware.hex", program, *place) < PATH_MAX
            && access(path, R_OK) == 0)
            return true;
    return false;
}

/* Room doubles whenever it is full. */
static bool push(struct board_firmware *f, uint32_t word)
{
    size_t n = f->count;
    if ((n & (n - 1)) == 0) {
        uint32_t *larger = realloc(f->words, (n ? n * 2 : 1) * sizeof *larger);
        if (!larger)
            return false;
        f->words = larger;
    }
    f->words[f->count++] = word;
    return true;
}

bool board_firmware_read(struct board_firmware *f, const char *path, char *why, size_t size)
{
    char found[PATH_MAX], word[16];
    size_t line = 0;
    *f = (struct board_firmware){ 0 };
    if (!path && !find(found)) {
        snprintf(why, size, "there is no firmware.hex beside this program: 'make firmware' "
                            "builds it");
        return false;
    }
    path = path ? path : found;
    FILE *in = fopen(path, "r");
    if (!in) {
        snprintf(why, size, "%s: %s", path, strerror(errno));
        return false;
    }
    const char *wrong = NULL;
    while (!wrong && fscanf(in, "%15s", word) == 1) {
        char *end;
        unsigned long value = strtoul(word, &end, 16);
        line++;
        wrong = *end || end - word != 8   ? "not a word of 8 hex digits"
              : f->count == MOST_WORDS    ? "more words than any monitor has"
              : !push(f, (uint32_t)value) ? "out of memory"
                                          : NULL;
    }
    fclose(in);
    if (wrong) {
        snprintf(why, size, "%s:%zu: %s", path, line, wrong);
        board_firmware_free(f);
    }
    return !wrong;
}

void board_firmware_free(struct board_firmware *f)
{
    free(f->words);
    *f = (struct board_firmware){ 0 };
}
