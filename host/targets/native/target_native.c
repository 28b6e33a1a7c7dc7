/* SPDX-License-Identifier: Apache-2.0 */
/* The target `native`: the host's own x86-64 CPU, which promises TSO.
 *
 * Here is the side that has the test: it writes the code, cuts a run into jobs for the child
 * (native_child.c), waits for them with a limit, and hands the values on. From job to job the
 * lines of the test change their places. */
#include "targets/target.h"

#include "native.h"

#if NATIVE_HERE

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "native_code.h"
#include "native_plan.h"
#include "base/random.h"
#include "test/extension.h"

_Static_assert((int)NATIVE_LINE == (int)LINE_BYTES, "a line is a line");

struct native {
    double timeout;
    bool quiet, warned;
    bool transactions, wide;           /* what this CPU has */
    int cores[CPU_SETSIZE];
    uint32_t core_count;
    struct random random;
    struct native_control *control;    /* NATIVE_SHARED bytes */
    int code_file;
    struct native_code code;
    uint32_t code_version, job_number;
    pid_t child;                       /* 0: none */
    int wishes;                        /* to the child */
    uint32_t workers;                  /* that it was asked for */
};

/* ---- the child ----------------------------------------------------------------------------- */

static void end_child(struct native *n)
{
    if (!n->child)
        return;
    kill(n->child, SIGKILL);
    while (waitpid(n->child, NULL, 0) < 0 && errno == EINTR)
        ;
    close(n->wishes);
    n->child = 0;
}

/* Whoever waits for the end of a pipe of the parent must not wait for its child. */
static void close_all_but(int one, int other)
{
    unsigned low = (unsigned)(one < other ? one : other);
    unsigned high = (unsigned)(one < other ? other : one);
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (low > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, low - 1, 0);
    if (high > low + 1)
        close_range(low + 1, high - 1, 0);
    close_range(high + 1, ~0u, 0);
}

static _Noreturn void become_child(struct native *n, int wishes, int parent)
{
    /* Not in place of standard streams, should these have been closed. */
    struct native_child c = { .control = n->control, .parent = parent, .cores = n->cores,
                              .code_file = fcntl(n->code_file, F_DUPFD, STDERR_FILENO + 1),
                              .wishes = fcntl(wishes, F_DUPFD, STDERR_FILENO + 1),
                              .core_count = n->core_count };
    munmap(n->code.bytes, NATIVE_CODE);
    close_all_but(c.code_file, c.wishes);
    native_child_main(&c);
}

static bool start_child(struct native *n, struct why *why)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return why_say(why, "could not open a socket: %s", strerror(errno));
    }
    memset(n->control, 0, sizeof *n->control);
    n->workers = n->job_number = 0;
    pid_t parent = getpid();
    n->child = fork();
    if (n->child == 0) {
        close(ends[1]);
        become_child(n, ends[0], parent);
    }
    close(ends[0]);
    n->wishes = ends[1];
    if (n->child > 0)
        return true;
    n->child = 0;
    close(ends[1]);
    return why_say(why, "could not start a process: %s", strerror(errno));
}

/* ---- waiting for it ------------------------------------------------------------------------ */

/* The operation at the address; false: it is not in the code. */
static bool tell_operation(const struct native *n, const struct program *p, uint64_t address,
                           char *text, size_t size)
{
    const struct native_mark *m = native_find(&n->code, address - n->control->code);
    if (!m)
        return false;
    const struct program_thread *t = &p->thread[m->thread];
    uint32_t op = t->code[m->instruction].op;
    int length = snprintf(text, size, "operation %u of %u of P%u", m->instruction + 1, t->length,
                          t->number);
    if (p->test && (size_t)length < size) {
        char line[32] = "";
        if (ordeal_trace_op(p->test, op)->line)
            snprintf(line, sizeof line, ", line %u", ordeal_trace_op(p->test, op)->line);
        length += snprintf(text + length, size - (size_t)length, ", `");
        length += ordeal_trace_format(p->test, op, text + length, size - (size_t)length);
        if ((size_t)length < size)
            snprintf(text + length, size - (size_t)length, "`%s", line);
    }
    return true;
}

