/* SPDX-License-Identifier: Apache-2.0 */
#include "saved_run.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "targets/bug_list.h"
#include "targets/soc/soc_config.h"

#define FIRST_LINE "ordeal-run 1"
_Static_assert(SAVED_RUN_VERSION == 1, "the first line tells it");

/* ---- words ----------------------------------------------------------------------------------- */

static void add_word(struct saved_run_words *w, const char *word)
{
    if (w->count < MOST_RUN_WORDS)
        w->word[w->count++] = word;
    w->word[w->count] = NULL;
}

static void add_pair(struct saved_run_words *w, const char *option, const char *argument)
{
    add_word(w, option);
    add_word(w, argument);
}

static void add_number(struct saved_run_words *w, const char *option, int which, uint64_t number)
{
    snprintf(w->numbers[which], sizeof w->numbers[which], "%" PRIu64, number);
    add_pair(w, option, w->numbers[which]);
}

void saved_run_words(const struct saved_run *r, struct saved_run_words *w)
{
    w->count = 0;
    add_word(w, "run");
    add_pair(w, "--target", r->target->name);
    if (r->how.model_given)
        add_pair(w, "--model", ordeal_model_name(r->how.model));
    target_option_words(&r->how, &w->options);
    for (const char *const *word = w->options.word; *word; word++)
        add_word(w, *word);
    add_number(w, "--seed", 0, r->how.seed);
    add_number(w, "--first-iteration", 1, r->first_iteration);
    add_number(w, "--iterations", 2, r->iterations);
    add_word(w, "--no-save");
    add_pair(w, "--against", ordeal_model_name(r->against));
    if (r->program)
        add_word(w, "--program");
    add_word(w, r->program ? r->program : SAVED_TEST);
}

