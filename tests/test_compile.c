/* SPDX-License-Identifier: Apache-2.0 */
/* From sources to images: what the compiler makes of them, what the run-time does, and what is said of bad
 * ones. */
#include <sys/stat.h>

#include "one_thread.h"
#include "program/lower_atomics.h"
#include "programs.h"
#include "shell.h"

static const struct compile_request plain = { 0 };

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static void put(const char *file, const char *text)
{
    FILE *out = fopen(file, "w");
    TEST_ASSERT_NOT_NULL(out);
    fputs(text, out);
    TEST_ASSERT_EQUAL(0, fclose(out));
}

static void a_program_with_threads_becomes_an_image(void)
{
    struct source_place place;
    struct image *i = program_image_of("sb.c",
                                       "#include <pthread.h>\n"
                                       "#include <assert.h>\n"
                                       "int x;\n"
                                       "void *t(void *p) { x = 1; return p; }\n"
                                       "int main(void) {\n"
                                       "    pthread_t a;\n"
                                       "    pthread_create(&a, 0, t, 0);\n"
                                       "    pthread_join(a, 0);\n"
                                       "    assert(x == 1);\n"
                                       "}\n",
                                       &plain);
    const struct symbol *t = image_symbol_named(i, "t");
    TEST_ASSERT_NOT_NULL(t);
    TEST_ASSERT_TRUE(t->function);
    TEST_ASSERT_TRUE(image_place(i, t->address, &place));
    TEST_ASSERT_EQUAL(4, place.line);
    TEST_ASSERT_EQUAL_STRING("t", place.function);
    TEST_ASSERT_NOT_NULL(image_symbol_named(i, "__ordeal_thread_end"));
    TEST_ASSERT_NOT_NULL(image_instruction(i, image_entry(i)));
    image_free(i);
}

/* ---- atomics ------------------------------------------------------------------------------------ */

enum { STORES, EXCHANGES, OTHER_ATOMICS, FENCES, LIGHT_FENCES, COUNTS };

/* What a function has of each, but for accesses to its frame. */
static void count(const struct image *i, const char *name, int counts[COUNTS])
{
    const struct symbol *s = image_symbol_named(i, name);
    TEST_ASSERT_NOT_NULL_MESSAGE(s, name);
    memset(counts, 0, COUNTS * sizeof *counts);
    for (uint32_t pc = s->address; pc < s->address + s->size; pc += 4) {
        const struct instruction *in = image_instruction(i, pc);
        bool frame = in->rs1 == 2 || in->rs1 == 8;
        counts[STORES] += in->operation >= OPERATION_SB && in->operation <= OPERATION_SW && !frame;
        counts[EXCHANGES] += in->operation == OPERATION_AMOSWAP;
        counts[OTHER_ATOMICS] += in->operation >= OPERATION_LR
                              && in->operation != OPERATION_AMOSWAP;
        counts[FENCES] += in->operation == OPERATION_FENCE && in->fence == 0x33;
        counts[LIGHT_FENCES] += in->operation == OPERATION_FENCE && in->fence != 0x33;
    }
}

static const char atomics[] =
    "#include <stdatomic.h>\n"
    "atomic_int x; int *_Atomic p; atomic_uchar c; int y; volatile int v;\n"
    "void relaxed(void) { atomic_store_explicit(&x, 1, memory_order_relaxed); }\n"
    "void release(void) { atomic_store_explicit(&x, 1, memory_order_release); }\n"
    "void ordered(void) { atomic_store(&x, 1); }\n"
    "void pointer(void) { atomic_store(&p, &y); }\n"
    "void byte(void) { atomic_store(&c, 1); }\n"
    "int acquire(void) { return atomic_load_explicit(&x, memory_order_acquire); }\n"
    "int load(void) { return atomic_load(&x); }\n"
    "void add(void) { atomic_fetch_add(&x, 1); }\n"
    "void swap(void) { int e = 0; atomic_compare_exchange_strong(&x, &e, 1); }\n"
    "void light(void) { atomic_thread_fence(memory_order_acquire); atomic_thread_fence(memory_order_release); }\n"
    "void full(void) { atomic_thread_fence(memory_order_seq_cst); }\n"
    "void sync(void) { __sync_synchronize(); }\n"
    "void compiler(void) { atomic_signal_fence(memory_order_seq_cst); }\n"
    "void twice(void) { v = 1; v = 2; }\n"
    "int main(void) { relaxed(); release(); ordered(); pointer(); byte(); acquire(); load(); add(); swap();\n"
    "    light(); full(); twice(); sync(); compiler(); }\n";

