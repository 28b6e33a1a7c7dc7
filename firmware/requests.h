/* SPDX-License-Identifier: Apache-2.0 */
/* What the host may ask (protocol.h), but for ACK, which has no answer: a table of how long each
 * request is, when it may come, and what does it. */
#ifndef FIRMWARE_REQUESTS_H
#define FIRMWARE_REQUESTS_H

#include "firmware.h"

/* Does a request. Its payload is replaced by the answer's, count by the length of that. */
enum protocol_status requests_serve(struct firmware *f, uint32_t type, union protocol_payload *p,
                                    uint32_t *count);

#endif
