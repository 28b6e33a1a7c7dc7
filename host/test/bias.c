/* SPDX-License-Identifier: Apache-2.0 */
#include "bias_reading.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/plain_file.h"
#include "base/why.h"

/* ---- the table ----------------------------------------------------------------------------- */

static const char *const sharing_words[] = { "uniform", "hot", "producer", "migrating", "private",
                                             NULL };
static const char *const values_words[] = { "small", "wide", "high", NULL };
static const char *const yes_words[] = { "no", "yes", NULL };
static const char *const forever_words[] = { "forever", NULL };

#define KEY_NUMBER(section, field, name, preset, least, most, help, ...) \
    { #section, name, help, preset, least, most, NULL, 0 },
#define KEY_CHOICE(section, field, name, preset, words, help) \
    { #section, name, help, preset, 1, 0, words, 0 },
#define KEY_EITHER(section, field, name, preset, least, most, words, help) \
    { #section, name, help, preset, least, most, words, KEY_WORD },

const struct bias_key bias_keys[BIAS_KEY_COUNT] = { BIAS_KEYS(KEY_NUMBER, KEY_CHOICE, KEY_EITHER) };

static bool takes_numbers(const struct bias_key *k) { return k->least <= k->most; }

int bias_allowed(const struct bias_key *k, char *text, size_t size)
{
    int length = snprintf(text, size, takes_numbers(k) ? "%" PRIu32 " to %" PRIu32 : "one of",
                          k->least, k->most);
    for (uint32_t i = 0; k->words && k->words[i]; i++)
        length += snprintf(text + length, size - (size_t)length, "%s %s",
                           takes_numbers(k) ? ", or" : i ? "," : "", k->words[i]);
    return length;
}

int bias_value_text(const struct bias_key *k, uint32_t value, char *text, size_t size)
{
    if (k->words && value >= k->first_word)
        return snprintf(text, size, "%s", k->words[value - k->first_word]);
    return snprintf(text, size, "%" PRIu32, value);
}

bool reading_number(const char *text, uint32_t least, uint32_t most, uint32_t *value)
{
    uint64_t number = 0;
    const char *p = text;
    for (; isdigit((unsigned char)*p); p++)
        number = number > most ? number : number * 10 + (uint64_t)(*p - '0');
    *value = (uint32_t)number;
    return p > text && *p == '\0' && number >= least && number <= most;
}

bool reading_value(const struct bias_key *k, const char *text, uint32_t *value)
{
    for (uint32_t i = 0; k->words && k->words[i]; i++)
        if (strcmp(text, k->words[i]) == 0) {
            *value = k->first_word + i;
            return true;
        }
    return takes_numbers(k) && reading_number(text, k->least, k->most, value);
}

/* ---- life and complaints ------------------------------------------------------------------- */

bool bias_refuse(struct ordeal_error *e, const struct bias_origin *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_vbad(e, where && where->file ? where->file : "", where ? where->line : 0, format, args);
    va_end(args);
    return false;
}

struct bias *bias_new(void)
{
    struct bias *b = calloc(1, sizeof *b);
    for (int i = 0; b && i < BIAS_KEY_COUNT; i++)
        b->values[i] = bias_keys[i].preset;
    return b;
}

void bias_free(struct bias *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->idioms.count; i++) {
        free(b->idioms.data[i].name);
        free(b->idioms.data[i].text);
        for (int k = 0; k < IDIOM_PLACES; k++)
            free(b->idioms.data[i].place[k]);
    }
    for (size_t i = 0; i < b->profiles.count; i++) {
        free(b->profiles.data[i].name);
        free(b->profiles.data[i].only);
        free(b->profiles.data[i].comment);
        LIST_FREE(&b->profiles.data[i].varies);
    }
    for (size_t i = 0; i < b->files.count; i++)
        free(b->files.data[i]);
    LIST_FREE(&b->idioms);
    LIST_FREE(&b->profiles);
    LIST_FREE(&b->files);
    free(b);
}

/* The name as long as the bias lives; NULL: out of memory. */
static const char *keep_file_name(struct bias *b, const char *file)
{
    char *name = strdup(file);
    if (name && LIST_PUSH(&b->files, name))
        return name;
    free(name);
    return NULL;
}

/* ---- keys ---------------------------------------------------------------------------------- */

enum { IDIOM_LINE_MOST = INI_MAX_LINE - 20 };
#define OWN_IDIOM "idiom "
#define PROFILE "profile "

int reading_find_key(const char *section, const char *name)
{
    for (int i = 0; i < BIAS_KEY_COUNT; i++)
        if (strcmp(bias_keys[i].section, section) == 0 && strcmp(bias_keys[i].name, name) == 0)
            return i;
    return -1;
}

static bool is_section(const char *name)
{
    for (int i = 0; i < BIAS_KEY_COUNT; i++)
        if (strcmp(bias_keys[i].section, name) == 0)
            return true;
    return false;
}

static bool unknown_section(struct reading *r, const char *section)
{
    const char *names[BIAS_KEY_COUNT + 1];
    int n = 0;
    for (int i = 0; i < BIAS_KEY_COUNT; i++)
        if (n == 0 || strcmp(bias_keys[i].section, names[n - 1]) != 0)
            names[n++] = bias_keys[i].section;
    names[n] = NULL;
    const char *near = nearest_name(section, names);
    return bias_refuse(
        r->e, &r->at,
        near ? "unknown section [%s]; did you mean [%s]?"
             : "unknown section [%s]; 'ordeal gen --keys' lists them, and [idiom NAME] "
               "and [profile NAME] are your own",
        section, near);
}

/* ", did you mean 'load'?" or what else helps. */
bool reading_unknown_key(struct reading *r, const char *section, const char *name)
{
    const char *names[BIAS_KEY_COUNT + 1];
    int n = 0;
    if (!is_section(section))
        return unknown_section(r, section);
    for (int i = 0; i < BIAS_KEY_COUNT; i++)
        if (strcmp(bias_keys[i].section, section) == 0)
            names[n++] = bias_keys[i].name;
    names[n] = NULL;
    const char *near = nearest_name(name, names);
    if (near)
        return bias_refuse(r->e, &r->at, "unknown key %s.%s; did you mean %s.%s?", section, name,
                           section, near);
    for (int i = 0; i < BIAS_KEY_COUNT; i++)
        if (strcmp(bias_keys[i].name, name) == 0)
            return bias_refuse(r->e, &r->at, "unknown key %s.%s; did you mean %s.%s?", section,
                               name, bias_keys[i].section, name);
    return bias_refuse(r->e, &r->at, "unknown key %s.%s; 'ordeal gen --keys' lists the keys",
                       section, name);
}

bool reading_given_twice(struct reading *r, const struct bias_origin *before, const char *section,
                         const char *name)
{
    return bias_refuse(r->e, &r->at, "%s.%s was given already in line %" PRIu32, section, name,
                       before->line);
}

const char *reading_hint(const char *text, bool varies)
{
    if (strchr(text, '#'))
        return "; a comment has a line of its own";
    if (!varies && (strstr(text, "..") || strchr(text, '|')))
        return "; a range, low..high, or a choice, a | b, is for keys of a [profile NAME]";
    return "";
}

static bool set_key(struct reading *r, int i, const char *text)
{
    const struct bias_key *k = &bias_keys[i];
    char allowed[128];
    uint32_t value;
    if (r->b->origins[i].reading == r->at.reading)
        return reading_given_twice(r, &r->b->origins[i], k->section, k->name);
    if (!reading_value(k, text, &value)) {
        bias_allowed(k, allowed, sizeof allowed);
        return bias_refuse(r->e, &r->at, "%s.%s = %.60s: allowed is %s%s", k->section, k->name,
                           text, allowed, reading_hint(text, false));
    }
    r->b->values[i] = value;
    r->b->origins[i] = r->at;
    return true;
}

/* ---- idioms of the user's own -------------------------------------------------------------- */

bool reading_good_name(struct reading *r, const char *kind, const char *name)
{
    size_t length = strlen(name);
    if (length > 0 && length <= BIAS_NAME_MOST
        && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-")
               == length)
        return true;
    return bias_refuse(r->e, &r->at,
                       "[%s %s]: the name of %s %s has 1 to %d letters, digits, "
                       "_, + or -",
                       kind, name, *kind == 'i' ? "an" : "a", kind, BIAS_NAME_MOST);
}

struct bias_idiom *reading_own_idiom(struct reading *r, const char *name)
{
    struct bias *b = r->b;
    for (size_t i = 0; i < b->idioms.count; i++)
        if (strcmp(b->idioms.data[i].name, name) == 0)
            return &b->idioms.data[i];
    if (!reading_good_name(r, "idiom", name))
        return NULL;
    struct bias_idiom fresh = { .name = strdup(name), .section = r->at };
    if (fresh.name && LIST_PUSH(&b->idioms, fresh))
        return &b->idioms.data[b->idioms.count - 1];
    free(fresh.name);
    error_out_of_memory(r->e, "");
    return NULL;
}

/* Adds a line to the text, without blanks around it and its comment. Lines left out before it
 * become empty ones, so that the n-th line of the text is the n-th from where it began. */
static bool add_line(struct reading *r, struct bias_idiom *x, const char *line, size_t length,
                     uint32_t number)
{
    uint32_t empty = number - x->text_at.line - x->lines;
    for (size_t i = 0; i < length; i++)
        if (line[i] == '#' && (i == 0 || isblank((unsigned char)line[i - 1])))
            length = i;
    for (; length && isblank((unsigned char)*line); line++)
        length--;
    while (length && isspace((unsigned char)line[length - 1]))
        length--;
    if (length > IDIOM_LINE_MOST)
        return bias_refuse(r->e, &(struct bias_origin){ x->text_at.file, number, 0 },
                           "a line of an idiom has at most %d characters", IDIOM_LINE_MOST);
    char *longer = realloc(x->text, x->length + empty + length + 2);
    if (!longer)
        return error_out_of_memory(r->e, "");
    memset(longer + x->length, '\n', empty);
    snprintf(longer + x->length + empty, length + 2, "%.*s\n", (int)length, line);
    x->text = longer;
    x->length += empty + length + 1;
    x->lines += empty + 1;
    return true;
}

/* Lines of text, the first of them having that number. */
static bool add_text(struct reading *r, struct bias_idiom *x, const char *text, uint32_t number)
{
    for (;; number++) {
        size_t length = strcspn(text, "\n");
        if (!add_line(r, x, text, length, number))
            return false;
        text += length;
        if (*text++ == '\0')
            return true;
    }
}

/* A path is relative to the bias file that says it. */
static char *path_beside(const struct reading *r, const char *name)
{
    const char *slash = r->at.line ? strrchr(r->at.file, '/') : NULL;
    char *path;
    int directory = slash && name[0] != '/' ? (int)(slash - r->at.file) + 1 : 0;
    return asprintf(&path, "%.*s%s", directory, r->at.file, name) < 0 ? NULL : path;
}

static bool add_file(struct reading *r, struct bias_idiom *x, FILE *f, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    x->text_at = (struct bias_origin){ keep_file_name(r->b, path), 1, r->at.reading };
    if (!x->text_at.file)
        return error_out_of_memory(r->e, "");
    errno = 0;
    ssize_t length = getdelim(&text, &size, '\0', f);
    bool good = !ferror(f) && feof(f);
    if (!good)
        bias_refuse(r->e, &r->at, "idiom %s.file = %s: %s", x->name, path,
                    errno ? strerror(errno) : "it is not text");
    else
        good = add_text(r, x, length > 0 ? text : "", 1);
    free(text);
    return good;
}

static bool set_file(struct reading *r, struct bias_idiom *x, const char *name)
{
    const char *reason;
    char *path = path_beside(r, name);
    FILE *f = path ? plain_file_open(path, &reason) : NULL;
    bool good = f    ? add_file(r, x, f, path)
              : path ? bias_refuse(r->e, &r->at, "idiom %s.file = %s: %s", x->name, path, reason)
                     : error_out_of_memory(r->e, "");
    if (f)
        fclose(f);
    free(path);
    return good;
}

static bool set_text(struct reading *r, struct bias_idiom *x, const char *key, const char *value)
{
    if (x->text && x->text_at.reading == r->at.reading)
        return bias_refuse(r->e, &r->at, "idiom %s has its test already; it has one 'test' or "
                           "'file'", x->name);
    free(x->text);
    x->text = NULL;
    x->length = x->lines = 0;
    x->text_at = r->at;
    if (strcmp(key, "file") == 0)
        return set_file(r, x, value);
    r->idiom = x;
    return add_text(r, x, value, r->at.line);
}

static bool set_place(struct reading *r, struct bias_idiom *x, int place, const char *value)
{
    if (strlen(value) > IDIOM_LINE_MOST)
        return bias_refuse(r->e, &r->at, "a line of an idiom has at most %d characters",
                           IDIOM_LINE_MOST);
    char *names = strdup(value);
    if (!names)
        return error_out_of_memory(r->e, "");
    free(x->place[place]);
    x->place[place] = names;
    x->place_at[place] = r->at;
    return true;
}

static bool set_own_idiom(struct reading *r, const char *name, const char *key, const char *value)
{
    static const char *const keys[] = { "weight",   "test",    "file",  "uncached",
                                        "one_line", "one_set", "apart", NULL };
    struct bias_idiom *x = reading_own_idiom(r, name);
    if (!x)
        return false;
    if (strcmp(key, "test") == 0 || strcmp(key, "file") == 0)
        return set_text(r, x, key, value);
    for (int place = 0; place < IDIOM_PLACES; place++)
        if (strcmp(key, idiom_place_keys[place]) == 0)
            return x->place_at[place].reading == r->at.reading
                     ? reading_given_twice(r, &x->place_at[place], "idiom", key)
                     : set_place(r, x, place, value);
    if (strcmp(key, "weight") != 0) {
        const char *near = nearest_name(key, keys);
        return bias_refuse(r->e, &r->at, "unknown key '%s' of idiom %s; %s%s", key, name,
                           near
                               ? "did you mean "
                               : "it has weight, test, file, uncached, one_line, one_set and apart",
                           near ? near : "");
    }
    if (x->weight_at.reading == r->at.reading)
        return reading_given_twice(r, &x->weight_at, "idiom", "weight");
    if (!reading_number(value, 0, MOST_WEIGHT, &x->weight))
        return bias_refuse(r->e, &r->at, "idiom %s.weight = %.60s: allowed is 0 to %d%s", name,
                           value, MOST_WEIGHT, reading_hint(value, false));
    x->weight_at = r->at;
    return true;
}

static bool set_value(struct reading *r, const char *section, const char *name, const char *value)
{
    r->idiom = NULL;
    r->profile = NULL;
    if (strncmp(section, PROFILE, strlen(PROFILE)) == 0)
        return profile_set(r, section + strlen(PROFILE), name, value);
    if (strncmp(section, OWN_IDIOM, strlen(OWN_IDIOM)) == 0)
        return set_own_idiom(r, section + strlen(OWN_IDIOM), name, value);
    int key = reading_find_key(section, name);
    return key < 0 ? reading_unknown_key(r, section, name) : set_key(r, key, value);
}

/* ---- files --------------------------------------------------------------------------------- */

static bool fail(struct reading *r, const char *reason)
{
    r->failed = true;
    return bias_refuse(r->e, &r->at, "%s", reason);
}

/* "[NAME]", of which inih says nothing unless a key follows. What does not end it refuses itself. */
static bool open_section(struct reading *r, const char *line)
{
    enum { INIH_CUTS_AT = 49 };
    char name[INIH_CUTS_AT + 1];
    size_t length = strcspn(line + 1, "]");
    if (line[1 + length] != ']')
        return true;
    if (length >= INIH_CUTS_AT)
        return bias_refuse(r->e, &r->at, "the name of the section is too long");
    snprintf(name, sizeof name, "%.*s", (int)length, line + 1);
    if (strncmp(name, PROFILE, strlen(PROFILE)) == 0)
        return profile_open(r, name + strlen(PROFILE));
    if (strncmp(name, OWN_IDIOM, strlen(OWN_IDIOM)) == 0)
        return reading_own_idiom(r, name + strlen(OWN_IDIOM)) != NULL;
    return is_section(name) || unknown_section(r, name);
}

/* The line where it opens a section; else NULL. */
static const char *section_line(const struct reading *r, const char *line)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, which inih skips */
    if (r->at.line == 1 && strncmp(line, mark, strlen(mark)) == 0)
        line += strlen(mark);
    line += strspn(line, " \t\r");
    return *line == '[' && !(r->indented && r->key_seen) ? line : NULL;
}

/* Comments are kept until a line comes that is none. */
static bool keep_comment(struct reading *r, const char *line)
{
    char *longer = NULL;
    if (*line == '#' && asprintf(&longer, "%s%s\n", r->comment ? r->comment : "", line) < 0)
        return error_out_of_memory(r->e, "");
    free(r->comment);
    r->comment = longer;
    return true;
}

/* A line for inih, which takes what is too long for it as several. NULL: no more, or it failed. */
static char *read_line(char *line, int size, void *user)
{
    struct reading *r = user;
    int length = 0, c = r->failed ? EOF : getc(r->in);
    if (c == EOF)
        return NULL;
    r->at.line++;
    for (; c != EOF && c != '\n'; c = getc(r->in)) {
        if (c == '\0' || (c < ' ' && c != '\t' && c != '\r'))
            return fail(r, "a control character; a bias file is text"), NULL;
        if (length >= size - 3)
            return fail(r, "the line is too long"), NULL;
        line[length++] = (char)c;
    }
    line[length] = '\0';
    r->indented = isblank((unsigned char)line[0]);
    const char *section = section_line(r, line);
    r->key_seen = r->key_seen && !section;
    r->failed = (section && !open_section(r, section)) || !keep_comment(r, line);
    return r->failed ? NULL : line;
}

static int take_value(void *user, const char *section, const char *name, const char *value)
{
    struct reading *r = user;
    bool good, continues = r->indented && r->key_seen;
    if (r->failed)
        return 1;
    if (section[0] == '\0')
        good = fail(r, "a key before the first [section]");
    else if (name[0] == '\0')
        good = fail(r, "a value without a key; a line is 'key = value'");
    else if (continues && r->idiom)
        good = add_text(r, r->idiom, value, r->at.line);
    else if (continues && r->profile)
        good = profile_add_only(r, r->profile, value);
    else if (continues)
        good = fail(r, "the line begins with a blank, and so would go on with the value of the "
                       "line before; only the test of an idiom and the 'only' of a profile have "
                       "several lines");
    else
        good = set_value(r, section, name, value);
    r->failed = !good;
    r->key_seen = true;
    return 1;
}

static bool read_all(struct reading *r)
{
    errno = 0;
    int bad_line = ini_parse_stream(read_line, r, take_value, r);
    free(r->comment);
    if (!r->failed && ferror(r->in)) {
        fail(r, strerror(errno));
        r->e->status = ORDEAL_IO;
    }
    if (bad_line > 0 && (!r->failed || (uint32_t)bad_line < r->at.line)) {
        r->at.line = (uint32_t)bad_line;
        fail(r, "expected '[section]' or 'key = value'");
    }
    return !r->failed && bad_line == 0;
}

bool bias_read_stream(struct bias *b, FILE *in, const char *name, struct ordeal_error *e)
{
    struct reading r = {
        .b = b, .e = e, .in = in, .at = { keep_file_name(b, name), 0, ++b->readings }
    };
    return r.at.file ? read_all(&r) : error_out_of_memory(e, "");
}

bool bias_read(struct bias *b, const char *file, struct ordeal_error *e)
{
    const char *reason;
    FILE *in = plain_file_open(file, &reason);
    if (!in) {
        error_bad(e, file, 0, "%s", reason);
        e->status = ORDEAL_IO;
        return false;
    }
    bool good = bias_read_stream(b, in, file, e);
    fclose(in);
    return good;
}

/* ---- --set --------------------------------------------------------------------------------- */

static bool several_sections(struct reading *r, const char *name, int keys)
{
    struct why all = { "" };
    for (int i = 0, n = 0; i < BIAS_KEY_COUNT; i++)
        if (strcmp(bias_keys[i].name, name) == 0) {
            why_add(&all, "%s%s.%s",
                    n == 0          ? ""
                    : n == keys - 1 ? " or "
                                    : ", ",
                    bias_keys[i].section, name);
            n++;
        }
    return bias_refuse(r->e, &r->at, "'%s' is a key of several sections; say %s", name, all.text);
}

/* A key without its section will do where no other section has one of that name. */
static bool set_bare_key(struct reading *r, const char *name, const char *value)
{
    int found = 0, keys = 0;
    const char *names[BIAS_KEY_COUNT + 1];
    for (int i = 0; i < BIAS_KEY_COUNT; i++) {
        names[i] = bias_keys[i].name;
        if (strcmp(bias_keys[i].name, name) == 0) {
            found = i;
            keys++;
        }
    }
    if (keys)
        return keys > 1 ? several_sections(r, name, keys) : set_key(r, found, value);
    names[BIAS_KEY_COUNT] = NULL;
    const char *near = nearest_name(name, names);
    return bias_refuse(r->e, &r->at, near ? "unknown key '%s'; did you mean '%s'?"
                       : "unknown key '%s'; 'ordeal gen --keys' lists the keys", name, near);
}

static bool set_assignment(struct reading *r, char *text)
{
    char *equals = strchr(text, '='), *dot = strchr(text, '.');
    if (!equals)
        return bias_refuse(r->e, &r->at, "'%.100s': expected section.key=value", text);
    char *value = equals + 1 + strspn(equals + 1, " \t");
    while (equals > text && isblank((unsigned char)equals[-1]))
        equals--;
    *equals = '\0';
    if (!dot || dot > equals)
        return set_bare_key(r, text, value);
    *dot = '\0';
    return set_value(r, text, dot + 1, value);
}

bool bias_set(struct bias *b, const char *assignment, struct ordeal_error *e)
{
    struct reading r = { .b = b, .e = e, .at = { "--set", 0, ++b->readings } };
    char *text = strdup(assignment);
    bool good = text ? set_assignment(&r, text) : error_out_of_memory(e, "");
    free(text);
    return good;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_help(const struct bias_key *k, FILE *out)
{
    char allowed[128], preset[32];
    bias_allowed(k, allowed, sizeof allowed);
    bias_value_text(k, k->preset, preset, sizeof preset);
    fputs("# ", out);
    for (const char *p = k->help; *p; p++) {
        putc(*p, out);
        if (*p == '\n')
            fputs("# ", out);
    }
    fprintf(out, " (%s; default %s)\n", allowed, preset);
}

static void write_idiom(const struct bias_idiom *x, FILE *out)
{
    fprintf(out, "\n[idiom %s]\n", x->name);
    if (x->weight_at.reading)
        fprintf(out, "weight = %" PRIu32 "\n", x->weight);
    for (int place = 0; place < IDIOM_PLACES; place++)
        if (x->place[place])
            fprintf(out, "%s = %s\n", idiom_place_keys[place], x->place[place]);
    if (!x->text)
        return;
    fputs("test =\n", out);
    for (const char *line = x->text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (end > line)
            fprintf(out, "    %.*s\n", (int)(end - line), line);
    }
}

static void write_comment(void *user, const struct bias_profile *p, uint32_t slot, FILE *out)
{
    (void)user;
    if (slot == BIAS_NO_SLOT && p->comment)
        fputs(p->comment, out);
}

bool bias_write(const struct bias *b, FILE *out, bool with_help)
{
    static const struct bias_notes comments = { .write = write_comment };
    char value[32];
    for (int i = 0; i < BIAS_KEY_COUNT; i++) {
        const struct bias_key *k = &bias_keys[i];
        bool first = i == 0 || strcmp(k->section, bias_keys[i - 1].section) != 0;
        if (first)
            fprintf(out, "%s[%s]\n", i ? "\n" : "", k->section);
        if (with_help)
            write_help(k, out);
        bias_value_text(k, b->values[i], value, sizeof value);
        fprintf(out, "%s = %s\n", k->name, value);
    }
    for (size_t i = 0; i < b->idioms.count; i++)
        write_idiom(&b->idioms.data[i], out);
    for (size_t i = 0; i < b->profiles.count; i++)
        bias_write_profile(b, &b->profiles.data[i], with_help ? &comments : NULL, out);
    return !ferror(out);
}
