# SPDX-License-Identifier: Apache-2.0
# FIRMWARE is loaded over JTAG, runs, and breaks where it is told to.

ordeal_load_firmware $FIRMWARE
same running [ordeal.monitor curstate] monitor
sleep 100
targets ordeal.monitor
halt
set sp [register sp]
if {$sp == 0} { error "the firmware did not set its stack" }
resume
