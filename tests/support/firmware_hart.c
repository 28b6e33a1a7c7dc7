/* SPDX-License-Identifier: Apache-2.0 */
/* An interpreter of RV32I for the firmware: see firmware_hart.h. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware_hart.h"
#include "firmware_parts.h"
#include "rv_alu.h"

enum { MOST = 10000000 }; /* instructions of a turn */

/* ---- the file ------------------------------------------------------------------------------- */

static uint8_t *contents(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0 && ftell(f) > (long)sizeof(Elf32_Ehdr)) {
        *size = (size_t)ftell(f);
        rewind(f);
        bytes = malloc(*size);
        if (bytes && fread(bytes, 1, *size, f) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (f)
        fclose(f);
    return bytes;
}

static uint32_t symbol(const uint8_t *file, const char *name)
{
    const Elf32_Ehdr *e = (const void *)file;
    const Elf32_Shdr *sections = (const void *)(file + e->e_shoff);
    for (int i = 0; i < e->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB) {
            const Elf32_Sym *s = (const void *)(file + sections[i].sh_offset);
            const char *names = (const char *)file + sections[sections[i].sh_link].sh_offset;
            for (size_t k = 0; k < sections[i].sh_size / sizeof *s; k++)
                if (strcmp(names + s[k].st_name, name) == 0)
                    return s[k].st_value;
        }
    firmware_wrong("lacks a symbol of firmware.ld", 0);
}

struct firmware_hart *firmware_hart_new(const char *path, uint32_t window)
{
    size_t size = 0;
    uint8_t *file = contents(path, &size);
    struct firmware_hart *h = calloc(1, sizeof *h);
    if (!file || !h) {
        fprintf(stderr, "%s: cannot be read; 'make firmware' makes it\n", path);
        abort();
    }
    h->end = symbol(file, "firmware_end");
    h->stack = symbol(file, "bss_end");
    h->bytes = h->end + 4 * window;
    h->ram = malloc(h->bytes);
    if (!h->ram)
        abort();
    memset(h->ram, 0xa5, h->bytes); /* as good as anything for what nobody has written yet */
    const Elf32_Ehdr *e = (const void *)file;
    const Elf32_Phdr *p = (const void *)(file + e->e_phoff);
    for (int i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_LOAD)
            memcpy(h->ram + p[i].p_vaddr, file + p[i].p_offset, p[i].p_filesz);
    free(file);
    firmware_hart_reset(h);
    return h;
}

void firmware_hart_free(struct firmware_hart *h)
{
    if (h)
        free(h->ram);
    free(h);
}

void firmware_hart_reset(struct firmware_hart *h)
{
    h->pc = BOARD_RAM;
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* What monitor.v, devices.v and the USB core make of a register access. */
static void wait(struct firmware_hart *h, uint32_t address)
{
    bool crc = address == BOARD_DEVICES + DEV_CRC || address == BOARD_DEVICES + DEV_CRC_DATA;
    if (crc && h->cycles < h->crc_free)
        h->cycles = h->crc_free;
    h->cycles += address < BOARD_USB ? 2 : address < BOARD_USB + USB_EP0_OUT_BUFFER ? 7 : 1;
    if (address == BOARD_DEVICES + DEV_CRC_DATA)
        h->crc_free = h->cycles + 4;
}

static uint32_t load(struct firmware_hart *h, uint32_t address, uint32_t size)
{
    uint32_t word;
    if (address % size)
        firmware_wrong("loads from where nothing is aligned, register or address", address);
    if (address >= BOARD_DEVICES) {
        if (size != 4)
            firmware_wrong("loads less than a word", address);
        wait(h, address);
        return register_read(address);
    }
    if (address > h->bytes - size)
        firmware_wrong("loads from where there is no RAM, address", address);
    memcpy(&word, h->ram + (address & ~3u), 4);
    return word >> 8 * (address & 3);
}

static void store(struct firmware_hart *h, uint32_t address, uint32_t value, uint32_t size)
{
    if (address % size)
        firmware_wrong("stores to where nothing is aligned, register or address", address);
    if (address >= BOARD_DEVICES) {
        if (size != 4)
            firmware_wrong("stores less than a word", address);
        wait(h, address);
        register_write(address, value);
    } else {
        if (address > h->bytes - size)
            firmware_wrong("stores to where there is no RAM, address", address);
        memcpy(h->ram + address, &value, size);
    }
}

/* ---- instructions --------------------------------------------------------------------------- */

static uint32_t sign(uint32_t value, int bits)
{
    return (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
}

static bool branches(uint32_t funct, uint32_t a, uint32_t b)
{
    bool taken = funct < 2 ? a == b : funct < 6 ? (int32_t)a < (int32_t)b : a < b;
    return taken != (funct & 1);
}

/* True: the watchdog was put off. */
static bool step(struct firmware_hart *h)
{
    if (h->pc % 4 || h->pc >= h->end)
        firmware_wrong("runs away, to", h->pc);
    uint32_t insn = load(h, h->pc, 4), *x = h->registers, next = h->pc + 4, result = 0;
    uint32_t opcode = insn & 0x7f, rd = insn >> 7 & 31, funct = insn >> 12 & 7;
    uint32_t rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31, a = x[rs1], b = x[rs2];
    uint32_t imm = sign(insn >> 20, 12), pending = h->pending, address;
    bool sets = true, kicked = false;
    h->pending = 0;
    h->cycles += 1 + (pending && (pending == rs1 || pending == rs2));
    switch (opcode) {
    case 0x37: result = insn & 0xfffff000; break;
    case 0x17: result = h->pc + (insn & 0xfffff000); break;
    case 0x13: result = rv_compute(funct, funct == 5 && insn >> 30, a, imm); break;
    case 0x33:
        if (insn >> 25 & 1)
            firmware_wrong("multiplies, which the monitor cannot, at", h->pc);
        result = rv_compute(funct, insn >> 30, a, b);
        break;
    case 0x6f:
        result = next;
        next = h->pc + (sign(insn >> 31, 1) << 20 | (insn & 0xff000) | (insn >> 9 & 0x800)
                        | (insn >> 20 & 0x7fe));
        break;
    case 0x67: result = next; next = (a + imm) & ~1u; break;
    case 0x63:
        sets = false;
        if (branches(funct, a, b))
            next = h->pc + (sign(insn >> 31, 1) << 12 | (insn << 4 & 0x800)
                            | (insn >> 20 & 0x7e0) | (insn >> 7 & 0x1e));
        break;
    case 0x03:
        result = load(h, a + imm, 1u << (funct & 3));
        if ((funct & 3) < 2)
            result = funct & 4 ? result & (funct & 1 ? 0xffff : 0xff)
                               : sign(result, funct & 1 ? 16 : 8);
        h->pending = rd;
        break;
    case 0x23:
        sets = false;
        address = a + sign((insn >> 25) << 5 | rd, 12);
        store(h, address, b, 1u << (funct & 3));
        kicked = address == BOARD_DEVICES + DEV_WATCHDOG;
        break;
    case 0x73: sets = rd != 0; break; /* csrw mtvec */
    case 0x0f: sets = false; break;
    default: firmware_wrong("has an instruction that nobody knows, at", h->pc);
    }
    if (next == h->pc)
        firmware_wrong("waits for the watchdog, at", h->pc);
    h->cycles += next != h->pc + 4;
    if (sets && rd)
        x[rd] = result;
    if (rd == 2 && sets && result < h->stack)
        firmware_wrong("overruns its stack, at", h->pc);
    h->pc = next;
    h->instructions++;
    return kicked;
}

void firmware_hart_turn(struct firmware_hart *h)
{
    for (int i = 0; i < MOST; i++)
        if (step(h))
            return;
    firmware_wrong("does not come round its loop, at", h->pc);
}
