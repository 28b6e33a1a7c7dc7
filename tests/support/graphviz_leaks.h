/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that draw: Graphviz's layout and the fonts it loads keep memory to the end of the program,
 * which is no leak of ours. */
#ifndef SUPPORT_GRAPHVIZ_LEAKS_H
#define SUPPORT_GRAPHVIZ_LEAKS_H

const char *__lsan_default_options(void), *__lsan_default_suppressions(void);
const char *__lsan_default_options(void) { return "print_suppressions=0"; }
const char *__lsan_default_suppressions(void)
{
    return "leak:libgvc\nleak:libgvplugin\nleak:libcgraph\nleak:libpango\nleak:libcairo\n"
           "leak:libfontconfig\nleak:libglib\n";
}

#endif
