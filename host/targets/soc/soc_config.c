/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "models.h"
#include "zoo.h"

/* The one table of what --config may say. */
static const struct key {
    const char *name;
    size_t offset;                     /* in soc_parameters */
    uint32_t least, most;
    bool power;                        /* powers of two alone */
    bool flag;                         /* a bool: 0 or 1 */
} keys[] = {
#define KEY(FIELD, ...) { .offset = offsetof(struct soc_parameters, FIELD), __VA_ARGS__ }
    KEY(sets, .name = "sets", .least = 1, .most = 1024, .power = true),
    KEY(ways, .name = "ways", .least = 1, .most = 4, .power = true),
    KEY(line_bytes, .name = "line", .least = 16, .most = 64, .power = true),
    KEY(store_buffer, .name = "store-buffer", .least = 1, .most = 16),
    KEY(load_queue, .name = "load-queue", .least = 1, .most = 8),
    KEY(capture, .name = "capture-fifo", .least = 32, .most = 4096, .power = true),
    KEY(transactions, .name = "transactions", .most = 1, .flag = true),
    KEY(checks, .name = "checks", .most = 1, .flag = true),
    KEY(lean, .name = "lean", .most = 1, .flag = true),
#undef KEY
};
enum { KEYS = sizeof keys / sizeof *keys };

static bool refuse_key(const char *text, size_t length, struct why *why)
{
    const char *names[KEYS + 1] = { NULL };
    char word[64];
    for (int i = 0; i < KEYS; i++)
        names[i] = keys[i].name;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "=,"), text);
    const char *near = nearest_name(word, names);
    why_say(why,
            "'%.*s' says nothing of the machine%s%s%s; "
            "expected KEY=NUMBER, the keys are",
            (int)length, text, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    for (int i = 0; i < KEYS; i++)
        why_add(why, "%s %s", i ? "," : "", keys[i].name);
    return false;
}

static bool parse_number(const char *text, const char *end, uint32_t least, uint32_t most,
                         uint32_t *value)
{
    char *after;
    if (*text < '0' || *text > '9')
        return false;
    uint64_t n = strtoull(text, &after, 0);
    *value = (uint32_t)n;
    return after == end && n >= least && n <= most;
}

static bool parse_setting(struct soc_parameters *p, const char *text, size_t length,
                          struct why *why)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;
    for (int i = 0; i < KEYS && equals; i++) {
        const struct key *k = &keys[i];
        uint32_t value;
        if (strlen(k->name) != name || memcmp(k->name, text, name) != 0)
            continue;
        if (!parse_number(equals + 1, text + length, k->least, k->most, &value)
            || (k->power && value & (value - 1)))
            return why_say(why, "'%.*s': expected %s from %" PRIu32 " to %" PRIu32, (int)length,
                           text, k->power ? "a power of two" : "a number", k->least, k->most);
        void *field = (char *)p + k->offset;
        if (k->flag)
            *(bool *)field = value;
        else
            *(uint32_t *)field = value;
        return true;
    }
    return refuse_key(text, length, why);
}

/* What was said of all sizes goes before what is a size's own. */
static bool parse_parameters(struct soc_parameters *p, const struct target_options *o,
                             struct why *why)
{
    if (o->harts)
        p->harts = o->harts < UINT32_MAX ? (uint32_t)o->harts : UINT32_MAX;
    p->coverage = o->coverage;
    for (const char *text = o->config; text && *text; ) {
        size_t length = strcspn(text, ",");
        if (!parse_setting(p, text, length, why))
            return false;
        text += length + (text[length] == ',');
    }
    return model_complete(p, why->text, sizeof why->text);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static const struct soc_parameters usual = { .transactions = true, .bugs = true, .checks = true };

static bool is_there(const struct soc_config *c, const struct soc_parameters *p)
{
    char name[MODEL_NAME], other[MODEL_NAME];
    model_name(p, name, sizeof name);
    for (int i = 0; i < c->sizes; i++) {
        model_name(&c->size[i], other, sizeof other);
        if (strcmp(name, other) == 0)
            return true;
    }
    return false;
}

/* What else was said may make sizes alike, which then are one. */
static bool add_size(struct soc_config *c, struct soc_parameters p, const struct target_options *o,
                     struct why *why)
{
    if (!parse_parameters(&p, o, why))
        return false;
    if (is_there(c, &p))
        return true;
    if (c->sizes == SOC_MOST_SIZES)
        return why_say(why, "--sizes: more than %d of them", SOC_MOST_SIZES);
    c->size[c->sizes++] = p;
    return true;
}

static bool add_named(struct soc_config *c, const char *name, const struct target_options *o,
                      struct why *why)
{
    struct soc_parameters p = usual;
    struct why reason;
    if (nearest_name(name, (const char *const[]){ "usual", NULL }) && strcmp(name, "usual") != 0)
        return why_say(why, "--sizes: what is '%s'? Did you mean 'usual'?", name);
    if (strcmp(name, "usual") != 0 && !model_parse(name, &p, reason.text, sizeof reason.text))
        return why_say(why,
                       "--sizes: expected 'usual' or names such as h4-s2-w2-l4-b4-q4, "
                       "separated by commas: %s",
                       reason.text);
    return add_size(c, p, o, why);
}

static bool parse_names(struct soc_config *c, const struct target_options *o, struct why *why)
{
    const char *text = o->sizes;
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        char name[MODEL_NAME];
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        if (!add_named(c, name, o, why))
            return false;
        more = text[length];
        text += length + more;
    }
    return true;
}

