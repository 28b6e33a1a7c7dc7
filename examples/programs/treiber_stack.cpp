// SPDX-License-Identifier: Apache-2.0
// Treiber's stack with nodes from the heap. Two threads push one value each and pop one. With RECYCLE
// a node that was popped is deleted at once, and another thread may still look into it. Unless FENCED
// it is wrong under SC, too, when it is optimised: clang puts the store to `below` behind the exchange.
//
// expect: sc tso PASS; pso pslo FAIL assertion
// expect FENCED: sc tso pso pslo PASS
// expect RECYCLE FENCED: sc tso pso pslo FAIL freed
#include <atomic>
#include <cassert>
#include <thread>

#ifdef FENCED
constexpr auto publish = std::memory_order_release, take = std::memory_order_acquire;
#else
constexpr auto publish = std::memory_order_relaxed, take = std::memory_order_relaxed;
#endif

struct node {
    int value;
    node *below;
};

class stack
{
    std::atomic<node *> top{ nullptr };

  public:
    void push(int value)
    {
        node *n = new node{ value, top.load(std::memory_order_relaxed) };
        while (!top.compare_exchange_weak(n->below, n, publish, std::memory_order_relaxed)) {
        }
    }
    int pop()
    {
        node *n = top.load(take);
        while (n && !top.compare_exchange_weak(n, n->below, take, take)) {
        }
        if (!n)
            return 0;
        int value = n->value;
#ifdef RECYCLE
        delete n;
#endif
        return value;
    }
};

static stack s;
static std::atomic<int> sum{ 0 };

static void work(int value)
{
    s.push(value);
    int got = s.pop();
    assert(got == 1 || got == 2);
    sum.fetch_add(got, std::memory_order_relaxed);
}

int main()
{
    std::thread other(work, 2);
    work(1);
    other.join();
    assert(sum.load() == 3);
}