static const struct expected {
    const char *function;
    int riscv[COUNTS], x86[COUNTS];
} expected[] = {
    { "relaxed", { 1, 0, 0, 0, 0 }, { 1, 0, 0, 0, 0 } },
    { "release", { 1, 0, 0, 0, 1 }, { 1, 0, 0, 0, 0 } },
    { "ordered", { 1, 0, 0, 0, 1 }, { 0, 1, 0, 0, 0 } },
    { "pointer", { 1, 0, 0, 0, 1 }, { 0, 1, 0, 0, 0 } },
    { "byte", { 1, 0, 0, 0, 1 }, { 0, 0, 2, 0, 0 } },
    { "acquire", { 0, 0, 0, 0, 1 }, { 0, 0, 0, 0, 0 } },
    { "load", { 0, 0, 0, 1, 1 }, { 0, 0, 0, 0, 0 } },
    { "add", { 0, 0, 1, 0, 0 }, { 0, 0, 1, 0, 0 } },
    { "swap", { 0, 0, 2, 0, 0 }, { 0, 0, 2, 0, 0 } },
    { "light", { 0, 0, 0, 0, 2 }, { 0, 0, 0, 0, 0 } },
    { "full", { 0, 0, 0, 1, 0 }, { 0, 0, 0, 1, 0 } },
    { "sync", { 0, 0, 0, 1, 0 }, { 0, 0, 0, 1, 0 } },
    { "compiler", { 0 }, { 0 } },
    { "twice", { 2, 0, 0, 0, 0 }, { 2, 0, 0, 0, 0 } },
};

/* A relaxed store that were an exchange would drain the buffer, and hide what programs do wrong. */
static void atomics_are_those_of_the_machine_that_was_asked_for(void)
{
    for (int how = 0; how < 4; how++) {
        struct compile_request r = { .x86_atomics = how & 1, .optimise = how & 2 };
        struct image *i = program_image_of("atomics.c", atomics, &r);
        for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
            int counts[COUNTS];
            if (r.optimise) /* all is in main, and not to be told apart */
                break;
            count(i, expected[k].function, counts);
            TEST_ASSERT_EQUAL_INT_ARRAY_MESSAGE(r.x86_atomics ? expected[k].x86 : expected[k].riscv,
                                                counts, COUNTS, expected[k].function);
        }
        int counts[COUNTS];
        count(i, "main", counts);
        if (r.optimise) {
            TEST_ASSERT_EQUAL(r.x86_atomics ? 2 : 0, counts[EXCHANGES]);
            TEST_ASSERT_EQUAL(r.x86_atomics ? 2 : 3, counts[FENCES]);
        }
        image_free(i);
    }
}

static void lowered(const char *line, const char *expected_text)
{
    char *text = NULL;
    size_t size;
    struct why why = { "" };
    FILE *in = fmemopen((void *)(uintptr_t)line, strlen(line), "r"),
         *out_text = open_memstream(&text, &size);
    TEST_ASSERT_TRUE_MESSAGE(lower_atomics(in, out_text, true, &why), why.text);
    fclose(in);
    fclose(out_text);
    TEST_ASSERT_EQUAL_STRING(expected_text, text);
    free(text);
}

#define BARRIER "  call void asm sideeffect \"\", \"~{memory}\"()"

