/* SPDX-License-Identifier: Apache-2.0 */
#include "saved.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "tell/failure_signature.h"
#include "tell/picture.h"
#include "tell/output_line.h"
#include "tell/tell.h"

struct folder { const char *path; struct why *why; };

/* ---- files ------------------------------------------------------------------------------- */

struct file { struct output out; char name[PATH_MAX]; };

static bool file_open(const struct folder *f, struct file *file, const char *name)
{
    snprintf(file->name, sizeof file->name, "%s/%s", f->path, name);
    int error = output_open(&file->out, file->name);
    return !error || why_say(f->why, "%s: %s", file->name, strerror(error));
}

/* `whole`: everything was put in; what the file thinks of it is asked here. */
static bool file_close(const struct folder *f, struct file *file, bool whole)
{
    if (!whole) {
        int error = errno;
        bool broken = ferror(file->out.file);
        output_abandon(&file->out);
        return why_say(f->why, "%s: %s", file->name,
                       broken && error ? strerror(error) : "out of memory");
    }
    int error = output_finish(&file->out);
    return !error || why_say(f->why, "%s: %s", file->name, strerror(error));
}

/* All that was put into it is on the disk after this. */
static bool sync_folder(const struct folder *f)
{
    int error = output_sync_folder(f->path);
    return !error || why_say(f->why, "%s: %s", f->path, strerror(error));
}

static bool put_trace(const struct folder *f, const char *name, const struct ordeal_trace *t)
{
    struct file file;
    return file_open(f, &file, name)
        && file_close(f, &file, ordeal_write_text(t, file.out.file) == ORDEAL_OK);
}

static bool put_bias(const struct folder *f, const struct bias *bias)
{
    struct file file;
    return !bias
        || (file_open(f, &file, SAVED_BIAS)
            && file_close(f, &file, bias_write(bias, file.out.file, false)));
}

static bool put_seed(const struct folder *f, uint64_t seed)
{
    struct file file;
    return file_open(f, &file, "seed")
        && file_close(f, &file, fprintf(file.out.file, "%" PRIu64 "\n", seed) > 0);
}

/* ---- the replay -------------------------------------------------------------------------- */

static void write_replay(const struct saved_run *run, FILE *out)
{
    struct saved_run_words words;
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    fputs("#!/bin/sh\n"
          "# Runs the test of this folder again. Options may be added; ORDEAL names the program.\n"
          "here=$(dirname \"$0\")\n"
          "ordeal=$ORDEAL\n"
          "[ \"$ordeal\" ] || ordeal=", out);
    saved_run_quote(length > 0 ? program : "ordeal", out);
    fputs("\ncommand -v \"$ordeal\" >/dev/null || ordeal=ordeal\nexec \"$ordeal\"", out);
    saved_run_words(run, &words);
    for (size_t i = 0; i + 1 < words.count; i++) {
        fputc(' ', out);
        saved_run_quote(words.word[i], out);
    }
    fprintf(out, " \"$here/%s\" \"$@\"\n", words.word[words.count - 1]);
}

static bool put_replay(const struct folder *f, const struct saved_run *run)
{
    struct file file;
    if (!file_open(f, &file, SAVED_REPLAY))
        return false;
    write_replay(run, file.out.file);
    struct stat now;
    if (fstat(fileno(file.out.file), &now) == 0) /* who may read it may run it */
        fchmod(fileno(file.out.file), now.st_mode | (now.st_mode & 0444) >> 2);
    return file_close(f, &file, true);
}

static bool put_run(const struct folder *f, const struct saved_run *run)
{
    struct file file;
    return file_open(f, &file, SAVED_RUN)
        && file_close(f, &file, saved_run_write(run, file.out.file));
}

/* ---- what is to be said of a trace that lies in the folder ------------------------------- */

struct account {
    const struct folder *folder;
    const char *machine, *profile, *from;
    struct input in;
    struct ordeal_verdict *verdict;
    struct naming names;
    struct proof proof;
    struct explanation why;
};

