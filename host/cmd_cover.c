/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal cover`: what tests reached, what they did not, and which keys of a bias would help. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "base/json.h"
#include "base/error.h"
#include "base/list.h"
#include "base/options.h"
#include "base/output.h"
#include "base/temporary.h"
#include "cover/cover_keys.h"
#include "cover/cover_rtl.h"

struct cover_command {
    const char *missing, *against, *lcov, *output;
    bool json, profiles;

    const struct command *command;
    struct cover *all, *old; /* of the files; of --against */
    struct temporary held;   /* the file that is written */
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(cover_command, missing, "missing", 'm', "GROUP", text, NULL,
           "list the points not reached whose names begin with this, as\n"
           "'exec.shape.SB' or 'rtl.user'"),
    OPTION(cover_command, against, "against", 0, "OLD", text, NULL,
           "list what was reached and is not in the file OLD: '+ POINT', and\n"
           "what is in OLD and was not reached: '- POINT'"),
    OPTION(cover_command, profiles, "profiles", 'p', NULL, flag, NULL,
           "list which profiles of the bias, or files, reached how many points\n"
           "first"),
    OPTION(cover_command, lcov, "lcov", 0, "OUT", text, NULL,
           "write the points of rtl for LCOV's viewers: 'genhtml OUT'"),
    OPTION(cover_command, output, "output", 'o', "OUT", text, NULL,
           "write all files together as one; '-' is standard output"),
    OPTION(cover_command, json, "json", 'j', NULL, flag, NULL, "one JSON object a line"),
    OPTION_END
};
/* clang-format on */

/* ---- lists ----------------------------------------------------------------------------------- */

static bool print_name(const struct cover_command *k, const char *sign, const char *name)
{
    if (!k->json)
        return printf("%s%s%s\n", sign, *sign ? " " : "", name) >= 0;
    cJSON *line = cJSON_CreateObject();
    if (*sign)
        cJSON_AddStringToObject(line, "change", sign);
    cJSON_AddStringToObject(line, "point", name);
    char *text = cJSON_PrintUnformatted(line);
    bool good = !json_failed() && text && puts(text) >= 0;
    cJSON_free(text);
    cJSON_Delete(line);
    return good;
}

static bool list_missing(void *user, const struct cover_entry *e)
{
    const struct cover_command *k = user;
    if (e->count || strncmp(e->name, k->missing, strlen(k->missing)) != 0)
        return true;
    return print_name(k, "", e->name);
}

/* Both sets have the same names but for those of rtl; lists of names in order are compared. */
struct names {
    LIST(char *) list;
};

static bool keep_reached(void *user, const struct cover_entry *e)
{
    struct names *n = user;
    char *name = e->count ? strdup(e->name) : NULL;
    return !e->count || (name && LIST_PUSH(&n->list, name));
}

static void free_names(struct names *n)
{
    for (size_t i = 0; i < n->list.count; i++)
        free(n->list.data[i]);
    LIST_FREE(&n->list);
}

static bool list_changes(const struct cover_command *k)
{
    struct names now = { { NULL, 0, 0 } }, old = { { NULL, 0, 0 } };
    bool good = cover_walk(k->all, keep_reached, &now) && cover_walk(k->old, keep_reached, &old);
    for (size_t i = 0, o = 0; good && (i < now.list.count || o < old.list.count);) {
        int order = i == now.list.count ? 1
                  : o == old.list.count ? -1
                                        : strcmp(now.list.data[i], old.list.data[o]);
        if (order < 0)
            good = print_name(k, "+", now.list.data[i]);
        else if (order > 0)
            good = print_name(k, "-", old.list.data[o]);
        i += order <= 0;
        o += order >= 0;
    }
    free_names(&now);
    free_names(&old);
    return good;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { MOST_AXIS = 64, MOST_LEAST = 4, MOST_ADVICE = 8 };

struct word_tally {
    uint32_t reached, known, all; /* points of the machines; of any machine */
};
struct tally {
    uint64_t reached, known;
    struct word_tally word[COVER_AXES_OF_GROUP][MOST_AXIS];
};

static void count_group(const struct cover *c, const struct cover_group *g, struct tally *t)
{
    uint8_t at[COVER_AXES_OF_GROUP];
    for (uint32_t p = g->first; p < COVER_POINTS && cover_point_at(p, at) == g; p++) {
        bool hit = cover_count_of(c, p), known = cover_is_known(c, p);
        if (!cover_point_exists(p))
            continue;
        t->known += known;
        t->reached += hit;
        for (int i = 0; i < COVER_AXES_OF_GROUP; i++) {
            struct word_tally *w = &t->word[i][at[i]];
            w->all++;
            w->known += known;
            w->reached += hit;
        }
    }
}

/* The key of an advice, without what to do with it. */
static const char *key_of(const char *advice, size_t *length)
{
    const char *space = memchr(advice, ' ', *length);
    size_t skip = *advice != '-' && space ? (size_t)(space + 1 - advice) : 0;
    *length -= skip;
    return advice + skip;
}

/* Does the list have the text, or of advice another one about the same key? */
static bool has_string(const cJSON *list, const char *text, size_t length)
{
    const cJSON *item;
    text = key_of(text, &length);
    cJSON_ArrayForEach(item, list)
    {
        size_t other = strlen(item->valuestring);
        const char *key = key_of(item->valuestring, &other);
        if (other == length && strncmp(key, text, length) == 0)
            return true;
    }
    return false;
}

static void add_string(cJSON *list, const char *text, size_t length)
{
    char word[128];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (!has_string(list, text, length))
        cJSON_AddItemToArray(list, cJSON_CreateString(word));
}

static void add_advice(cJSON *list, const char *advice)
{
    while (*advice && cJSON_GetArraySize(list) < MOST_ADVICE) {
        size_t length = strcspn(advice, ",");
        add_string(list, advice, length);
        advice += length + (advice[length] == ',');
    }
}

/* Words of which no point was reached, and what helps; options that bring others. */
static void add_never(cJSON *row, const struct cover_group *g, const struct tally *t,
                      const struct cover_can *can)
{
    cJSON *never = cJSON_AddArrayToObject(row, "never"), *try = cJSON_GetObjectItem(row, "try");
    cJSON *elsewhere = cJSON_GetObjectItem(row, "elsewhere");
    for (int i = 0; i < COVER_AXES_OF_GROUP; i++)
        for (int w = 0; w < g->size[i]; w++) {
            const struct word_tally *n = &t->word[i][w];
            const char *word = g->words[i][w];
            const char *option = n->known < n->all ? cover_elsewhere(g, i, w, can, n->known) : NULL;
            if (option)
                add_string(elsewhere, option, strlen(option));
            if (!n->known || n->reached || !*word)
                continue;
            add_string(never, word, strlen(word));
            add_advice(try, cover_keys(g, i, w));
        }
}

/* A word that few points were reached of. */
struct least {
    int axis, word;
    double share;
};

static int compare_least(const void *a, const void *b)
{
    const struct least *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    return x->axis != y->axis ? x->axis - y->axis : x->word - y->word;
}

/* Of two axes with the same words one tells enough. */
static bool is_told(const struct cover_group *g, const struct least *found, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (strcmp(g->words[found[i].axis][found[i].word], g->words[found[k].axis][found[k].word])
            == 0)
            return true;
    return false;
}

/* Of those of which some were reached, words with the fewest for their number, and what helps. */
static void add_least(cJSON *row, const struct cover_group *g, const struct tally *t)
{
    cJSON *list = cJSON_AddArrayToObject(row, "least");
    LIST(struct least) found = { NULL, 0, 0 };
    for (int i = 0; i < COVER_AXES_OF_GROUP; i++)
        for (int w = 0; w < g->size[i]; w++) {
            const struct word_tally *n = &t->word[i][w];
            struct least l = { i, w, n->known ? (double)n->reached / n->known : 1 };
            bool little = n->reached && l.share * (double)t->known < (double)t->reached;
            if (*g->words[i][w] && little && !LIST_PUSH(&found, l))
                json_fail();
        }
    LIST_SORT(&found, compare_least);
    for (size_t k = 0; k < found.count && cJSON_GetArraySize(list) < MOST_LEAST; k++) {
        const struct least *l = &found.data[k];
        if (is_told(g, found.data, k))
            continue;
        const struct word_tally *n = &t->word[l->axis][l->word];
        char text[96];
        snprintf(text, sizeof text, "%s:%" PRIu32 "/%" PRIu32, g->words[l->axis][l->word],
                 n->reached, n->known);
        cJSON_AddItemToArray(list, cJSON_CreateString(text));
        add_advice(cJSON_GetObjectItem(row, "try"), cover_keys(g, l->axis, l->word));
    }
    LIST_FREE(&found);
}

static cJSON *row_of(const char *group, uint64_t reached, uint64_t known, const char *about)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "group", group);
    cJSON_AddNumberToObject(row, "reached", (double)reached);
    cJSON_AddNumberToObject(row, "known", (double)known);
    cJSON_AddStringToObject(row, "about", about);
    return row;
}

/* "  never: a b c", broken into lines. */
static void print_words(const char *title, const char *separator, const cJSON *list)
{
    enum { WIDTH = 96 };
    int used = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        int length = (int)strlen(item->valuestring) + 2;
        if (used)
            used += printf("%s", separator);
        if (used == 0 || used + length > WIDTH)
            used = printf("%s    %s", used ? "\n" : "", used ? "          " : title);
        used += printf(" %s", item->valuestring);
    }
    if (used)
        putchar('\n');
}

static bool print_row(const struct cover_command *k, cJSON *row)
{
    if (json_failed()) {
        cJSON_Delete(row);
        return false;
    }
    if (k->json) {
        char *text = cJSON_PrintUnformatted(row);
        bool good = text && puts(text) >= 0;
        cJSON_free(text);
        cJSON_Delete(row);
        return good;
    }
    double reached = cJSON_GetObjectItem(row, "reached")->valuedouble,
           known = cJSON_GetObjectItem(row, "known")->valuedouble;
    printf("%-18s %6.0f of %6.0f %5.1f %%  %s\n", cJSON_GetObjectItem(row, "group")->valuestring,
           reached, known, known ? 100 * reached / known : 0,
           cJSON_GetObjectItem(row, "about")->valuestring);
    const cJSON *never = cJSON_GetObjectItem(row, "never");
    if (reached)
        print_words("never:    ", "", never);
    print_words("least:    ", "", cJSON_GetObjectItem(row, "least"));
    print_words("try:      ", ",", cJSON_GetObjectItem(row, "try"));
    print_words("elsewhere:", ",", cJSON_GetObjectItem(row, "elsewhere"));
    cJSON_Delete(row);
    return true;
}

static bool print_groups(const struct cover_command *k)
{
    bool good = true;
    for (size_t i = 0; good && i < COVER_GROUP_COUNT; i++) {
        const struct cover_group *g = &cover_groups[i];
        struct tally t = { 0 };
        count_group(k->all, g, &t);
        if (!t.known)
            continue;
        cJSON *row = row_of(g->name, t.reached, t.known, g->about);
        cJSON *try = cJSON_CreateArray(), *elsewhere = cJSON_CreateArray();
        cJSON_AddItemToObject(row, "try", try);
        cJSON_AddItemToObject(row, "elsewhere", elsewhere);
        add_never(row, g, &t, cover_machines(k->all));
        add_least(row, g, &t);
        good = print_row(k, row);
    }
    return good;
}

/* By their kinds: rtl.line, … */
static const char *const kinds[] = { "line", "branch", "toggle", "user" };
struct rtl_tally {
    uint64_t reached[4], known[4];
};

static bool count_rtl(void *user, const struct cover_entry *e)
{
    struct rtl_tally *t = user;
    for (size_t i = 0; i < 4 && strncmp(e->name, "rtl.", 4) == 0; i++)
        if (strncmp(e->name + 4, kinds[i], strlen(kinds[i])) == 0) {
            t->known[i]++;
            t->reached[i] += e->count > 0;
        }
    return true;
}

static bool print_rtl(const struct cover_command *k)
{
    static const char *const abouts[] = { "lines of RTL", "branches", "bits of signals, both ways",
                                          "cover points" };
    struct rtl_tally t = { { 0 }, { 0 } };
    bool good = cover_walk(k->all, count_rtl, &t);
    for (size_t i = 0; good && i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "rtl.%s", kinds[i]);
        if (t.known[i])
            good = print_row(k, row_of(name, t.reached[i], t.known[i], abouts[i]));
    }
    return good;
}

static bool print_table(const struct cover_command *k)
{
    uint64_t tests = cover_tests(k->all), repeats = cover_repeats(k->all);
    printf(k->json ? "{\"tests\":%" PRIu64 ",\"repeats\":%" PRIu64 "}\n"
                   : "tests=%" PRIu64 " repeats=%" PRIu64 "\n",
           tests, repeats);
    for (int s = 0; s < COVER_SOURCES; s++) {
        static const char *const abouts[] = { "executions", "events that the machine counted",
                                              "RTL of the models" };
        static const char *const titles[] = { "all of exec", "all of event", "all of rtl" };
        uint64_t known = cover_known(k->all, s);
        if (known && !print_row(k, row_of(titles[s], cover_reached(k->all, s), known, abouts[s])))
            return false;
    }
    return print_groups(k) && print_rtl(k);
}

/* ---- profiles -------------------------------------------------------------------------------- */

struct profile_tally {
    const char *label;
    uint64_t first[2]; /* of exec and event */
};
struct profiles {
    LIST(struct profile_tally) list;
};

static bool count_profile(void *user, const struct cover_entry *e)
{
    struct profiles *p = user;
    int source = strncmp(e->name, "event", 5) == 0;
    if (!e->count || strncmp(e->name, "rtl.", 4) == 0)
        return true;
    for (size_t i = 0; i < p->list.count; i++)
        if (strcmp(p->list.data[i].label, e->first.label) == 0) {
            p->list.data[i].first[source]++;
            return true;
        }
    struct profile_tally fresh = { .label = e->first.label };
    fresh.first[source] = 1;
    return LIST_PUSH(&p->list, fresh);
}

static int compare_profiles(const void *a, const void *b)
{
    const struct profile_tally *x = a, *y = b;
    uint64_t mine = x->first[0] + x->first[1], other = y->first[0] + y->first[1];
    return mine != other ? (mine > other ? -1 : 1) : strcmp(x->label, y->label);
}

static bool print_profile(const struct cover_command *k, const struct profile_tally *p)
{
    uint64_t all = p->first[0] + p->first[1];
    const char *label = *p->label ? p->label : "-";
    if (!k->json)
        return printf("%6" PRIu64 " points first: %6" PRIu64 " of exec, %6" PRIu64
                      " of event  %s\n",
                      all, p->first[0], p->first[1], label)
            >= 0;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "profile", label);
    cJSON_AddNumberToObject(line, "first", (double)all);
    cJSON_AddNumberToObject(line, "exec", (double)p->first[0]);
    cJSON_AddNumberToObject(line, "event", (double)p->first[1]);
    char *text = cJSON_PrintUnformatted(line);
    bool good = text && puts(text) >= 0;
    cJSON_free(text);
    cJSON_Delete(line);
    return good;
}

/* Labels are the set's, and stay while it does. */
static bool list_profiles(const struct cover_command *k)
{
    struct profiles p = { { NULL, 0, 0 } };
    bool good = cover_walk(k->all, count_profile, &p);
    LIST_SORT(&p.list, compare_profiles);
    for (size_t i = 0; good && i < p.list.count; i++)
        good = print_profile(k, &p.list.data[i]);
    LIST_FREE(&p.list);
    return good;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int load(const struct cover_command *k, struct cover *to, const char *file)
{
    struct ordeal_error e;
    char text[1024];
    if (!to)
        return complain(k->command, "out of memory");
    if (cover_load(to, file, &e))
        return -1;
    error_format(&e, text, sizeof text);
    return complain(k->command, "%s%s", text,
                    e.status == ORDEAL_IO ? "; 'ordeal run --cover FILE' makes such a file" : "");
}

static int write_to(const struct cover_command *k, const char *name,
                    int (*write)(struct cover *c, FILE *out))
{
    struct output out;
    int error = output_open(&out, name);
    if (!error) {
        error = write(k->all, out.file);
        if (error)
            output_abandon(&out);
        else
            error = output_commit(&out);
    }
    return error ? complain(k->command, "'%s': %s", name, strerror(error)) : -1;
}

static int tell(struct cover_command *k)
{
    int status = -1;
    if (k->lcov && cover_known(k->all, COVER_RTL) == 0)
        return complain(k->command, "there are no points of rtl for --lcov; 'ordeal run --target "
                                    "sim --cover FILE --coverage DIR' brings them");
    if (k->lcov)
        status = write_to(k, k->lcov, cover_rtl_lcov);
    if (status < 0 && k->output)
        status = write_to(k, k->output, cover_write);
    if (status >= 0)
        return status;
    bool quiet = k->lcov || k->output;
    bool good = k->missing  ? cover_walk(k->all, list_missing, k)
              : k->against  ? list_changes(k)
              : k->profiles ? list_profiles(k)
              : quiet       ? true
                            : print_table(k);
    return good ? EXIT_FINE : complain(k->command, "the list could not be written");
}

/* A name that nothing begins with is a mistake, not a group without gaps. */
static bool count_named(void *user, const struct cover_entry *e)
{
    const struct cover_command *k = user;
    return strncmp(e->name, k->missing, strlen(k->missing)) != 0;
}

static int usage(const struct cover_command *k, char *const *files)
{
    if (!*files)
        return complain(k->command, "of which file? 'ordeal run --cover FILE' makes one");
    if ((k->missing != NULL) + (k->against != NULL) + k->profiles > 1)
        return complain(k->command, "--missing, --against and --profiles exclude each other");
    return -1;
}

/* It may be one that is read, and that a run adds to. */
static int hold_output(struct cover_command *k)
{
    struct why why;
    if (!k->output || strcmp(k->output, "-") == 0 || temporary_hold(&k->held, k->output, &why))
        return -1;
    return complain(k->command, "'%s': %s", k->output, why.text);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct cover_command k = { .command = self };
    int operand, status = options_parse(self, argc, argv, &k, &operand);
    if (status < 0)
        status = usage(&k, argv + operand);
    if (status >= 0)
        return status;
    status = hold_output(&k);
    k.all = cover_new();
    k.old = cover_new();
    for (char **file = argv + operand; status < 0 && *file; file++)
        status = load(&k, k.all, *file);
    if (status < 0 && k.against)
        status = load(&k, k.old, k.against);
    if (status < 0 && k.missing && cover_walk(k.all, count_named, &k))
        status = complain(self,
                          "no point that the machines can reach begins with '%s'; 'ordeal cover "
                          "%s' lists the groups",
                          k.missing, argv[operand]);
    if (status < 0 && cover_repeats(k.all))
        complain(self,
                 "%" PRIu64 " of the tests count more than once: they were run again, or a file "
                 "was given twice",
                 cover_repeats(k.all));
    if (status < 0)
        status = tell(&k);
    cover_free(k.all);
    cover_free(k.old);
    temporary_remove(&k.held);
    return status;
}

const struct command command_cover = {
    .name = "cover",
    .summary = "tell what tests reached, and what would reach more",
    .operands = "FILE...",
    .description =
        "Tells what the tests of 'ordeal run --cover FILE' reached, by groups of points: how\n"
        "many of those that their machines can reach, words in their names that none was\n"
        "reached of ('never') or few ('least', of how many), what makes such points more likely\n"
        "('try': more or fewer of a key of the bias, or options), and options that make others\n"
        "possible ('elsewhere'). Several files are taken together; repeats= tells how many\n"
        "tests count more than once.\n\n"
        "Exit status: 0; 2 bad usage or input.",
    .example = "  $ ordeal run --target model --count 100 --check --cover my.cover\n"
               "  $ ordeal cover my.cover\n"
               "  $ ordeal cover --missing exec.shape.SB my.cover\n"
               "  $ ordeal cover --against old.cover my.cover\n",
    .options = options,
    .run = run,
};
