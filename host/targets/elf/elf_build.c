/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/output.h"
#include "elf_runtime.h"
#include "elf_assembly.h"

static const char compiler[] = "riscv64-unknown-elf-gcc";
static const char objcopy[] = "riscv64-unknown-elf-objcopy";
static const double patience = 300; /* seconds */

bool elf_build_possible(struct why *why)
{
    if (child_exists(compiler))
        return true;
    return why_say(why,
                   "%s is not on PATH: install Debian's package "
                   "gcc-riscv64-unknown-elf",
                   compiler);
}

static enum target_result fail(struct why *why, const char *file, int error)
{
    why_say(why, "%.800s: %s", file, strerror(error));
    return TARGET_FAILED;
}

/* What can be in a file of the directory. */
struct content {
    const struct program *p;
    const struct elf_platform *f;
    uint64_t first, seed;
    uint32_t count;
};

struct command_line { char march[32], mabi[16], ram[64]; const char *argv[20]; };

/* The compiler's temporary files lie in the directory too, and go with it. */
static void compile_line(struct command_line *line, const struct elf_platform *f)
{
    snprintf(line->march, sizeof line->march, "-march=%s", elf_platform_march(f));
    snprintf(line->mabi, sizeof line->mabi, "-mabi=%s", elf_platform_mabi(f));
    snprintf(line->ram, sizeof line->ram, "-Wl,--defsym=ram_base=0x%" PRIx64, f->ram);
    const char *words[] = { "env", "TMPDIR=.", compiler, line->march, line->mabi, "-nostdlib",
                            "-nostartfiles", "-static", "-Wl,--no-relax", "-Wl,--build-id=none",
                            line->ram, "-T", "link.ld", "test.S", "-o", "test.elf", NULL };
    memcpy(line->argv, words, sizeof words);
}

static void write_test(FILE *out, const struct content *c)
{
    ordeal_write_text(c->p->test, out);
}

static void write_source(FILE *out, const struct content *c)
{
    elf_assembly_write(out, c->p, c->f, c->first, c->count, c->seed);
}

static void write_text(FILE *out, const struct elf_text *t)
{
    fwrite(t->begin, 1, (size_t)(t->end - t->begin), out);
}

static void write_runtime(FILE *out, const struct content *c)
{
    (void)c;
    write_text(out, &elf_runtime);
}

static void write_link(FILE *out, const struct content *c)
{
    (void)c;
    write_text(out, &elf_link);
}

static void write_readme(FILE *out, const struct content *c)
{
    struct command_line line;
    compile_line(&line, c->f);
    fprintf(out,
        "test.elf runs test.test on harts %" PRIu64 " to %" PRIu64 " of a bare RISC-V machine, "
        "%" PRIu32 " times.\nAll harts start at _start in machine mode, with the program in memory "
        "from 0x%" PRIx64 " on.\nIt is done when the word at the symbol tohost is not 0: 1 is the "
        "good end.\n\nSave the memory from begin_signature to end_signature, raw or as lines of "
        "hexadecimal\nnumbers of 4, 8 or 16 bytes, and bring it back:\n\n"
        "    ordeal check --signature FILE test.test\n\ntest.elf was built here by\n\n   ",
        c->f->first_hart, c->f->first_hart + c->p->threads - 1, c->count, c->f->ram);
    for (const char **word = line.argv + 2; *word; word++)
        fprintf(out, " %s", *word);
    fprintf(out, "\n");
}

static enum target_result write_file(const char *directory, const char *name,
                                     const struct content *c,
                                     void (*write)(FILE *, const struct content *),
                                     struct why *why)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "we");
    if (!out)
        return fail(why, path, errno);
    write(out, c);
    bool bad = ferror(out);
    if (fclose(out) != 0 || bad)
        return fail(why, path, errno ? errno : EIO);
    return TARGET_DONE;
}

