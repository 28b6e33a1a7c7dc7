/* SPDX-License-Identifier: Apache-2.0 */
#include "waves_file.h"

#include <stdio.h>
#include <stdlib.h>

#include <fstapi.h>

#include "tell/waves.h"

void waves_file_write(const char *file, int hart, int cycles, int still)
{
    char scope[32], bits[33];
    void *f = fstWriterCreate(file, 1);
    if (!f)
        exit(2);
    snprintf(scope, sizeof scope, "harts[%d]", hart);
    fstWriterSetScope(f, FST_ST_VCD_MODULE, "soc", NULL);
    fstWriterSetScope(f, FST_ST_VCD_MODULE, scope, NULL);
    fstWriterSetScope(f, FST_ST_VCD_MODULE, "tile", NULL);
    fstHandle valid = fstWriterCreateVar(f, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, 1, "rec_valid_o", 0);
    fstHandle address = fstWriterCreateVar(f, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, 32,
                                           "rec_addr_o [31:0]", 0);
    fstHandle wait = fstWriterCreateVar(f, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, 32,
                                        "wait_addr_o [31:0]", 0);
    for (int cycle = 0; cycle < cycles; cycle++) {
        for (int i = 0; i < 32; i++)
            bits[i] = cycle == 0 ? 'x' : cycle >> (31 - i) & 1 ? '1' : '0';
        bits[32] = '\0';
        fstWriterEmitTimeChange(f, (uint64_t)cycle * TIME_PER_CYCLE);
        fstWriterEmitValueChange(f, valid, cycle == 150 || cycle == 200 ? "1" : "0");
        fstWriterEmitValueChange(f, address, bits);
        fstWriterEmitValueChange(f, wait, "10000000000000000000000001000000");
    }
    fstWriterEmitTimeChange(f, (uint64_t)(cycles + still) * TIME_PER_CYCLE);
    fstWriterClose(f);
}
