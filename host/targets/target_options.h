/* SPDX-License-Identifier: Apache-2.0 */
/* The options of machines: one table, of which the struct, the command line of `ordeal run` with
 * its help, the refusal of what is not for a target, the words of a replay, and what a kept folder
 * may say of a machine are made. */
#ifndef HOST_TARGET_OPTIONS_H
#define HOST_TARGET_OPTIONS_H

#include <limits.h>
#include <stdint.h>

#include "base/why.h"
#include "ordeal.h"

/* How a replay repeats an option. What is the user's own, a program, a file, a board, a port, may be
 * in the script that he runs himself, but a folder cannot name it: it may come from anywhere. */
enum option_replay {
    REPLAY_AS_GIVEN,
    REPLAY_OWN,
    REPLAY_OWN_FILE, /* as a whole path: the script may begin elsewhere */
    REPLAY_NOT
};

/* OPTION(type, field, name, argument, the targets that know it, replay, help): the type is one of
 * base/options.h; the targets also begin the help. */
/* clang-format off */
#define TARGET_OPTIONS(OPTION) \
    OPTION(text, bug, "bug", "NAME", "model, sim, board", REPLAY_AS_GIVEN, \
           "break the machine on purpose; 'list' shows how") \
    OPTION(text, tm, "tm", "HOW", "model", REPLAY_AS_GIVEN, \
           "transactions look for conflicts 'lazy' or 'eager'") \
    OPTION(text, machine, "machine", "NAME", "elf", REPLAY_AS_GIVEN, "boot the tests on 'qemu'") \
    OPTION(text, command, "command", "TEMPLATE", "elf", REPLAY_OWN, \
           "run each test by this command line; {elf} in it is the program, {hex}\n" \
           "the same for $readmemh, {signature} the file that it is to write, and\n" \
           "there are {tohost}, {begin} and {end} of the signature, {harts}, {isa}\n" \
           "and {seed}") \
    OPTION(text, emit, "emit", "DIR", "elf", REPLAY_OWN, \
           "write the programs there, run nothing") \
    OPTION(text, isa, "isa", "ISA", "elf", REPLAY_AS_GIVEN, "rv32ima or rv64ima; with _ztso the machine promises RVTSO") \
    OPTION(text, platform, "platform", "KEY=VALUE,...", "elf", REPLAY_AS_GIVEN, \
           "where things are on the machine: ram, clint, fault, first-hart,\n" \
           "way, ways; without it as on QEMU's virt; evict: bytes that harts load\n" \
           "in the end, for caches that write back") \
    OPTION(positive, harts, "harts", "N", "sim", REPLAY_AS_GIVEN, \
           "harts of all sizes of the machine, 1 to 16 (default: mostly 4)") \
    OPTION(text, config, "config", "KEY=VALUE,...", "sim", REPLAY_AS_GIVEN, \
           "what all sizes of it are built with: sets, ways and line (in\n" \
           "bytes) of a cache, store-buffer, load-queue, capture-fifo (default\n" \
           "256), transactions (1), checks (1); new ones are built first. lean=1:\n" \
           "the machine of the smallest board, which comes in one size") \
    OPTION(text, sizes, "sizes", "NAMES", "sim", REPLAY_AS_GIVEN, \
           "of the machine, which take turns, by their names: 'usual', which is\n" \
           "h4-s16-w2-l4-b8-q4, or such (harts, sets, ways, words a line, store\n" \
           "buffer, load queue); without it six of 2 to 4 harts") \
    OPTION(text, delay, "delay", "N", "sim, board", REPLAY_AS_GIVEN, \
           "random delays at every queue, from 0, none, to 7, long\n" \
           "and frequent; without it now and then another") \
    OPTION(text, capture, "capture", "HOW", "sim, board", REPLAY_AS_GIVEN, \
           "when its FIFO of records is full a hart does 'stall', or\n" \
           "records are lost: 'lossy' (default: stall)") \
    OPTION(flag, visible, "visible", NULL, "sim, board", REPLAY_AS_GIVEN, \
           "see in which order stores become visible: a faster check\n" \
           "that finds more than software could see") \
    OPTION(text, final, "final", "HOW", "sim, board", REPLAY_AS_GIVEN, \
           "'read' what memory holds when a test is over, and judge that, too,\n" \
           "or 'skip' it (default: on sim read; on a board, where it costs\n" \
           "time on the wire, skip)") \
    OPTION(text, coverage, "coverage", "DIR", "sim", REPLAY_NOT, \
           "count what of the machine is reached; a file for each of those\n" \
           "at work, for verilator_coverage") \
    OPTION(text, soc, "soc", "FILE", "sim", REPLAY_OWN_FILE, \
           "a machine of your own, a shared object with the interface of\n" \
           "sim/soc.h") \
    OPTION(text, serial, "serial", "S", "board", REPLAY_OWN, \
           "the one with this serial number; 'ordeal board list'") \
    OPTION(text, link, "link", "HOW", "board", REPLAY_AS_GIVEN, \
           "over 'usb', or 'jtag' through OpenOCD (default: usb)") \
    OPTION(text, openocd, "openocd", "HOST:PORT", "board", REPLAY_OWN, \
           "Tcl port of the OpenOCD for --link jtag (default:\n" \
           "127.0.0.1:6666)")
/* clang-format on */

#define OPTION_FIELD_text const char *
#define OPTION_FIELD_positive uint64_t
#define OPTION_FIELD_flag bool

struct target_options {
    enum ordeal_model model; /* of the machine */
    bool model_given;
    uint64_t seed;
    double timeout; /* seconds a program may take for one iteration or batch */
    bool quiet;     /* no warnings */
    bool events;    /* count what happens inside, if it can: it takes some time */
    /* Those of the table: NULL, 0, false: not given. */
#define FIELD(TYPE, NAME, ...) OPTION_FIELD_##TYPE NAME;
    TARGET_OPTIONS(FIELD)
#undef FIELD
};

/* False: `why` says which option of the table is not for the target of this name. */
bool target_options_fit(const struct target_options *o, const char *target, struct why *why);

/* Has the target of this name such an option? */
bool target_option_known(const char *target, const char *option);

enum { MOST_OPTION_WORDS = 48 };
/* Those of the table again as words of a command line, for a replay. */
struct target_option_words {
    const char *word[MOST_OPTION_WORDS + 1]; /* ends with NULL */
    char text[512], path[PATH_MAX];
};
void target_option_words(const struct target_options *o, struct target_option_words *w);

/* Those of the table that are given and that a replay repeats, in their order: what follows the one
 * of this name, NULL: the first. The text of a flag is "yes", of what is the user's own NULL. */
struct target_option_told {
    const char *name, *text;
    char number[24];
};
bool target_option_next(const struct target_options *o, struct target_option_told *told);
/* The contrary: sets what a folder says, or, of what is the user's own and so has no text, that it
 * is to be named again: `text` NULL. False: `why`. */
bool target_option_take(struct target_options *o, const char *name, const char *text,
                        struct why *why);
/* Of what has to be named again, the first that is not: its name; NULL: there is none. */
const char *target_option_missing(const struct target_options *o);

#endif
