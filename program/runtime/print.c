/* SPDX-License-Identifier: Apache-2.0 */
/* What programs print is shown in counterexamples; the engine does the formatting. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "calls.h"

WEAK int vprintf(const char *format, va_list arguments)
{
    return ordeal_call2(ORDEAL_PRINT, (long)format, (long)arguments);
}
WEAK int vfprintf(FILE *file, const char *format, va_list arguments)
{
    (void)file;
    return vprintf(format, arguments);
}

static int vformat(char *to, size_t size, const char *format, va_list arguments)
{
    register long a0 __asm__("a0") = (long)to;
    register long a1 __asm__("a1") = (long)size;
    register long a2 __asm__("a2") = (long)format;
    register long a3 __asm__("a3") = (long)arguments;
    register long a7 __asm__("a7") = ORDEAL_FORMAT;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a7) : "memory");
    return (int)a0;
}
WEAK int vsnprintf(char *to, size_t size, const char *format, va_list arguments)
{
    return vformat(to, size, format, arguments);
}
WEAK int vsprintf(char *to, const char *format, va_list arguments)
{
    return vformat(to, INT32_MAX, format, arguments);
}

#define WITH_ARGUMENTS(call) \
    va_list arguments; \
    va_start(arguments, format); \
    int result = call; \
    va_end(arguments); \
    return result;

WEAK int printf(const char *format, ...){ WITH_ARGUMENTS(vprintf(format, arguments)) } WEAK
    int fprintf(FILE *file, const char *format, ...)
{
    (void)file;
    WITH_ARGUMENTS(vprintf(format, arguments))
}
WEAK int snprintf(char *to, size_t size, const char *format,
                  ...){ WITH_ARGUMENTS(vformat(to, size, format, arguments)) } WEAK
    int sprintf(char *to, const char *format,
                ...){ WITH_ARGUMENTS(vformat(to, INT32_MAX, format, arguments)) }

WEAK int puts(const char *text)
{
    return printf("%s\n", text);
}
WEAK int(putchar)(int c) { return printf("%c", c); }
WEAK int fputs(const char *text, FILE *file) { return fprintf(file, "%s", text); }
WEAK int fputc(int c, FILE *file) { return fprintf(file, "%c", c); }
WEAK int(putc)(int c, FILE *file) { return fputc(c, file); }
WEAK int fflush(FILE *file) { return (void)file, 0; }
WEAK void perror(const char *text) { printf("%s: error\n", text); }

/* Names for people alone: nothing is behind them. */
WEAK FILE *const stdin, *const stdout, *const stderr;
