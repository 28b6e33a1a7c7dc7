/* SPDX-License-Identifier: Apache-2.0 */
/* A test on somebody's simulator: its command line from a template, its signature from a file. */
#include "elf_machine.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/plain_file.h"
#include "base/text.h"
#include "elf_build.h"
#include "signature.h"

enum { MOST_WORDS = 256 };

enum place { ELF, SIGNATURE, HARTS, ISA, SEED, HEX, TOHOST, BEGIN, END, PLACES };
static const char *const places[PLACES] = {
    [ELF] = "{elf}",       [SIGNATURE] = "{signature}",
    [HARTS] = "{harts}",   [ISA] = "{isa}",
    [SEED] = "{seed}",     [HEX] = "{hex}",
    [BEGIN] = "{begin}",   [END] = "{end}",
    [TOHOST] = "{tohost}",
};

struct words { char *word[MOST_WORDS + 1]; size_t count; };

static void words_free(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->word[i]);
}

/* Which of the places the text begins with; PLACES: none. */
static int place_at(const char *text)
{
    int i = 0;
    while (i < PLACES && strncmp(text, places[i], strlen(places[i])) != 0)
        i++;
    return i;
}

/* One word, up to a blank outside quotes; *text moves behind it. */
static bool next_word(FILE *out, const char **text, const char *const *values, struct why *why)
{
    char quote = 0;
    const char *t = *text;
    for (; *t && (quote || !isspace((unsigned char)*t)); t++) {
        int place = place_at(t);
        if (place < PLACES) {
            fputs(values[place], out);
            t += strlen(places[place]) - 1;
        } else if (quote ? *t == quote : *t == '\'' || *t == '"') {
            quote = quote ? 0 : *t;
        } else {
            fputc(*t, out);
        }
    }
    if (quote)
        why_say(why, "the command has no closing %c: %s", quote, *text);
    *text = t;
    return !quote;
}

static bool split(struct words *w, const char *template, const char *const *values,
                  struct why *why)
{
    *w = (struct words){ .count = 0 };
    for (;;) {
        while (isspace((unsigned char)*template))
            template++;
        if (!*template)
            return true;
        if (w->count == MOST_WORDS)
            return why_say(why, "the command has more than %d words", MOST_WORDS);
        size_t length;
        FILE *out = text_stream(&w->word[w->count], &length);
        bool fine = out && next_word(out, &template, values, why);
        if (out && fclose(out) == 0)
            w->count++;
        else
            why_say(why, "out of memory");
        if (!out || !fine)
            return false;
    }
}

bool elf_command_possible(const char *template, struct why *why)
{
    struct words w;
    bool fine = split(&w, template, places, why);
    if (fine && w.count == 0) {
        why_say(why, "the command is empty");
        fine = false;
    }
    if (fine && !strstr(template, places[ELF]) && !strstr(template, places[HEX]))
        fine = why_say(why, "the command never says %s or %s: the program to run", places[ELF],
                       places[HEX]);
    if (fine && !strstr(template, places[SIGNATURE]))
        fine = why_say(why, "the command never says %s: the file to save its signature in",
                       places[SIGNATURE]);
    if (fine && !child_exists(w.word[0])) {
        why_say(why,
                "%.900s is no program: not on PATH, or not "
                "executable",
                w.word[0]);
        fine = false;
    }
    words_free(&w);
    return fine;
}

/* What the command left there, if that is a file. */
static bool read_signature(struct elf_job *job, const char *signature, struct why *why)
{
    const char *reason;
    FILE *file = plain_file_open(signature, &reason);
    if (!file)
        return why_say(why, "%s", reason);
    bool fine = signature_read(fileno(file), job->signature_length, &job->bytes, &job->length, why);
    fclose(file);
    return fine;
}

