/* SPDX-License-Identifier: Apache-2.0 */
/* The places are ours: a column a thread, a row an operation. Graphviz draws the nodes and finds a
 * way for the edges between them. */
#include "picture.h"

#include <string.h>

#include <gvc.h>

#include "base/apart.h"
#include "base/text.h"
#include "explain.h"
#include "picture_labels.h"

struct pen {
    const char *color, *style, *width, *class;
};
static const struct pen pen_given = { "#37474f", "solid", "1", "given" },
                        pen_found = { "#1565c0", "dashed", "1.2", "found" },
                        pen_supposed = { "#ef6c00", "dotted", "1.5", "supposed" },
                        pen_circle = { "#c62828", "solid", "2.5", "circle" },
                        pen_circle_found = { "#c62828", "dashed", "2.5", "circle" };

struct shown {
    uint32_t op, thread, number;     /* number: the n of Pn */
    uint32_t transaction;            /* number within the trace from 1; 0: none */
};

/* An edge of the proof, and what of the picture says it. */
struct drawn {
    struct ordeal_edge edge;
    Agedge_t *line;
    const struct pen *pen;
};

/* By itself libcgraph takes the addresses of names for numbers and sorts boxes by them, which come as
 * memory does. With these the same violation is the same picture. */
struct numbering {
    Agdisc_t discipline; /* first: libcgraph gives back its address */
    IDTYPE last;
};

struct drawing {
    const struct proof *proof;
    struct naming *names;
    enum ordeal_model model;
    struct numbering numbering; /* of what is in the graph */
    Agraph_t *graph;
    bool out_of_memory;
    LIST(uint32_t) ops;              /* drawn, ascending */
    LIST(struct shown) shown;        /* the same, thread by thread */
    double right;                    /* where the next column begins */
    LIST(struct drawn) drawn;        /* not twice */
};

#define PUSH(d, list, item) ((void)(LIST_PUSH(list, item) || ((d)->out_of_memory = true)))

/* libcgraph wants pointers to char that it does not write through. */
static void set(void *object, const char *name, const char *value)
{
    agsafeset(object, (char *)name, (char *)value, (char *)"");
}

/* Text for an HTML-like label. */
static void put_escaped(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default: fputc(*text, f);
        }
}

/* How an operation looks; without a shape it is not drawn: the box around a transaction says it. */
/* clang-format off */
static const struct { const char *shape, *style, *fill, *class; } look[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = { "box", "rounded,filled", "#e3f2fd", "load" },
    [ORDEAL_STORE] = { "box", "rounded,filled", "#fff3e0", "store" },
    [ORDEAL_SWAP] = { "box", "rounded,filled", "#f3e5f5", "atomic" },
    [ORDEAL_CAS] = { "box", "rounded,filled", "#f3e5f5", "atomic" },
    [ORDEAL_AMO] = { "box", "rounded,filled", "#f3e5f5", "atomic" },
    [ORDEAL_LOAD_RESERVED] = { "box", "rounded,filled", "#e3f2fd", "load" },
    [ORDEAL_STORE_CONDITIONAL] = { "box", "rounded,filled", "#fff3e0", "store" },
    [ORDEAL_MEMBAR] = { "plaintext", "", "", "membar" },
};
/* clang-format on */

/* ---- numbers --------------------------------------------------------------------------- */

static void *open_numbers(Agraph_t *g, Agdisc_t *discipline)
{
    (void)g;
    return discipline;
}

/* The next one; of a name none is known here, and libcgraph keeps a table of them itself. */
static long next_number(void *state, int kind, char *name, IDTYPE *number, int create)
{
    struct numbering *n = state;
    (void)kind, (void)create;
    if (name)
        return 0;
    *number = ++n->last;
    return 1;
}

static long refuse_number(void *state, int kind, IDTYPE number)
{
    (void)state, (void)kind, (void)number;
    return 0;
}

