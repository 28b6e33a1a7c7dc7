// SPDX-License-Identifier: Apache-2.0
// What the monitor steers the machine on trial with: its setup and reset, the loader, the capture
// stream, counters; and for itself a CRC-32, a timer and a watchdog. Registers as board.def says.
`default_nettype none
`include "soc.vh"
`include "board.vh"
module devices #(
    parameter [31:0] BUILD = 32'd0,        // of the bitstream
    parameter [31:0] CLOCK = 32'd12000000, // Hz of clk_i
    parameter FIFO_WORDS = 64,             // of the stream, here: a power of two
    parameter [511:0] PARAMETERS = 512'd0  // 16 words, PARAM_*, but for the serial number
) (
    input  wire        clk_i,
    input  wire        rst_i,              // power-on
    input  wire [31:0] serial_i,

    input  wire        reg_valid_i,
    input  wire        reg_write_i,
    input  wire [11:0] reg_addr_i,
    input  wire [31:0] reg_wdata_i,
    output wire        reg_ready_o,
    output wire [31:0] reg_rdata_o,

    input  wire        debug_reset_i,      // the debugger resets machine and monitor
    input  wire        monitor_halted_i,   // the watchdog waits meanwhile
    output wire        monitor_reset_o,

    // soc.v
    output wire        soc_rst_o,
    output wire [1:0]  model_o,
    output wire [6:0]  bug_o,
    output wire [31:0] seed_o,
    output wire [2:0]  level_o,
    output wire        lossy_o,
    output wire        visible_o,
    output wire        load_valid_o,
    output wire        load_code_o,
    output wire [3:0]  load_hart_o,
    output wire [31:0] load_addr_o,
    output wire [31:0] load_data_o,
    input  wire [31:0] load_data_i,
    input  wire        out_valid_i,
    output wire        out_ready_o,
    output wire        out_room_o,         // for 16 words
    input  wire [31:0] out_data_i,
    input  wire [15:0] done_i,
    input  wire        idle_i,
    output wire [3:0]  peek_hart_o,
    output wire [5:0]  peek_o,
    input  wire [31:0] peek_i
);
    localparam FW = $clog2(FIFO_WORDS);

    // Whoever counts its address up, as block copies do, meets the same register all over a window.
    localparam [11:0] LOADS = `DEV_LOAD_WINDOW, CAPTURES = `DEV_CAPTURE_WINDOW,
        WORDS = `DEV_PARAMETERS;
    wire [11:0] addr = reg_addr_i[11:10] == LOADS[11:10] ? `DEV_LOAD_DATA
                     : reg_addr_i[11:10] == CAPTURES[11:10] ? `DEV_CAPTURE : reg_addr_i;

    // An access takes three cycles: it is seen, what it asks for comes, it is answered. What the
    // loader, the machine's counters and the FIFO give a cycle after they were asked is there by
    // then.
    reg [1:0] step_q;
    wire      crc_busy;       // whoever wants the CRC waits until it has taken the last word
    wire      crc_wanted = addr == `DEV_CRC || addr == `DEV_CRC_DATA;
    wire      first  = reg_valid_i && step_q == 2'd0 && !(crc_busy && crc_wanted);
    wire      writes = first && reg_write_i;
    always @(posedge clk_i)
        if (rst_i) step_q <= 2'd0;
        else step_q <= first ? 2'd1 : step_q == 2'd1 ? 2'd2 : 2'd0;
    assign reg_ready_o = step_q == 2'd2;

    // ---- the machine ----------------------------------------------------------------------------

    reg [1:0]  model_q;
    reg [6:0]  bug_q;
    reg [2:0]  level_q;
    reg        lossy_q, visible_q, run_q;
    reg [31:0] seed_q, cycle_q;
    reg [31:0] load_q;        // as LOAD_ADDRESS
    reg [9:0]  peek_q;        // hart, what
    always @(posedge clk_i) begin
        if (writes) case (addr)
            `DEV_SETUP: begin
                model_q   <= reg_wdata_i[`DEV_SETUP_MODEL];
                bug_q     <= reg_wdata_i[`DEV_SETUP_BUG];
                level_q   <= reg_wdata_i[`DEV_SETUP_DELAY];
                lossy_q   <= reg_wdata_i[`DEV_SETUP_LOSSY];
                visible_q <= reg_wdata_i[`DEV_SETUP_VISIBLE];
            end
            `DEV_SEED: seed_q <= reg_wdata_i;
            `DEV_LOAD_ADDRESS: load_q <= {reg_wdata_i[31:2], 2'd0};
            `DEV_PEEK: peek_q <= {reg_wdata_i[`DEV_PEEK_HART], reg_wdata_i[`DEV_PEEK_WHAT]};
            default: ;
        endcase
        if (reg_ready_o && addr == `DEV_LOAD_DATA)
            load_q[`DEV_LOAD_ADDRESS_OFFSET] <= load_q[`DEV_LOAD_ADDRESS_OFFSET] + 27'd4;
        if (rst_i || debug_reset_i)
            run_q <= 1'b0;
        else if (writes && addr == `DEV_RUN)
            run_q <= reg_wdata_i[`DEV_RUN_HARTS];
        cycle_q <= run_q ? cycle_q + 32'd1 : 32'd0;
    end
    assign soc_rst_o    = !run_q;
    assign model_o      = model_q;
    assign bug_o        = bug_q;
    assign level_o      = level_q;
    assign lossy_o      = lossy_q;
    assign visible_o    = visible_q;
    assign seed_o       = seed_q;
    assign load_valid_o = writes && addr == `DEV_LOAD_DATA && !run_q;
    assign load_code_o  = load_q[`DEV_LOAD_ADDRESS_CODE];
    assign load_hart_o  = load_q[`DEV_LOAD_ADDRESS_HART];
    assign load_addr_o  = {5'd0, load_q[`DEV_LOAD_ADDRESS_OFFSET]};
    assign load_data_o  = reg_wdata_i;
    assign peek_hart_o  = peek_q[9:6];
    assign peek_o       = peek_q[5:0];

    // ---- the stream -----------------------------------------------------------------------------

    (* no_rw_check *)
    reg [31:0]  fifo [0:FIFO_WORDS-1];
    reg [31:0]  fifo_word_q;
    reg [FW:0]  put_q, get_q;
    wire [FW:0] count = put_q - get_q;
    wire        put   = out_valid_i && out_ready_o;
    assign out_ready_o = !count[FW];
    assign out_room_o  = !count[FW] && !(&count[FW-1:4]);
    always @(posedge clk_i) begin
        if (put) fifo[put_q[FW-1:0]] <= out_data_i;
        fifo_word_q <= fifo[get_q[FW-1:0]];
        if (!run_q) begin
            put_q <= 0;
            get_q <= 0;
        end else begin
            if (put) put_q <= put_q + 1'b1;
            if (reg_ready_o && !reg_write_i && addr == `DEV_CAPTURE && count != 0)
                get_q <= get_q + 1'b1;
        end
    end

    // ---- for the monitor itself ---------------------------------------------------------------

    // CRC-32 as everybody has it (reflected 04C11DB7), a byte a cycle, low byte first.
    reg [31:0] crc_q, crc_data_q;
    reg [2:0]  crc_left_q;
    assign crc_busy = crc_left_q != 3'd0;
    function [31:0] crc_byte(input [31:0] crc, input [7:0] data);
        integer i;
        begin
            crc_byte = crc ^ {24'd0, data};
            for (i = 0; i < 8; i = i + 1)
                crc_byte = {1'b0, crc_byte[31:1]} ^ (crc_byte[0] ? 32'hedb88320 : 32'd0);
        end
    endfunction
    always @(posedge clk_i)
        if (rst_i)
            crc_left_q <= 3'd0;
        else if (crc_busy) begin
            crc_q      <= crc_byte(crc_q, crc_data_q[7:0]);
            crc_data_q <= {8'd0, crc_data_q[31:8]};
            crc_left_q <= crc_left_q - 3'd1;
        end else if (writes && addr == `DEV_CRC)
            crc_q <= reg_wdata_i;
        else if (writes && addr == `DEV_CRC_DATA) begin
            crc_data_q <= reg_wdata_i;
            crc_left_q <= 3'd4;
        end

    reg [31:0] timer_q, watchdog_q;
    reg        watching_q, restart_q;
    reg [1:0]  cause_q;
    wire       bites = watching_q && watchdog_q == 32'd0;
    always @(posedge clk_i) begin
        timer_q <= rst_i ? 32'd0 : timer_q + 32'd1;
        if (rst_i || monitor_reset_o)
            watching_q <= 1'b0;
        else if (writes && addr == `DEV_WATCHDOG)
            watching_q <= reg_wdata_i != 32'd0;
        if (writes && addr == `DEV_WATCHDOG)
            watchdog_q <= reg_wdata_i;
        else if (watchdog_q != 32'd0 && !monitor_halted_i)
            watchdog_q <= watchdog_q - 32'd1;
        restart_q <= !rst_i && (bites || debug_reset_i);
        if (rst_i) cause_q <= `CAUSE_POWER;
        else if (debug_reset_i) cause_q <= `CAUSE_DEBUG;
        else if (bites) cause_q <= `CAUSE_WATCHDOG;
    end
    assign monitor_reset_o = rst_i || restart_q;

    // ---- reading ------------------------------------------------------------------------------

    reg [31:0] data_q;
    reg        parameter_q;
    reg [31:0] parameter_word;
    integer    i;
    always @* begin
        parameter_word = 32'd0;
        for (i = 0; i < 16; i = i + 1)
            if (addr[5:2] == i[3:0])
                parameter_word = PARAMETERS[i*32 +: 32];
        if (addr[5:2] == `PARAM_SERIAL)
            parameter_word = serial_i;
    end
    always @(posedge clk_i)
        if (step_q == 2'd1) begin
            parameter_q <= addr[11:6] == WORDS[11:6];
            data_q      <= 32'd0;
            case (addr)
                `DEV_ID:            data_q <= `DEV_MAGIC;
                `DEV_BUILD:         data_q <= BUILD;
                `DEV_CLOCK:         data_q <= CLOCK;
                `DEV_TIMER:         data_q <= timer_q;
                `DEV_RUN:           data_q[`DEV_RUN_HARTS] <= run_q;
                `DEV_CYCLE:         data_q <= cycle_q;
                `DEV_DONE: begin
                    data_q[`DEV_DONE_HARTS] <= done_i;
                    data_q[`DEV_DONE_ALL]   <= idle_i && count == 0;
                end
                `DEV_LOAD_DATA:     data_q <= load_data_i;
                `DEV_CAPTURE_COUNT: data_q <= {{31-FW{1'b0}}, count};
                `DEV_CAPTURE:       data_q <= count != 0 ? fifo_word_q : 32'd0;
                `DEV_PEEK_DATA:     data_q <= peek_i;
                `DEV_CRC:           data_q <= crc_q;
                `DEV_CAUSE:         data_q <= {30'd0, cause_q};
                default: ;
            endcase
        end
    assign reg_rdata_o = parameter_q ? parameter_word : data_q;
endmodule
`default_nettype wire
