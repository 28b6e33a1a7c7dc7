/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into ordeal: makes one call of a kind fail, wherever it is made from.
 *
 * Allocations, threads and processes are functions of libraries, and taken by their names. System
 * calls are also made inside of libc, where no name can be taken; the kernel hands those back that
 * come from libc (seccomp, SIGSYS), and what is to be done is done from here. A filter outlives what
 * the process executes, but there libc lies elsewhere: programs that ordeal starts are left alone,
 * unless they are ordeal itself, whose calls count with the others. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "state.h"

static struct fault_state *state;
static int record = -1;
static char here[4096]; /* where it was started */

static const int errors[] = {
#define FAULT_ERROR(ID, NAME, ERROR) [FAULT_##ID] = ERROR,
    FAULT_KINDS(FAULT_ERROR)
#undef FAULT_ERROR
};

/* For a debugger: the call that is about to fail. */
__attribute__((noinline)) void fault_here(void) { __asm__ volatile(""); }

static bool fails(enum fault_kind kind)
{
    if (!state)
        return false;
    uint64_t n = atomic_fetch_add(&state->seen[kind], 1) + 1;
    bool it = kind == state->kind && state->at
           && (n == state->at || (state->onwards && n > state->at));
    if (it) {
        atomic_fetch_add(&state->failed, 1);
        fault_here();
    }
    return it;
}

/* ---- functions ------------------------------------------------------------------------------ */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool no_memory(void)
{
    if (!fails(FAULT_ALLOCATE))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) { return no_memory() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return no_memory() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return no_memory() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t a, size_t size) { return no_memory() ? NULL : __libc_memalign(a, size); }
void *aligned_alloc(size_t a, size_t size) { return memalign(a, size); }

int posix_memalign(void **to, size_t alignment, size_t size)
{
    *to = memalign(alignment, size);
    return *to ? 0 : ENOMEM;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *a, void *(*f)(void *), void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return fails(FAULT_THREAD) ? EAGAIN : real(thread, a, f, argument);
}

pid_t fork(void)
{
    static pid_t (*real)(void);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fork");
    if (!fails(FAULT_FORK))
        return real();
    errno = EAGAIN;
    return -1;
}

/* ---- system calls ---------------------------------------------------------------------------- */

long fault_raw(long number, long a, long b, long c, long d, long e, long f);
__asm__(".globl fault_raw\n.hidden fault_raw\nfault_raw:\n"
        "mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %r10\n"
        "mov %r9, %r8\nmov 8(%rsp), %r9\nsyscall\nret\n");

enum { NOT_TO_FAIL = FAULT_COUNT }; /* handed back for the log alone */
static const struct {
    int number;
    int kind;
} calls[] = {
    { SYS_write, FAULT_WRITE },     { SYS_pwrite64, FAULT_WRITE },  { SYS_writev, FAULT_WRITE },
    { SYS_read, FAULT_READ },       { SYS_pread64, FAULT_READ },    { SYS_open, FAULT_OPEN },
    { SYS_openat, FAULT_OPEN },     { SYS_mkdir, FAULT_OPEN },      { SYS_mkdirat, FAULT_OPEN },
    { SYS_rename, FAULT_RENAME },   { SYS_renameat, FAULT_RENAME }, { SYS_renameat2, FAULT_RENAME },
    { SYS_fsync, FAULT_SYNC },      { SYS_fdatasync, FAULT_SYNC },  { SYS_mmap, FAULT_MAP },
    { SYS_ftruncate, NOT_TO_FAIL }, { SYS_unlink, NOT_TO_FAIL },    { SYS_unlinkat, NOT_TO_FAIL },
    { SYS_rmdir, NOT_TO_FAIL },
};
enum { CALLS = sizeof calls / sizeof *calls };