/* Asks a worker where it is; false: it does not answer, not even by signal. */
static bool ask_place(struct native *n, uint32_t thread, uint64_t *address)
{
    struct native_worker *w = &n->control->worker[thread];
    uint32_t question = atomic_fetch_add(&w->asked, 1) + 1;
    syscall(SYS_tgkill, n->child, n->control->context.thread[thread], SIGUSR2);
    for (int i = 0; i < 200 && atomic_load(&w->answered) != question; i++)
        usleep(1000);
    *address = atomic_load(&w->instruction_pointer);
    return atomic_load(&w->answered) == question;
}

static enum target_result tell_hang(struct native *n, const struct program *p, struct why *why)
{
    char text[256];
    uint64_t address;
    for (uint32_t t = 0; t < p->threads; t++)
        if (ask_place(n, t, &address) && tell_operation(n, p, address, text, sizeof text)) {
            why_say(why, "P%u hung: after %g s it was last seen at %s", p->thread[t].number,
                    n->timeout, text);
            end_child(n);
            return TARGET_HUNG;
        }
    why_say(why, "the threads did not come together within %g s; none was seen in the test's code",
            n->timeout);
    end_child(n);
    return TARGET_HUNG;
}

static enum target_result tell_trouble(struct native *n, const struct program *p, struct why *why)
{
    const struct native_control *c = n->control;
    char text[256];
    if (atomic_load(&c->trouble) == NATIVE_NOT_STARTED)
        why_say(why, "could not %s: %s", c->trouble_doing, strerror(c->trouble_code));
    else if (tell_operation(n, p, c->trouble_at, text, sizeof text))
        why_say(why, "P%u crashed: %s at %s", p->thread[c->trouble_thread].number,
                strsignal(c->trouble_code), text);
    else
        why_say(why, "P%u crashed outside of the test's code: %s",
                p->thread[c->trouble_thread].number, strsignal(c->trouble_code));
    end_child(n);
    return TARGET_FAILED;
}

static bool child_lost(struct native *n, struct why *why)
{
    int status;
    if (waitpid(n->child, &status, WNOHANG) == 0)
        return false;
    if (WIFSIGNALED(status))
        why_say(why, "the process that ran the test was ended: %s", strsignal(WTERMSIG(status)));
    else
        why_say(why, "the process that ran the test ended by itself");
    close(n->wishes);
    n->child = 0;
    return true;
}

/* Until the counter, which only the child changes, is `wanted`. */
static enum target_result wait_for(struct native *n, const struct program *p,
                                   _Atomic uint32_t *counter, uint32_t wanted, struct why *why)
{
    static const double slice = 0.05;
    struct native_control *c = n->control;
    double waited = 0; /* in slices: time in which the program itself is stopped does not count */
    for (;;) {
        uint32_t event = atomic_load(&c->event);
        if (atomic_load(counter) == wanted)
            return TARGET_DONE;
        if (atomic_load(&c->trouble) != NATIVE_FINE)
            return tell_trouble(n, p, why);
        if (interrupted()) {
            end_child(n);
            return TARGET_STOPPED;
        }
        if (native_sleep(&c->event, event, slice) == 0 || errno != ETIMEDOUT)
            continue;
        if (child_lost(n, why))
            return TARGET_FAILED;
        waited += slice;
        if (n->timeout > 0 && waited >= n->timeout)
            return tell_hang(n, p, why);
    }
}

static enum target_result have_workers(struct native *n, const struct program *p, struct why *why)
{
    struct why unsaid;
    if (n->child && child_lost(n, &unsaid))
        n->child = 0; /* between two runs: nothing was lost with it */
    if (!n->child && !start_child(n, why))
        return TARGET_FAILED;
    if (n->workers < p->threads) {
        n->workers = p->threads;
        if (send(n->wishes, &n->workers, sizeof n->workers, MSG_NOSIGNAL) < 0) {
            why_say(why, "the process that runs the tests is gone");
            end_child(n);
            return TARGET_FAILED;
        }
    }
    return wait_for(n, p, &n->control->ready, n->workers, why);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t offset) { return (offset + 63) & ~UINT64_C(63); }

