/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that go with every bare-metal test: elf_runtime.S and elf_link.ld, as they were when
 * ordeal was built. */
#ifndef HOST_ELF_RUNTIME_H
#define HOST_ELF_RUNTIME_H

struct elf_text { const char *begin, *end; };

extern const struct elf_text elf_runtime, elf_link;

#endif
