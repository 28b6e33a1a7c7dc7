/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include <stdlib.h>

struct judge {
    struct ordeal *o;
    struct machine_claims claims;
    struct ordeal_options how;
    const struct program *p;
    struct ordeal_trace *straight;   /* what is replayed; NULL: this program cannot be */
    struct ordeal_replay *replay;
    uint64_t asked, proved;          /* executions of the program, by replay */
    struct ordeal_error error;
};

/* Where replays seldom succeed, with many threads, they are not worth their time. */
enum { FAIR_CHANCE = 64, WORTH = 4 };

struct judge *judge_new(enum ordeal_model model, const struct machine_claims *claims,
                        const struct ordeal_limits *limits)
{
    struct judge *j = calloc(1, sizeof *j);
    if (!j || !(j->o = ordeal_new(NULL))) {
        free(j);
        return NULL;
    }
    ordeal_set_limits(j->o, limits);
    j->claims = *claims;
    /* Whoever explains a violation looks for its core himself. */
    j->how = (struct ordeal_options){ .model = model, .no_core = true };
    if (claims->visible)
        j->how.algorithm = ORDEAL_CONFLICT;
    return j;
}

static void end_replay(struct judge *j)
{
    ordeal_replay_free(j->replay);
    ordeal_trace_free(j->straight);
    j->replay = NULL;
    j->straight = NULL;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    end_replay(j);
    ordeal_free(j->o);
    free(j);
}

const struct ordeal_error *judge_error(const struct judge *j) { return &j->error; }

void judge_begin(struct judge *j, const struct program *p)
{
    end_replay(j);
    j->p = p;
    j->asked = j->proved = 0;
    /* Where the way or a transaction's fate differs from run to run there is no one trace; and a
     * replay finds an order of its own, not that which was seen. */
    if (!p || p->branches || p->retries || j->claims.visible
        || program_trace(p, 0, NULL, &j->claims, j->o, &j->straight) != ORDEAL_OK)
        return;
    if (ordeal_replay_new(j->straight, j->how.model, &j->replay) != ORDEAL_OK)
        end_replay(j);
}

static enum ordeal_status keep_error(struct judge *j, enum ordeal_status status)
{
    j->error = *ordeal_last_error(j->o);
    j->error.status = status;
    return status;
}

static enum ordeal_status check(struct judge *j, const struct ordeal_trace *trace,
                                enum ordeal_result *result)
{
    struct ordeal_verdict *v = NULL;
    enum ordeal_status status = ordeal_check(trace, &j->how, &v);
    /* The order is not known of all words, or a value that was seen is of several stores. */
    if ((status == ORDEAL_BAD_USAGE || status == ORDEAL_BAD_INPUT)
        && j->how.algorithm == ORDEAL_CONFLICT) {
        struct ordeal_options how = j->how;
        how.algorithm = ORDEAL_AUTO;
        status = ordeal_check(trace, &how, &v);
    }
    *result = status == ORDEAL_OK ? ordeal_verdict_result(v) : ORDEAL_UNDECIDED;
    ordeal_verdict_free(v);
    return status == ORDEAL_OK || status == ORDEAL_LIMIT ? ORDEAL_OK : keep_error(j, status);
}

static bool replay_proves(struct judge *j, const uint64_t *values)
{
    if (!j->replay || (j->asked >= FAIR_CHANCE && j->proved * WORTH < j->asked))
        return false;
    bool proves = ordeal_replay_passes(j->replay, values);
    j->asked++;
    j->proved += proves;
    return proves;
}

enum ordeal_status judge_outcome(struct judge *j, uint64_t iteration, const uint64_t *values,
                                 enum ordeal_result *result)
{
    *result = ORDEAL_PASS;
    if (replay_proves(j, values))
        return ORDEAL_OK;
    struct ordeal_trace *trace;
    enum ordeal_status status = program_trace(j->p, iteration, values, &j->claims, j->o, &trace);
    if (status == ORDEAL_BAD_INPUT) {
        j->error = (struct ordeal_error){ .status = status,
                                          .reason = "values that this test cannot have" };
        return status;
    }
    if (status != ORDEAL_OK)
        return keep_error(j, status);
    status = check(j, trace, result);
    ordeal_trace_free(trace);
    /* The trace is well formed; what the checker does not take is not the values' fault. */
    return status == ORDEAL_BAD_INPUT ? keep_error(j, ORDEAL_BAD_USAGE) : status;
}
