/* SPDX-License-Identifier: Apache-2.0 */
#include "identity.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/temporary.h"

static const double patience = 20; /* seconds for git */

/* ---- git --------------------------------------------------------------------------------------- */

/* The first line that git prints of a folder; false: it fails, or there is none. */
static bool ask_git(const char *folder, const char *const *words, char *line, size_t size)
{
    const char *argv[16] = { "git", "-C", folder };
    struct temporary room;
    struct child git;
    struct why why;
    char log[PATH_MAX];
    *line = '\0';
    for (int i = 0; words[i]; i++)
        argv[3 + i] = words[i];
    if (!temporary_room(&room, "git", &why))
        return false;
    snprintf(log, sizeof log, "%s/log", room.path);
    bool good = child_start(&git, (char *const *)argv, NULL, log, &why)
             && child_wait(&git, patience) == CHILD_ENDED && WIFEXITED(git.status)
             && WEXITSTATUS(git.status) == 0;
    FILE *in = good ? fopen(log, "re") : NULL;
    good = in && fgets(line, (int)size, in);
    line[strcspn(line, "\n")] = '\0';
    if (in)
        fclose(in);
    temporary_remove(&room);
    return good;
}

static void ask_revision(const char *folder, char *revision, size_t size)
{
    static const char *const head[] = { "rev-parse", "--short=12", "HEAD", NULL };
    static const char *const changed[] = { "status", "--porcelain", "--untracked-files=no",
                                           "--",     ".",           NULL };
    char line[256];
    if (!child_exists("git") || !ask_git(folder, head, revision, size - 1)) {
        *revision = '\0';
        return;
    }
    if (ask_git(folder, changed, line, sizeof line))
        strcat(revision, "+");
}

/* ---- the machine ------------------------------------------------------------------------------- */

static void name_sizes(const struct target *target, const void *machine, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; target->sizes && target->sizes(machine, i) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "",
                                 target->sizes(machine, i));
}

/* "model name : …" of this computer. */
static void name_processor(char *text, size_t size)
{
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "re");
    snprintf(text, size, "this computer");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, size, "%s", strchr(line, ':') + 2);
            break;
        }
    if (in)
        fclose(in);
}

/* What is the same on every computer says nothing of this one. */
static void describe(const struct target *target, const struct target_options *how,
                     const struct machine_identity *id, char *text, size_t size)
{
    char processor[160] = "";
    if (!target->exact && !target->connected)
        name_processor(processor, sizeof processor);
    snprintf(text, size, "%s%s%s%s%s", how->machine ? how->machine : "",
             how->machine && *processor ? " on " : "",
             *processor || how->machine ? processor : target->name, *id->configuration ? " " : "",
             id->configuration);
}

static void hash_options(struct hash *h, const struct target_options *how)
{
    struct target_option_words words;
    target_option_words(how, &words);
    for (const char *const *w = words.word; *w; w++)
        hash_text(h, *w);
}

void machine_identify(const struct target *target, const void *machine,
                      const struct target_options *how, enum ordeal_model model,
                      struct machine_identity *id)
{
    struct hash sources, all;
    char folder[PATH_MAX] = "";
    *id = (struct machine_identity){ 0 };
    name_sizes(target, machine, id->configuration, sizeof id->configuration);
    hash_begin(&sources);
    if (target->sources && target->sources(machine, &sources, folder)) {
        hash_end(&sources, id->sources);
        ask_revision(folder, id->revision, sizeof id->revision);
    }
    describe(target, how, id, id->description, sizeof id->description);
    hash_begin(&all);
    hash_text(&all, ORDEAL_VERSION);
    hash_text(&all, target->name);
    hash_text(&all, ordeal_model_name(model));
    hash_text(&all, id->description);
    hash_text(&all, id->sources);
    hash_options(&all, how);
    hash_end(&all, id->identity);
}
