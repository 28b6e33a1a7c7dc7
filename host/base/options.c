/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "ordeal.h"

/* ---- types --------------------------------------------------------------------------- */

static bool parse_flag(const char *text, void *field)
{
    (void)text;
    *(bool *)field = true;
    return true;
}

static bool parse_text(const char *text, void *field)
{
    *(const char **)field = text;
    return *text != '\0';
}

static bool parse_words(const char *text, void *field)
{
    struct words *words = field;
    if (*text == '\0' || words->count == MOST_WORDS)
        return false;
    words->word[words->count++] = text;
    return true;
}

static bool parse_whole(const char *text, void *field)
{
    char *end;
    errno = 0;
    *(uint64_t *)field = strtoull(text, &end, 0);
    return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0';
}

static bool parse_counted(const char *text, void *field)
{
    return parse_whole(text, field) && *(uint64_t *)field > 0;
}

static bool parse_positive(const char *text, double *number)
{
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    return errno == 0 && end != text && *end == '\0' && isfinite(*number) && *number > 0;
}

static bool parse_seconds(const char *text, void *field) { return parse_positive(text, field); }

static bool parse_megabytes(const char *text, void *field)
{
    double megabytes;
    if (!parse_positive(text, &megabytes) || megabytes > (double)(SIZE_MAX >> 21))
        return false;
    *(size_t *)field = (size_t)(megabytes * 1048576);
    return true;
}

static bool parse_model(const char *text, void *field)
{
    struct choice *choice = field;
    enum ordeal_model model;
    choice->given = ordeal_model_parse(text, &model);
    if (choice->given)
        choice->value = (int)model;
    return choice->given;
}

static const char *model_choice(int i)
{
    return i < ORDEAL_MODELS ? ordeal_model_name((enum ordeal_model)i) : NULL;
}

static bool parse_algorithm(const char *text, void *field)
{
    return ordeal_algorithm_parse(text, field);
}

static const char *algorithm_choice(int i)
{
    return i < ORDEAL_ALGORITHMS ? ordeal_algorithm_name((enum ordeal_algorithm)i) : NULL;
}

/* The last of them is read, not written. */
static const char *const format_names[] = { "text", "binary", "axe", "commits" };
enum { FORMATS_READ = 4, FORMATS_WRITTEN = 3 };

static bool parse_format_of(const char *text, void *field, int formats)
{
    for (int i = 0; i < formats; i++)
        if (strcmp(text, format_names[i]) == 0) {
            *(enum ordeal_format *)field = (enum ordeal_format)(ORDEAL_FORMAT_TEXT + i);
            return true;
        }
    return false;
}

static const char *format_choice(int i) { return i < FORMATS_WRITTEN ? format_names[i] : NULL; }

static bool parse_format(const char *text, void *field)
{
    return parse_format_of(text, field, FORMATS_WRITTEN);
}

static const char *format_read_choice(int i) { return i < FORMATS_READ ? format_names[i] : NULL; }

static bool parse_format_read(const char *text, void *field)
{
    return parse_format_of(text, field, FORMATS_READ);
}

const struct option_type option_flag = { parse_flag, NULL, NULL };
const struct option_type option_text = { parse_text, "a name", NULL };
const struct option_type option_words = { parse_words, "a word, and 64 times at most", NULL };
const struct option_type option_whole = { parse_whole, "a whole number", NULL };
const struct option_type option_positive = { parse_counted, "a whole number above 0", NULL };
const struct option_type option_seconds = { parse_seconds, "a number of seconds above 0", NULL };
const struct option_type option_megabytes = { parse_megabytes, "a number of megabytes above 0",
                                              NULL };
const struct option_type option_model = { parse_model, NULL, model_choice };
const struct option_type option_algorithm = { parse_algorithm, NULL, algorithm_choice };
const struct option_type option_format = { parse_format, NULL, format_choice };
const struct option_type option_format_read = { parse_format_read, NULL, format_read_choice };

/* ---- parsing ------------------------------------------------------------------------- */

enum { MOST_OPTIONS = 64, FIRST_CODE = 256, HELP_CODE = FIRST_CODE + MOST_OPTIONS };

static int option_count(const struct command *c)
{
    int n = 0;
    while (c->options[n].name)
        n++;
    assert(n <= MOST_OPTIONS);
    return n;
}

