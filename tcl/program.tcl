# SPDX-License-Identifier: Apache-2.0
# The FPGA itself: ordeal_program FILE.
#
# An ECP5 is configured over JTAG, by a file of SVF (make fpga, ecppack), through a TAP of its own. An
# iCE40 has none: its bitstream goes to the SPI flash, which iceprog writes through an FTDI chip and
# tinyprog through the bootloader of a TinyFPGA BX; OpenOCD has no driver for either.
proc ordeal_program {file} {
    switch [file extension $file] {
        .svf { svf $file -quiet }
        .bin { error "an iCE40 is not configured over JTAG: iceprog $file, or tinyprog -p $file" }
        default { error "$file: .svf for an ECP5 is what can be programmed here" }
    }
}
