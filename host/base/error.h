/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with an input, and where: the library's error object, filled and told. */
#ifndef HOST_ERROR_H
#define HOST_ERROR_H

#include <stdarg.h>

#include "ordeal.h"

/* Bad input, as printf; `file` "" and line 0: nowhere in particular. Always false, so that a
 * function can end with it. */
bool error_bad(struct ordeal_error *e, const char *file, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool error_vbad(struct ordeal_error *e, const char *file, uint64_t line, const char *format,
                va_list args) __attribute__((format(printf, 4, 0)));
/* Any status, which it returns. */
enum ordeal_status error_set(struct ordeal_error *e, enum ordeal_status status, const char *file,
                             const char *reason);
bool error_out_of_memory(struct ordeal_error *e, const char *file); /* always false */

/* "file:line:column: " as far as they are known, then the reason; as snprintf. */
int error_format(const struct ordeal_error *e, char *buffer, size_t size);

#endif
