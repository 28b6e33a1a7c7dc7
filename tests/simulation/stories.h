/* SPDX-License-Identifier: Apache-2.0 */
/* What is simulated: each story draws all that happens in it from the seed, between schedule_begin()
 * and schedule_end(), and ends with schedule_fail() if something does not hold. */
#ifndef SIMULATION_STORIES_H
#define SIMULATION_STORIES_H

#include "schedule.h"

#define HOLDS(condition, ...) ((condition) ? (void)0 : schedule_fail(#condition ": " __VA_ARGS__))

void story_script(void);  /* the pipeline with machines that do what is written */
void story_board(void);   /* the pipeline, the link and a board with its firmware */
void story_command(void); /* `ordeal run` as a whole, with storage that fails */

/* Before and after all of the last kind: a run that nothing disturbs, in a folder of its own. */
void story_command_open(void);
void story_command_close(void);

#endif