static int unknown_option(const struct command *c, const char *word)
{
    const char *names[MOST_OPTIONS + 2];
    int n = option_count(c);
    for (int i = 0; i < n; i++)
        names[i] = c->options[i].name;
    names[n] = "help";
    names[n + 1] = NULL;
    char bare[LONGEST_NAME + 1];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word, "="), word);
    const char *dashes = bare[0] == '-' && bare[1] == '-' ? "--" : "-";
    const char *near = nearest_name(bare + strspn(bare, "-"), names);
    if (near && dashes[1])
        return complain(c, "unknown option '%s'; did you mean '--%s'?", word, near);
    return complain(c, "unknown option '%s'; 'ordeal %s --help' lists the options", word, c->name);
}

static int bad_argument(const struct command *c, const struct option_spec *spec, const char *text)
{
    if (spec->type->expected)
        return complain(c, "--%s takes %s, not '%s'", spec->name, spec->type->expected, text);
    char list[256] = "";
    for (int i = 0; spec->type->choice(i); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", spec->type->choice(i));
    }
    return complain(c, "--%s takes one of %s, not '%s'", spec->name, list, text);
}

static const struct option_spec *spec_of(const struct command *c, int code)
{
    if (code >= FIRST_CODE)
        return &c->options[code - FIRST_CODE];
    for (const struct option_spec *s = c->options; s->name; s++)
        if (s->letter == code)
            return s;
    return NULL;
}

int options_parse(const struct command *c, int argc, char **argv, void *fields, int *operand)
{
    struct option longs[MOST_OPTIONS + 2];
    char shorts[2 * MOST_OPTIONS + 4] = ":h", *tail = shorts + 2;
    int n = option_count(c);
    for (int i = 0; i < n; i++) {
        const struct option_spec *s = &c->options[i];
        longs[i] = (struct option){ s->name, s->argument ? required_argument : no_argument, NULL,
                                    FIRST_CODE + i };
        if (s->letter)
            tail = stpcpy(tail, (char[]){ s->letter, s->argument ? ':' : '\0', '\0' });
        if (s->preset)
            s->type->parse(s->preset, (char *)fields + s->offset);
    }
    longs[n] = (struct option){ "help", no_argument, NULL, HELP_CODE };
    longs[n + 1] = (struct option){ 0 };

    opterr = 0;
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (code == 'h' || code == HELP_CODE) {
            options_help(c);
            return EXIT_FINE;
        }
        const struct option_spec *spec = code == '?' || code == ':' ? NULL : spec_of(c, code);
        if (code == ':')
            return complain(c, "--%s needs an argument: --%s=%s", spec_of(c, optopt)->name,
                            spec_of(c, optopt)->name, spec_of(c, optopt)->argument);
        if (!spec && optopt >= FIRST_CODE)
            return complain(c, "'%s': this option takes no argument", argv[optind - 1]);
        if (!spec && optopt)
            return unknown_option(c, (char[]){ '-', (char)optopt, '\0' });
        if (!spec)
            return unknown_option(c, argv[optind - 1]);
        if (!spec->type->parse(optarg, (char *)fields + spec->offset))
            return bad_argument(c, spec, optarg);
    }
    *operand = optind;
    return -1;
}

/* ---- help ---------------------------------------------------------------------------- */

static void help_line(const struct option_spec *s)
{
    char left[64];
    int used = s->letter ? snprintf(left, sizeof left, "-%c, ", s->letter)
                         : snprintf(left, sizeof left, "    ");
    snprintf(left + used, sizeof left - (size_t)used, "--%s%s%s", s->name, s->argument ? "=" : "",
             s->argument ? s->argument : "");
    printf("  %-25s ", left);
    for (const char *p = s->help; *p; p++) {
        putchar(*p);
        if (*p == '\n')
            printf("%28s", "");
    }
    if (s->preset)
        printf(" (default: %s)", s->preset);
    putchar('\n');
    if (s->type->choice) {
        printf("%28sone of", "");
        for (int i = 0; s->type->choice(i); i++)
            printf("%s %s", i ? "," : "", s->type->choice(i));
        putchar('\n');
    }
}

void options_help(const struct command *c)
{
    printf("usage: ordeal %s [options] %s\n\n%s\n\noptions:\n", c->name, c->operands,
           c->description);
    for (const struct option_spec *s = c->options; s->name; s++)
        help_line(s);
    help_line(&(struct option_spec){ .name = "help", .letter = 'h', .type = &option_flag,
                                     .help = "print this" });
    printf("\nexample:\n%s", c->example);
    if (c->more_help)
        c->more_help();
}
