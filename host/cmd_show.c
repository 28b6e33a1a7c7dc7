/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal show`: one verdict explained in words and as a picture. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "tell/explain.h"
#include "tell/explain_json.h"
#include "tell/input.h"
#include "base/options.h"
#include "base/output.h"
#include "base/escape.h"
#include "tell/picture.h"
#include "tell/output_line.h"
#include "trial/saved.h"
#include "tell/tell.h"

struct show {
    struct choice model;
    enum ordeal_algorithm algorithm;
    const char *dot, *svg, *soc;
    enum ordeal_format format;
    double limit;
    size_t memory;
    bool time_order, all, json, waves;

    const struct command *command;
    char folder[PATH_MAX], trace[PATH_MAX + 16]; /* a kept folder, and what lies in it; or "" */
    struct input in;
    struct ordeal_verdict *verdict;
    struct naming names;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(show, model, "model", 'm', "MODEL", model, NULL,
           "memory model; without it the trace's own, else TSO:"),
    OPTION(show, algorithm, "algorithm", 'a', "NAME", algorithm, "auto", "how to decide"),
    OPTION(show, time_order, "time-order", 0, NULL, flag, NULL,
           "take the cycles in the trace as order, not only as hints"),
    OPTION(show, dot, "dot", 0, "FILE", text, NULL, "draw the violation for Graphviz"),
    OPTION(show, svg, "svg", 0, "FILE", text, NULL, "draw the violation as a picture"),
    OPTION(show, waves, "waves", 0, NULL, flag, NULL,
           "of a test that 'ordeal run --target sim' kept: look at all signals at\n"
           "the cycles of the violation, with GTKWave; run it again if need be"),
    OPTION(show, soc, "soc", 0, "FILE", text, NULL,
           "the machine for --waves, if it was one of your own"),
    OPTION(show, all, "all", 0, NULL, flag, NULL,
           "of a PASS: the whole order, not only its first and last places"),
    OPTION(show, limit, "limit", 0, "SECONDS", seconds, NULL, "give up after this time: UNDECIDED"),
    OPTION(show, memory, "memory", 0, "MB", megabytes, NULL,
           "give up when more memory is needed: UNDECIDED"),
    OPTION(show, format, "format", 'f', "FORMAT", format_read, NULL,
           "how the trace is written; without it guessed:"),
    OPTION(show, json, "json", 'j', NULL, flag, NULL, "all of it as one JSON object"),
    OPTION_END
};
/* clang-format on */

static const char *model_name(const struct show *s)
{
    return ordeal_model_name(ordeal_verdict_model(s->verdict));
}

/* ---- FAIL ---------------------------------------------------------------------------- */

static int write_picture(struct show *s, const struct proof *p, const char *file,
                         enum picture_format format)
{
    struct output out;
    int error = output_open(&out, file);
    if (error)
        return complain(s->command, "%s: %s", file, strerror(error));
    char title[1024];
    snprintf(title, sizeof title, "%s violates %s", s->in.label, model_name(s));
    errno = 0;
    if (!picture_write(p, &s->names, ordeal_verdict_model(s->verdict), title, format, out.file)) {
        error = errno;
        output_abandon(&out);
        return complain(s->command, "%s: the picture could not be made%s%s", file,
                        error ? ": " : "", error ? strerror(error) : "");
    }
    error = output_commit(&out);
    return error ? complain(s->command, "%s: %s", file, strerror(error)) : EXIT_FINE;
}

static int draw(struct show *s, const struct proof *p)
{
    int status = EXIT_FINE;
    if ((s->dot || s->svg) && p->inferences.count == 0)
        return complain(s->command, "there is nothing to draw: the violation is a single value");
    if (s->dot)
        status = exit_worst(status, write_picture(s, p, s->dot, PICTURE_DOT));
    if (s->svg)
        status = exit_worst(status, write_picture(s, p, s->svg, PICTURE_SVG));
    return status;
}

/* False: `why`. */
static bool have_waves(const struct show *s, FILE *out, struct why *why)
{
    enum saved_there there = saved_is_there(s->folder, SAVED_WAVES, why);
    return there == SAVED_ABSENT ? saved_make_waves(s->folder, s->soc, out, why)
                                 : there == SAVED_THERE;
}

/* The waves lie, or will lie, beside the trace. */
static int look_at_waves(const struct show *s, const struct waves_view *view)
{
    char save[PATH_MAX + 64], text[4096];
    struct why why;
    FILE *out = s->json ? stderr : stdout;
    if (!have_waves(s, out, &why) || !saved_add_view(s->folder, view, &why))
        return complain(s->command, "%s", why.text);
    snprintf(save, sizeof save, "%s/%s", s->folder, SAVED_VIEW);
    waves_describe(view, text, sizeof text);
    fputs("\nWaves: ", out);
    escape_write(save, false, out);
    fprintf(out, ", %s\n", text);
    if (!waves_open(save, &why)) {
        escape_write(why.text, false, out);
        fputc('\n', out);
    }
    return EXIT_FINE;
}

static int show_waves(struct show *s)
{
    struct waves_view view;
    const char *slash = strrchr(s->in.name, '/'), *base = slash ? slash + 1 : s->in.name;
    if (strcmp(base, SAVED_TRACE) != 0)
        return complain(s->command, "--waves are of a test that was kept: name its folder");
    if (!*s->folder)
        snprintf(s->folder, sizeof s->folder, "%.*s", slash ? (int)(slash - s->in.name) : 1,
                 slash == s->in.name ? "/"
                 : slash             ? s->in.name
                                     : ".");
    waves_of_verdict(&view, s->in.trace, s->verdict);
    return look_at_waves(s, &view);
}

static void line_fail(struct show *s, cJSON *line, const struct explanation *e)
{
    uint32_t unwritten = ordeal_verdict_unwritten(s->verdict);
    if (unwritten != ORDEAL_NONE)
        cJSON_AddStringToObject(line, "unwritten", name_event(&s->names, unwritten, ORDEAL_NONE));
    explain_json(line, e, &s->names, ordeal_verdict_model(s->verdict));
}

/* ---- PASS ---------------------------------------------------------------------------- */

static void line_order(struct show *s, cJSON *line)
{
    const struct ordeal_place *places;
    size_t count = ordeal_verdict_order(s->verdict, &places);
    cJSON *order = cJSON_AddArrayToObject(line, "order");
    for (size_t i = 0; i < count && order; i++) {
        cJSON *place = cJSON_CreateObject();
        cJSON_AddStringToObject(place, "op",
                                name_event(&s->names, places[i].event, places[i].view));
        cJSON_AddNumberToObject(place, "line", line_of_event(&s->names, places[i].event));
        cJSON_AddItemToArray(order, place);
    }
}

/* ---- the command ----------------------------------------------------------------------- */

static void show_record(struct show *s, const struct explanation *e)
{
    enum ordeal_result result = ordeal_verdict_result(s->verdict);
    const char *note = ordeal_verdict_note(s->verdict);
    cJSON *line = output_line_new(verdict_words[result], &s->in);
    cJSON_AddStringToObject(line, "model", model_name(s));
    cJSON_AddStringToObject(line, "algorithm", ordeal_algorithm_name(s->algorithm));
    output_line_counters(line, s->verdict);
    if (note[0])
        cJSON_AddStringToObject(line, "note", note);
    if (result == ORDEAL_FAIL)
        line_fail(s, line, e);
    else if (result == ORDEAL_PASS)
        line_order(s, line);
    output_line_print(line, true);
}

static int show_explained(struct show *s, const struct proof *p, const struct explanation *e)
{
    enum ordeal_result result = ordeal_verdict_result(s->verdict);
    char name[PATH_MAX];
    struct input in = s->in; /* with a name for people */
    struct told told = { .in = &in, .verdict = s->verdict, .why = e, .all = s->all, .out = stdout };
    escape_text(name, sizeof name, in.label);
    in.label = name;
    in.name = strcmp(in.name, "-") == 0 ? in.name : name;
    if (s->json)
        show_record(s, e);
    else if (!tell_verdict(&told))
        return complain(s->command, "out of memory");
    if (result == ORDEAL_FAIL) {
        int drawn = draw(s, p);
        if (s->waves)
            drawn = exit_worst(drawn, show_waves(s));
        return drawn == EXIT_FINE ? EXIT_VIOLATION : drawn;
    }
    if (s->waves)
        complain(s->command, "no waves are looked at: there is no violation");
    if (s->dot || s->svg)
        complain(s->command, "no picture is written: there is no violation to draw");
    if (result == ORDEAL_UNDECIDED)
        return interrupted() ? EXIT_INTERRUPTED : EXIT_UNDECIDED;
    return EXIT_FINE;
}

static int show_verdict(struct show *s)
{
    struct proof proof = { 0 };
    struct explanation e = { 0 };
    bool whole = ordeal_verdict_result(s->verdict) != ORDEAL_FAIL
              || (proof_read(&proof, s->verdict)
                  && explain(&e, &proof, &s->names, ordeal_verdict_model(s->verdict)));
    int status = whole ? show_explained(s, &proof, &e) : complain(s->command, "out of memory");
    explanation_free(&e);
    proof_free(&proof);
    return status;
}

static int show_error(const struct show *s, const struct ordeal_error *e)
{
    char text[1024];
    error_format(e, text, sizeof text);
    if (e->status == ORDEAL_INTERNAL) {
        complain(s->command, "%s: internal error: the verdict could not be proved: %s; please "
                             "report this with the trace", s->in.label, e->reason);
        return EXIT_INTERNAL;
    }
    complain(s->command, "%s", text);
    if (e->status == ORDEAL_LIMIT)
        return interrupted() ? EXIT_INTERRUPTED : EXIT_UNDECIDED;
    return EXIT_BAD;
}

static int show_trace(struct show *s)
{
    struct ordeal_options how = { .model = ORDEAL_TSO, .algorithm = s->algorithm,
                                  .time_order = s->time_order };
    ordeal_trace_claimed(s->in.trace, &how.model);
    if (s->model.given)
        how.model = (enum ordeal_model)s->model.value;
    enum ordeal_status status = ordeal_check(s->in.trace, &how, &s->verdict);
    progress_erase(&s->in.progress);
    if (status != ORDEAL_OK) {
        struct ordeal_error e = *ordeal_last_error(s->in.o);
        e.status = status;
        if (!e.file[0])
            snprintf(e.file, sizeof e.file, "%s", s->in.name);
        return show_error(s, &e);
    }
    s->names = (struct naming){ .trace = s->in.trace, .verdict = s->verdict,
                                .views = how.model == ORDEAL_PC };
    int shown = show_verdict(s);
    ordeal_verdict_free(s->verdict);
    return shown;
}

/* A folder that 'ordeal run' kept a machine that broke in: there is no trace, but what was said. */
static int show_broke(const struct show *s)
{
    char text[4096];
    struct why why;
    FILE *in;
    enum saved_there there = saved_open(s->folder, SAVED_EXPLANATION, &in, &why);
    if (there == SAVED_REFUSED)
        return complain(s->command, "%s", why.text);
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        fclose(in);
    text[length] = '\0';
    if (!length)
        return complain(s->command, "%s: it is no folder that 'ordeal run' made", s->folder);
    fputs("FAIL ", stdout);
    escape_write(text, true, stdout);
    struct waves_view view;
    waves_of_words(&view, text);
    int looked = s->waves ? look_at_waves(s, &view) : EXIT_FINE;
    return looked == EXIT_FINE ? EXIT_VIOLATION : looked;
}

static bool is_folder(const char *name)
{
    struct stat is;
    return stat(name, &is) == 0 && S_ISDIR(is.st_mode);
}

/* What was opened is in s->in, or why it was not. */
static int show_opened(struct show *s, enum ordeal_status opened)
{
    if (opened == ORDEAL_OK)
        opened = input_next(&s->in);
    if (opened == ORDEAL_OK)
        return show_trace(s);
    if (opened == ORDEAL_END)
        return complain(s->command, "%s: there is no trace in it; expected 'ordeal 1' first",
                        s->in.label);
    return show_error(s, &s->in.error);
}

static struct ordeal_limits limits_of(const struct show *s)
{
    return (struct ordeal_limits){ .seconds = s->limit, .bytes = s->memory };
}

static int show_file(struct show *s, const char *name)
{
    struct ordeal_limits limits = limits_of(s);
    return show_opened(s, input_open(&s->in, name, s->format, &limits));
}

static int show_folder(struct show *s, const char *folder)
{
    struct ordeal_limits limits = limits_of(s);
    struct why why;
    FILE *file;
    snprintf(s->folder, sizeof s->folder, "%s", folder);
    snprintf(s->trace, sizeof s->trace, "%s/%s", s->folder, SAVED_TRACE);
    switch (saved_open(s->folder, SAVED_TRACE, &file, &why)) {
    case SAVED_THERE: return show_opened(s, input_take(&s->in, file, s->trace, s->format, &limits));
    case SAVED_ABSENT: return show_broke(s);
    default: return complain(s->command, "%s", why.text);
    }
}

static int run(const struct command *self, int argc, char **argv)
{
    struct show s = { .command = self };
    int operand, status = options_parse(self, argc, argv, &s, &operand);
    if (status >= 0)
        return status;
    if (argc - operand != 1)
        return complain(self, "%s", argc == operand
                        ? "which trace? Name a file, or '-' for standard input"
                        : "one trace at a time; 'ordeal check' takes several");
    if (s.soc && !s.waves)
        return complain(self, "--soc is the machine for --waves; add that");
    interrupt_watch();
    status = is_folder(argv[operand]) ? show_folder(&s, argv[operand])
                                      : show_file(&s, argv[operand]);
    input_close(&s.in);
    return status;
}

const struct command command_show = {
    .name = "show",
    .summary = "explain the verdict on one trace, in words and as a picture",
    .operands = "TRACE|FOLDER",
    .description =
        "Says whether the trace obeys the model and why. Of a violation it prints the operations\n"
        "that already violate it, a column a thread, the order they force and where it breaks,\n"
        "and then the steps: what must be before what (<), by which rule, from which earlier\n"
        "steps, [in which lines]; the last step is the contradiction. --dot and --svg draw it.\n"
        "To ask what if, edit the trace and show it again. "
        "Of a file with several traces the first is shown, of a folder that 'ordeal run' kept a\n"
        "failing test in, that test.\n\n"
        "The rules: R1, R2, R3, PO, SA, DEP, T2, T3 keep program order (loads first, stores in\n"
        "order, membars, the model, same word, dependence, transactions); R4, R5, R6, R7 follow\n"
        "from the values that loads saw; INIT, A6, FIN, TIME from initial values, 'order' lines,\n"
        "final values and cycles; AT: a swap is one piece. Exit status as for 'ordeal check'.",
    .example = "  $ ordeal show --waves ordeal-failures/test-000007\n"
               "  $ ordeal show --svg why.svg failing.trace\n"
               "  ...\n"
               "   1. P2 S[A]#2 is before P1 L[A]=2, which saw it (R4) [4,3]\n",
    .options = options,
    .run = run,
};
