/* SPDX-License-Identifier: Apache-2.0 */
#include "subject.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "failure_page.h"
#include "failures_page.h"
#include "regression_page.h"
#include "tuning_page.h"

enum subject subject_kind(const char *name, struct why *why)
{
    struct stat is;
    if (stat(name, &is) != 0)
        return why_say(why, "%.900s: %s", name, strerror(errno)), SUBJECT_NONE;
    if (S_ISREG(is.st_mode))
        return SUBJECT_DATABASE;
    if (!S_ISDIR(is.st_mode))
        return why_say(why, "%.900s: it is neither a file nor a folder", name), SUBJECT_NONE;
    if (failure_page_is(name))
        return SUBJECT_FAILURE;
    if (tuning_page_is(name))
        return SUBJECT_TUNING;
    if (failures_page_is(name))
        return SUBJECT_FAILURES;
    why_say(
        why,
        "%.700s: there is nothing to report in it; expected is a database of 'ordeal regress', a "
        "folder of 'ordeal tune', a failing test that 'ordeal run' kept, or a folder of such",
        name);
    return SUBJECT_NONE;
}

bool subject_write(struct site *s, enum subject kind, char **names, int count, bool no_waves,
                   struct why *why)
{
    bool single = kind == SUBJECT_FAILURE || kind == SUBJECT_TUNING;
    if (single && !site_wants(s, "index"))
        return true;
    switch (kind) {
    case SUBJECT_DATABASE: return regression_page_write(s, names, count, no_waves, why);
    case SUBJECT_FAILURE: return failures_page_write_one(s, "index", names[0], NULL, no_waves, why);
    case SUBJECT_FAILURES: return failures_page_write(s, names[0], no_waves, why);
    default: return tuning_page_write(s, names[0], why);
    }
}
