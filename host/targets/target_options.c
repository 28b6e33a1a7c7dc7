/* SPDX-License-Identifier: Apache-2.0 */
#include "target_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (e->replay == REPLAY_WHOLE_PATH && realpath(*word, w->path))
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
