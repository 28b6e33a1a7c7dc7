/* SPDX-License-Identifier: Apache-2.0 */
/* A folder with all that is in it. */
#ifndef HOST_TREE_H
#define HOST_TREE_H

/* Removes it; no link is followed. What cannot be removed stays, because somebody else puts something
 * there meanwhile, say, and all else goes. */
void tree_remove(const char *path);

#endif
