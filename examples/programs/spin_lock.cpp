// SPDX-License-Identifier: Apache-2.0
// A spin lock that tests before it sets, used through std::lock_guard. What is guarded is an ordinary
// variable. Without acquire and release the unlock may be seen before what it guards was written.
//
// expect: sc tso PASS; pso pslo FAIL assertion
// expect FENCED: sc tso pso pslo PASS
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifdef FENCED
constexpr auto on_lock = std::memory_order_acquire, on_unlock = std::memory_order_release;
#else
constexpr auto on_lock = std::memory_order_relaxed, on_unlock = std::memory_order_relaxed;
#endif

class spin_lock
{
    std::atomic<bool> held{ false };

  public:
    void lock()
    {
        while (held.exchange(true, on_lock))
            while (held.load(std::memory_order_relaxed)) {
            }
    }
    void unlock() { held.store(false, on_unlock); }
};

static spin_lock lock;
static int count;

static void work()
{
    std::lock_guard<spin_lock> guard(lock);
    count = count + 1;
}

int main()
{
    std::thread one(work), other(work);
    one.join();
    other.join();
    assert(count == 2);
}
