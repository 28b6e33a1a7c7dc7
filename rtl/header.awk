# SPDX-License-Identifier: Apache-2.0
# Turns .def files into `defines:  awk -f rtl/header.awk rtl/soc.def rtl/zoo.def > soc.vh
# A field is what stands between brackets. Of records there are, beside the numbers of the kinds,
# the kinds that have a word: bit n of `REC_HAS_READ is that of kind n.
BEGIN { print "// made by rtl/header.awk: do not edit" }
/^[A-Z]+\(/ { split($0, f, /[(),][ ]*/) }
/^NUMBER\(/ {
    value = f[4]
    base = "d"
    if (value ~ /^0x/) { base = "h"; value = substr(value, 3) }
    printf "`define %s %d'%s%s\n", f[2], f[3], base, value
}
/^FIELD\(/ {
    field = f[2] "_" f[3]
    if (f[4] == f[5])
        printf "`define %s %d\n", field, f[5]
    else
        printf "`define %s %d:%d\n`define %s_LOW %d\n", field, f[4], f[5], field, f[5]
}
/^RECORD\(/ {
    printf "`define REC_%s 4'd%d\n", f[3], f[2]
    address += f[4] ? 2 ^ f[2] : 0
    read    += f[5] ? 2 ^ f[2] : 0
    written += f[6] ? 2 ^ f[2] : 0
    records++
}
/^EVENT\(/ { printf "`define EVENT_%s %d\n", f[3], f[2]; events++ }
/^WAIT\(/  { printf "`define WAIT_%s 4'd%d\n", f[3], f[2] }
/^BUG\(/   { printf "`define BUG_%s 7'd%d\n", f[3], f[2] }
END {
    if (records) {
        printf "`define REC_HAS_ADDRESS 16'h%04x\n", address
        printf "`define REC_HAS_READ 16'h%04x\n", read
        printf "`define REC_HAS_WRITTEN 16'h%04x\n", written
    }
    if (events) printf "`define EVENTS %d\n", events
}
