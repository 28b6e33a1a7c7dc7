/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to be written is on the disk: files before they get their names, then the folder.
 * Here fsync() is this program's own, which notes what it is asked for, and can fail. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/output.h"
#include "checking.h"
#include "graphviz_leaks.h"
#include "targets/elf/elf_build.h"
#include "trial/saved.h"
#include "unity.h"

static char directory[64], file[128];
static const char *watched; /* a name that is not there before what it names is on the disk */

/* ---- fsync ------------------------------------------------------------------------------------- */

enum { MOST = 64 };
static struct synced {
    ino_t inode;
    bool folder, named; /* named: `watched` was there already */
} synced[MOST];
static int syncs, fail_at; /* the how-manieth of them fails; 0: none */

int fsync(int descriptor)
{
    struct stat is;
    TEST_ASSERT_TRUE(syncs < MOST);
    TEST_ASSERT_EQUAL(0, fstat(descriptor, &is));
    synced[syncs++] = (struct synced){ is.st_ino, S_ISDIR(is.st_mode),
                                       watched && access(watched, F_OK) == 0 };
    if (syncs == fail_at) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, descriptor);
}

/* The place in the order, from 0; -1: never. */
static int when(const char *name)
{
    struct stat is;
    TEST_ASSERT_EQUAL_MESSAGE(0, stat(name, &is), name);
    for (int i = 0; i < syncs; i++)
        if (synced[i].inode == is.st_ino)
            return i;
    return -1;
}

/* ---- helpers ----------------------------------------------------------------------------------- */

static void clear(const char *name)
{
    DIR *d = opendir(name);
    for (struct dirent *e; d && (e = readdir(d));) {
        char inner[8192];
        snprintf(inner, sizeof inner, "%s/%s", name, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(inner) != 0)
            clear(inner);
    }
    if (d)
        closedir(d);
    rmdir(name);
}

static int entries(const char *name)
{
    int count = -2;
    DIR *d = opendir(name);
    while (d && readdir(d))
        count++;
    if (d)
        closedir(d);
    return count;
}

void setUp(void)
{
    snprintf(directory, sizeof directory, "/tmp/ordeal-durable-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/file", directory);
    watched = file;
    syncs = fail_at = 0;
}

void tearDown(void) { clear(directory); }

/* ---- a file ------------------------------------------------------------------------------------ */

static int write_file(const char *name)
{
    struct output out;
    TEST_ASSERT_EQUAL(0, output_open(&out, name));
    fputs("something", out.file);
    return output_commit(&out);
}

static void a_file_then_its_name_then_the_folder(void)
{
    TEST_ASSERT_EQUAL(0, write_file(file));
    TEST_ASSERT_EQUAL(2, syncs);
    TEST_ASSERT_EQUAL(0, when(file));
    TEST_ASSERT_FALSE(synced[0].named);
    TEST_ASSERT_EQUAL(1, when(directory));
    TEST_ASSERT_TRUE(synced[1].named);
}

static void a_directory_that_is_made(void)
{
    char made[128];
    snprintf(made, sizeof made, "%s/made", directory);
    TEST_ASSERT_EQUAL(0, output_directory(made));
    TEST_ASSERT_EQUAL(0, when(directory));
    TEST_ASSERT_EQUAL(0, output_directory(made));
    TEST_ASSERT_EQUAL(1, syncs);
    TEST_ASSERT_EQUAL(ENOENT, output_directory("/nonexistent/made"));
}

static void what_did_not_get_to_the_disk_gets_no_name(void)
{
    fail_at = 1;
    TEST_ASSERT_EQUAL(EIO, write_file(file));
    TEST_ASSERT_EQUAL(0, entries(directory));
    fail_at = 2 + syncs;
    TEST_ASSERT_EQUAL(EIO, write_file(file));
}

static void devices_and_standard_output_are_left_alone(void)
{
    TEST_ASSERT_EQUAL(0, write_file("/dev/null"));
    TEST_ASSERT_EQUAL(0, syncs);
}

/* ---- the folder of a test ---------------------------------------------------------------------- */

static char path[4096], small[8192];
static struct why why;

static bool save(const char *in)
{
    static const struct saved_run run = { .target = &target_model, .iterations = 1 };
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *test = trace_of_lines(o, "P0 S[A]#1\nP0 L[A]\n"),
                        *trace = trace_of_lines(o, "P0 S[A]#1\nP0 L[A]=0\n");
    struct saved_failure f = { .directory = in,
                               .label = "test-1",
                               .test = test,
                               .trace = trace,
                               .model = ORDEAL_SC,
                               .run = &run };
    bool good = saved_write(&f, path, sizeof path, &why);
    if (good && in != directory) {
        f.directory = path;
        good = saved_add_small(&f, small, sizeof small, &why);
    }
    ordeal_trace_free(test);
    ordeal_trace_free(trace);
    ordeal_free(o);
    return good;
}

