# SPDX-License-Identifier: Apache-2.0
# load_image and verify_image, of the monitor and of a hart; a difference is found. IMAGE is a file.

foreach {t address} {ordeal.monitor 0x1000 ordeal.hart1 0x400 ordeal.hart0 0x80000400} {
    start_machine
    targets $t
    halt
    load_image $IMAGE $address bin
    verify_image $IMAGE $address bin
    write_memory [expr {$address + 101}] 8 0xff
    if {![catch {verify_image $IMAGE $address bin}]} { error "$t: a difference was not found" }
    resume
}
