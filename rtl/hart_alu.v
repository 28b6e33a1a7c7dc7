// SPDX-License-Identifier: Apache-2.0
// What a hart computes in one cycle: sums, comparisons, shifts, logic.
//
// sum_o is the address of memory operations, the target of branches and the like: what hart.v chose
// is added. The rest works on the operands of the instruction. Where nobody wants them, results
// have no meaning: a simulation leaves them out.
`default_nettype none
module hart_alu (
    input  wire        sum_i,     // sum_o is wanted,
    input  wire        alu_i,     // result_o too,
    input  wire        branch_i,  // taken_o too
    input  wire [31:0] base_i,    // sum_o = base_i + offset_i
    input  wire [31:0] offset_i,
    input  wire [31:0] a_i,
    input  wire [31:0] b_i,       // the second operand, or offset_i
    input  wire        imm_i,     // where this is 1,
    input  wire        invert_i,  // inverted for SUB, SLT, SLTU, BRANCH
    input  wire [2:0]  funct3_i,  // of OP, OP-IMM, BRANCH
    input  wire        other_i,   // SRA for SRL
    output reg  [31:0] sum_o,
    output reg  [31:0] result_o,  // of OP and OP-IMM
    output reg         taken_o    // of BRANCH
);
    reg [31:0] b;
    reg [33:0] total; // a + b or a - b, between two bits for the carry in and out
    reg        less, below;
    reg [62:0] funnel, shifted;
    always @* begin
        sum_o    = 32'dx;
        result_o = 32'dx;
        taken_o  = 1'bx;
        b        = 32'dx;
        total    = 34'dx;
        less     = 1'bx;
        below    = 1'bx;
        funnel   = 63'dx;
        shifted  = 63'dx;
        if (sum_i) sum_o = base_i + offset_i;
        if (alu_i || branch_i) begin
            b       = (imm_i ? offset_i : b_i) ^ {32{invert_i}};
            total   = {1'b0, a_i, 1'b1} + {1'b0, b, invert_i};
            below   = !total[33];
            less    = a_i[31] == b[31] ? a_i[31] : below;
            taken_o = (funct3_i[2] ? funct3_i[1] ? below : less : (a_i ^ b) == 32'hffffffff)
                != funct3_i[0];
            case (funct3_i)
                3'd0: result_o = total[32:1];
                3'd2: result_o = {31'd0, less};
                3'd3: result_o = {31'd0, below};
                3'd4: result_o = a_i ^ b;
                3'd6: result_o = a_i | b;
                3'd7: result_o = a_i & b;
                // Both directions in one shifter: left by n is {a, 0...} right by 31 - n.
                default: begin
                    funnel   = !funct3_i[2] ? {a_i, 31'd0} : {{31{other_i && a_i[31]}}, a_i};
                    shifted  = funnel >> (!funct3_i[2] ? ~b[4:0] : b[4:0]);
                    result_o = shifted[31:0];
                end
            endcase
        end
    end
    wire unused = &{1'b0, shifted[62:32], total[0]};
endmodule
`default_nettype wire