static int kind_of(int number)
{
    for (int i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            return calls[i].kind;
    return NOT_TO_FAIL;
}

#include "record.h"

/* An eventfd, by which a thread wakes another: there is no disk to be full, and nobody who waits could be
 * told. */
static bool wakes(const struct call *c)
{
    struct stat is;
    return fault_raw(SYS_fstat, c->a[0], (long)&is, 0, 0, 0, 0) == 0 && (is.st_mode & S_IFMT) == 0;
}

static void on_call(int signal, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct call c = { info->si_syscall,
                      { r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9] } };
    int kind = kind_of(c.number);
    (void)signal;
    if (kind < FAULT_COUNT && !(kind == FAULT_WRITE && wakes(&c)) && fails((enum fault_kind)kind)) {
        r[REG_RAX] = -errors[kind];
        return;
    }
    r[REG_RAX] = record < 0 ? do_call(&c) : do_and_record(&c);
}

struct range {
    uint64_t from, to;
};

/* What of libc is executed. It is cut where the upper half of addresses changes: the filter looks at
 * halves, and calls from behind it, which hardly ever are any, are left alone. */
static int find_libc(struct dl_phdr_info *object, size_t size, void *user)
{
    struct range *range = user;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uint64_t from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)
            || (uint64_t)(uintptr_t)&gnu_get_libc_version - from >= to - from)
            continue;
        *range = (struct range){ from, to >> 32 == from >> 32 ? to : from | UINT32_MAX };
        return 1;
    }
    return 0;
}

#define LOAD(FIELD) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD)
#define JUMP(HOW, WITH, YES, NO) BPF_JUMP(BPF_JMP | (HOW) | BPF_K, (uint32_t)(WITH), YES, NO)

static bool hand_back(void)
{
    struct range libc = { 0 };
    const uint32_t ip = offsetof(struct seccomp_data, instruction_pointer);
    if (!dl_iterate_phdr(find_libc, &libc))
        return false;
    struct sock_filter filter[CALLS + 8] = {
        LOAD(ip + 4), JUMP(BPF_JEQ, libc.from >> 32, 0, CALLS + 4),
        LOAD(ip),     JUMP(BPF_JGE, libc.from, 0, CALLS + 2),
        JUMP(BPF_JGE, libc.to, CALLS + 1, 0),
        LOAD(offsetof(struct seccomp_data, nr)),
    }, *f = filter + 6;
    for (int i = 0; i < CALLS; i++)
        *f++ = (struct sock_filter)JUMP(BPF_JEQ, calls[i].number, CALLS - i, 0);
    *f++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    *f++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog program = { (unsigned short)(f - filter), filter };
    struct sigaction action = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO };
    sigfillset(&action.sa_mask);
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Not what it starts, such as a compiler. */
static bool is_ordeal(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *name = strrchr(path, '/');
    return name && strcmp(name, "/ordeal") == 0;
}

/* Nobody blocks SIGSYS: a call that is handed back then would be the end. */
static int set_mask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t but_ours;
    if (set) {
        but_ours = *set;
        if (how != SIG_UNBLOCK)
            sigdelset(&but_ours, SIGSYS);
    }
    return (int)-fault_raw(SYS_rt_sigprocmask, how, (long)(set ? &but_ours : NULL), (long)old, 8, 0,
                           0);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) { return set_mask(how, set, old); }

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = set_mask(how, set, old);
    errno = error ? error : errno;
    return error ? -1 : 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv(FAULT_VARIABLE), *log = getenv(FAULT_LOG_VARIABLE);
    int opened = file && is_ordeal() ? open(file, O_RDWR | O_CLOEXEC) : -1;
    if (opened < 0)
        return;
    void *shared = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    close(opened);
    int written = log ? open(log, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (written >= 0) {
        record = fcntl(written, F_DUPFD_CLOEXEC, 500);
        close(written);
    }
    if (shared == MAP_FAILED)
        _exit(99);
    state = shared;
    atomic_compare_exchange_strong(&state->first, &(int32_t){ 0 }, getpid());
    if (!getcwd(here, sizeof here) || !hand_back())
        _exit(99);
}
