/* SPDX-License-Identifier: Apache-2.0 */
/* ordeal-board: simulated boards, plugged into a program, a kernel, or a debugger.
 *
 * Each board is a thread: the model of the board and the virtual USB host in front of it, sample by
 * sample, and whoever is plugged in asked in between. While nobody wants anything time stands
 * nearly still. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"
#include "board_firmware.h"
#include "board_usbip.h"
#include "jtag_port.h"
#include "models.h"
#include "process.h"
#include "usb_bus.h"
#include "usb_fault.h"
#include "usb_host.h"
#include "usb_log.h"
#include "usb_mock.h"

enum {
    EXIT_BAD = 2,
    EXIT_FAILED = 3,
    EXIT_INTERRUPTED = 130,
    POLL = USB_MOCK_SAMPLES, /* samples between two looks at those who are plugged in */
    IDLE_SAMPLES = 4800,     /* that pass at a time while nobody wants anything */
    IDLE_MS = 10,
    WAIT_US = 5000,                   /* between looks at COMMAND, and for signals */
    SETTLE = 500 * USB_SAMPLES_FRAME, /* a board that has not enumerated then will not */
    JTAG_CYCLES = 3,                  /* of the system's clock after a change of JTAG's pins */
    JTAG_TURN = 4096,                 /* changes of them before others are looked at */
    MOST_BOARDS = USB_MOCK_PORTS
};

struct options {
    const char *model, *board, *firmware, *log, *fault, *waves;
    uint64_t seed;
    uint64_t late;               /* bytes that the first board has sent when the others come */
    uint32_t boards;
    int usbip, jtag;             /* ports; -1: not asked for */
    bool empty, bus_powered, real_time, quiet;
    char **command;              /* NULL: none */
};

struct simulated {
    const struct options *options;
    const struct board_interface *model;
    const struct board_firmware *firmware;
    struct board *board;
    struct usb_fault fault;
    struct usb_log *log;
    struct usb_host *host;
    struct usb_bus bus;
    struct usb_pins pins;
    struct usb_mock_port *mock;
    struct board_usbip *usbip;
    struct jtag_port *jtag;
    struct jtag_pins jtag_pins;
    pthread_t thread;
    bool first, come, started, powered;
    bool told;                   /* that no program will see it */
    atomic_bool settled;         /* enumerated, or it takes too long for that */
};

static atomic_bool stopping, late; /* all is over; boards that come later have come */
static atomic_int asked;           /* so many times to end, by signals */
static atomic_bool orphaned;       /* whoever watched over the simulation was killed */

