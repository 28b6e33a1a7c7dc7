/* SPDX-License-Identifier: Apache-2.0 */
#include "zoo.h"

#include <stddef.h>

#define AREA(ID, NAME, NOTE) static const char area_##ID[] = NAME;
#include "zoo.def"
#undef AREA

static const struct bug_area areas[] = {
#define AREA(ID, NAME, NOTE) { area_##ID, sizeof NOTE > 1 ? NOTE : NULL },
#include "zoo.def"
#undef AREA
    { NULL, NULL }
};

static const struct bug_entry entries[] = {
#define BUG(NUMBER, ID, NAME, AREA, MODELS, WRONG, RESEMBLES, EXPOSED) \
    [NUMBER] = { .name = NAME, .area = area_##AREA, .models = MODELS, .wrong = WRONG, \
                 .resembles = RESEMBLES, .exposed = EXPOSED },
#include "zoo.def"
#undef BUG
};

const struct bug_list zoo = { entries, sizeof entries / sizeof *entries, areas };
