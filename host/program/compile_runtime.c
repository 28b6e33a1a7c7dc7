/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the run-time. They are made once for a user, in the cache that models of the machine have,
 * too, under a checksum of what they are made of; where there is no place for that, with each program. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "compile_parts.h"

static const struct part {
    const char *source, *object;
    bool cpp;
} parts[] = { { "calls.S", "calls", false },
              { "runtime.c", "runtime", false },
              { "chip/start.S", "chip_start", false },
              { "chip/kernel.c", "chip_kernel", false },
              { "library.cpp", "library", true } };
enum { PARTS = sizeof parts / sizeof *parts };

static bool wanted(const struct work *w, const struct part *p) { return !p->cpp || *w->library; }

static bool compile_part(struct work *w, const struct part *p, const char *folder)
{
    struct command_words words = { 0 };
    command_clang(&words, w, p->cpp);
    command_add_all(&words, (const char *const[]){ "-O2", "-fomit-frame-pointer", "-fno-builtin",
                                                   "-c", NULL });
    if (!p->cpp)
        command_add(&words, "-ffreestanding");
    command_add(&words, "%s/%s", w->runtime, p->source);
    command_add(&words, "-o%s/%s.o", folder, p->object);
    return compile_run(w, &words, p->object, true);
}

static bool compile_parts(struct work *w, const char *folder)
{
    bool good = true;
    for (size_t k = 0; good && k < PARTS; k++)
        good = !wanted(w, &parts[k]) || compile_part(w, &parts[k], folder);
    return good;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* Of all files of the run-time, and what compiles them. */
static void checksum(const struct work *w, char text[HASH_TEXT])
{
    static const char *const kinds[] = { "*.[chS]", "*.cpp",        "include/*", "cpp/*",
                                         "chip/*",  "../calls.def", "../chip.h" };
    struct command_words words = { 0 };
    struct hash hash;
    glob_t found = { 0 };
    char pattern[PATH_MAX + 32];
    hash_begin(&hash);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        snprintf(pattern, sizeof pattern, "%s/%s", w->runtime, kinds[k]);
        glob(pattern, k ? GLOB_APPEND : 0, NULL, &found);
    }
    for (size_t k = 0; k < found.gl_pathc; k++)
        hash_file(&hash, found.gl_pathv[k]);
    globfree(&found);
    command_clang(&words, w, *w->library != '\0');
    for (size_t k = 0; k < words.count; k++)
        hash_text(&hash, words.word[k]);
    command_free(&words);
    hash_text(&hash, w->compiler);
    hash_end(&hash, text);
}

static bool cache_folder(char *path, size_t size)
{
    const char *given = getenv("ORDEAL_MODELS"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (given && *given)
        snprintf(path, size, "%s", given);
    else if (cache && *cache)
        snprintf(path, size, "%s/ordeal", cache);
    else if (home && *home)
        snprintf(path, size, "%s/.cache/ordeal", home);
    else
        return false;
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0777);
        *at = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* All that is wanted is there, in a folder that nobody else can write to, unless the user named it. */
static bool is_complete(const struct work *w, const char *folder)
{
    const char *given = getenv("ORDEAL_MODELS");
    char object[PATH_MAX + 64];
    struct stat is;
    bool good = (given && *given)
             || (lstat(folder, &is) == 0 && S_ISDIR(is.st_mode) && !(is.st_mode & S_IWOTH)
                 && (is.st_uid == geteuid() || is.st_uid == 0));
    for (size_t k = 0; k < PARTS; k++) {
        snprintf(object, sizeof object, "%s/%s.o", folder, parts[k].object);
        good &= !wanted(w, &parts[k]) || access(object, R_OK) == 0;
    }
    return good;
}

/* Made in a folder beside, which then gets the name; whoever was faster has made the same. True: it is
 * settled, and `good` says how. */
static bool fill_cache(struct work *w, bool *good)
{
    struct temporary fresh;
    if (temporary_folder(&fresh, w->objects) != 0)
        return false;
    *good = compile_parts(w, fresh.path);
    if (*good && rename(fresh.path, w->objects) == 0)
        temporary_release(&fresh);
    else
        temporary_remove(&fresh);
    return !*good || is_complete(w, w->objects);
}

bool compile_runtime(struct work *w)
{
    char cache[PATH_MAX - HASH_TEXT - 16], sum[HASH_TEXT];
    bool good = true;
    if (cache_folder(cache, sizeof cache)) {
        checksum(w, sum);
        snprintf(w->objects, sizeof w->objects, "%s/runtime-%s", cache, sum);
        if (is_complete(w, w->objects) || fill_cache(w, &good))
            return good;
    }
    snprintf(w->objects, sizeof w->objects, "%s", w->folder.path);
    return compile_parts(w, w->objects);
}