static enum target_result run_tool(const char *directory, const char *name, const char *const *argv,
                                   struct why *why)
{
    struct child child;
    char log[4096];
    snprintf(log, sizeof log, "%s/build.log", directory);
    if (!child_start(&child, (char *const *)argv, directory, log, why))
        return TARGET_FAILED;
    enum child_end end = child_wait(&child, patience);
    if (end == CHILD_HUNG || (end == CHILD_ENDED && child.status != 0)) {
        child_obituary(&child, name, log, why);
        return TARGET_FAILED;
    }
    unlink(log);
    return end == CHILD_STOPPED ? TARGET_STOPPED : TARGET_DONE;
}

static enum target_result compile(const char *directory, const struct elf_platform *f,
                                  struct why *why)
{
    struct command_line line;
    compile_line(&line, f);
    return run_tool(directory, compiler, line.argv, why);
}

/* ---- what others need of it ------------------------------------------------------------------ */

/* The 8 bytes that the file has for this address. False: none. */
static bool read_address(Elf *elf, int file, uint64_t address, uint64_t *to)
{
    GElf_Phdr p;
    uint8_t bytes[8];
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || address < p.p_vaddr
            || address - p.p_vaddr + sizeof bytes > p.p_filesz)
            continue;
        off_t at = (off_t)(p.p_offset + (address - p.p_vaddr));
        if (pread(file, bytes, sizeof bytes, at) != (ssize_t)sizeof bytes)
            return false;
        *to = 0;
        for (size_t b = sizeof bytes; b-- > 0;)
            *to = *to << 8 | bytes[b];
        return true;
    }
    return false;
}

bool elf_build_symbols(const char *elf, uint64_t ram, struct elf_symbols *at, struct why *why)
{
    elf_version(EV_CURRENT);
    int file = open(elf, O_RDONLY | O_CLOEXEC);
    Elf *e = file >= 0 ? elf_begin(file, ELF_C_READ, NULL) : NULL;
    bool good = e && read_address(e, file, ram + ELF_BEGIN_SIGNATURE, &at->begin)
             && read_address(e, file, ram + ELF_END_SIGNATURE, &at->end);
    at->tohost = ram + ELF_TOHOST;
    if (e)
        elf_end(e);
    if (file >= 0)
        close(file);
    return good || why_say(why, "%.800s: it cannot be seen where its signature lies", elf);
}

enum target_result elf_build_hex(const char *directory, struct why *why)
{
    const char *argv[] = { objcopy, "-O", "verilog", "test.elf", "test.hex", NULL };
    return run_tool(directory, objcopy, argv, why);
}

enum target_result elf_build(const char *directory, const struct program *p,
                             const struct elf_platform *f, uint64_t first, uint32_t count,
                             uint64_t seed, struct why *why)
{
    const struct content c = { p, f, first, seed, count };
    enum target_result result = write_file(directory, "test.S", &c, write_source, why);
    if (result == TARGET_DONE)
        result = write_file(directory, "runtime.S", &c, write_runtime, why);
    if (result == TARGET_DONE)
        result = write_file(directory, "link.ld", &c, write_link, why);
    return result == TARGET_DONE ? compile(directory, f, why) : result;
}

/* What was emitted is on the disk. */
static enum target_result sync_folder(const char *directory, struct why *why)
{
    int error = output_sync_folder(directory);
    if (!error)
        error = output_sync_parent(directory);
    return error ? fail(why, directory, error) : TARGET_DONE;
}

enum target_result elf_build_folder(const char *directory, const struct program *p,
                                    const struct elf_platform *f, uint64_t first, uint32_t count,
                                    uint64_t seed, struct why *why)
{
    const struct content c = { p, f, first, seed, count };
    enum target_result result = TARGET_DONE;
    if (mkdir(directory, 0777) != 0)
        return fail(why, directory, errno);
    result = write_file(directory, "test.test", &c, write_test, why);
    if (result == TARGET_DONE)
        result = write_file(directory, "README", &c, write_readme, why);
    if (result == TARGET_DONE)
        result = elf_build(directory, p, f, first, count, seed, why);
    if (result == TARGET_DONE)
        result = sync_folder(directory, why);
    if (result != TARGET_DONE)
        elf_build_remove(directory);
    return result;
}

void elf_build_remove(const char *directory)
{
    DIR *entries = opendir(directory);
    for (struct dirent *entry; entries && (entry = readdir(entries)); )
        unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    rmdir(directory);
}