static char *name_no_number(void *state, int kind, IDTYPE number)
{
    (void)state, (void)kind, (void)number;
    return NULL;
}

static void free_number(void *state, int kind, IDTYPE number)
{
    (void)state, (void)kind, (void)number;
}

static void close_numbers(void *state) { (void)state; }

static void register_number(void *state, int kind, void *object)
{
    (void)state, (void)kind, (void)object;
}

static Agiddisc_t numbers_in_order = { open_numbers,   next_number,   refuse_number,  free_number,
                                       name_no_number, close_numbers, register_number };

/* ---- which operations ------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void want_event(struct drawing *d, uint32_t event)
{
    struct ordeal_event e;
    if (event == ORDEAL_NONE)
        return;
    ordeal_verdict_event(d->names->verdict, event, &e);
    if (e.op != ORDEAL_NONE)
        PUSH(d, &d->ops, e.op);
}

static void collect_ops(struct drawing *d)
{
    const struct proof *p = d->proof;
    const uint32_t *core;
    size_t count = ordeal_verdict_core(d->names->verdict, &core);
    for (size_t i = 0; i < count; i++)
        PUSH(d, &d->ops, core[i]);
    for (size_t i = 0; i < p->inferences.count; i++) {
        const struct inference *n = &p->inferences.data[i];
        for (size_t k = 0; n->used && k < n->edges.count; k++) {
            const struct ordeal_edge *e = &p->edges.data[n->edges.first + k].edge;
            want_event(d, e->from);
            want_event(d, e->to);
            want_event(d, e->via);
        }
    }
    if (d->ops.count)
        qsort(d->ops.data, d->ops.count, sizeof *d->ops.data, by_number);
    size_t kept = 0;
    for (size_t i = 0; i < d->ops.count; i++)
        if (look[ordeal_trace_op(d->names->trace, d->ops.data[i])->kind].shape
            && (kept == 0 || d->ops.data[kept - 1] != d->ops.data[i]))
            d->ops.data[kept++] = d->ops.data[i];
    d->ops.count = kept;
}

static int by_thread(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return by_number(&x->op, &y->op);
}

/* Walks the trace once: which transaction was open in its thread at each drawn operation? */
static void collect_shown(struct drawing *d)
{
    struct open { uint32_t number, depth; };
    LIST(struct open) threads = { 0 };
    uint32_t transactions = 0;
    size_t length = d->ops.count ? d->ops.data[d->ops.count - 1] + 1 : 0;
    for (size_t i = 0, next = 0; i < length && !d->out_of_memory; i++) {
        const struct ordeal_op *op = ordeal_trace_op(d->names->trace, i);
        while (threads.count <= op->thread && !d->out_of_memory)
            PUSH(d, &threads, ((struct open){ 0 }));
        if (d->out_of_memory)
            break;
        struct open *t = &threads.data[op->thread];
        if (op->kind == ORDEAL_TX_BEGIN && t->depth++ == 0)
            t->number = ++transactions;
        if (d->ops.data[next] == i) {
            PUSH(d, &d->shown, ((struct shown){ .op = (uint32_t)i, .thread = op->thread,
                                                .number = thread_number(d->names, op->thread),
                                                .transaction = t->depth ? t->number : 0 }));
            next++;
        }
        if ((op->kind == ORDEAL_TX_END || op->kind == ORDEAL_TX_ABORT) && t->depth)
            t->depth--;
    }
    LIST_FREE(&threads);
    if (d->shown.count)
        qsort(d->shown.data, d->shown.count, sizeof *d->shown.data, by_thread);
}

/* ---- nodes ----------------------------------------------------------------------------- */

static Agraph_t *cluster(Agraph_t *parent, const char *kind, uint32_t number)
{
    char name[64];
    snprintf(name, sizeof name, "cluster_%s%u", kind, number);
    return agsubg(parent, name, 1);
}

static void place_node(Agnode_t *node, double x, double y)
{
    char text[64];
    snprintf(text, sizeof text, "%.1f,%.1f", x, y);
    set(node, "pos", text);
}

