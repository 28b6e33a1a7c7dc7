# SPDX-License-Identifier: Apache-2.0
# Every hart is examined, halts, steps, resumes; its registers can be read and written.

foreach t $all { same running [$t curstate] "$t after examination" }
start_machine
write_memory 0 32 [counter 0x2000]
reset run
start_machine

foreach t $all {
    targets $t
    halt
    same halted [$t curstate] $t
    foreach {name value} {a5 0x12345fff t6 0xfffff800 mscratch 0x800 mepc 0x40} {
        set_reg [list $name $value]
        equal $value [register $name] $name
    }
    equal 0x4 [expr {[register dcsr] >> 28}] "version of dcsr"

    # Through the loop, one instruction after the other
    set_reg {pc 8 a0 41}
    foreach {pc a0} {0x0c 42 0x10 42 0x14 42 0x08 42 0x0c 43} {
        step
        equal $pc [register pc] "pc of $t"
        equal $a0 [register a0] "a0 of $t"
    }
    equal 42 [register a2] "a2 of $t"
    resume
    same running [$t curstate] $t
    halt
    if {[register a0] <= 43} { error "$t does not run" }
    resume
}
