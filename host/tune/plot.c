/* SPDX-License-Identifier: Apache-2.0 */
#include "plot.h"

#include <assert.h>
#include <math.h>

/* In pixels. At the right there is room for the curves' names. */
enum { WIDTH = 830, HEIGHT = 440, LEFT = 72, RIGHT = 220, TOP = 76, BOTTOM = 58, NAME_HEIGHT = 17 };

struct axis {
    double step, most; /* of the marks; the last of them */
    int from, to;      /* pixels of 0 and of the last */
};

/* A step of 1, 2 or 5 times a power of ten, with some four to eight marks. */
static struct axis axis_of(double most, int from, int to)
{
    static const double steps[] = { 1, 2, 5, 10 };
    double power = pow(10, floor(log10(most / 5))), step = power;
    for (int i = 0; most / step > 7; i++)
        step = steps[i] * power;
    return (struct axis){ step, ceil(most / step) * step, from, to };
}

static double at(const struct axis *a, double value)
{
    return a->from + value / a->most * (a->to - a->from);
}

static struct plot_point extent(const struct plot *p)
{
    struct plot_point most = { 1, 1 };
    for (int i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->curves[i]->points.count; k++) {
            most.x = fmax(most.x, p->curves[i]->points.data[k].x);
            most.y = fmax(most.y, p->curves[i]->points.data[k].y);
        }
    return most;
}

/* The curves differ by colour and by dashes. The colours have enough contrast on white and on a dark
 * ground; all else is lightened there. */
static const char head[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
    "role=\"img\">\n"
    "<title>%s</title>\n"
    "<style>\n"
    "  text { font: 13px sans-serif; fill: #222 }\n"
    "  .title { font-size: 15px; font-weight: bold }\n"
    "  .note { font-size: 12px } .mark { stroke: #777; stroke-dasharray: 4 4 }\n"
    "  .grid { stroke: #ddd } .axis { stroke: #555 } .ground { fill: #fff }\n"
    "  polyline { fill: none; stroke-width: 2.2; stroke-linejoin: round }\n"
    "  .c0 { stroke: #d9601a } .c1 { stroke: #2f7fd1; stroke-dasharray: 7 3 }\n"
    "  .c2 { stroke: #8a8a8a; stroke-dasharray: 2 3 } .c3 { stroke: #2f9e62; stroke-dasharray: 9 3 2 3 }\n"
    "  @media (prefers-color-scheme: dark) {\n"
    "    text { fill: #ddd } .grid { stroke: #3a3a3a } .axis { stroke: #aaa } .ground { fill: #181818 }\n"
    "  }\n"
    "</style>\n"
    "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n";

static void write_text(FILE *out, const char *attributes, double x, double y, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&')
            fprintf(out, "&#%d;", *text);
        else
            putc(*text, out);
    fputs("</text>\n", out);
}

static void write_line(FILE *out, const char *class, double x, double y, double to_x, double to_y)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x,
            y, to_x, to_y);
}

const char *plot_number(double value, char text[PLOT_NUMBER])
{
    static const struct {
        double unit;
        const char *name;
    } units[] = { { 1e9, " G" }, { 1e6, " M" }, { 1e3, " k" }, { 1, "" } };
    int i = 0;
    while (i < 3 && value < units[i].unit)
        i++;
    snprintf(text, PLOT_NUMBER, "%.3g%s", value / units[i].unit, units[i].name);
    return text;
}

double plot_at(const struct plot_curve *c, double x)
{
    struct plot_point before = { 0, 0 };
    for (size_t i = 0; i < c->points.count; i++) {
        struct plot_point p = c->points.data[i];
        if (p.x >= x && p.x > before.x)
            return before.y + (p.y - before.y) * (x - before.x) / (p.x - before.x);
        before = p;
    }
    return before.y;
}

