// SPDX-License-Identifier: Apache-2.0
// Double-checked locking. Whoever comes first makes the object under the lock and publishes a pointer
// to it; others see the pointer without the lock, and may see it before they see the object.
//
// expect: sc tso PASS; pso pslo FAIL assertion
// expect FENCED: sc tso pso pslo PASS
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifdef FENCED
constexpr auto publish = std::memory_order_release, take = std::memory_order_acquire;
#else
constexpr auto publish = std::memory_order_relaxed, take = std::memory_order_relaxed;
#endif

struct settings {
    int answer = 0;
    settings() { answer = 42; }
};

static std::atomic<settings *> instance{ nullptr };
static std::mutex making;

static settings *get()
{
    settings *s = instance.load(take);
    if (!s) {
        std::lock_guard<std::mutex> guard(making);
        s = instance.load(std::memory_order_relaxed);
        if (!s) {
            s = new settings;
            instance.store(s, publish);
        }
    }
    return s;
}

static void work() { assert(get()->answer == 42); }

int main()
{
    std::thread other(work);
    work();
    other.join();
}
