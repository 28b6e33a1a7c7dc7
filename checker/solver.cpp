/* SPDX-License-Identifier: Apache-2.0 */
#include "solver.h"

#include <new>

extern "C" {
#include <ccadical.h>
}

struct solver {
    CCaDiCaL *inner;
    bool failed;
};

namespace
{

// Whatever is thrown, it is about memory: CaDiCaL throws nothing of its own.
template <typename Call> void guard(struct solver *s, Call call)
{
    if (s->failed)
        return;
    try {
        call();
    } catch (...) {
        s->failed = true;
    }
}

} // namespace

struct solver *solver_new(void)
{
    struct solver *s = new (std::nothrow) solver{ nullptr, false };
    if (!s)
        return nullptr;
    guard(s, [&] { s->inner = ccadical_init(); });
    if (s->inner)
        return s;
    delete s;
    return nullptr;
}

void solver_free(struct solver *s)
{
    if (!s)
        return;
    guard(s, [&] { ccadical_release(s->inner); });
    delete s;
}

bool solver_failed(const struct solver *s) { return s->failed; }

void solver_option(struct solver *s, const char *name, int value)
{
    guard(s, [&] { ccadical_set_option(s->inner, name, value); });
}

void solver_on_terminate(struct solver *s, void *user, int (*stop)(void *user))
{
    guard(s, [&] { ccadical_set_terminate(s->inner, user, stop); });
}

void solver_on_learn(struct solver *s, void *user, int most,
                     void (*learnt)(void *user, int *clause))
{
    guard(s, [&] { ccadical_set_learn(s->inner, user, most, learnt); });
}

void solver_add(struct solver *s, int literal)
{
    guard(s, [&] { ccadical_add(s->inner, literal); });
}

enum solver_answer solver_solve(struct solver *s)
{
    int answer = SOLVER_UNKNOWN;
    guard(s, [&] { answer = ccadical_solve(s->inner); });
    return s->failed ? SOLVER_UNKNOWN : static_cast<enum solver_answer>(answer);
}

int solver_value(struct solver *s, int literal)
{
    int value = 0;
    guard(s, [&] { value = ccadical_val(s->inner, literal); });
    return value;
}
