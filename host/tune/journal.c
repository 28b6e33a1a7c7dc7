/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/output.h"
#include "base/text.h"
#include "journal_text.h"

struct journal {
    const char *file;
    const struct journal_head *head;
    struct temporary held; /* the file: nobody else goes on with it */
    int descriptor;
    struct journal_text kept;
    char *text;             /* of what was there */
    off_t whole;            /* so far the file is good */
    uint64_t rounds, tests; /* in it */
    double synced;          /* when it was last forced to the disk */
};

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->descriptor >= 0)
        close(j->descriptor);
    temporary_remove(&j->held);
    free(j->text);
    free(j);
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* The head, and `size` bytes of what follows it. */
static bool write_file(struct journal *j, const char *rest, size_t size, struct why *why)
{
    struct output out;
    int error = output_open(&out, j->file);
    if (!error) {
        bool good = journal_write_head(j->head, out.file)
                 && (!size || fwrite(rest, 1, size, out.file) == size);
        error = output_commit(&out);
        error = error || good ? error : EIO;
    }
    return !error || why_say(why, "%s: %s", j->file, strerror(error));
}

static bool open_written(struct journal *j, struct why *why)
{
    if (j->descriptor >= 0)
        close(j->descriptor);
    j->descriptor = open(j->file, O_RDWR | O_CLOEXEC);
    return j->descriptor >= 0 || why_say(why, "%s: %s", j->file, strerror(errno));
}

static bool open_file(struct journal *j, struct why *why)
{
    struct why reason;
    struct stat s;
    if (!temporary_hold(&j->held, j->file, &reason))
        return why_say(why, "%s: %s", j->file, reason.text);
    if (stat(j->file, &s) == 0 && (s.st_size > 0 || !S_ISREG(s.st_mode)))
        return open_written(j, why);
    return write_file(j, NULL, 0, why) && open_written(j, why);
}

static bool read_file(struct journal *j, struct why *why)
{
    struct stat s;
    if (fstat(j->descriptor, &s) != 0 || !S_ISREG(s.st_mode))
        return why_say(why, "%s: it is not a file", j->file);
    free(j->text);
    j->text = malloc((size_t)s.st_size + 1);
    if (!j->text)
        return why_say(why, "out of memory");
    size_t size = 0;
    ssize_t got = 1;
    while (size < (size_t)s.st_size
           && (got = read(j->descriptor, j->text + size, (size_t)s.st_size - size)) > 0)
        size += (size_t)got;
    j->kept = (struct journal_text){ .text = j->text, .size = size };
    return got > 0 || why_say(why, "%s: %s", j->file, got < 0 ? strerror(errno) : "it ended early");
}

/* Finds the end of what is whole, and forgets the rest: also the comparison, if only the search is
 * to be kept. */
static bool find_end(struct journal *j, bool search_only, struct why *why)
{
    struct journal_text t = j->kept, before = t;
    struct journal_entry entry;
    enum journal_found found;
    while ((found = journal_read(&t, &entry, why)) == JOURNAL_ROUND || found == JOURNAL_TEST) {
        if (search_only && found == JOURNAL_ROUND && entry.phase != TUNE_SEARCH)
            break;
        before = t;
    }
    j->kept.size = before.at;
    j->whole = (off_t)before.at;
    j->rounds = before.rounds;
    j->tests = before.tests;
    return found != JOURNAL_DAMAGED;
}

static bool read_head(struct journal *j, bool *grown, struct why *why)
{
    struct why reason;
    if (journal_read_head(&j->kept, j->head, grown, &reason) && find_end(j, *grown, &reason))
        return true;
    return why_say(why,
                   "%s: %.800s. The same command goes on with it; remove it to begin again, or "
                   "name another --output",
                   j->file, reason.text);
}

/* With a head of now, where the one that is there says less. */
static bool renew(struct journal *j, struct why *why)
{
    bool grown;
    return write_file(j, j->text + j->kept.at, j->kept.size - j->kept.at, why)
        && open_written(j, why) && read_file(j, why) && read_head(j, &grown, why);
}

struct journal *journal_open(const char *file, const struct journal_head *head, struct why *why)
{
    struct journal *j = calloc(1, sizeof *j);
    bool grown = false;
    if (!j) {
        why_say(why, "out of memory");
        return NULL;
    }
    *j = (struct journal){ .file = file, .head = head, .descriptor = -1 };
    if (open_file(j, why) && read_file(j, why) && read_head(j, &grown, why)
        && (!grown || renew(j, why)))
        return j;
    journal_close(j);
    return NULL;
}

/* ---- what was kept ---------------------------------------------------------------------------- */

static bool take_kept(struct journal *j, enum journal_found wanted, struct journal_entry *entry)
{
    struct journal_text t = j->kept;
    struct why why;
    if (journal_read(&t, entry, &why) != wanted)
        return false;
    j->kept = t;
    return true;
}

bool journal_next(struct journal *j, struct tune_test *test)
{
    struct journal_entry entry;
    bool kept = take_kept(j, JOURNAL_TEST, &entry);
    if (kept)
        *test = entry.test;
    return kept;
}

/* ---- what is added ---------------------------------------------------------------------------- */

static bool put(int descriptor, const char *text, size_t size)
{
    while (size) {
        ssize_t put = write(descriptor, text, size);
        if (put < 0 && errno != EINTR)
            return false;
        text += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

bool journal_sync(struct journal *j, struct why *why)
{
    j->synced = now_seconds();
    return fsync(j->descriptor) == 0 || why_say(why, "%s: %s", j->file, strerror(errno));
}

/* A kill cannot take away what was written; against a loss of power it is forced to the disk before
 * a round begins, in the end, and else once a second. */
static bool sync_now_and_then(struct journal *j, struct why *why)
{
    return now_seconds() < j->synced + 1 || journal_sync(j, why);
}

static bool append(struct journal *j, const char *text, size_t size, struct why *why)
{
    bool good = ftruncate(j->descriptor, j->whole) == 0
             && lseek(j->descriptor, j->whole, SEEK_SET) == j->whole
             && put(j->descriptor, text, size);
    if (!good)
        return why_say(why, "%s: %s", j->file, strerror(errno));
    j->whole += (off_t)size;
    return true;
}

bool journal_round(struct journal *j, enum tune_phase phase, struct why *why)
{
    struct journal_entry entry;
    char *text = NULL;
    size_t size = 0;
    if (take_kept(j, JOURNAL_ROUND, &entry))
        return entry.phase == phase || why_say(why, "%s: its rounds are others", j->file);
    if (j->kept.at != j->kept.size)
        return why_say(why, "%s: its rounds have more tests", j->file);
    FILE *out = open_memstream(&text, &size);
    bool made = out && journal_write_round(j->rounds, phase, out);
    made = out && fclose(out) == 0 && made;
    bool good = made ? journal_sync(j, why) && append(j, text, size, why)
                     : why_say(why, "out of memory");
    free(text);
    j->rounds += good;
    return good;
}

bool journal_add(struct journal *j, const struct tune_test *test, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    assert(j->kept.at == j->kept.size);
    FILE *out = text_stream(&text, &size);
    bool made = out && journal_write_test(j->tests, test, out);
    made = out && fclose(out) == 0 && made;
    bool good = made ? append(j, text, size, why) : why_say(why, "out of memory");
    free(text);
    j->tests += good;
    return good && sync_now_and_then(j, why);
}
