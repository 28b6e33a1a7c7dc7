/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <inttypes.h>
#include <stdio.h>

bool error_vbad(struct ordeal_error *e, const char *file, uint64_t line, const char *format,
                va_list args)
{
    *e = (struct ordeal_error){ .status = ORDEAL_BAD_INPUT, .line = line };
    snprintf(e->file, sizeof e->file, "%s", file);
    vsnprintf(e->reason, sizeof e->reason, format, args);
    return false;
}

bool error_bad(struct ordeal_error *e, const char *file, uint64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_vbad(e, file, line, format, args);
    va_end(args);
    return false;
}

enum ordeal_status error_set(struct ordeal_error *e, enum ordeal_status status, const char *file,
                             const char *reason)
{
    error_bad(e, file, 0, "%s", reason);
    return e->status = status;
}

bool error_out_of_memory(struct ordeal_error *e, const char *file)
{
    return error_set(e, ORDEAL_NO_MEMORY, file, "out of memory") == ORDEAL_OK;
}

int error_format(const struct ordeal_error *e, char *buffer, size_t size)
{
    const char *file = e->file[0] ? e->file : "ordeal";
    if (e->line && e->column)
        return snprintf(buffer, size, "%s:%" PRIu64 ":%" PRIu64 ": %s", file, e->line, e->column,
                        e->reason);
    if (e->line)
        return snprintf(buffer, size, "%s:%" PRIu64 ": %s", file, e->line, e->reason);
    return snprintf(buffer, size, "%s: %s", file, e->reason);
}
