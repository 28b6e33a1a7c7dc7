// SPDX-License-Identifier: Apache-2.0
// Packets from bits and bits from packets: SYNC, NRZI, stuffing, PID, bytes, checksum, EOP.
//
// The bus goes one way at a time, so both ways share all counters, the checksum and the stages that
// a packet goes through. A packet that comes always ends: with SE0, or when the wires fall idle.
`default_nettype none
`include "check.vh"
module usb_packet (
    input  wire        clk_i,      // 48 MHz
    input  wire        rst_i,
    input  wire        tick_i,     // of usb_line.v
    input  wire [1:0]  phase_i,
    input  wire        dp_i,
    input  wire        se0_i,

    input  wire        send_i,     // a tick: send this from the next on
    input  wire [3:0]  send_pid_i, // a handshake or data
    input  wire [31:0] word_i,     // in phase 0 that of byte count_o, in phase 3 their number
    output wire        sending_o,  // drive the wires
    output wire        dp_o,
    output wire        dn_o,

    output wire        sync_o,     // a pulse: a packet begins
    output wire        byte_o,     // a pulse: one byte of it
    output wire [7:0]  data_o,     // that byte
    output wire [6:0]  count_o,    // how many bytes of it, without the PID, were there before
    output wire [3:0]  pid_o,
    output wire        end_o,      // a pulse: it has ended
    output wire        good_o      // and was whole
);
    localparam [2:0] SYNC = 3'b000, PID = 3'b001, DATA = 3'b010, CRC_LOW = 3'b011,
                     CRC_HIGH = 3'b111, EOP = 3'b100;

    reg [2:0] stage_q;
    reg       active_q, sending_q; // one comes, one goes
    reg       last_q;              // D+ of the bit before
    reg [2:0] ones_q;              // in a row, up to 7
    reg [2:0] bit_q;               // of the byte
    reg [6:0] count_q;
    reg [7:0] shift_q;
    reg [3:0] pid_q;
    reg       byte_q, bad_q, crc_good_q, more_q;
    reg       end_q, good_q;
    reg       data_bit_q;          // of the word, for this tick
    reg       dp_q, dn_q;

    wire stuff   = ones_q == 3'd6;
    wire broken  = ones_q == 3'd7;
    wire in_crc  = stage_q[1] && stage_q[0];
    wire in_data = stage_q[1] && !stage_q[0];
    wire in_eop  = stage_q[2] && !stage_q[1];
    wire token   = pid_q[1:0] == 2'b01;

    // ---- the bit of this tick ----
    wire crc_bit, crc_good;
    reg  send_bit;
    always @*
        case (stage_q)
        SYNC:    send_bit = bit_q == 3'd7;
        PID:     send_bit = pid_q[bit_q[1:0]] ^ bit_q[2];
        DATA:    send_bit = data_bit_q;
        EOP:     send_bit = 1'b0;
        default: send_bit = crc_bit;
        endcase
    wire came    = dp_i == last_q;
    wire value   = sending_q ? send_bit && !stuff : came;
    always @(posedge clk_i) data_bit_q <= word_i[{count_q[1:0], bit_q}];
    wire advance = tick_i && !stuff && (active_q || sending_q);
    wire last    = advance && bit_q == 3'd7;
    // The first bits of SYNC may be lost on the way.
    wire sync    = tick_i && !active_q && !sending_q && came && shift_q[7:4] == 4'd0;
    wire start   = sync || send_i;
    wire finish  = tick_i && active_q && (se0_i || broken && dp_i);
    wire sent    = tick_i && in_eop && !stuff && bit_q[1:0] == 2'd3;

    usb_crc u_crc (
        .clk_i(clk_i), .start_i(!stage_q[1]), .step_i(advance), .bit_i(value), .token_i(token),
        .shift_i(in_crc), .bit_o(crc_bit), .good_o(crc_good)
    );

    always @(posedge clk_i)
        if (tick_i) begin
            last_q <= dp_i;
            ones_q <= !value ? 3'd0 : broken ? ones_q : ones_q + 3'd1;
            if (finish)
                shift_q <= 8'hff; // the zeros at its end are not those of a SYNC
            else if (!sending_q && !(stuff && active_q))
                shift_q <= {came, shift_q[7:1]};
        end

    always @(posedge clk_i) begin
        if (start)
            bit_q <= 3'd0;
        else if (advance)
            bit_q <= bit_q + 3'd1;

        byte_q <= last && in_data;
        if (start)
            count_q <= 7'd0;
        else if (byte_q)
            count_q <= count_q + 7'd1;

        if (send_i)
            pid_q <= send_pid_i;
        else if (last && stage_q == PID && active_q)
            pid_q <= shift_q[4:1];

        // When sending, whether data is left is known in phase 0, after a byte was counted.
        if (phase_i == 2'd3)
            more_q <= word_i[6:0] != count_q && !count_q[6];

        if (start)
            stage_q <= sync ? PID : SYNC;
        else if (last)
            case (stage_q)
            SYNC:    stage_q <= PID;
            PID:     stage_q <= sending_q && !pid_q[0] ? EOP : DATA;
            CRC_LOW: stage_q <= CRC_HIGH;
            DATA:    stage_q <= DATA;
            default: stage_q <= EOP;
            endcase
        else if (phase_i == 2'd0 && sending_q && in_data && bit_q == 3'd0 && !more_q)
            stage_q <= CRC_LOW;
    end

    // ---- receiving ----
    wire fits = pid_q[1] ? (pid_q[0] ? crc_good_q : count_q == 7'd0)
                         : pid_q[0] && crc_good_q && count_q == 7'd2;
    always @(posedge clk_i) begin
        if (start)
            bad_q <= 1'b0;
        else if (broken || last && stage_q == PID && shift_q[4:1] != ~{came, shift_q[7:5]}
              || byte_q && count_q[6] && count_q[1])
            bad_q <= 1'b1;
        if (start)
            crc_good_q <= 1'b0;
        else if (byte_q)
            crc_good_q <= crc_good;
        // One bit more than whole bytes: a hub may make the last one longer.
        end_q  <= finish;
        good_q <= in_data && !bad_q && bit_q[2:1] == 2'd0 && fits;
        if (rst_i)
            active_q <= 1'b0;
        else if (sync)
            active_q <= 1'b1;
        else if (finish)
            active_q <= 1'b0;
    end

    // ---- sending ----
    always @(posedge clk_i)
        if (rst_i) begin
            sending_q <= 1'b0;
            dp_q      <= 1'b1;
            dn_q      <= 1'b0;
        end else begin
            if (send_i)
                sending_q <= 1'b1;
            else if (sent)
                sending_q <= 1'b0;
            if (tick_i && sending_q) begin
                dp_q <= in_eop && !stuff ? bit_q[1] : dp_q == value;
                dn_q <= in_eop && !stuff ? 1'b0     : dp_q != value;
            end
        end

    assign sending_o = sending_q;
    assign dp_o      = dp_q;
    assign dn_o      = dn_q;
    assign sync_o    = sync;
    assign byte_o    = byte_q && !sending_q;
    assign data_o    = shift_q;
    assign count_o   = count_q;
    assign pid_o     = pid_q;
    assign end_o     = end_q;
    assign good_o    = good_q;

    wire unused = &{1'b0, word_i[31:7]};

    `ASSERT(usb_packet_one_way, !(active_q && sending_q))
    `ASSERT(usb_packet_send_when_idle, !send_i || !active_q && !sending_q && ones_q < 3'd6)
    `ASSERT(usb_packet_drives_j_at_rest, sending_q || dp_q && !dn_q)
    `COVER(usb_packet_stuff_before_eop, tick_i && sending_q && in_eop && stuff)
    `COVER(usb_packet_dribble, finish && bit_q == 3'd1 && !bad_q && fits)
    `COVER(usb_packet_no_end, finish && !se0_i)
    `COVER(usb_packet_overlong, active_q && byte_q && count_q[6] && count_q[1])
endmodule
`default_nettype wire
