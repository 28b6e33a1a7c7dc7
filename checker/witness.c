/* SPDX-License-Identifier: Apache-2.0 */
/* Witnesses: a verdict with what proves it as a text file, and its proof alone (WITNESS.md).
 *
 * A witness speaks of the events of one execution, by number, which is that of the core where there
 * is a proof over it, else that of the whole trace; a fingerprint ties it to the trace.
 * Reading trusts nothing: the file is parsed strictly, then the certifier has the word. */
#include "certify.h"

#include <errno.h>
#include <string.h>

#define MAGIC "ordeal-witness"
enum { VERSION = 1, PLACES_PER_LINE = 16, OPS_PER_LINE = 16, TOKEN_MAX = 31 };

/* ---- the fingerprint ----------------------------------------------------------------- */

static void mix(uint64_t *hash, uint64_t word)
{
    *hash = (*hash ^ word) * UINT64_C(0x100000001b3); /* FNV-1a, a word at a time */
    *hash ^= *hash >> 29;
}

/* Everything a proof may rest on; not the names of words. */
static uint64_t fingerprint(const struct execution *x)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    mix(&hash, (uint64_t)x->threads << 32 | x->locations);
    for (uint32_t e = 0; e < x->events; e++) {
        mix(&hash, (uint64_t)x->loc[e] << 32 | x->group[e]);
        mix(&hash, (uint64_t)x->op[e] << 1 | x->is_store[e]);
        mix(&hash, x->value[e]);
    }
    for (uint32_t g = 0; g < x->groups; g++) {
        mix(&hash, (uint64_t)x->instruction[g] << 32 | x->thread_of[g]);
        mix(&hash, x->group_flags[g]);
        if (x->begin) {
            mix(&hash, x->begin[g]);
            mix(&hash, x->end[g]);
        }
    }
    for (uint32_t b = 0; b < x->barriers; b++)
        mix(&hash, (uint64_t)x->barrier[b].group << 8 | x->barrier[b].mask);
    for (uint32_t d = 0; d < x->dependences; d++)
        mix(&hash, (uint64_t)x->dependence[d].from << 32 | x->dependence[d].to);
    for (uint32_t d = 0; d < x->dependences; d++)
        if (x->dependence[d].use != ORDEAL_REGISTER_READ)
            mix(&hash, (uint64_t)d << 8 | x->dependence[d].use);
    for (uint32_t k = 0; k < x->reservations; k++)
        mix(&hash, (uint64_t)x->reservation[k].group << 32 | x->reservation[k].first);
    for (uint32_t k = 0; k < x->orders; k++)
        for (uint32_t i = x->order_first[k]; i < x->order_first[k + 1]; i++)
            mix(&hash, (uint64_t)k << 32 | x->order[i]);
    for (uint32_t k = 0; k < x->finals; k++) {
        mix(&hash, (uint64_t)x->final[k].loc << 32 | x->final[k].count);
        for (uint32_t i = 0; i < x->final[k].count; i++)
            mix(&hash, x->final_store[x->final[k].first + i]);
    }
    return hash;
}

/* ---- writing ------------------------------------------------------------------------- */

static void put_number(FILE *f, uint32_t n)
{
    char digits[10];
    int count = 0;
    do
        digits[count++] = (char)('0' + n % 10);
    while (n /= 10);
    while (count)
        putc_unlocked(digits[--count], f);
}

/* "17", or "17:2" for event 17 in the view of thread 2. */
static void put_event(const struct ordeal_verdict *v, FILE *f, uint32_t event, uint32_t view)
{
    put_number(f, event);
    if (certify_has_views(v->model) && view != NONE) {
        putc_unlocked(':', f);
        put_number(f, view);
    }
}

static void write_order(const struct ordeal_verdict *v, FILE *f)
{
    fputs("order", f);
    for (size_t i = 0; i < v->order.count; i++) {
        putc_unlocked(i % PLACES_PER_LINE ? ' ' : '\n', f);
        put_event(v, f, v->order.data[i].event, v->order.data[i].view);
    }
    putc_unlocked('\n', f);
}

