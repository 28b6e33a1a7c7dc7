/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files and folders, and what is left of them when their program was killed.
 *
 * Each is named NAME.ordeal-tmp-XXXXXX and locked (flock) by the process that made it for as long as
 * it is temporary. A lock ends with its process, whatever ended that, and no other process takes
 * over its number; so one with such a name, of this user, that can be locked has lost its owner, and
 * may go. Nothing else is ever removed; no link is followed, and nothing that is mounted is entered.
 *
 * Whoever makes one first removes those beside it that lost their owners. */
#ifndef HOST_TEMPORARY_H
#define HOST_TEMPORARY_H

#include <stdbool.h>

#include "why.h"

struct temporary {
    char *path; /* NULL: there is none */
    int lock;   /* a descriptor that holds it, if the file system has locks */
};

/* An empty file beside `name`, to be renamed to it, and a descriptor to write it through. Returns 0
 * or an errno. */
int temporary_file(struct temporary *t, const char *name, int *descriptor);
/* The same of a folder, which nobody else may enter. */
int temporary_folder(struct temporary *t, const char *name);
/* A folder in the temporary directory: TMPDIR, without it /tmp. The path is absolute. */
bool temporary_room(struct temporary *t, const char *purpose, struct why *why);

/* Makes this process the only one that works on a file, which may be replaced meanwhile, or not be
 * there yet, until temporary_remove(). Another process that has it is waited for, for a second. What
 * is no file, such as a device, can be had by many. False: why not, the name not included. */
bool temporary_hold(struct temporary *t, const char *name, struct why *why);

/* It has got its place, and is temporary no more. Harmless on one that is not there. */
void temporary_release(struct temporary *t);
/* Removes it with what is in it. Harmless on one that is not there. */
void temporary_remove(struct temporary *t);

/* TMPDIR, or /tmp. */
const char *temporary_directory(void);

/* What to do with those in a directory that lost their owners. */
struct temporary_sweep {
    bool dry;    /* remove nothing */
    bool inside; /* also look into the folders of the directory */
    /* Each of them, and 0 or the errno of a removal that failed; NULL: nobody wants to know. */
    void (*tell)(void *user, const char *path, int error);
    void *user;
};
/* Returns 0 or an errno: the directory cannot be read. */
int temporary_sweep(const char *directory, const struct temporary_sweep *how);

#endif
