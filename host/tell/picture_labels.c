/* SPDX-License-Identifier: Apache-2.0 */
#include "picture_labels.h"

#include <math.h>
#include <string.h>

#include "base/list.h"

struct way {
    Agedge_t *edge;
    size_t first, count;
}; /* of the points */

struct places {
    LIST(boxf) taken; /* by nodes, names of boxes, labels that have their place */
    LIST(pointf) points;
    LIST(struct way) ways;
    bool out_of_memory;
};

#define PUSH(p, list, item) ((void)(LIST_PUSH(list, item) || ((p)->out_of_memory = true)))

/* ---- what is there ------------------------------------------------------------------------- */

/* As wide as the widest fonts that viewers take for Helvetica, in parts of the letters' size. */
static const double letter_width = 0.7, line_height = 1.2;

static pointf half_size(const textlabel_t *l)
{
    double width = (double)strlen(l->text) * letter_width * l->fontsize;
    return (pointf){ fmax(width, l->dimen.x) / 2 + 2, l->fontsize * line_height / 2 };
}

static boxf box_around(pointf center, pointf half)
{
    return (boxf){ { center.x - half.x, center.y - half.y },
                   { center.x + half.x, center.y + half.y } };
}

static void take_names(struct places *p, Agraph_t *graph)
{
    const textlabel_t *l = GD_label(graph);
    if (l)
        PUSH(p, &p->taken, box_around(l->pos, half_size(l)));
    for (Agraph_t *g = agfstsubg(graph); g; g = agnxtsubg(g))
        take_names(p, g);
}

static void take_node(struct places *p, Agnode_t *n)
{
    pointf half = { (ND_lw(n) + ND_rw(n)) / 2 + 2, ND_ht(n) / 2 + 1 };
    PUSH(p, &p->taken, box_around(ND_coord(n), half));
}

static pointf bezier_at(const pointf *c, double t)
{
    double s = 1 - t, a = s * s * s, b = 3 * s * s * t, d = 3 * s * t * t, e = t * t * t;
    return (pointf){ a * c[0].x + b * c[1].x + d * c[2].x + e * c[3].x,
                     a * c[0].y + b * c[1].y + d * c[2].y + e * c[3].y };
}

/* Points as close to each other that no label fits between two. */
static void take_piece(struct places *p, const pointf *c)
{
    enum { APART = 6, MOST = 200 };
    double length = 0;
    for (int i = 0; i < 3; i++)
        length += hypot(c[i + 1].x - c[i].x, c[i + 1].y - c[i].y);
    int steps = (int)fmin(length / APART, MOST) + 1;
    for (int i = 0; i < steps; i++)
        PUSH(p, &p->points, bezier_at(c, (double)i / steps));
}

static void take_edge(struct places *p, Agedge_t *e)
{
    const splines *s = ED_spl(e);
    struct way way = { .edge = e, .first = p->points.count };
    for (int i = 0; s && i < s->size; i++)
        for (int k = 0; k + 3 < s->list[i].size; k += 3)
            take_piece(p, s->list[i].list + k);
    way.count = p->points.count - way.first;
    PUSH(p, &p->ways, way);
}

/* ---- the best place ------------------------------------------------------------------------ */

static bool overlap(boxf a, boxf b)
{
    return a.LL.x < b.UR.x && b.LL.x < a.UR.x && a.LL.y < b.UR.y && b.LL.y < a.UR.y;
}

static bool holds(boxf b, pointf at)
{
    return b.LL.x < at.x && at.x < b.UR.x && b.LL.y < at.y && at.y < b.UR.y;
}

/* Looking at all points for every place is slow work: with more of them edges may cross labels. */
enum { MOST_POINTS = 8000 };

static double cost_of(const struct places *p, boxf box)
{
    double cost = 0;
    for (size_t i = 0; i < p->taken.count; i++)
        cost += overlap(box, p->taken.data[i]) ? 1000 : 0;
    for (size_t i = 0; i < p->points.count && p->points.count <= MOST_POINTS; i++)
        cost += holds(box, p->points.data[i]) ? 10 : 0;
    return cost;
}

static void place_label(struct places *p, const struct way *way, textlabel_t *l)
{
    static const pointf sides[] = { { 1, 0 }, { -1, 0 }, { 0, 1 },  { 0, -1 },
                                    { 1, 1 }, { -1, 1 }, { 1, -1 }, { -1, -1 } };
    const double gap = 2;
    pointf half = half_size(l), best = l->pos;
    double least = INFINITY;
    for (size_t i = 0; i < way->count; i++)
        for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
            pointf on = p->points.data[way->first + i];
            pointf at = { on.x + sides[k].x * (half.x + gap), on.y + sides[k].y * (half.y + gap) };
            double from_middle = fabs((double)i / (double)way->count - 0.5);
            double cost = from_middle < least ? from_middle + cost_of(p, box_around(at, half))
                                              : least;
            if (cost < least) {
                least = cost;
                best = at;
            }
        }
    l->pos = best;
    PUSH(p, &p->taken, box_around(best, half));
}

static void find_places(struct places *p, Agraph_t *graph)
{
    take_names(p, graph);
    for (Agnode_t *n = agfstnode(graph); n; n = agnxtnode(graph, n)) {
        take_node(p, n);
        for (Agedge_t *e = agfstout(graph, n); e; e = agnxtout(graph, e))
            take_edge(p, e);
    }
    for (size_t i = 0; i < p->ways.count && !p->out_of_memory; i++) {
        textlabel_t *l = ED_xlabel(p->ways.data[i].edge);
        if (l && l->set)
            place_label(p, &p->ways.data[i], l);
    }
}

/* The picture is as large as Graphviz made it, and a place at its rim would be cut off. */
static void make_room(const struct places *p, Agraph_t *graph)
{
    boxf *whole = &GD_bb(graph);
    for (size_t i = 0; i < p->taken.count; i++) {
        boxf b = p->taken.data[i];
        whole->LL = (pointf){ fmin(whole->LL.x, b.LL.x), fmin(whole->LL.y, b.LL.y) };
        whole->UR = (pointf){ fmax(whole->UR.x, b.UR.x), fmax(whole->UR.y, b.UR.y) };
    }
}

bool picture_labels_place(Agraph_t *graph)
{
    struct places p = { 0 };
    find_places(&p, graph);
    make_room(&p, graph);
    LIST_FREE(&p.taken);
    LIST_FREE(&p.points);
    LIST_FREE(&p.ways);
    return !p.out_of_memory;
}