void saved_run_quote(const char *word, FILE *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+,./:@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

/* ---- writing --------------------------------------------------------------------------------- */

bool saved_run_write(const struct saved_run *r, FILE *out)
{
    struct target_option_told told = { .name = NULL };
    fprintf(out, FIRST_LINE "\ntarget %s\n", r->target->name);
    if (r->how.model_given)
        fprintf(out, "model %s\n", ordeal_model_name(r->how.model));
    while (target_option_next(&r->how, &told))
        if (told.text)
            fprintf(out, "%s %s\n", told.name, told.text);
        else
            fprintf(out, "needs %s\n", told.name);
    fprintf(out,
            "seed %" PRIu64 "\nfirst-iteration %" PRIu64 "\niterations %" PRIu64
            "\nagainst %s\nend\n",
            r->how.seed, r->first_iteration, r->iterations, ordeal_model_name(r->against));
    return !ferror(out);
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { LONGEST_VALUE = 255 };

/* Lines that are there once; but for the model all of them have to be. */
enum part { TARGET, MODEL, SEED, FIRST_ITERATION, ITERATIONS, AGAINST, PARTS };
static const char *const part_names[PARTS] = { "target",          "model",      "seed",
                                               "first-iteration", "iterations", "against" };

struct reading {
    struct saved_run *r;
    const char *name;
    struct ordeal_error *e;
    uint64_t line;
    bool seen[PARTS], options;
};

#define BAD(x, ...) error_bad((x)->e, (x)->name, (x)->line, __VA_ARGS__)

static bool take_whole(struct reading *x, const char *text, uint64_t least, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || (*text == '0' && text[1]) || *end || errno
        || *value < least)
        return BAD(x, "expected a whole number%s, not '%s'", least ? " above 0" : "", text);
    return true;
}

static bool take_target(struct reading *x, const char *text)
{
    x->r->target = target_find(text);
    if (x->r->target)
        return true;
    BAD(x, "there is no target '%s'; expected one of", text);
    for (const struct target *const *t = targets; *t; t++) {
        size_t used = strlen(x->e->reason);
        snprintf(x->e->reason + used, sizeof x->e->reason - used, " %s", (*t)->name);
    }
    return false;
}

static bool take_model(struct reading *x, const char *text, enum ordeal_model *model)
{
    return ordeal_model_parse(text, model)
        || BAD(x, "there is no model '%s'; expected SC, TSO, PSO, PC, RMO, RVWMO or RVTSO", text);
}

static bool take_part(struct reading *x, enum part part, const char *text)
{
    struct saved_run *r = x->r;
    if (x->seen[part])
        return BAD(x, "'%s' is there twice", part_names[part]);
    x->seen[part] = true;
    switch (part) {
    case TARGET: return take_target(x, text);
    case MODEL: r->how.model_given = true; return take_model(x, text, &r->how.model);
    case SEED: return take_whole(x, text, 0, &r->how.seed);
    case FIRST_ITERATION: return take_whole(x, text, 0, &r->first_iteration);
    case ITERATIONS: return take_whole(x, text, 1, &r->iterations);
    default: return take_model(x, text, &r->against);
    }
}

/* As far as one can without opening the machine. */
static bool check_machine(const struct saved_run *r, struct why *why)
{
    struct soc_config config;
    int bug;
    enum ordeal_model model = r->how.model_given ? r->how.model : ORDEAL_TSO;
    if (!target_options_fit(&r->how, r->target->name, why))
        return false;
    if (r->how.bug && r->target->bugs && !bug_parse(r->target->bugs, r->how.bug, model, &bug, why))
        return false;
    return r->target != &target_sim || soc_config_parse(&config, &r->how, why);
}

static bool take_option(struct reading *x, const char *key, const char *value)
{
    struct why why;
    bool again = strcmp(key, "needs") == 0;
    x->options = true;
    if (target_option_take(&x->r->how, again ? value : key, again ? NULL : value, &why)
        && check_machine(x->r, &why))
        return true;
    return BAD(x, "%.400s", why.text);
}

/* No path, no option, no more than a word. */
static bool is_plain(const char *value)
{
    size_t length = strlen(value);
    for (const char *p = value; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_.,=+-", *p))
            return false;
    return length > 0 && length <= LONGEST_VALUE && isalnum((unsigned char)*value);
}

static bool take_pair(struct reading *x, const char *key, const char *value)
{
    if (!x->seen[TARGET] && strcmp(key, part_names[TARGET]) != 0)
        return BAD(x, "expected 'target NAME' in the second line");
    if (x->options && strcmp(key, part_names[MODEL]) == 0)
        return BAD(x, "expected 'model' before what depends on it");
    for (int part = 0; part < PARTS; part++)
        if (strcmp(key, part_names[part]) == 0)
            return take_part(x, (enum part)part, value);
    return take_option(x, key, value);
}

/* Of a machine that does the same again the folder has one execution. */
static bool take_end(struct reading *x)
{
    for (int part = 0; part < PARTS; part++)
        if (!x->seen[part] && part != MODEL)
            return BAD(x, "expected '%s' before the end", part_names[part]);
    if (x->r->target->exact && x->r->iterations != 1)
        return BAD(x, "expected 'iterations 1': '%s' does the same again", x->r->target->name);
    return true;
}

static bool take_line(struct reading *x, char *line)
{
    if (x->line == 1)
        return strcmp(line, FIRST_LINE) == 0
            || BAD(x, "expected '" FIRST_LINE "', the name and version of the format");
    if (strcmp(line, "end") == 0)
        return take_end(x);
    char *value = strchr(line, ' ');
    if (value)
        *value++ = '\0';
    if (!value || !is_plain(line) || !is_plain(value))
        return BAD(x, "expected 'KEY VALUE', both of letters, digits and _.,=+-, and one space "
                      "between them; or 'end'");
    return take_pair(x, line, value);
}

/* Lines up to 'end', behind which there is nothing. */
static bool take_lines(struct reading *x, char *text, const char *end)
{
    bool ended = false;
    for (char *next; text < end; text = next) {
        x->line++;
        if (ended)
            return BAD(x, "expected nothing after 'end'");
        char *line = text, *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline || memchr(line, '\0', (size_t)(newline - line)))
            return BAD(x,
                       "expected a line of text that ends: the file was cut off, or is not text");
        *newline = '\0';
        next = newline + 1;
        ended = x->line > 1 && strcmp(line, "end") == 0;
        if (!take_line(x, line))
            return false;
    }
    x->line++;
    return ended || BAD(x, "expected 'end': the file was cut off");
}

bool saved_run_read(struct saved_run *r, FILE *in, const char *name, struct ordeal_error *e)
{
    struct reading x = { .r = r, .name = name, .e = e };
    *r = (struct saved_run){ .target = NULL };
    errno = 0;
    size_t size = fread(r->text, 1, sizeof r->text, in);
    if (ferror(in))
        return error_set(e, ORDEAL_IO, name, strerror(errno ? errno : EIO)) == ORDEAL_OK;
    if (size == sizeof r->text)
        return BAD(&x, "expected less than %d bytes", SAVED_RUN_BYTES);
    return take_lines(&x, r->text, r->text + size);
}
