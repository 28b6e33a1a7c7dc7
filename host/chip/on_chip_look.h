/* SPDX-License-Identifier: Apache-2.0 */
/* The events of an execution on the machine, for whoever looks for more in them than its verdict. */
#ifndef HOST_CHIP_ON_CHIP_LOOK_H
#define HOST_CHIP_ON_CHIP_LOOK_H

#include "explore.h"
#include "on_chip.h"

/* All events in the order of time, those behind the error, too; the model by whose words they are told. */
const struct event_list *on_chip_events(const struct on_chip_verdict *v, enum explore_model *model);
/* Of a read among them: the store that it saw; ACCOUNT_NONE: what was there at first. */
uint32_t on_chip_seen(const struct on_chip_verdict *v, size_t event);
bool on_chip_is_shared(const struct on_chip_verdict *v, size_t event);
/* The error of the program in this execution: what, and behind which event; EXPLORE_NO_ERROR: none. */
enum explore_error on_chip_error(const struct on_chip_verdict *v, size_t *shown);
/* What the machine itself did wrong, or the checker has refused; "": nothing. */
const char *on_chip_broke(const struct on_chip_verdict *v);

#endif
