// SPDX-License-Identifier: Apache-2.0
// System-bus access of the debug module: sbcs, sbaddress0, sbdata0; 8, 16 and 32 bits.
`default_nettype none
module debug_bus (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire        write_sbcs_i,   // accesses over the DMI, one cycle each
    input  wire        write_address_i,
    input  wire        write_data_i,
    input  wire        read_data_i,
    input  wire [31:0] data_i,
    output wire [31:0] sbcs_o,
    output wire [31:0] address_o,
    output wire [31:0] data_o,

    output wire        sb_valid_o,
    output wire        sb_write_o,
    output wire [31:0] sb_addr_o,
    output wire [3:0]  sb_be_o,
    output wire [31:0] sb_wdata_o,     // in its lanes
    input  wire        sb_ready_i,
    input  wire [31:0] sb_rdata_i,
    input  wire        sb_error_i
);
    localparam [2:0] BAD_ADDRESS = 2, BAD_ALIGNMENT = 3, BAD_SIZE = 4;

    reg        busy_q, write_q;
    reg        early_q;                // sbbusyerror: asked for something while busy
    reg [2:0]  error_q;                // sberror
    reg        on_address_q, on_data_q, increment_q;
    reg [2:0]  size_q;                 // log2 of the bytes
    reg [31:0] address_q, data_q;

    wire [1:0]  lane       = write_address_i ? data_i[1:0] : address_q[1:0];
    wire        wide       = size_q > 3'd2;
    wire        misaligned = size_q[0] && lane[0] || size_q[1] && lane != 2'd0;
    wire        clean      = !busy_q && !early_q && error_q == 3'd0;
    wire        reads      = clean && (write_address_i && on_address_q || read_data_i && on_data_q);
    wire        writes     = clean && write_data_i;

    always @(posedge clk_i)
        if (rst_i) begin
            busy_q       <= 1'b0;
            early_q      <= 1'b0;
            error_q      <= 3'd0;
            on_address_q <= 1'b0;
            on_data_q    <= 1'b0;
            increment_q  <= 1'b0;
            size_q       <= 3'd2;
        end else begin
            if (write_sbcs_i) begin
                {on_address_q, size_q, increment_q, on_data_q} <= data_i[20:15];
                early_q <= early_q && !data_i[22];
                error_q <= error_q & ~data_i[14:12];
            end
            if (busy_q && (write_address_i || write_data_i || read_data_i)) early_q <= 1'b1;
            if (reads || writes) begin
                busy_q  <= !wide && !misaligned;
                if (wide) error_q <= BAD_SIZE;
                else if (misaligned) error_q <= BAD_ALIGNMENT;
            end
            if (busy_q && sb_ready_i) begin
                busy_q <= 1'b0;
                if (sb_error_i) error_q <= BAD_ADDRESS;
            end
        end

    wire        done = busy_q && sb_ready_i && !sb_error_i;
    wire [31:0] step = {29'd0, size_q[1:0], size_q == 3'd0};
    always @(posedge clk_i) begin
        if (reads || writes) write_q <= writes;
        if (busy_q ? done && increment_q : write_address_i)
            address_q <= busy_q ? address_q + step : data_i;
        if (busy_q ? done && !write_q : write_data_i)
            data_q <= busy_q ? sb_rdata_i >> {address_q[1:0], 3'd0} : data_i;
    end

    // version 1, 32-bit addresses
    assign sbcs_o = {3'd1, 6'd0, early_q, busy_q, on_address_q, size_q, increment_q, on_data_q,
        error_q, 7'd32, 5'b00111};
    assign address_o  = address_q;
    assign data_o     = data_q;
    assign sb_valid_o = busy_q;
    assign sb_write_o = write_q;
    assign sb_addr_o  = {address_q[31:2], 2'd0};
    assign sb_be_o    = size_q[1] ? 4'b1111
        : size_q[0] ? 4'b0011 << address_q[1:0] : 4'b0001 << address_q[1:0];
    assign sb_wdata_o = size_q[1] ? data_q : size_q[0] ? {2{data_q[15:0]}} : {4{data_q[7:0]}};
endmodule
`default_nettype wire