static int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int complain(const char *format, ...)
{
    va_list args;
    fputs("ordeal-board: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return EXIT_BAD;
}

/* ---- a board ------------------------------------------------------------------------------- */

static void samples(struct simulated *s, uint32_t count)
{
    while (count--)
        s->pins = s->model->sample(s->board, usb_host_sample(s->host, s->pins));
}

/* What the debugger wants now: each change of the pins and the time it takes. */
static void serve_jtag(struct simulated *s)
{
    static const struct board_jtag rest;
    bool tdo = s->model->jtag(s->board, (struct board_jtag){
        s->jtag_pins.tck, s->jtag_pins.tms, s->jtag_pins.tdi, s->jtag_pins.trst });
    for (int i = 0; i < JTAG_TURN && jtag_port_poll(s->jtag, &s->jtag_pins, tdo); i++) {
        struct board_jtag pins = { s->jtag_pins.tck, s->jtag_pins.tms, s->jtag_pins.tdi,
                                   s->jtag_pins.trst };
        if (s->jtag_pins.srst)
            s->model->power(s->board);
        s->model->jtag(s->board, s->jtag_pins.srst ? rest : pins);
        samples(s, s->model->divider * JTAG_CYCLES);
        tdo = s->model->jtag(s->board, pins);
    }
}

/* As when a bitstream has been loaded. */
static bool power_on(struct simulated *s)
{
    bool fits = s->model->write_ram(s->board, 0, s->firmware->words, (uint32_t)s->firmware->count);
    s->model->power(s->board);
    s->powered = true;
    return fits;
}

static bool wanted(const struct simulated *s)
{
    return (s->mock && usb_mock_opened(s->mock)) || (s->usbip && board_usbip_attached(s->usbip))
           || (s->jtag && jtag_port_connected(s->jtag)) || s->bus.state == USB_BUS_BUSY
           || s->bus.state == USB_BUS_AGAIN || s->model->running(s->board);
}

static void poll_all(struct simulated *s)
{
    if (s->jtag)
        serve_jtag(s);
    if (s->mock)
        usb_mock_poll(s->mock);
    if (s->usbip)
        board_usbip_poll(s->usbip);
}

static void tell_faults(const struct simulated *s)
{
    for (int i = 0; s->options->fault && i < USB_FAULT_KINDS; i++)
        if (s->fault.count[i])
            fprintf(stderr, "ordeal-board: %" PRIu64 " %s\n", s->fault.count[i],
                    usb_fault_text((enum usb_fault_kind)i));
}

/* A program can only say that there is no board; what is in its way is known here. `overdue`: it
 * was given time enough. */
static void tell_trouble(struct simulated *s, bool overdue)
{
    const char *step = usb_bus_waits_for(&s->bus);
    if (s->bus.given_up && !s->told)
        complain("no program sees the board: %s", s->bus.why);
    else if (overdue && step && !s->told)
        complain("no program sees the board yet: enumeration, %s: no end after %d ms", step,
                 SETTLE / USB_SAMPLES_FRAME);
    else
        return;
    tell_faults(s);
    s->told = true;
}

static void *run_board(void *user)
{
    struct simulated *s = user;
    while (!stopping) {
        samples(s, POLL);
        if (s->first && usb_host_statistics(s->host)->bytes_in >= s->options->late)
            late = true;
        if (!s->come && late)
            usb_host_plug(s->host, s->come = true);
        if (orphaned && usb_host_plugged(s->host))
            usb_host_plug(s->host, false);
        bool plugged = usb_host_plugged(s->host);
        if (s->options->bus_powered && plugged && !s->powered)
            power_on(s);
        s->powered = plugged;
        bool too_late = usb_host_now(s->host) > SETTLE && !s->settled;
        bool ready = s->bus.state == USB_BUS_READY || s->options->empty || !s->come
                  || s->bus.given_up || too_late;
        poll_all(s);             /* shows the device to programs */
        tell_trouble(s, too_late && !s->options->empty);
        s->told &= s->bus.state != USB_BUS_READY;
        if (ready && !s->settled)
            s->settled = true;
        if (wanted(s) || s->bus.state == USB_BUS_EMPTY)
            continue;
        samples(s, IDLE_SAMPLES);
        if (s->jtag)
            jtag_port_wait(s->jtag, IDLE_MS);
        else if (s->mock)
            usb_mock_wait(s->mock, IDLE_MS);
        else if (s->usbip)
            board_usbip_wait(s->usbip, IDLE_MS);
    }
    return NULL;
}

static bool make_board(struct simulated *s, const struct options *o, uint32_t number,
                       const struct board_interface *model, const struct board_firmware *firmware)
{
    char why[256];
    *s = (struct simulated){ .options = o, .model = model, .firmware = firmware,
                             .first = number == 0, .come = number == 0 || !o->late };
    usb_fault_init(&s->fault, o->seed + number);
    if (o->fault && !usb_fault_parse(&s->fault, o->fault, why, sizeof why))
        return complain("--fault: %s", why), false;
    if (o->log && !(s->log = usb_log_open(o->log)))
        return complain("%s: %s", o->log, strerror(errno)), false;
    struct usb_host_options host = { .seed = o->seed + number, .real_time = o->real_time,
                                     .fault = o->fault ? &s->fault : NULL, .log = s->log };
    s->board = model->create(number + 1);
    s->host = usb_host_new(&host);
    if (!s->board || !s->host)
        return complain("out of memory"), false;
    if (!power_on(s))
        return complain("the firmware does not fit into the monitor's %" PRIu32 " bytes",
                        model->ram_words * 4), false;
    if (o->waves && !model->waves(s->board, o->waves))
        return complain("%s: no waves can be written there, or the model has none", o->waves),
               false;
    usb_host_plug(s->host, s->come);
    usb_bus_init(&s->bus, s->host);
    if (o->usbip >= 0
        && !(s->usbip = board_usbip_new(&s->bus, (uint16_t)o->usbip, why, sizeof why)))
        return complain("--usbip: %s", why), false;
    if (o->jtag >= 0 && !(s->jtag = jtag_port_open((uint16_t)o->jtag, why, sizeof why)))
        return complain("--jtag: %s", why), false;
    return true;
}

static void tell_ports(const struct simulated *s)
{
    if (s->usbip)
        fprintf(stderr, "ordeal-board: usbip on 127.0.0.1, port %d\n", board_usbip_port(s->usbip));
    if (s->jtag)
        fprintf(stderr, "ordeal-board: remote_bitbang on 127.0.0.1, port %d\n",
                jtag_port_number(s->jtag));
}

/* What is worth knowing at the end. False: something was wrong with the simulation itself. */
static bool finish_board(struct simulated *s)
{
    bool good = true;
    const char *assertion = s->board ? s->model->assertion(s->board) : NULL;
    if (assertion) {
        complain("assertion %s", assertion);
        good = false;
    }
    if (s->host && !s->options->quiet)
        tell_faults(s);
    if (s->usbip)
        board_usbip_free(s->usbip);
    if (s->jtag)
        jtag_port_close(s->jtag);
    if (s->host)
        usb_host_free(s->host);
    if (s->board)
        s->model->destroy(s->board);
    if (s->log && !usb_log_close(s->log)) {
        complain("%s: %s", s->options->log, strerror(errno));
        good = false;
    }
    return good;
}

/* ---- the program that they are plugged into ------------------------------------------------- */

static void ask(int signal)
{
    if (process_asked_anew(signal))
        asked++;
}

static void on_signal(int signal, void (*handler)(int))
{
    sigaction(signal, &(struct sigaction){ .sa_handler = handler }, NULL);
}

/* What asks us to end: of these SIGHUP may be ignored, as under nohup. */
static const int endings[] = { SIGINT, SIGTERM, SIGHUP };
enum { ENDINGS = sizeof endings / sizeof *endings };

static void on_endings(void (*handler)(int))
{
    static bool keep_ignoring, known;
    struct sigaction now;
    if (!known)
        keep_ignoring = sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
    known = true;
    for (int i = 0; i < ENDINGS; i++)
        if (endings[i] != SIGHUP || !keep_ignoring)
            on_signal(endings[i], handler);
}

/* A signal is passed on as SIGTERM: ^C has reached the child by itself. The board is there until the
 * child has ended, so that it can say good-bye. A second request ends it at once. */
static int run_command(struct usb_mock *mock, char **command)
{
    int status, passed = 0;
    usb_mock_environment(mock);
    pid_t ended, child = fork();
    if (child < 0)
        return complain("fork: %s", strerror(errno)), EXIT_FAILED;
    if (child == 0) {
        on_endings(SIG_DFL);
        process_restore_signals();
        signal(SIGUSR1, SIG_DFL);
        signal(SIGUSR2, SIG_DFL);
        execvp(command[0], command);
        complain("%s: %s", command[0], strerror(errno));
        _exit(127);
    }
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (asked > passed)
            kill(child, passed++ ? SIGKILL : SIGTERM);
        usleep(WAIT_US);
    }
    if (ended < 0)
        return complain("waitpid: %s", strerror(errno)), EXIT_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void lose_watch(int signal)
{
    (void)signal;
    orphaned = true;
    on_endings(ask);
}

static int end_of(pid_t simulation)
{
    int status;
    while (waitpid(simulation, &status, 0) < 0)
        if (errno != EINTR)
            return complain("waitpid: %s", strerror(errno)), EXIT_FAILED;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    return complain("the simulation was killed by signal %d", WTERMSIG(status)), EXIT_FAILED;
}

/* What is sent to this process is passed on, as another signal: ^C reaches the simulation, too,
 * which must not count it twice. */
static int watch_over(pid_t simulation, const sigset_t *signals)
{
    siginfo_t info;
    for (;;) {
        int signal = sigwaitinfo(signals, &info);
        if (signal == SIGCHLD && info.si_pid == simulation
            && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED
                || info.si_code == CLD_DUMPED))
            return end_of(simulation);
        if (signal > 0 && signal != SIGCHLD)
            kill(simulation, SIGUSR2);
    }
}

