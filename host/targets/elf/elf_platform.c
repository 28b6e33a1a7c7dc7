/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_platform.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one table of what can be said of a platform; the presets are those of QEMU's virt. */
static const struct key {
    const char *name;
    size_t offset;
    uint64_t preset, multiple, most;    /* values are multiples of it, and at most so large */
} keys[] = {
#define KEY(FIELD, NAME, PRESET, MULTIPLE, MOST) \
    { NAME, offsetof(struct elf_platform, FIELD), PRESET, MULTIPLE, MOST }
    KEY(ram, "ram", 0x80000000, 4096, UINT64_MAX),
    KEY(clint, "clint", 0x2000000, 4, UINT64_MAX),
    KEY(fault, "fault", 0, 64, UINT64_MAX),
    KEY(first_hart, "first-hart", 0, 1, 4095),
    KEY(way, "way", 4096, 64, 1 << 20),
    KEY(ways, "ways", 8, 1, 64),
    KEY(evict, "evict", 0, 64, 1 << 28),
#undef KEY
};
enum { KEYS = sizeof keys / sizeof *keys };

static uint64_t *field(struct elf_platform *f, const struct key *k)
{
    return (uint64_t *)(void *)((char *)f + k->offset);
}

static bool parse_isa(struct elf_platform *f, const char *isa, struct why *why)
{
    static const char *const bases[] = { "rv32ima", "rv64ima" };
    for (uint32_t i = 0; i < 2; i++) {
        const char *rest = isa + strlen(bases[i]);
        if (strncmp(isa, bases[i], strlen(bases[i])) != 0)
            continue;
        f->xlen = i ? 64 : 32;
        f->flush = strncmp(rest, "_zicbom", 7) == 0;
        rest += f->flush ? 7 : 0;
        f->ztso = strcmp(rest, "_ztso") == 0;
        if (f->ztso || !*rest)
            return true;
    }
    return why_say(why,
                   "there is no ISA '%s'; expected rv32ima or rv64ima, "
                   "followed by _zicbom where the machine can flush cache lines, "
                   "and by _ztso where it promises RVTSO",
                   isa);
}

static bool refuse_setting(const char *text, int length, struct why *why)
{
    why_say(why,
            "'%.*s' says nothing of a platform; expected "
            "KEY=NUMBER, the keys are",
            length, text);
    for (int i = 0; i < KEYS; i++)
        why_add(why, "%s %s", i ? "," : "", keys[i].name);
    return false;
}

static bool parse_setting(struct elf_platform *f, const char *text, size_t length, struct why *why)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;
    for (int i = 0; i < KEYS && equals; i++) {
        const struct key *k = &keys[i];
        if (strlen(k->name) != name || memcmp(k->name, text, name) != 0)
            continue;
        char *end;
        errno = 0;
        uint64_t value = strtoull(equals + 1, &end, 0);
        if (errno || end != text + length || end == equals + 1 || equals[1] == '-'
            || value % k->multiple || value > k->most) {
            return why_say(why, "'%.*s': expected a multiple of %" PRIu64 ", at most 0x%" PRIx64,
                           (int)length, text, k->multiple, k->most);
        }
        *field(f, k) = value;
        return true;
    }
    return refuse_setting(text, (int)length, why);
}

bool elf_platform_parse(struct elf_platform *f, const char *isa, const char *platform,
                        struct why *why)
{
    for (int i = 0; i < KEYS; i++)
        *field(f, &keys[i]) = keys[i].preset;
    if (!parse_isa(f, isa ? isa : "rv64ima", why))
        return false;
    while (platform && *platform) {
        size_t length = strcspn(platform, ",");
        if (!parse_setting(f, platform, length, why))
            return false;
        platform += length + (platform[length] == ',');
    }
    if (f->xlen == 32 && (f->ram | f->clint | f->fault) >> 32)
        return why_say(why, "a 32-bit machine has no address above 0xffffffff");
    if (f->way == 0 || (f->way & (f->way - 1)))
        return why_say(why, "way=%" PRIu64 ": expected a power of two", f->way);
    return true;
}

const char *elf_platform_march(const struct elf_platform *f)
{
    return f->xlen == 64 ? "rv64ima_zicsr" : "rv32ima_zicsr";
}

const char *elf_platform_mabi(const struct elf_platform *f)
{
    return f->xlen == 64 ? "lp64" : "ilp32";
}