static void write_core(const struct ordeal_verdict *v, FILE *f)
{
    for (size_t i = 0; i < v->core.count; i++) {
        fputs(i % OPS_PER_LINE == 0 ? "core " : " ", f);
        put_number(f, v->core.data[i]);
        if (i + 1 == v->core.count || (i + 1) % OPS_PER_LINE == 0)
            putc_unlocked('\n', f);
    }
}

static void write_step(const struct ordeal_verdict *v, FILE *f, size_t number)
{
    struct ordeal_step s;
    char a[EVENT_TEXT], b[EVENT_TEXT];
    ordeal_verdict_step(v, number, &s);
    fprintf(f, "step # %zu%s\n", number + 1, s.edge_count ? "" : ": follows from those before");
    for (size_t i = 0; i < s.literal_count; i++) {
        const struct ordeal_literal *l = &s.literals[i];
        fprintf(f, "or %s%s %u %u # %s %s%s %s\n", l->negated ? "not " : "",
                l->reads ? "saw" : "before", l->a, l->b, certify_event_text(v->x, l->a, a),
                l->negated ? "not " : "", l->reads ? "saw" : "before",
                certify_event_text(v->x, l->b, b));
    }
    for (size_t i = 0; i < s.edge_count; i++) {
        const struct ordeal_edge *e = &s.edges[i];
        fprintf(f, "edge %s ", ordeal_rule_name(e->rule));
        put_event(v, f, e->from, e->from_view);
        putc_unlocked(' ', f);
        put_event(v, f, e->to, e->to_view);
        if (e->via != NONE)
            fprintf(f, " via %u", e->via);
        fprintf(f, " # %s before %s: %s\n", certify_event_text(v->x, e->from, a),
                certify_event_text(v->x, e->to, b), ordeal_rule_text(e->rule));
    }
}

static void write_fail(const struct ordeal_verdict *v, FILE *f)
{
    char text[EVENT_TEXT];
    write_core(v, f);
    if (v->unwritten != NONE)
        fprintf(f, "unwritten %u # %s\n", v->unwritten,
                certify_event_text(v->x, v->unwritten, text));
    for (size_t i = 0; i < v->proof.steps.count; i++)
        write_step(v, f, i);
}

static void write_verdict(const struct ordeal_verdict *v, const struct execution *whole, FILE *f)
{
    fprintf(f, MAGIC " %d\ntrace %zu %u %u %016llx\nmodel %s\ntime-order %s\nverdict %s\n",
            VERSION, ordeal_trace_length(whole->trace), whole->threads, whole->events,
            (unsigned long long)fingerprint(whole), ordeal_model_name(v->model),
            v->time_order ? "yes" : "no", v->result == ORDEAL_PASS ? "PASS" : "FAIL");
    if (v->result == ORDEAL_PASS)
        write_order(v, f);
    else
        write_fail(v, f);
    fputs("end\n", f);
}

/* A proof by steps is about the execution of the core's operations alone. */
static bool is_about_core(const struct ordeal_verdict *v)
{
    return v->result == ORDEAL_FAIL && v->unwritten == NONE && v->proof.steps.count;
}

enum ordeal_status ordeal_witness_write(const struct ordeal_verdict *v, FILE *stream)
{
    struct execution *whole = NULL;
    if (v->result == ORDEAL_UNDECIDED)
        return fail(v->o, ORDEAL_BAD_USAGE, "an undecided check has no witness");
    if (is_about_core(v)) {
        enum ordeal_status status = execution_build(v->x->trace, &whole);
        if (status != ORDEAL_OK)
            return status;
    }
    assert(!whole || whole->events >= v->x->events); /* the core is a part of it */
    write_verdict(v, whole ? whole : v->x, stream);
    execution_free(whole);
    if (fflush(stream) != 0 || ferror(stream))
        return fail(v->o, ORDEAL_IO, "the witness cannot be written: %s", strerror(errno));
    return ORDEAL_OK;
}

/* ---- reading: words ------------------------------------------------------------------ */

