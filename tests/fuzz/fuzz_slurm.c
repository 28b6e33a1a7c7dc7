/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for what Slurm's programs say: a line of squeue is taken with a state that is a word
 * and a reason that is fit to be printed, or left; a name is ours or not. */
#include <stdlib.h>
#include <string.h>

#include "regress/slurm_tool.h"

static void check_line(const struct slurm_line *l)
{
    if (!*l->state || strpbrk(l->state, " \n") || strlen(l->state) >= sizeof l->state)
        abort();
    for (const char *p = l->reason; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            abort();
}

/* It becomes a word of scancel's. */
static void check_name(const char *text)
{
    if (slurm_is_name(text) && (strlen(text) != SLURM_NAME - 1 || strpbrk(text, " ,=*[]/.")))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char begin[] = "task ";
    struct slurm_line line;
    char *text = malloc(size + sizeof begin);
    if (!text)
        return 0;
    memcpy(text, begin, strlen(begin));
    memcpy(text + strlen(begin), data, size);
    text[strlen(begin) + size] = '\0';
    if (slurm_read_line(&line, text))
        check_line(&line);
    check_name(text + strlen(begin));
    free(text);
    return 0;
}
