/* SPDX-License-Identifier: Apache-2.0 */
#include "why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool why_say(struct why *why, const char *format, ...)
{
    struct why said; /* what is said may quote what was */
    va_list args;
    va_start(args, format);
    vsnprintf(said.text, sizeof said.text, format, args);
    va_end(args);
    *why = said;
    return false;
}

void why_add(struct why *why, const char *format, ...)
{
    size_t used = strlen(why->text);
    va_list args;
    va_start(args, format);
    vsnprintf(why->text + used, sizeof why->text - used, format, args);
    va_end(args);
}
