/* SPDX-License-Identifier: Apache-2.0 */
/* OpenOCD's Tcl port: commands there, and what they return. */
#ifndef HOST_TCL_PORT_H
#define HOST_TCL_PORT_H

#include "targets/target.h"

struct tcl_port;
/* "HOST:PORT". `patience`: seconds for a connection, and for each command with its result, however
 * its bytes come; two minutes at most, and if it is 0. NULL: `why`. */
struct tcl_port *tcl_open(const char *place, double patience, struct why *why);
/* The same on a socket that is connected already, and the port's from now on unless this fails. */
struct tcl_port *tcl_adopt(int socket, double patience, struct why *why);
void tcl_close(struct tcl_port *t);
/* Evaluates a command; its result is there until the next one. NULL: `why`, which is what OpenOCD
 * says of it, or that it does not answer; in that case it will not be asked again. */
const char *tcl_ask(struct tcl_port *t, const char *command, struct why *why);

#endif