static bool put_explanation(struct account *a)
{
    struct file file;
    if (!file_open(a->folder, &file, SAVED_EXPLANATION))
        return false;
    struct told told = {
        .in = &a->in, .verdict = a->verdict, .why = &a->why, .out = file.out.file
    };
    return file_close(a->folder, &file, tell_verdict(&told));
}

static bool put_line(struct account *a, const cJSON *line, const char *name, bool json)
{
    struct file file;
    return file_open(a->folder, &file, name)
        && file_close(a->folder, &file, output_line_write(line, json, file.out.file));
}

/* The title is for whoever lists folders; a line of text has the same in other words. */
static bool put_signed(struct account *a, cJSON *line, const struct failure_signature *s)
{
    output_line_signature(line, s);
    if (!put_line(a, line, "verdict.txt", false))
        return false;
    if (*s->title)
        cJSON_AddStringToObject(line, "title", s->title);
    return put_line(a, line, SAVED_VERDICT, true);
}

static bool put_verdict(struct account *a)
{
    struct failure_signature s;
    cJSON *line = output_line_new(verdict_words[ORDEAL_FAIL], &a->in);
    cJSON_AddStringToObject(line, "model", ordeal_model_name(ordeal_verdict_model(a->verdict)));
    output_line_machine(line, a->machine);
    output_line_profile(line, a->profile);
    output_line_from(line, a->from);
    output_line_counters(line, a->verdict);
    cJSON_AddBoolToObject(line, "certified", true);
    output_line_core(line, a->in.trace, a->verdict);
    output_line_reason(line, &a->in, a->verdict);
    failure_signature_of_verdict(&s, a->in.trace, a->verdict);
    bool done = put_signed(a, line, &s);
    failure_signature_free(&s);
    cJSON_Delete(line);
    return done;
}

/* A load that saw what nobody wrote is one operation: there is nothing to draw. */
static bool put_picture(struct account *a)
{
    struct file file;
    enum ordeal_model model = ordeal_verdict_model(a->verdict);
    char title[128];
    if (a->proof.inferences.count == 0)
        return true;
    snprintf(title, sizeof title, "%s violates %s", a->in.label, ordeal_model_name(model));
    return file_open(a->folder, &file, "picture.svg")
        && file_close(a->folder, &file,
                      picture_write(&a->proof, &a->names, model, title, PICTURE_SVG,
                                    file.out.file));
}

/* A ^C does not keep a failure from being saved: this check is as long as the one that found it. */
static bool judge_again(struct account *a, const char *path, enum ordeal_model model)
{
    struct ordeal_limits none = { 0 };
    struct ordeal_options how = { .model = model };
    struct why *why = a->folder->why;
    enum ordeal_status status = input_open(&a->in, path, ORDEAL_FORMAT_TEXT, &none);
    if (status == ORDEAL_OK) {
        ordeal_set_limits(a->in.o, &none);
        status = input_next(&a->in);
    }
    if (status != ORDEAL_OK)
        return why_say(why, "%s: %s", path, a->in.error.reason);
    a->in.name = a->in.label = SAVED_TRACE;
    if (ordeal_check(a->in.trace, &how, &a->verdict) != ORDEAL_OK)
        return why_say(why, "%s: %s", path, ordeal_last_error(a->in.o)->reason);
    if (ordeal_verdict_result(a->verdict) != ORDEAL_FAIL)
        return why_say(why, "%s: what was saved does not violate %s", path,
                       ordeal_model_name(model));
    a->names = (struct naming){ .trace = a->in.trace, .verdict = a->verdict,
                                .views = model == ORDEAL_PC };
    if (!proof_read(&a->proof, a->verdict)
        || !explain(&a->why, &a->proof, &a->names, model))
        return why_say(why, "%s: out of memory", path);
    return true;
}

