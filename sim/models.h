/* SPDX-License-Identifier: Apache-2.0 */
/* Models of the machine as files: which parameters there are, what a model is called, where it
 * lies, and how it comes to be when nobody built it yet.
 *
 * A model is named after its parameters, `h4-s16-w2-l4-b8-q4`: harts, sets, ways, words a line,
 * store buffer, load queue. `lean` is the machine of rtl/lean/. What is not as usual follows: -c
 * records of a capture FIFO, -m KB of memory, -k KB of code a hart, -notm, -nobugs, -nochecks,
 * -waves, -cov. The common ones are built by make; others by the script sim/build when they are
 * first asked for, once for a user. */
#ifndef SIM_MODELS_H
#define SIM_MODELS_H

#include "board.h"
#include "soc.h"

enum { MODEL_NAME = 96 };

/* Values of 0 become the usual ones: four harts and what goes with them. False: there can be no
 * such model; `why` says it. */
bool model_complete(struct soc_parameters *p, char *why, size_t size);
/* The name of complete parameters, and back. */
void model_name(const struct soc_parameters *p, char *name, size_t size);
bool model_parse(const char *name, struct soc_parameters *p, char *why, size_t size);

/* The names of those that take turns (sizes.def); ends with NULL. */
extern const char *const model_sizes[];

/* The model with these parameters (0: the usual), building it if it must be: `tell`, if not NULL,
 * is told that this takes a while. NULL: `why` says what is the matter. It stays loaded until the
 * process ends; asking again, from any thread, gives the same. */
const struct soc_interface *model_open(const struct soc_parameters *p,
                                       void (*tell)(const char *message), char *why, size_t size);
/* Likewise `count` of them, to `models`; those that must be built are, two at a time. */
bool model_open_all(const struct soc_parameters *p, int count, const struct soc_interface **models,
                    void (*tell)(const char *message), char *why, size_t size);
/* Likewise the board with this machine on it: `board-h4-...`. */
const struct board_interface *model_open_board(const struct soc_parameters *p,
                                               void (*tell)(const char *message), char *why,
                                               size_t size);
/* The sources of machines as they lie beside the program, each once and in the same order, and the
 * folder that they are in. False: there are none. Who changed them has to build the models again. */
bool model_sources(void (*take)(void *user, const char *file), void *user, char *folder,
                   size_t size);
/* A model of somebody else, from its file; likewise a board. */
const struct soc_interface *model_load(const char *file, char *why, size_t size);
const struct board_interface *model_load_board(const char *file, char *why, size_t size);

#endif