/* Lines with memory keep to the places there are, each in a drawn one. The first time: its own. */
static void draw_places(struct native *n, const struct program *p, bool as_told, uint32_t *place)
{
    for (uint32_t l = 0; l < p->lines; l++)
        place[l] = (uint32_t)p->line[l].place;
    if (as_told)
        return;
    for (uint32_t l = p->lines; l-- > 1;) {
        uint32_t other = random_below(&n->random, l + 1), moved = place[l];
        if (p->line[l].faulting || p->line[other].faulting)
            continue;
        place[l] = place[other];
        place[other] = moved;
    }
}

/* Tables and values, one after the other behind the control. False: there is no room. */
static bool lay_out(struct native *n, const struct program *p, const struct native_plan *plan,
                    const uint32_t *place)
{
    struct native_job *job = &n->control->job;
    uint64_t at = aligned(sizeof *n->control);
    job->line_table = at;
    at = aligned(at + p->lines * sizeof(struct native_line));
    job->fixup_table = at;
    job->fixups = (uint32_t)n->code.fixups.count;
    at = aligned(at + n->code.fixups.count * sizeof(struct native_fixup));
    job->final_table = at;
    job->finals = p->finals;
    at = aligned(at + p->finals * sizeof(struct native_final));
    uint64_t values = at, row = 8 * ((uint64_t)p->slots + p->finals);
    for (uint32_t t = 0; t < p->threads; t++) {
        const struct program_thread *thread = &p->thread[t];
        struct native_part *part = &n->control->worker[t].part;
        *part = (struct native_part){ .entry = n->code.entry[t],
                                      .number = thread->number,
                                      .slots = thread->slots,
                                      .values = values + 8 * (uint64_t)thread->first_slot,
                                      .stride = row };
        if (plan->gathered) {
            part->values = at;
            part->stride = 8 * (uint64_t)thread->slots;
        }
        at = aligned(at + plan->count * 8 * (uint64_t)thread->slots);
    }
    job->final_values = plan->gathered ? at : values + 8 * (uint64_t)p->slots;
    job->final_stride = plan->gathered ? 8 * (uint64_t)p->finals : row;
    at = aligned(at + plan->count * 8 * (uint64_t)p->finals);
    if (at > NATIVE_SHARED)
        return false;
    uint8_t *shared = (uint8_t *)n->control;
    struct native_line *lines = (struct native_line *)(shared + job->line_table);
    job->lines = 0;
    for (uint32_t l = 0; l < p->lines; l++)
        if (!p->line[l].faulting) {
            lines[job->lines].place = place[l];
            memcpy(lines[job->lines++].initial, p->line[l].initial, LINE_BYTES);
        }
    struct native_final *finals = (struct native_final *)(shared + job->final_table);
    for (uint32_t k = 0; k < p->finals; k++)
        finals[k].place = place[p->final[k].line] + p->final[k].offset;
    if (n->code.fixups.count)
        memcpy(shared + job->fixup_table, n->code.fixups.data,
               n->code.fixups.count * sizeof(struct native_fixup));
    return true;
}

static bool write_code(struct native *n, const struct program *p, const struct native_plan *plan,
                       const uint32_t *place, struct why *why)
{
    if (!native_emit(&n->code, p, place) || !lay_out(n, p, plan, place)) {
        return why_say(why,
                       "the test is too large: its code takes more than %llu or its tables and "
                       "values more than %llu bytes; make it shorter",
                       (unsigned long long)NATIVE_CODE, (unsigned long long)NATIVE_SHARED);
    }
    n->code_version++;
    return true;
}

