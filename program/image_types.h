/* SPDX-License-Identifier: Apache-2.0 */
/* What lies where within the variables of a program, by the types that its debug information has:
 * "lock[1].wants[0]" instead of a distance in bytes. For words; not for several threads at once. */
#ifndef PROGRAM_IMAGE_TYPES_H
#define PROGRAM_IMAGE_TYPES_H

#include "image.h"

struct image_types;
/* NULL: there is no debug information, or no memory. */
struct image_types *image_types_open(const struct image *i);
void image_types_close(struct image_types *t);

/* The innermost object at an address of data, its name and size in bytes; false: unknown. */
bool image_types_name(const struct image_types *t, uint32_t address, char *name, size_t length,
                      uint32_t *size);

/* The other way: where such a name is. */
bool image_types_find(const struct image_types *t, const char *name, uint32_t *address,
                      uint32_t *size);

#endif
