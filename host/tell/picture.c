/* SPDX-License-Identifier: Apache-2.0 */
/* The places are ours: a column a thread, a row an operation. Graphviz draws the nodes and finds a
 * way for the edges between them. */
#include "picture.h"

#include <string.h>

#include <gvc.h>

#include "explain.h"

struct pen { const char *color, *style, *width; };
static const struct pen pen_given = { "#37474f", "solid", "1" },
                        pen_found = { "#1565c0", "dashed", "1.2" },
                        pen_supposed = { "#ef6c00", "dotted", "1.5" },
                        pen_circle = { "#c62828", "solid", "2.5" },
                        pen_circle_found = { "#c62828", "dashed", "2.5" };

struct shown {
    uint32_t op, thread, number;     /* number: the n of Pn */
    uint32_t transaction;            /* number within the trace from 1; 0: none */
};

struct drawing {
    const struct proof *proof;
    struct naming *names;
    enum ordeal_model model;
    Agraph_t *graph;
    bool out_of_memory;
    LIST(uint32_t) ops;              /* drawn, ascending */
    LIST(struct shown) shown;        /* the same, thread by thread */
    double right;                    /* where the next column begins */
    LIST(struct ordeal_edge) drawn;  /* not twice */
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
static const struct { const char *shape, *style, *fill; } look[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = { "box", "rounded,filled", "#e3f2fd" },
    [ORDEAL_STORE] = { "box", "rounded,filled", "#fff3e0" },
    [ORDEAL_SWAP] = { "box", "rounded,filled", "#f3e5f5" },
    [ORDEAL_CAS] = { "box", "rounded,filled", "#f3e5f5" },
    [ORDEAL_AMO] = { "box", "rounded,filled", "#f3e5f5" },
    [ORDEAL_MEMBAR] = { "plaintext", "", "" },
};
/* clang-format on */

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

static void set_html(Agraph_t *g, Agnode_t *node, const char *title, uint32_t line)
{
    char *html = NULL;
    size_t size;
    FILE *f = open_memstream(&html, &size);
    if (!f)
        return;
    put_escaped(f, title);
    if (line)
        fprintf(f, "<BR/><FONT POINT-SIZE=\"8\" COLOR=\"#78909c\">line %u</FONT>", line);
    if (fclose(f) == 0) {
        char *label = agstrdup_html(g, html);
        agxset(node, agattr(g, AGNODE, (char *)"label", NULL), label);
        agstrfree(g, label);
    }
    free(html);
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
    set_html(d->graph, node, name_op_bare(d->names, o->op), op->line);
    set(node, "tooltip", name_op(d->names, o->op));
    set(node, "shape", look[op->kind].shape);
    set(node, "style", look[op->kind].style);
    set(node, "fillcolor", look[op->kind].fill);
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

static void draw_edge(struct drawing *d, const struct ordeal_edge *edge, const char *label,
                      const char *reason, struct pen pen)
{
    for (size_t i = 0; i < d->drawn.count; i++)
        if (d->drawn.data[i].from == edge->from && d->drawn.data[i].to == edge->to)
            return;
    PUSH(d, &d->drawn, *edge);
    char key[32];
    snprintf(key, sizeof key, "proof%zu", d->drawn.count);
    Agedge_t *e = agedge(d->graph, event_node(d, edge->from), event_node(d, edge->to), key, 1);
    set(e, "xlabel", label);
    set(e, "color", pen.color);
    set(e, "fontcolor", pen.color);
    set(e, "style", pen.style);
    set(e, "penwidth", pen.width);
    set(e, "tooltip", reason);
    set(e, "labeltooltip", reason);
}

static void draw_proof_edge(struct drawing *d, const struct proof_edge *e, struct pen pen)
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
static void draw_fact(struct drawing *d, const struct inference *n, struct pen pen)
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
            draw_fact(d, fact_at(d->proof, e->facts, 0), pen_circle_found);
        else
            draw_proof_edge(d, e, pen_circle);
    }
    for (size_t k = 0; k < n->facts.count && n->kind != BY_CYCLE; k++)
        draw_fact(d, fact_at(d->proof, n->facts, k), pen_circle_found);
}

static void draw_inference(struct drawing *d, const struct inference *n)
{
    /* One supposed R7 edge is how R6 is proved; the fact's own edge says it better. */
    bool suppositions = n->conclusion.count > 1;
    for (size_t k = 0; k < n->edges.count; k++) {
        const struct proof_edge *e = &d->proof->edges.data[n->edges.first + k];
        if (e->support == SUPPOSED && suppositions)
            draw_proof_edge(d, e, pen_supposed);
        else if (e->support != SUPPOSED && e->edge.rule != ORDEAL_RULE_CO)
            draw_proof_edge(d, e, e->support == KNOWN ? pen_found : pen_given);
    }
    draw_fact(d, n, pen_found);
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

/* One for all pictures, to the end of the program: Graphviz's text plugin looks at the fonts of the
 * context it saw last also when that one has been freed. */
static GVC_t *layout_context(void)
{
    static GVC_t *context;
    if (!context)
        context = gvContext();
    return context;
}

static bool render(Agraph_t *graph, enum picture_format format, FILE *out)
{
    if (format == PICTURE_DOT)
        return agwrite(graph, out) == 0;
    GVC_t *context = layout_context();
    bool laid_out = context && gvLayout(context, graph, "nop") == 0;
    bool drawn = laid_out && gvRender(context, graph, "svg", out) == 0;
    if (laid_out)
        gvFreeLayout(context, graph);
    return drawn;
}

bool picture_write(const struct proof *p, struct naming *n, enum ordeal_model model,
                   const char *title, enum picture_format format, FILE *out)
{
    struct drawing d = { .proof = p, .names = n, .model = model };
    collect_ops(&d);
    collect_shown(&d);
    d.graph = agopen((char *)"violation", Agdirected, NULL);
    bool drawn = d.graph && !d.out_of_memory;
    if (drawn) {
        set_defaults(&d, title);
        draw_columns(&d);
        draw_contradiction(&d, &p->inferences.data[p->inferences.count - 1]);
        for (size_t i = 0; i + 1 < p->inferences.count; i++)
            if (p->inferences.data[i].used)
                draw_inference(&d, &p->inferences.data[i]);
        draw_program_order(&d);
        drawn = !d.out_of_memory && render(d.graph, format, out);
    }
    if (d.graph)
        agclose(d.graph);
    LIST_FREE(&d.ops);
    LIST_FREE(&d.shown);
    LIST_FREE(&d.drawn);
    return drawn;
}
