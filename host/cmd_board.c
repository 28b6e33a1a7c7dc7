/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal board`: what boards are there, what they are, whether they work; and their
 * programming. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "base/escape.h"
#include "base/interrupt.h"
#include "base/nearest.h"
#include "base/text.h"
#include "targets/board/board_flash.h"
#include "targets/board/board_machine.h"
#include "targets/board/board_numbers.h"
#include "trial/board_selftest.h"
#include "trial/saved_run.h"
#include "targets/board/board_usb.h"
#include "base/options.h"

enum { STREAM_WORDS = 100000 };

struct board_command {
    const char *serial, *programmer, *config;
    uint64_t words;
    bool json, dry_run;
    const struct command *command;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(board_command, serial, "serial", 0, "S", text, NULL,
           "info, selftest: of the board with this serial number; without it\n"
           "of any that is not in use"),
    OPTION(board_command, words, "words", 0, "N", positive, NULL,
           "selftest: length of the stream (default: 100000)"),
    OPTION(board_command, programmer, "programmer", 0, "NAME", text, NULL,
           "flash: of a .bin file: iceprog (default), or tinyprog for a\n"
           "TinyFPGA BX"),
    OPTION(board_command, config, "config", 0, "FILE", text, NULL,
           "flash: how OpenOCD reaches the board (default: an FTDI adapter,\n"
           "ordeal-ftdi.cfg for firmware, ecp5-ftdi.cfg for an ECP5)"),
    OPTION(board_command, dry_run, "dry-run", 0, NULL, flag, NULL,
           "flash: show the command line, run nothing"),
    OPTION(board_command, json, "json", 'j', NULL, flag, NULL, "one JSON object a line"),
    OPTION_END
};
/* clang-format on */

/* ---- lines of output ------------------------------------------------------------------------- */

static void print_json(cJSON *object)
{
    char *text = cJSON_PrintUnformatted(object);
    puts(text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(object);
}

/* ---- list ------------------------------------------------------------------------------------ */

static void print_found(const struct board_command *c, const struct board_found *f)
{
    if (!c->json) {
        printf("%s usb=%s %s%s\n", *f->serial ? f->serial : "-", f->place,
               *f->problem ? "problem: " : "ready", f->problem);
        return;
    }
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "serial", f->serial);
    cJSON_AddStringToObject(object, "usb", f->place);
    cJSON_AddBoolToObject(object, "ready", !*f->problem);
    if (*f->problem)
        cJSON_AddStringToObject(object, "problem", f->problem);
    print_json(object);
}

static int list(const struct board_command *c, const char *file)
{
    struct board_found *found;
    struct why why;
    size_t count;
    (void)file;
    if (!board_usb_list(&found, &count, &why)) {
        complain(c->command, "%s", why.text);
        return EXIT_TARGET;
    }
    for (size_t i = 0; i < count; i++)
        print_found(c, &found[i]);
    if (!count && !c->json)
        complain(c->command, "no board is connected (USB %04x:%04x)", BOARD_VENDOR, BOARD_PRODUCT);
    free(found);
    return EXIT_FINE;
}

/* ---- info ------------------------------------------------------------------------------------ */

static struct board_machine *open_board(const struct board_command *c, char serial[BOARD_SERIAL])
{
    struct why why = { "out of memory" };
    struct board_port *port = board_usb_open(c->serial, &why);
    if (port)
        snprintf(serial, BOARD_SERIAL, "%s", board_usb_serial(port));
    struct board_link *link = port ? link_new(port) : NULL;
    struct board_machine *b = link ? board_machine_new(link, &why) : NULL;
    if (!b && !interrupted())
        complain(c->command, "%s", why.text);
    return b;
}

static const char *name_of(const char *const *names, size_t count, uint32_t i)
{
    return i < count ? names[i] : "unknown";
}

static void add_numbers(cJSON *object, const struct protocol_hello *h)
{
    const uint32_t *p = h->parameters;
    const struct {
        const char *name;
        uint32_t value;
        bool hex;
    } numbers[] = {
        { "protocol", h->version, false },
        { "firmware", h->firmware, true },
        { "bitstream", h->bitstream, true },
        { "clock", h->clock, false },
        { "window", h->window, false },
        { "harts", p[BOARD_PARAM_HARTS], false },
        { "sets", p[BOARD_PARAM_SETS], false },
        { "ways", p[BOARD_PARAM_WAYS], false },
        { "line", p[BOARD_PARAM_LINE_BYTES], false },
        { "store-buffer", p[BOARD_PARAM_STORE_BUFFER], false },
        { "load-queue", p[BOARD_PARAM_LOAD_QUEUE], false },
        { "capture-fifo", p[BOARD_PARAM_CAPTURE], false },
        { "memory", p[BOARD_PARAM_MEMORY_BYTES], false },
        { "code", p[BOARD_PARAM_CODE_BYTES], false },
        { "ram", p[BOARD_PARAM_RAM_BYTES], false },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[16];
        snprintf(text, sizeof text, "%08" PRIx32, numbers[i].value);
        if (numbers[i].hex)
            cJSON_AddStringToObject(object, numbers[i].name, text);
        else
            cJSON_AddNumberToObject(object, numbers[i].name, numbers[i].value);
    }
}

static void add_flags(cJSON *object, uint32_t flags)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } names[] = {
        { "transactions", BOARD_FLAG_TRANSACTIONS },
        { "bugs", BOARD_FLAG_BUGS },
        { "muldiv", BOARD_FLAG_MULDIV },
        { "counters", BOARD_FLAG_COUNTERS },
        { "visible", BOARD_FLAG_VISIBLE },
        { "delays", BOARD_FLAG_DELAYS },
        { "monitor", BOARD_FLAG_MONITOR },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cJSON_AddNumberToObject(object, names[i].name, !!(flags & names[i].flag));
}

static cJSON *describe(const struct protocol_hello *h, const char *serial)
{
    static const char *const causes[] = { [BOARD_CAUSE_POWER] = "power",
                                          [BOARD_CAUSE_WATCHDOG] = "watchdog",
                                          [BOARD_CAUSE_DEBUG] = "debugger" };
    static const char *const models[] = { "SC", "TSO", "PSO", "RMO", "all" };
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "serial", serial);
    add_numbers(object, h);
    cJSON_AddStringToObject(object, "model", name_of(models, 5, h->parameters[BOARD_PARAM_MODEL]));
    add_flags(object, h->parameters[BOARD_PARAM_FLAGS]);
    cJSON_AddStringToObject(object, "reset", name_of(causes, 3, h->cause));
    return object;
}

static int info(const struct board_command *c, const char *file)
{
    char serial[BOARD_SERIAL];
    struct board_machine *b = open_board(c, serial);
    (void)file;
    if (!b)
        return interrupted() ? EXIT_INTERRUPTED : EXIT_TARGET;
    cJSON *object = describe(board_machine_hello(b), serial);
    board_machine_free(b);
    if (c->json) {
        print_json(object);
        return EXIT_FINE;
    }
    for (const cJSON *field = object->child; field; field = field->next)
        if (cJSON_IsString(field))
            printf("%s=%s\n", field->string, field->valuestring);
        else
            printf("%s=%.0f\n", field->string, field->valuedouble);
    cJSON_Delete(object);
    return EXIT_FINE;
}

/* ---- selftest -------------------------------------------------------------------------------- */

static void tell_part(void *user, const struct selftest_result *r)
{
    const struct board_command *c = user;
    if (!c->json) {
        printf("%s %s%s%s%s%s\n", r->good ? "PASS" : "FAIL", r->part, *r->text ? " " : "", r->text,
               r->good ? "" : " reason: ", r->reason);
        fflush(stdout);
        return;
    }
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "verdict", r->good ? "PASS" : "FAIL");
    cJSON_AddStringToObject(object, "part", r->part);
    for (const char *at = r->text; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        char name[64], value[64];
        if (sscanf(at, "%63[^= ]=%63[^ ]", name, value) != 2)
            break;
        char *end;
        double number = strtod(value, &end);
        if (*end)
            cJSON_AddStringToObject(object, name, value);
        else
            cJSON_AddNumberToObject(object, name, number);
    }
    if (!r->good)
        cJSON_AddStringToObject(object, "reason", r->reason);
    print_json(object);
    fflush(stdout);
}

static int selftest(const struct board_command *c, const char *file)
{
    char serial[BOARD_SERIAL];
    struct board_machine *b = open_board(c, serial);
    (void)file;
    uint64_t words = c->words ? c->words : STREAM_WORDS;
    bool good = b && board_selftest(b, words < UINT32_MAX ? (uint32_t)words : UINT32_MAX, tell_part,
                                    (void *)(uintptr_t)c);
    board_machine_free(b);
    return interrupted() ? EXIT_INTERRUPTED : good ? EXIT_FINE : EXIT_TARGET;
}

/* ---- flash ----------------------------------------------------------------------------------- */

/* As a shell takes it, but for characters that a terminal would obey. */
static int tell_flash(const struct board_command *c, const struct flash_command *line)
{
    char *text = NULL;
    size_t size;
    FILE *out = text_stream(&text, &size);
    if (!out)
        return complain(c->command, "out of memory");
    for (const char *const *word = line->word; *word; word++) {
        fputs(word == line->word ? "" : " ", out);
        saved_run_quote(*word, out);
    }
    if (fclose(out) != 0)
        return complain(c->command, "out of memory");
    escape_write(text, false, stdout);
    putchar('\n');
    free(text);
    return EXIT_FINE;
}

static int flash(const struct board_command *c, const char *file)
{
    struct flash_plan plan = { .file = file, .programmer = c->programmer, .config = c->config };
    struct flash_command line;
    struct why why;
    if (!flash_plan(&plan, &line, &why))
        return complain(c->command, "%s", why.text);
    if (c->dry_run)
        return tell_flash(c, &line);
    if (flash_run(&line, &why))
        return EXIT_FINE;
    complain(c->command, "%s", why.text);
    return interrupted() ? EXIT_INTERRUPTED : EXIT_TARGET;
}

/* ---------------------------------------------------------------------------------------------- */

static const struct action {
    const char *name;
    int (*run)(const struct board_command *c, const char *file);
    bool file;
    const char *takes;          /* names of options, separated by blanks */
} actions[] = {
    { "list", list, false, "" },
    { "info", info, false, "serial" },
    { "selftest", selftest, false, "serial words" },
    { "flash", flash, true, "programmer config dry-run" },
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static int usage(const struct board_command *c, const struct action *a, char **operands)
{
    const struct { const char *name; bool given; } given[] = {
        { "serial", c->serial }, { "words", c->words }, { "programmer", c->programmer },
        { "config", c->config }, { "dry-run", c->dry_run }
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].given && !strstr(a->takes, given[i].name))
            return complain(c->command, "--%s is not of 'board %s'", given[i].name, a->name);
    if (a->file && !operands[1])
        return complain(c->command, "which file? 'ordeal board %s FILE'", a->name);
    char *extra = operands[a->file ? 2 : 1];
    if (extra)
        return complain(c->command, "'board %s' takes no '%s'", a->name, extra);
    return -1;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct board_command c = { .command = self };
    const char *names[ACTIONS + 1] = { NULL };
    int operand, status = options_parse(self, argc, argv, &c, &operand);
    if (status >= 0)
        return status;
    char **operands = argv + operand;
    for (int i = 0; i < ACTIONS; i++)
        names[i] = actions[i].name;
    if (!*operands)
        return complain(self, "what about boards? list, info, selftest, or flash FILE");
    for (int i = 0; i < ACTIONS; i++)
        if (strcmp(*operands, names[i]) == 0) {
            status = usage(&c, &actions[i], operands);
            if (status >= 0)
                return status;
            interrupt_watch();
            return actions[i].run(&c, operands[1]);
        }
    const char *near = nearest_name(*operands, names);
    return complain(self, "'%s' is none of list, info, selftest, flash%s%s%s", *operands,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

const struct command command_board = {
    .name = "board",
    .summary = "list, examine, test and program boards on USB",
    .operands = "list | info | selftest | flash FILE",
    .description =
        "The boards that 'ordeal run --target board' runs tests on.\n"
        "  list      a line for each that is connected: its serial number, where it is, and\n"
        "            whether it can be used\n"
        "  info      what it is: builds of firmware and bitstream, clock, what its machine was\n"
        "            built with, why it was last reset\n"
        "  selftest  messages there and back, a stream of known words with its speed, and a small\n"
        "            race on the machine, checked; a line for each with PASS or FAIL\n"
        "  flash     programs it: .bin, a bitstream for an iCE40; .svf, one for an ECP5, and\n"
        "            .elf, firmware, both through OpenOCD and a JTAG adapter\n\n"
        "Exit status: 0 all is well; 2 bad usage; 3 the board is not there, or fails.",
    .example = "  $ ordeal board list\n"
               "  $ ordeal board selftest --serial 00000001\n"
               "  $ ordeal board flash build/fpga/tinyfpga-bx.bin --programmer tinyprog\n",
    .options = options,
    .run = run,
};