static enum target_result run_job(struct native *n, const struct program *p,
                                  const struct native_plan *plan, uint64_t first, uint64_t count,
                                  struct why *why)
{
    struct native_control *c = n->control;
    struct native_job *job = &c->job;
    uint64_t copies = (plan->instances - 1) * plan->stride + p->memory;
    uint64_t room = (NATIVE_MEMORY - copies) / LINE_BYTES;
    job->first = first;
    job->count = count;
    job->test_seed = p->seed;
    job->seed = random_next(&n->random);
    job->threads = p->threads;
    job->instances = plan->instances;
    job->instance_stride = plan->stride;
    job->group = plan->group;
    job->memory = LINE_BYTES * random_below(&n->random, room < 64 ? (uint32_t)room + 1 : 64);
    job->code_version = n->code_version;
    job->code_length = n->code.length;
    job->branches = p->branches;
    job->transactions = p->asks.transactions;
    job->crowded = p->threads > n->core_count;
    atomic_store(&c->finished, 0);
    n->job_number++;
    for (uint32_t t = 0; t < p->threads; t++) {
        atomic_store(&c->worker[t].go, n->job_number);
        native_wake(&c->worker[t].go);
    }
    return wait_for(n, p, &c->finished, p->threads, why);
}

/* The values of one iteration in the layout of the program. */
static uint64_t *values_of(const struct native *n, const struct program *p,
                           const struct native_plan *plan, uint64_t row, uint64_t *gathered)
{
    uint8_t *shared = (uint8_t *)n->control;
    const struct native_worker *w = n->control->worker;
    if (!plan->gathered)
        return (uint64_t *)(shared + w[0].part.values + row * w[0].part.stride);
    for (uint32_t t = 0; t < p->threads; t++) {
        const uint64_t *from = (const uint64_t *)(shared + w[t].part.values
                                                  + row * w[t].part.stride);
        for (uint32_t k = 0; k < w[t].part.slots; k++)
            gathered[p->thread[t].first_slot + k] = from[k];
    }
    const struct native_job *job = &n->control->job;
    const uint64_t *from = (const uint64_t *)(shared + job->final_values + row * job->final_stride);
    for (uint32_t k = 0; k < p->finals; k++)
        gathered[p->slots + k] = from[k];
    return gathered;
}

static enum target_result hand_on(const struct native *n, const struct program *p,
                                  const struct native_plan *plan, uint64_t first, uint64_t count,
                                  struct extension *registers, const struct target_sink *sink,
                                  struct why *why)
{
    uint64_t gathered[NATIVE_GATHERED] = { 0 };
    for (uint64_t row = 0; row < count; row++) {
        uint64_t *values = values_of(n, p, plan, row, gathered);
        if (!extension_take_off(registers, first + row, values, why))
            return TARGET_BROKE;
        if (!sink->outcome(sink->user, first + row, values))
            return TARGET_STOPPED;
    }
    return interrupted() ? TARGET_STOPPED : TARGET_DONE;
}

/* ---- the target ---------------------------------------------------------------------------- */

static void warn_of_crowd(struct native *n, const struct program *p)
{
    if (n->quiet || n->warned || p->threads <= n->core_count)
        return;
    n->warned = true;
    fprintf(stderr, "ordeal: warning: %u threads on %u core%s take turns, which hides most "
            "relaxed outcomes\n", p->threads, n->core_count, n->core_count == 1 ? "" : "s");
}

static enum target_result native_run(void *machine, const struct program *p, uint64_t first,
                                     uint64_t count, const struct target_sink *sink,
                                     struct why *why)
{
    struct native *n = machine;
    struct extension registers = { 0 };
    warn_of_crowd(n, p);
    uint32_t *place = malloc((p->lines + 1) * sizeof *place);
    if (!place || !extension_open(&registers, p, 64, false)) {
        why_say(why, "out of memory");
        free(place);
        return TARGET_FAILED;
    }
    struct native_plan plan = native_plan(p, n->core_count);
    enum target_result result = have_workers(n, p, why);
    for (uint64_t done = 0; result == TARGET_DONE && done < count;) {
        uint64_t now = count - done < plan.count ? count - done : plan.count;
        if (done == 0 || p->lines > 1) {
            draw_places(n, p, done == 0, place);
            if (!write_code(n, p, &plan, place, why))
                result = TARGET_FAILED;
        }
        if (result == TARGET_DONE)
            result = run_job(n, p, &plan, first + done, now, why);
        if (result == TARGET_DONE)
            result = hand_on(n, p, &plan, first + done, now, &registers, sink, why);
        done += now;
    }
    extension_close(&registers);
    free(place);
    return result;
}

