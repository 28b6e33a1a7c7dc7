/* SPDX-License-Identifier: Apache-2.0 */
#include "invariant.h"
#include "model.h"

#include <strings.h>

/*                 earlier: load                      earlier: store
 *                 then load        then store        then load   then store */
/* clang-format off */
const struct model models[ORDEAL_MODELS] = {
    [ORDEAL_SC]  = { "SC",  { { KEEP_ALL,  KEEP_ALL },       { KEEP_ALL,  KEEP_ALL } },
                     .transactions = true },
    [ORDEAL_TSO] = { "TSO", { { KEEP_ALL,  KEEP_ALL },       { KEEP_NONE, KEEP_ALL } },
                     .transactions = true },
    [ORDEAL_PSO] = { "PSO", { { KEEP_ALL,  KEEP_ALL },       { KEEP_NONE, KEEP_SAME_WORD } },
                     .transactions = true },
    [ORDEAL_PC]  = { "PC",  { { KEEP_ALL,  KEEP_ALL },       { KEEP_NONE, KEEP_ALL } },
                     .views = true, .stricter = ORDEAL_TSO },
    [ORDEAL_RMO] = { "RMO", { { KEEP_NONE, KEEP_SAME_WORD }, { KEEP_NONE, KEEP_SAME_WORD } },
                     .dependence = DEPENDENCE_SPARC, .transactions = true,
                     .stricter = ORDEAL_TSO },
    [ORDEAL_RVWMO] = { "RVWMO",
                            { { KEEP_NONE, KEEP_SAME_WORD }, { KEEP_NONE, KEEP_SAME_WORD } },
                     .dependence = DEPENDENCE_RISCV, .apart = true, .transactions = true,
                     .stricter = ORDEAL_RVTSO },
    [ORDEAL_RVTSO] = { "RVTSO",
                            { { KEEP_ALL,  KEEP_ALL },       { KEEP_NONE, KEEP_ALL } },
                     .dependence = DEPENDENCE_RISCV, .transactions = true },
};
/* clang-format on */

const char *ordeal_model_name(enum ordeal_model m)
{
    assert((unsigned)m < ORDEAL_MODELS);
    return models[m].name;
}

bool ordeal_model_parse(const char *name, enum ordeal_model *m)
{
    for (int i = 0; i < ORDEAL_MODELS; i++)
        if (strcasecmp(name, models[i].name) == 0) {
            *m = (enum ordeal_model)i;
            return true;
        }
    return false;
}
