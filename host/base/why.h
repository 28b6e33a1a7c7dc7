/* SPDX-License-Identifier: Apache-2.0 */
/* Why something could not be done, in words for people: filled by whoever finds out, handed up to
 * whoever prints it. */
#ifndef HOST_WHY_H
#define HOST_WHY_H

#include <stdbool.h>

struct why {
    char text[1024];
};

/* As printf; what is too long is cut. Always false, so that a function can end with it. */
bool why_say(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* More of it, after what was said. */
void why_add(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
