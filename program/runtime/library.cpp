// SPDX-License-Identifier: Apache-2.0
// What the headers of libc++ leave to its library, as far as the run-time has it: docs/programs.md lists
// it. Each part is what the header says of it, on the run-time's threads and memory.
#define _LIBCPP_BUILDING_LIBRARY
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#define WEAK __attribute__((weak)) // a program may have its own

// ---- allocation ------------------------------------------------------------------------------

namespace std
{
const nothrow_t nothrow{};
}

WEAK void *operator new(size_t size)
{
    void *p = malloc(size);
    if (!p)
        abort();
    return p;
}
WEAK void *operator new(size_t size, std::align_val_t alignment)
{
    void *p = aligned_alloc(static_cast<size_t>(alignment), size);
    if (!p)
        abort();
    return p;
}
WEAK void *operator new[](size_t size) { return ::operator new(size); }
WEAK void *operator new[](size_t size, std::align_val_t a) { return ::operator new(size, a); }
WEAK void *operator new(size_t size, const std::nothrow_t &) noexcept { return malloc(size); }
WEAK void *operator new[](size_t size, const std::nothrow_t &) noexcept { return malloc(size); }
WEAK void operator delete(void *p) noexcept { free(p); }
WEAK void operator delete[](void *p) noexcept { ::operator delete(p); }
WEAK void operator delete(void *p, size_t) noexcept { ::operator delete(p); }
WEAK void operator delete[](void *p, size_t) noexcept { ::operator delete[](p); }
WEAK void operator delete(void *p, std::align_val_t) noexcept { free(p); }
WEAK void operator delete[](void *p, std::align_val_t) noexcept { free(p); }
WEAK void operator delete(void *p, size_t, std::align_val_t) noexcept { free(p); }
WEAK void operator delete[](void *p, size_t, std::align_val_t) noexcept { free(p); }

// ---- what compilers call ----------------------------------------------------------------------

static pthread_mutex_t guard_mutex;
static pthread_cond_t guard_wait;

// The first byte says that the variable is there, and is all that programs look at; the second that
// somebody is making it.
extern "C" {
void *__dso_handle;

int __cxa_guard_acquire(char *guard)
{
    pthread_mutex_lock(&guard_mutex);
    while (guard[1])
        pthread_cond_wait(&guard_wait, &guard_mutex);
    bool mine = !guard[0];
    guard[1] = mine;
    pthread_mutex_unlock(&guard_mutex);
    return mine;
}

static void leave_guard(char *guard, char there)
{
    pthread_mutex_lock(&guard_mutex);
    guard[1] = 0;
    __atomic_store_n(guard, there, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&guard_wait);
    pthread_mutex_unlock(&guard_mutex);
}
void __cxa_guard_release(char *guard) { leave_guard(guard, 1); }
void __cxa_guard_abort(char *guard) { leave_guard(guard, 0); }

void __cxa_pure_virtual() { abort(); }
void __cxa_deleted_virtual() { abort(); }
}

namespace std
{
void terminate() noexcept { abort(); }
} // namespace std

_LIBCPP_BEGIN_NAMESPACE_STD

void __throw_system_error(int error, const char *what)
{
    printf("std::system_error %d: %s\n", error, what);
    abort();
}

// ---- mutexes and conditions ---------------------------------------------------------------------

mutex::~mutex() noexcept { __libcpp_mutex_destroy(&__m_); }
void mutex::lock() { __libcpp_mutex_lock(&__m_); }
bool mutex::try_lock() noexcept { return __libcpp_mutex_trylock(&__m_); }
void mutex::unlock() noexcept { __libcpp_mutex_unlock(&__m_); }

recursive_mutex::recursive_mutex() { __libcpp_recursive_mutex_init(&__m_); }
recursive_mutex::~recursive_mutex() { __libcpp_recursive_mutex_destroy(&__m_); }
void recursive_mutex::lock() { __libcpp_recursive_mutex_lock(&__m_); }
bool recursive_mutex::try_lock() noexcept { return __libcpp_recursive_mutex_trylock(&__m_); }
void recursive_mutex::unlock() noexcept { __libcpp_recursive_mutex_unlock(&__m_); }

condition_variable::~condition_variable() { __libcpp_condvar_destroy(&__cv_); }
void condition_variable::notify_one() noexcept { __libcpp_condvar_signal(&__cv_); }
void condition_variable::notify_all() noexcept { __libcpp_condvar_broadcast(&__cv_); }
void condition_variable::wait(unique_lock<mutex> &lock) noexcept
{
    __libcpp_condvar_wait(&__cv_, lock.mutex()->native_handle());
}

// Readers are counted; the highest bit is a writer, or one that waits for the readers to leave.
__shared_mutex_base::__shared_mutex_base() : __state_(0) {}
void __shared_mutex_base::lock()
{
    unique_lock<mutex> l(__mut_);
    while (__state_ & __write_entered_)
        __gate1_.wait(l);
    __state_ |= __write_entered_;
    while (__state_ & __n_readers_)
        __gate2_.wait(l);
}
bool __shared_mutex_base::try_lock()
{
    lock_guard<mutex> l(__mut_);
    bool free = __state_ == 0;
    if (free)
        __state_ = __write_entered_;
    return free;
}
void __shared_mutex_base::unlock()
{
    lock_guard<mutex> l(__mut_);
    __state_ = 0;
    __gate1_.notify_all();
}
void __shared_mutex_base::lock_shared()
{
    unique_lock<mutex> l(__mut_);
    while (__state_ & __write_entered_)
        __gate1_.wait(l);
    __state_++;
}
bool __shared_mutex_base::try_lock_shared()
{
    lock_guard<mutex> l(__mut_);
    bool free = !(__state_ & __write_entered_);
    __state_ += free;
    return free;
}
void __shared_mutex_base::unlock_shared()
{
    lock_guard<mutex> l(__mut_);
    __state_--;
    if (__state_ == __write_entered_)
        __gate2_.notify_one();
}

