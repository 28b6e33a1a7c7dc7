/* SPDX-License-Identifier: Apache-2.0 */
/* What `explore`, `monitor`, `relax` and `fence` share: the operands that name a program, the
 * options by which it is compiled, and lines that begin with its verdict. */
#ifndef HOST_CMD_PROGRAM_H
#define HOST_CMD_PROGRAM_H

#include <cJSON.h>

#include "base/options.h"
#include "base/progress.h"
#include "explore.h"
#include "program/program_file.h"
#include "targets/target_options.h"

struct program_command {
    int atomics; /* index of program_atomics */
    bool optimise, json;
    struct words define, include;

    const struct command *command;
    char **file; /* the first stands for the program */
    int files;
    struct program_file program;
    struct progress progress;
    int status; /* the gravest so far */
};

extern const char *const program_atomics[];
extern const struct option_type option_atomics; /* int */

/* The first of `names`, which end with NULL, that `text` is. False: it is none. */
bool program_find_name(const char *text, const char *const *names, int *value);

/* Entries of a table of options: FIELD is the struct program_command in struct TYPE. */
/* clang-format off */
#define PROGRAM_OPTIONS(TYPE, FIELD) \
    OPTION(TYPE, FIELD.atomics, "atomics", 0, "HOW", atomics, "riscv", \
           "how C11's atomics are compiled:"), \
    OPTION(TYPE, FIELD.optimise, "optimise", 'O', NULL, flag, NULL, \
           "compile with -O2; without it -O0, whose accesses are those of the source"), \
    OPTION(TYPE, FIELD.define, "define", 'D', "NAME=VALUE", words, NULL, \
           "a macro for the compiler; may be given many times"), \
    OPTION(TYPE, FIELD.include, "include", 'I', "DIR", words, NULL, \
           "a folder with headers; may be given many times")
/* clang-format on */

/* A machine that the program is to run on. */
struct program_machine {
    const char *target; /* NULL: none */
    struct target_options how;
    uint64_t patience; /* cycles of an execution */
};
/* clang-format off */
#define MACHINE_OPTIONS(TYPE, FIELD) \
    OPTION(TYPE, FIELD.target, "target", 't', "TARGET", text, NULL, \
           "run it on this machine: sim, the multiprocessor of rtl/ in simulation;\n" \
           "board, the same on an FPGA"), \
    OPTION(TYPE, FIELD.patience, "patience", 0, "CYCLES", positive, "100000", \
           "with --target: an execution that takes longer is left"), \
    OPTION(TYPE, FIELD.how.bug, "bug", 0, "NAME", text, NULL, \
           "sim, board: break the machine on purpose; 'ordeal run --bug list'"), \
    OPTION(TYPE, FIELD.how.harts, "harts", 0, "N", positive, NULL, \
           "sim: harts of the machine, 1 to 16 (default: 4)"), \
    OPTION(TYPE, FIELD.how.config, "config", 0, "KEY=VALUE,...", text, NULL, \
           "sim: what it is built with, see 'ordeal run --help'"), \
    OPTION(TYPE, FIELD.how.sizes, "sizes", 0, "NAME", text, NULL, \
           "sim: its size, as h4-s16-w2-l4-b8-q4, which is the usual one"), \
    OPTION(TYPE, FIELD.how.delay, "delay", 0, "N", text, NULL, \
           "sim, board: random delays at every queue, from 0, none, to 7, long;\n" \
           "without it now and then another"), \
    OPTION(TYPE, FIELD.how.soc, "soc", 0, "FILE", text, NULL, \
           "sim: a machine of your own, with the interface of sim/soc.h"), \
    OPTION(TYPE, FIELD.how.serial, "serial", 0, "S", text, NULL, \
           "board: the one with this serial number"), \
    OPTION(TYPE, FIELD.how.link, "link", 0, "HOW", text, NULL, \
           "board: over 'usb', or 'jtag' through OpenOCD (default: usb)"), \
    OPTION(TYPE, FIELD.how.openocd, "openocd", 0, "HOST:PORT", text, NULL, \
           "board: Tcl port of the OpenOCD for --link jtag (default:\n" \
           "127.0.0.1:6666)")
/* clang-format on */
/* The name of an option that was given and is about a machine; NULL: none was. */
const char *program_machine_option(const struct program_machine *m);

/* Parses the command line into `fields`, in which `p` is. -1: go on; else the exit status. */
int program_parse(struct program_command *p, const struct command *self, int argc, char **argv,
                  void *fields);
/* Looks whether its operands are one program. -1: they are; else the exit status. */
int program_refuse(const struct program_command *p);
/* From here on ^C is watched, and progress is of the program. */
void program_begin(struct program_command *p);
/* What the compiler says goes to standard error. False: told why, or ^C. */
bool program_load(struct program_command *p);
struct compile_request program_request(const struct program_command *p);
/* Frees the program. The exit status of the command. */
int program_end(struct program_command *p);

/* Half of the memory that the computer has, or another share of it; 0: unknown. */
size_t program_memory(double share);

double program_rounded(double n); /* to thousandths, for output */

/* Lines. The exit status keeps the gravest. */
cJSON *program_line(struct program_command *p, const char *word);
cJSON *program_verdict_line(struct program_command *p, const char *file,
                            enum explore_verdict verdict);
void program_report_error(struct program_command *p, struct ordeal_error *e);
void program_report_memory(struct program_command *p);
/* A defect of ordeal, which the format tells. */
void program_report_internal(struct program_command *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes a file as a whole by `write`, which is false when it fails. Complains otherwise. */
bool program_write(struct program_command *p, const char *name,
                   bool (*write)(void *user, FILE *out), void *user);
bool program_write_trace(struct program_command *p, const char *name, const struct ordeal_trace *t);

#endif
