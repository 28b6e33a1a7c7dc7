/* SPDX-License-Identifier: Apache-2.0 */
/* Stands before what was preprocessed elsewhere (.i): words of gcc that headers of another library
 * leave there, and that clang does not have. Types are what they are with this compiler. */
#define __malloc__(...) __malloc__ /* since gcc 11 it may name who frees */
#define __float128 long double
typedef float _Float32;
typedef double _Float64, _Float32x;
typedef long double _Float64x, _Float128;
