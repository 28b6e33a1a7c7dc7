# SPDX-License-Identifier: Apache-2.0
# reset halt, reset run: everything, and nobody is left behind.

write_memory 0 32 [counter 0x2000]
foreach round {1 2} {
    start_machine
    reset halt
    foreach t $all {
        same halted [$t curstate] "$t after reset halt"
        targets $t
        equal 0 [register pc] "pc of $t after reset halt"
    }
    equal 0 [ordeal_get RUN] RUN
    equal $ordeal_number(CAUSE_DEBUG) [ordeal_get CAUSE] CAUSE
    start_machine
    targets ordeal.hart0
    equal 0 [register pc] "hart 0, released from reset while halted"
    step
    equal 4 [register pc] "its first step"
    reset run
    foreach t $all { same running [$t curstate] "$t after reset run" }
    targets ordeal.monitor
    sleep 100
    halt
    if {[register a0] == 0} { error "the monitor does not run after reset run" }
    resume
}
