# SPDX-License-Identifier: Apache-2.0
# The smallest board: no system bus, no breakpoints in hardware, nobody drops records. FIRMWARE is
# loaded through the monitor itself.

foreach t $all { same running [$t curstate] "$t after examination" }
targets ordeal.monitor
halt
ordeal_setup [expr {$ordeal_number(MODEL_TSO)}] 1
# 0: lui a1, 0x80000  4: li a0, 0  8: addi a0, a0, 1  c: j 8
# 10: sw a0, 0x104(a1)  14: lw a2, 0x104(a1)  18: j 18
set code {0x800005b7 0x513 0x150513 0xffdff06f 0x10a5a223 0x1045a603 0x6f}
ordeal_load 0x80000000 $code
ordeal_load 0x88000000 $code
same $code [ordeal_read 0x88000000 7] "code of hart 1"
ordeal_run

foreach t {ordeal.hart0 ordeal.hart1} {
    targets $t
    halt
    if {[register a0] == 0} { error "$t does not run" }
    foreach {name value} {a5 0x12345fff t6 0xfffff800 mscratch 0x800 mepc 0x40} {
        set_reg [list $name $value]
        equal $value [register $name] $name
    }
    set_reg {pc 8 a0 41}
    foreach {pc a0} {0x0c 42 0x08 42 0x0c 43} {
        step
        equal $pc [register pc] "pc of $t"
        equal $a0 [register a0] "a0 of $t"
    }
    # A breakpoint is in the hart's own code.
    bp 0x8 4
    resume
    wait_halt 60000
    equal 0x8 [register pc] "pc of $t at the breakpoint"
    rbp 0x8
    equal 0x00150513 [words 0x8 1] "the instruction under the breakpoint"
    # Memory as the hart sees it: its own store first, in the buffer or not.
    set_reg {pc 0x10 a0 0x7e577e57}
    step
    step
    equal 0x18 [register pc] "pc of $t after the load"
    equal 0x7e577e57 [register a2] "what $t loaded"
    equal 0x7e577e57 [words 0x80000104 1] "memory by way of $t"
    write_memory 0x80000108 8 {0x12 0x34 0x56}
    equal 0x563412 [words 0x80000108 1] "bytes of memory"
    resume
}
targets ordeal.hart0
halt
equal 0x7e577e57 [words 0x80000104 1] "what hart 1 stored, as hart 0 sees it"
resume

targets ordeal.monitor
if {[llength [ordeal_capture]] < 4} { error "no records" }
ordeal_load_firmware $FIRMWARE
same running [ordeal.monitor curstate] monitor
sleep 100
halt
if {[register sp] == 0} { error "the firmware did not set its stack" }
bp 0x0 4
reset halt
equal 0 [register pc] "pc after a reset"
rbp 0x0
resume
