// SPDX-License-Identifier: Apache-2.0
// A queue of work behind a mutex and a condition variable, with std::vector and std::unique_ptr. The
// consumer waits until there is some; with BROKEN it waits without looking, and misses a signal that came
// before.
//
// expect: sc tso pso pslo PASS
// expect BROKEN: sc tso pso pslo FAIL deadlock
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#ifndef ITEMS
#define ITEMS 2
#endif

static std::mutex mutex;
static std::condition_variable filled;
static std::vector<std::unique_ptr<int>> work;

static void produce()
{
    for (int i = 1; i <= ITEMS; i++) {
        std::lock_guard<std::mutex> guard(mutex);
        work.push_back(std::make_unique<int>(i));
        filled.notify_one();
    }
}

int main()
{
    std::thread producer(produce);
    int sum = 0;
    for (int taken = 0; taken < ITEMS;) {
        std::unique_lock<std::mutex> guard(mutex);
#ifdef BROKEN
        filled.wait(guard);
#else
        filled.wait(guard, [] { return !work.empty(); });
#endif
        while (!work.empty()) {
            sum += *work.back();
            work.pop_back();
            taken++;
        }
    }
    producer.join();
    assert(sum == ITEMS * (ITEMS + 1) / 2);
}