static void lines_of_llvm_are_lowered_for_x86(void)
{
    lowered("  store atomic i32 %1, i32* @x seq_cst, align 4, !dbg !7\n",
            "  %ordeal.0 = atomicrmw xchg i32* @x, i32 %1 seq_cst, align 4, !dbg !7\n");
    lowered("  store atomic volatile i8 1, i8* %\"a b\" seq_cst, align 1\n",
            "  %ordeal.0 = atomicrmw volatile xchg i8* %\"a b\", i8 1 seq_cst, align 1\n");
    lowered(
        "  store atomic %struct.node* %3, %struct.node** bitcast (i8* @p to %struct.node**) seq_cst, align 4\n",
        "  %ordeal.0.value = ptrtoint %struct.node* %3 to i32\n"
        "  %ordeal.0.to = bitcast %struct.node** bitcast (i8* @p to %struct.node**) to i32*\n"
        "  %ordeal.0 = atomicrmw xchg i32* %ordeal.0.to, i32 %ordeal.0.value seq_cst, align 4\n");
    lowered(
        "  store atomic void (i8*, i32)* null, void (i8*, i32)** getelementptr inbounds (%t, %t* @q, i32 0, i32 1) seq_cst, align 4\n",
        "  %ordeal.0.value = ptrtoint void (i8*, i32)* null to i32\n"
        "  %ordeal.0.to = bitcast void (i8*, i32)** getelementptr inbounds (%t, %t* @q, i32 0, i32 1) to i32*\n"
        "  %ordeal.0 = atomicrmw xchg i32* %ordeal.0.to, i32 %ordeal.0.value seq_cst, align 4\n");
    lowered(
        "  store atomic ptr @y, ptr @p seq_cst, align 4\n",
        "  %ordeal.0.value = ptrtoint ptr @y to i32\n"
        "  %ordeal.0.to = bitcast ptr @p to ptr\n"
        "  %ordeal.0 = atomicrmw xchg ptr %ordeal.0.to, i32 %ordeal.0.value seq_cst, align 4\n");
    lowered("  store atomic i32 -1, i32* @x release, align 4\n",
            BARRIER "\n  store atomic i32 -1, i32* @x monotonic, align 4\n");
    lowered("  store atomic i32 0, i32* @x monotonic, align 4\n",
            "  store atomic i32 0, i32* @x monotonic, align 4\n");
    lowered("  %2 = load atomic i32, i32* @x seq_cst, align 4\n",
            "  %2 = load atomic i32, i32* @x monotonic, align 4\n" BARRIER "\n");
    lowered("  fence acq_rel, !dbg !9\n", BARRIER ", !dbg !9\n");
    lowered("  fence seq_cst\n", "  fence seq_cst\n");
    lowered("@text = constant [9 x i8] c\"fence acq\\00\"\n; store atomic i32 seq_cst\n",
            "@text = constant [9 x i8] c\"fence acq\\00\"\n; store atomic i32 seq_cst\n");
}

/* ---- the run-time --------------------------------------------------------------------------------- */

/* The same on this computer, with its own library: what the program says of itself is right. */
static void check_on_both(const char *file, const char *text)
{
    char command[512];
    put(file, text);
    snprintf(command, sizeof command, "cc -w -fno-builtin -o here %s -lm && ./here", file);
    TEST_ASSERT_EQUAL_MESSAGE(0, system(command), "on this computer");
    for (int optimise = 0; optimise < 2; optimise++) {
        struct image *i = program_image_of(file, text,
                                           &(struct compile_request){ .optimise = optimise });
        struct one_thread m;
        one_thread_open(&m, i);
        while (m.end == ONE_THREAD_RUNS)
            one_thread_step(&m);
        TEST_ASSERT_EQUAL_MESSAGE(ONE_THREAD_EXIT, m.end, "with the run-time");
        TEST_ASSERT_EQUAL_MESSAGE(0, m.x[10], "the number of a check");
        one_thread_close(&m);
        image_free(i);
    }
}

