// SPDX-License-Identifier: Apache-2.0
// Tokens, answers, toggles, and what the endpoints hold (rtl/board/BOARD.md).
//
// Whatever packet ends, good or not, ends what was due before it: data after OUT and SETUP, a
// handshake after our data. So does a pause. An answer is given in the first pause after its packet
// or not at all.
`default_nettype none
`include "check.vh"
module usb_transaction (
    input  wire       clk_i,         // 48 MHz
    input  wire       rst_i,

    // usb_line.v, usb_packet.v
    input  wire       bus_reset_i,
    input  wire       answer_i,
    input  wire       timeout_i,
    input  wire       sync_i,
    input  wire       byte_i,
    input  wire [7:0] data_i,
    input  wire [6:0] count_i,
    input  wire [3:0] pid_i,
    input  wire       end_i,
    input  wire       good_i,
    output wire       send_o,
    output wire [3:0] send_pid_o,

    // Registers.
    input  wire [6:0] address_i,
    input  wire       setup_waits_i, // EVENT_SETUP
    input  wire       write_ep0_out_i,
    input  wire       write_ep0_in_i,
    input  wire       write_out_i,
    input  wire       write_in_i,
    input  wire       arm_i,         // of what is written
    input  wire       stall_i,
    input  wire       clear_i,
    output wire       ep0_out_arm_o,
    output wire       ep0_out_full_o,
    output wire       ep0_out_stall_o,
    output wire       ep0_in_arm_o,
    output wire       ep0_in_stall_o,
    output wire       out_any_o,
    output wire       out_stall_o,
    output wire       in_full_o,
    output wire       in_stall_o,
    output wire       setup_o,       // pulses for events and counters
    output wire       ep0_out_o,
    output wire       ep0_in_o,
    output wire       out_o,
    output wire       in_o,
    output wire       damaged_o,
    output wire       lost_o,

    // What lies where in the buffers: they have a place for two packets of each kind.
    output wire       setup_place_o, // of the last SETUP and of packets of EP0_OUT
    output wire       out_place_o,   // of the oldest packet of OUT: changes with write_out_i alone
    output wire       in_place_o,    // of the next packet of IN: changes with write_in_i alone

    output wire       write_o,       // to the OUT buffer
    output wire       write_length_o,
    output wire       write_data_o,  // of a packet, not of a SETUP
    output wire       write_place_o,
    output wire       endpoint_o,
    output wire       read_place_o,  // of the IN buffer
    input  wire       toggle_i       // of what is to go from EP0_IN
);
    // Why something is to be sent, or is awaited.
    reg match_q, endpoint_q;         // of the last token: is it for us, endpoint 0 or 1
    reg setup_q, data_due_q, room_q; // data must follow; there was room when the token came
    reg ack_due_q;
    reg answer_q;                    // goes in the next pause
    reg [2:0] reply_q;               // what: bits 3, 2 and 0 of the PID, but for data's toggle

    reg ep0_out_arm_q, ep0_out_full_q, ep0_out_stall_q, ep0_out_toggle_q;
    reg ep0_in_arm_q, ep0_in_stall_q;
    reg out_stall_q, out_toggle_q, in_stall_q, in_toggle_q;
    reg setup_place_q;
    // Packets came and were taken, were put in and went. A reset moves the one that its own side
    // moves, so that the other side's place stays.
    reg [1:0] out_tail_q, out_head_q, in_tail_q, in_head_q;
    initial begin
        out_head_q    = 2'd0;
        in_tail_q     = 2'd0;
        setup_place_q = 1'b0;
    end

    wire out_any  = out_tail_q != out_head_q;
    wire out_full = (out_tail_q ^ out_head_q) == 2'b10;
    wire in_any   = in_tail_q != in_head_q;
    wire in_full  = (in_tail_q ^ in_head_q) == 2'b10;

    localparam [2:0] ACK = 3'b000, NAK = 3'b100, STALL = 3'b110, DATA = 3'b001;

    // ---- the packet that ended ----
    wire is_token = pid_i[1:0] == 2'b01;
    wire whole    = end_i && good_i;
    wire token    = whole && is_token && match_q;
    wire token_in    = token && pid_i[3:2] == 2'b10;
    wire token_out   = token && pid_i[3:2] == 2'b00;
    wire token_setup = token && pid_i[3:2] == 2'b11 && !endpoint_q;
    wire data     = whole && pid_i[2:0] == 3'b011 && data_due_q;
    wire ack      = whole && pid_i == 4'b0010 && ack_due_q;

    wire new_data = pid_i[3] == (endpoint_q ? out_toggle_q : ep0_out_toggle_q);
    wire stalled  = endpoint_q ? out_stall_q : ep0_out_stall_q;
    wire setup    = data && setup_q && !pid_i[3] && count_i == 7'd10;
    wire out      = data && !setup_q;
    wire take     = out && !stalled && new_data && room_q;
    wire abort    = clear_i && (write_out_i || write_in_i);

    always @(posedge clk_i) begin
        if (byte_i && is_token) begin
            if (!count_i[0]) begin
                match_q    <= data_i[6:0] == address_i;
                endpoint_q <= data_i[7];
            end else if (data_i[2:0] != 3'd0)
                match_q <= 1'b0;
        end

        if (token) begin
            setup_q <= pid_i[3];
            room_q  <= endpoint_q ? !out_full : ep0_out_arm_q;
        end

        if (rst_i || bus_reset_i)
            data_due_q <= 1'b0;
        else if (end_i || timeout_i)
            data_due_q <= token_out || token_setup;

        if (rst_i || bus_reset_i || abort)
            ack_due_q <= 1'b0;
        else if (send_o)
            ack_due_q <= reply_q[0];
        else if (end_i || timeout_i)
            ack_due_q <= 1'b0;

        if (rst_i || bus_reset_i || abort || sync_i || send_o || timeout_i)
            answer_q <= 1'b0;
        else if (token_in || setup || out)
            answer_q <= 1'b1;

        if (end_i) begin
            if (is_token)
                reply_q <= (endpoint_q ? in_stall_q : ep0_in_stall_q) ? STALL
                         : !(endpoint_q ? in_any : ep0_in_arm_q)      ? NAK : DATA;
            else
                reply_q <= setup_q                                    ? ACK
                         : stalled                                    ? STALL
                         : !new_data || room_q                        ? ACK : NAK;
        end
    end

    assign send_o     = answer_i && answer_q;
    // Only now is it certain that toggle_i is of what was armed last.
    assign send_pid_o = {reply_q[0] ? (endpoint_q ? in_toggle_q : toggle_i) : reply_q[2],
                         reply_q[1], 1'b1, reply_q[0]};

    // ---- endpoint 0 ----
    // A SETUP leaves nothing of what was before it; until firmware has seen it nothing is armed.
    wire set_ep0_out = write_ep0_out_i && !setup_waits_i;
    wire set_ep0_in  = write_ep0_in_i && !setup_waits_i;
    wire empty_ep0   = rst_i || bus_reset_i || setup;
    always @(posedge clk_i) begin
        if (empty_ep0 || ep0_out_o)
            ep0_out_arm_q <= 1'b0;
        else if (set_ep0_out)
            ep0_out_arm_q <= arm_i;
        if (empty_ep0)
            ep0_out_full_q <= 1'b0;
        else if (ep0_out_o)
            ep0_out_full_q <= 1'b1;
        else if (set_ep0_out && arm_i)
            ep0_out_full_q <= 1'b0;
        if (empty_ep0)
            ep0_out_stall_q <= 1'b0;
        else if (set_ep0_out)
            ep0_out_stall_q <= stall_i;
        if (setup)
            ep0_out_toggle_q <= 1'b1;
        else if (ep0_out_o)
            ep0_out_toggle_q <= !ep0_out_toggle_q;

        if (empty_ep0) begin
            ep0_in_arm_q   <= 1'b0;
            ep0_in_stall_q <= 1'b0;
        end else if (set_ep0_in) begin
            ep0_in_arm_q   <= arm_i;
            ep0_in_stall_q <= stall_i;
        end else if (ep0_in_o)
            ep0_in_arm_q <= 1'b0;

        if (setup)
            setup_place_q <= !setup_place_q;
    end

    // ---- bulk endpoints ----
    wire empty_out = rst_i || bus_reset_i || write_out_i && clear_i;
    wire empty_in  = rst_i || bus_reset_i || write_in_i && clear_i;
    always @(posedge clk_i) begin
        if (empty_out) begin
            out_tail_q   <= out_head_q;
            out_toggle_q <= 1'b0;
        end else if (out_o) begin
            out_tail_q   <= out_tail_q + 2'd1;
            out_toggle_q <= !out_toggle_q;
        end
        if (write_out_i && arm_i && out_any && !empty_out)
            out_head_q <= out_head_q + 2'd1;
        if (rst_i || bus_reset_i)
            out_stall_q <= 1'b0;
        else if (write_out_i)
            out_stall_q <= stall_i;

        if (empty_in) begin
            in_head_q   <= in_tail_q;
            in_toggle_q <= 1'b0;
        end else if (in_o) begin
            in_head_q   <= in_head_q + 2'd1;
            in_toggle_q <= !in_toggle_q;
        end
        if (write_in_i && arm_i && !in_full && !empty_in)
            in_tail_q <= in_tail_q + 2'd1;
        if (rst_i || bus_reset_i)
            in_stall_q <= 1'b0;
        else if (write_in_i)
            in_stall_q <= stall_i;
    end

    assign setup_o   = setup;
    assign ep0_out_o = take && !endpoint_q;
    assign out_o     = take && endpoint_q;
    assign ep0_in_o  = ack && !endpoint_q;
    assign in_o      = ack && endpoint_q;
    assign damaged_o = end_i && !good_i || data && setup_q && !setup;
    assign lost_o    = ack_due_q && !ack && (end_i || timeout_i);

    // Bytes are written as they come, where nobody looks yet; the length when all of them are
    // right.
    assign write_length_o = take;
    assign write_data_o   = !setup_q && !take;
    assign write_o        = take || byte_i && pid_i[1:0] == 2'b11 && data_due_q
                            && (setup_q ? !count_i[3] : room_q && !count_i[6]);
    assign write_place_o  = endpoint_q ? out_tail_q[0] : setup_place_q ^ setup_q;
    assign read_place_o   = endpoint_q && in_head_q[0];
    assign endpoint_o     = endpoint_q;
    assign setup_place_o  = setup_place_q;
    assign out_place_o    = out_head_q[0];
    assign in_place_o     = in_tail_q[0];

    assign ep0_out_arm_o   = ep0_out_arm_q;
    assign ep0_out_full_o  = ep0_out_full_q;
    assign ep0_out_stall_o = ep0_out_stall_q;
    assign ep0_in_arm_o    = ep0_in_arm_q;
    assign ep0_in_stall_o  = ep0_in_stall_q;
    assign out_any_o       = out_any;
    assign out_stall_o     = out_stall_q;
    assign in_full_o       = in_full;
    assign in_stall_o      = in_stall_q;

    wire [1:0] out_count = out_tail_q - out_head_q, in_count = in_tail_q - in_head_q;
    `ASSERT(usb_out_count, out_count != 2'd3)
    `ASSERT(usb_in_count, in_count != 2'd3)
    `ASSERT(usb_in_acknowledged, !in_o || in_any)
    `ASSERT(usb_setup_first, !setup_waits_i || !ep0_out_arm_q && !ep0_in_arm_q && !ep0_out_stall_q
                             && !ep0_in_stall_q)
    `COVER(usb_repeated, out && !stalled && !new_data)
    `COVER(usb_refused, out && !stalled && new_data && !room_q)
    `COVER(usb_stalled, out && stalled)
    `COVER(usb_setup_over_armed_in, setup && ep0_in_arm_q)
    `COVER(usb_setup_ignored_write, setup_waits_i && (write_ep0_out_i || write_ep0_in_i))
    `COVER(usb_lost, lost_o)
    `COVER(usb_abort, abort && (answer_q || ack_due_q))
    wire unused = &{1'b0, out_count, in_count};
endmodule
`default_nettype wire
