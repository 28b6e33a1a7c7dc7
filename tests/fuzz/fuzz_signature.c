/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for signatures: whatever the bytes are, they are refused with a reason, or make
 * traces. A copy with its header and checksum put right gets behind those checks. */
#include <stdlib.h>
#include <string.h>

#include "targets/elf/signature.h"

static const char text[] =
    "ordeal 1\nseed 3\nP0 S[A]#1\nP0 L[B]\nP0 L[A/64]\nP1 LOOP.BEGIN#2\nP1 SWAP[B]#1+1\n"
    "P1 BRANCH.BEGIN\nP1 L[A+8/8]\nP1 BRANCH.END\nP1 LOOP.END\nP1 CAS[A]?1#3\n";

static struct program program;

static void make_program(struct ordeal *o)
{
    struct ordeal_trace *test;
    struct ordeal_error e;
    FILE *f = fmemopen((void *)text, sizeof text - 1, "r");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "test", ORDEAL_FORMAT_TEXT);
    if (ordeal_reader_next(r, &test) != ORDEAL_OK || !program_compile(&program, test, "test", &e))
        abort();
    ordeal_reader_free(r);
    fclose(f);
}

static void try_signature(const uint8_t *bytes, size_t length)
{
    struct signature s;
    struct why why = { "" };
    if (!signature_open(&s, bytes, length, &program, &why)) {
        if (!why.text[0])
            abort();
        return;
    }
    struct ordeal *o = ordeal_new(NULL);
    struct machine_claims claims = signature_claims(s.xlen, ORDEAL_RMO);
    uint64_t *values = calloc((size_t)s.slots + s.finals + 1, sizeof *values);
    struct extension registers;
    if (!signature_extension(&s, &program, &registers))
        abort();
    for (uint32_t i = 0; i < s.iterations && i < 8; i++) {
        struct ordeal_trace *trace = NULL;
        if (!signature_values(&s, i, &registers, values, &why))
            continue;
        enum ordeal_status status = program_trace(&program, s.first + i, values, &claims, o,
                                                  &trace);
        if (status != ORDEAL_OK && status != ORDEAL_BAD_INPUT)
            abort();
        ordeal_trace_free(trace);
    }
    extension_close(&registers);
    free(values);
    ordeal_free(o);
}

static void repair(uint8_t *bytes, size_t length)
{
    uint8_t header[HEADER_BYTES];
    uint32_t iterations = 0;
    while (signature_length(&program, iterations + 1) <= length)
        iterations++;
    if (length < signature_length(&program, iterations))
        return;
    signature_header(&program, bytes[HEADER_XLEN] & 1 ? 64 : 32, 0, iterations, header);
    header[HEADER_STATE] = STATE_FINISHED;
    memcpy(header + HEADER_FIRST, bytes + HEADER_FIRST, 8);
    memcpy(bytes, header, HEADER_BYTES);
    length = signature_length(&program, iterations);
    uint32_t sum = signature_checksum(bytes, length);
    for (int i = 0; i < 4; i++)
        bytes[HEADER_CHECKSUM + i] = (uint8_t)(sum >> 8 * i);
    try_signature(bytes, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ordeal *o;
    if (!o)
        make_program(o = ordeal_new(NULL));
    uint8_t *copy = malloc(size + 1);
    struct why why = { "" };
    size_t length = size;
    memcpy(copy, data, size);
    if (signature_raw(copy, &length, &why))
        try_signature(copy, length);
    else if (!why.text[0])
        abort();
    memcpy(copy, data, size);
    repair(copy, size);
    free(copy);
    return 0;
}
