/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction tests: every program of tests/sim runs on the reference machine and on the hardware,
 * on all harts at a time, under each model, with and without delays, with large and tiny caches.
 * The programs say themselves what they expect (tests/sim/test.h). They are assembled here. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iss.h"
#include "machines.h"
#include "rig.h"
#include "unity.h"

enum { GOOD = 0x600d, BAD = 0xbad, HARTS_AT = 0x7f8, CYCLES = 600000 };

static const char *path;       /* of the program at hand */
static char text[1 << 16];
static struct rig_code image;

void setUp(void) {}
void tearDown(void) {}

static void read_text(void)
{
    FILE *f = fopen(path, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, path);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
}

static void assemble(const char *options)
{
    char directory[] = "/tmp/test-sim-XXXXXX", command[1024];
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    snprintf(command, sizeof command,
             "riscv64-unknown-elf-gcc -march=rv32ima_zicsr_zifencei -mabi=ilp32 -nostdlib "
             "-nostartfiles -static -Wl,-Ttext=0,--no-relax,--build-id=none %s %s -o %s/elf && "
             "riscv64-unknown-elf-objcopy -O binary -j .text %s/elf %s/bin",
             options, path, directory, directory, directory);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, system(command), path);
    snprintf(command, sizeof command, "%s/bin", directory);
    FILE *f = fopen(command, "rb");
    TEST_ASSERT_NOT_NULL(f);
    image.count = (uint32_t)fread(image.word, 4, sizeof image.word / 4, f);
    fclose(f);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    TEST_ASSERT_EQUAL_INT(0, system(command));
    TEST_ASSERT_TRUE(image.count > 0);
}

/* ---- what a program asks for, in its comments ----------------------------------------------- */

/* The argument of the n-th line `// key argument`, or NULL. */
static const char *directive(const char *key, int n)
{
    static char line[128];
    char start[32];
    snprintf(start, sizeof start, "\n// %s", key);
    for (const char *p = text; (p = strstr(p, start)) != NULL; p++) {
        const char *after = p + strlen(start);
        if ((*after == ' ' || *after == '\n') && n-- == 0) {
            size_t length = strcspn(after, "\n");
            snprintf(line, sizeof line, "%.*s", (int)length, after);
            return line;
        }
    }
    return NULL;
}

static uint32_t event_of(const char *name)
{
    for (uint32_t e = 0; e < RIG_EVENTS; e++)
        if (strcmp(rig_event_name[e], name) == 0)
            return e;
    TEST_FAIL_MESSAGE(name);
    return 0;
}

/* Lines `// count EVENT n models`. */
static void check_counts(struct rig *r)
{
    const char *line;
    for (int n = 0; (line = directive("count", n)) != NULL; n++) {
        char name[64], models[8] = "STPR", message[256];
        unsigned least;
        TEST_ASSERT_TRUE(sscanf(line, " %63s %u %7s", name, &least, models) >= 2);
        if (!strchr(models, "STPR"[r->setup.model]))
            continue;
        for (uint32_t h = 0; h < r->soc->parameters.harts; h++) {
            snprintf(message, sizeof message, "%s of hart %u; %s, model %c, seed %u, delay %u",
                     name, h, r->soc->name, "STPR"[r->setup.model], r->setup.seed, r->setup.delay);
            TEST_ASSERT_TRUE_MESSAGE(rig_counter(r, h, event_of(name)) >= least, message);
        }
    }
}

/* ---- running -------------------------------------------------------------------------------- */

static void check_marks(struct rig *r)
{
    char message[512];
    for (uint32_t h = 0; h < r->soc->parameters.harts; h++) {
        uint32_t first = rig_mark(r, h, 0);
        if (first == GOOD && rig_marks(r, h) == 1)
            continue;
        TEST_ASSERT_EQUAL_HEX32_MESSAGE(BAD, first, "neither good nor bad");
        uint32_t line = rig_mark(r, h, 1), got = rig_mark(r, h, 2), wanted = rig_mark(r, h, 3);
        if (line == 0)
            snprintf(message, sizeof message, "%s: trap %#x at %#x", path, got, wanted);
        else
            snprintf(message, sizeof message, "%s:%u: %#x, should be %#x", path, line, got, wanted);
        size_t n = strlen(message);
        snprintf(message + n, sizeof message - n, "; hart %u, %s, model %c, seed %u, delay %u", h,
                 r->soc->name, "STPR"[r->setup.model], r->setup.seed, r->setup.delay);
        TEST_FAIL_MESSAGE(message);
    }
}

static void run_once(struct rig *r, const struct soc_setup *setup)
{
    uint32_t harts = r->soc->parameters.harts;
    rig_reset(r, setup, 1024 * (harts + 1));
    rig_poke(r, HARTS_AT, harts);
    for (uint32_t h = 0; h < harts; h++)
        rig_load(r, h, &image);
    rig_run(r, CYCLES);
    check_marks(r);
}

static bool fits(const struct soc_interface *soc)
{
    const char *harts = directive("harts", 0);
    const struct soc_parameters *p = &soc->parameters;
    bool lines = p->sets == 0 || p->sets * p->ways > 1; /* a transaction of one line is none */
    return (!harts || (uint32_t)atoi(harts) <= p->harts) &&
           (!directive("tm", 0) || (p->transactions && lines));
}

static void on_reference(void)
{
    static const uint32_t harts[] = { 1, 2, 4 };
    for (size_t i = 0; i < sizeof harts / sizeof *harts; i++) {
        struct rig r;
        if (!fits(iss_interface(harts[i])))
            continue;
        rig_open(&r, iss_interface(harts[i]));
        for (uint32_t seed = 1; seed <= 10; seed++)
            run_once(&r, &(struct soc_setup){ .seed = seed, .delay = seed % 5 });
        rig_close(&r);
    }
}

static void on_hardware(void)
{
    static const uint32_t delays[] = { 0, 0, 2, 5 };
    for (uint32_t m = 0; m < MACHINES; m++) {
        const struct soc_interface *soc = machine(m);
        struct rig r;
        if (!fits(soc))
            continue;
        assemble(soc->parameters.lean ? "-DLEAN" : "");
        rig_open(&r, soc);
        for (uint32_t model = SOC_SC; model <= SOC_RMO; model++) {
            if (soc->parameters.lean && model != SOC_TSO)
                continue;
            for (uint32_t seed = 0; seed < 4; seed++) {
                run_once(&r, &(struct soc_setup){ .model = model, .seed = seed + 1,
                                                  .delay = delays[seed],
                                                  .visible = seed & 1 });
                if (m == MACHINE_USUAL && delays[seed] == 0) /* else chance has a say */
                    check_counts(&r);
            }
        }
        rig_close(&r);
    }
}

static void program_on_reference(void)
{
    read_text();
    assemble("");
    on_reference();
}

static void program_on_hardware(void)
{
    read_text();
    on_hardware();
}

int main(void)
{
    glob_t found;
    UNITY_BEGIN();
    if (glob("tests/sim/*.S", 0, NULL, &found) != 0) {
        fputs("tests/sim/*.S: not found from here\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char name[128];
        path = found.gl_pathv[i];
        snprintf(name, sizeof name, "%s, reference machine", path);
        UnityDefaultTestRun(program_on_reference, name, __LINE__);
        snprintf(name, sizeof name, "%s, hardware", path);
        UnityDefaultTestRun(program_on_hardware, name, __LINE__);
    }
    globfree(&found);
    return UNITY_END();
}
