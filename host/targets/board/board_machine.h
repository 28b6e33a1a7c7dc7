/* SPDX-License-Identifier: Apache-2.0 */
/* The machine on a board behind the interface of sim/soc.h, over a link, which batches what is
 * written and brings the stream while it comes. */
#ifndef HOST_BOARD_MACHINE_H
#define HOST_BOARD_MACHINE_H

#include "board_link.h"
#include "soc.h"

struct board_machine;
/* Says hello and learns what the machine was built with. The link belongs to it from now on, also
 * when it fails. NULL: `why`. */
struct board_machine *board_machine_new(struct board_link *link, struct why *why);
void board_machine_free(struct board_machine *b);
const struct protocol_hello *board_machine_hello(const struct board_machine *b);
const struct soc_interface *board_machine_interface(struct board_machine *b);
struct board_link *board_machine_link(struct board_machine *b);
/* What became of the link since the last reset: the reason for what lost() of soc.h says. */
enum link_result board_machine_trouble(const struct board_machine *b);

#endif