/* Of a machine that broke there is no trace to be judged. */
static bool put_finding(const struct folder *folder, const struct saved_failure *f)
{
    struct account a = { .folder = folder, .in = { .name = SAVED_TEST, .label = SAVED_TEST } };
    struct file file;
    struct failure_signature s;
    cJSON *line = output_line_new(verdict_words[ORDEAL_FAIL], &a.in);
    cJSON_AddStringToObject(line, "model", ordeal_model_name(f->model));
    output_line_machine(line, f->machine);
    output_line_profile(line, f->profile);
    output_line_from(line, f->from);
    cJSON_AddBoolToObject(line, "broke", true);
    cJSON_AddStringToObject(line, "reason", f->broke);
    failure_signature_of_break(&s, f->broke);
    bool done = put_signed(&a, line, &s) && file_open(folder, &file, SAVED_EXPLANATION)
             && file_close(folder, &file,
                           fprintf(file.out.file, SAVED_TEST ": the machine broke: %s\n", f->broke)
                               > 0);
    failure_signature_free(&s);
    cJSON_Delete(line);
    return done;
}

static bool put_account(const struct folder *folder, const struct saved_failure *f)
{
    struct account a = {
        .folder = folder, .machine = f->machine, .profile = f->profile, .from = f->from
    };
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder->path, SAVED_TRACE);
    bool done = judge_again(&a, path, f->model) && put_verdict(&a) && put_explanation(&a)
             && put_picture(&a);
    explanation_free(&a.why);
    proof_free(&a.proof);
    ordeal_verdict_free(a.verdict);
    input_close(&a.in);
    return done;
}

/* What it did, and what is to be said of that. */
static bool put_what_it_did(const struct folder *folder, const struct saved_failure *f)
{
    if (!f->trace)
        return put_finding(folder, f);
    return put_trace(folder, SAVED_TRACE, f->trace) && put_account(folder, f);
}

/* ---- the folder -------------------------------------------------------------------------- */

/* The directory and those above it, as far as they are not there. */
static bool make_directory(const char *path, struct why *why)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return why_say(why, "'%.100s' is no name of a directory", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        int error = output_directory(part);
        if (error)
            return why_say(why, "%s: %s", part,
                           error == EEXIST ? "it is not a directory" : strerror(error));
    }
    return true;
}

/* Its place in the directory; a folder that may be gone after a loss of power is not kept. */
static bool sync_place(const struct saved_filling *f, const char *temporary, const char *path,
                       struct why *why)
{
    int error = output_sync(f->directory);
    if (error)
        rename(path, temporary);
    return !error || why_say(why, "%s: %s", f->directory, strerror(error));
}

/* Takes its place, which must be free. Where the file system cannot say so while renaming, an empty
 * folder of ours holds the place. */
static bool rename_to_free(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (mkdir(to, 0777) != 0)
        return false;
    if (rename(from, to) == 0)
        return true;
    int error = errno;
    rmdir(to);
    errno = error;
    return false;
}

static bool settle(const struct saved_filling *f, const char *temporary, char *path, size_t size,
                   struct why *why)
{
    mode_t mask = umask(0);
    umask(mask);
    chmod(temporary, 0777 & ~mask);
    for (unsigned n = 1; ; n++) {
        int length = n == 1 ? snprintf(path, size, "%s/%s", f->directory, f->label)
                            : snprintf(path, size, "%s/%s-%u", f->directory, f->label, n);
        if (length < 0 || (size_t)length >= size)
            return why_say(why, "the name %.60s... in %.200s is too long", f->label, f->directory);
        if (rename_to_free(temporary, path))
            return true;
        if (errno != EEXIST && errno != ENOTEMPTY)
            return why_say(why, "%s: %s", path, strerror(errno));
    }
}

/* In a directory that is there. */
static bool write_in(const struct saved_filling *f, char *path, size_t size, struct why *why)
{
    char name[PATH_MAX];
    struct temporary temporary;
    int length = snprintf(name, sizeof name, "%s/.%s", f->directory, f->label);
    if (length < 0 || (size_t)length >= sizeof name)
        return why_say(why, "the name %.60s... is too long", f->label);
    int error = temporary_folder(&temporary, name);
    if (error)
        return why_say(why, "%s: %s", f->directory, strerror(error));
    struct folder folder = { temporary.path, why };
    bool done = f->fill(f->user, temporary.path, why) && sync_folder(&folder)
             && settle(f, temporary.path, path, size, why)
             && sync_place(f, temporary.path, path, why);
    if (!done)
        temporary_remove(&temporary);
    temporary_release(&temporary);
    return done;
}

