/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever bytes somebody's text has, a page has the markup of ours and nothing else: in text, in an attribute,
 * in data of a script. A strict reader that shares no code with the writer says so. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/html.h"
#include "support/markup.h"

static void write_page(FILE *out, const char *text)
{
    cJSON *data = cJSON_CreateObject();
    cJSON_AddStringToObject(data, text, text);
    fputs("<!DOCTYPE html>\n<html>", out);
    html(out, "<p title=\"%s\">%s %d %.1f</p>", text, text, 7, 2.5);
    if (!html_data(out, "data", data))
        abort();
    fputs("<script>1</script></html>\n", out);
    cJSON_Delete(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = strndup((const char *)bytes, size), *page = NULL;
    size_t length;
    FILE *out = text_stream(&page, &length);
    write_page(out, text);
    if (fclose(out) != 0)
        abort();
    const char *wrong = markup_wrong(page);
    if (wrong) {
        fputs(wrong, stderr);
        abort();
    }
    free(page);
    free(text);
    return 0;
}