static void draw_box(Agraph_t *box, const char *label, double left, double bottom, double right,
                     double top)
{
    char text[128];
    set(box, "label", label);
    set(box, "style", "rounded,filled");
    snprintf(text, sizeof text, "%.1f,%.1f,%.1f,%.1f", left, bottom, right, top);
    set(box, "bb", text);
    snprintf(text, sizeof text, "%.1f,%.1f", (left + right) / 2, top - 10);
    set(box, "lp", text);
}

/* False: out of memory. */
static bool set_html(Agraph_t *g, Agnode_t *node, const char *title, uint32_t line)
{
    char *html = NULL;
    size_t size;
    FILE *f = text_stream(&html, &size);
    if (!f)
        return false;
    put_escaped(f, title);
    if (line)
        fprintf(f, "<BR/><FONT POINT-SIZE=\"8\" COLOR=\"#78909c\">line %u</FONT>", line);
    if (fclose(f) != 0)
        return false;
    char *label = agstrdup_html(g, html);
    agxset(node, agattr(g, AGNODE, (char *)"label", NULL), label);
    agstrfree(g, label);
    free(html);
    return true;
}

static Agnode_t *op_node(Agraph_t *g, uint32_t op)
{
    char name[32];
    snprintf(name, sizeof name, "op%u", op);
    return agnode(g, name, 1);
}

static void draw_op(struct drawing *d, Agraph_t *column, const struct shown *o, double x, double y)
{
    const struct ordeal_op *op = ordeal_trace_op(d->names->trace, o->op);
    Agnode_t *node = op_node(o->transaction ? cluster(column, "transaction", o->transaction)
                                            : column, o->op);
    if (!set_html(d->graph, node, name_op_bare(d->names, o->op), op->line))
        d->out_of_memory = true;
    set(node, "tooltip", name_op(d->names, o->op));
    set(node, "shape", look[op->kind].shape);
    set(node, "style", look[op->kind].style);
    set(node, "fillcolor", look[op->kind].fill);
    char id[32];
    snprintf(id, sizeof id, "op_%u", o->op);
    set(node, "id", id);
    set(node, "class", look[op->kind].class);
    place_node(node, x, y);
}

/* Points. A row is high enough for a node and an edge; a transaction adds its name. */
static const double row_height = 64, column_gap = 80, letter = 6.8, node_half = 22,
                    name_height = 18;

static double column_width(struct drawing *d, size_t first, size_t last)
{
    size_t letters = 6;
    for (size_t i = first; i < last; i++) {
        size_t length = strlen(name_op_bare(d->names, d->shown.data[i].op));
        letters = length > letters ? length : letters;
    }
    return (double)letters * letter + 40;
}

/* shown[first..last) are the operations of one thread, from top to bottom. */
static void draw_column(struct drawing *d, size_t first, size_t last)
{
    const struct shown *shown = d->shown.data;
    double left = d->right, right = left + column_width(d, first, last), y = 0, box_top = 0;
    Agraph_t *column = cluster(d->graph, "thread", shown[first].thread);
    for (size_t i = first; i < last; i++) {
        uint32_t transaction = shown[i].transaction;
        bool begins = transaction && (i == first || shown[i - 1].transaction != transaction);
        bool ends = transaction && (i + 1 == last || shown[i + 1].transaction != transaction);
        y -= i == first ? 0 : row_height;
        y -= begins ? name_height : 0;
        box_top = begins ? y + node_half + name_height : box_top;
        draw_op(d, column, &shown[i], (left + right) / 2, y);
        if (ends) {
            Agraph_t *box = cluster(column, "transaction", transaction);
            draw_box(box, "transaction", left + 6, y - node_half - 4, right - 6, box_top);
            set(box, "color", "#8e24aa");
            set(box, "fillcolor", "#faf3fc");
            set(box, "fontsize", "9");
        }
    }
    draw_box(column, name_thread(d->names, shown[first].thread), left, y - node_half - 12, right,
             node_half + 2 * name_height);
    set(column, "color", "#cfd8dc");
    set(column, "fillcolor", "#f7f9fa");
    d->right = right + column_gap;
}