/* The simulation in a process of its own. umockdev ends a program in the middle of a request, when
 * its other side is gone: so if this process is killed the simulation is not, but pulls all cables.
 * Returns twice: in the simulation with -1, here with its exit status. */
static int split(void)
{
    sigset_t signals, before;
    pid_t parent = getpid();
    sigemptyset(&signals);
    for (int i = 0; i < ENDINGS; i++)
        sigaddset(&signals, endings[i]);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    fflush(NULL);
    pid_t simulation = fork();
    if (simulation < 0)
        return complain("fork: %s", strerror(errno)), EXIT_FAILED;
    if (simulation > 0)
        return watch_over(simulation, &signals);
    on_endings(SIG_IGN);
    on_signal(SIGUSR2, ask);
    on_signal(SIGUSR1, lose_watch);
    prctl(PR_SET_NAME, "ordeal-wires");
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    if (getppid() != parent)
        lose_watch(0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return -1;
}

static void tell_model(const char *message) { fprintf(stderr, "ordeal-board: %s\n", message); }

/* Until the command has ended; without one until ^C. */
static int simulate(const struct options *o, const struct board_interface *model,
                    const struct board_firmware *firmware)
{
    static struct simulated boards[MOST_BOARDS];
    struct usb_mock *mock = NULL;
    char why[256];
    int status = 0;
    uint32_t made = 0;
    if (o->command && !(mock = usb_mock_new(why, sizeof why)))
        return complain("%s", why), EXIT_FAILED;
    for (; made < o->boards && status == 0; made++) {
        struct simulated *s = &boards[made];
        if (!make_board(s, o, made, model, firmware))
            status = EXIT_BAD;
        else if (mock && !(s->mock = usb_mock_plug(mock, &s->bus, why, sizeof why)))
            status = (complain("%s", why), EXIT_FAILED);
        else
            tell_ports(s);
    }
    for (uint32_t i = 0; i < made && status == 0; i++) {
        int error = pthread_create(&boards[i].thread, NULL, run_board, &boards[i]);
        boards[i].started = error == 0;
        if (error)
            status = (complain("%s", strerror(error)), EXIT_FAILED);
    }
    if (status == 0) {
        for (uint32_t i = 0; i < made && o->command; i++)
            while (!boards[i].settled && !asked)
                usleep(WAIT_US);
        if (o->command)
            status = asked ? EXIT_INTERRUPTED : run_command(mock, o->command);
        while (!o->command && !asked)
            usleep(WAIT_US);
    }
    stopping = true;
    for (uint32_t i = 0; i < made; i++)
        if (boards[i].started)
            pthread_join(boards[i].thread, NULL);
    if (mock)
        usb_mock_free(mock);
    for (uint32_t i = 0; i < made; i++)
        if (!finish_board(&boards[i]) && status == 0)
            status = EXIT_FAILED;
    return status;
}

/* ---- options ------------------------------------------------------------------------------- */

static const char help[] =
    "usage: ordeal-board [options] -- COMMAND...     plug simulated boards into COMMAND\n"
    "       ordeal-board [options] --usbip PORT      export one to a Linux kernel\n"
    "       ordeal-board [options] --jtag PORT       let OpenOCD debug it\n"
    "\n"
    "Simulates a board of 'ordeal run --target board' up to its pins: the multiprocessor, the\n"
    "firmware on its monitor hart, the USB device core and JTAG. COMMAND's libusb sees it as if\n"
    "it were on this computer's USB.\n"
    "\n"
    "  --model NAME      what it is made of, as in sim/models.h (default h2-s16-w2-l4-b8-q4)\n"
    "  --board FILE      a model from its file, such as a netlist (sim/build_netlist)\n"
    "  --boards N        so many of them, 1 to 8, for COMMAND\n"
    "  --late BYTES      all but the first are plugged in when it has sent so much\n"
    "  --firmware FILE   words in hex; default: the one that was built with this program\n"
    "  --no-firmware     the RAM is empty until somebody loads it over JTAG\n"
    "  --usbip PORT      usbip server on 127.0.0.1; 0: any port, which is told\n"
    "  --jtag PORT       OpenOCD's remote_bitbang on 127.0.0.1, likewise\n"
    "  --fault LIST      what goes wrong on the wires, as chances: damage_in=0.01,unplug=0.001;\n"
    "                    all=0.01: everything that can happen to packets; unplug@5000 (or reset,\n"
    "                    suspend): once, when the board has sent 5000 bytes\n"
    "  --seed N          of chance (default 1)\n"
    "  --log FILE        every packet, as text, or for Wireshark if FILE ends in .pcap\n"
    "  --waves FILE      all signals as FST; the model must be named ...-waves\n"
    "  --bus-powered     it has no power but USB's: unplugged, it forgets everything\n"
    "  --real-time       resets and debouncing as long as USB has them\n"
    "  --quiet           no figures of faults at the end\n"
    "\n"
    "Exit status: COMMAND's; 2 bad usage, 3 the simulation failed.\n"
    "\n"
    "example:\n"
    "  $ ordeal-board -- ordeal run --target board --bias examples/zoo.bias --check --count 50\n";

static bool parse_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end && !errno && *value >= least && *value <= most;
}

