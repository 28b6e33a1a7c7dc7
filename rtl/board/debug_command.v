// SPDX-License-Identifier: Apache-2.0
// Abstract commands of the debug module: registers and memory of a halted hart.
//
// A command is a row of instructions that the hart carries out one by one; a value gets into a
// register as LUI and XORI. s0, and s1 or dpc, are saved here meanwhile. So the hart needs no ports
// for data, its own rules apply (a register that does not exist is an illegal instruction), and
// memory is as the hart sees it. dpc is the pc: AUIPC reads it and JALR sets it. Code, which no
// load reads, has a CSR: the word at dpc.
`default_nettype none
module debug_command #(
    parameter CODE_BYTES = 16384    // below that an address is one of code
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire        halted_i,
    input  wire        monitor_i,   // loads read its code

    input  wire        write_data0_i, // accesses over the DMI, one cycle each
    input  wire        write_data1_i,
    input  wire        write_command_i,
    input  wire        write_abstractcs_i,
    input  wire        read_data_i,
    input  wire [31:0] data_i,
    output wire        busy_o,
    output wire [2:0]  cmderr_o,
    output wire [31:0] data0_o,
    output wire [31:0] data1_o,

    output wire        insn_valid_o,
    output wire [31:0] insn_o,
    input  wire        ack_i,
    input  wire        fault_i,
    input  wire [31:0] result_i
);
    localparam [2:0] BUSY = 1, NOT_SUPPORTED = 2, EXCEPTION = 3, NOT_HALTED = 4;
    localparam [11:0] DPC = 12'h7b1, CODE = 12'h7b4;
    localparam [4:0] ZERO = 0, S0 = 8, S1 = 9;
    localparam [31:0] CODE_LIMIT = CODE_BYTES;

    // Steps, and what each one does
    localparam [4:0] IDLE = 0,
        READ = 1,      // a register to data0
        SAVE0 = 2,     // s0 to saved0
        SAVE1 = 3,     // s1, or dpc, to saved1
        ADDRESS = 4,   // s0 is data1
        VALUE = 5,     // data0 to the register, to s0, s1
        CSR = 6,       // s0 to the CSR
        LOAD = 7, STORE = 8,
        TAKE = 9,      // s0 to data0
        GO = 10,       // dpc is s0
        FETCH = 11,    // s0 is the word at dpc
        SHIFT = 12,    // and now its byte or halfword
        ONES = 13, MASK = 14, PLACE = 15, CLEAR = 16, // these bytes of the word become 0
        LEFT = 17, RIGHT = 18, SET = 19,              // and then data0's, which stands in s0
        RESTORE1 = 20, // s1, or dpc by way of s0
        BACK = 21,     // dpc is s0
        RESTORE0 = 22;

    reg [31:0] data0_q, data1_q, saved0_q, saved1_q;
    reg [4:0]  step_q;
    reg        half_q;              // the second instruction of a step that has two
    reg [2:0]  cmderr_q;
    reg        write_q, memory_q, code_q, gpr_q, increment_q;
    reg [1:0]  size_q;
    reg [11:0] register_q;

    // ---- the command ----------------------------------------------------------------------------

    wire        memory   = data_i[31:24] == 8'd2;
    wire        in_range = data_i[15:12] == 4'd0 || data_i[15:5] == 11'h080; // CSRs, GPRs
    wire        fits     = memory ? data_i[22:20] <= 3'd2 && data_i[18:17] == 2'd0
        : data_i[31:24] == 8'd0 && !data_i[19] && !data_i[18]
            && (!data_i[17] || data_i[22:20] == 3'd2 && in_range);
    wire        code     = memory && !monitor_i && data1_q < CODE_LIMIT;
    wire        askew    = code && (data_i[20] && data1_q[0] || data_i[21] && data1_q[1:0] != 2'd0);
    wire        takes    = write_command_i && step_q == IDLE && cmderr_q == 3'd0;
    wire        nothing  = !memory && !data_i[17]; // no transfer

    // ---- the way from step to step --------------------------------------------------------------

    reg [4:0] next;
    always @*
        case (step_q)
            SAVE0:    next = !memory_q ? VALUE : write_q || code_q ? SAVE1 : ADDRESS;
            SAVE1:    next = ADDRESS;
            ADDRESS:  next = code_q ? GO : write_q ? VALUE : LOAD;
            VALUE:    next = !memory_q ? gpr_q ? IDLE : CSR : code_q ? LEFT : STORE;
            CSR:      next = RESTORE0;
            LOAD:     next = fault_i ? RESTORE0 : TAKE;
            STORE:    next = RESTORE1;
            TAKE:     next = code_q ? RESTORE1 : RESTORE0;
            GO:       next = write_q ? ONES : FETCH;
            FETCH:    next = SHIFT;
            SHIFT:    next = TAKE;
            ONES:     next = MASK;
            MASK:     next = PLACE;
            PLACE:    next = CLEAR;
            CLEAR:    next = VALUE;
            LEFT:     next = RIGHT;
            RIGHT:    next = SET;
            SET:      next = RESTORE1;
            RESTORE1: next = code_q ? BACK : RESTORE0;
            BACK:     next = RESTORE0;
            default:  next = IDLE; // READ, RESTORE0
        endcase
    wire in_two = step_q == ADDRESS || step_q == VALUE || step_q == RESTORE1 || step_q == RESTORE0;
    wire moves  = ack_i && (!in_two || half_q);
    wire faults = fault_i && step_q != IDLE;

    always @(posedge clk_i)
        if (rst_i) begin
            step_q   <= IDLE;
            half_q   <= 1'b0;
            cmderr_q <= 3'd0;
        end else begin
            if (write_abstractcs_i && step_q == IDLE) cmderr_q <= cmderr_q & ~data_i[10:8];
            if (takes) begin
                if (!fits) cmderr_q <= NOT_SUPPORTED;
                else if (!halted_i) cmderr_q <= NOT_HALTED;
                else if (askew) cmderr_q <= EXCEPTION;
                else if (!nothing)
                    step_q <= memory ? SAVE0 : !data_i[16] ? READ : data_i[12] ? VALUE : SAVE0;
            end else if (step_q != IDLE && cmderr_q == 3'd0
                    && (write_command_i || write_abstractcs_i || write_data0_i || write_data1_i
                        || read_data_i))
                cmderr_q <= BUSY;

            if (ack_i) half_q <= in_two && !half_q;
            if (moves) step_q <= next;
            if (faults) cmderr_q <= EXCEPTION;
            if (step_q != IDLE && !halted_i) begin // a reset came between
                step_q   <= IDLE;
                half_q   <= 1'b0;
                cmderr_q <= NOT_HALTED;
            end
        end

    // Data, each in one place, so that it is one multiplexer in front of its register.
    wire idle   = step_q == IDLE;
    wire takes0 = idle ? write_data0_i : moves && !fault_i && (step_q == READ || step_q == TAKE);
    wire counts = moves && next == IDLE && increment_q && cmderr_q != EXCEPTION;
    always @(posedge clk_i) begin
        if (takes) begin
            memory_q    <= memory;
            write_q     <= data_i[16];
            size_q      <= data_i[21:20];
            increment_q <= memory && data_i[19];
            code_q      <= code;
            gpr_q       <= data_i[12];
            register_q  <= data_i[11:0];
        end
        if (takes0) data0_q <= idle ? data_i : result_i;
        if (idle ? write_data1_i : counts)
            data1_q <= idle ? data_i : data1_q + {29'd0, size_q, size_q == 2'd0};
        if (step_q == SAVE0) saved0_q <= result_i;
        if (step_q == SAVE1) saved1_q <= result_i;
    end

    // ---- its instructions -----------------------------------------------------------------------

    wire       is_dpc = !memory_q && !gpr_q && register_q == DPC;
    reg [31:0] value;
    reg [4:0]  rd;
    always @* begin
        rd = S0;
        case (step_q)
            ADDRESS: value = data1_q;
            VALUE: begin
                value = data0_q;
                if (!memory_q && gpr_q) rd = register_q[4:0];
                else if (memory_q && !code_q) rd = S1;
            end
            RESTORE1: begin
                value = saved1_q;
                if (!code_q) rd = S1;
            end
            default: value = saved0_q;
        endcase
        if (step_q == ADDRESS && code_q || step_q == VALUE && is_dpc)
            value[1:0] = 2'd0; // it is jumped to
    end

    function [31:0] op_imm(input [11:0] imm, input [4:0] from, input [2:0] funct, input [4:0] to);
        op_imm = {imm, from, funct, to, 7'h13};
    endfunction
    function [31:0] system(input [11:0] csr, input [4:0] from, input [2:0] funct, input [4:0] to);
        system = {csr, from, funct, to, 7'h73};
    endfunction
    localparam [31:0] PC = 32'h00000017, TO_S0 = {12'd0, S0, 3'd0, ZERO, 7'h67}; // AUIPC, JALR
    localparam [2:0] ADDI = 0, SLLI = 1, XORI = 4, SRLI = 5, CSRRW = 1, CSRRS = 2, CSRRC = 3;

    wire [11:0] rest  = size_q == 2'd0 ? 12'd24 : size_q == 2'd1 ? 12'd16 : 12'd0; // 32 - bits
    wire [11:0] lanes = {7'd0, data1_q[1:0], 3'd0};
    reg  [31:0] insn;
    always @*
        case (step_q)
            READ:    insn = gpr_q ? op_imm(12'd0, register_q[4:0], ADDI, ZERO)
                : is_dpc ? PC : system(register_q, ZERO, CSRRS, ZERO);
            SAVE0:   insn = op_imm(12'd0, S0, ADDI, ZERO);
            SAVE1:   insn = code_q ? PC : op_imm(12'd0, S1, ADDI, ZERO);
            CSR:     insn = is_dpc ? TO_S0 : system(register_q, S0, CSRRW, ZERO);
            LOAD:    insn = {12'd0, S0, size_q != 2'd2, size_q, S0, 7'h03};
            STORE:   insn = {7'd0, S1, S0, 1'b0, size_q, 5'd0, 7'h23};
            TAKE:    insn = op_imm(12'd0, S0, ADDI, ZERO);
            GO, BACK: insn = TO_S0;
            FETCH:   insn = system(CODE, ZERO, CSRRS, S0);
            SHIFT:   insn = op_imm(lanes, S0, SRLI, S0);
            ONES:    insn = op_imm(12'hfff, ZERO, ADDI, S0);
            MASK:    insn = op_imm(rest, S0, SRLI, S0);
            PLACE:   insn = op_imm(lanes, S0, SLLI, S0);
            CLEAR:   insn = system(CODE, S0, CSRRC, ZERO);
            LEFT:    insn = op_imm(rest, S0, SLLI, S0);
            RIGHT:   insn = op_imm(rest - lanes, S0, SRLI, S0);
            SET:     insn = system(CODE, S0, CSRRS, ZERO);
            default: insn = half_q ? op_imm(value[11:0], rd, XORI, rd)
                : {value[31:12] ^ {20{value[11]}}, rd, 7'h37}; // LUI
        endcase

    assign busy_o       = step_q != IDLE;
    assign cmderr_o     = cmderr_q;
    assign data0_o      = data0_q;
    assign data1_o      = data1_q;
    assign insn_valid_o = step_q != IDLE;
    assign insn_o       = insn;
endmodule
`default_nettype wire
