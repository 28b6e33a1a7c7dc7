# SPDX-License-Identifier: Apache-2.0
# A test by hand, as without USB: load, run, state, the stream, counters.

targets ordeal.monitor
ordeal_take
same halted [ordeal.monitor curstate] monitor
set parameters [ordeal_parameters]
equal 2 [lindex $parameters $ordeal_number(PARAM_HARTS)] harts
ordeal_setup $ordeal_number(MODEL_SC) 5
# lui a1, 0x80000; sw a1, 4(a1); csrwi 0x7c0, 1
foreach hart {0x80000000 0x88000000} { ordeal_load $hart {0x800005b7 0x00b5a223 0x7c00d073} }
set memory {}
for {set i 0} {$i < 600} {incr i} { lappend memory [expr {$i * 0x1001}] }
ordeal_load 0 $memory
same [lrange $memory 299 399] [lmap w [ordeal_read [expr {299 * 4}] 101] {expr {$w + 0}}] memory
same {0x800005b7 0xb5a223} [ordeal_read 0x88000000 2] code
ordeal_run
for {set i 0} {[lindex [ordeal_state] 1] & 3 != 3} {incr i} {
    if {$i > 100} { error "the harts are never done" }
}
set words [ordeal_capture]
equal 12 [llength $words] "words of the stream" ;# a store has 4 and the end 2, of two harts
foreach {header cycle address value} [lrange $words 0 3] {
    equal $ordeal_number(REC_STORE) [expr {$header & 15}] "kind of the first record"
    equal 0x80000004 $address address
    equal 0x80000000 $value value
}
equal 0 [expr {[ordeal_get CAPTURE_COUNT]}] "what is left"
if {!([ordeal_get DONE] >> 31)} { error "it is not over" }
if {![regexp {hart 0: .* 3 instructions} [ordeal_counters 0]]} { error [ordeal_counters 0] }
if {![regexp {store +1\n} [ordeal_counters 1]]} { error [ordeal_counters 1] }
ordeal_put RUN 0
if {![catch {ordeal_program x.bin} message]} { error "an iCE40 over JTAG" }
if {![string match *iceprog* $message]} { error $message }
