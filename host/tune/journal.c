/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "journal_text.h"

struct journal {
    const char *file;
    int descriptor; /* locked: nobody else goes on with it */
    struct journal_text kept;
    char *text;      /* of what was there */
    off_t whole;     /* so far the file is good */
    uint64_t rounds; /* in it */
};

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->descriptor >= 0)
        close(j->descriptor);
    free(j->text);
    free(j);
}

static bool begin_file(const char *file, const struct journal_fact *facts, struct why *why)
{
    struct output out;
    int error = output_open(&out, file);
    if (!error) {
        journal_write_facts(facts, out.file);
        error = output_commit(&out);
    }
    return !error || why_say(why, "%s: %s", file, strerror(error));
}

static bool open_file(struct journal *j, const struct journal_fact *facts, struct why *why)
{
    if (access(j->file, F_OK) != 0 && !begin_file(j->file, facts, why))
        return false;
    j->descriptor = open(j->file, O_RDWR | O_CLOEXEC);
    if (j->descriptor < 0)
        return why_say(why, "%s: %s", j->file, strerror(errno));
    if (flock(j->descriptor, LOCK_EX | LOCK_NB) != 0)
        return why_say(why, "%s: another 'ordeal tune' is at work there", j->file);
    return true;
}

static bool read_file(struct journal *j, struct why *why)
{
    struct stat s;
    if (fstat(j->descriptor, &s) != 0 || !S_ISREG(s.st_mode))
        return why_say(why, "%s: it is not a file", j->file);
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

/* Finds the end of what is whole, and forgets the rest. */
static bool find_end(struct journal *j, struct why *why)
{
    struct journal_text t = j->kept;
    struct tune_round round = { 0 };
    enum journal_found found;
    while ((found = journal_read_round(&t, &round, why)) == JOURNAL_ROUND)
        continue;
    LIST_FREE(&round.tests);
    j->kept.size = t.at;
    j->whole = (off_t)t.at;
    j->rounds = t.rounds;
    return found != JOURNAL_DAMAGED;
}

struct journal *journal_open(const char *file, const struct journal_fact *facts, struct why *why)
{
    struct journal *j = calloc(1, sizeof *j);
    struct why reason;
    if (!j) {
        why_say(why, "out of memory");
        return NULL;
    }
    *j = (struct journal){ .file = file, .descriptor = -1 };
    if (open_file(j, facts, why) && read_file(j, why)) {
        if (journal_read_facts(&j->kept, facts, &reason) && find_end(j, &reason))
            return j;
        why_say(why, "%s: %.900s", file, reason.text);
    }
    journal_close(j);
    return NULL;
}

bool journal_next(struct journal *j, struct tune_round *round)
{
    struct why why;
    return journal_read_round(&j->kept, round, &why) == JOURNAL_ROUND;
}

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

bool journal_add(struct journal *j, const struct tune_round *round, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    assert(j->kept.at == j->kept.size);
    FILE *out = open_memstream(&text, &size);
    bool made = out && journal_write_round(j->rounds, round, out);
    made = out && fclose(out) == 0 && made;
    errno = made ? 0 : ENOMEM;
    bool good = made && ftruncate(j->descriptor, j->whole) == 0
             && lseek(j->descriptor, j->whole, SEEK_SET) == j->whole
             && put(j->descriptor, text, size) && fsync(j->descriptor) == 0;
    if (!good)
        why_say(why, "%s: %s", j->file, strerror(errno));
    free(text);
    j->whole += good ? (off_t)size : 0;
    j->rounds += good;
    return good;
}
