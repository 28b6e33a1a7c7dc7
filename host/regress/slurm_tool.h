/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's programs (sbatch, squeue, scancel) and the script of a job. What they print is text of others:
 * only numbers and names of states are taken from it, and words are told escaped. */
#ifndef HOST_SLURM_TOOL_H
#define HOST_SLURM_TOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/why.h"

/* Are the programs there? Also forgets what the environment says of them that would hide jobs of ours
 * from us, or make a program wait. */
bool slurm_ready(struct why *why);

/* Runs one to its end, within a deadline; what it says goes to `log`. `anyway`: ^C does not stop it.
 * False: `why`, with its last words. */
bool slurm_run(const char *const *words, const char *log, bool anyway, struct why *why);

/* What `sbatch --parsable` said: the number of a job. False: none. */
bool slurm_read_job(const char *log, uint64_t *job);

/* A line of `squeue` in the format SLURM_LINE: a task of an array. */
#define SLURM_LINE "task %F %K %T %r"
struct slurm_line {
    uint64_t job, index;
    char state[32], reason[80]; /* the reason is fit to be printed */
};
bool slurm_read_line(struct slurm_line *l, const char *text);

/* How a job ended, by the name of its state. */
struct slurm_end {
    const char *state;
    bool final; /* it would end in the same way again */
    const char *words;
};
const struct slurm_end *slurm_find_end(const char *state); /* NULL: it is still there */

/* The script that is every job's. Returns 0 or an errno. */
int slurm_write_script(const char *file, const char *program, const char *here);
/* The words of a task for it. `folder`: what stands in them for the folder of the attempt. */
int slurm_write_words(const char *file, const char *folder, char *const *words);

/* "ordeal-0123456789abcdef": the name of all jobs of a session, and of nobody else's. */
enum { SLURM_NAME = 24 };
bool slurm_new_name(char name[SLURM_NAME]);
bool slurm_is_name(const char *text);

#endif