static void write_axes(const struct plot *p, const struct axis *x, const struct axis *y, FILE *out)
{
    char number[PLOT_NUMBER];
    for (int i = 0; i * x->step <= x->most * 1.001; i++) {
        double value = i * x->step;
        write_line(out, "grid", at(x, value), y->from, at(x, value), y->to);
        write_text(out, "text-anchor=\"middle\"", at(x, value), y->from + 20,
                   plot_number(value, number));
    }
    for (int i = 0; i * y->step <= y->most * 1.001; i++) {
        double value = i * y->step;
        write_line(out, i ? "grid" : "axis", x->from, at(y, value), x->to, at(y, value));
        write_text(out, "text-anchor=\"end\"", x->from - 8, at(y, value) + 4,
                   plot_number(value, number));
    }
    write_line(out, "axis", x->from, y->from, x->from, y->to);
    write_text(out, "class=\"title\"", x->from, TOP - 50, p->title);
    write_text(out, "class=\"note\"", x->from, TOP - 32, p->note);
    write_text(out, "text-anchor=\"middle\"", (x->from + x->to) / 2.0, HEIGHT - 16, p->x_label);
    fprintf(out, "<g transform=\"translate(18 %.1f) rotate(-90)\">", (y->from + y->to) / 2.0);
    write_text(out, "text-anchor=\"middle\"", 0, 0, p->y_label);
    fputs("</g>\n", out);
}

/* Where the names of the curves stand: at their ends, but not over one another. */
static void place_names(const struct plot *p, const struct axis *y, double place[PLOT_CURVES])
{
    int order[PLOT_CURVES];
    for (int i = 0; i < p->count; i++) {
        const struct plot_curve *c = p->curves[i];
        place[i] = at(y, c->points.count ? c->points.data[c->points.count - 1].y : 0);
        int k = i;
        for (; k > 0 && place[order[k - 1]] < place[i]; k--)
            order[k] = order[k - 1];
        order[k] = i; /* from the lowest up */
    }
    for (int k = 1; k < p->count; k++)
        place[order[k]] = fmin(place[order[k]], place[order[k - 1]] - NAME_HEIGHT);
}

static void write_curve(const struct plot_curve *c, int number, const struct axis *x,
                        const struct axis *y, double name_y, FILE *out)
{
    fprintf(out, "<polyline class=\"c%d\" points=\"%.1f,%.1f", number, at(x, 0), at(y, 0));
    for (size_t i = 0; i < c->points.count; i++)
        fprintf(out, " %.1f,%.1f", at(x, c->points.data[i].x), at(y, c->points.data[i].y));
    fputs("\"/>\n", out);
    fprintf(out, "<polyline class=\"c%d\" points=\"%d,%.1f %d,%.1f\"/>\n", number, x->to + 10,
            name_y, x->to + 34, name_y);
    write_text(out, "", x->to + 40, name_y + 4, c->name);
}

static void write_mark(const struct plot *p, const struct axis *x, const struct axis *y, FILE *out)
{
    char text[128], number[PLOT_NUMBER];
    if (p->mark <= 0)
        return;
    snprintf(text, sizeof text, "%s: %s", p->mark_name, plot_number(p->mark, number));
    write_line(out, "mark", at(x, p->mark), y->from, at(x, p->mark), y->to - 6);
    write_text(out, "class=\"note\" text-anchor=\"middle\"", at(x, p->mark), y->to - 10, text);
}

bool plot_write(const struct plot *p, FILE *out)
{
    struct plot_point most = extent(p);
    struct axis x = axis_of(most.x, LEFT, WIDTH - RIGHT), y = axis_of(most.y, HEIGHT - BOTTOM, TOP);
    double names[PLOT_CURVES];
    assert(p->count <= PLOT_CURVES);
    fprintf(out, head, WIDTH, HEIGHT, WIDTH, HEIGHT, p->title, WIDTH, HEIGHT);
    write_axes(p, &x, &y, out);
    write_mark(p, &x, &y, out);
    place_names(p, &y, names);
    for (int i = 0; i < p->count; i++)
        write_curve(p->curves[i], i, &x, &y, names[i], out);
    fputs("</svg>\n", out);
    return !ferror(out);
}