static void draw_columns(struct drawing *d)
{
    for (size_t first = 0, last; first < d->shown.count; first = last) {
        for (last = first + 1; last < d->shown.count; last++)
            if (d->shown.data[last].thread != d->shown.data[first].thread)
                break;
        draw_column(d, first, last);
    }
}

/* A light line where program order says nothing else. */
static void draw_program_order(struct drawing *d)
{
    for (size_t i = 1; i < d->shown.count; i++) {
        const struct shown *a = &d->shown.data[i - 1], *b = &d->shown.data[i];
        Agnode_t *from = op_node(d->graph, a->op), *to = op_node(d->graph, b->op);
        if (a->thread != b->thread || agedge(d->graph, from, to, NULL, 0))
            continue;
        Agedge_t *e = agedge(d->graph, from, to, (char *)"program", 1);
        set(e, "color", "#cfd8dc");
        set(e, "arrowhead", "none");
        set(e, "tooltip", "program order");
        set(e, "class", "program");
    }
}

static Agnode_t *event_node(struct drawing *d, uint32_t event)
{
    struct ordeal_event e;
    ordeal_verdict_event(d->names->verdict, event, &e);
    if (e.op != ORDEAL_NONE)
        return op_node(d->graph, e.op);
    char name[32];
    snprintf(name, sizeof name, "initial%u", event);
    Agnode_t *node = agnode(d->graph, name, 0);
    if (!node) {
        node = agnode(d->graph, name, 1);
        place_node(node, d->right, 0);
        d->right += column_gap;
        set(node, "label", name_event(d->names, event, ORDEAL_NONE) + strlen("the "));
        set(node, "fillcolor", "#eceff1");
    }
    return node;
}

/* ---- edges ------------------------------------------------------------------------------- */

/* Adds to what an attribute says, if it does not say that yet. */
static void set_also(struct drawing *d, Agedge_t *line, const char *name, const char *between,
                     const char *more)
{
    const char *before = agget(line, (char *)name);
    size_t size = strlen(before) + strlen(between) + strlen(more) + 1;
    char *both = strstr(before, more) ? NULL : malloc(size);
    if (both) {
        snprintf(both, size, "%s%s%s", before, between, more);
        set(line, name, both);
        free(both);
    } else if (!strstr(before, more)) {
        d->out_of_memory = true;
    }
}

static Agedge_t *draw_line(struct drawing *d, const struct ordeal_edge *edge, const char *label,
                           const char *reason, const struct pen *pen)
{
    char key[32], id[40];
    snprintf(key, sizeof key, "proof%zu", d->drawn.count);
    snprintf(id, sizeof id, "edge_%u_%u", edge->from, edge->to);
    Agedge_t *line = agedge(d->graph, event_node(d, edge->from), event_node(d, edge->to), key, 1);
    set(line, "id", id);
    set(line, "class", pen->class);
    set(line, "xlabel", label);
    set(line, "color", pen->color);
    set(line, "fontcolor", pen->color);
    set(line, "style", pen->style);
    set(line, "penwidth", pen->width);
    set(line, "tooltip", reason);
    set(line, "labeltooltip", reason);
    return line;
}

