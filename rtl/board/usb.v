// SPDX-License-Identifier: Apache-2.0
// A USB device of full speed: endpoint 0, a bulk OUT and a bulk IN endpoint, registers for firmware
// (rtl/board/BOARD.md, board.def).
//
//     pins - usb_line - usb_packet (usb_crc) - usb_transaction -+- usb_ram OUT, IN -+- register bus
//                                                               +- registers, usb_bus -+
//
// All state is in the clock of USB but for the bus itself. What crosses: accesses to registers
// (usb_bus.v), words of packets (usb_ram.v), and three bits that say where a packet lies, which
// change in an access only, long before its ready, and stand still when firmware looks into a
// buffer.
`default_nettype none
`include "board.vh"
`include "check.vh"
module usb #(
    parameter ERROR_BITS = 16      // of each error counter, 1 to 16; it stays at its highest number
) (
    input  wire        clk48_i,
    input  wire        dp_i,       // as they are at the pins
    input  wire        dn_i,
    output wire        dp_o,
    output wire        dn_o,
    output wire        oe_o,       // drive dp_o, dn_o
    output wire        pullup_o,

    input  wire        clk_i,
    input  wire        rst_i,      // at least two cycles of clk48_i
    input  wire        reg_valid_i,
    input  wire        reg_write_i,
    input  wire [11:0] reg_addr_i,
    input  wire [31:0] reg_wdata_i,
    output wire        reg_ready_o,
    output wire [31:0] reg_rdata_o
);
    // ---- the register bus ----
    wire rst48, access, first;
    wire slow = reg_addr_i[11:6] == 6'd0;
    usb_bus u_bus (
        .clk_i(clk_i), .rst_i(rst_i), .valid_i(reg_valid_i), .slow_i(slow), .first_o(first),
        .ready_o(reg_ready_o), .clk48_i(clk48_i), .rst48_o(rst48), .access_o(access)
    );

    // ---- the wires and packets ----
    wire tick, line_dp, se0, answer, timeout, bus_reset, suspended, reset_end, suspend, resume;
    wire sending, sync, byte_valid, packet_end, packet_good, send;
    wire [1:0]  phase;
    wire [7:0]  data;
    wire [6:0]  count;
    wire [3:0]  pid, send_pid;
    wire [31:0] in_word;
    reg         attach_q;
    usb_line u_line (
        .clk_i(clk48_i), .rst_i(rst48), .dp_i(dp_i), .dn_i(dn_i), .attached_i(attach_q),
        .sending_i(sending), .tick_o(tick), .phase_o(phase), .dp_o(line_dp), .se0_o(se0),
        .answer_o(answer), .timeout_o(timeout), .reset_o(bus_reset), .suspended_o(suspended),
        .reset_end_o(reset_end), .suspend_o(suspend), .resume_o(resume)
    );
    usb_packet u_packet (
        .clk_i(clk48_i), .rst_i(rst48), .tick_i(tick), .phase_i(phase), .dp_i(line_dp), .se0_i(se0),
        .send_i(send), .send_pid_i(send_pid), .word_i(in_word), .sending_o(sending), .dp_o(dp_o),
        .dn_o(dn_o), .sync_o(sync), .byte_o(byte_valid), .data_o(data), .count_o(count),
        .pid_o(pid), .end_o(packet_end), .good_o(packet_good)
    );
    assign oe_o     = sending;
    assign pullup_o = attach_q;

    // ---- registers: all this is in the clock of USB ----
    wire [11:0] register = {6'd0, reg_addr_i[5:2], 2'd0};
    wire        write    = access && reg_write_i;

    reg  [7:0]  events_q;
    reg  [6:0]  address_q;
    reg  [ERROR_BITS-1:0] damaged_q, lost_q;
    reg         setup_place_q;
    reg         toggle_q;
    reg  [31:0] read, read_q;
    initial setup_place_q = 1'b0;

    wire ep0_out_arm, ep0_out_full, ep0_out_stall, ep0_in_arm, ep0_in_stall, out_any, out_stall,
         in_full, in_stall, setup, ep0_out, ep0_in, out, in, damaged, lost;
    wire setup_place, out_place, in_place, out_write, out_write_length, out_write_data,
         out_write_place, endpoint, in_read_place;
    wire setup_waits = events_q[`USB_EVENT_SETUP];
    usb_transaction u_transaction (
        .clk_i(clk48_i), .rst_i(rst48), .bus_reset_i(bus_reset), .answer_i(answer),
        .timeout_i(timeout), .sync_i(sync), .byte_i(byte_valid), .data_i(data), .count_i(count),
        .pid_i(pid), .end_i(packet_end), .good_i(packet_good), .send_o(send), .send_pid_o(send_pid),
        .address_i(address_q), .setup_waits_i(setup_waits),
        .write_ep0_out_i(write && register == `USB_EP0_OUT),
        .write_ep0_in_i(write && register == `USB_EP0_IN),
        .write_out_i(write && register == `USB_OUT),
        .write_in_i(write && register == `USB_IN), .arm_i(reg_wdata_i[`USB_ARM]),
        .stall_i(reg_wdata_i[`USB_STALL]), .clear_i(reg_wdata_i[`USB_CLEAR]),
        .ep0_out_arm_o(ep0_out_arm), .ep0_out_full_o(ep0_out_full), .ep0_out_stall_o(ep0_out_stall),
        .ep0_in_arm_o(ep0_in_arm), .ep0_in_stall_o(ep0_in_stall), .out_any_o(out_any),
        .out_stall_o(out_stall), .in_full_o(in_full), .in_stall_o(in_stall), .setup_o(setup),
        .ep0_out_o(ep0_out), .ep0_in_o(ep0_in), .out_o(out), .in_o(in), .damaged_o(damaged),
        .lost_o(lost), .setup_place_o(setup_place), .out_place_o(out_place), .in_place_o(in_place),
        .write_o(out_write), .write_length_o(out_write_length), .write_data_o(out_write_data),
        .write_place_o(out_write_place), .endpoint_o(endpoint), .read_place_o(in_read_place),
        .toggle_i(toggle_q)
    );

    reg [7:0] happens;
    always @* begin
        happens[`USB_EVENT_RESET]   = reset_end;
        happens[`USB_EVENT_SETUP]   = setup;
        happens[`USB_EVENT_EP0_OUT] = ep0_out;
        happens[`USB_EVENT_EP0_IN]  = ep0_in;
        happens[`USB_EVENT_OUT]     = out;
        happens[`USB_EVENT_IN]      = in;
        happens[`USB_EVENT_SUSPEND] = suspend;
        happens[`USB_EVENT_RESUME]  = resume;
    end
    always @(posedge clk48_i) begin
        if (rst48)
            attach_q <= 1'b0;
        else if (write && register == `USB_CONTROL)
            attach_q <= reg_wdata_i[`USB_CONTROL_ATTACH];

        if (rst48 || bus_reset)
            address_q <= 7'd0;
        else if (write && register == `USB_ADDRESS)
            address_q <= reg_wdata_i[`USB_ADDRESS_DEVICE];

        if (rst48)
            events_q <= 8'd0;
        else begin
            events_q <= events_q & ~(write && register == `USB_EVENTS ? reg_wdata_i[7:0] : 8'd0)
                      | happens;
            if (bus_reset) // what these speak of is gone
                {events_q[`USB_EVENT_SETUP], events_q[`USB_EVENT_EP0_OUT],
                 events_q[`USB_EVENT_EP0_IN], events_q[`USB_EVENT_OUT],
                 events_q[`USB_EVENT_IN]} <= 5'd0;
        end
        // Firmware's SETUP0 and SETUP1 are those of the event that it clears.
        if (write && register == `USB_EVENTS && reg_wdata_i[`USB_EVENT_SETUP])
            setup_place_q <= setup_place;

        if (rst48)
            damaged_q <= {ERROR_BITS{1'b0}};
        else if (damaged && !&damaged_q)
            damaged_q <= damaged_q + 1'b1;
        if (rst48)
            lost_q <= {ERROR_BITS{1'b0}};
        else if (lost && !&lost_q)
            lost_q <= lost_q + 1'b1;

        if (phase == 2'd3)
            toggle_q <= in_word[`USB_TOGGLE];
        if (access)
            read_q <= read;
    end

    function [31:0] endpoint_word(input arm, input full, input stall);
        begin
            endpoint_word = 32'd0;
            endpoint_word[`USB_ARM]   = arm;
            endpoint_word[`USB_FULL]  = full;
            endpoint_word[`USB_STALL] = stall;
        end
    endfunction
    always @* begin
        read = 32'd0;
        case (register)
        `USB_CONTROL: read[`USB_CONTROL_ATTACH] = attach_q;
        `USB_STATUS:  begin
            read[`USB_STATUS_ATTACHED]  = attach_q;
            read[`USB_STATUS_SUSPENDED] = suspended;
            read[`USB_STATUS_RESET]     = bus_reset && attach_q;
        end
        `USB_EVENTS:  read[7:0] = events_q;
        `USB_ERRORS:  begin
            read[`USB_ERRORS_DAMAGED_LOW +: ERROR_BITS] = damaged_q;
            read[`USB_ERRORS_LOST_LOW +: ERROR_BITS]    = lost_q;
        end
        `USB_EP0_OUT: read = endpoint_word(ep0_out_arm, ep0_out_full, ep0_out_stall);
        `USB_EP0_IN:  read = endpoint_word(ep0_in_arm, ep0_in_arm, ep0_in_stall);
        `USB_OUT:     read = endpoint_word(1'b0, out_any, out_stall);
        `USB_IN:      read = endpoint_word(1'b0, in_full, in_stall);
        default: ;
        endcase
    end

    // ---- buffers ----
    // In both RAMs a word lies at the address that firmware knows: bits 8 to 6, then which of two
    // places, then bits 5 to 2. Lengths, SETUPs and the toggle of EP0_IN are in the words of their
    // registers. Those of all other registers are never written; firmware reads RAM and register
    // together, and one of the two is 0.
    wire bulk = reg_addr_i[8] ? reg_addr_i[7] : reg_addr_i[4];
    wire none = reg_addr_i[6] || |reg_addr_i[11:9];

    wire [6:0]  length = count - 7'd2;
    wire [31:0] out_word;
    usb_ram u_out (
        .write_clk_i(clk48_i),
        .write_i(out_write ? (out_write_length ? 4'd1 : 4'd1 << count[1:0]) : 4'd0),
        .write_addr_i({out_write_data, out_write_data && endpoint, 1'b0, out_write_place,
            out_write_data ? count[5:2]
                           : {1'b1, out_write_length && endpoint, out_write_length && !endpoint,
                              !out_write_length && count[2]}}),
        .write_data_i({{3{data}}, out_write_length ? {1'b0, length} : data}),
        .read_clk_i(clk_i),
        .read_addr_i({reg_addr_i[8:7], none, bulk ? out_place : setup_place_q, reg_addr_i[5:2]}),
        .read_data_o(out_word)
    );

    wire in_length = ^phase;       // its address, in phase 1 and 2; it comes a cycle later
    usb_ram u_in (
        .write_clk_i(clk_i),
        .write_i({4{first && reg_write_i && !|reg_addr_i[11:9]
                    && (reg_addr_i[8] || reg_wdata_i[`USB_ARM])}}),
        .write_addr_i({reg_addr_i[8:6], bulk && in_place, reg_addr_i[5:2]}),
        .write_data_i(reg_wdata_i),
        .read_clk_i(clk48_i),
        .read_addr_i({!in_length, !in_length && endpoint, !in_length, in_read_place,
            in_length ? {1'b1, endpoint, !endpoint, 1'b1} : count[5:2]}),
        .read_data_o(in_word)
    );

    assign reg_rdata_o = out_word | (slow ? read_q : 32'd0);

    wire unused = &{1'b0, reg_addr_i[1:0]};
endmodule
`default_nettype wire
