/* SPDX-License-Identifier: Apache-2.0 */
/* What is left on the disk when power is lost: from a log of what a program did to its files
 * (tests/faults/state.h) the directory as it may be then.
 *
 * Data of a file is on the disk after an fsync of it; before, any part of it may be. Names, and renames,
 * are after an fsync of their directory; before, the first few of those that are not yet may be, in
 * their order, as journals of file systems have it. */
#ifndef SUPPORT_POWER_H
#define SUPPORT_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct power_log {
    char *bytes;
    size_t *entries, count; /* offsets */
    uint64_t *directories;  /* of each entry that changes a name: the inode of where it is */
};

bool power_log_read(struct power_log *l, const char *file);
void power_log_free(struct power_log *l);
/* What the program had printed when the first `cut` entries were done. */
void power_printed(const struct power_log *l, size_t cut, char *text, size_t size);
/* Makes the directory `to` of what was in `from`, after the first `cut` entries and the loss. `chance`
 * 0: nothing but what is sure; else a seed of what else is there. Names are those that the program used,
 * from the directory it was started in. */
bool power_cut(const struct power_log *l, size_t cut, uint64_t chance, const char *to);
/* The same after the program alone was killed there: all that it did is done. */
bool power_kill(const struct power_log *l, size_t cut, const char *to);

#endif
