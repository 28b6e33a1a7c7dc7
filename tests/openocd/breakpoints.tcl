# SPDX-License-Identifier: Apache-2.0
# Breakpoints, in software and in hardware, on every hart. Those of the others run on.

write_memory 0 32 [counter 0x2000]
reset halt
foreach t $all { same halted [$t curstate] $t }
foreach t $all { ;# before their first instruction
    targets $t
    equal 0 [register pc] "pc of $t"
    resume
}
start_machine

foreach t $all {
    targets $t
    halt
    foreach kind {sw hw} {
        set before [register a0]
        if {$kind eq "hw"} { bp 0x10 4 hw } else { bp 0x10 4 }
        resume
        wait_halt 60000
        equal 0x10 [register pc] "pc of $t at the breakpoint"
        foreach u $all { same [expr {$u eq $t ? "halted" : "running"}] [$u curstate] $u }
        rbp 0x10
        if {[register a0] < $before} { error "$t went backwards" }
        same 0x5a603 [words 0x10 1] "the instruction under the breakpoint"
        step
        equal 0x14 [register pc] "after the breakpoint"
    }
    resume
}
