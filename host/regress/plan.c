/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as text: sections, keys, values. */
#include "plan.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/plain_file.h"
#include "plan_parts.h"

/* ---- keys ---------------------------------------------------------------------------------------- */

enum { TYPE_text = PLAN_TEXT, TYPE_positive = PLAN_COUNT, TYPE_flag = PLAN_FLAG };

const struct plan_key plan_keys[] = { { "target", PLAN_TARGET, NULL, "target", false },
                                      { "model", PLAN_MODEL, NULL, "model", false },
                                      { "against", PLAN_MODEL, NULL, "against", false },
                                      { "bias", PLAN_FILE, NULL, "bias", true },
                                      { "set", PLAN_SET, NULL, "set", true },
                                      { "seeds", PLAN_SEEDS, NULL, "seed", false },
                                      { "iterations", PLAN_COUNT, NULL, "iterations", false },
                                      { "limit", PLAN_NUMBER, NULL, "limit", false },
                                      { "timeout", PLAN_NUMBER, NULL, "timeout", false },
#define KEY(TYPE, FIELD, NAME, ARGUMENT, TARGETS, REPLAY, HELP) \
    { NAME, (enum plan_type)TYPE_##TYPE, TARGETS, NAME, false },
                                      TARGET_OPTIONS(KEY)
#undef KEY
};
const int plan_key_count = sizeof plan_keys / sizeof *plan_keys;
enum { KEYS = sizeof plan_keys / sizeof *plan_keys };

/* Options that make no sense in a regression: what runs nothing, and what has a place of its own. */
static bool is_left_out(const char *name)
{
    return strcmp(name, "emit") == 0 || strcmp(name, "coverage") == 0;
}

/* Keys that are numbers of the plan itself: of the whole, and of a section. */
struct own_key {
    const char *name;
    enum plan_type type;
    size_t offset;
};
#define OWN(STRUCT, NAME, TYPE, FIELD) \
    { \
        NAME, TYPE, offsetof(struct STRUCT, FIELD) \
    }
static const struct own_key whole_keys[] = {
    OWN(plan, "tests", PLAN_COUNT, budget.tests),
    OWN(plan, "cycles", PLAN_COUNT, budget.cycles),
    OWN(plan, "seconds", PLAN_NUMBER, budget.seconds),
    OWN(plan, "batch", PLAN_COUNT, batch),
    OWN(plan, "examples", PLAN_COUNT, examples),
    OWN(plan, "worker", PLAN_NUMBER, worker),
    OWN(plan, "shrink", PLAN_NUMBER, shrink),
    OWN(plan, "waves", PLAN_FLAG, waves),
    OWN(plan, "coverage", PLAN_FLAG, coverage),
};
enum { WHOLE_KEYS = sizeof whole_keys / sizeof *whole_keys };
static const struct own_key section_keys[] = {
    OWN(plan_section, "tests", PLAN_COUNT, budget.tests),
    OWN(plan_section, "cycles", PLAN_COUNT, budget.cycles),
    OWN(plan_section, "seconds", PLAN_NUMBER, budget.seconds),
    OWN(plan_section, "weight", PLAN_NUMBER, weight),
};
enum { SECTION_KEYS = sizeof section_keys / sizeof *section_keys };
#undef OWN

struct reading {
    struct plan_text text;
    FILE *in;
    const char *file;
    uint32_t line;
    bool failed, indented;
    enum { NOWHERE, IN_WHOLE, IN_SECTION } where;
    uint32_t given[WHOLE_KEYS];           /* the line of each; 0: not yet */
    uint32_t section_given[SECTION_KEYS]; /* of the section that is open */
    uint32_t incidents_at;
};

bool plan_refuse(const struct plan_text *t, uint32_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_vbad(t->e, t->plan->file ? t->plan->file : "", line, format, args);
    va_end(args);
    return false;
}

#define REFUSE(r, ...) plan_refuse(&(r)->text, (r)->line, __VA_ARGS__)

static bool out_of_memory(struct reading *r) { return error_out_of_memory(r->text.e, r->file); }

static struct plan_section *open_one(struct reading *r)
{
    return &r->text.sections.data[r->text.sections.count - 1];
}

/* ---- values -------------------------------------------------------------------------------------- */

static bool is_count(const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno && value > 0 && value < INT64_MAX;
}

static bool is_positive(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && !*end && !errno && isfinite(*value) && *value > 0;
}

static bool is_flag(const char *text)
{
    return strcmp(text, "yes") == 0 || strcmp(text, "no") == 0;
}

static bool take_own(struct reading *r, const struct own_key *k, const char *value, void *to)
{
    double number = 0;
    void *field = (char *)to + k->offset;
    switch (k->type) {
    case PLAN_COUNT:
        if (!is_count(value))
            return REFUSE(r, "%s = %.60s: allowed is a whole number above 0", k->name, value);
        *(uint64_t *)field = strtoull(value, NULL, 10);
        return true;
    case PLAN_FLAG:
        if (!is_flag(value))
            return REFUSE(r, "%s = %.60s: allowed is yes or no", k->name, value);
        *(bool *)field = *value == 'y';
        return true;
    default:
        if (!is_positive(value, &number)
            && !(field == &r->text.plan->shrink && !strcmp(value, "0")))
            return REFUSE(r, "%s = %.60s: allowed is a number above 0", k->name, value);
        *(double *)field = number;
        return true;
    }
}

static bool given_twice(struct reading *r, const char *name, uint32_t before)
{
    return REFUSE(r, "%s is given twice, first in line %" PRIu32, name, before);
}

/* "a, b and c" of names, or the nearest. */
static bool unknown_key(struct reading *r, const char *where, const char *name, const char **names,
                        int count)
{
    char all[1024] = "";
    names[count] = NULL;
    const char *near = nearest_name(name, names);
    if (near)
        return REFUSE(r, "unknown key '%.60s' of %s; did you mean '%s'?", name, where, near);
    for (int i = 0; i < count; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", names[i]);
    }
    return REFUSE(r, "unknown key '%.60s' of %s; there are %s", name, where, all);
}

static bool take_incidents(struct reading *r, const char *value)
{
    if (r->incidents_at)
        return given_twice(r, "incidents", r->incidents_at);
    r->incidents_at = r->line;
    r->text.plan->incidents_fail = strcmp(value, "fail") == 0;
    return r->text.plan->incidents_fail || strcmp(value, "report") == 0
        || REFUSE(r, "incidents = %.60s: allowed is report or fail", value);
}

static bool take_whole(struct reading *r, const char *name, const char *value)
{
    const char *names[WHOLE_KEYS + 2];
    for (int i = 0; i < WHOLE_KEYS; i++) {
        names[i] = whole_keys[i].name;
        if (strcmp(name, names[i]) != 0)
            continue;
        if (r->given[i])
            return given_twice(r, name, r->given[i]);
        r->given[i] = r->line;
        if (i < 3)
            r->text.budget_line = r->line;
        return take_own(r, &whole_keys[i], value, r->text.plan);
    }
    if (strcmp(name, "incidents") == 0)
        return take_incidents(r, value);
    names[WHOLE_KEYS] = "incidents";
    return unknown_key(r, "[regression]", name, names, WHOLE_KEYS + 1);
}

/* ---- values of runs ------------------------------------------------------------------------------ */

static bool bad_target(struct reading *r, const char *value)
{
    const char *names[16];
    char all[128] = "";
    int count = 0;
    for (; targets[count]; count++) {
        size_t used = strlen(all);
        names[count] = targets[count]->name;
        snprintf(all + used, sizeof all - used, "%s%s", count ? ", " : "", names[count]);
    }
    names[count] = NULL;
    const char *near = nearest_name(value, names);
    return REFUSE(r, "target = %.60s: allowed is one of %s%s%s%s", value, all,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool bad_model(struct reading *r, const char *key, const char *value)
{
    char all[128] = "";
    for (int i = 0; i < ORDEAL_MODELS; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "",
                 ordeal_model_name((enum ordeal_model)i));
    }
    return REFUSE(r, "%s = %.60s: allowed is one of %s", key, value, all);
}

/* Beside the plan; of a folder its tuned.bias. Takes the place of the value. */
static bool find_file(struct reading *r, const struct plan_key *k, char **value)
{
    struct stat is;
    char *copy = strdup(r->file), *path = NULL;
    const char *beside = copy && **value != '/' ? dirname(copy) : "";
    bool here = !*beside || strcmp(beside, ".") == 0;
    int length = copy ? asprintf(&path, "%s%s%s", here ? "" : beside, here ? "" : "/", *value) : -1;
    free(copy);
    if (length < 0)
        return out_of_memory(r);
    free(*value);
    *value = path;
    if (stat(path, &is) != 0)
        return REFUSE(r, "%s = %.200s: %s", k->name, path, strerror(errno));
    if (!S_ISDIR(is.st_mode))
        return true;
    if (asprintf(value, "%s/tuned.bias", path) < 0)
        return *value = path, out_of_memory(r);
    free(path);
    return stat(*value, &is) == 0
        || REFUSE(r, "%s = %.200s: a folder of 'ordeal tune' has this file, but: %s", k->name,
                  *value, strerror(errno));
}

static bool is_file_key(const struct plan_key *k)
{
    return k->type == PLAN_FILE || strcmp(k->name, "soc") == 0;
}

static bool check_value(struct reading *r, const struct plan_key *k, char **value)
{
    enum ordeal_model model;
    double number;
    switch (k->type) {
    case PLAN_TARGET: return target_find(*value) || bad_target(r, *value);
    case PLAN_MODEL: return ordeal_model_parse(*value, &model) || bad_model(r, k->name, *value);
    case PLAN_SET:
        return strchr(*value, '=') > *value
            || REFUSE(r, "set = %.60s: allowed is KEY=VALUE, as of 'ordeal run --set'", *value);
    case PLAN_COUNT:
        return is_count(*value)
            || REFUSE(r, "%s = %.60s: allowed is a whole number above 0", k->name, *value);
    case PLAN_NUMBER:
        return is_positive(*value, &number)
            || REFUSE(r, "%s = %.60s: allowed is a number above 0", k->name, *value);
    case PLAN_FLAG:
        return is_flag(*value) || REFUSE(r, "%s = %.60s: allowed is yes or no", k->name, *value);
    default: return !is_file_key(k) || find_file(r, k, value);
    }
}

static bool push_value(struct reading *r, struct plan_entry *e, const char *text, size_t length)
{
    if (e->values.count >= PLAN_MOST_VALUES)
        return REFUSE(r, "%s has more than %d values", e->key->name, PLAN_MOST_VALUES);
    char *copy = strndup(text, length);
    if (!copy || !LIST_PUSH(&e->values, copy)) {
        free(copy);
        return out_of_memory(r);
    }
    return true;
}

static bool bad_seeds(struct reading *r, const char *text, size_t length)
{
    return REFUSE(r,
                  "seeds = %.*s: allowed are numbers, and FIRST..LAST for all from one to another",
                  (int)(length < 60 ? length : 60), text);
}

static bool take_seeds(struct reading *r, struct plan_entry *e, const char *text, size_t length)
{
    char *end, number[24];
    errno = 0;
    uint64_t first = strtoull(text, &end, 10), last = first;
    if (!isdigit((unsigned char)*text) || errno)
        return bad_seeds(r, text, length);
    if (strncmp(end, "..", 2) == 0 && isdigit((unsigned char)end[2]))
        last = strtoull(end + 2, &end, 10);
    if (end != text + length || errno || last < first || last > UINT64_C(1) << 53)
        return bad_seeds(r, text, length);
    if (last - first >= PLAN_MOST_VALUES)
        return REFUSE(r, "seeds has more than %d values", PLAN_MOST_VALUES);
    for (uint64_t seed = first; seed <= last; seed++) {
        int used = snprintf(number, sizeof number, "%" PRIu64, seed);
        if (!push_value(r, e, number, (size_t)used))
            return false;
    }
    return true;
}

/* One of the values between '|'. */
static bool take_value(struct reading *r, struct plan_entry *e, const char *text, size_t length)
{
    for (; length && isspace((unsigned char)*text); text++)
        length--;
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    if (!length)
        return REFUSE(r, "%s: a value is missing", e->key->name);
    if (e->key->type == PLAN_SEEDS)
        return take_seeds(r, e, text, length);
    return push_value(r, e, text, length)
        && check_value(r, e->key, &e->values.data[e->values.count - 1]);
}

static bool take_values(struct reading *r, const struct plan_key *k, const char *value)
{
    struct plan_section *s = open_one(r);
    struct plan_entry fresh = { .key = k, .line = r->line };
    for (size_t i = 0; i < s->entries.count; i++)
        if (s->entries.data[i].key == k && !k->many)
            return given_twice(r, k->name, s->entries.data[i].line);
    if (!LIST_PUSH(&s->entries, fresh))
        return out_of_memory(r);
    struct plan_entry *e = &s->entries.data[s->entries.count - 1];
    for (const char *text = value;; text++) {
        size_t length = strcspn(text, "|");
        if (!take_value(r, e, text, length))
            return false;
        text += length;
        if (!*text)
            return true;
    }
}

static bool take_of_run(struct reading *r, const char *name, const char *value)
{
    const char *names[KEYS + SECTION_KEYS + 1];
    struct plan_section *s = open_one(r);
    int count = 0;
    for (int i = 0; i < SECTION_KEYS && s->name; i++) {
        names[count++] = section_keys[i].name;
        if (strcmp(name, section_keys[i].name) != 0)
            continue;
        if (r->section_given[i])
            return given_twice(r, name, r->section_given[i]);
        r->section_given[i] = s->budget_line = r->line;
        return take_own(r, &section_keys[i], value, s);
    }
    for (int i = 0; i < KEYS; i++) {
        if (is_left_out(plan_keys[i].name))
            continue;
        names[count++] = plan_keys[i].name;
        if (strcmp(name, plan_keys[i].name) == 0)
            return take_values(r, &plan_keys[i], value);
    }
    return unknown_key(r, s->name ? "a run" : "[all]", name, names, count);
}

/* ---- sections ------------------------------------------------------------------------------------ */

static const char run_word[] = "run ";

static bool open_run(struct reading *r, const char *name)
{
    struct plan_section fresh = { .line = r->line, .weight = 1 };
    if (!*name || strpbrk(name, "/ \t"))
        return REFUSE(r, "[run %.40s]: the name of a run is a word without '/'", name);
    for (size_t i = 1; i < r->text.sections.count; i++)
        if (strcmp(r->text.sections.data[i].name, name) == 0)
            return REFUSE(r, "[run %.40s] is there twice, first in line %" PRIu32, name,
                          r->text.sections.data[i].line);
    fresh.name = strdup(name);
    if (!fresh.name || !LIST_PUSH(&r->text.sections, fresh)) {
        free(fresh.name);
        return out_of_memory(r);
    }
    memset(r->section_given, 0, sizeof r->section_given);
    r->where = IN_SECTION;
    return true;
}

static bool open_section(struct reading *r, const char *name)
{
    if (strncmp(name, run_word, strlen(run_word)) == 0)
        return open_run(r, name + strlen(run_word));
    r->where = strcmp(name, "regression") == 0 ? IN_WHOLE : IN_SECTION;
    if (r->where == IN_WHOLE)
        return true;
    if (strcmp(name, "all") != 0)
        return REFUSE(r, "unknown section [%.40s]; there are [regression], [all] and [run NAME]",
                      name);
    return r->text.sections.count == 1 || REFUSE(r, "[all] stands before the first [run NAME]");
}

/* From a '#' that follows a blank; inih knows those that begin a line. */
static void cut_comment(char *line)
{
    for (char *p = line; (p = strchr(p, '#')); p++)
        if (p > line && isblank((unsigned char)p[-1])) {
            *p = '\0';
            return;
        }
}

static const char byte_order_mark[] = "\xef\xbb\xbf"; /* some editors begin a text with it */

/* A line for inih, which says nothing of sections without keys and takes what is too long as several. */
static char *read_line(char *line, int size, void *user)
{
    struct reading *r = user;
    int length = 0, c = r->failed ? EOF : getc(r->in);
    if (c == EOF)
        return NULL;
    r->line++;
    for (; c != EOF && c != '\n'; c = getc(r->in)) {
        if (c == '\0' || (c < ' ' && c != '\t' && c != '\r'))
            return r->failed = !REFUSE(r, "a control character; a plan is text"), NULL;
        if (length >= size - 3)
            return r->failed = !REFUSE(r, "the line is too long"), NULL;
        line[length++] = (char)c;
    }
    line[length] = '\0';
    if (r->line == 1 && strncmp(line, byte_order_mark, strlen(byte_order_mark)) == 0)
        memmove(line, line + strlen(byte_order_mark), (size_t)length + 1 - strlen(byte_order_mark));
    cut_comment(line);
    r->indented = isblank((unsigned char)line[0]);
    const char *start = line + strspn(line, " \t\r");
    size_t end = *start == '[' ? strcspn(start, "]") : 0;
    if (*start == '[' && start[end] == ']') {
        char name[64];
        if (end - 1 >= 49) /* inih cuts it there */
            return r->failed = !REFUSE(r, "the name of the section is too long"), NULL;
        snprintf(name, sizeof name, "%.*s", (int)(end - 1), start + 1);
        r->failed = !open_section(r, name);
    }
    return r->failed ? NULL : line;
}

static int take_line(void *user, const char *section, const char *name, const char *value)
{
    struct reading *r = user;
    bool good;
    (void)section;
    if (r->failed)
        return 1;
    if (r->indented)
        good = REFUSE(r, "the line begins with a blank; a line is 'key = value'");
    else if (r->where == NOWHERE)
        good = REFUSE(r, "a key before the first [section]");
    else if (!*name)
        good = REFUSE(r, "a value without a key; a line is 'key = value'");
    else
        good = r->where == IN_WHOLE ? take_whole(r, name, value) : take_of_run(r, name, value);
    r->failed = !good;
    return 1;
}

static bool read_all(struct reading *r)
{
    errno = 0;
    int bad_line = ini_parse_stream(read_line, r, take_line, r);
    if (!r->failed && ferror(r->in))
        r->failed = !REFUSE(r, "%s", strerror(errno));
    if (bad_line > 0 && (!r->failed || (uint32_t)bad_line < r->line)) {
        r->line = (uint32_t)bad_line;
        r->failed = !REFUSE(r, "expected '[section]' or 'key = value'");
    }
    if (!r->failed && bad_line != 0)
        r->failed = !out_of_memory(r);
    return !r->failed;
}

static void free_text(struct plan_text *t)
{
    for (size_t i = 0; i < t->sections.count; i++) {
        struct plan_section *s = &t->sections.data[i];
        for (size_t k = 0; k < s->entries.count; k++) {
            for (size_t v = 0; v < s->entries.data[k].values.count; v++)
                free(s->entries.data[k].values.data[v]);
            LIST_FREE(&s->entries.data[k].values);
        }
        LIST_FREE(&s->entries);
        free(s->name);
    }
    LIST_FREE(&t->sections);
}

bool plan_read_stream(struct plan *p, FILE *in, const char *file, struct ordeal_error *e)
{
    struct reading r = { .text = { .plan = p, .e = e }, .in = in, .file = file };
    struct plan_section all = { .weight = 1 };
    *p = (struct plan){ .examples = 3,
                        .worker = 3600,
                        .shrink = 60,
                        .waves = true,
                        .coverage = true,
                        .file = strdup(file) };
    bool good = p->file && LIST_PUSH(&r.text.sections, all) ? read_all(&r)
                                                            : error_out_of_memory(e, file);
    good = good && plan_expand(&r.text);
    free_text(&r.text);
    return good;
}

bool plan_read(struct plan *p, const char *file, struct ordeal_error *e)
{
    const char *reason;
    FILE *in = plain_file_open(file, &reason);
    *p = (struct plan){ 0 };
    if (!in) {
        error_bad(e, file, 0, "%s", reason);
        e->status = ORDEAL_IO;
        return false;
    }
    bool good = plan_read_stream(p, in, file, e);
    fclose(in);
    return good;
}

void plan_free(struct plan *p)
{
    for (size_t i = 0; i < p->runs.count; i++) {
        struct plan_run *run = &p->runs.data[i];
        for (size_t w = 0; w < run->words.count; w++)
            free(run->words.data[w]);
        LIST_FREE(&run->words);
        LIST_FREE(&run->is_file);
        free(run->name);
        free(run->model);
    }
    LIST_FREE(&p->runs);
    free(p->file);
}

const char plan_to_begin_with[] =
    "# A plan of 'ordeal regress'. As it is it runs on any machine, in about a minute:\n"
    "#   ordeal regress THIS-FILE\n"
    "# What is found is kept in a database beside it; the same command goes on where it stopped.\n"
    "\n"
    "[regression]\n"
    "tests = 200          # of all runs together; 'seconds' and 'cycles' are budgets, too\n"
    "#seconds = 3600      # as time passes\n"
    "#batch = 50          # tests that a worker gets at a time; without it a few seconds' worth\n"
    "#examples = 3        # folders that are kept of failures that look alike\n"
    "#shrink = 60         # seconds to make such a test small; 0: it stays as it is\n"
    "#waves = no          # no waves of small tests, which take a model of their own\n"
    "#incidents = fail    # a machine that is not there or cannot be made fails it\n"
    "\n"
    "# What holds for all runs that do not say otherwise.\n"
    "[all]\n"
    "model = TSO\n"
    "\n"
    "# The multiprocessor of rtl/ in simulation, in all of its usual sizes.\n"
    "[run sim]\n"
    "target = sim\n"
    "weight = 3           # three times as much of the budget as a run without a weight\n"
    "\n"
    "# Values between '|' make a run of each, or of each combination: here four.\n"
    "[run small]\n"
    "target = sim\n"
    "sizes = h2-s1-w2-l4-b8-q4\n"
    "delay = 0 | 4\n"
    "seeds = 1..2\n"
    "\n"
    "# A software model, to see that the tests themselves are sound.\n"
    "[run model]\n"
    "target = model\n"
    "\n"
    "# Tests that were tuned: a folder of 'ordeal tune' takes the place of a bias file.\n"
    "#[run tuned]\n"
    "#target = sim\n"
    "#bias = tuned\n";