/* Between the same operations several edges that look the same are one line with all their rules. */
static void draw_edge(struct drawing *d, const struct ordeal_edge *edge, const char *label,
                      const char *reason, const struct pen *pen)
{
    Agnode_t *from = event_node(d, edge->from), *to = event_node(d, edge->to);
    Agedge_t *line = NULL;
    for (size_t i = 0; i < d->drawn.count; i++) {
        const struct drawn *before = &d->drawn.data[i];
        if (before->edge.from == edge->from && before->edge.to == edge->to)
            return;
        if (before->pen == pen && agtail(before->line) == from && aghead(before->line) == to)
            line = before->line;
    }
    if (line) {
        set_also(d, line, "xlabel", ", ", label);
        set_also(d, line, "tooltip", "; ", reason);
        set_also(d, line, "labeltooltip", "; ", reason);
    } else {
        line = draw_line(d, edge, label, reason, pen);
    }
    PUSH(d, &d->drawn, ((struct drawn){ *edge, line, pen }));
}

static void draw_proof_edge(struct drawing *d, const struct proof_edge *e, const struct pen *pen)
{
    char reason[8 * NAME_SIZE];
    explain_edge(&e->edge, d->names, d->model, reason, sizeof reason);
    draw_edge(d, &e->edge, ordeal_rule_name(e->edge.rule), reason, pen);
}

/* How the fact of an inference was found, for its label. */
static const char *fact_rule(const struct proof *p, const struct inference *n)
{
    if (n->kind != BY_CYCLE)
        return "cases";
    for (size_t k = 0; k < n->edges.count; k++) {
        const struct proof_edge *e = &p->edges.data[n->edges.first + k];
        if (e->support == SUPPOSED && e->edge.rule == ORDEAL_RULE_R7)
            return ordeal_rule_name(ORDEAL_RULE_R6);
    }
    return ordeal_rule_name(ORDEAL_RULE_CO);
}

/* The order of two stores that an inference concludes, if that is what it concludes. */
static void draw_fact(struct drawing *d, const struct inference *n, const struct pen *pen)
{
    if (n->conclusion.count != 1)
        return;
    struct ordeal_literal l = d->proof->literals.data[n->conclusion.first];
    if (l.reads)
        return;
    struct ordeal_edge e = { .rule = ORDEAL_RULE_CO, .from = l.a, .to = l.b, .via = ORDEAL_NONE,
                             .from_view = ORDEAL_NONE, .to_view = ORDEAL_NONE };
    char reason[4 * NAME_SIZE];
    snprintf(reason, sizeof reason, "%s is before %s", name_event(d->names, l.a, ORDEAL_NONE),
             name_event(d->names, l.b, ORDEAL_NONE));
    draw_edge(d, &e, fact_rule(d->proof, n), reason, pen);
}

static const struct inference *fact_at(const struct proof *p, struct range facts, size_t k)
{
    return &p->inferences.data[p->facts.data[facts.first + k]];
}

/* What contradicts itself: the last circle, or the facts that cannot hold together. */
static void draw_contradiction(struct drawing *d, const struct inference *n)
{
    for (size_t k = 0; k < n->edges.count; k++) {
        const struct proof_edge *e = &d->proof->edges.data[n->edges.first + k];
        if (e->edge.rule == ORDEAL_RULE_CO && e->support == KNOWN)
            draw_fact(d, fact_at(d->proof, e->facts, 0), &pen_circle_found);
        else
            draw_proof_edge(d, e, &pen_circle);
    }
    for (size_t k = 0; k < n->facts.count && n->kind != BY_CYCLE; k++)
        draw_fact(d, fact_at(d->proof, n->facts, k), &pen_circle_found);
}

