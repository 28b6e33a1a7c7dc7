# SPDX-License-Identifier: Apache-2.0
# Turns .def files into `defines:  awk -f rtl/header.awk rtl/soc.def rtl/zoo.def > soc.vh
BEGIN { print "// made by rtl/header.awk: do not edit" }
/^NUMBER\(/ {
    split($0, f, /[(),][ ]*/)
    value = f[4]
    base = "d"
    if (value ~ /^0x/) { base = "h"; value = substr(value, 3) }
    printf "`define %s %d'%s%s\n", f[2], f[3], base, value
}
/^EVENT\(/ { split($0, f, /[(),][ ]*/); printf "`define EVENT_%s %d\n", f[3], f[2]; events++ }
/^WAIT\(/  { split($0, f, /[(),][ ]*/); printf "`define WAIT_%s 4'd%d\n", f[3], f[2] }
/^BUG\(/   { split($0, f, /[(),][ ]*/); printf "`define BUG_%s 7'd%d\n", f[3], f[2] }
END { if (events) printf "`define EVENTS %d\n", events }
