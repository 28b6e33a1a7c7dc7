/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal cover`: what tests reached, what they did not, and which keys of a bias would help. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "base/error.h"
#include "base/list.h"
#include "base/options.h"
#include "base/output.h"
#include "cover/cover_keys.h"
#include "cover/cover_rtl.h"

struct cover_command {
    const char *missing, *against, *lcov, *output;
    bool json;

    const struct command *command;
    struct cover *all, *old; /* of the files; of --against */
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(cover_command, missing, "missing", 'm', "GROUP", text, NULL,
           "list the points not reached whose names begin with this, as\n"
           "'exec.shape.SB' or 'rtl.user'"),
    OPTION(cover_command, against, "against", 0, "OLD", text, NULL,
           "list what was reached and is not in the file OLD: '+ POINT', and\n"
           "what is in OLD and was not reached: '- POINT'"),
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
    bool good = text && puts(text) >= 0;
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

enum { MOST_AXIS = 64 };

struct tally {
    uint64_t reached, known;
    bool there[COVER_AXES_OF_GROUP][MOST_AXIS], hit[COVER_AXES_OF_GROUP][MOST_AXIS];
};

static void count_group(const struct cover *c, const struct cover_group *g, struct tally *t)
{
    uint8_t at[COVER_AXES_OF_GROUP];
    for (uint32_t p = g->first; p < COVER_POINTS && cover_point_at(p, at) == g; p++) {
        bool hit = cover_count_of(c, p);
        if (!cover_point_exists(p))
            continue;
        t->known++;
        t->reached += hit;
        for (int i = 0; i < COVER_AXES_OF_GROUP; i++) {
            t->there[i][at[i]] = true;
            t->hit[i][at[i]] |= hit;
        }
    }
}

static bool has_string(const cJSON *list, const char *text, size_t length)
{
    const cJSON *item;
    cJSON_ArrayForEach(item,
                       list) if (strlen(item->valuestring) == length
                                 && strncmp(item->valuestring, text, length) == 0) return true;
    return false;
}

static void add_string(cJSON *list, const char *text, size_t length)
{
    char word[128];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (!has_string(list, text, length))
        cJSON_AddItemToArray(list, cJSON_CreateString(word));
}

static void add_keys(cJSON *list, const char *keys)
{
    for (; keys && *keys; keys += strspn(keys, " ")) {
        size_t length = strcspn(keys, " ");
        add_string(list, keys, length);
        keys += length;
    }
}

/* Words of which no point was reached, and keys that help. */
static void add_never(cJSON *row, const struct cover_group *g, const struct tally *t)
{
    cJSON *never = cJSON_AddArrayToObject(row, "never"), *keys = cJSON_AddArrayToObject(row, "try");
    for (int i = 0; i < COVER_AXES_OF_GROUP; i++)
        for (int w = 0; w < g->size[i]; w++) {
            const char *word = g->words[i][w];
            if (!t->there[i][w] || t->hit[i][w] || !*word)
                continue;
            add_string(never, word, strlen(word));
            add_keys(keys, cover_keys(g, word));
        }
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
static void print_words(const char *title, const cJSON *list)
{
    enum { WIDTH = 96 };
    int used = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        int length = (int)strlen(item->valuestring) + 1;
        if (used == 0 || used + length > WIDTH)
            used = printf("%s    %s", used ? "\n" : "", used ? "      " : title);
        used += printf(" %s", item->valuestring);
    }
    if (used)
        putchar('\n');
}

static bool print_row(const struct cover_command *k, cJSON *row)
{
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
        print_words("never:", never);
    print_words("try:  ", cJSON_GetObjectItem(row, "try"));
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
        cJSON *row = row_of(g->name, t.reached, t.known, g->about);
        add_never(row, g, &t);
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
    if (!k->json)
        printf("tests=%" PRIu64 "\n", cover_tests(k->all));
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
    bool quiet = (k->lcov || k->output) && !k->missing && !k->against;
    bool good = k->missing ? cover_walk(k->all, list_missing, k)
              : k->against ? list_changes(k)
              : quiet      ? true
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
    if (k->missing && k->against)
        return complain(k->command, "--missing and --against exclude each other");
    return -1;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct cover_command k = { .command = self };
    int operand, status = options_parse(self, argc, argv, &k, &operand);
    if (status < 0)
        status = usage(&k, argv + operand);
    if (status >= 0)
        return status;
    k.all = cover_new();
    k.old = cover_new();
    for (char **file = argv + operand; status < 0 && *file; file++)
        status = load(&k, k.all, *file);
    if (status < 0 && k.against)
        status = load(&k, k.old, k.against);
    if (status < 0 && k.missing && cover_walk(k.all, count_named, &k))
        status = complain(self, "no point begins with '%s'; 'ordeal cover %s' lists the groups",
                          k.missing, argv[operand]);
    if (status < 0)
        status = tell(&k);
    cover_free(k.all);
    cover_free(k.old);
    return status;
}

const struct command command_cover = {
    .name = "cover",
    .summary = "tell what tests reached, and what would reach more",
    .operands = "FILE...",
    .description =
        "Tells what the tests of 'ordeal run --cover FILE' reached, by groups of points: how\n"
        "many of those that there are, words in their names that none was reached of ('never'),\n"
        "and keys of the bias that make such points more likely ('try'). Several files are taken\n"
        "together. A target may not be able to do all that there is a point for.\n\n"
        "Exit status: 0; 2 bad usage or input.",
    .example = "  $ ordeal run --target model --count 100 --check --cover my.cover\n"
               "  $ ordeal cover my.cover\n"
               "  $ ordeal cover --missing exec.shape.SB my.cover\n"
               "  $ ordeal cover --against old.cover my.cover\n",
    .options = options,
    .run = run,
};