bool saved_fill(const struct saved_filling *f, char *path, size_t size, struct why *why)
{
    return make_directory(f->directory, why) && write_in(f, path, size, why);
}

bool saved_put(const char *path, const char *name, bool (*write)(void *user, FILE *out), void *user,
               struct why *why)
{
    struct folder folder = { path, why };
    struct file file;
    return file_open(&folder, &file, name)
        && file_close(&folder, &file, write(user, file.out.file));
}

bool saved_put_replay(const char *path, const struct saved_run *run, struct why *why)
{
    struct folder folder = { path, why };
    return put_replay(&folder, run) && put_seed(&folder, run->how.seed);
}

static bool fill_test(void *user, const char *path, struct why *why)
{
    const struct saved_failure *f = user;
    struct folder folder = { path, why };
    return put_bias(&folder, f->bias) && put_seed(&folder, f->seed)
        && put_trace(&folder, SAVED_TEST, f->test) && put_replay(&folder, f->run)
        && put_run(&folder, f->run) && put_what_it_did(&folder, f);
}

static struct saved_filling filling_of(const struct saved_failure *f, const char *label)
{
    return (struct saved_filling){ f->directory, label, fill_test, (void *)f };
}

bool saved_write(const struct saved_failure *f, char *path, size_t size, struct why *why)
{
    struct saved_filling filling = filling_of(f, f->label);
    return saved_fill(&filling, path, size, why);
}

bool saved_add_small(const struct saved_failure *f, char *path, size_t size, struct why *why)
{
    struct saved_filling small = filling_of(f, SAVED_SMALL);
    return write_in(&small, path, size, why);
}

/* ---- waves ------------------------------------------------------------------------------- */

/* Whoever writes them writes as he likes, with files of his own beside them; in the folder they
 * appear when they are whole and on the disk. */
static bool make_waves(const char *path, const struct saved_waves_maker *maker,
                       const struct temporary *room, struct why *why)
{
    char made[PATH_MAX], place[PATH_MAX];
    snprintf(made, sizeof made, "%s/%s", room->path, SAVED_WAVES);
    snprintf(place, sizeof place, "%s/%s", path, SAVED_WAVES);
    if (!maker->make(maker->user, made, why))
        return false;
    int error = output_sync(made);
    if (!error && rename(made, place) != 0)
        error = errno;
    return !error || why_say(why, "%s: %s", place, strerror(error));
}

bool saved_add_waves(const char *path, const struct saved_waves_maker *maker,
                     const struct waves_view *view, struct why *why)
{
    struct temporary room;
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/.waves", path);
    int error = temporary_folder(&room, name);
    if (error)
        return why_say(why, "%s: %s", path, strerror(error));
    bool good = make_waves(path, maker, &room, why);
    temporary_remove(&room);
    return good && saved_add_view(path, view, why);
}

/* A line of its own in GTKWave's save file could name a program to be run. */
static bool can_be_quoted(const char *path)
{
    for (const char *p = path; *p; p++)
        if (iscntrl((unsigned char)*p) || *p == '"' || *p == '\\')
            return false;
    return true;
}

bool saved_add_view(const char *path, const struct waves_view *view, struct why *why)
{
    struct folder folder = { path, why };
    struct file file;
    char waves[PATH_MAX], whole[PATH_MAX];
    if (saved_is_there(path, SAVED_WAVES, why) != SAVED_THERE
        || saved_is_there(path, SAVED_VIEW, why) == SAVED_REFUSED)
        return false;
    snprintf(waves, sizeof waves, "%s/%s", path, SAVED_WAVES);
    if (!realpath(waves, whole)) /* GTKWave looks for it from where it was started */
        return why_say(why, "%s: %s", waves, strerror(errno));
    if (!can_be_quoted(whole))
        return why_say(why,
                       "%.900s: GTKWave cannot be told a name with a quote, a backslash or a "
                       "control character",
                       whole);
    return file_open(&folder, &file, SAVED_VIEW)
        && file_close(&folder, &file, waves_write_view(view, whole, file.out.file))
        && sync_folder(&folder);
}
