/* SPDX-License-Identifier: Apache-2.0 */
#include "target_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static const struct entry {
    const char *name;
    enum { IS_text, IS_positive, IS_flag } type;
    size_t offset;
    const char *targets; /* separated by ", " */
    enum option_replay replay;
} entries[] = {
#define ENTRY(TYPE, FIELD, NAME, ARGUMENT, TARGETS, REPLAY, HELP) \
    { NAME, IS_##TYPE, offsetof(struct target_options, FIELD), TARGETS, REPLAY },
    TARGET_OPTIONS(ENTRY)
#undef ENTRY
};
enum { ENTRIES = sizeof entries / sizeof *entries };
_Static_assert(2 * ENTRIES <= MOST_OPTION_WORDS, "an option is up to two words");

static const void *field_of(const struct target_options *o, const struct entry *e)
{
    return (const char *)o + e->offset;
}

static const char *text_of(const struct target_options *o, const struct entry *e)
{
    return *(const char *const *)field_of(o, e);
}

static uint64_t number_of(const struct target_options *o, const struct entry *e)
{
    return *(const uint64_t *)field_of(o, e);
}

static bool is_given(const struct target_options *o, const struct entry *e)
{
    switch (e->type) {
    case IS_text: return text_of(o, e);
    case IS_positive: return number_of(o, e);
    default: return *(const bool *)field_of(o, e);
    }
}

static bool lists(const char *names, const char *name)
{
    size_t wanted = strlen(name), length;
    for (; *names; names += length + strspn(names + length, ", ")) {
        length = strcspn(names, ",");
        if (length == wanted && memcmp(names, name, length) == 0)
            return true;
    }
    return false;
}

/* The last comma is an "or". */
static bool not_for(const struct entry *e, const char *target, struct why *why)
{
    const char *comma = strrchr(e->targets, ',');
    int before = comma ? (int)(comma - e->targets) : 0;
    return why_say(why, "--%s is for --target %.*s%s%s; the target '%s' does not know it", e->name,
                   before, e->targets, comma ? " or " : "", comma ? comma + 2 : e->targets, target);
}

bool target_options_fit(const struct target_options *o, const char *target, struct why *why)
{
    for (int i = 0; i < ENTRIES; i++)
        if (is_given(o, &entries[i]) && !lists(entries[i].targets, target))
            return not_for(&entries[i], target, why);
    return true;
}

/* The word of an argument that has to be made goes to `text`: its length. */
static size_t argument(const struct target_options *o, const struct entry *e, char *text,
                       size_t room, struct target_option_words *w, const char **word)
{
    if (e->type == IS_positive) {
        *word = text;
        return (size_t)snprintf(text, room, "%" PRIu64, number_of(o, e)) + 1;
    }
    *word = text_of(o, e);
    if (e->replay == REPLAY_OWN_FILE && realpath(*word, w->path))
        *word = w->path;
    return 0;
}

void target_option_words(const struct target_options *o, struct target_option_words *w)
{
    size_t words = 0, used = 0;
    for (int i = 0; i < ENTRIES; i++) {
        const struct entry *e = &entries[i];
        if (!is_given(o, e) || e->replay == REPLAY_NOT)
            continue;
        w->word[words++] = w->text + used;
        used += (size_t)snprintf(w->text + used, sizeof w->text - used, "--%s", e->name) + 1;
        if (e->type != IS_flag)
            used += argument(o, e, w->text + used, sizeof w->text - used, w, &w->word[words++]);
    }
    w->word[words] = NULL;
}

/* ---- what a folder says -------------------------------------------------------------------------- */

static const char named_again[] = ""; /* by the user, who has not yet */

static bool is_own(const struct entry *e)
{
    return e->replay == REPLAY_OWN || e->replay == REPLAY_OWN_FILE;
}

static int find(const char *name)
{
    int i = 0;
    while (i < ENTRIES && strcmp(entries[i].name, name) != 0)
        i++;
    return i;
}

bool target_option_known(const char *target, const char *option)
{
    int i = find(option);
    return i < ENTRIES && lists(entries[i].targets, target);
}

bool target_option_next(const struct target_options *o, struct target_option_told *told)
{
    int i = told->name ? find(told->name) + 1 : 0;
    while (i < ENTRIES && (!is_given(o, &entries[i]) || entries[i].replay == REPLAY_NOT))
        i++;
    if (i >= ENTRIES)
        return false;
    const struct entry *e = &entries[i];
    told->name = e->name;
    told->text = is_own(e)              ? NULL
               : e->type == IS_flag     ? "yes"
               : e->type == IS_positive ? told->number
                                        : text_of(o, e);
    if (e->type == IS_positive)
        snprintf(told->number, sizeof told->number, "%" PRIu64, number_of(o, e));
    return true;
}

static bool refuse_name(const char *name, bool own, struct why *why)
{
    const char *names[ENTRIES + 1];
    int count = 0;
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].replay != REPLAY_NOT && is_own(&entries[i]) == own)
            names[count++] = entries[i].name;
    names[count] = NULL;
    const char *near = nearest_name(name, names);
    why_say(why, "there is no '%.40s' to be %s of a machine; %s", name,
            own ? "named again" : "said", near ? "did you mean " : "there are");
    for (int i = 0; i < count && !near; i++)
        why_add(why, "%s %s", i ? "," : "", names[i]);
    return near ? why_add(why, "'%s'?", near), false : false;
}

static bool take_text(void *field, const struct entry *e, const char *text, struct why *why)
{
    char *end = NULL;
    switch (e->type) {
    case IS_text: *(const char **)field = text; return true;
    case IS_flag:
        *(bool *)field = true;
        return strcmp(text, "yes") == 0 || why_say(why, "'%s' says yes or nothing", e->name);
    default:
        errno = 0;
        *(uint64_t *)field = strtoull(text, &end, 10);
        return (*text >= '1' && *text <= '9' && !*end && !errno)
            || why_say(why, "'%s' takes a whole number above 0", e->name);
    }
}

bool target_option_take(struct target_options *o, const char *name, const char *text,
                        struct why *why)
{
    int i = find(name);
    if (i == ENTRIES || entries[i].replay == REPLAY_NOT || is_own(&entries[i]) != !text)
        return refuse_name(name, !text, why);
    if (is_given(o, &entries[i]))
        return why_say(why, "'%s' is there twice", name);
    void *field = (char *)o + entries[i].offset;
    if (text)
        return take_text(field, &entries[i], text, why);
    *(const char **)field = named_again;
    return true;
}

const char *target_option_missing(const struct target_options *o)
{
    for (int i = 0; i < ENTRIES; i++)
        if (is_own(&entries[i]) && text_of(o, &entries[i]) == named_again)
            return entries[i].name;
    return NULL;
}
