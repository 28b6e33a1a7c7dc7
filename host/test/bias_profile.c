/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of a bias file: reading and writing [profile NAME]. draw.h draws tests of them. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "bias_reading.h"

#define IDIOM_WEIGHT ".weight"

/* --set changes profiles, files make them: a slip on the command line would else be a new one. */
static void no_such_profile(struct reading *r, const char *name)
{
    size_t count = r->b->profiles.count;
    const char **names = calloc(count + 1, sizeof *names);
    if (!names) {
        error_out_of_memory(r->e, "");
        return;
    }
    for (size_t i = 0; i < count; i++)
        names[i] = r->b->profiles.data[i].name;
    const char *near = nearest_name(name, names);
    bias_refuse(r->e, &r->at,
                near    ? "there is no profile '%.60s'; did you mean '%s'?"
                : count ? "there is no profile '%.60s'; 'ordeal gen --print-bias' shows those that "
                          "there are, and new ones are made in a bias file"
                        : "there is no profile '%.60s'; profiles are made in a bias file",
                name, near);
    free(names);
}

static struct bias_profile *find_profile(struct reading *r, const char *name)
{
    struct bias *b = r->b;
    for (size_t i = 0; i < b->profiles.count; i++)
        if (strcmp(b->profiles.data[i].name, name) == 0)
            return &b->profiles.data[i];
    if (!reading_good_name(r, "profile", name))
        return NULL;
    if (r->at.line == 0) {
        no_such_profile(r, name);
        return NULL;
    }
    struct bias_profile fresh = { .name = strdup(name), .section = r->at };
    if (fresh.name && LIST_PUSH(&b->profiles, fresh))
        return &b->profiles.data[b->profiles.count - 1];
    free(fresh.name);
    error_out_of_memory(r->e, "");
    return NULL;
}

/* ---- values -------------------------------------------------------------------------------- */

/* What a slot is called in a profile, what its values are. */
static void slot_name(const struct bias *b, uint32_t slot, char *text, size_t size)
{
    if (slot < BIAS_KEY_COUNT)
        snprintf(text, size, "%s.%s", bias_keys[slot].section, bias_keys[slot].name);
    else
        snprintf(text, size, "idiom %s" IDIOM_WEIGHT, b->idioms.data[slot - BIAS_KEY_COUNT].name);
}

static const struct bias_key *slot_key(uint32_t slot)
{
    static const struct bias_key weight = { .most = MOST_WEIGHT };
    return slot < BIAS_KEY_COUNT ? &bias_keys[slot] : &weight;
}