static pthread_mutex_t once_mutex;
static pthread_cond_t once_wait;

void __call_once(volatile once_flag::_State_type &flag, void *argument, void (*function)(void *))
{
    const once_flag::_State_type runs = 1, done = ~once_flag::_State_type(0);
    pthread_mutex_lock(&once_mutex);
    while (flag == runs)
        pthread_cond_wait(&once_wait, &once_mutex);
    if (flag == 0) {
        flag = runs;
        pthread_mutex_unlock(&once_mutex);
        function(argument);
        pthread_mutex_lock(&once_mutex);
        __atomic_store_n(&flag, done, __ATOMIC_RELEASE);
        pthread_cond_broadcast(&once_wait);
    }
    pthread_mutex_unlock(&once_mutex);
}

// ---- threads ------------------------------------------------------------------------------------

thread::~thread()
{
    if (!__libcpp_thread_isnull(&__t_))
        terminate();
}
void thread::join()
{
    int error = __libcpp_thread_isnull(&__t_) ? EINVAL : __libcpp_thread_join(&__t_);
    if (error)
        __throw_system_error(error, "thread::join failed");
    __t_ = _LIBCPP_NULL_THREAD;
}
void thread::detach()
{
    int error = __libcpp_thread_isnull(&__t_) ? EINVAL : __libcpp_thread_detach(&__t_);
    if (error)
        __throw_system_error(error, "thread::detach failed");
    __t_ = _LIBCPP_NULL_THREAD;
}
unsigned thread::hardware_concurrency() noexcept { return 2; }

namespace this_thread
{
void sleep_for(const chrono::nanoseconds &) { __libcpp_thread_yield(); }
} // namespace this_thread

__thread_struct::__thread_struct() : __p_(nullptr) {}
__thread_struct::~__thread_struct() {}

// It has a key and nothing else, and would be made anew by whoever comes first.
__thread_specific_ptr<__thread_struct> &__thread_local_data()
{
    alignas(__thread_specific_ptr<__thread_struct>) static char
        data[sizeof(__thread_specific_ptr<__thread_struct>)];
    return *reinterpret_cast<__thread_specific_ptr<__thread_struct> *>(data);
}

// ---- smart pointers -----------------------------------------------------------------------------

__shared_count::~__shared_count() {}
__shared_weak_count::~__shared_weak_count() {}
const void *__shared_weak_count::__get_deleter(const type_info &) const noexcept { return nullptr; }

// The last one alone can see that it is the last, and needs no atomic for the rest.
void __shared_weak_count::__release_weak() noexcept
{
    if (__atomic_load_n(&__shared_weak_owners_, __ATOMIC_ACQUIRE) == 0
        || __libcpp_atomic_refcount_decrement(__shared_weak_owners_) == -1)
        __on_zero_shared_weak();
}

__shared_weak_count *__shared_weak_count::lock() noexcept
{
    long owners = __atomic_load_n(&__shared_owners_, __ATOMIC_SEQ_CST);
    while (owners != -1)
        if (__atomic_compare_exchange_n(&__shared_owners_, &owners, owners + 1, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return this;
    return nullptr;
}

// ---- containers ---------------------------------------------------------------------------------

size_t __next_prime(size_t n)
{
    auto is_prime = [](size_t p) {
        for (size_t d = 2; d * d <= p; d++)
            if (p % d == 0)
                return false;
        return true;
    };
    if (n <= 2)
        return n;
    for (n |= 1; !is_prime(n);)
        n += 2;
    return n;
}

template class basic_string<char>;
template string operator+<char, char_traits<char>, allocator<char>>(char const *, string const &);

template <class T> static string formatted(const char *format, T value)
{
    char text[64];
    snprintf(text, sizeof text, format, value);
    return text;
}
string to_string(int n) { return formatted("%d", n); }
string to_string(unsigned n) { return formatted("%u", n); }
string to_string(long n) { return formatted("%ld", n); }
string to_string(unsigned long n) { return formatted("%lu", n); }
string to_string(long long n) { return formatted("%lld", n); }
string to_string(unsigned long long n) { return formatted("%llu", n); }
string to_string(float n) { return formatted("%f", n); }
string to_string(double n) { return formatted("%f", n); }

#define SORT(T) \
    template void __sort<__less<T> &, T *>(T *, T *, __less<T> &); \
    template bool __insertion_sort_incomplete<__less<T> &, T *>(T *, T *, __less<T> &);
SORT(char)
SORT(signed char)
SORT(unsigned char)
SORT(short)
SORT(unsigned short)
SORT(int)
SORT(unsigned)
SORT(long)
SORT(unsigned long)
SORT(long long)
SORT(unsigned long long)
SORT(float)
SORT(double)

_LIBCPP_END_NAMESPACE_STD
