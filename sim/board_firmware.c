/* SPDX-License-Identifier: Apache-2.0 */
#include "board_firmware.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

bool board_firmware_read(struct board_firmware *f, const char *path, char *why, size_t size)
{
    char found[PATH_MAX], word[16];
    size_t room = 0;
    int line = 0;
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
    bool good = true;
    while (good && fscanf(in, "%15s", word) == 1) {
        char *end;
        unsigned long value = strtoul(word, &end, 16);
        line++;
        good = !*end && end - word == 8;
        if (!good) {
            snprintf(why, size, "%s:%d: '%s' is not a word of 8 hex digits", path, line, word);
            break;
        }
        if (f->count == room) {
            room = room ? room * 2 : 1024;
            f->words = realloc(f->words, room * sizeof *f->words);
            if (!f->words)
                abort();
        }
        f->words[f->count++] = (uint32_t)value;
    }
    fclose(in);
    if (!good)
        board_firmware_free(f);
    return good;
}

void board_firmware_free(struct board_firmware *f)
{
    free(f->words);
    *f = (struct board_firmware){ 0 };
}