static void draw_inference(struct drawing *d, const struct inference *n)
{
    /* One supposed R7 edge is how R6 is proved; the fact's own edge says it better. */
    bool suppositions = n->conclusion.count > 1;
    for (size_t k = 0; k < n->edges.count; k++) {
        const struct proof_edge *e = &d->proof->edges.data[n->edges.first + k];
        if (e->support == SUPPOSED && suppositions)
            draw_proof_edge(d, e, &pen_supposed);
        else if (e->support != SUPPOSED && e->edge.rule != ORDEAL_RULE_CO)
            draw_proof_edge(d, e, e->support == KNOWN ? &pen_found : &pen_given);
    }
    draw_fact(d, n, &pen_found);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Finding ways around nodes is slow work: with more of them edges go straight. */
enum { MOST_ROUTED = 200 };

static void set_defaults(struct drawing *d, const char *title)
{
    static const struct { int kind; const char *name, *value; } defaults[] = {
        { AGRAPH, "splines", "true" },    { AGRAPH, "forcelabels", "true" },
        { AGRAPH, "fontname", "Helvetica" }, { AGRAPH, "fontsize", "13" },
        { AGRAPH, "labelloc", "t" },      { AGRAPH, "pad", "0.2" },
        { AGNODE, "label", "" },          { AGNODE, "fontname", "Helvetica" },
        { AGNODE, "fontsize", "11" },     { AGNODE, "shape", "box" },
        { AGNODE, "style", "rounded,filled" }, { AGNODE, "color", "#90a4ae" },
        { AGNODE, "fillcolor", "#ffffff" }, { AGNODE, "height", "0.4" },
        { AGEDGE, "fontname", "Helvetica" },
        { AGEDGE, "fontsize", "10" },     { AGEDGE, "arrowsize", "0.7" },
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        agattr(d->graph, defaults[i].kind, (char *)defaults[i].name, (char *)defaults[i].value);
    set(d->graph, "label", title);
    if (d->ops.count > MOST_ROUTED)
        set(d->graph, "splines", "line");
}

/* To memory first: where Graphviz writes to a file and that fails, it ends the program. */
static bool render_svg(Agraph_t *graph, FILE *out)
{
    GVC_t *context = gvContext(); /* it goes with the process */
    char *text = NULL;
    unsigned length = 0;
    bool laid_out = context && gvLayout(context, graph, "nop") == 0;
    bool drawn = laid_out && picture_labels_place(graph)
              && gvRenderData(context, graph, "svg", &text, &length) == 0 && text;
    if (laid_out)
        gvFreeLayout(context, graph);
    bool written = drawn && fwrite(text, 1, length, out) == length;
    if (text)
        gvFreeRenderData(text);
    return written;
}

static bool render(Agraph_t *graph, enum picture_format format, FILE *out)
{
    return format == PICTURE_DOT ? agwrite(graph, out) == 0 : render_svg(graph, out);
}

struct order {
    const struct proof *proof;
    struct naming *names;
    enum ordeal_model model;
    const char *title;
    enum picture_format format;
};

static void draw_all(struct drawing *d, const char *title)
{
    const struct proof *p = d->proof;
    set_defaults(d, title);
    draw_columns(d);
    draw_contradiction(d, &p->inferences.data[p->inferences.count - 1]);
    for (size_t i = 0; i + 1 < p->inferences.count; i++)
        if (p->inferences.data[i].used)
            draw_inference(d, &p->inferences.data[i]);
    draw_program_order(d);
}

static void free_drawing(struct drawing *d)
{
    if (d->graph)
        agclose(d->graph);
    LIST_FREE(&d->ops);
    LIST_FREE(&d->shown);
    LIST_FREE(&d->drawn);
}

static bool draw(void *user, FILE *out)
{
    const struct order *o = user;
    struct drawing d = { .proof = o->proof,
                         .names = o->names,
                         .model = o->model,
                         .numbering.discipline.id = &numbers_in_order };
    collect_ops(&d);
    collect_shown(&d);
    d.graph = d.out_of_memory ? NULL
                              : agopen((char *)"violation", Agdirected, &d.numbering.discipline);
    if (d.graph)
        draw_all(&d, o->title);
    bool good = d.graph && !d.out_of_memory && render(d.graph, o->format, out);
    free_drawing(&d);
    return good;
}

/* Graphviz and the libraries behind it end the program where memory or threads are out. What they
 * have taken goes with the process. */
bool picture_write(const struct proof *p, struct naming *n, enum ordeal_model model,
                   const char *title, enum picture_format format, FILE *out)
{
    struct order order = { p, n, model, title, format };
    return apart_write(draw, &order, out);
}
