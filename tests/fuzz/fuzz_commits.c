/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the reader of commit logs. */
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reader(data, size, ORDEAL_FORMAT_COMMITS);
}
