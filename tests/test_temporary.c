/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary things: whose they are, that those of the dead go, and that nothing else does. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/output.h"
#include "base/temporary.h"
#include "shell.h"

void setUp(void)
{
    shell_enter();
    unsetenv("TMPDIR");
}

void tearDown(void) { shell_leave(); }

static bool there(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

static void sweep(void)
{
    TEST_ASSERT_EQUAL(0, temporary_sweep(".", &(struct temporary_sweep){ .dry = false }));
}

/* A child that makes a file and a folder with something in it; ends at once, or waits. */
static pid_t start_owner(bool waits)
{
    int ready[2];
    char byte;
    TEST_ASSERT_EQUAL(0, pipe(ready));
    pid_t child = fork();
    if (child == 0) {
        struct temporary file, folder;
        int descriptor;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test fail */
        bool made = temporary_file(&file, "f", &descriptor) == 0
                 && temporary_folder(&folder, "d") == 0 && mkdirat(folder.lock, "in", 0700) == 0
                 && openat(folder.lock, "in/x", O_CREAT | O_WRONLY, 0600) >= 0
                 && write(ready[1], "", 1) == 1;
        while (made && waits)
            pause();
        _exit(!made);
    }
    TEST_ASSERT_EQUAL(1, read(ready[0], &byte, 1));
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end_owner(pid_t child)
{
    kill(child, SIGKILL);
    TEST_ASSERT_EQUAL(child, waitpid(child, NULL, 0));
}

static void test_those_of_the_dead_go(void)
{
    pid_t child = start_owner(true);
    sweep();
    EXPECT(0, "ls | grep -q '^f.ordeal-tmp-......$' && ls | grep -q '^d.ordeal-tmp-......$'");
    end_owner(child);
    EXPECT(0, "ls | grep -q '^f.ordeal-tmp-......$'");
    sweep();
    EXPECT(0, "! ls | grep ordeal-tmp");
}

static void test_making_one_sweeps(void)
{
    struct temporary t;
    int descriptor;
    end_owner(start_owner(true));
    TEST_ASSERT_EQUAL(0, temporary_file(&t, "other", &descriptor));
    EXPECT(0, "test $(ls | grep -c ordeal-tmp) = 1");
    close(descriptor);
    temporary_remove(&t);
    EXPECT(0, "! ls | grep ordeal-tmp");
}

/* As long as it is temporary; afterwards it is a file like others. */
static void test_lock_lasts(void)
{
    struct temporary t;
    int descriptor;
    TEST_ASSERT_EQUAL(0, temporary_file(&t, "f", &descriptor));
    close(descriptor);
    sweep();
    TEST_ASSERT_TRUE(there(t.path));
    TEST_ASSERT_EQUAL(0, rename(t.path, "f"));
    temporary_release(&t);
    sweep();
    TEST_ASSERT_TRUE(there("f"));
    temporary_remove(&t); /* there is none any more */
    TEST_ASSERT_TRUE(there("f"));
}

static void test_nothing_else_goes(void)
{
    EXPECT(0, "mkdir outside && touch outside/x && "
              "touch f.XXXXXX f.ordeal-tmp- f.ordeal-tmp-12345 f.ordeal-tmp-1234567 "
              "f.ordeal-tmp-12345- ordeal-tmp-123456 && ln -s outside a.ordeal-tmp-123456 && "
              "ln -s outside/x b.ordeal-tmp-123456 && mkfifo c.ordeal-tmp-123456");
    sweep();
    EXPECT(0, "ls outside/x f.XXXXXX f.ordeal-tmp- f.ordeal-tmp-12345 f.ordeal-tmp-1234567 "
              "f.ordeal-tmp-12345- ordeal-tmp-123456 a.ordeal-tmp-123456 b.ordeal-tmp-123456 "
              "c.ordeal-tmp-123456");
}

static void test_links_in_a_folder_are_not_followed(void)
{
    EXPECT(0, "mkdir outside d.ordeal-tmp-123456 && touch outside/x && "
              "ln -s ../outside d.ordeal-tmp-123456/l && ln -s ../outside/x d.ordeal-tmp-123456/m");
    sweep();
    TEST_ASSERT_FALSE(there("d.ordeal-tmp-123456"));
    TEST_ASSERT_TRUE(there("outside/x"));
}

/* A mount leads to the same file system as often as not. */
static void test_mounts_are_not_entered(void)
{
    static const char mark[] = ".ordeal-tmp-abcdef";
    if (sh("unshare -rm mount --bind . .") != 0)
        TEST_IGNORE_MESSAGE("nothing can be mounted here");
    EXPECT(0, "mkdir -p deep%s/a/b top%s beside o/mine/x%s; touch o/mine/thing deep%s/a/b/file",
           mark, mark, mark, mark);
    EXPECT(2,
           "unshare -rm sh -c 'mount --bind o/mine deep%s/a/b && mount --bind o/mine top%s && "
           "mount --bind o/mine beside && $ORDEAL clean .'",
           mark, mark);
    ERR("ordeal clean: deep.ordeal-tmp-abcdef: ");
    ERR("ordeal clean: top.ordeal-tmp-abcdef: ");
    TEST_ASSERT_TRUE(there("o/mine/thing"));
    EXPECT(0, "$ORDEAL clean beside && ls -d o/mine/x%s", mark);
    EXPECT(0, "$ORDEAL clean . >/dev/null && ls");
    TEST_ASSERT_EQUAL_STRING("beside\nerr\no\nout\n", out);
}

static void test_other_users_keep_theirs(void)
{
    if (geteuid() != 0)
        TEST_IGNORE_MESSAGE("only root can give files away");
    EXPECT(0, "touch f.ordeal-tmp-123456; mkdir d.ordeal-tmp-123456; chown 12345 *.ordeal-tmp-*");
    sweep();
    TEST_ASSERT_TRUE(there("f.ordeal-tmp-123456") && there("d.ordeal-tmp-123456"));
}

static void test_room_is_private(void)
{
    struct temporary t;
    struct why why;
    struct stat s;
    setenv("TMPDIR", ".", 1);
    TEST_ASSERT_TRUE(temporary_room(&t, "room", &why));
    TEST_ASSERT_EQUAL('/', t.path[0]);
    TEST_ASSERT_EQUAL(0, stat(t.path, &s));
    TEST_ASSERT_EQUAL_HEX(0700, s.st_mode & 07777);
    TEST_ASSERT_EQUAL(FD_CLOEXEC, fcntl(t.lock, F_GETFD));
    temporary_remove(&t);
    EXPECT(0, "! ls | grep ordeal-tmp");
}

static void test_unusable_directory_is_named(void)
{
    struct temporary t;
    struct why why;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    TEST_ASSERT_FALSE(temporary_room(&t, "room", &why));
    TEST_ASSERT_EQUAL_STRING("no temporary folder can be made in '/nowhere/at/all', which TMPDIR "
                             "names: No such file or directory",
                             why.text);
    temporary_remove(&t);
    EXPECT(2, "TMPDIR=/nowhere $ORDEAL run --target elf --machine qemu --count 1");
    ERR("in '/nowhere', which TMPDIR names: No such file");
    EXPECT(2, "touch file; TMPDIR=$PWD/file $ORDEAL run --target elf --machine qemu --count 1");
    ERR("/file', which TMPDIR names: Not a directory");
}

/* A name may be as long as names can be: the temporary one is cut. */
static void test_longest_name(void)
{
    char name[NAME_MAX + 1];
    struct output out;
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    TEST_ASSERT_EQUAL(0, output_open(&out, name));
    TEST_ASSERT_EQUAL(0, output_commit(&out));
    TEST_ASSERT_TRUE(there(name));
}

/* ---- the program ---------------------------------------------------------------------------- */

#define ENDLESS \
    "$ORDEAL run --target model --count 100000000 -o t.trace & pid=$!; " \
    "while ! ls | grep -q ordeal-tmp && [ $((i=i+1)) -lt 3000 ]; do sleep 0.01; done; kill -KILL $pid; wait $pid; "

static void test_next_run_cleans(void)
{
    EXPECT(137, ENDLESS);
    EXPECT(0, "ls | grep -q t.trace.ordeal-tmp-");
    EXPECT(0, "$ORDEAL run --target model -o u.trace && ! ls | grep ordeal-tmp");
}

static void test_clean_removes(void)
{
    EXPECT(137, "mkdir kept kept/test-000000; cd kept/test-000000; " ENDLESS);
    EXPECT(0, "ls kept/test-000000 | grep -q t.trace.ordeal-tmp-");
    EXPECT(0, "$ORDEAL clean --dry-run kept && ls kept/test-000000 | grep -q ordeal-tmp");
    OUT("would remove kept/test-000000/t.trace.ordeal-tmp-");
    EXPECT(0, "$ORDEAL clean");
    EXPECT(0, "$ORDEAL clean kept && ! ls kept/test-000000 | grep ordeal-tmp");
    OUT("removed kept/test-000000/t.trace.ordeal-tmp-");
    EXPECT(0, "$ORDEAL clean kept");
    TEST_ASSERT_EQUAL_STRING("", out);
    EXPECT(2, "$ORDEAL clean nowhere");
    ERR("nowhere: No such file or directory");
}

/* Without names it looks where runs work. */
static void test_clean_knows_where(void)
{
    EXPECT(0, "mkdir tmp ordeal-failures ordeal-failures/test-000000 other && "
              "touch a.ordeal-tmp-123456 ordeal-failures/test-000000/b.ordeal-tmp-123456 "
              "other/c.ordeal-tmp-123456 && mkdir tmp/elf.ordeal-tmp-123456 "
              "ordeal-failures/.test-000001.ordeal-tmp-123456 && "
              "touch ordeal-failures/.test-000001.ordeal-tmp-123456/seed");
    EXPECT(0, "TMPDIR=tmp $ORDEAL clean | sort");
    TEST_ASSERT_EQUAL_STRING("removed a.ordeal-tmp-123456\n"
                             "removed ordeal-failures/.test-000001.ordeal-tmp-123456\n"
                             "removed ordeal-failures/test-000000/b.ordeal-tmp-123456\n"
                             "removed tmp/elf.ordeal-tmp-123456\n",
                             out);
    EXPECT(0, "find . -name '*ordeal-tmp*'");
    TEST_ASSERT_EQUAL_STRING("./other/c.ordeal-tmp-123456\n", out);
}

/* What a killed process had started dies a moment later, and may have its lock or write there until then. */
#define CLEANED \
    "i=0; while $ORDEAL clean && ls tmp | grep -q . && [ $((i=i+1)) -lt 1000 ]; do sleep 0.01; done; " \
    "test -z \"$(ls tmp)\" && "

/* Of a run that was killed while QEMU was at work, and of one that still is. The files in its folder come
 * and go with each test; the folder stays. */
static void test_rooms_of_killed_runs(void)
{
    EXPECT(137, "mkdir tmp; export TMPDIR=$PWD/tmp; "
                "$ORDEAL run --target elf --machine qemu --count 1000 -o t.trace & pid=$!; "
                "while ! ls tmp/*/test.elf && [ $((i=i+1)) -lt 3000 ]; do sleep 0.01; done; "
                "TMPDIR=$PWD/tmp $ORDEAL clean; ls -d tmp/elf.ordeal-tmp-* >still; "
                "kill -KILL $pid; wait $pid");
    EXPECT(0, "test -s still && ls tmp/elf.ordeal-tmp-*");
    EXPECT(0, "export TMPDIR=$PWD/tmp; " CLEANED "true");
}

/* The script that builds models has its folder locked as the program does. It is killed with all that it
 * started: a session of its own does not need a terminal, as the shell's job control does. */
static void test_models_that_are_built(void)
{
    EXPECT(0, "mkdir tmp; export TMPDIR=$PWD/tmp; "
              "setsid $HOME_OF_TESTS/sim/build -o x.so h1-s1-w1-l4-b1-q1 & pid=$!; "
              "while ! ls tmp/*/soc.vh && [ $((i=i+1)) -lt 3000 ]; do sleep 0.01; done; "
              "$ORDEAL clean; ls tmp >still; "
              "kill -s KILL -- -$pid || exit 9; " CLEANED "test -s still");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_those_of_the_dead_go);
    RUN_TEST(test_making_one_sweeps);
    RUN_TEST(test_lock_lasts);
    RUN_TEST(test_nothing_else_goes);
    RUN_TEST(test_links_in_a_folder_are_not_followed);
    RUN_TEST(test_mounts_are_not_entered);
    RUN_TEST(test_other_users_keep_theirs);
    RUN_TEST(test_room_is_private);
    RUN_TEST(test_unusable_directory_is_named);
    RUN_TEST(test_longest_name);
    RUN_TEST(test_next_run_cleans);
    RUN_TEST(test_clean_removes);
    RUN_TEST(test_clean_knows_where);
    RUN_TEST(test_rooms_of_killed_runs);
    RUN_TEST(test_models_that_are_built);
    return UNITY_END();
}
