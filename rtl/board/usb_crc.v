// SPDX-License-Identifier: Apache-2.0
// Both checksums of USB in one register, a bit at a time: CRC16 of data (x^16 + x^15 + x^2 + 1),
// and in its lower five bits CRC5 of tokens (x^5 + x^2 + 1), which has its taps where the other has
// some, too.
`default_nettype none
module usb_crc (
    input  wire clk_i,
    input  wire start_i,  // begin anew; goes before step_i
    input  wire step_i,   // one more bit
    input  wire bit_i,
    input  wire token_i,  // CRC5
    input  wire shift_i,  // the next bit of the checksum comes to bit_o
    output wire bit_o,    // as it is to be sent
    output wire good_o    // of all bits so far, the checksum's with them
);
    reg [15:0] crc_q;
    wire feedback = !shift_i && ((token_i ? crc_q[4] : crc_q[15]) ^ bit_i);

    always @(posedge clk_i)
        if (start_i)
            crc_q <= 16'hffff;
        else if (step_i)
            crc_q <= {crc_q[14] ^ feedback, crc_q[13:2], crc_q[1] ^ feedback, crc_q[0], feedback};

    assign bit_o  = !crc_q[15];
    // What is left when the checksum was right: 5'h0c, 16'h800d.
    assign good_o = crc_q[4:1] == 4'b0110
                 && (token_i ? !crc_q[0] : crc_q[0] && crc_q[15:5] == 11'h400);
endmodule
`default_nettype wire
