/* SPDX-License-Identifier: Apache-2.0 */
#include "stamp.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wordexp.h>

/* FNV-1a, by words: a campaign of short runs reads a few megabytes for each. */
static uint64_t sum_bytes(uint64_t sum, const char *bytes, size_t size)
{
    uint64_t word = 0;
    for (; size; bytes += sizeof word, size -= sizeof word) {
        size_t some = size < sizeof word ? size : sizeof word;
        word = 0;
        memcpy(&word, bytes, some);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 29;
        if (some < sizeof word)
            break;
    }
    return sum;
}

/* With its name and length, so that what moves from one file to the next is seen. */
static bool sum_file(uint64_t *sum, const char *file)
{
    static _Thread_local char buffer[1 << 16];
    const char *name = strrchr(file, '/');
    FILE *f = fopen(file, "re");
    uint64_t length = 0;
    if (!f)
        return false;
    setvbuf(f, NULL, _IONBF, 0);
    *sum = sum_bytes(*sum, name ? name : file, strlen(name ? name : file));
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0; length += n)
        *sum = sum_bytes(*sum, buffer, n);
    *sum = sum_bytes(*sum, (const char *)&length, sizeof length);
    bool good = !ferror(f);
    fclose(f);
    return good;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void sum_folder(uint64_t *sum, char *folder)
{
    char *roots[] = { folder, NULL };
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *entry; walk && (entry = fts_read(walk));)
        if (entry->fts_info == FTS_F)
            sum_file(sum, entry->fts_path);
    if (walk)
        fts_close(walk);
}

/* Where its machines may lie, seen from the program, and what the script there makes them of. */
static void sum_machines(uint64_t *sum, const char *home)
{
    static const char *const places[] = { "sim", "../sim", "../lib/ordeal", "../share/ordeal/sim" };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[PATH_MAX + 64], script[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", home, places[i]);
        sum_folder(sum, path);
        snprintf(path, sizeof path, "%s/%s/build", home, places[i]);
        if (!realpath(path, script))
            continue;
        *strrchr(script, '/') = '\0';
        sum_folder(sum, script);
        snprintf(path, sizeof path, "%s/../rtl", script);
        sum_folder(sum, path);
    }
}

static bool is_file(const char *name)
{
    struct stat s;
    return stat(name, &s) == 0 && S_ISREG(s.st_mode);
}

/* "--bias a.bias" and "--bias=a.bias". */
static void sum_named(uint64_t *sum, const char *command)
{
    wordexp_t words;
    if (wordexp(command, &words, WRDE_NOCMD) != 0)
        return;
    for (size_t i = 0; i < words.we_wordc; i++) {
        const char *word = words.we_wordv[i], *value = strchr(word, '=');
        if (is_file(word))
            sum_file(sum, word);
        else if (value && is_file(value + 1))
            sum_file(sum, value + 1);
    }
    wordfree(&words);
}

bool stamp_make(struct stamp *stamp, const char *program, const char *command, struct why *why)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    char home[PATH_MAX];
    if (!realpath(program, home) || !sum_file(&sum, home))
        return why_say(why, "%s: %s", program, strerror(errno));
    *strrchr(home, '/') = '\0';
    sum_machines(&sum, home);
    sum_named(&sum, command);
    snprintf(stamp->text, sizeof stamp->text, "%016llx", (unsigned long long)sum);
    return true;
}
