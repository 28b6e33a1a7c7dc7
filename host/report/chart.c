/* SPDX-License-Identifier: Apache-2.0 */
#include "chart.h"

#include <math.h>
#include <string.h>

#include "html.h"

/* In units of the picture, which is as wide as its place. */
enum { WIDTH = 460, HEIGHT = 210, LEFT = 52, RIGHT = 14, TOP = 16, BOTTOM = 28, MOST_NAMES = 5 };

struct frame {
    double x_most, y_most, y_step;
};

static struct frame frame_of(const struct chart *c)
{
    struct frame f = { c->names ? c->name_count - 1 : 0, c->percent ? 100 : 0, 0 };
    for (int i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->curves[i]->points.count; k++) {
            f.x_most = fmax(f.x_most, c->curves[i]->points.data[k].x);
            f.y_most = fmax(f.y_most, c->curves[i]->points.data[k].y);
        }
    f.x_most = f.x_most > 0 ? f.x_most : 1;
    f.y_most = f.y_most > 0 ? f.y_most : 1;
    static const int steps[] = { 1, 2, 5, 10 };
    double power = pow(10, floor(log10(f.y_most / 3)));
    for (int i = 0; !f.y_step; i++)
        f.y_step = i == 3 || f.y_most / (steps[i] * power) <= 4.5 ? steps[i] * power : 0;
    f.y_most = c->percent ? 100 : ceil(f.y_most / f.y_step - 1e-9) * f.y_step;
    return f;
}

static double at_x(const struct frame *f, double x)
{
    return LEFT + x / f->x_most * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct frame *f, double y)
{
    return HEIGHT - BOTTOM - y / f->y_most * (HEIGHT - TOP - BOTTOM);
}

static void write_y(const struct chart *c, const struct frame *f, FILE *out)
{
    for (int i = 0; i * f->y_step <= f->y_most * 1.001; i++) {
        char number[PLOT_NUMBER];
        double y = at_y(f, i * f->y_step);
        html(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT,
             WIDTH - RIGHT, y, y);
        html(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s%s</text>\n", LEFT - 6, y + 4,
             i ? plot_number(i * f->y_step, number) : "0", c->percent ? " %" : "");
    }
}

static void write_x_mark(const struct frame *f, double x, const char *text, FILE *out)
{
    double place = at_x(f, x);
    const char *anchor = place < LEFT + 20          ? "start"
                       : place > WIDTH - RIGHT - 20 ? "end"
                                                    : "middle";
    html(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", place, HEIGHT - 10,
         anchor, text);
}

static void write_x(const struct chart *c, const struct frame *f, FILE *out)
{
    char text[HTML_WORDS];
    if (!c->names)
        for (int i = 0; i <= 4; i += 2)
            write_x_mark(f, f->x_most * i / 4, i ? html_span(f->x_most * i / 4, text) : "0", out);
    int step = c->name_count > MOST_NAMES ? (c->name_count + MOST_NAMES - 2) / (MOST_NAMES - 1) : 1;
    for (int i = 0; c->names && i < c->name_count; i += step)
        write_x_mark(f, i, c->names[i], out);
}

static void write_curve(const struct chart *c, const struct frame *f, int number, FILE *out)
{
    const struct plot_curve *curve = c->curves[number];
    html(out, "<polyline class=\"c%d\" points=\"", number);
    for (size_t i = 0; i < curve->points.count; i++)
        html(out, "%.1f,%.1f ", at_x(f, curve->points.data[i].x), at_y(f, curve->points.data[i].y));
    fputs("\"/>\n", out);
    for (size_t i = 0; c->names && i < curve->points.count; i++) {
        char value[PLOT_NUMBER];
        struct plot_point p = curve->points.data[i];
        html(
            out,
            "<circle class=\"c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%s: %s</title></circle>\n",
            number, at_x(f, p.x), at_y(f, p.y), curve->name, plot_number(p.y, value));
    }
}

static void write_legend(const struct chart *c, FILE *out)
{
    if (c->count < 2)
        return;
    fputs("<ul class=\"legend\">\n", out);
    for (int i = 0; i < c->count; i++)
        html(out, "<li class=\"c%d\">%s</li>\n", i, c->curves[i]->name);
    fputs("</ul>\n", out);
}

void chart_write(const struct chart *c, FILE *out)
{
    struct frame f = frame_of(c);
    html(out, "<figure class=\"plot\"><figcaption>%s<small>%s</small></figcaption>\n", c->title,
         c->note);
    html(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT,
         c->title);
    write_y(c, &f, out);
    write_x(c, &f, out);
    for (int i = 0; i < c->count; i++)
        write_curve(c, &f, i, out);
    fputs("</svg>\n", out);
    write_legend(c, out);
    fputs("</figure>\n", out);
}
