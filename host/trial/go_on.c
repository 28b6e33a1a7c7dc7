/* SPDX-License-Identifier: Apache-2.0 */
#include "go_on.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "saved_run.h"

/* How many words it takes, as such options are usually written; 0: it is none of them. In another
 * spelling it stays, and the number that comes later counts. */
static int words_of_number(const char *word)
{
    static const char *const options[] = { "--first", "--count", "--cycles", "-n" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t length = strlen(options[i]);
        if (strncmp(word, options[i], length) == 0 && (!word[length] || word[length] == '='))
            return word[length] ? 1 : 2;
    }
    return 0;
}

char *go_on_command(int argc, char *const *argv, const struct go_on *rest)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream(&text, &size);
    if (!out)
        return NULL;
    fputs("ordeal", out);
    for (int i = 0, words; i < argc; i += words ? words : 1) {
        words = words_of_number(argv[i]);
        if (!words) {
            fputc(' ', out);
            saved_run_quote(argv[i], out);
        }
    }
    fprintf(out, " --first %" PRIu64, rest->first);
    if (rest->count)
        fprintf(out, " --count %" PRIu64, rest->count);
    if (rest->cycles)
        fprintf(out, " --cycles %" PRIu64, rest->cycles);
    return fclose(out) == 0 ? text : NULL;
}