/* Those that come with the program; the lean machine has one size. */
static bool parse_sizes(struct soc_config *c, const struct target_options *o, struct why *why)
{
    struct soc_parameters p = usual;
    if (o->sizes)
        return parse_names(c, o, why);
    if (!parse_parameters(&p, o, why))
        return false;
    if (p.lean)
        return add_size(c, p, o, why);
    for (const char *const *name = model_sizes; *name; name++)
        if (!add_named(c, *name, o, why))
            return false;
    return true;
}

/* ---- the setup ------------------------------------------------------------------------------ */

_Static_assert(ORDEAL_MODELS == 7, "a new model is to be told here, too");
static bool parse_setup(struct soc_setup *s, const struct target_options *o, struct why *why)
{
    static const int models[ORDEAL_MODELS] = {
        [ORDEAL_SC] = SOC_SC,   [ORDEAL_TSO] = SOC_TSO, [ORDEAL_PSO] = SOC_PSO, [ORDEAL_PC] = -1,
        [ORDEAL_RMO] = SOC_RMO, [ORDEAL_RVWMO] = -1,    [ORDEAL_RVTSO] = -1
    };
    enum ordeal_model model = o->model_given ? o->model : ORDEAL_TSO;
    int bug = 0;
    *s = (struct soc_setup){ .visible = o->visible };
    if (models[model] < 0)
        return why_say(why, "there is no machine of %s; there are: SC, TSO, PSO, RMO",
                       ordeal_model_name(model));
    s->model = (enum soc_model)models[model];
    if (o->bug && !bug_parse(&zoo, o->bug, model, &bug, why))
        return false;
    s->bug = (uint32_t)bug;
    if (o->delay && !parse_number(o->delay, o->delay + strlen(o->delay), 0, 7, &s->delay))
        return why_say(why, "--delay '%s': expected a number from 0, none, to 7", o->delay);
    if (o->capture && strcmp(o->capture, "lossy") == 0)
        s->capture = SOC_CAPTURE_LOSSY;
    else if (o->capture && strcmp(o->capture, "stall") != 0)
        return why_say(why,
                       "--capture '%s': when its FIFO is full a hart can 'stall' or be 'lossy'",
                       o->capture);
    return true;
}

/* What the lean machine has not. */
static bool check_lean(const struct soc_config *c, struct why *why)
{
    const struct soc_setup *s = &c->setup;
    const char *lacks = s->model != SOC_TSO ? "a model other than TSO" : s->bug ? "bugs to choose"
        : s->visible ? "records of visible stores"
        : s->capture == SOC_CAPTURE_LOSSY ? "a lossy capture" : NULL;
    bool lean = false;
    for (int i = 0; i < c->sizes; i++)
        lean |= c->size[i].lean;
    return !lean || !lacks || why_say(why, "the lean machine does not have %s", lacks);
}

static bool parse_final(struct soc_config *c, const struct target_options *o, struct why *why)
{
    if (o->final && strcmp(o->final, "read") == 0)
        c->final = SOC_FINAL_READ;
    else if (o->final && strcmp(o->final, "skip") == 0)
        c->final = SOC_FINAL_SKIP;
    else if (o->final)
        return why_say(why, "--final '%s': 'read' memory when a test is over, or 'skip' it",
                       o->final);
    return true;
}

bool soc_config_parse(struct soc_config *c, const struct target_options *o, struct why *why)
{
    const char *other = o->config ? "config" : o->harts ? "harts" : o->sizes ? "sizes" : NULL;
    *c = (struct soc_config){ 0 };
    if (o->soc && other)
        return why_say(why, "--soc is a machine as it was built; --%s does not go with it", other);
    return (o->soc || parse_sizes(c, o, why)) && parse_setup(&c->setup, o, why)
        && parse_final(c, o, why) && check_lean(c, why);
}
