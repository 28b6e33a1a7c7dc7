/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for OpenOCD's Tcl port and the board behind it: whatever is answered, command by
 * command. An input that begins with an odd byte has its first answers right, or little would ever
 * be asked. Reasons are fit to be printed. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soc.h"
#include "targets/board/board_jtag.h"
#include "targets/board/tcl_port.h"

enum { END = 0x1a };

static void check_reason(const char *text)
{
    if (!*text)
        abort();
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            abort();
}

/* One packet is one answer: the port reads no further than its end. */
static void answer_all(int fd, const uint8_t *data, size_t size)
{
    static const char *const right[] = { "OK running\x1a", "OK \x1a",
                                         "OK 2 16 2 4 8 4 65536 4096 16 0 4 16384 1 0 0 0\x1a" };
    for (size_t i = 0; size && data[0] % 2 && i < 3; i++)
        send(fd, right[i], strlen(right[i]), MSG_DONTWAIT);
    for (size_t at = 1; at < size;) {
        const uint8_t *end = memchr(data + at, END, size - at);
        size_t length = end ? (size_t)(end - data) + 1 - at : size - at;
        if (send(fd, data + at, length, MSG_DONTWAIT) < 0)
            break;
        at += length;
    }
    shutdown(fd, SHUT_WR);
}

static void use(struct board_jtag *b)
{
    const struct soc_interface *soc = board_jtag_interface(b);
    struct soc *s = soc->create(soc);
    uint32_t words[300] = { 0 };
    struct soc_hart state;
    soc->reset(s, &(struct soc_setup){ .model = SOC_TSO, .seed = 1 });
    soc->write_code(s, 0, 0, words, 300);
    for (int i = 0; i < 4 && !soc->lost(s) && !soc->done(s); i++) {
        soc->step(s, 1000);
        while (soc->read_capture(s, words, 5 + (size_t)i * 50))
            continue;
    }
    soc->hart(s, 0, &state);
    soc->read_memory(s, 0, words, 300);
    if (soc->lost(s))
        check_reason(soc->lost(s));
    soc->destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2], bytes = 1 << 20;
    struct why why = { "" };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    answer_all(ends[1], data, size);
    struct tcl_port *tcl = tcl_adopt(ends[0], 0.05, &why);
    struct board_jtag *b = tcl ? board_jtag_new(tcl, &why) : NULL;
    if (b)
        use(b);
    else
        check_reason(why.text);
    board_jtag_free(b);
    close(ends[1]);
    return 0;
}
