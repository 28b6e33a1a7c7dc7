/* SPDX-License-Identifier: Apache-2.0 */
/* Waves without a machine: an FST file in which a hart captures something at some cycles. */
#ifndef SUPPORT_WAVES_FILE_H
#define SUPPORT_WAVES_FILE_H

/* So many cycles of the hart's rec_valid_o, which is 1 at cycle 150 and at 200, and of rec_addr_o, which is the
 * number of the cycle and not known at cycle 0; then so many in which nothing moves. Its wait_addr_o never does. */
void waves_file_write(const char *file, int hart, int cycles, int still);

#endif
