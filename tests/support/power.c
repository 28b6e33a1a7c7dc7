/* SPDX-License-Identifier: Apache-2.0 */
#include "power.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"
#include "base/random.h"
#include "faults/state.h"

/* ---- the log ---------------------------------------------------------------------------------- */

static const struct fault_entry *entry(const struct power_log *l, size_t i)
{
    return (const struct fault_entry *)(l->bytes + l->entries[i]);
}

static const char *words(const struct fault_entry *e) { return (const char *)(e + 1); }

static bool has_name(const struct fault_entry *e)
{
    return e->did == DID_OPEN || e->did == DID_RENAME || e->did == DID_REMOVE
        || e->did == DID_FOLDER;
}

void power_log_free(struct power_log *l)
{
    free(l->bytes);
    free(l->entries);
    free(l->directories);
}

void power_printed(const struct power_log *l, size_t cut, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < cut; i++) {
        const struct fault_entry *e = entry(l, i);
        if (e->did == DID_PRINT && used + e->length < size) {
            memcpy(text + used, words(e), e->length);
            text[used += e->length] = '\0';
        }
    }
}

/* ---- names ------------------------------------------------------------------------------------- */

struct name {
    char path[512];
    uint64_t inode;
    bool folder;
};

struct disk {
    LIST(struct name) names;
};

static struct name *find(struct disk *d, const char *path)
{
    for (size_t i = 0; i < d->names.count; i++)
        if (strcmp(d->names.data[i].path, path) == 0)
            return &d->names.data[i];
    return NULL;
}

static bool set(struct disk *d, const char *path, uint64_t inode, bool folder)
{
    struct name *there = find(d, path), fresh = { .inode = inode, .folder = folder };
    snprintf(fresh.path, sizeof fresh.path, "%s", path);
    if (!there)
        return LIST_PUSH(&d->names, fresh);
    *there = fresh;
    return true;
}

static void drop(struct disk *d, const char *path)
{
    struct name *there = find(d, path);
    if (there)
        *there = d->names.data[--d->names.count];
}

/* With all that is in it. */
static void rename_all(struct disk *d, const char *from, const char *to)
{
    size_t length = strlen(from);
    drop(d, to);
    for (size_t i = 0; i < d->names.count; i++) {
        struct name *n = &d->names.data[i];
        if (strncmp(n->path, from, length) != 0 || (n->path[length] && n->path[length] != '/'))
            continue;
        char rest[512];
        snprintf(rest, sizeof rest, "%s", n->path + length);
        snprintf(n->path, sizeof n->path, "%.255s%.255s", to, rest);
    }
}