struct witness_reader {
    struct ordeal *o;
    FILE *stream;
    const char *name;
    struct ordeal_verdict *v;
    uint64_t line, column;              /* of the next character */
    uint64_t word_line, word_column;
    char word[TOKEN_MAX + 1];           /* "": the end of the line, or of the file */
    size_t length;
    bool ended;                         /* the file has */
    size_t next, filled;
    char buffer[1 << 16];
};

static enum ordeal_status expected(const struct witness_reader *r, const char *what)
{
    if (r->length)
        return fail_at(r->o, r->name, r->word_line, r->word_column, "expected %s, not '%s'", what,
                       r->word);
    return fail_at(r->o, r->name, r->word_line, r->word_column,
                   "expected %s, not the end of the %s", what, r->ended ? "file" : "line");
}

/* The next character without taking it, or -1 at the end. */
static int peek(struct witness_reader *r)
{
    if (r->next == r->filled) {
        r->next = 0;
        r->filled = r->ended ? 0 : fread(r->buffer, 1, sizeof r->buffer, r->stream);
        if (r->filled == 0)
            return r->ended = true, -1;
    }
    return (unsigned char)r->buffer[r->next];
}

static void take(struct witness_reader *r)
{
    assert(r->next < r->filled);
    bool newline = r->buffer[r->next++] == '\n';
    r->line += newline;
    r->column = newline ? 1 : r->column + 1;
}

static bool is_blank(int c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next word of this line; with `lines`, of this or a later line. Empty: there is none. */
static enum ordeal_status read_word(struct witness_reader *r, bool lines)
{
    int c = peek(r);
    bool comment = false;
    for (; is_blank(c) || c == '#' || (comment && c != '\n' && c != -1) || (lines && c == '\n');
         c = peek(r)) {
        comment = c != '\n' && (comment || c == '#');
        take(r);
    }
    r->word_line = r->line;
    r->word_column = r->column;
    for (r->length = 0; c != -1 && c != '\n' && c != '#' && !is_blank(c); c = peek(r)) {
        if (r->length == TOKEN_MAX || c < ' ' || c > '~') {
            r->word[r->length] = '\0';
            return fail_at(r->o, r->name, r->line, r->column, "expected short words and numbers");
        }
        r->word[r->length++] = (char)c;
        take(r);
    }
    assert(r->length <= TOKEN_MAX);
    r->word[r->length] = '\0';
    if (ferror(r->stream))
        return fail(r->o, ORDEAL_IO, "%s cannot be read: %s", r->name, strerror(errno));
    return ORDEAL_OK;
}

static bool word_is(const struct witness_reader *r, const char *word)
{
    return strcmp(r->word, word) == 0;
}

/* Be done with this line, and have the first word of the next. */
static enum ordeal_status next_line(struct witness_reader *r)
{
    enum ordeal_status status = read_word(r, false);
    if (status == ORDEAL_OK && r->length)
        return expected(r, "the end of the line");
    return status == ORDEAL_OK ? read_word(r, true) : status;
}

/* ---- reading: numbers ---------------------------------------------------------------- */

/* Digits at `text` up to `end`; false unless they are a number below NONE. */
static bool parse_number(const char *text, const char *end, uint32_t *number)
{
    uint64_t n = 0;
    if (text == end || end - text > 10)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        n = 10 * n + (uint64_t)(*text - '0');
    }
    *number = (uint32_t)n;
    return n < NONE;
}

static enum ordeal_status read_number(struct witness_reader *r, const char *what, uint32_t *number)
{
    enum ordeal_status status = read_word(r, false);
    if (status == ORDEAL_OK && !parse_number(r->word, r->word + r->length, number))
        return expected(r, what);
    return status;
}

/* The word at hand as an event with or without a view. */
static enum ordeal_status parse_event(struct witness_reader *r, uint32_t *event, uint32_t *view)
{
    const char *end = r->word + r->length, *colon = memchr(r->word, ':', r->length);
    *view = NONE;
    if (!parse_number(r->word, colon ? colon : end, event)
        || (colon && !parse_number(colon + 1, end, view)))
        return expected(r, "an event");
    return ORDEAL_OK;
}

