# SPDX-License-Identifier: Apache-2.0
# What can be done with a board over JTAG, when USB is not up yet or not wanted. Of board.cfg.
#
#   ordeal_load_firmware FILE      into the monitor's RAM; then everything is reset and it runs
#   ordeal_capture ?FILE?          words of the capture stream that wait: returned, or to a file
#   ordeal_counters ?HART ...?     event counters and state of harts
#
# and what `ordeal run --target board --link jtag` calls, with the firmware halted:
#
#   ordeal_take                    halts the monitor, so that nobody else uses the devices
#   ordeal_setup SETUP SEED        the machine into reset, with the words of DEV_SETUP and DEV_SEED
#   ordeal_load ADDRESS WORDS      words from there, ADDRESS as DEV_LOAD_ADDRESS has it
#   ordeal_read ADDRESS COUNT      words from there, in reset like all of these
#   ordeal_run                     starts the machine
#   ordeal_stop                    into reset again, where its memory can be read
#   ordeal_state                   {cycle done waiting}: DEV_CYCLE, DEV_DONE, DEV_CAPTURE_COUNT
#   ordeal_take_words COUNT        so many words of the stream; no more than wait
#   ordeal_peek HART WHAT          an EVENT number or PEEK_*
#   ordeal_parameters              the 16 words of DEV_PARAMETERS

# The numbers of rtl/: NUMBER(name, bits, value), RECORD(number, name, ...), EVENT(number, name, ...);
# FIELD(word, name, high, low) as masks.
proc ordeal_numbers {file} {
    global ordeal_number ordeal_events
    set f [open $file]
    foreach line [split [read $f] "\n"] {
        if {[regexp {^NUMBER\((\w+), *\d+, *(\w+)\)} $line all name value]} {
            set ordeal_number($name) [expr {$value}]
        } elseif {[regexp {^FIELD\((\w+), *(\w+), *(\d+), *(\d+)\)} $line all word name high low]} {
            set ordeal_number(${word}_$name) [expr {(1 << $high + 1) - (1 << $low)}]
        } elseif {[regexp {^RECORD\((\d+), *(\w+)} $line all number name]} {
            set ordeal_number(REC_$name) $number
        } elseif {[regexp {^EVENT\((\d+), *(\w+)} $line all number name]} {
            lappend ordeal_events $number $name
        }
    }
    close $f
}
set ordeal_events {}
set _rtl [file join [file dirname [info script]] .. rtl]
ordeal_numbers [file join $_rtl soc.def]
ordeal_numbers [file join $_rtl board board.def]

proc ordeal_field {name value} {
    set mask $::ordeal_number($name)
    return [expr {$value * ($mask & -$mask)}]
}
proc ordeal_device {name} {
    global ordeal_number
    return [expr {$ordeal_number(BOARD_DEVICES) + $ordeal_number(DEV_$name)}]
}
proc ordeal_get {name} { return [lindex [ordeal.monitor read_memory [ordeal_device $name] 32 1] 0] }
proc ordeal_put {name value} { ordeal.monitor write_memory [ordeal_device $name] 32 [list $value] }

# ---- firmware --------------------------------------------------------------------------------

proc ordeal_load_firmware {file} {
    targets ordeal.monitor
    halt
    load_image $file
    # Word by word: OpenOCD would rather run a checksum on the hart, and complains when it cannot.
    regexp {\d} [capture debug_level] level
    debug_level -1
    set failed [catch {verify_image $file}]
    debug_level $level
    if {$failed} { error "the RAM does not hold what was loaded into it" }
    reset run
}

# ---- the machine, by hand --------------------------------------------------------------------

proc ordeal_take {} {
    targets ordeal.monitor
    if {[ordeal.monitor curstate] ne "halted"} { halt }
    if {[ordeal_get ID] != $::ordeal_number(DEV_MAGIC)} {
        error "there are no devices of an ordeal board at [format 0x%x [ordeal_device ID]]"
    }
}

proc ordeal_setup {setup seed} {
    ordeal_put RUN 0
    ordeal_put SETUP $setup
    ordeal_put SEED $seed
}

# Every word of a window is the one register behind it, so that accesses in a row go there.
proc ordeal_load {address words} {
    ordeal_put LOAD_ADDRESS $address
    set window [ordeal_device LOAD_WINDOW]
    for {set i 0} {$i < [llength $words]} {incr i 256} {
        ordeal.monitor write_memory $window 32 [lrange $words $i [expr {$i + 255}]]
    }
}

proc ordeal_read_window {name count} {
    set words {}
    set window [ordeal_device $name]
    while {$count > 0} {
        set n [expr {$count < 256 ? $count : 256}]
        lappend words {*}[ordeal.monitor read_memory $window 32 $n]
        incr count -$n
    }
    return $words
}

proc ordeal_read {address count} {
    ordeal_put LOAD_ADDRESS $address
    return [ordeal_read_window LOAD_WINDOW $count]
}

proc ordeal_run {} { ordeal_put RUN 1 }

proc ordeal_stop {} { ordeal_put RUN 0 }

proc ordeal_state {} {
    return [list [ordeal_get CYCLE] [ordeal_get DONE] [ordeal_get CAPTURE_COUNT]]
}

proc ordeal_take_words {count} { return [ordeal_read_window CAPTURE_WINDOW $count] }

proc ordeal_peek {hart what} {
    ordeal_put PEEK [expr {[ordeal_field DEV_PEEK_HART $hart] | [ordeal_field DEV_PEEK_WHAT $what]}]
    return [ordeal_get PEEK_DATA]
}

proc ordeal_parameters {} { return [ordeal.monitor read_memory [ordeal_device PARAMETERS] 32 16] }

# ---- for people ------------------------------------------------------------------------------

proc ordeal_capture {{file ""}} {
    set words [ordeal_take_words [ordeal_get CAPTURE_COUNT]]
    if {$file eq ""} { return $words }
    set f [open $file w]
    foreach word $words { puts $f [format %08x $word] }
    close $f
    return "[llength $words] words to $file"
}

proc ordeal_counters {args} {
    set parameters [ordeal_parameters]
    if {![llength $args]} {
        for {set h 0} {$h < [lindex $parameters $::ordeal_number(PARAM_HARTS)]} {incr h} {
            lappend args $h
        }
    }
    set text ""
    foreach h $args {
        append text "hart $h: pc [format 0x%x [ordeal_peek $h $::ordeal_number(PEEK_PC)]],"
        set count [ordeal_peek $h $::ordeal_number(PEEK_INSTRUCTIONS)]
        append text [format " %u instructions\n" $count]
        foreach {number name} $::ordeal_events {
            set value [ordeal_peek $h $number]
            if {$value} { append text [format "  %-24s %10u\n" [string tolower $name] $value] }
        }
    }
    return $text
}
