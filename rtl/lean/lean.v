// SPDX-License-Identifier: Apache-2.0
// A hart that does one thing a cycle, for chips in which hart.v has no room: RV32IA_Zicsr, mul and
// mulhu, machine mode, with a store buffer and a cache of its own.
//
// All it has lies in one RAM: its code from 0 on, and behind that registers, CSRs, the entries of
// the store buffer and the lines of the cache. An instruction goes through a row of steps, six or
// more. It is given up, and begun anew, when it meets something in its way before it has had an
// effect: a store buffer that is full or not yet empty, no room for its record. Between two
// instructions, and only there, stores leave the buffer, interrupts are taken, the debugger halts
// it.
//
// Stores leave in order, one by one, when chance says so or something waits for it; loads are done
// in order and look into the buffer first: TSO. Lines of the cache are words, written through;
// whoever writes to memory takes the word out of all caches in that very cycle (inv_*).
//
// With MONITOR = 1 it runs firmware: its loads and stores are in the same RAM, or go to devices,
// and there is neither buffer nor cache nor record.
//
// Unlike hart.v: minstret is 0; mtval is, but for addresses of accesses and jumps; a CSRRC of DONE
// or MARK does nothing; mepc and mtvec keep the low bits that nobody uses.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lean #(
    parameter NHARTS       = 2,    // 1, 2, 4
    parameter RAM_WORDS    = 512,  // a power of two: code, and 128 (monitor: 64) for itself
    parameter MEMORY_WORDS = 256,  // a power of two, up to 4096
    parameter SB_DEPTH     = 8,    // 2, 4, 8
    parameter SETS         = 16,   // of the cache: 2, 4, 8, 16, 32
    parameter MULTIPLY     = 1,
    parameter DEBUG        = 0,
    parameter MONITOR      = 0,
    parameter FIRMWARE     = ""
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [3:0]  hart_i,          // its number
    input  wire        random_i,        // now is as good a time as any for a store to leave
    input  wire [31:0] cycle_i,

    // The loader, in reset. What is read comes a cycle later.
    input  wire        load_we_i,
    input  wire [31:0] load_addr_i,     // byte offset, of a word
    input  wire [31:0] load_data_i,
    output wire [31:0] load_data_o,

    // Memory. Valid until ready; what was read is there in the cycle after that.
    output wire        mem_valid_o,
    output wire        mem_lock_o,      // nobody else before this is 0 again
    output wire        mem_write_o,
    output wire        mem_other_o,     // not memory: an interrupt; of the monitor the USB core
    output wire [13:0] mem_addr_o,
    output wire [3:0]  mem_be_o,
    output wire [31:0] mem_data_o,
    input  wire        mem_ready_i,
    input  wire [31:0] mem_data_i,
    input  wire        inv_valid_i,     // somebody writes to memory in this cycle,
    input  wire [13:0] inv_addr_i,      // there

    input  wire        ipi_i,
    output wire        ipi_clear_o,

    // Records, word by word
    input  wire        rec_room_i,      // whoever begins one now can end it
    output wire        rec_valid_o,
    input  wire        rec_ready_i,
    output wire        rec_last_o,
    output wire [31:0] rec_data_o,

    output wire        done_o,
    output wire [31:0] pc_o,
    output wire [15:0] retired_o,       // instructions since reset, traps too; modulo 65536

    input  wire        dbg_rst_i,       // as hart.v
    input  wire        dbg_halt_i,
    input  wire        dbg_resume_i,
    output wire        dbg_halted_o,
    input  wire        dbg_insn_valid_i,
    input  wire [31:0] dbg_insn_i,
    output wire        dbg_ack_o,
    output wire        dbg_fault_o,
    output wire [31:0] dbg_data_o
);
    localparam AW = $clog2(RAM_WORDS);
    localparam SW = $clog2(SETS);
    localparam BW = $clog2(SB_DEPTH);
    localparam PW = MONITOR != 0 ? AW : 30;      // of the pc, in words
    localparam MW = MONITOR != 0 ? AW + 2        // of an address, as far as it is kept
        : MEMORY_WORDS > 1024 ? $clog2(MEMORY_WORDS) + 2 : 12;
    localparam [31:0] MEMORY_BYTES = MEMORY_WORDS * 4;
    localparam [31:0] IPI_BYTES    = NHARTS * 4;

    // ---- steps ---------------------------------------------------------------------------------

    localparam
        CLEAR = 0,                                      // registers and CSRs become 0
        FETCH = 1, DECODE = 2, FIRST = 3, SECOND = 4,   // the instruction, its operands
        EXECUTE = 5,
        SHIFT = 6, ADD = 7, HALVE = 8,                  // of a product: add, and shift right
        RESULT = 9,                                     // what became of it, to rd
        LINK = 10, TARGET = 11, JUMP = 12,
        CSR_OLD = 13, CSR_NEW = 14, CSR_RESULT = 15,
        OPERAND = 16,                                   // of an access: what it writes
        SEARCH = 17, COMPARE = 18, FOUND = 19,          // in the store buffer
        LOOK = 20, HIT = 21,                            // in the cache
        READ = 22, TAKE = 23, FILL = 24, FILL_TAG = 25,
        BUFFER = 26, BUFFER_TAG = 27,                   // a store to the store buffer
        OLD = 28, SAME = 29, NEW = 30,                  // amocas.w: rd, its comparison, rs2
        RANK = 31,                                      // of an AMO: which is less?
        WRITE = 32,
        RECORD = 33,
        NEXT = 34,
        DRAIN_TAG = 35, DRAIN_DATA = 36, DRAIN_WORD = 37, DRAIN = 38,
        TRAP_VALUE = 39, TRAP_PC = 40, TRAP_CAUSE = 41, GO = 42,
        LOCAL = 43,                                     // the monitor's store to its own RAM
        STEPS = 44;
    reg [STEPS-1:0] s_q;                // where it is: one of them is 1
    wire [STEPS-1:0] s;                 // and where it goes

    reg [31:0]   a_q, b_q, insn_q;
    reg [PW-1:0] pc_q;
    reg [MW-1:0] mar_q;                 // the address of an access, the immediate of a fence,
    reg [2:0]    region_q;              // and where that is: cached, uncached, other
    reg [4:0]    count_q;
    reg [11:0]   age_q;                 // cycles since the last instruction ended
    reg [7:0]    seq_q;
    reg [15:0]   retired_q;
    reg [2:0]    word_q;                // of the record
    reg [3:0]    cause_q, be_q;
    reg          irq_q, flag_q, carry_q, done_q, must_q, sleeps_q;
    reg          mie_q, mpie_q, msie_q;
    wire         rst, halted, stop, stepping, ebreakm;
    wire [31:0]  debug_csr;

    // ---- what it is ----------------------------------------------------------------------------

    wire [4:0]  opcode  = insn_q[6:2];
    wire [2:0]  funct3  = insn_q[14:12];
    wire [4:0]  funct5  = insn_q[31:27];
    wire [11:0] csr     = insn_q[31:20];
    wire [4:0]  rd      = insn_q[11:7];
    wire [4:0]  rs2     = insn_q[24:20];
    wire is_load   = opcode == 5'h00;
    wire is_fences = opcode == 5'h03;            // and cbo.*
    wire is_imm    = opcode == 5'h04;
    wire is_auipc  = opcode == 5'h05;
    wire is_store  = opcode == 5'h08;
    wire is_atomic = MONITOR == 0 && opcode == 5'h0b;
    wire is_op     = opcode == 5'h0c;
    wire is_lui    = opcode == 5'h0d;
    wire is_branch = opcode == 5'h18;
    wire is_jalr   = opcode == 5'h19;
    wire is_jal    = opcode == 5'h1b;
    wire is_system = opcode == 5'h1c;
    wire is_csr    = is_system && funct3 != 3'd0;
    wire is_multiply = MULTIPLY != 0 && is_op && insn_q[25];
    wire is_alu    = is_imm || is_op && !is_multiply;
    wire is_shift  = is_alu && funct3[1:0] == 2'd1;
    wire is_less   = is_alu && funct3[2:1] == 2'd1;
    wire is_logic  = is_alu && funct3[2] && funct3[1:0] != 2'd1;
    wire is_sub    = is_op && insn_q[30];
    wire is_lr     = is_atomic && funct5 == 5'h02;
    wire is_sc     = is_atomic && funct5 == 5'h03;
    wire is_cas    = is_atomic && funct5 == 5'h05;
    wire is_amo    = is_atomic && funct5[4:1] != 4'd1;
    wire is_rank   = is_atomic && funct5[4];     // amomin and the like
    wire is_access = is_load || is_store || is_atomic;
    wire is_prefetch = MONITOR == 0 && is_imm && funct3 == 3'd6 && rd == 5'd0
        && (rs2 == 5'd1 || rs2 == 5'd3);
    wire is_hint   = is_prefetch || MONITOR == 0 && is_fences && funct3[1];
    wire is_fence  = is_fences && funct3 == 3'd0;
    wire is_own    = MONITOR == 0 && is_csr && csr[11:1] == 11'h3e0 // DONE, MARK
        && funct3[1:0] != 2'd3;
    wire is_mark   = csr[0];
    wire writes_csr = is_csr && (funct3[1:0] == 2'd1 || insn_q[19:15] != 5'd0);
    wire is_code   = DEBUG != 0 && csr == 12'h7b4;
    wire has_rd    = rd != 5'd0;
    wire by_pc     = is_auipc || is_jal || is_branch;

    reg legal;
    always @* begin
        case (opcode)
            5'h00: legal = funct3[1:0] != 2'd3 && funct3 != 3'd6;
            5'h03: legal = funct3[2:1] == 2'd0
                || MONITOR == 0 && funct3 == 3'd2 && rd == 5'd0 && csr < 12'd3;
            5'h04: legal = funct3[1:0] != 2'd1 || insn_q[31:25] == 7'h00
                || funct3[2] && insn_q[31:25] == 7'h20;
            5'h05, 5'h0d, 5'h1b: legal = 1'b1;
            5'h08: legal = !funct3[2] && funct3[1:0] != 2'd3;
            5'h0b: legal = MONITOR == 0 && funct3 == 3'd2
                && (funct5[1:0] == 2'd0 || funct5[4:2] == 3'd0 && (!is_lr || rs2 == 5'd0)
                    || funct5 == 5'h05);
            5'h0c: legal = insn_q[31:25] == 7'h00
                || MULTIPLY != 0 && insn_q[31:25] == 7'h01 && !funct3[2] && funct3[1:0] != 2'd1
                    && funct3[1:0] != 2'd2
                || insn_q[31:25] == 7'h20 && (funct3 == 3'd0 || funct3 == 3'd5);
            5'h18: legal = funct3[2:1] != 2'd1;
            5'h19: legal = funct3 == 3'd0;
            5'h1c:
                if (funct3 == 3'd0)
                    legal = insn_q[19:15] == 5'd0 && !has_rd && (csr == 12'h000 || csr == 12'h001
                        || csr == 12'h302 || csr == 12'h105);
                else
                    case (csr)
                        12'h300, 12'h301, 12'h304, 12'h305, 12'h310, 12'h320, 12'h340, 12'h341,
                        12'h342, 12'h343, 12'h344, 12'hb00, 12'hb02, 12'hb80, 12'hb82:
                            legal = funct3[1:0] != 2'd0;
                        12'hf11, 12'hf12, 12'hf13, 12'hf14, 12'hf15:
                            legal = funct3[1:0] != 2'd0 && !writes_csr;
                        `CSR_DONE, `CSR_MARK:
                            legal = MONITOR == 0 && funct3[1:0] != 2'd0 && !(writes_csr && has_rd);
                        12'h7b0, 12'h7b4: legal = DEBUG != 0 && halted && funct3[1:0] != 2'd0;
                        default: legal = 1'b0;
                    endcase
            default: legal = 1'b0;
        endcase
        if (insn_q[1:0] != 2'd3) legal = 1'b0;
    end
    wire outside = MONITOR == 0 && !halted
        && ((pc_q >> AW) != 0 || pc_q[AW-1:7] == {AW-7{1'b1}});

    reg [31:0] imm;
    always @*
        case (opcode)
            5'h05, 5'h0d: imm = {insn_q[31:12], 12'd0};
            5'h08: imm = {{20{insn_q[31]}}, insn_q[31:25], insn_q[11:7]};
            5'h18: imm = {{20{insn_q[31]}}, insn_q[7], insn_q[30:25], insn_q[11:8], 1'b0};
            5'h1b: imm = {{12{insn_q[31]}}, insn_q[19:12], insn_q[20], insn_q[30:21], 1'b0};
            5'h1c: imm = {{21{insn_q[31]}}, 6'd0, insn_q[19:15]}; // what has bit 31 is not written
            default: imm = {{20{insn_q[31]}}, insn_q[31:25], is_prefetch ? 5'd0 : insn_q[24:20]};
        endcase

    // ---- adder, logic, and how a value goes out ------------------------------------------------

    wire        flagged = is_less || is_sc;              // the result is a flag
    wire        is_left = is_multiply ? funct3[1:0] == 2'd0 : !funct3[2]; // a is shifted left
    wire        multiplier_bit = ram_word[count_q];      // rs1 stays there
    wire        reads   = s_q[RECORD] && word_q != 3'd4; // the word is what was read,
    wire        writes  = s_q[RECORD] && !reads          // or what was written,
        || s_q[WRITE];                                   // which goes to memory as well
    wire        b_alone = is_cas ? flag_q : funct5[0] || is_rank && flag_q == funct5[2];
    wire        a_alone = is_cas || is_rank && !b_alone; // an AMO writes one of both, or a result
    wire        adds    = !is_multiply && !is_atomic && !(is_csr && !funct3[2])
        && !(is_fences && !is_fence);                    // b, in EXECUTE
    wire        is_address = cause_q[3:2] == 2'd1 || cause_q == 4'd0; // what mtval takes

    wire        x_pc = s_q[LINK] || s_q[NEXT] || s_q[TRAP_PC] || by_pc && !s_q[EXECUTE]
        || is_auipc || is_jal;
    wire        x_off = s_q[CLEAR] || s_q[BUFFER] || s_q[LOCAL] || s_q[CSR_RESULT] || s_q[DRAIN]
        || s_q[EXECUTE] && (is_lui || is_fence || is_multiply || is_csr && funct3[2])
        || (s_q[RESULT] || reads) && flagged || writes && (is_store || b_alone)
        || s_q[TRAP_VALUE] && (irq_q || !is_address);
    wire        y_off = s_q[CLEAR] || s_q[RESULT] || s_q[FILL] || s_q[LINK] || s_q[NEXT]
        || s_q[TRAP_PC] || s_q[CSR_NEW] || reads || s_q[EXECUTE] && !adds
        || s_q[ADD] && !multiplier_bit || writes && a_alone && !b_alone
        || s_q[TRAP_VALUE] && (irq_q || !is_address || !adds);
    wire        y_not = s_q[EXECUTE] && (is_sub || is_less || is_branch) || s_q[SAME] || s_q[RANK];
    wire        carry = y_not || s_q[LINK] || s_q[NEXT] || (s_q[RESULT] || reads) && flagged
        && flag_q;
    wire        up    = s_q[NEXT] || s_q[LINK];          // pc + 4 is {pc, 3} + 1
    wire [29:0] pc30  = {{30-PW{1'b0}}, pc_q};
    wire [31:0] x     = x_off ? 32'd0 : x_pc ? {pc30, up, up} : a_q;
    wire [31:0] y     = y_off ? 32'd0 : b_q ^ {32{y_not}};
    wire [33:0] total = {1'b0, x, 1'b1} + {1'b0, y, carry}; // one adder, with its carry
    wire [31:0] sum   = total[32:1];
    wire        below = a_q[31] == b_q[31] ? !total[33] : a_q[31]; // a < b, signed; y_not

    wire        logical  = s_q[EXECUTE] && is_logic || s_q[CSR_NEW] && funct3[1]
        || writes && is_atomic && !funct5[4] && funct5[3:2] != 2'd0 && !is_cas;
    wire [1:0]  logic_op = s_q[EXECUTE] ? funct3[1:0]    // 0 xor, 1 b and not a, 2 or, 3 and
        : s_q[CSR_NEW] ? {!funct3[0], funct3[0]} : {funct5[3], &funct5[3:2]};
    wire [31:0] bits  = logic_op == 2'd0 ? a_q ^ b_q : logic_op == 2'd1 ? b_q & ~a_q
        : logic_op == 2'd2 ? a_q | b_q : a_q & b_q;
    wire [31:0] out   = logical ? bits : sum;

    // Of a store of less than a word the bytes are everywhere; of what was loaded, and in records,
    // the others are the sign or 0.
    wire [1:0]  size  = is_load || is_store ? funct3[1:0] : 2'd2;
    wire        one   = size == 2'd0, two = size == 2'd1;
    wire        spreads = s_q[BUFFER] || s_q[LOCAL];
    wire        widens  = s_q[RESULT] || s_q[RECORD];
    wire        sign  = s_q[RESULT] && !funct3[2] && (one ? out[7] : out[15]);
    wire [31:0] value = {
        widens && (one || two) ? {16{sign}} : spreads && one ? {2{out[7:0]}}
            : spreads && two ? out[15:0] : out[31:16],
        widens && one ? {8{sign}} : spreads && one ? out[7:0] : out[15:8],
        out[7:0]};
    wire [3:0]  be = one ? 4'b0001 << mar_q[1:0] : two ? 4'b0011 << mar_q[1:0] : 4'b1111;

    // ---- the store buffer, the cache, the reservation ------------------------------------------

    reg  [BW:0]     put_q, get_q;
    reg  [BW-1:0]   look_q;
    reg  [SETS-1:0] valid_q;
    reg             reserved_q;
    reg  [MW-1:2]   reserved_addr_q;
    wire            waiting = MONITOR == 0 && put_q != get_q;
    wire            full    = put_q[BW-1:0] == get_q[BW-1:0] && waiting;
    wire [2:0]      look    = {{3-BW{1'b0}}, look_q};
    wire [2:0]      oldest  = {{3-BW{1'b0}}, get_q[BW-1:0]};
    wire [2:0]      newest  = {{3-BW{1'b0}}, put_q[BW-1:0]};
    wire [4:0]      set     = {{5-SW{1'b0}}, mar_q[SW+1:2]};
    wire            cached  = MONITOR == 0 && region_q[2];
    wire            reserved = reserved_q && reserved_addr_q == mar_q[MW-1:2];

    // Of an entry or a line: where it belongs
    wire [13:0] address = {{14-MW{1'b0}}, mar_q};
    wire [31:0] tag     = {be, 11'd0, region_q, address};
    wire [31:0] ram_word;
    wire        same_word = ram_word[MW-1:2] == mar_q[MW-1:2] && ram_word[14] == region_q[0];
    wire        covers  = (be & ~ram_word[31:28]) == 4'd0;
    wire        touches = (be & ram_word[31:28]) != 4'd0;

    // ---- where in the RAM ----------------------------------------------------------------------

    function [AW-1:0] own(input [6:0] at);
        own = {{AW-7{1'b1}}, at};
    endfunction
    function [AW-1:0] register(input [4:0] r);
        register = own({2'b10, r});
    endfunction
    function [AW-1:0] entry(input [2:0] which, input is_tag);
        entry = own({3'b110, which, is_tag});
    endfunction
    function [AW-1:0] line(input [4:0] which, input is_tag);
        line = own({1'b0, which, is_tag});
    endfunction
    function [AW-1:0] csr_at(input [2:0] which); // the low digit of its number
        csr_at = own({4'b1111, which});
    endfunction
    localparam [2:0] MTVEC = 5, MEPC = 1, MCAUSE = 2, MTVAL = 3;
    wire in_ram_csr = csr[11:8] == 4'd3 && (csr[7:0] == 8'h05 || csr[7:2] == 6'h10);

    // ---- exceptions ----------------------------------------------------------------------------

    wire        in_cached   = sum[31] && (sum[30:0] & ~(MEMORY_BYTES[30:0] - 31'd1)) == 31'd0;
    wire        in_uncached = (sum & ~(MEMORY_BYTES - 32'd1)) == `MAP_UNCACHED;
    wire        in_ipi      = (sum & ~(IPI_BYTES - 32'd1)) == `MAP_IPI
        && funct3[1:0] == 2'd2 && !is_atomic;
    wire        somewhere   = MONITOR != 0 || in_cached || in_uncached || in_ipi;
    wire        misaligned  = funct3[0] && sum[0] || funct3[1] && sum[1:0] != 2'd0;
    wire        irq = MONITOR == 0 && ipi_i && msie_q && mie_q && !stepping && !sleeps_q && !halted;

    // ---- the way -------------------------------------------------------------------------------

    wire ready     = MONITOR != 0 || rec_room_i || halted; // for a record
    wire is_mret   = csr[9];
    wire is_wfi    = csr[8] && !csr[9];
    wire is_break  = is_system && !is_csr && !csr[8] && csr[0];
    wire has_op    = is_access || is_hint || is_fence;
    wire jumps     = is_jal || is_jalr;
    wire taken     = (funct3[2] ? funct3[1] ? !total[33] : below : sum == 32'd0) ^ funct3[0];
    wire awake     = MONITOR != 0 || ipi_i && msie_q || stepping;

    // EXECUTE: what cannot be done, what is done by then
    wire misjump   = jumps && sum[1];
    wire no_access = is_access && (misaligned || !somewhere || DEBUG != 0 && rst_i);
    wire breaks    = is_break && ebreakm && !halted;        // to the debugger
    wire calls     = is_system && !is_csr && !csr[8] && !breaks;
    wire unable    = outside || !legal || no_access || misjump || calls;
    wire sleeps    = is_system && !is_csr && is_wfi && !awake;
    wire at_once   = (is_alu && !is_hint && !is_shift && !is_less) || is_lui || is_auipc
        || is_branch && !taken || is_fences && funct3 == 3'd1
        || is_hint && !in_cached && !in_uncached || MONITOR != 0 && is_fence
        || is_system && !is_csr && is_wfi && awake;
    wire does      = s_q[EXECUTE] && !unable;
    wire [3:0] cause = outside ? 4'd1 : !legal ? 4'd2 : calls ? csr[0] ? 4'd3 : 4'd11
        : is_access ? {2'b01, !is_load && !is_lr, !misaligned} : 4'd0;

    // Own CSRs
    wire notes     = s_q[CSR_OLD] && is_own && writes_csr;
    wire nothing   = !is_mark && !a_q[0];                   // DONE, but not now

    // OPERAND: what is in the way of an access
    wire bars      = is_fence && mar_q[4] && mar_q[1];      // stores before, loads behind
    wire blocked   = MONITOR == 0 && (!ready || is_store && full
        || (is_atomic || bars) && waiting);
    wire accesses  = s_q[OPERAND] && !blocked;
    wire last_look = look_q == get_q[BW-1:0];
    wire misses    = s_q[COMPARE] && !(same_word && touches) && last_look; // none is there
    wire beyond    = misses || accesses && is_load && !waiting && MONITOR == 0;
    wire looks     = cached && valid_q[set[SW-1:0]];

    wire except   = s_q[EXECUTE] && unable || s_q[JUMP] && sum[1];
    wire gives_up = s_q[OPERAND] && blocked || s_q[COMPARE] && same_word && touches && !covers
        || notes && !nothing && (!ready || waiting && !is_mark);
    wire ends     = does && at_once || s_q[RESULT] && (!is_access || MONITOR != 0)
        || notes && nothing || s_q[CSR_RESULT] || s_q[WRITE] && mem_ready_i && is_store
        || s_q[LOCAL] || s_q[RECORD] && (halted || rec_ready_i && rec_last_o);
    wire over     = s_q[NEXT] || s_q[GO] || s_q[JUMP] && !sum[1];
    wire runs     = s_q[FETCH] && !halted && !stop && !done_q;
    wire drains   = s_q[FETCH] && waiting && (halted || !stop && (must_q || random_i)) && !irq;
    wire halts    = s_q[FETCH] && !halted && stop || does && breaks;

    assign s[CLEAR]      = s_q[CLEAR] && !(&age_q[5:0]);
    assign s[FETCH]      = s_q[FETCH] && !drains && !(halted ? dbg_insn_valid_i : runs)
        || s_q[CLEAR] && &age_q[5:0] || (ends || except) && halted || gives_up || over
        || s_q[DRAIN] && mem_ready_i || does && (sleeps || breaks);
    assign s[DECODE]     = (s_q[FETCH] && halted && dbg_insn_valid_i || runs && !irq) && !drains;
    assign s[FIRST]      = s_q[DECODE];
    assign s[SECOND]     = s_q[FIRST];
    assign s[EXECUTE]    = s_q[SECOND];
    assign s[SHIFT]      = does && is_shift || s_q[SHIFT] && count_q != 5'd0 || s_q[FOUND]
        || s_q[TAKE] && is_load && !cached || s_q[FILL_TAG];
    assign s[ADD]        = does && is_multiply || s_q[HALVE] && (is_left || count_q != 5'd31);
    assign s[HALVE]      = s_q[ADD] && !(is_left && count_q == 5'd0);
    assign s[RESULT]     = does && is_less || s_q[SHIFT] && count_q == 5'd0
        || s_q[ADD] && is_left && count_q == 5'd0 || s_q[HALVE] && !is_left && count_q == 5'd31
        || accesses && is_sc && !reserved || s_q[TAKE] && is_lr || s_q[NEW] && !flag_q
        || s_q[WRITE] && (mem_ready_i ? !is_store : is_sc && !reserved);
    assign s[LINK]       = does && jumps;
    assign s[TARGET]     = does && is_branch && taken;
    assign s[JUMP]       = s_q[LINK] || s_q[TARGET];
    assign s[CSR_OLD]    = does && is_csr;
    assign s[CSR_NEW]    = s_q[CSR_OLD] && !is_own && writes_csr;
    assign s[CSR_RESULT] = s_q[CSR_OLD] && !writes_csr || s_q[CSR_NEW];
    assign s[OPERAND]    = does && has_op && !at_once;
    assign s[SEARCH]     = accesses && is_load && waiting
        || s_q[COMPARE] && !(same_word && touches) && !last_look;
    assign s[COMPARE]    = s_q[SEARCH];
    assign s[FOUND]      = s_q[COMPARE] && same_word && touches && covers || s_q[HIT] && same_word
        || MONITOR != 0 && s_q[OPERAND] && is_load && !region_q[2];
    assign s[LOOK]       = beyond && looks;
    assign s[HIT]        = s_q[LOOK];
    assign s[READ]       = beyond && !looks || s_q[HIT] && !same_word
        || accesses && (is_lr || is_amo) || s_q[READ] && !mem_ready_i
        || MONITOR != 0 && s_q[OPERAND] && is_load && region_q[2];
    assign s[TAKE]       = s_q[READ] && mem_ready_i;
    assign s[FILL]       = s_q[TAKE] && is_load && cached;
    assign s[FILL_TAG]   = s_q[FILL];
    assign s[BUFFER]     = accesses && is_store && MONITOR == 0;
    assign s[BUFFER_TAG] = s_q[BUFFER];
    assign s[OLD]        = s_q[TAKE] && is_cas;
    assign s[SAME]       = s_q[OLD];
    assign s[NEW]        = s_q[SAME];
    assign s[RANK]       = s_q[TAKE] && is_rank;
    assign s[WRITE]      = s_q[TAKE] && is_amo && !is_cas && !is_rank || s_q[RANK]
        || s_q[NEW] && flag_q || accesses && is_sc && reserved
        || s_q[WRITE] && !mem_ready_i && (!is_sc || reserved)
        || MONITOR != 0 && s_q[OPERAND] && is_store && region_q[2];
    assign s[RECORD]     = s_q[RESULT] && is_access && MONITOR == 0 || s_q[BUFFER_TAG]
        || accesses && (is_fence || is_hint) || notes && !nothing && !gives_up
        || s_q[RECORD] && !ends;
    assign s[NEXT]       = ends && !halted;
    assign s[DRAIN_TAG]  = drains;
    assign s[DRAIN_DATA] = s_q[DRAIN_TAG];
    assign s[DRAIN_WORD] = s_q[DRAIN_DATA];
    assign s[DRAIN]      = s_q[DRAIN_WORD] || s_q[DRAIN] && !mem_ready_i;
    assign s[TRAP_VALUE] = except && !halted || runs && irq;
    assign s[TRAP_PC]    = s_q[TRAP_VALUE];
    assign s[TRAP_CAUSE] = s_q[TRAP_PC];
    assign s[GO]         = s_q[TRAP_CAUSE] || does && is_system && !is_csr && is_mret;
    assign s[LOCAL]      = MONITOR != 0 && s_q[OPERAND] && is_store && !region_q[2];

    // ---- where it reads and writes in the RAM --------------------------------------------------

    reg  [4:0]    rn;                   // the register that is read
    reg  [AW-1:0] raddr, waddr;
    wire [AW-1:0] of_csr = is_code ? pc_q[AW-1:0] : csr_at(is_mret && !is_csr ? MEPC : csr[2:0]);
    always @* begin
        rn = s_q[DECODE] ? halted ? dbg_insn_i[19:15] : ram_word[19:15]
            : s_q[TAKE] ? rd : is_multiply && !s_q[FIRST] ? insn_q[19:15] : rs2;
        raddr = register(rn);
        if (s_q[FETCH]) raddr = pc_q[AW-1:0];
        if (s_q[EXECUTE] && is_system) raddr = of_csr;
        if (s_q[OPERAND]) raddr = mar_q[AW+1:2];
        if (s_q[SEARCH] || s_q[COMPARE]) raddr = entry(look, s_q[SEARCH]);
        if (s_q[DRAIN_TAG] || s_q[DRAIN_DATA]) raddr = entry(oldest, s_q[DRAIN_TAG]);
        if (s_q[LOOK] || s_q[HIT]) raddr = line(set, s_q[LOOK]);
        if (s_q[TRAP_CAUSE]) raddr = csr_at(MTVEC);

        waddr = register(rd);
        if (s_q[CLEAR]) waddr = own({1'b1, age_q[5:0]});
        if (s_q[CSR_NEW]) waddr = of_csr;
        if (s_q[FILL] || s_q[FILL_TAG]) waddr = line(set, s_q[FILL_TAG]);
        if (s_q[BUFFER] || s_q[BUFFER_TAG]) waddr = entry(newest, s_q[BUFFER_TAG]);
        if (s_q[LOCAL]) waddr = mar_q[AW+1:2];
        if (s_q[TRAP_VALUE]) waddr = csr_at(MTVAL);
        if (s_q[TRAP_PC]) waddr = csr_at(MEPC);
        if (s_q[TRAP_CAUSE]) waddr = csr_at(MCAUSE);
    end
    wire we = s_q[CLEAR] || s_q[FILL] || s_q[FILL_TAG] || s_q[BUFFER] || s_q[BUFFER_TAG]
        || s_q[LOCAL] || s_q[TRAP_VALUE] || s_q[TRAP_PC] || s_q[TRAP_CAUSE]
        || s_q[CSR_NEW] && (in_ram_csr || is_code)
        || has_rd && (s_q[RESULT] || s_q[LINK] || s_q[CSR_RESULT]
            || does && (is_alu && !is_shift && !is_less && !is_hint || is_lui || is_auipc));

    // ---- registers -----------------------------------------------------------------------------

    reg [31:0] special;
    always @*
        case (csr)
            12'h300: special = {19'd0, 2'b11, 3'd0, mpie_q, 3'd0, mie_q, 3'd0};
            12'h304: special = {28'd0, msie_q, 3'd0};
            12'h344: special = {28'd0, MONITOR == 0 && ipi_i, 3'd0};
            12'hb00: special = MONITOR != 0 ? 32'd0 : cycle_i;
            12'hf14: special = {28'd0, hart_i};
            default: special = DEBUG != 0 && halted ? debug_csr : 32'd0;
        endcase

    wire shift_in = s_q[HALVE] ? carry_q : insn_q[30] && is_shift && a_q[31];
    always @(posedge clk_i) begin
        if (s_q[FIRST] || s_q[FOUND]) a_q <= ram_word;
        else if (s_q[EXECUTE] && (is_csr || is_multiply) || s_q[ADD]) a_q <= sum;
        else if (s_q[TAKE]) a_q <= mem_data_i;
        else if (s_q[SHIFT] && count_q != 5'd0 || s_q[HALVE])
            a_q <= is_left && !is_load ? {a_q[30:0], 1'b0} : {shift_in, a_q[31:1]};
        if (s_q[SECOND] || s_q[TARGET]) b_q <= (is_op || is_branch) && s_q[SECOND] ? ram_word : imm;
        else if (s_q[OPERAND] || s_q[OLD] || s_q[NEW] || s_q[DRAIN_WORD] || s_q[CSR_OLD])
            b_q <= s_q[CSR_OLD] && !in_ram_csr && !is_code ? special : ram_word;
        if (s_q[DECODE]) insn_q <= halted ? dbg_insn_i : ram_word;
        if (s_q[EXECUTE]) begin
            mar_q    <= sum[MW-1:0];
            region_q <= MONITOR != 0 ? {sum[28], 1'b0, sum[16]}
                : is_fence ? 3'd0 : {sum[31], sum[30], sum[25]};
        end else if (s_q[DRAIN_DATA]) begin
            mar_q    <= ram_word[MW-1:0];
            region_q <= ram_word[16:14];
            be_q     <= ram_word[31:28];
        end
        if (s_q[ADD]) carry_q <= total[33];
        if (s_q[EXECUTE] || s_q[RANK])
            flag_q <= (s_q[RANK] ? funct5[3] : funct3[0]) ? !total[33] : below;
        else if (s_q[SAME]) flag_q <= sum == 32'd0;
        else if (s_q[OPERAND]) flag_q <= 1'b1;  // of an SC: it failed
        else if (s_q[WRITE] && is_sc && mem_ready_i) flag_q <= 1'b0;
        if (s_q[EXECUTE]) count_q <= is_multiply ? {5{is_left}} : b_q[4:0];
        else if (s_q[FOUND] || s_q[TAKE]) count_q <= one || two ? {mar_q[1:0], 3'd0} : 5'd0;
        else if (s_q[SHIFT] || s_q[HALVE])
            count_q <= is_multiply && !is_left ? count_q + 5'd1 : count_q - 5'd1;
        if (!s_q[SEARCH]) look_q <= (s_q[COMPARE] ? look_q : put_q[BW-1:0]) - 1'b1;
        if (except) cause_q <= cause;
        if (s_q[FETCH]) irq_q <= irq;
        if (s_q[RECORD]) begin
            if (rec_ready_i) word_q <= next_word;
        end else
            word_q <= 3'd0;
    end

    wire goes_out = s_q[DRAIN] && mem_ready_i;
    always @(posedge clk_i)
        if (rst) begin
            s_q        <= 1;
            pc_q       <= {PW{1'b0}};
            age_q      <= 12'd0;
            seq_q      <= 8'd0;
            retired_q  <= 16'd0;
            put_q      <= {BW+1{1'b0}};
            get_q      <= {BW+1{1'b0}};
            valid_q    <= {SETS{1'b0}};
            reserved_q <= 1'b0;
            {done_q, must_q, sleeps_q, mie_q, mpie_q, msie_q} <= 6'd0;
        end else begin
            s_q    <= s;
            if (over) pc_q <= s_q[GO] ? ram_word[PW+1:2] : sum[PW+1:2];
            age_q  <= over ? 12'd0 : age_q + {11'd0, age_q != 12'hfff};
            if (s_q[RECORD] && !halted && ends) seq_q <= seq_q + 8'd1;

            if (MONITOR == 0 && (ends || over && !s_q[NEXT]) && !halted)
                retired_q <= retired_q + 16'd1;
            if (s_q[BUFFER_TAG]) put_q <= put_q + 1'b1;
            if (goes_out) get_q <= get_q + 1'b1;
            if (gives_up) must_q <= 1'b1;
            else if (goes_out || !waiting) must_q <= 1'b0;

            if (s_q[READ] && mem_ready_i && cached && is_load) valid_q[set[SW-1:0]] <= 1'b1;
            if (s_q[RECORD] && is_fences && !is_fence) valid_q[set[SW-1:0]] <= 1'b0;
            if (inv_valid_i) valid_q[inv_addr_i[SW+1:2]] <= 1'b0;
            if (s_q[READ] && mem_ready_i && is_lr) begin
                reserved_q      <= cached;
                reserved_addr_q <= mar_q[MW-1:2];
            end else if (s_q[RESULT] && is_sc
                    || inv_valid_i && inv_addr_i[5:2] == reserved_addr_q[5:2])
                reserved_q <= 1'b0;

            if (s_q[RECORD] && is_own && !is_mark && ends && !halted) done_q <= 1'b1;
            sleeps_q <= sleeps_q ? !over && !halted : does && sleeps && !halted;
            if (s_q[CSR_NEW] && csr == 12'h300) {mpie_q, mie_q} <= {value[7], value[3]};
            else if (s_q[TRAP_CAUSE]) {mpie_q, mie_q} <= {mie_q, 1'b0};
            else if (s_q[EXECUTE] && s[GO]) // mret
                {mpie_q, mie_q} <= {1'b1, mpie_q};
            if (s_q[CSR_NEW] && csr == 12'h304) msie_q <= value[3];
        end

    // ---- the RAM -------------------------------------------------------------------------------

    wire        loads = rst || load_we_i;
    wire [31:0] other = s_q[TRAP_CAUSE] ? {irq_q, 27'd0, irq_q ? 4'd3 : cause_q} : tag;
    lean_ram #(.WORDS(RAM_WORDS), .BYTES(MONITOR), .FIRMWARE(FIRMWARE)) code (
        .clk_i(clk_i), .read_addr_i(loads ? load_addr_i[AW+1:2] : raddr), .read_data_o(ram_word),
        .write_i(loads ? load_we_i : we),
        .be_i(MONITOR != 0 && s_q[LOCAL] && !loads ? be : 4'b1111),
        .write_addr_i(loads ? load_addr_i[AW+1:2] : waddr),
        .write_data_i(loads ? load_data_i
            : s_q[TRAP_CAUSE] || s_q[FILL_TAG] || s_q[BUFFER_TAG] ? other : value));
    assign load_data_o = ram_word;
    wire unused_addr = &{1'b0, load_addr_i[31:AW+2], load_addr_i[1:0], inv_addr_i, total[0]};

    // ---- memory, records, the debugger ---------------------------------------------------------

    assign mem_valid_o = s_q[READ] || s_q[DRAIN]
        || s_q[WRITE] && (!is_sc || reserved);
    assign mem_write_o = !s_q[READ];
    assign mem_lock_o  = is_amo && (s_q[READ] || s_q[TAKE] || s_q[OLD]
        || s_q[SAME] || s_q[NEW] || s_q[RANK] || s_q[WRITE]);
    assign mem_other_o = region_q[0];
    assign mem_addr_o  = address;
    assign mem_be_o    = s_q[DRAIN] ? be_q : be;
    assign mem_data_o  = value;

    // What soc.def says of these kinds, by instruction: 20 LUTs less than by the kind. Words are
    // numbered as in the longest record here.
    wire has_addr    = !is_own;
    wire has_read    = is_load || is_atomic || is_own && is_mark;
    wire has_written = is_store || is_atomic && !is_lr;
    wire [2:0] last_word = has_written ? 3'd4 : has_read ? 3'd3 : has_addr ? 3'd2 : 3'd1;
    wire [2:0] next_word = word_q == 3'd1 && !has_addr ? 3'd3
        : word_q == 3'd2 && !has_read ? 3'd4 : word_q + 3'd1;
    wire [3:0] rec_kind = is_load ? `REC_LOAD : is_store ? `REC_STORE : is_lr ? `REC_LR
        : is_sc ? `REC_SC : is_atomic ? `REC_ATOMIC : is_fence ? `REC_FENCE : is_hint ? `REC_HINT
        : is_mark ? `REC_MARK : `REC_DONE;
    wire [31:0] rec_head;
    assign rec_head[`REC_HEAD_LATENCY]  = age_q;
    assign rec_head[`REC_HEAD_SEQUENCE] = seq_q;
    assign rec_head[`REC_HEAD_HART]     = hart_i;
    assign rec_head[`REC_HEAD_TX]       = 1'b0;
    assign rec_head[`REC_HEAD_VISIBLE]  = 1'b0;
    assign rec_head[`REC_HEAD_SIZE]     = size;
    assign rec_head[`REC_HEAD_KIND]     = rec_kind;
    assign rec_valid_o = MONITOR == 0 && s_q[RECORD] && !halted;
    assign rec_last_o  = word_q == last_word;
    assign rec_data_o  = word_q == 3'd0 ? rec_head : word_q == 3'd1 ? cycle_i
        : word_q == 3'd2 ? {region_q[2:1], 4'd0, region_q[0], 11'd0, address} : value;

    assign ipi_clear_o = s_q[CSR_NEW] && csr == 12'h344
        && (funct3[1:0] == 2'd1 && !a_q[3] || funct3[1:0] == 2'd3 && a_q[3]);
    assign done_o = done_q;
    assign pc_o   = {pc30, 2'd0};
    assign retired_o = retired_q;

    generate if (DEBUG != 0) begin : debug
        localparam [31:0] MISA = 32'h40000100 | (MONITOR == 0 ? 32'd1 : 32'd0);
        hart_debug #(.TRIGGER(0), .MISA(MISA)) debug (
            .clk_i(clk_i), .dbg_rst_i(dbg_rst_i), .rst_i(rst_i), .rst_o(rst), .halt_i(dbg_halt_i),
            .resume_i(dbg_resume_i), .halted_o(halted), .stop_o(stop), .halts_i(halts),
            .ebreak_i(s_q[EXECUTE]), .ebreakm_o(ebreakm), .step_o(stepping),
            .over_i(over), .take_i(1'b0), .take_pc_i(30'd0), .csr_addr_i(csr),
            .csr_data_o(debug_csr), .csr_write_i(halted && s_q[CSR_NEW]),
            .csr_value_i(value), .code_i(32'd0));
    end else begin : no_debug
        assign {halted, stop, stepping, ebreakm} = 4'd0;
        assign rst       = rst_i;
        assign debug_csr = 32'd0;
        wire unused = &{1'b0, dbg_rst_i, dbg_halt_i, dbg_resume_i, halts};
    end endgenerate
    assign dbg_halted_o = halted;
    assign dbg_ack_o    = halted && (ends || except || over);
    assign dbg_fault_o  = halted && except;
    assign dbg_data_o   = value;

    wire [BW:0] held = put_q - get_q;
    `ASSERT(lean_one_step, s_q != 0 && (s_q & (s_q - 1'b1)) == 0)
    `ASSERT(lean_buffer, held <= SB_DEPTH)
    function among(input [15:0] kinds, input [3:0] kind);
        among = kinds[kind];
    endfunction
    `ASSERT(lean_record_shape, !s_q[RECORD] || has_addr == among(`REC_HAS_ADDRESS, rec_kind)
        && has_read == among(`REC_HAS_READ, rec_kind)
        && has_written == among(`REC_HAS_WRITTEN, rec_kind))
    `ASSERT(lean_orders_atomics, !(is_atomic && (s_q[READ] || s_q[WRITE])) || !waiting)
    `COVER(lean_forwards, s_q[COMPARE] && s[FOUND])
    `COVER(lean_forwards_a_part, s_q[COMPARE] && gives_up)
    `COVER(lean_buffer_full, s_q[OPERAND] && is_store && full)
    `COVER(lean_hits, s_q[HIT] && same_word)
    `COVER(lean_conflict, s_q[HIT] && !same_word)
    `COVER(lean_line_lost_in_hit, s_q[LOOK] && !looks)
    `COVER(lean_reservation_lost, s_q[WRITE] && is_sc && !reserved)
    `COVER(lean_no_room, s_q[OPERAND] && !ready)
    wire unused_held = &{1'b0, held};
endmodule
`default_nettype wire