static void strings_and_memory_are_as_everywhere(void)
{
    check_on_both(
        "strings.c",
        "#include <string.h>\n#include <stdlib.h>\n#include <stdint.h>\n"
        "#define CHECK(e) do { if (!(e)) return __LINE__; } while (0)\n"
        "int main(void) {\n"
        "    unsigned char a[64], b[64]; char s[64], t[64];\n"
        "    for (int from = 0; from < 8; from++) for (int to = 0; to < 8; to++) for (int n = 0; n < 20; n++) {\n"
        "        for (int k = 0; k < 64; k++) a[k] = k, b[k] = 100 + k;\n"
        "        CHECK(memcpy(b + to, a + from, n) == b + to);\n"
        "        for (int k = 0; k < 64; k++) CHECK(b[k] == (k >= to && k < to + n ? from + k - to : 100 + k));\n"
        "        memmove(a + to, a + from, n);\n"
        "        for (int k = 0; k < n; k++) CHECK(a[to + k] == from + k);\n"
        "        memset(b + to, 7 + n, n);\n"
        "        for (int k = 0; k < 64; k++) CHECK(b[k] == (k >= to && k < to + n ? 7 + n : 100 + k));\n"
        "    }\n"
        "    CHECK(memcmp(\"abc\", \"abd\", 3) < 0 && memcmp(\"\\377\", \"a\", 1) > 0 && memcmp(\"x\", \"y\", 0) == 0);\n"
        "    CHECK(strlen(\"\") == 0 && strlen(\"four\") == 4 && strnlen(\"four\", 2) == 2);\n"
        "    CHECK(strcmp(\"a\", \"b\") < 0 && strcmp(\"ab\", \"a\") > 0 && strcmp(\"\\377\", \"a\") > 0 && !strcmp(\"s\", \"s\"));\n"
        "    CHECK(strncmp(\"abc\", \"abd\", 2) == 0 && strncmp(\"abc\", \"abd\", 3) < 0);\n"
        "    strcpy(s, \"one\"); strcat(s, \" two\"); CHECK(!strcmp(s, \"one two\"));\n"
        "    strncpy(t, \"long\", 2); t[2] = 0; CHECK(!strcmp(t, \"lo\")); strncat(t, \"nger\", 1); CHECK(!strcmp(t, \"lon\"));\n"
        "    CHECK(strchr(s, 't') == s + 4 && !strchr(s, 'z') && *strchr(s, 0) == 0 && strrchr(s, 'o') == s + 6);\n"
        "    CHECK(strstr(s, \"two\") == s + 4 && !strstr(s, \"three\") && memchr(s, ' ', 9) == s + 3);\n"
        "    CHECK(atoi(\" -42x\") == -42 && atoi(\"+7\") == 7 && atol(\"2147483647\") == 2147483647 && abs(-3) == 3);\n"
        "    int *p = calloc(3, sizeof *p); CHECK(p && !p[0] && !p[2]); p[0] = 5; free(p);\n"
        "    char *c = strdup(\"copy\"); CHECK(!strcmp(c, \"copy\")); free(c);\n"
        "    return 0;\n"
        "}\n");
}

static void arithmetic_is_as_everywhere(void)
{
    check_on_both(
        "numbers.c",
        "#include <stdint.h>\n#include <math.h>\n"
        "#define CHECK(e) do { if (!(e)) return __LINE__; } while (0)\n"
        "volatile int64_t a = -1234567890123, b = 9876543; volatile uint64_t u = 0xfedcba9876543210; volatile double d = 2.5;\n"
        "volatile float f = -1.25f; volatile int n = 1000003, z = -7;\n"
        "_Atomic int64_t wide; _Atomic struct { int x[5]; } big;\n"
        "int main(void) {\n"
        "    CHECK(a * b == 6253481220490466827ll && a / b == -125000 && a % b == -15123);\n"
        "    CHECK(u / 1000007 == 18364629992083 && u >> 36 == 0xfedcba9 && (u << 4) == 0xedcba98765432100);\n"
        "    CHECK(d * d == 6.25 && d / 4 == 0.625 && (int)(d * 3) == 7 && f + d == 1.25 && ceilf(f) == -1 && ceilf(2.1f) == 3);\n"
        "    CHECK((float)n == 1000003.0f && (double)a == -1234567890123.0 && (int64_t)(d * 1e12) == 2500000000000);\n"
        "    CHECK(z / 2 == -3 && z % 2 == -1 && (unsigned)z / 2 == 2147483644u && z >> 1 == -4);\n"
        "    volatile double o = 0, one = 1; CHECK(o / one == 0 && one / o > 1e300 && o / o != o / o);\n"
        "    volatile float g = 0, h = 1; CHECK(g / h == 0 && h / g > 1e30f && g / g != g / g);\n"
        "    wide = 1ll << 40; CHECK(wide++ == 1ll << 40 && wide == (1ll << 40) + 1);\n"
        "    int64_t e = 0; CHECK(!__atomic_compare_exchange_n((int64_t *)&wide, &e, 5, 0, 5, 5) && e == (1ll << 40) + 1);\n"
        "    return 0;\n"
        "}\n");
}