/* What it left of a signature tells where it was. */
static enum target_result describe_hang(struct elf_job *job, const char *signature,
                                        struct why *why)
{
    struct why unread;
    if (read_signature(job, signature, &unread))
        return elf_hung(job, why);
    why_say(why,
            "the machine hangs, as it seems: the command did not end within %g s and left no "
            "signature that says where it was",
            job->timeout);
    return TARGET_BROKE;
}

static enum target_result collect(struct elf_job *job, const char *signature, struct why *why)
{
    struct why reason;
    if (access(signature, F_OK) != 0) {
        why_say(why, "the command ended well, but wrote no signature");
        return TARGET_FAILED;
    }
    if (read_signature(job, signature, &reason))
        return TARGET_DONE;
    why_say(why, "the signature it wrote is of no use: %.900s", reason.text);
    return TARGET_FAILED;
}

/* Has it left a signature that tells what became of the test? */
static bool is_unfinished(struct elf_job *job, const char *signature)
{
    struct why unread;
    return read_signature(job, signature, &unread)
        && signature_unfinished(job->bytes, job->length, job->p);
}

static enum target_result run_to_its_end(struct elf_job *job, struct child *child, const char *name,
                                         const char *signature, const char *log, struct why *why)
{
    switch (child_wait(child, job->timeout)) {
    case CHILD_STOPPED: return TARGET_STOPPED;
    case CHILD_HUNG: return describe_hang(job, signature, why);
    default: break;
    }
    if (child->status == 0)
        return collect(job, signature, why);
    if (is_unfinished(job, signature)) /* it ended so because the program did */
        return TARGET_DONE;
    child_obituary(child, name, log, why);
    return TARGET_FAILED;
}

/* What the template asks for: the text of each place, and the file of {hex}. */
struct filling {
    char elf[4096], hex[4096], signature[4096];
    char harts[16], seed[24], tohost[24], begin[24], end[24];
    const char *values[PLACES];
};

static enum target_result fill(struct filling *f, const struct elf_job *job, const char *template,
                               struct why *why)
{
    struct elf_symbols at = { 0 };
    snprintf(f->elf, sizeof f->elf, "%s/test.elf", job->directory);
    snprintf(f->hex, sizeof f->hex, "%s/test.hex", job->directory);
    snprintf(f->signature, sizeof f->signature, "%s/signature", job->directory);
    if (!elf_build_symbols(f->elf, job->f->ram, &at, why))
        return TARGET_FAILED;
    snprintf(f->harts, sizeof f->harts, "%" PRIu32, job->p->threads);
    snprintf(f->seed, sizeof f->seed, "%" PRIu64, job->seed);
    snprintf(f->tohost, sizeof f->tohost, "0x%" PRIx64, at.tohost);
    snprintf(f->begin, sizeof f->begin, "0x%" PRIx64, at.begin);
    snprintf(f->end, sizeof f->end, "0x%" PRIx64, at.end);
    const char *values[PLACES] = {
        [ELF] = f->elf,
        [SIGNATURE] = f->signature,
        [HARTS] = f->harts,
        [SEED] = f->seed,
        [HEX] = f->hex,
        [TOHOST] = f->tohost,
        [BEGIN] = f->begin,
        [END] = f->end,
        [ISA] = job->f->xlen == 64 ? "rv64ima" : "rv32ima",
    };
    memcpy(f->values, values, sizeof values);
    return strstr(template, places[HEX]) ? elf_build_hex(job->directory, why) : TARGET_DONE;
}

enum target_result elf_command_run(struct elf_job *job, const char *template, struct why *why)
{
    char log[4096];
    struct filling f;
    struct words w;
    struct child child;
    enum target_result result = fill(&f, job, template, why);
    if (result != TARGET_DONE)
        return result;
    result = TARGET_FAILED;
    snprintf(log, sizeof log, "%s/run.log", job->directory);
    unlink(f.signature);
    if (split(&w, template, f.values, why) && child_start(&child, w.word, NULL, log, why))
        result = run_to_its_end(job, &child, w.word[0], f.signature, log, why);
    words_free(&w);
    return result;
}
