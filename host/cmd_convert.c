/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal convert`: traces from one format to another. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "tell/input.h"
#include "base/options.h"
#include "base/output.h"

struct convert {
    enum ordeal_format from, to;
    bool compress;
    const char *output;

    const struct command *command;
    struct output out;
    int status;
    unsigned long traces;      /* written so far */
    bool stop;                 /* the output cannot be completed */
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(convert, from, "from", 'f', "FORMAT", format_read, NULL,
           "format of the input; without it guessed from the content:"),
    OPTION(convert, to, "to", 't', "FORMAT", format, NULL,
           "format of the output; without it told by the ending of OUT\n"
           "(.trace, .test text; .otr binary; .axe axe):"),
    OPTION(convert, compress, "compress", 'z', NULL, flag, NULL, "binary only: pack with zstd"),
    OPTION(convert, output, "output", 'o', "OUT", text, "-",
           "file to write, '-' is standard output"),
    OPTION_END
};
/* clang-format on */

static enum ordeal_format format_by_ending(const char *name)
{
    static const struct { const char *ending; enum ordeal_format format; } table[] = {
        { ".trace", ORDEAL_FORMAT_TEXT }, { ".test", ORDEAL_FORMAT_TEXT },
        { ".otr", ORDEAL_FORMAT_BINARY }, { ".axe", ORDEAL_FORMAT_AXE },
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof table / sizeof *table; i++)
        if (strcmp(dot, table[i].ending) == 0)
            return table[i].format;
    return ORDEAL_FORMAT_GUESS;
}

static int give_up(struct convert *c, int status)
{
    c->stop = true;
    return c->status = exit_worst(c->status, status);
}

static enum ordeal_status write_trace(const struct convert *c, const struct ordeal_trace *t)
{
    switch (c->to) {
    case ORDEAL_FORMAT_BINARY: return ordeal_write_binary(t, c->out.file, c->compress);
    case ORDEAL_FORMAT_AXE: return ordeal_write_axe(t, c->out.file);
    default: return ordeal_write_text(t, c->out.file);
    }
}

static void convert_trace(struct convert *c, const struct input *in)
{
    errno = 0;
    if (c->traces && c->to == ORDEAL_FORMAT_AXE)
        fputs("check\n", c->out.file); /* ends the trace before */
    enum ordeal_status status = write_trace(c, in->trace);
    const struct ordeal_error *e = ordeal_last_error(in->o);
    if (status == ORDEAL_IO && interrupted()) /* while it waited for a reader */
        give_up(c, EXIT_INTERRUPTED);
    else if (status == ORDEAL_IO)
        give_up(c, complain(c->command, "%s: %s", c->output, errno ? strerror(errno) : e->reason));
    else if (status != ORDEAL_OK)
        give_up(c, complain(c->command, "%s: %s", in->label, e->reason));
    c->traces++;
}

static void convert_file(struct convert *c, const char *name)
{
    struct input in;
    enum ordeal_status status = input_open(&in, name, c->from, NULL);
    while (status == ORDEAL_OK && !c->stop) {
        status = input_next(&in);
        if (status == ORDEAL_OK)
            convert_trace(c, &in);
    }
    if (status != ORDEAL_OK && status != ORDEAL_END) {
        char text[1024];
        error_format(&in.error, text, sizeof text);
        if (status == ORDEAL_BAD_INPUT && in.trace) {
            c->status = exit_worst(c->status, complain(c->command, "%s; the %zu operations before "
                                   "it are converted, the rest is lost", text,
                                   ordeal_trace_length(in.trace)));
            convert_trace(c, &in);
        } else {
            give_up(c, complain(c->command, "%s", text));
        }
    }
    input_close(&in);
}

static int convert_usage(struct convert *c, int files)
{
    if (files == 0)
        return complain(c->command, "which traces? Name files, or '-' for standard input");
    bool standard = strcmp(c->output, "-") == 0;
    if (c->to == ORDEAL_FORMAT_GUESS)
        c->to = standard ? ORDEAL_FORMAT_TEXT : format_by_ending(c->output);
    if (c->to == ORDEAL_FORMAT_GUESS)
        return complain(c->command, "%s: its ending does not tell the format; "
                                    "use --to text, binary or axe", c->output);
    if (c->compress && c->to != ORDEAL_FORMAT_BINARY)
        return complain(c->command, "--compress is for the binary format; use --to binary");
    if (c->to == ORDEAL_FORMAT_BINARY && standard && isatty(STDOUT_FILENO))
        return complain(c->command, "a binary trace is not for a terminal; use -o FILE");
    return -1;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct convert c = { .command = self };
    int operand, status = options_parse(self, argc, argv, &c, &operand);
    if (status < 0)
        status = convert_usage(&c, argc - operand);
    if (status >= 0)
        return status;
    interrupt_watch();
    int error = output_open(&c.out, c.output);
    if (error)
        return complain(self, "%s: %s", c.output, strerror(error));
    for (int i = operand; i < argc && !c.stop; i++)
        convert_file(&c, argv[i]);
    if (interrupted())
        give_up(&c, EXIT_INTERRUPTED);
    error = c.stop ? 0 : output_commit(&c.out);
    if (error)
        c.status = exit_worst(c.status, complain(self, "%s: %s", c.output, strerror(error)));
    output_abandon(&c.out);
    return c.status;
}

const struct command command_convert = {
    .name = "convert",
    .summary = "translate traces between the text, binary and Axe formats",
    .operands = "IN...",
    .description =
        "Reads traces and writes them to OUT in another format, all to the one file. OUT appears\n"
        "when it is complete or not at all. Of a damaged binary file all that can be read is\n"
        "converted, what was lost is said on standard error, and the exit status is 2. Commit logs of\n"
        "RISC-V simulators are read, too. '-' is standard input.",
    .example = "  $ ordeal convert --compress -o run.otr run.trace\n"
               "  $ ordeal convert run.otr | less\n",
    .options = options,
    .run = run,
};
