/* SPDX-License-Identifier: Apache-2.0 */
#include "assets.h"

#include "html.h"

/* The assembler takes them in, from the root of the sources, where make runs. */
__asm__(".section .rodata\n"
        "report_style_begin:\n.incbin \"host/report/page.css\"\nreport_style_end:\n"
        "report_script_begin:\n.incbin \"host/report/page.js\"\nreport_script_end:\n.previous\n");
extern const char report_style_begin[], report_style_end[];
extern const char report_script_begin[], report_script_end[];

/* The Makefile knows the hashes. */
static const char policy[] = "default-src 'none'; style-src 'sha256-" REPORT_STYLE_HASH
                             "'; script-src 'sha256-" REPORT_SCRIPT_HASH
                             "'; img-src data:; base-uri 'none'; form-action 'none'";

static void put(FILE *out, const char *begin, const char *end)
{
    fwrite(begin, 1, (size_t)(end - begin), out);
}

void assets_begin(FILE *out, const char *title, const struct assets_live *live)
{
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n",
          out);
    if (live)
        fputs("<link rel=\"icon\" href=\"data:,\"/>\n", out); /* or browsers ask for one */
    else
        fprintf(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\"/>\n", policy);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
          "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
          "<meta name=\"generator\" content=\"ordeal report\"/>\n",
          out);
    html(out, "<title>%s</title>\n<style>", title);
    put(out, report_style_begin, report_style_end);
    if (live)
        fprintf(out, "</style>\n<style>%s", live->style);
    fputs("</style>\n</head>\n<body>\n", out);
}

void assets_end(FILE *out, const struct assets_live *live)
{
    fputs("<script>", out);
    put(out, report_script_begin, report_script_end);
    if (live)
        fprintf(out, "</script>\n<script>%s", live->script);
    fputs("</script>\n</body>\n</html>\n", out);
}