/* The text without blanks around it, which must be of the slot. */
static bool take_one(uint32_t slot, const char *text, size_t length, uint32_t *value)
{
    char word[32];
    while (length && isblank((unsigned char)*text))
        text++, length--;
    while (length && isblank((unsigned char)text[length - 1]))
        length--;
    if (length >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    return reading_value(slot_key(slot), word, value);
}

static bool take_range(struct bias_vary *v, const char *text, const char *dots)
{
    const struct bias_key *k = slot_key(v->slot);
    v->range = true;
    v->count = 2;
    return take_one(v->slot, text, (size_t)(dots - text), &v->value[0])
        && take_one(v->slot, dots + 2, strlen(dots + 2), &v->value[1]) && v->value[0] <= v->value[1]
        && v->value[1] <= k->most;
}

static bool take_several(struct bias_vary *v, const char *text)
{
    for (;; text++) {
        size_t length = strcspn(text, "|");
        if (v->count == BIAS_MOST_VALUES || !take_one(v->slot, text, length, &v->value[v->count++]))
            return false;
        text += length;
        if (*text == '\0')
            return true;
    }
}

/* Is it a range that only is the wrong way round? */
static bool is_turned(uint32_t slot, const char *text)
{
    const char *dots = strstr(text, "..");
    uint32_t first, second;
    return dots && take_one(slot, text, (size_t)(dots - text), &first)
        && take_one(slot, dots + 2, strlen(dots + 2), &second) && first > second
        && first <= slot_key(slot)->most;
}

static bool refuse_turned(struct reading *r, const struct bias_profile *p, const char *name,
                          const char *text)
{
    const char *dots = strstr(text, ".."), *low = dots + 2 + strspn(dots + 2, " \t");
    int high = (int)(dots - text);
    while (high && isblank((unsigned char)text[high - 1]))
        high--;
    return bias_refuse(r->e, &r->at,
                       "profile %s: %s = %.60s: the lower number of a range comes first: %s..%.*s",
                       p->name, name, text, low, high, text);
}

static bool refuse_values(struct reading *r, const struct bias_profile *p, uint32_t slot,
                          const char *text)
{
    char allowed[128], name[64];
    bool numbers = slot_key(slot)->least <= slot_key(slot)->most;
    bias_allowed(slot_key(slot), allowed, sizeof allowed);
    slot_name(r->b, slot, name, sizeof name);
    if (is_turned(slot, text))
        return refuse_turned(r, p, name, text);
    return bias_refuse(r->e, &r->at,
                       "profile %s: %s = %.60s: allowed is %s, up to %d of these as "
                       "'a | b'%s%s",
                       p->name, name, text, allowed, BIAS_MOST_VALUES,
                       numbers ? ", or numbers as 'low..high'" : "", reading_hint(text, true));
}

static bool set_slot(struct reading *r, struct bias_profile *p, uint32_t slot, const char *text)
{
    struct bias_vary v = { .slot = slot, .at = r->at }, *before = NULL;
    char name[64];
    const char *dots = strstr(text, "..");
    for (size_t i = 0; i < p->varies.count; i++)
        if (p->varies.data[i].slot == slot)
            before = &p->varies.data[i];
    if (before && before->at.reading == r->at.reading) {
        slot_name(r->b, slot, name, sizeof name);
        return bias_refuse(r->e, &r->at, "profile %s: %s was given already in line %" PRIu32,
                           p->name, name, before->at.line);
    }
    if (dots ? !take_range(&v, text, dots) : !take_several(&v, text))
        return refuse_values(r, p, slot, text);
    if (before)
        *before = v;
    else if (!LIST_PUSH(&p->varies, v))
        return error_out_of_memory(r->e, "");
    return true;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static bool set_weight(struct reading *r, struct bias_profile *p, const char *value)
{
    if (p->weight_at.reading == r->at.reading)
        return reading_given_twice(r, &p->weight_at, "profile", "weight");
    if (!reading_number(value, 0, MOST_WEIGHT, &p->weight))
        return bias_refuse(r->e, &r->at, "profile %s.weight = %.60s: allowed is 0 to %d%s", p->name,
                           value, MOST_WEIGHT, reading_hint(value, true));
    p->weight_at = r->at;
    return true;
}

bool profile_add_only(struct reading *r, struct bias_profile *p, const char *words)
{
    size_t used = p->only ? strlen(p->only) : 0, size = used + 2 * strlen(words) + 1;
    char *longer = realloc(p->only, size);
    if (!longer)
        return error_out_of_memory(r->e, "");
    p->only = longer;
    longer[used] = '\0';
    while (*(words += strspn(words, " \t\r")) != '\0') {
        size_t length = strcspn(words, " \t\r");
        used += (size_t)snprintf(longer + used, size - used, "%.*s ", (int)length, words);
        words += length;
    }
    return true;
}

static bool set_only(struct reading *r, struct bias_profile *p, const char *value)
{
    if (p->only && p->only_at.reading == r->at.reading)
        return reading_given_twice(r, &p->only_at, "profile", "only");
    free(p->only);
    p->only = NULL;
    p->only_at = r->at;
    r->profile = p;
    return profile_add_only(r, p, value);
}

/* "idiom NAME.weight" */
static bool set_idiom(struct reading *r, struct bias_profile *p, const char *key, const char *value)
{
    char name[BIAS_NAME_MOST + 2];
    const char *dot = strrchr(key, '.');
    if (!dot || strcmp(dot, IDIOM_WEIGHT) != 0)
        return bias_refuse(r->e, &r->at,
                           "profile %s: unknown key '%s'; of an idiom a profile has "
                           "'idiom NAME.weight'",
                           p->name, key);
    key += strlen("idiom ");
    snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
    struct bias_idiom *x = reading_own_idiom(r, name);
    return x && set_slot(r, p, BIAS_KEY_COUNT + (uint32_t)(x - r->b->idioms.data), value);
}

/* A name without a section: the key that was meant, if any. */
static bool unknown_name(struct reading *r, const struct bias_profile *p, const char *name)
{
    static const char *const own[] = { "weight", "only", NULL };
    const char *near = nearest_name(name, own), *section = "";
    for (int i = 0; i < BIAS_KEY_COUNT && !near; i++)
        if (strcmp(bias_keys[i].name, name) == 0) {
            section = bias_keys[i].section;
            near = name;
        }
    if (!near)
        return bias_refuse(r->e, &r->at,
                           "profile %s: unknown key '%s'; it has weight, only, and "
                           "keys as section.key ('ordeal gen --keys' lists them)",
                           p->name, name);
    return bias_refuse(r->e, &r->at, "profile %s: unknown key '%s'; did you mean %s%s%s?", p->name,
                       name, section, *section ? "." : "", near);
}

bool profile_open(struct reading *r, const char *name)
{
    struct bias_profile *p = find_profile(r, name);
    if (p && !p->comment) {
        p->comment = r->comment;
        r->comment = NULL;
    }
    return p;
}

bool profile_set(struct reading *r, const char *name, const char *key, const char *value)
{
    struct bias_profile *p = find_profile(r, name);
    const char *dot = strchr(key, '.');
    char section[64];
    if (!p)
        return false;
    if (strcmp(key, "weight") == 0)
        return set_weight(r, p, value);
    if (strcmp(key, "only") == 0)
        return set_only(r, p, value);
    if (strncmp(key, "idiom ", strlen("idiom ")) == 0)
        return set_idiom(r, p, key, value);
    if (!dot)
        return unknown_name(r, p, key);
    snprintf(section, sizeof section, "%.*s", (int)(dot - key), key);
    int found = reading_find_key(section, dot + 1);
    return found < 0 ? reading_unknown_key(r, section, dot + 1)
                     : set_slot(r, p, (uint32_t)found, value);
}

/* ---- only ---------------------------------------------------------------------------------- */

/* The words of `only`: sections as a whole, those of them whose keys have words of their own, and
 * the key that a word for a whole section stands for. */
static const struct only_section {
    const char *name;
    bool keys;
    int share;
} only_sections[] = {
    { "operations", true, -1 },
    { "membar", true, -1 },
    { "idioms", true, -1 },
    { "loops", false, BIAS_loops_share },
    { "branches", false, BIAS_branches_share },
    { "transactions", false, BIAS_transactions_share },
};
enum { ONLY_SECTIONS = sizeof only_sections / sizeof *only_sections };

/* The section by whose words a slot is kept; NULL: no `only` takes it away. */
static const struct only_section *section_of(uint32_t slot)
{
    const char *name = slot < BIAS_KEY_COUNT ? bias_keys[slot].section : "idioms";
    for (size_t i = 0; i < ONLY_SECTIONS; i++)
        if (strcmp(only_sections[i].name, name) == 0)
            return only_sections[i].keys || only_sections[i].share == (int)slot ? &only_sections[i]
                                                                                : NULL;
    return NULL;
}

static bool is_word(const char *name, const char *word, size_t length)
{
    return strlen(name) == length && strncmp(name, word, length) == 0;
}

/* As a word of `only` a slot is called "load" or "operations.load", its section "operations"; an
 * idiom of the user's own "upgrades" or "idiom.upgrades", all of them "idioms". */
enum named { NOT_NAMED, BY_SECTION, BY_WHOLE_NAME, BY_NAME };

static void whole_name(const struct bias *b, uint32_t slot, char *text, size_t size)
{
    if (slot < BIAS_KEY_COUNT)
        slot_name(b, slot, text, size);
    else
        snprintf(text, size, "idiom.%s", b->idioms.data[slot - BIAS_KEY_COUNT].name);
}

static enum named is_named(const struct bias *b, uint32_t slot, const char *word, size_t length)
{
    const struct only_section *s = section_of(slot);
    char whole[64];
    if (!s)
        return NOT_NAMED;
    if (is_word(s->name, word, length))
        return BY_SECTION;
    whole_name(b, slot, whole, sizeof whole);
    if (is_word(whole, word, length) && s->keys)
        return BY_WHOLE_NAME;
    return s->keys && is_word(strchr(whole, '.') + 1, word, length) ? BY_NAME : NOT_NAMED;
}

static const struct bias_vary *vary_of(const struct bias_profile *p, uint32_t slot)
{
    for (size_t i = 0; i < p->varies.count; i++)
        if (p->varies.data[i].slot == slot)
            return &p->varies.data[i];
    return NULL;
}

static bool unknown_word(const struct bias *b, const struct bias_profile *p, const char *word,
                         size_t length, struct ordeal_error *e)
{
    const char *names[BIAS_KEY_COUNT + ONLY_SECTIONS + 1], *near;
    char text[64];
    int n = 0;
    for (uint32_t slot = 0; slot < BIAS_KEY_COUNT; slot++)
        if (section_of(slot) && section_of(slot)->keys)
            names[n++] = bias_keys[slot].name;
    for (size_t i = 0; i < ONLY_SECTIONS; i++)
        names[n++] = only_sections[i].name;
    names[n] = NULL;
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    near = nearest_name(text, names);
    for (size_t i = 0; i < b->idioms.count && !near; i++)
        near = nearest_name(text, (const char *const[]){ b->idioms.data[i].name, NULL });
    return bias_refuse(e, &p->only_at,
                       "profile %s: only = … %s: allowed are keys of [operations], "
                       "[membar] and [idioms], names of your own idioms, loops, branches and "
                       "transactions%s%s%s",
                       p->name, text, near ? "; did you mean " : "", near ? near : "",
                       near ? "?" : "");
}

static bool two_of_a_name(const struct bias *b, const struct bias_profile *p, uint32_t slot,
                          uint32_t other, struct ordeal_error *e)
{
    char a[64], c[64];
    whole_name(b, slot, a, sizeof a);
    whole_name(b, other, c, sizeof c);
    return bias_refuse(e, &p->only_at,
                       "profile %s: only = … %s: there are two of that name; say "
                       "%s or %s",
                       p->name, strchr(a, '.') + 1, a, c);
}

/* A word of `only` that keeps nothing alive is a mistake; what --set took away is not. */
static bool keep_word(const struct bias *b, const struct bias_profile *p, const char *word,
                      size_t length, bool *kept, struct ordeal_error *e)
{
    bool found = false, alive = false;
    uint32_t named = UINT32_MAX;
    for (uint32_t slot = 0; slot < bias_slots(b); slot++) {
        enum named how = is_named(b, slot, word, length);
        if (how == BY_NAME && named != UINT32_MAX)
            return two_of_a_name(b, p, named, slot, e);
        if (how == BY_NAME)
            named = slot;
        if (how != NOT_NAMED) {
            found = kept[slot] = true;
            alive |= bias_value(b, slot) || bias_held(b, slot) || vary_of(p, slot);
        }
    }
    if (!found)
        return unknown_word(b, p, word, length, e);
    return alive
        || bias_refuse(e, &p->only_at,
                       "profile %s: only = … %.*s: it has no weight; give "
                       "it one, in this profile or for all",
                       p->name, (int)length, word);
}

bool bias_kept(const struct bias *b, const struct bias_profile *p, bool *kept,
               struct ordeal_error *e)
{
    for (uint32_t slot = 0; slot < bias_slots(b); slot++)
        kept[slot] = !p->only || bias_held(b, slot) || !section_of(slot);
    for (const char *word = p->only ? p->only : ""; *word;) {
        size_t length = strcspn(word, " ");
        if (!keep_word(b, p, word, length, kept, e))
            return false;
        word += length + 1;
    }
    return true;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_only(const struct bias_profile *p, FILE *out)
{
    enum { COLUMNS = 90 };
    size_t column = (size_t)fprintf(out, "only =");
    for (const char *word = p->only; *word;) {
        size_t length = strcspn(word, " ");
        if (column + length >= COLUMNS)
            column = (size_t)fprintf(out, "\n   ") - 1;
        column += (size_t)fprintf(out, " %.*s", (int)length, word);
        word += length + 1;
    }
    putc('\n', out);
}

static void write_values(const struct bias *b, uint32_t slot, const uint32_t *value, uint32_t count,
                         const char *between, FILE *out)
{
    char text[64];
    slot_name(b, slot, text, sizeof text);
    fprintf(out, "%s = ", text);
    for (uint32_t i = 0; i < count; i++) {
        bias_value_text(slot_key(slot), value[i], text, sizeof text);
        fprintf(out, "%s%s", i ? between : "", text);
    }
    putc('\n', out);
}

static bool only_names(const struct bias *b, const struct bias_profile *p, uint32_t slot)
{
    for (const char *word = p->only; *word; word += strcspn(word, " ") + 1)
        if (is_named(b, slot, word, strcspn(word, " ")) != NOT_NAMED)
            return true;
    return false;
}

/* Would the profile change what --set gave? 0 stays 0 if it is not named. */
static bool would_change(const struct bias *b, const struct bias_profile *p, uint32_t slot)
{
    return vary_of(p, slot)
        || (p->only && section_of(slot) && (bias_value(b, slot) || only_names(b, p, slot)));
}

static void write_note(const struct bias_notes *n, const struct bias_profile *p, uint32_t slot,
                       FILE *out)
{
    if (n)
        n->write(n->user, p, slot, out);
}

/* What --set gave holds in every profile: there it is written for those that would change it. */
void bias_write_profile(const struct bias *b, const struct bias_profile *p,
                        const struct bias_notes *notes, FILE *out)
{
    putc('\n', out);
    write_note(notes, p, BIAS_NO_SLOT, out);
    fprintf(out, "[profile %s]\n", p->name);
    if (p->weight_at.reading)
        fprintf(out, "weight = %" PRIu32 "\n", p->weight);
    if (p->only)
        write_only(p, out);
    for (size_t i = 0; i < p->varies.count; i++) {
        const struct bias_vary *v = &p->varies.data[i];
        if (bias_held(b, v->slot))
            continue;
        write_note(notes, p, v->slot, out);
        write_values(b, v->slot, v->value, v->count, v->range ? ".." : " | ", out);
    }
    for (uint32_t slot = 0; slot < bias_slots(b); slot++)
        if (bias_held(b, slot) && would_change(b, p, slot))
            write_values(b, slot, &(uint32_t){ bias_value(b, slot) }, 1, "", out);
}
