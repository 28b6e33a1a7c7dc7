# SPDX-License-Identifier: Apache-2.0
# Memory: of the monitor over the system bus while it runs and through the monitor, of the machine
# through a hart, coherently; code; in all sizes; what is not there is an error.

proc try_memory {address} {
    write_memory $address 32 {0x11223344 0x55667788 0x99aabbcc}
    same {0x11223344 0x55667788 0x99aabbcc} [read_memory $address 32 3] words
    same {0x44 0x33 0x22 0x11 0x88} [read_memory $address 8 5] bytes
    same {0x1122 0x7788} [read_memory [expr {$address + 2}] 16 2] halves
    write_memory [expr {$address + 1}] 8 {0xaa 0xbb 0xcc 0xdd}
    write_memory [expr {$address + 6}] 16 {0xeeff 0x0102}
    same {0xccbbaa44 0xeeff77dd 0x99aa0102} [read_memory $address 32 3] "all sizes"
}

start_machine
targets ordeal.monitor
same running [ordeal.monitor curstate] monitor
try_memory 0x3000
halt
try_memory 0x3100
ordeal.monitor riscv set_mem_access abstract
try_memory 0x3200
ordeal.monitor riscv set_mem_access sysbus
same 0xccbbaa44 [words 0x3200 1] "the same over the bus"
if {![catch {words 0x70000000 1}]} { error "there is something at 0x70000000" }
try_memory 0x3300

targets ordeal.hart0
halt
set a0 [register a0]
try_memory 0x80002000
try_memory 0x40002100
try_memory 0x1000
equal $a0 [register a0] a0
if {![catch {words 0x70000000 1}]} { error "there is something at 0x70000000" }
targets ordeal.hart1
halt
same {0xccbbaa44 0xeeff77dd 0x99aa0102} [read_memory 0x80002000 32 3] "what the other hart wrote"
same {0xccbbaa44 0xeeff77dd 0x99aa0102} [read_memory 0x80002100 32 3] "what it wrote past the cache"
same {0x0 0x0 0x0} [read_memory 0x1000 32 3] "its own code"
equal [register a0] [expr {[words 0x80001000 1] + ([register pc] == 0xc)}] "its counter"