static enum ordeal_status read_event(struct witness_reader *r, uint32_t *event, uint32_t *view)
{
    enum ordeal_status status = read_word(r, false);
    return status == ORDEAL_OK ? parse_event(r, event, view) : status;
}

/* ---- reading: lines ------------------------------------------------------------------ */

/* "KEYWORD A" or "KEYWORD B" with the keyword at hand; then the next line's first word. */
static enum ordeal_status read_choice(struct witness_reader *r, const char *keyword, const char *a,
                                      const char *b, bool *is_b)
{
    if (!word_is(r, keyword))
        return expected(r, keyword);
    enum ordeal_status status = read_word(r, false);
    if (status != ORDEAL_OK)
        return status;
    *is_b = word_is(r, b);
    if (!*is_b && !word_is(r, a)) {
        char what[2 * TOKEN_MAX];
        snprintf(what, sizeof what, "%s or %s", a, b);
        return expected(r, what);
    }
    return next_line(r);
}

static enum ordeal_status read_magic(struct witness_reader *r)
{
    uint32_t version = 0;
    enum ordeal_status status = read_word(r, false);
    if (status == ORDEAL_OK && !word_is(r, MAGIC))
        return expected(r, "'" MAGIC "', the first word of a witness");
    if (status == ORDEAL_OK)
        status = read_number(r, "a version", &version);
    if (status == ORDEAL_OK && version != VERSION)
        return expected(r, "version 1");
    return status == ORDEAL_OK ? next_line(r) : status;
}

static enum ordeal_status read_fingerprint(struct witness_reader *r)
{
    const struct execution *x = r->v->x;
    uint32_t ops = 0, threads = 0, events = 0;
    char hash[17];
    if (!word_is(r, "trace"))
        return expected(r, "trace");
    uint64_t line = r->word_line, column = r->word_column;
    enum ordeal_status status = read_number(r, "the number of operations", &ops);
    if (status == ORDEAL_OK)
        status = read_number(r, "the number of threads", &threads);
    if (status == ORDEAL_OK)
        status = read_number(r, "the number of events", &events);
    if (status == ORDEAL_OK)
        status = read_word(r, false);
    if (status != ORDEAL_OK)
        return status;
    if (ops != ordeal_trace_length(x->trace) || threads != x->threads || events != x->events)
        return fail_at(r->o, r->name, line, column, "the witness is of another trace: %u "
                       "operations of %u threads, %u events, where this one has %zu, %u and %u",
                       ops, threads, events, ordeal_trace_length(x->trace), x->threads, x->events);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)fingerprint(x));
    if (!word_is(r, hash))
        return fail_at(r->o, r->name, r->word_line, r->word_column, "the witness is of another "
                       "trace: fingerprint '%s', where this one has %s", r->word, hash);
    return next_line(r);
}

static enum ordeal_status read_model(struct witness_reader *r)
{
    if (!word_is(r, "model"))
        return expected(r, "model");
    enum ordeal_status status = read_word(r, false);
    if (status == ORDEAL_OK && !ordeal_model_parse(r->word, &r->v->model))
        return expected(r, "a memory model");
    return status == ORDEAL_OK ? next_line(r) : status;
}

/* Places run over as many lines as they like, up to `end`. */
static enum ordeal_status read_order(struct witness_reader *r)
{
    enum ordeal_status status = ORDEAL_OK;
    if (!word_is(r, "order"))
        return expected(r, "order");
    for (;;) {
        struct ordeal_place place;
        status = read_word(r, true);
        if (status != ORDEAL_OK || word_is(r, "end"))
            return status;
        status = parse_event(r, &place.event, &place.view);
        if (status != ORDEAL_OK)
            return status;
        if (!VEC_PUSH(r->o, &r->v->order, place))
            return r->o->error.status;
        if (limit_hit(r->o, "reading the witness", -1))
            return ORDEAL_LIMIT;
    }
}

