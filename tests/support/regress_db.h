/* SPDX-License-Identifier: Apache-2.0 */
/* Databases as `ordeal regress` leaves them, made without it: the tables are those that
 * host/regress/DATABASE.md shows, so that a document and the programs that read by it agree. */
#ifndef SUPPORT_REGRESS_DB_H
#define SUPPORT_REGRESS_DB_H

struct regress_db_plan {
    double when;        /* seconds since 1970: when it began */
    int units;          /* of each run, 20 tests each */
    int causes;         /* buckets, of which the first is in all runs */
    const char *text;   /* in every field that is text; NULL: what is usual there */
    const char *folder; /* of the first bucket's example; NULL: none */
};

/* Ends the program, with words, when something is wrong with the document or the disk. From the root of
 * the sources. An older file is removed. */
void regress_db_make(const char *file, const struct regress_db_plan *plan);
/* Any statements. */
void regress_db_sql(const char *file, const char *sql);

#endif