/* ---- what is said of bad ones ------------------------------------------------------------------------ */

static struct compiled compiled;
static struct why why;

static void fails(const char *file, const char *text)
{
    put(file, text);
    compiled_free(&compiled);
    why.text[0] = '\0';
    TEST_ASSERT_FALSE(compile_program(&(struct compile_request){ .source = &file, .sources = 1 },
                                      &compiled, &why));
    TEST_ASSERT_NULL(compiled.elf);
}

static void says(const char *text, const char *part)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(text, "nothing was said");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, part), text);
}

static void mistakes_are_told_with_file_and_line(void)
{
    fails("bad.c", "int main(void) {\n    return x;\n}\n");
    says(why.text, "bad.c does not compile");
    says(compiled.messages, "bad.c:2:12: error: use of undeclared identifier 'x'");
    fails("missing.c",
          "#include <stdlib.h>\nint c(const void *a, const void *b) { return 0; }\n"
          "int main(void) {\n    int a[2];\n\n    qsort(a, 2, 4, c);\n    return rand();\n}\n");
    says(why.text,
         "missing.c:6: main calls qsort, which the run-time does not have; docs/programs.md");
    says(compiled.messages, "missing.c:7: main calls rand, which");
    fails("none.c", "int f(void) { return 0; }\n");
    says(why.text, "no main");
    fails("missing.cpp", "namespace n { int f(int); }\nint main() {\n    return n::f(3);\n}\n");
    says(why.text, "missing.cpp:3: main calls n::f(int), which");
    fails("clock.cpp", "#include <atomic>\nstd::atomic<int> a;\nint main() {\n    a.wait(0);\n}\n");
    says(compiled.messages, "clock.cpp:4: main calls std::__1::chrono::steady_clock::now(), which");
    fails("stream.cpp", "#include <iostream>\nint main() { std::cout << 1; }\n");
    says(compiled.messages, "the run-time has no <iostream>: use printf");
    compiled_free(&compiled);
}

static void tools_that_are_missing_are_named(void)
{
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    fails("a.c", "int main(void) { return 0; }\n");
    setenv("PATH", path, 1);
    free(path);
    says(why.text, "clang is not on PATH: make setup-program");
    compiled_free(&compiled);
}

/* ---- other programs ------------------------------------------------------------------------------------ */

/* As the competition on software verification has them: preprocessed with the headers of another machine. */
static void preprocessed_programs_bring_their_own_types(void)
{
    struct image *i = program_image_of(
        "competition.i",
        "typedef unsigned long int pthread_t; typedef long unsigned int size_t;\n"
        "union pthread_attr_t { char __size[56]; long int __align; }; typedef union pthread_attr_t pthread_attr_t;\n"
        "typedef union { struct { int __lock; unsigned c; int o; int k; } __data; char __size[40]; long a; } pthread_mutex_t;\n"
        "typedef union { char __size[4]; int __align; } pthread_mutexattr_t;\n"
        "extern int pthread_create (pthread_t *t, const pthread_attr_t *a, void *(*f) (void *), void *p);\n"
        "extern int pthread_join (pthread_t t, void **v);\n"
        "extern int pthread_mutex_lock (pthread_mutex_t *m); extern int pthread_mutex_unlock (pthread_mutex_t *m);\n"
        "extern void *malloc (size_t n);\n"
        "extern void __assert_fail (const char *e, const char *f, unsigned int l, const char *n) __attribute__ ((__noreturn__));\n"
        "extern void abort(void); extern int __VERIFIER_nondet_int(void);\n"
        "void reach_error() { ((void) sizeof ((0) ? 1 : 0), ({ if (0) ; else __assert_fail (\"0\", \"x.c\", 5, __extension__ __PRETTY_FUNCTION__); })); }\n"
        "void assume_abort_if_not(int c) { if (!c) { abort(); } }\n"
        "void __VERIFIER_atomic_add(int *p) { *p = *p + 1; }\n"
        "pthread_mutex_t m = { { 0, 0, 0, 0 } }; int x;\n"
        "void *t(void *p) { pthread_mutex_lock(&m); x = __VERIFIER_nondet_int(); __VERIFIER_atomic_add(&x); pthread_mutex_unlock(&m); return 0; }\n"
        "int main() { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0); if (x == 7) reach_error(); return 0; }\n",
        &plain);
    const struct symbol *atomic = image_symbol_named(i, "__VERIFIER_atomic_add");
    TEST_ASSERT_NOT_NULL(atomic);
    TEST_ASSERT_TRUE(image_instruction(i, atomic->address)->flags & INSTRUCTION_ATOMIC);
    TEST_ASSERT_EQUAL_STRING("reach_error", image_symbol_named(i, "reach_error")->name);
    image_free(i);
}