enum {
    MODEL = 256,
    BOARD,
    BOARDS,
    LATE,
    FIRMWARE,
    NO_FIRMWARE,
    USBIP,
    JTAG,
    FAULT,
    SEED,
    LOG,
    WAVES,
    BUS_POWERED,
    REAL_TIME,
    QUIET,
    HELP
};
static const struct option names[] = { { "model", 1, NULL, MODEL },
                                       { "board", 1, NULL, BOARD },
                                       { "boards", 1, NULL, BOARDS },
                                       { "late", 1, NULL, LATE },
                                       { "firmware", 1, NULL, FIRMWARE },
                                       { "no-firmware", 0, NULL, NO_FIRMWARE },
                                       { "usbip", 1, NULL, USBIP },
                                       { "jtag", 1, NULL, JTAG },
                                       { "fault", 1, NULL, FAULT },
                                       { "seed", 1, NULL, SEED },
                                       { "log", 1, NULL, LOG },
                                       { "waves", 1, NULL, WAVES },
                                       { "bus-powered", 0, NULL, BUS_POWERED },
                                       { "real-time", 0, NULL, REAL_TIME },
                                       { "quiet", 0, NULL, QUIET },
                                       { "help", 0, NULL, HELP },
                                       { 0 } };

/* -1: go on. */
static int parse(struct options *o, int argc, char **argv)
{
    uint64_t number = 0;
    *o = (struct options){ .model = "h2-s16-w2-l4-b8-q4", .boards = 1, .seed = 1, .usbip = -1,
                           .jtag = -1 };
    for (int c; (c = getopt_long(argc, argv, "+h", names, NULL)) != -1; )
        switch (c) {
        case MODEL: o->model = optarg; break;
        case BOARD: o->board = optarg; break;
        case BOARDS:
            if (!parse_whole(optarg, 1, MOST_BOARDS, &number))
                return complain("--boards '%s': expected a number from 1 to %d", optarg,
                                MOST_BOARDS);
            o->boards = (uint32_t)number;
            break;
        case LATE:
            if (!parse_whole(optarg, 1, UINT64_MAX, &o->late))
                return complain("--late '%s': expected a number of bytes", optarg);
            break;
        case FIRMWARE: o->firmware = optarg; break;
        case NO_FIRMWARE: o->empty = true; break;
        case USBIP: case JTAG:
            if (!parse_whole(optarg, 0, UINT16_MAX, &number))
                return complain("'%s': expected a port, from 0 to 65535", optarg);
            *(c == USBIP ? &o->usbip : &o->jtag) = (int)number;
            break;
        case FAULT: o->fault = optarg; break;
        case SEED:
            if (!parse_whole(optarg, 0, UINT64_MAX, &o->seed))
                return complain("--seed '%s': expected a number", optarg);
            break;
        case LOG: o->log = optarg; break;
        case WAVES: o->waves = optarg; break;
        case BUS_POWERED: o->bus_powered = true; break;
        case REAL_TIME: o->real_time = true; break;
        case QUIET: o->quiet = true; break;
        case HELP: case 'h': fputs(help, stdout); return 0;
        default: return complain("'ordeal-board --help' lists the options");
        }
    o->command = optind < argc ? argv + optind : NULL;
    return -1;
}

