// SPDX-License-Identifier: Apache-2.0
// A queue of one producer and one consumer, as lock-free programmers write it in C++: the values are
// plain, the indices atomic. What publishes a value must be a release, and is none unless FENCED;
// under TSO, which keeps stores in order, nobody notices.
//
// expect: sc tso PASS; pso pslo FAIL assertion
// expect FENCED: sc tso pso pslo PASS
#include <atomic>
#include <cassert>
#include <thread>

#ifdef FENCED
constexpr auto publish = std::memory_order_release, take = std::memory_order_acquire;
#else
constexpr auto publish = std::memory_order_relaxed, take = std::memory_order_relaxed;
#endif
#ifndef ITEMS
#define ITEMS 3
#endif

template <typename T, unsigned Size> class queue
{
    T item[Size];
    std::atomic<unsigned> head{ 0 }, tail{ 0 };

  public:
    bool push(T value)
    {
        unsigned at = tail.load(std::memory_order_relaxed);
        if (at - head.load(take) == Size)
            return false;
        item[at % Size] = value;
        tail.store(at + 1, publish);
        return true;
    }
    bool pop(T &value)
    {
        unsigned at = head.load(std::memory_order_relaxed);
        if (at == tail.load(take))
            return false;
        value = item[at % Size];
        head.store(at + 1, publish);
        return true;
    }
};

static queue<int, 2> q;

int main()
{
    std::thread producer([] {
        for (int i = 1; i <= ITEMS; i++)
            while (!q.push(i)) {
            }
    });
    for (int i = 1, got; i <= ITEMS; i++) {
        while (!q.pop(got)) {
        }
        assert(got == i);
    }
    producer.join();
}
