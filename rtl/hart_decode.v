// SPDX-License-Identifier: Apache-2.0
// What an instruction is and needs: decoded while it moves from D to X, kept while it is there.
//
// Everything that goes through the load/store unit has op_o and a kind; its address (or what
// stands in its place: the immediate of a fence, the code of an abort, the value of a mark) is
// base + imm_o, as is what a CSR instruction writes. Where illegal_o is 1 the others mean nothing.
// Written as functions so that a simulation decodes an instruction once and not in every cycle.
`default_nettype none
`include "soc.vh"
module hart_decode #(
    parameter MULDIV = 1,
    parameter TM     = 1,
    parameter DEBUG  = 0,
    parameter TRIGGER = 0,
    parameter ATOMICS = 1
) (
    input  wire        clk_i,
    input  wire        move_i,
    input  wire [31:0] insn_i,
    input  wire        debug_i,      // it is the debugger's: there are CSRs for it alone
    output reg         illegal_o,
    output reg  [31:0] imm_o,
    output reg         base_pc_o,    // base is the pc,
    output reg         base_zero_o,  // or 0; else rs1
    output reg         rs1_o,        // reads it
    output reg         rs2_o,
    output reg         rd_o,         // sets rd, in X or through the load/store unit; rd may be 0
    output reg         alu_o,        // OP or OP-IMM: the result is the ALU's
    output reg         alu_imm_o,    // OP-IMM
    output reg         invert_o,     // SUB, SLT, SLTU, BRANCH: the second operand is inverted
    output reg         muldiv_o,
    output reg         jump_o,       // JAL, JALR: the result is the address after it
    output reg         branch_o,
    output reg         begin_o,      // TX.BEGIN: its target may have to be gone to
    output reg         csr_o,
    output reg         csr_write_o,
    output reg         ecall_o,
    output reg         ebreak_o,
    output reg         mret_o,
    output reg         wfi_o,
    output reg         op_o,
    output reg  [3:0]  kind_o,
    output reg         hint_o,       // never faults
    output reg         access_o,     // load, store or atomic: may fault,
    output reg         writes_o,     // as a store; else as a load
    output reg         atomic_o,
    output reg         cas_o,
    output reg         hold_o,       // INSN_HOLD, with imm_o
    output reg         done_o        // CSR_DONE: an operation only if bit 0 of the value is 1
);
    localparam [11:0] DONE = `CSR_DONE;
    localparam [11:0] MARK = `CSR_MARK;

    function prefetches(input [14:0] insn); // ORI to x0: a hint or nothing
        prefetches = insn == {3'd6, 5'd0, 7'h13};
    endfunction

    function hints(input [4:0] which); // prefetch.r, prefetch.w
        hints = which == 5'd1 || which == 5'd3;
    endfunction

    // Of a CSR instruction: CSRRS and CSRRC with x0 or 0 only read.
    function writes(input [1:0] funct, input [4:0] rs1);
        writes = funct == 2'd1 || rs1 != 5'd0;
    endfunction

    function own(input [11:0] csr); // they read as 0, so that CSRRC writes 0
        own = csr == DONE || csr == MARK;
    endfunction

    function [31:0] immediate(input [31:0] insn);
        case (insn[6:0])
            7'h03, 7'h67: immediate = {{20{insn[31]}}, insn[31:20]};
            7'h13:        immediate = {{20{insn[31]}}, insn[31:25],
                                       prefetches(insn[14:0]) ? 5'd0 : insn[24:20]};
            7'h17, 7'h37: immediate = {insn[31:12], 12'd0};
            7'h23:        immediate = {{20{insn[31]}}, insn[31:25], insn[11:7]};
            7'h6f:        immediate = {{12{insn[31]}}, insn[19:12], insn[20], insn[30:21], 1'b0};
            7'h0f:        immediate = insn[14:12] == 3'd0 ? {20'd0, insn[31:20]} : 32'd0;
            7'h73:        immediate = insn[14] && !(own(insn[31:20]) && insn[13:12] == 2'd3)
                                        ? {27'd0, insn[19:15]} : 32'd0;
            7'h2f, 7'h33: immediate = 32'd0;
            default:
                if (insn[6:0] == `OPCODE_CUSTOM && insn[14:12] != `FUNCT_TX_BEGIN)
                    immediate = {24'd0, insn[27:20]};
                else
                    immediate = {{20{insn[31]}}, insn[7], insn[30:25], insn[11:8], 1'b0};
        endcase
    endfunction

    function known_csr(input [11:0] csr);
        case (csr)
            DONE, MARK, 12'h300, 12'h301, 12'h304, 12'h305, 12'h310, 12'h320, 12'h340, 12'h341,
            12'h342, 12'h343, 12'h344, 12'hb00, 12'hb02, 12'hb80, 12'hb82, 12'hf11, 12'hf12,
            12'hf13, 12'hf14, 12'hf15: known_csr = 1'b1;
            default: known_csr = 1'b0;
        endcase
    endfunction

    function debug_csr(input [11:0] csr);
        case (csr)
            12'h7a0, 12'h7a1, 12'h7a2: debug_csr = TRIGGER != 0;
            12'h7b0, 12'h7b4: debug_csr = 1'b1;
            default: debug_csr = 1'b0;
        endcase
    endfunction

    function legal(input [31:0] insn, input debug);
        case (insn[6:0])
            7'h03: legal = insn[13:12] != 2'd3 && insn[14:12] != 3'd6;
            7'h0f:
                case (insn[14:12])
                    3'd0, 3'd1: legal = 1'b1;
                    3'd2:       legal = insn[11:7] == 5'd0 && insn[31:20] < 12'd3;
                    default:    legal = 1'b0;
                endcase
            7'h13: legal = insn[13:12] != 2'd1 || insn[31:25] == 7'h00
                || insn[14] && insn[31:25] == 7'h20;
            7'h17, 7'h37, 7'h6f: legal = 1'b1;
            7'h23: legal = !insn[14] && insn[13:12] != 2'd3;
            7'h2f:
                case (insn[31:27])
                    5'h00, 5'h01, 5'h03, 5'h04, 5'h05, 5'h08,
                    5'h0c, 5'h10, 5'h14, 5'h18, 5'h1c: legal = ATOMICS != 0 && insn[14:12] == 3'd2;
                    5'h02:   legal = ATOMICS != 0 && insn[14:12] == 3'd2 && insn[24:20] == 5'd0;
                    default: legal = 1'b0;
                endcase
            7'h33: legal = insn[31:25] == 7'h00 || insn[31:25] == 7'h01 && MULDIV != 0
                || insn[31:25] == 7'h20 && (insn[14:12] == 3'd0 || insn[14:12] == 3'd5);
            7'h63: legal = insn[14:13] != 2'd1;
            7'h67: legal = insn[14:12] == 3'd0;
            7'h73:
                if (insn[14:12] == 3'd0)
                    legal = insn[19:15] == 5'd0 && insn[11:7] == 5'd0
                        && (insn[31:20] == 12'h000 || insn[31:20] == 12'h001
                            || insn[31:20] == 12'h302 || insn[31:20] == 12'h105);
                else // A write of CSR_DONE or CSR_MARK has no result: a register for it is refused.
                    legal = insn[13:12] != 2'd0
                        && (known_csr(insn[31:20]) || DEBUG != 0 && debug && debug_csr(insn[31:20]))
                        && !(writes(insn[13:12], insn[19:15])
                            && (insn[31:30] == 2'd3 || own(insn[31:20]) && insn[11:7] != 5'd0));
            default: legal = insn[6:0] == `OPCODE_CUSTOM && TM != 0
                && (insn[14:12] == `FUNCT_TX_BEGIN || insn[14:12] == `FUNCT_TX_COMMIT
                    || insn[14:12] == `FUNCT_TX_ABORT);
        endcase
    endfunction

    function [3:0] kind(input [6:0] opcode, input [2:0] funct3, input [11:0] imm);
        case (opcode)
            7'h23:   kind = `LSU_STORE;
            7'h2f:   kind = imm[11:7] == 5'h02 ? `LSU_LR : imm[11:7] == 5'h03 ? `LSU_SC : `LSU_AMO;
            7'h0f:   kind = funct3[1] ? `LSU_FLUSH : `LSU_FENCE;
            7'h13:   kind = imm[1] ? `LSU_PREFETCH_W : `LSU_PREFETCH_R;
            7'h73:   kind = imm == MARK ? `LSU_MARK : `LSU_DONE;
            7'h03:   kind = `LSU_LOAD;
            default: kind = funct3 == `FUNCT_TX_BEGIN ? `LSU_TX_BEGIN
                : funct3 == `FUNCT_TX_COMMIT ? `LSU_TX_COMMIT : `LSU_TX_ABORT;
        endcase
    endfunction

    always @(posedge clk_i)
        if (move_i) begin
            illegal_o   <= !legal(insn_i, debug_i);
            imm_o       <= immediate(insn_i);
            kind_o      <= kind(insn_i[6:0], insn_i[14:12], insn_i[31:20]);
            base_pc_o   <= 1'b0;
            base_zero_o <= 1'b0;
            rs1_o       <= 1'b0;
            rs2_o       <= 1'b0;
            rd_o        <= 1'b0;
            alu_o       <= 1'b0;
            alu_imm_o   <= 1'b0;
            invert_o    <= 1'b0;
            muldiv_o    <= 1'b0;
            jump_o      <= 1'b0;
            branch_o    <= 1'b0;
            begin_o     <= 1'b0;
            csr_o       <= 1'b0;
            csr_write_o <= 1'b0;
            ecall_o     <= 1'b0;
            ebreak_o    <= 1'b0;
            mret_o      <= 1'b0;
            wfi_o       <= 1'b0;
            op_o        <= 1'b0;
            hint_o      <= 1'b0;
            access_o    <= 1'b0;
            writes_o    <= 1'b0;
            atomic_o    <= 1'b0;
            cas_o       <= 1'b0;
            hold_o      <= 1'b0;
            done_o      <= 1'b0;
            case (insn_i[6:0])
                7'h03: {rs1_o, rd_o, op_o, access_o} <= 4'b1111; // load
                7'h0f: begin // fence, fence.i, cbo.*
                    rs1_o       <= insn_i[13];
                    base_zero_o <= !insn_i[13];
                    op_o        <= !insn_i[12];
                    hint_o      <= insn_i[13];
                end
                7'h13: begin // OP-IMM, prefetch.*
                    {rs1_o, rd_o, alu_o, alu_imm_o} <= 4'b1111;
                    invert_o <= insn_i[14:13] == 2'd1;
                    op_o     <= prefetches(insn_i[14:0]) && hints(insn_i[24:20]);
                    hint_o   <= prefetches(insn_i[14:0]) && hints(insn_i[24:20]);
                    hold_o   <= insn_i[19:0] == `INSN_HOLD;
                end
                7'h17: {base_pc_o, rd_o} <= 2'b11;   // auipc
                7'h23: {rs1_o, rs2_o, op_o, access_o, writes_o} <= 5'b11111; // store
                7'h2f: begin // amo, lr, sc
                    {rs1_o, rs2_o, rd_o, op_o, access_o, atomic_o} <= 6'b111111;
                    writes_o <= insn_i[31:27] != 5'h02;
                    cas_o    <= insn_i[31:27] == 5'h05;
                end
                7'h33: begin // OP
                    {rs1_o, rs2_o, rd_o} <= 3'b111;
                    alu_o    <= !insn_i[25] || MULDIV == 0;
                    muldiv_o <= insn_i[25] && MULDIV != 0;
                    invert_o <= insn_i[14:13] == 2'd1 || insn_i[14:12] == 3'd0 && insn_i[30];
                end
                7'h37: {base_zero_o, rd_o} <= 2'b11; // lui
                7'h63: {rs1_o, rs2_o, base_pc_o, branch_o, invert_o} <= 5'b11111;
                7'h67: {rs1_o, rd_o, jump_o} <= 3'b111;
                7'h6f: {base_pc_o, rd_o, jump_o} <= 3'b111;
                7'h73: // system
                    if (insn_i[14:12] == 3'd0) begin
                        ecall_o  <= insn_i[29:20] == 10'h000;
                        ebreak_o <= insn_i[29:20] == 10'h001;
                        mret_o   <= insn_i[29:20] == 10'h302;
                        wfi_o    <= insn_i[29:20] == 10'h105;
                    end else begin
                        {csr_o, rd_o} <= 2'b11;
                        rs1_o       <= !insn_i[14];
                        base_zero_o <= insn_i[14] || own(insn_i[31:20]) && insn_i[13:12] == 2'd3;
                        csr_write_o <= writes(insn_i[13:12], insn_i[19:15]);
                        op_o        <= writes(insn_i[13:12], insn_i[19:15]) && own(insn_i[31:20]);
                        done_o      <= writes(insn_i[13:12], insn_i[19:15])
                            && insn_i[31:20] == DONE;
                    end
                default: begin // transactions
                    op_o        <= 1'b1;
                    begin_o     <= insn_i[14:12] == `FUNCT_TX_BEGIN;
                    base_pc_o   <= insn_i[14:12] == `FUNCT_TX_BEGIN;
                    base_zero_o <= insn_i[14:12] != `FUNCT_TX_BEGIN;
                end
            endcase
        end
endmodule
`default_nettype wire
