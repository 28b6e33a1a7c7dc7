/* SPDX-License-Identifier: Apache-2.0 */
/* No guard: NDEBUG may differ from one inclusion to the next. */
#undef assert
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, __func__))
#endif

#ifndef ORDEAL_ASSERT_H
#define ORDEAL_ASSERT_H
#ifdef __cplusplus
extern "C" {
#else
#define static_assert _Static_assert
#endif
_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
                             const char *function);
#ifdef __cplusplus
}
#endif
#endif
