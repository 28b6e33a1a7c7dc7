/* SPDX-License-Identifier: Apache-2.0 */
/* Checker of a replay (replay.h): its threads, its trail and its memory, while it runs. */
#undef NDEBUG
#include "replay.h"

static void check_threads(const struct ordeal_replay *r)
{
    uint64_t left = 0, pending = 0;
    for (uint32_t t = 0; t < r->threads; t++) {
        const struct replay_thread *th = &r->thread[t];
        assert(th->load >= th->load_first && th->load <= th->load_end);
        assert(th->store >= th->store_first && th->store <= th->store_end);
        assert(th->wanted <= th->store_end);
        for (uint32_t l = th->load; l < th->load_end; l++)
            assert(r->state[r->act[l].source].pending);
        left += th->load_end - th->load;
    }
    for (uint32_t s = 0; s < r->stores; s++)
        pending += r->state[s].pending;
    assert(pending == left);
}

/* Each entry of the trail put its store where the one before it was; the last are what is there. */
static void check_memory(const struct ordeal_replay *r)
{
    assert(r->trail_count <= r->stores + r->loads && r->memory[r->words] == NONE);
    for (uint32_t w = 0; w < r->words; w++)
        assert(r->memory[w] < r->stores && r->store[r->memory[w]].word == w);
    for (uint32_t i = 0; i < r->trail_count; i++) {
        struct replay_done done = r->trail[i];
        if (done.what & SPECIAL) {
            const struct replay_thread *th = &r->thread[done.what & ~SPECIAL];
            assert((done.what & ~SPECIAL) < r->threads);
            assert(done.before >= th->load_first && done.before < th->load);
        } else {
            assert(done.what >= r->words && done.what < r->thread[r->thread_of[done.what]].store);
            assert(r->standing[done.what] == done.what && r->state[done.what].position <= i);
            assert(r->store[done.before].word == r->store[done.what].word);
        }
    }
}

void replay_check(const struct ordeal_replay *r)
{
    check_threads(r);
    check_memory(r);
}