static enum ordeal_status read_core(struct witness_reader *r)
{
    uint32_t op;
    enum ordeal_status status;
    while ((status = read_word(r, false)) == ORDEAL_OK && r->length) {
        if (!parse_number(r->word, r->word + r->length, &op))
            return expected(r, "an operation's number");
        if (!VEC_PUSH(r->o, &r->v->core, op))
            return r->o->error.status;
    }
    return status;
}

static enum ordeal_status read_unwritten(struct witness_reader *r)
{
    return read_number(r, "an event", &r->v->unwritten);
}

static enum ordeal_status read_step(struct witness_reader *r)
{
    struct proof *p = &r->v->proof;
    struct proof_step step = { .literal_first = (uint32_t)p->literals.count,
                               .edge_first = (uint32_t)p->edges.count };
    if (p->literals.count >= NONE || p->edges.count >= NONE || p->steps.count >= NONE)
        return expected(r, "a shorter proof");
    return VEC_PUSH(r->o, &p->steps, step) ? ORDEAL_OK : r->o->error.status;
}

static enum ordeal_status read_literal(struct witness_reader *r)
{
    struct proof *p = &r->v->proof;
    struct ordeal_literal l = { 0 };
    if (p->steps.count == 0)
        return expected(r, "step");
    enum ordeal_status status = read_word(r, false);
    l.negated = status == ORDEAL_OK && word_is(r, "not");
    if (l.negated)
        status = read_word(r, false);
    if (status != ORDEAL_OK)
        return status;
    l.reads = word_is(r, "saw");
    if (!l.reads && !word_is(r, "before"))
        return expected(r, "saw or before");
    status = read_number(r, "an event", &l.a);
    if (status == ORDEAL_OK)
        status = read_number(r, "an event", &l.b);
    if (status == ORDEAL_OK && !VEC_PUSH(r->o, &p->literals, l))
        return r->o->error.status;
    p->steps.data[p->steps.count - 1].literal_count++;
    return status;
}

static enum ordeal_status read_rule(struct witness_reader *r, uint8_t *rule)
{
    enum ordeal_status status = read_word(r, false);
    if (status != ORDEAL_OK)
        return status;
    for (*rule = 0; *rule < ORDEAL_RULE_COUNT; ++*rule)
        if (word_is(r, ordeal_rule_name(*rule)))
            return ORDEAL_OK;
    return expected(r, "the name of a rule");
}

static enum ordeal_status read_edge(struct witness_reader *r)
{
    struct proof *p = &r->v->proof;
    struct ordeal_edge e = { .via = NONE };
    if (p->steps.count == 0)
        return expected(r, "step");
    enum ordeal_status status = read_rule(r, &e.rule);
    if (status == ORDEAL_OK)
        status = read_event(r, &e.from, &e.from_view);
    if (status == ORDEAL_OK)
        status = read_event(r, &e.to, &e.to_view);
    if (status == ORDEAL_OK)
        status = read_word(r, false);
    if (status == ORDEAL_OK && r->length) {
        if (!word_is(r, "via"))
            return expected(r, "via or the end of the line");
        status = read_number(r, "an event", &e.via);
    }
    if (status == ORDEAL_OK && !VEC_PUSH(r->o, &p->edges, e))
        return r->o->error.status;
    p->steps.data[p->steps.count - 1].edge_count++;
    return status;
}

static enum ordeal_status read_proof(struct witness_reader *r)
{
    static const struct {
        const char *keyword;
        enum ordeal_status (*read)(struct witness_reader *r);
    } lines[] = {
        { "core", read_core }, { "unwritten", read_unwritten }, { "step", read_step },
        { "or", read_literal }, { "edge", read_edge },
    };
    enum ordeal_status status = ORDEAL_OK;
    while (status == ORDEAL_OK && !word_is(r, "end")) {
        size_t i = 0, count = sizeof lines / sizeof *lines;
        while (i < count && !word_is(r, lines[i].keyword))
            i++;
        if (i == count)
            return expected(r, "core, unwritten, step, or, edge or end");
        status = lines[i].read(r);
        if (status == ORDEAL_OK)
            status = next_line(r);
        if (limit_hit(r->o, "reading the witness", -1))
            return ORDEAL_LIMIT;
    }
    return status;
}

