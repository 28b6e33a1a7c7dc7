/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd_program.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "tell/output_line.h"

/* ---- options ----------------------------------------------------------------------------- */

const char *const program_atomics[] = { "riscv", "x86", NULL };

bool program_find_name(const char *text, const char *const *names, int *value)
{
    *value = 0;
    while (names[*value] && strcmp(names[*value], text) != 0)
        ++*value;
    return names[*value];
}

static const char *atomics_choice(int i) { return program_atomics[i]; }
static bool parse_atomics(const char *text, void *field)
{
    return program_find_name(text, program_atomics, field);
}
const struct option_type option_atomics = { parse_atomics, NULL, atomics_choice };

int program_parse(struct program_command *p, const struct command *self, int argc, char **argv,
                  void *fields)
{
    int operand, status;
    p->command = self;
    status = options_parse(self, argc, argv, fields, &operand);
    p->file = argv + operand;
    p->files = argc - operand;
    return status;
}

int program_refuse(const struct program_command *p)
{
    static const char advice[] =
        "what is no source (.c, .cpp) is taken as it is; name it alone, without --define, "
        "--include and --optimise";
    if (!p->files)
        return complain(p->command, "which program? Name its sources (.c, .cpp), or an ELF file");
    bool source = compile_is_source(p->file[0]);
    for (int i = 1; i < p->files; i++)
        if (!source || !compile_is_source(p->file[i]))
            return complain(p->command, "%s: %s", source ? p->file[i] : p->file[0], advice);
    if (!source && (p->define.count || p->include.count || p->optimise))
        return complain(p->command, "%s: %s", p->file[0], advice);
    return -1;
}

const char *program_machine_option(const struct program_machine *m)
{
    struct target_option_told told = { .name = NULL };
    return target_option_next(&m->how, &told) ? told.name : NULL;
}

size_t program_memory(double share)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)((double)pages * (double)size * share) : 0;
}

/* ---- the program ------------------------------------------------------------------------- */

void program_begin(struct program_command *p)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    interrupt_watch();
    progress_start(&p->progress, p->file[0]);
}

struct compile_request program_request(const struct program_command *p)
{
    return (struct compile_request){
        .source = (const char *const *)p->file,
        .sources = (size_t)p->files,
        .optimise = p->optimise,
        .x86_atomics = p->atomics,
        .define = p->define.word,
        .defines = p->define.count,
        .include = p->include.word,
        .includes = p->include.count,
    };
}

bool program_load(struct program_command *p)
{
    struct compile_request request = program_request(p);
    struct ordeal_error error = { 0 };
    bool fine = program_file_load(&p->program, &request, &error);
    if (p->program.messages && !interrupted())
        escape_write(p->program.messages, true, stderr);
    if (!fine && !interrupted())
        program_report_error(p, &error);
    return fine;
}

int program_end(struct program_command *p)
{
    program_file_free(&p->program);
    return interrupted() ? exit_worst(p->status, EXIT_INTERRUPTED) : p->status;
}

/* ---- lines ------------------------------------------------------------------------------- */

double program_rounded(double n) { return (double)(long long)(n * 1000 + 0.5) / 1000; }

static cJSON *new_line(struct program_command *p, const char *word, const char *file)
{
    struct input in = { .name = file, .number = 1 };
    progress_erase(&p->progress);
    return output_line_new(word, &in);
}

cJSON *program_line(struct program_command *p, const char *word)
{
    return new_line(p, word, p->file[0]);
}

cJSON *program_verdict_line(struct program_command *p, const char *file,
                            enum explore_verdict verdict)
{
    static const struct {
        enum ordeal_result word;
        int status;
    } of[] = { [EXPLORE_PASS] = { ORDEAL_PASS, EXIT_FINE },
               [EXPLORE_FAIL] = { ORDEAL_FAIL, EXIT_VIOLATION },
               [EXPLORE_UNDECIDED] = { ORDEAL_UNDECIDED, EXIT_UNDECIDED } };
    p->status = exit_worst(p->status, of[verdict].status);
    return new_line(p, verdict_words[of[verdict].word], file);
}

void program_report_internal(struct program_command *p, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    progress_erase(&p->progress);
    complain(p->command, "%s: internal error: %s", p->file[0], text);
    p->status = exit_worst(p->status, EXIT_INTERNAL);
}

void program_report_error(struct program_command *p, struct ordeal_error *e)
{
    if (e->status == ORDEAL_INTERNAL) {
        program_report_internal(p, "%s; please report this with the program", e->reason);
        return;
    }
    if (!e->file[0])
        snprintf(e->file, sizeof e->file, "%s", p->file[0]);
    progress_erase(&p->progress);
    p->status = exit_worst(p->status, EXIT_BAD);
    output_line_print(output_line_error(e), p->json);
}

void program_report_memory(struct program_command *p)
{
    progress_erase(&p->progress);
    p->status = exit_worst(p->status, complain(p->command, "out of memory"));
}

/* ---- files ------------------------------------------------------------------------------- */

bool program_write(struct program_command *p, const char *name,
                   bool (*write)(void *user, FILE *out), void *user)
{
    struct output out;
    int error = output_open(&out, name);
    if (!error) {
        errno = 0;
        if (write(user, out.file))
            error = output_commit(&out);
        else
            error = errno ? errno : ENOMEM;
        output_abandon(&out);
    }
    if (error)
        p->status = exit_worst(p->status, complain_unwritten(p->command, name, error));
    return !error;
}

static bool write_trace(void *user, FILE *out)
{
    const struct ordeal_trace *const *t = user;
    return ordeal_write_text(*t, out) == ORDEAL_OK;
}

bool program_write_trace(struct program_command *p, const char *name, const struct ordeal_trace *t)
{
    return program_write(p, name, write_trace, &t);
}