/* The options against each other. -1: go on. */
static int check_usage(const struct options *o)
{
    if (!o->command && o->usbip < 0 && o->jtag < 0)
        return complain("nothing to plug the board into: give -- COMMAND, --usbip or --jtag; "
                        "'ordeal-board --help' tells more");
    if (o->command && o->usbip >= 0)
        return complain("the board has one plug: either -- COMMAND or --usbip");
    if (o->boards > 1 && (o->usbip >= 0 || o->jtag >= 0 || o->log || o->waves))
        return complain("--usbip, --jtag, --log and --waves are for one board");
    if (o->late && o->boards == 1)
        return complain("--late is about the second board and those after it: give --boards");
    if (o->empty && o->firmware)
        return complain("--firmware and --no-firmware: which?");
    return -1;
}

static int run(int argc, char **argv)
{
    struct options o;
    struct board_firmware firmware = { 0 };
    struct soc_parameters parameters;
    char path[PATH_MAX], why[256];
    int status = parse(&o, argc, argv);
    if (status < 0)
        status = check_usage(&o);
    if (status >= 0)
        return status;
    if (!model_parse(o.model, &parameters, why, sizeof why))
        return complain("--model: %s", why);
    if (o.board && !realpath(o.board, path)) /* here, not where libraries are */
        return complain("%s: %s", o.board, strerror(errno));
    const struct board_interface *model =
        o.board ? model_load_board(path, why, sizeof why)
                : model_open_board(&parameters, tell_model, why, sizeof why);
    if (!model)
        return complain("%s", why), EXIT_FAILED;
    bool filled = model->ram_words == 0;
    if (filled && (o.empty || o.firmware))
        return complain("%s has its firmware in it", o.board);
    if (!filled && !o.empty && !board_firmware_read(&firmware, o.firmware, why, sizeof why))
        return complain("%s%s", why, o.firmware ? "" : "; --firmware FILE names another");
    on_endings(ask);
    status = o.command ? split() : -1;
    if (status < 0)
        status = simulate(&o, model, &firmware);
    board_firmware_free(&firmware);
    return status;
}

int main(int argc, char **argv)
{
    int error = process_begin();
    if (error)
        return complain("/dev/null: %s", strerror(error));
    int status = run(argc, argv);
    const char *lost = process_end();
    return lost ? complain("%s", lost) : status;
}
