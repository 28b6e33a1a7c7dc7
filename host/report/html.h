/* SPDX-License-Identifier: Apache-2.0 */
/* Markup with text of others in it: names, lines of files, what a database says. It is shown and does
 * nothing, wherever it stands: in text, in an attribute, in an SVG, in the data of a script. What cannot
 * be seen or turns the direction of writing is shown as \xNN (base/escape.h).
 *
 * What is written is HTML and well-formed XML at the same time, so that a strict reader can check it. */
#ifndef HOST_HTML_H
#define HOST_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <cJSON.h>

/* The one function through which text comes into a page. Line feeds and tabs stay. */
void html_text(FILE *out, const char *text);
/* As printf, but %s is html_text() of its argument; of the rest %%, %d, %u, %zu, %jd, %ju and %f with
 * digits. The format is markup, and ours. */
void html(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* JSON as the data of a script: nothing in it ends the script. False: out of memory. */
bool html_data(FILE *out, const char *id, const cJSON *data);
/* An SVG that this program has drawn, in place; ids get the prefix. */
void html_svg(FILE *out, const char *svg, const char *prefix);
/* A picture of somebody else's, which can do nothing: as an image. */
void html_image(FILE *out, const char *svg, size_t size, const char *alternative);

/* For people: "1 234 567", "2026-11-18 08:30", "3 h 20 min". */
enum { HTML_WORDS = 64 };
const char *html_count(uint64_t number, char text[HTML_WORDS]);
const char *html_time(double seconds, char text[HTML_WORDS]);
const char *html_span(double seconds, char text[HTML_WORDS]);

#endif