static enum ordeal_status read_witness(struct witness_reader *r)
{
    bool failed = false;
    enum ordeal_status status = read_magic(r);
    if (status == ORDEAL_OK)
        status = read_fingerprint(r);
    if (status == ORDEAL_OK)
        status = read_model(r);
    if (status == ORDEAL_OK)
        status = read_choice(r, "time-order", "no", "yes", &r->v->time_order);
    if (status == ORDEAL_OK)
        status = read_choice(r, "verdict", "PASS", "FAIL", &failed);
    if (status != ORDEAL_OK)
        return status;
    r->v->result = failed ? ORDEAL_FAIL : ORDEAL_PASS;
    status = failed ? read_proof(r) : read_order(r);
    if (status == ORDEAL_OK)
        status = next_line(r);
    return status == ORDEAL_OK && r->length ? expected(r, "nothing more") : status;
}

/* ---- verifying ----------------------------------------------------------------------- */

/* The proof over the execution of the core, and that the core stands for the whole. */
static enum ordeal_status certify_by_core(struct ordeal_verdict *v)
{
    struct execution *whole = v->x;
    size_t ops = ordeal_trace_length(whole->trace);
    bool *keep = mem_zero(v->o, ops, sizeof *keep);
    enum ordeal_status status = keep ? ORDEAL_OK : v->o->error.status;
    for (size_t i = 0; status == ORDEAL_OK && i < v->core.count; i++) {
        if (v->core.data[i] >= ops)
            status = fail(v->o, ORDEAL_INTERNAL, "the core is no ascending list of operations");
        else
            keep[v->core.data[i]] = true;
    }
    if (status == ORDEAL_OK)
        status = execution_build_part(whole, keep, &v->x);
    if (status == ORDEAL_OK) {
        status = certify(v);
        if (status == ORDEAL_OK)
            status = certify_core(v, whole);
        execution_free(whole);
    } else {
        v->x = whole;
    }
    mem_free(v->o, keep, ops * sizeof *keep);
    return status;
}

static enum ordeal_status prove(struct witness_reader *r)
{
    enum ordeal_status status = read_witness(r);
    if (status == ORDEAL_OK)
        status = is_about_core(r->v) ? certify_by_core(r->v) : certify(r->v);
    if (status == ORDEAL_INTERNAL) {
        char reason[sizeof r->o->error.reason];
        memcpy(reason, r->o->error.reason, sizeof reason);
        return fail_at(r->o, r->name, 0, 0, "the witness does not hold: %.400s", reason);
    }
    return status;
}

enum ordeal_status ordeal_witness_verify(const struct ordeal_trace *t, FILE *stream,
                                         const char *name, struct ordeal_verdict **verdict)
{
    struct ordeal *o = t->o;
    size_t used = o->used;
    *verdict = NULL;
    limit_start(o);
    struct ordeal_verdict *v = mem_zero(o, 1, sizeof *v);
    struct witness_reader *r = v ? mem_zero(o, 1, sizeof *r) : NULL;
    enum ordeal_status status = r ? ORDEAL_OK : o->error.status;
    if (v) {
        v->o = o;
        v->unwritten = NONE;
    }
    if (status == ORDEAL_OK)
        status = execution_build(t, &v->x);
    if (status == ORDEAL_OK) {
        r->o = o;
        r->stream = stream;
        r->name = name;
        r->v = v;
        r->line = r->column = 1;
        v->counters.ops = ordeal_trace_length(t);
        v->counters.threads = v->x->threads;
        v->counters.locations = v->x->locations;
        status = prove(r);
        v->counters.core = v->core.count;
    }
    mem_free(o, r, sizeof *r);
    if (status != ORDEAL_OK) {
        ordeal_verdict_free(v);
        assert(o->used == used);
        return status;
    }
    *verdict = v;
    return ORDEAL_OK;
}
