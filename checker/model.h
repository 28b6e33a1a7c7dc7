/* SPDX-License-Identifier: Apache-2.0 */
/* A memory model is a row of the program order it keeps. The search knows the models by it alone;
 * the certifier has a table of its own. */
#ifndef ORDEAL_MODEL_H
#define ORDEAL_MODEL_H

#include "ordeal.h"

enum { LOAD, STORE };
enum keep { KEEP_NONE, KEEP_SAME_WORD, KEEP_ALL };
/* SPARC's is that of RMO, thesis 2.4.3: transitive, also by memory. RISC-V's are rules 9 to 13 of
 * its preserved program order; with Ztso they only matter behind an SC. */
enum dependence_order { DEPENDENCE_NONE, DEPENDENCE_SPARC, DEPENDENCE_RISCV };

struct model {
    const char *name;
    uint8_t keep[2][2];      /* [kind of the earlier][kind of the later] */
    uint8_t dependence;      /* what registers order: enum dependence_order */
    bool apart;              /* RVWMO: so are two loads of a word that saw different stores */
    uint8_t stricter; /* a model whose every order is one of this, too, and found sooner: it is
                              * tried first; ORDEAL_SC: none */
    bool views;              /* PC: a store lands in each thread's memory on its own (2.4.2) */
    bool transactions;
};

extern const struct model models[ORDEAL_MODELS];

#endif