static void libraries_of_cpp_are_there(void)
{
    struct image *i = program_image_of(
        "all.cpp",
        "#include <atomic>\n#include <thread>\n#include <mutex>\n#include <condition_variable>\n#include <vector>\n"
        "#include <deque>\n#include <queue>\n#include <map>\n#include <unordered_map>\n#include <string>\n"
        "#include <memory>\n#include <functional>\n#include <algorithm>\n#include <shared_mutex>\n#include <cassert>\n"
        "std::mutex m; std::condition_variable c; bool ready; std::once_flag once; std::shared_mutex s;\n"
        "struct base { virtual ~base() {} virtual int f() = 0; }; struct derived : base { int f() override { return 2; } };\n"
        "int many() { static std::string text(\"long enough for the heap, this one\"); return (int)text.size(); }\n"
        "int main() {\n"
        "    std::thread t([] { std::lock_guard<std::mutex> g(m); ready = true; c.notify_one(); });\n"
        "    { std::unique_lock<std::mutex> g(m); c.wait(g, [] { return ready; }); }\n"
        "    t.join();\n"
        "    std::vector<int> v{ 3, 1, 2 }; std::sort(v.begin(), v.end()); std::map<int, std::string> names; names[1] = \"one\";\n"
        "    std::unordered_map<int, int> hashed; hashed[4] = 5; std::queue<int> q; q.push(1); std::deque<int> d(3);\n"
        "    auto p = std::make_shared<int>(4); std::weak_ptr<int> w = p; std::unique_ptr<base> b(new derived);\n"
        "    std::function<int(int)> f = [&](int x) { return x + v[0]; }; std::call_once(once, [] { ready = false; });\n"
        "    std::shared_lock<std::shared_mutex> reader(s); std::string n = names[1] + std::to_string(f(1));\n"
        "    assert(b->f() == 2 && *w.lock() == 4 && n == \"one2\" && many() > 30 && hashed[4] == 5 && d.size() == 3);\n"
        "}\n",
        &plain);
    TEST_ASSERT_NOT_NULL(image_symbol_named(i, "main"));
    image_free(i);
}

static void definitions_and_several_sources_are_taken(void)
{
    const char *const sources[] = { "one.c", "two.c" }, *const defines[] = { "ANSWER=42", "FLAG" },
                      *const includes[] = { "headers" };
    struct compile_request r = { .source = sources,
                                 .sources = 2,
                                 .define = defines,
                                 .defines = 2,
                                 .include = includes,
                                 .includes = 1 };
    struct ordeal_error error;
    struct image *i;
    put("one.c",
        "extern int two(void); int main(void) { return two() != 42; }\nint malloc_count;\n"
        "void *malloc(unsigned n) { malloc_count++; return 0; }\n"); /* its own, not the run-time's */
    TEST_ASSERT_EQUAL(0, mkdir("headers", 0777));
    put("headers/two.h", "int two(void);\n");
    put("two.c", "#include <two.h>\n#ifdef FLAG\nint two(void) { return ANSWER; }\n#endif\n");
    TEST_ASSERT_TRUE_MESSAGE(compile_program(&r, &compiled, &why), why.text);
    TEST_ASSERT_TRUE(image_load("x", compiled.elf, compiled.size, &i, &error));
    struct one_thread m;
    one_thread_open(&m, i);
    while (m.end == ONE_THREAD_RUNS)
        one_thread_step(&m);
    TEST_ASSERT_EQUAL(ONE_THREAD_EXIT, m.end);
    TEST_ASSERT_EQUAL(0, m.x[10]);
    one_thread_close(&m);
    image_free(i);
    compiled_free(&compiled);
}