static void parent_of(const char *path, char *parent, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(parent, size, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

/* ---- what is sure, and what may be -------------------------------------------------------------- */

/* Names that an entry changes lie in this directory; false: it changes none. */
static bool directory_of(const struct fault_entry *e, char *parent, size_t size)
{
    if (!has_name(e))
        return false;
    const char *name = words(e);
    parent_of(e->did == DID_RENAME ? name + strlen(name) + 1 : name, parent, size);
    return true;
}

/* Was that directory forced to the disk between the two? */
static bool is_synced(const struct power_log *l, size_t from, size_t cut, uint64_t inode)
{
    for (size_t i = from; i < cut; i++)
        if (entry(l, i)->did == DID_SYNC && entry(l, i)->inode == inode)
            return true;
    return false;
}

static bool apply_name(struct disk *d, const struct fault_entry *e)
{
    const char *name = words(e);
    switch (e->did) {
    case DID_OPEN: return set(d, name, e->inode, false);
    case DID_FOLDER: return set(d, name, e->inode, true);
    case DID_REMOVE: drop(d, name); return true;
    default: rename_all(d, name, name + strlen(name) + 1); return true;
    }
}

/* Of each entry that changes names, in which directory: one that the program made, or one that was there
 * before. */
static bool find_directories(struct power_log *l)
{
    struct disk d = { { 0 } };
    bool good = true;
    for (size_t i = 0; good && i < l->count; i++) {
        char parent[512];
        struct stat s;
        if (!directory_of(entry(l, i), parent, sizeof parent))
            continue;
        const struct name *made = find(&d, parent);
        l->directories[i] = made ? made->inode : stat(parent, &s) == 0 ? s.st_ino : 0;
        good = apply_name(&d, entry(l, i));
    }
    LIST_FREE(&d.names);
    return good;
}

bool power_log_read(struct power_log *l, const char *file)
{
    FILE *f = fopen(file, "r");
    struct stat s;
    *l = (struct power_log){ 0 };
    if (!f || fstat(fileno(f), &s) != 0)
        return false;
    size_t size = (size_t)s.st_size;
    l->bytes = malloc(size + 1);
    l->entries = calloc(size / sizeof(struct fault_entry) + 1, sizeof *l->entries);
    l->directories = calloc(size / sizeof(struct fault_entry) + 1, sizeof *l->directories);
    bool good = l->bytes && l->entries && l->directories && fread(l->bytes, 1, size, f) == size;
    fclose(f);
    /* Entries are not aligned in the file: they are copied to where they are. */
    char *aligned = good ? malloc(2 * size + 64) : NULL;
    size_t to = 0;
    for (size_t at = 0; aligned && at < size;) {
        struct fault_entry e;
        memcpy(&e, l->bytes + at, sizeof e);
        memcpy(aligned + to, l->bytes + at, sizeof e + e.length);
        l->entries[l->count++] = to;
        at += sizeof e + e.length;
        to += (sizeof e + e.length + 7) / 8 * 8;
    }
    free(l->bytes);
    l->bytes = aligned;
    return aligned && find_directories(l);
}

/* What is lost of that which is not on the disk yet. */
struct loss {
    bool nothing;
    struct random *chance; /* NULL: all of it */
};

/* All that a directory's fsync has made sure of, and of the others by chance a beginning. */
static bool apply_names(const struct power_log *l, size_t cut, const struct loss *loss,
                        struct disk *d)
{
    bool going_on = true;
    for (size_t i = 0; i < cut; i++) {
        const struct fault_entry *e = entry(l, i);
        if (!has_name(e))
            continue;
        bool sure = loss->nothing || is_synced(l, i + 1, cut, l->directories[i]);
        going_on = going_on && loss->chance && random_below(loss->chance, 4) != 0;
        if ((sure || going_on) && !apply_name(d, e))
            return false;
    }
    return true;
}

/* The file as it is: what was synced, and of what came later by chance all, a part or nothing. */
static bool write_data(const struct power_log *l, size_t cut, const struct loss *loss,
                       uint64_t inode, const char *path)
{
    struct random *chance = loss->chance;
    size_t sure = loss->nothing ? cut : 0;
    for (size_t i = 0; i < cut; i++)
        if (!loss->nothing && entry(l, i)->did == DID_SYNC && entry(l, i)->inode == inode)
            sure = i;
    FILE *f = fopen(path, "w");
    for (size_t i = 0; f && i < cut; i++) {
        const struct fault_entry *e = entry(l, i);
        bool kept = i < sure || (chance && random_below(chance, 2));
        if (e->inode != inode || !kept)
            continue;
        if (e->did == DID_TRUNCATE
            && (fflush(f) != 0 || ftruncate(fileno(f), (off_t)e->offset) != 0))
            return false;
        uint32_t length = i < sure || !chance ? e->length : random_below(chance, e->length + 1);
        if (e->did == DID_WRITE
            && (fseek(f, (long)e->offset, SEEK_SET) != 0
                || fwrite(words(e), 1, length, f) != length))
            return false;
    }
    return f && fclose(f) == 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->path, ((const struct name *)b)->path);
}

/* A name without the folder it lies in is lost with that. */
static bool put_name(const struct power_log *l, size_t cut, const struct loss *loss,
                     const struct name *n, const char *to)
{
    char path[1024], parent[1024];
    struct stat s;
    if (n->path[0] == '/')
        return true; /* of the system's */
    snprintf(path, sizeof path, "%s/%s", to, n->path);
    parent_of(path, parent, sizeof parent);
    if (stat(parent, &s) != 0)
        return true;
    return n->folder ? mkdir(path, 0777) == 0 || errno == EEXIST
                     : write_data(l, cut, loss, n->inode, path);
}

static bool make_left(const struct power_log *l, size_t cut, const struct loss *loss,
                      const char *to)
{
    struct disk d = { { 0 } };
    bool good = mkdir(to, 0777) == 0 && apply_names(l, cut, loss, &d);
    LIST_SORT(&d.names, by_path);
    for (size_t i = 0; good && i < d.names.count; i++)
        good = put_name(l, cut, loss, &d.names.data[i], to);
    LIST_FREE(&d.names);
    return good;
}

bool power_cut(const struct power_log *l, size_t cut, uint64_t seed, const char *to)
{
    struct random random = { 0 };
    struct loss loss = { .chance = seed ? &random : NULL };
    random_seed(&random, seed, cut);
    return make_left(l, cut, &loss, to);
}

bool power_kill(const struct power_log *l, size_t cut, const char *to)
{
    return make_left(l, cut, &(struct loss){ .nothing = true }, to);
}
