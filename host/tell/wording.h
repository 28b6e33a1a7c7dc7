/* SPDX-License-Identifier: Apache-2.0 */
/* Edges, literals and circles of a proof in words. All of it is cut to fit. */
#ifndef HOST_WORDING_H
#define HOST_WORDING_H

#include "naming.h"
#include "proof.h"

/* The rule of an edge within an atomic group: what is before the one is before the other. */
enum { RULE_GROUP = ORDEAL_RULE_COUNT };

enum { SENTENCE = 4096 };

/* One edge as a sentence, the order first and then why, without its rule. */
void explain_edge(const struct ordeal_edge *e, struct naming *n, enum ordeal_model model,
                  char *buffer, size_t size);
/* Whether the rule says it all, without what the edge goes by or rests on. */
bool rule_is_plain(unsigned rule);
/* "P1 S[A]#1 is before P2 S[A]#2", "P2 L[A]=1 did not see P1 S[A]#1" */
int word_literal(struct ordeal_literal l, struct naming *n, char *buffer, size_t size);
/* `count` literals or (`negate`) their opposites, with `joint` between them. */
void word_literals(const struct ordeal_literal *literals, size_t count, bool negate,
                   const char *joint, struct naming *n, char *buffer, size_t size);
/* The last circle in one sentence, for a verdict line. */
void explain_shortly(const struct proof *p, struct naming *n, char *buffer, size_t size);

#endif
