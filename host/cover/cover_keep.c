/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_keep.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

/* Seconds between two times: few at first, for short runs. */
static const double least_pause = 1, most_pause = 30;

bool cover_keep_open(struct cover_keep *k, const char *file, struct ordeal_error *e)
{
    *k = (struct cover_keep){ .file = file, .set = cover_new(), .pause = least_pause };
    if (!k->set)
        return error_out_of_memory(e, file);
    struct why why;
    if (!temporary_hold(&k->held, file, &why))
        return error_set(e, ORDEAL_IO, file, why.text) == ORDEAL_OK;
    if (access(file, F_OK) == 0 && !cover_load(k->set, file, e))
        return false;
    int error = cover_try_save(k->set, file);
    return !error || error_set(e, ORDEAL_IO, file, strerror(error)) == ORDEAL_OK;
}

uint64_t cover_keep_begin(struct cover_keep *k, const struct cover_run *run,
                          const struct cover_can *can)
{
    k->run = *run;
    k->next = k->kept = run->first;
    k->saved = now_seconds();
    cover_ran_on(k->set, can);
    return cover_has_run(k->set, run);
}

static int save(struct cover_keep *k)
{
    int error = cover_save(k->set, k->file);
    k->kept = error ? k->kept : k->next;
    return error;
}

static void save_if_due(struct cover_keep *k)
{
    double now = now_seconds();
    if (now - k->saved < k->pause)
        return;
    k->error = save(k);
    k->pause = k->pause * 2 < most_pause ? k->pause * 2 : most_pause;
    k->saved = now_seconds();
}

bool cover_keep_add(struct cover_keep *k, const struct cover_hits *hits,
                    const struct cover_origin *test)
{
    struct cover_run one = k->run;
    one.first = test->number;
    one.next = test->number + 1;
    bool good = (!hits || cover_add(k->set, hits, test)) && cover_ran(k->set, &one);
    k->next = one.next;
    save_if_due(k);
    return good;
}

int cover_keep_save(struct cover_keep *k) { return k->set ? save(k) : 0; }

void cover_keep_close(struct cover_keep *k)
{
    cover_free(k->set);
    k->set = NULL;
    temporary_remove(&k->held);
}
