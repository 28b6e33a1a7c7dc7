# SPDX-License-Identifier: Apache-2.0
# What the scripts of this directory share. The first thing that is not as it should be ends OpenOCD
# with an error, and says what it was.

proc same {wanted got what} {
    if {$wanted ne $got} { error "$what: wanted $wanted, got $got" }
}
proc equal {wanted got what} {
    if {$wanted != $got} { error [format "%s: wanted 0x%x, got 0x%x" $what $wanted $got] }
}
proc register {name} { return [dict get [get_reg -force $name] $name] }
proc words {address count} { return [read_memory $address 32 $count] }

set all {ordeal.hart0 ordeal.hart1 ordeal.monitor}

# Counts in a0, and in the word that a1 points to:
#   0: lui a1, ADDRESS  4: li a0, 0  8: addi a0, a0, 1  c: sw a0, 0(a1)  10: lw a2, 0(a1)  14: j 8
proc counter {address} {
    return [list [expr {$address | 0x5b7}] 0x00000513 0x00150513 0x00a5a023 0x0005a603 0xff5ff06f]
}

# Both harts of the machine count; their records are dropped when nobody takes them.
proc start_machine {} {
    global ordeal_number
    targets ordeal.monitor
    ordeal_setup [expr {$ordeal_number(MODEL_TSO) | 1 << 24}] 1
    ordeal_load 0x80000000 [counter 0x80000000]
    ordeal_load 0x88000000 [counter 0x80001000]
    ordeal_run
}
