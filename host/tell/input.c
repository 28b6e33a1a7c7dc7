/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/progress.h"

static enum ordeal_status refuse(struct input *in, enum ordeal_status status, const char *reason)
{
    in->error = (struct ordeal_error){ .status = status };
    snprintf(in->error.file, sizeof in->error.file, "%s", in->name);
    snprintf(in->error.reason, sizeof in->error.reason, "%s", reason);
    return status;
}

enum ordeal_status input_open(struct input *in, const char *name, enum ordeal_format format,
                              const struct ordeal_limits *limits)
{
    *in = (struct input){ .name = name };
    in->label = strcmp(name, "-") == 0 ? "standard input" : name;
    progress_start(&in->progress, in->label);
    in->file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    if (!in->file)
        return refuse(in, ORDEAL_IO, strerror(errno));
    in->o = ordeal_new(NULL);
    if (!in->o)
        return refuse(in, ORDEAL_NO_MEMORY, "out of memory");
    struct ordeal_limits watched = limits ? *limits : (struct ordeal_limits){ 0 };
    watched.progress = progress_callback;
    watched.user = &in->progress;
    ordeal_set_limits(in->o, &watched);
    in->reader = ordeal_reader_new(in->o, in->file, name, format);
    if (!in->reader)
        return refuse(in, ordeal_last_error(in->o)->status, ordeal_last_error(in->o)->reason);
    return ORDEAL_OK;
}

/* What the library says of a failed read, completed by what the system says of it. */
static enum ordeal_status keep_error(struct input *in, enum ordeal_status status, int system)
{
    in->error = *ordeal_last_error(in->o);
    in->error.status = status;
    if (!in->error.file[0])
        snprintf(in->error.file, sizeof in->error.file, "%s", in->name);
    if (status == ORDEAL_IO && interrupted())
        return refuse(in, ORDEAL_LIMIT, "interrupted in reading");
    if (status == ORDEAL_IO && system)
        return refuse(in, ORDEAL_IO, strerror(system));
    return status;
}

enum ordeal_status input_next(struct input *in)
{
    ordeal_trace_free(in->trace);
    in->trace = NULL;
    errno = 0;
    enum ordeal_status status = ordeal_reader_next(in->reader, &in->trace);
    int system = errno;
    progress_erase(&in->progress);
    if (status == ORDEAL_OK)
        in->number++;
    else if (status != ORDEAL_END)
        status = keep_error(in, status, system);
    return status;
}

void input_close(struct input *in)
{
    progress_erase(&in->progress);
    ordeal_trace_free(in->trace);
    ordeal_reader_free(in->reader);
    ordeal_free(in->o);
    if (in->file && in->file != stdin)
        fclose(in->file);
    *in = (struct input){ 0 };
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
