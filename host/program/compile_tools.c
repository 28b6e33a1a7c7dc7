/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler and what goes with it: where it is, and how it is run. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/plain_file.h"
#include "compile_parts.h"

/* A source may be anybody's: one of two lines makes a compiler work for ever, or fill a disk. */
static const double patience = 300; /* seconds */
enum { MOST_FILE = 1 << 30 };
static const uint64_t most_memory = 8ULL << 30; /* of addresses, which are more than what is used */

/* ---- where ----------------------------------------------------------------------------------- */

/* Seen from the folder of the program: of a build tree, of a test in it, installed. */
static bool find_runtime(struct work *w)
{
    static const char *const places[] = { "runtime", "../runtime",
                                          "../share/ordeal/program/runtime", NULL };
    char program[PATH_MAX], file[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n < 0 ? 0 : n] = '\0';
    char *end = strrchr(program, '/');
    if (end)
        *end = '\0';
    for (const char *const *place = places; *place; place++) {
        snprintf(file, sizeof file, "%s/%s/runtime.c", program, *place);
        if (access(file, R_OK) == 0) {
            *strrchr(file, '/') = '\0';
            return realpath(file, w->runtime) != NULL;
        }
    }
    return why_say(w->why,
                   "the run-time of programs is not beside %s: build or install ordeal again",
                   program);
}

/* The last of what fits. */
static bool find_file(struct work *w, const char *pattern, char path[PATH_MAX])
{
    glob_t found;
    bool there = glob(pattern, 0, NULL, &found) == 0;
    if (there)
        snprintf(path, PATH_MAX, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return there || why_say(w->why, "%s is missing: make setup-program installs it", pattern);
}

/* What the program really is, and when it was made: another compiler makes other objects. */
static void identify_compiler(struct work *w)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    struct stat s;
    for (size_t length; path && *path; path += length + (path[length] == ':')) {
        length = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/clang", (int)length, path);
        if (access(file, X_OK) == 0 && stat(file, &s) == 0) {
            snprintf(w->compiler, sizeof w->compiler, "%s %lld %lld", file, (long long)s.st_size,
                     (long long)s.st_mtim.tv_sec);
            return;
        }
    }
}

bool compile_find(struct work *w)
{
    static const char *const tools[] = { "clang", "ld.lld", NULL };
    bool cpp = false;
    for (const char *const *tool = tools; *tool; tool++)
        if (!child_exists(*tool))
            return why_say(
                w->why,
                "%s is not on PATH: make setup-program installs it (Debian's clang and lld)",
                *tool);
    identify_compiler(w);
    for (size_t k = 0; k < w->request->sources; k++)
        cpp |= compile_is_cpp(w->request->source[k]);
    return find_file(w, "/usr/lib/picolibc/riscv*-unknown-elf/include", w->headers)
        && find_file(w, "/usr/lib/gcc/riscv64-unknown-elf/*/rv32im/ilp32/libgcc.a", w->helpers)
        && find_runtime(w) && (!cpp || find_file(w, "/usr/lib/llvm-*/include/c++/v1", w->library));
}

/* ---- commands -------------------------------------------------------------------------------- */

void command_add(struct command_words *w, const char *format, ...)
{
    char *word = NULL;
    va_list args;
    va_start(args, format);
    w->bad |= w->count == COMMAND_WORDS || vasprintf(&word, format, args) < 0;
    va_end(args);
    if (!w->bad)
        w->word[w->count++] = word;
}

void command_add_all(struct command_words *w, const char *const *words)
{
    for (; *words; words++)
        command_add(w, "%s", *words);
}

void command_free(struct command_words *w)
{
    for (size_t k = 0; k < w->count; k++)
        free(w->word[k]);
    *w = (struct command_words){ 0 };
}

/* clang-format off */
static const char *const flags[] = {
    "clang", "--target=riscv32-unknown-elf", "-march=rv32ima", "-mabi=ilp32", "-mno-relax", "-fno-pic",
    "-g", "-gdwarf-4", "-ffunction-sections", "-fdata-sections", "-fno-color-diagnostics",
    "-fno-caret-diagnostics", "-fno-crash-diagnostics", "-Wno-atomic-alignment",
    "-Wno-unused-command-line-argument", "-nostdlibinc", NULL
};
static const char *const flags_of_cpp[] = {
    "-std=gnu++20", "-fno-exceptions", "-fno-rtti", "-nostdinc++", "-D_GNU_SOURCE", NULL
};
/* clang-format on */

/* The run-time's headers come before those that they add to. */
void command_clang(struct command_words *words, const struct work *w, bool cpp)
{
    command_add_all(words, flags);
    if (cpp) {
        command_add_all(words, flags_of_cpp);
        command_add(words, "-isystem%s/cpp", w->runtime);
        command_add(words, "-isystem%s", w->library);
    }
    command_add(words, "-isystem%s/include", w->runtime);
    command_add(words, "-isystem%s", w->headers);
    command_add(words, "-ffile-prefix-map=%s=ordeal-runtime", w->runtime);
}

static void pass_on(struct work *w, const char *log)
{
    const char *reason;
    FILE *in = plain_file_open(log, &reason);
    char part[4096];
    for (size_t n; in && (n = fread(part, 1, sizeof part, in)) > 0;)
        fwrite(part, 1, n, w->messages);
    if (in)
        fclose(in);
}

/* What a compiler says of a full disk lies on that disk. */
static bool is_full(const struct work *w)
{
    static const char some[4096];
    char name[PATH_MAX + 64];
    snprintf(name, sizeof name, "%s/room", w->folder.path);
    int out = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool full = out < 0 ? errno == ENOSPC || errno == EDQUOT
                        : write(out, some, sizeof some) != sizeof some;
    if (out >= 0)
        close(out);
    unlink(name);
    return full;
}

static bool run(struct work *w, const struct command_words *words, const char *log, bool tell)
{
    struct child_limits limits = { .memory = most_memory,
                                   .file = MOST_FILE,
                                   .temporary = w->folder.path };
    struct child child;
    if (words->bad)
        return why_say(w->why, "out of memory, or too many words for one command");
    if (!child_start_within(&child, words->word, &limits, log, w->why))
        return false;
    enum child_end end = child_wait(&child, patience);
    if (tell)
        pass_on(w, log);
    w->stopped = end == CHILD_STOPPED;
    if (w->stopped)
        return why_say(w->why, "stopped");
    if (end == CHILD_HUNG)
        return why_say(w->why, "%s did not end within %.0f s", words->word[0], patience);
    if (WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGXFSZ)
        return why_say(w->why, "%s writes a file of more than %d MB", words->word[0],
                       MOST_FILE >> 20);
    if (child.status != 0 && is_full(w))
        return why_say(w->why,
                       "no space is left in the temporary directory %s; TMPDIR may name another",
                       temporary_directory());
    if (child.status != 0)
        child_obituary(&child, words->word[0], log, w->why);
    return child.status == 0;
}

bool compile_run(struct work *w, struct command_words *words, const char *name, bool tell)
{
    char log[PATH_MAX + 64];
    snprintf(log, sizeof log, "%s/%s.log", w->folder.path, name);
    bool good = run(w, words, log, tell);
    command_free(words);
    return good;
}