static void nothing_is_left_on_the_disk(void)
{
    setenv("TMPDIR", ".", 1);
    image_free(program_image_of("a.c", "int main(void) { return 0; }\n", &plain));
    fails("b.c", "int main(void) { return missing(); }\n");
    compiled_free(&compiled);
    fails("c.c", "#pragma clang __debug parser_crash\nint main(void) { return 0; }\n");
    unsetenv("TMPDIR");
    compiled_free(&compiled);
    TEST_ASSERT_EQUAL(0, system("test \"$(echo *)\" = 'a.c b.c c.c'"));
}

/* Of "@a.c" compilers take the words in the file a.c, which may be -fplugin=. */
static void a_name_of_a_source_is_no_option(void)
{
    EXPECT(
        0,
        "mkdir @dir dir; echo 'int main(void) { return 0; }' | tee ./-fplugin=a.c @dir/b.c >@a.c; "
        "for f in a.c dir/b.c; do echo -fplugin=there_is_none.so >$f; done");
    EXPECT(2, "$ORDEAL explore @a.c");
    OUT("compilers take such a name for a file of options");
    EXPECT(2, "$ORDEAL explore $PWD/@a.c");
    OUT("compilers take such a name for a file of options");
    EXPECT(0, "$ORDEAL explore @dir/b.c");
    EXPECT(0, "$ORDEAL explore -- -fplugin=a.c");
}

static void what_a_source_makes_is_bounded(void)
{
    EXPECT(0, "truncate -s 2G big");
    fails("a.c", "__asm__(\".data; .incbin \\\"big\\\"\"); int main(void) { return 0; }\n");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "writes a file of more than 1024 MB"), why.text);
    compiled_free(&compiled);
}

/* Objects that are linked to each program are taken from where nobody else can have put them. */
static void a_cache_of_others_is_not_used(void)
{
    put("a.c", "int main(void) { return 0; }\n");
    EXPECT(0, "export XDG_CACHE_HOME=$PWD/cache; unset ORDEAL_MODELS; $ORDEAL explore a.c && "
              "cd cache/ordeal/runtime-* && echo junk >runtime.o");
    EXPECT(2, "XDG_CACHE_HOME=$PWD/cache $ORDEAL explore a.c");
    EXPECT(0, "chmod o+w cache/ordeal/runtime-*; XDG_CACHE_HOME=$PWD/cache $ORDEAL explore a.c");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(a_program_with_threads_becomes_an_image);
    RUN_TEST(atomics_are_those_of_the_machine_that_was_asked_for);
    RUN_TEST(lines_of_llvm_are_lowered_for_x86);
    RUN_TEST(strings_and_memory_are_as_everywhere);
    RUN_TEST(arithmetic_is_as_everywhere);
    RUN_TEST(mistakes_are_told_with_file_and_line);
    RUN_TEST(tools_that_are_missing_are_named);
    RUN_TEST(preprocessed_programs_bring_their_own_types);
    RUN_TEST(libraries_of_cpp_are_there);
    RUN_TEST(definitions_and_several_sources_are_taken);
    RUN_TEST(nothing_is_left_on_the_disk);
    RUN_TEST(a_name_of_a_source_is_no_option);
    RUN_TEST(what_a_source_makes_is_bounded);
    RUN_TEST(a_cache_of_others_is_not_used);
    return UNITY_END();
}
