/* SPDX-License-Identifier: Apache-2.0 */
/* Snark (Detlefs, Flood, Garthwaite, Martin, Shavit, Steele: Even better DCAS-based concurrent deques,
 * 2000): a deque whose ends change by a compare-and-swap of two words. Two threads each push right, push
 * left, pop right and pop left. Its nodes are used once. That it may pop what is not there, which was
 * found later, takes more operations. */
#include "harness.h"

enum { PUSH_RIGHT = 1, PUSH_LEFT, POP_RIGHT, POP_LEFT, NOTHING = -1 };
struct operation {
    int what, value;
};
static const int threads = 2;
static const struct operation script[2][5] = {
    { { PUSH_RIGHT, 11 }, { PUSH_LEFT, 12 }, { POP_RIGHT, 0 }, { POP_LEFT, 0 } },
    { { PUSH_RIGHT, 21 }, { PUSH_LEFT, 22 }, { POP_RIGHT, 0 }, { POP_LEFT, 0 } },
};

struct object {
    int left, right, value[9]; /* empty where they are the same */
};

static int perform(struct object *o, struct operation op)
{
    switch (op.what) {
    case PUSH_RIGHT: o->value[o->right++] = op.value; return 0;
    case PUSH_LEFT: o->value[--o->left] = op.value; return 0;
    case POP_RIGHT: return o->left < o->right ? o->value[--o->right] : NOTHING;
    default: return o->left < o->right ? o->value[o->left++] : NOTHING;
    }
}

#include "atomically.h"

struct node {
    struct node *_Atomic left, *_Atomic right;
    shared value;
};
static struct node *_Atomic left_hat, *_Atomic right_hat;
static struct node dummy, pool[2][2];

typedef struct node *_Atomic place;

/* Two words at once. */
static bool __VERIFIER_atomic_dcas(place *a, place *b, struct node *old_a, struct node *old_b,
                                   struct node *new_a, struct node *new_b)
{
    bool same = LOAD(*a) == old_a && LOAD(*b) == old_b;
    if (same) {
        STORE(*a, new_a);
        STORE(*b, new_b);
    }
    return same;
}
#define DCAS __VERIFIER_atomic_dcas

static void push_right(struct node *n, int value)
{
    STORE(n->right, &dummy);
    STORE(n->value, value);
    for (;;) {
        struct node *rh = LOAD(right_hat);
        struct node *rhr = LOAD(rh->right);
        if (rhr == rh) {
            STORE(n->left, &dummy);
            struct node *lh = LOAD(left_hat);
            if (DCAS(&right_hat, &left_hat, rh, lh, n, n))
                return;
        } else {
            STORE(n->left, rh);
            if (DCAS(&right_hat, &rh->right, rh, rhr, n, n))
                return;
        }
    }
}

static void push_left(struct node *n, int value)
{
    STORE(n->left, &dummy);
    STORE(n->value, value);
    for (;;) {
        struct node *lh = LOAD(left_hat);
        struct node *lhl = LOAD(lh->left);
        if (lhl == lh) {
            STORE(n->right, &dummy);
            struct node *rh = LOAD(right_hat);
            if (DCAS(&left_hat, &right_hat, lh, rh, n, n))
                return;
        } else {
            STORE(n->right, lh);
            if (DCAS(&left_hat, &lh->left, lh, lhl, n, n))
                return;
        }
    }
}

static int pop_right(void)
{
    for (;;) {
        struct node *rh = LOAD(right_hat);
        struct node *lh = LOAD(left_hat);
        if (LOAD(rh->right) == rh)
            return NOTHING;
        if (rh == lh) {
            if (DCAS(&right_hat, &left_hat, rh, lh, &dummy, &dummy))
                return LOAD(rh->value);
        } else {
            struct node *rhl = LOAD(rh->left);
            if (DCAS(&right_hat, &rh->left, rh, rhl, rhl, rh)) {
                int value = LOAD(rh->value);
                STORE(rh->right, &dummy);
                return value;
            }
        }
    }
}

static int pop_left(void)
{
    for (;;) {
        struct node *lh = LOAD(left_hat);
        struct node *rh = LOAD(right_hat);
        if (LOAD(lh->left) == lh)
            return NOTHING;
        if (lh == rh) {
            if (DCAS(&left_hat, &right_hat, lh, rh, &dummy, &dummy))
                return LOAD(lh->value);
        } else {
            struct node *lhr = LOAD(lh->right);
            if (DCAS(&left_hat, &lh->right, lh, lhr, lhr, lh)) {
                int value = LOAD(lh->value);
                STORE(lh->left, &dummy);
                return value;
            }
        }
    }
}

#define RUBBISH ((struct node *)0x13) /* what memory holds before anybody wrote it */

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    push_right(&pool[me][0], script[me][0].value);
    push_left(&pool[me][1], script[me][1].value);
    result[me][2] = pop_right();
    result[me][3] = pop_left();
    return NULL;
}

int main(void)
{
    static const struct object empty = { .left = 4, .right = 4 };
    pthread_t other;
    for (int i = 0; i < 4; i++) {
        STORE(pool[i / 2][i % 2].left, RUBBISH);
        STORE(pool[i / 2][i % 2].right, RUBBISH);
        STORE(pool[i / 2][i % 2].value, -99);
    }
    STORE(dummy.left, &dummy);
    STORE(dummy.right, &dummy);
    STORE(left_hat, &dummy);
    STORE(right_hat, &dummy);
    pthread_create(&other, NULL, work, (void *)(intptr_t)1);
    work((void *)(intptr_t)0);
    pthread_join(other, NULL);
    check_results(&empty);
}
