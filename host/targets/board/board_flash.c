/* SPDX-License-Identifier: Apache-2.0 */
#include "board_flash.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"

/* OpenOCD's scripts: installed, or in the source tree beside the build. */
static bool find_config(const char *name, char path[PATH_MAX], struct why *why)
{
    static const char *const places[] = { "../share/ordeal/tcl", "../tcl", "../../tcl", NULL };
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    for (const char *const *place = places; slash && *place; place++)
        if (snprintf(path, PATH_MAX, "%s/%s/%s", program, *place, name) < PATH_MAX
            && access(path, R_OK) == 0)
            return true;
    return why_say(why, "the scripts for OpenOCD (tcl/ of the sources, share/ordeal/tcl of an "
                        "installation) are not beside this program: name one by --config");
}

static bool plan_openocd(const struct flash_plan *plan, const char *config, const char *procedure,
                         struct flash_command *c, struct why *why)
{
    const char *file = child_argument(plan->file, c->file, sizeof c->file);
    if (plan->programmer)
        return why_say(why, "--programmer is for .bin files; all others go through OpenOCD");
    if (strpbrk(plan->file, "{}\\"))
        return why_say(why, "a name with braces or a backslash in it cannot be told OpenOCD");
    if (plan->config)
        snprintf(c->config, sizeof c->config, "%s", plan->config);
    else if (!find_config(config, c->config, why))
        return false;
    snprintf(c->script, sizeof c->script, "init; %s {%s}; shutdown", procedure, file);
    c->word[0] = "openocd";
    c->word[1] = "-f";
    c->word[2] = c->config;
    c->word[3] = "-c";
    c->word[4] = c->script;
    c->package = "openocd";
    return true;
}

static bool plan_bin(const struct flash_plan *plan, struct flash_command *c, struct why *why)
{
    const char *programmer = plan->programmer ? plan->programmer : "iceprog";
    const char *file = child_argument(plan->file, c->file, sizeof c->file);
    if (plan->config)
        return why_say(why, "--config is of OpenOCD, which cannot program an iCE40");
    if (strcmp(programmer, "iceprog") == 0) {
        c->word[0] = "iceprog";
        c->word[1] = file;
        c->package = "fpga-icestorm";
    } else if (strcmp(programmer, "tinyprog") == 0) {
        c->word[0] = "tinyprog";
        c->word[1] = "-p";
        c->word[2] = file;
        c->package = NULL;      /* of PyPI */
    } else {
        return why_say(why,
                       "--programmer takes iceprog (an iCE40 behind an FTDI "
                       "chip) or tinyprog (a TinyFPGA BX), not '%s'",
                       programmer);
    }
    return true;
}

bool flash_plan(const struct flash_plan *plan, struct flash_command *c, struct why *why)
{
    const char *dot = strrchr(plan->file, '.');
    *c = (struct flash_command){ 0 };
    if (strlen(plan->file) >= PATH_MAX || (plan->config && strlen(plan->config) >= PATH_MAX))
        return why_say(why, "the name of the file is too long");
    if (dot && strcmp(dot, ".bin") == 0)
        return plan_bin(plan, c, why);
    if (dot && strcmp(dot, ".elf") == 0)
        return plan_openocd(plan, "ordeal-ftdi.cfg", "ordeal_load_firmware", c, why);
    if (dot && strcmp(dot, ".svf") == 0)
        return plan_openocd(plan, "ecp5-ftdi.cfg", "ordeal_program", c, why);
    return why_say(why,
                   "'%.500s' is none of: .bin, a bitstream for an iCE40; "
                   ".svf, one for an ECP5; .elf, firmware",
                   plan->file);
}

bool flash_run(const struct flash_command *c, struct why *why)
{
    pid_t pid;
    int status;
    if (!child_exists(c->word[0]))
        return why_say(why, "'%s' is not installed%s%s%s", c->word[0],
                       c->package ? ": it is in the Debian package '"
                                  : ": 'pipx install tinyprog' does it",
                       c->package ? c->package : "", c->package ? "'" : "");
    int error = posix_spawnp(&pid, c->word[0], NULL, NULL, (char *const *)(uintptr_t)c->word,
                             environ);
    if (error)
        return why_say(why, "%s: %s", c->word[0], strerror(error));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return why_say(why, "%s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return why_say(why, "%s %s %d: is the board connected, and not in use?", c->word[0],
                   WIFEXITED(status) ? "ended with status" : "was killed by signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}