static void a_folder_is_on_the_disk_before_it_has_its_name(void)
{
    char folder[128], name[512];
    int files = 0;
    snprintf(folder, sizeof folder, "%s/test-1", directory);
    watched = folder;
    TEST_ASSERT_TRUE_MESSAGE(save(directory), why.text);
    TEST_ASSERT_EQUAL_STRING(folder, path);
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        if (*e->d_name == '.')
            continue;
        TEST_ASSERT_TRUE_MESSAGE(when(name) >= 0 && when(name) < when(folder), name);
        files++;
    }
    closedir(d);
    TEST_ASSERT_EQUAL(9, files);
    TEST_ASSERT_FALSE(synced[when(folder)].named);
    TEST_ASSERT_TRUE(when(folder) < when(directory));
    TEST_ASSERT_TRUE(synced[when(directory)].named);
}

/* Wherever it fails: it is not said to be saved, and nothing is left that looks like it. */
static void a_folder_that_is_not_is_not_there(void)
{
    TEST_ASSERT_TRUE(save(directory));
    clear(path);
    for (int last = syncs, i = 1; i <= last; i++) {
        syncs = 0;
        fail_at = i;
        TEST_ASSERT_FALSE(save(directory));
        TEST_ASSERT_TRUE_MESSAGE(strstr(why.text, strerror(EIO)) != NULL, why.text);
        TEST_ASSERT_EQUAL(0, entries(directory));
    }
}

static void so_are_directories_that_were_made_and_what_is_added(void)
{
    char deep[128], outer[128], inner[192], test[8300];
    snprintf(outer, sizeof outer, "%s/a", directory);
    snprintf(deep, sizeof deep, "%s/a/b", directory);
    snprintf(inner, sizeof inner, "%s/test-1/small", deep);
    watched = inner;
    TEST_ASSERT_TRUE_MESSAGE(save(deep), why.text);
    TEST_ASSERT_TRUE(when(directory) >= 0 && when(outer) >= 0 && when(deep) >= 0);
    snprintf(test, sizeof test, "%s/test.test", small);
    TEST_ASSERT_TRUE(when(test) > when(deep) && when(test) < when(small));
    TEST_ASSERT_FALSE(synced[when(small)].named);
    TEST_ASSERT_TRUE(synced[syncs - 1].folder && synced[syncs - 1].named);
}

/* ---- programs that are emitted ----------------------------------------------------------------- */

static void so_are_programs_that_are_emitted(void)
{
    char folder[128], elf[256];
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *test = trace_of_lines(o, "P0 S[A]#1\nP0 L[A]\n");
    struct elf_platform platform;
    struct program p;
    struct ordeal_error e;
    TEST_ASSERT_TRUE(program_compile(&p, test, "test", &e));
    TEST_ASSERT_TRUE(elf_platform_parse(&platform, NULL, NULL, &why));
    snprintf(folder, sizeof folder, "%s/emitted", directory);
    snprintf(elf, sizeof elf, "%s/test.elf", folder);
    enum target_result result = elf_build_folder(folder, &p, &platform, 0, 1, 1, &why);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, result, why.text);
    TEST_ASSERT_TRUE(when(elf) >= 0 && when(elf) < when(folder));
    TEST_ASSERT_TRUE(when(folder) < when(directory));
    clear(folder);
    fail_at = syncs + 1;
    TEST_ASSERT_EQUAL(TARGET_FAILED, elf_build_folder(folder, &p, &platform, 0, 1, 1, &why));
    TEST_ASSERT_EQUAL(0, entries(directory));
    program_free(&p);
    ordeal_trace_free(test);
    ordeal_free(o);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(a_file_then_its_name_then_the_folder);
    RUN_TEST(a_directory_that_is_made);
    RUN_TEST(what_did_not_get_to_the_disk_gets_no_name);
    RUN_TEST(devices_and_standard_output_are_left_alone);
    RUN_TEST(a_folder_is_on_the_disk_before_it_has_its_name);
    RUN_TEST(a_folder_that_is_not_is_not_there);
    RUN_TEST(so_are_directories_that_were_made_and_what_is_added);
    RUN_TEST(so_are_programs_that_are_emitted);
    return UNITY_END();
}
