/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"

enum ordeal_status input_open(struct input *in, const char *name, enum ordeal_format format,
                              const struct ordeal_limits *limits)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    return input_take(in, file, name, format, limits);
}

enum ordeal_status input_take(struct input *in, FILE *file, const char *name,
                              enum ordeal_format format, const struct ordeal_limits *limits)
{
    int error = errno;
    *in = (struct input){ .name = name, .file = file };
    in->label = file == stdin ? "standard input" : name;
    progress_start(&in->progress, in->label);
    if (!in->file && interrupted())
        return error_set(&in->error, ORDEAL_LIMIT, in->name, "interrupted in opening");
    if (!in->file)
        return error_set(&in->error, ORDEAL_IO, in->name, strerror(error));
    in->o = ordeal_new(NULL);
    if (!in->o)
        return error_set(&in->error, ORDEAL_NO_MEMORY, in->name, "out of memory");
    struct ordeal_limits watched = limits ? *limits : (struct ordeal_limits){ 0 };
    watched.progress = progress_callback;
    watched.user = &in->progress;
    ordeal_set_limits(in->o, &watched);
    in->reader = ordeal_reader_new(in->o, in->file, name, format);
    if (!in->reader)
        return error_set(&in->error, ordeal_last_error(in->o)->status, in->name,
                         ordeal_last_error(in->o)->reason);
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
        return error_set(&in->error, ORDEAL_LIMIT, in->name, "interrupted in reading");
    if (status == ORDEAL_IO && system)
        return error_set(&in->error, ORDEAL_IO, in->name, strerror(system));
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
