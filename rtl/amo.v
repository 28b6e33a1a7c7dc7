// SPDX-License-Identifier: Apache-2.0
// What an atomic operation makes of a word: combinational, the same for caches and memory.
//
// new_o is the word after the operation; where write_o is 0 (a compare and swap that found another
// value, or no lane at all) it is the word as it was. Byte lanes without be_i keep their old value.
`default_nettype none
`include "soc.vh"
module amo (
    input  wire [6:0]  bug_i,
    input  wire [4:0]  amo_i,     // funct5 of the instruction; 00101 is amocas.w
    input  wire [31:0] old_i,
    input  wire [31:0] data_i,    // rs2
    input  wire [31:0] compare_i, // amocas.w only
    input  wire [3:0]  be_i,
    output wire [31:0] new_o,
    output wire        write_o
);
    reg [31:0] result, after;
    reg        write;

    always @* begin
        result = data_i;  // amoswap.w, amocas.w, and a plain store
        write = 1'b0;
        after = old_i;
        if (be_i != 4'b0) begin
            case (amo_i)
            5'b00000: result = old_i + data_i;
            5'b00100: result = old_i ^ data_i;
            5'b01100: result = old_i & data_i;
            5'b01000: result = old_i | data_i;
            5'b10000: if ($signed(old_i) < $signed(data_i)) result = old_i;
            5'b10100: if ($signed(old_i) > $signed(data_i)) result = old_i;
            5'b11000: if (old_i < data_i) result = old_i;
            5'b11100: if (old_i > data_i) result = old_i;
            default: ;
            endcase
            write = amo_i != 5'b00101 || old_i == compare_i || bug_i == `BUG_CAS_WRITES;
            if (write) begin
                if (be_i[0]) after[7:0] = result[7:0];
                if (be_i[1]) after[15:8] = result[15:8];
                if (be_i[2]) after[23:16] = result[23:16];
                if (be_i[3]) after[31:24] = result[31:24];
            end
        end
    end

    assign write_o = write;
    assign new_o = after;
endmodule
`default_nettype wire