static void native_close(void *machine)
{
    struct native *n = machine;
    if (!n)
        return;
    end_child(n);
    if (n->control)
        munmap(n->control, NATIVE_SHARED);
    if (n->code.bytes)
        munmap(n->code.bytes, NATIVE_CODE);
    if (n->code_file >= 0)
        close(n->code_file);
    native_code_free(&n->code);
    free(n);
}

static bool map_shared(struct native *n, struct why *why)
{
    void *control = mmap(NULL, NATIVE_SHARED, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (control != MAP_FAILED)
        n->control = control;
    n->code_file = memfd_create("ordeal-code", MFD_CLOEXEC);
    if (control == MAP_FAILED || n->code_file < 0 || ftruncate(n->code_file, NATIVE_CODE) != 0) {
        return why_say(why, "could not get memory to share with the tests: %s", strerror(errno));
    }
    void *code = mmap(NULL, NATIVE_CODE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      n->code_file, 0);
    if (code == MAP_FAILED) {
        return why_say(why, "could not map memory for code: %s", strerror(errno));
    }
    n->code.bytes = code;
    n->code.capacity = NATIVE_CODE;
    return true;
}

static bool find_cores(struct native *n, struct why *why)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return why_say(why, "could not ask which cores may be used: %s", strerror(errno));
    }
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed))
            n->cores[n->core_count++] = core;
    return true;
}

static void find_features(struct native *n)
{
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d))
        n->wide = c & bit_AVX;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        const unsigned always_aborts = 1u << 11;
        n->code.flush_weakly = b & bit_CLFLUSHOPT;
        n->transactions = b & bit_RTM && !(d & always_aborts);
    }
}

static bool native_open(const struct target_options *options, void **machine, struct why *why)
{
    if (options->model_given && options->model != ORDEAL_TSO) {
        return why_say(why,
                       "an x86-64 promises TSO, not %s; to check for another model use --against",
                       ordeal_model_name(options->model));
    }
    struct native *n = calloc(1, sizeof *n);
    if (!n) {
        return why_say(why, "out of memory");
    }
    n->code_file = -1;
    n->timeout = options->timeout;
    n->quiet = options->quiet;
    random_seed(&n->random, options->seed, 0);
    find_features(n);
    if (find_cores(n, why) && map_shared(n, why) && start_child(n, why)) {
        *machine = n;
        return true;
    }
    native_close(n);
    return false;
}

static struct abilities native_can(const void *machine)
{
    const struct native *n = machine;
    uint32_t narrow = 1 | 2 | 4 | 8, all = n->wide ? narrow | 16 | 32 | 64 : narrow;
    return (struct abilities){ .threads = NATIVE_THREADS,
                               .registers = MOST_REGISTERS,
                               .load_sizes = all,
                               .store_sizes = all,
                               .swap_sizes = narrow,
                               .cas_sizes = narrow,
                               .amo_sizes = narrow,
                               .transactions = n->transactions,
                               .interrupts = true,
                               .flush = true,
                               .nonfaulting = true,
                               .memory = NATIVE_MEMORY,
                               .harts = (uint32_t)n->core_count };
}

#else

#include <stdio.h>

static bool native_open(const struct target_options *options, void **machine, struct why *why)
{
    (void)options;
    *machine = NULL;
    return why_say(why,
                   "native runs tests on the CPU of an x86-64 Linux machine, and this is none; "
                   "use --target model or elf");
}

static struct abilities native_can(const void *machine)
{
    (void)machine;
    return (struct abilities){ 0 };
}

static enum target_result native_run(void *machine, const struct program *p, uint64_t first,
                                     uint64_t count, const struct target_sink *sink,
                                     struct why *why)
{
    (void)machine, (void)p, (void)first, (void)count, (void)sink, (void)why;
    return TARGET_FAILED;
}

static void native_close(void *machine) { (void)machine; }

#endif

static struct machine_claims native_claims(const void *machine)
{
    (void)machine;
    return (struct machine_claims){ .model = ORDEAL_TSO, .atomic = 8, .final = true };
}

const struct target target_native = {
    .name = "native", .summary = "the CPU of this machine (x86-64)",
    .open = native_open, .can = native_can, .claims = native_claims,
    .exact = false, .iterations = 1000, .run = native_run, .close = native_close,
};
