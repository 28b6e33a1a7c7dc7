/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal serve`: it lets in who knows the token and nobody else, opens nothing that a request
 * names, answers what if with the checker's verdict, moves with a database, has a bound for
 * everything, and loses nothing. The same pages in a browser: tests/pages. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

#include <cJSON.h>

#include "base/interrupt.h"
#include "graphviz_leaks.h"
#include "http_client.h"
#include "regress_db.h"
#include "serve/connections.h"
#include "serve/edits.h"
#include "serve/server.h"
#include "shell.h"

#define BAD_TRACE "ordeal 1\nmodel TSO\nP0 S[A]#1\nP0 S[A]#2\nP0 L[A]=1\n"

static struct {
    pid_t pid;
    unsigned port;
    char token[GATE_TOKEN + 1];
} server;

void setUp(void) { shell_enter(); }

/* Ends with ^C, and in order. */
static int stop_server(void)
{
    int status = 0;
    if (server.pid > 0) {
        kill(server.pid, SIGINT);
        waitpid(server.pid, &status, 0);
    }
    server.pid = 0;
    return status;
}

void tearDown(void)
{
    stop_server();
    shell_leave();
}

/* ---- helpers --------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, name);
    fputs(text, f);
    fclose(f);
}

static void make_failure(const char *folder, const char *trace)
{
    char name[256];
    EXPECT(0, "mkdir -p %s", folder);
    snprintf(name, sizeof name, "%s/test.test", folder);
    write_file(name, "ordeal 1\nP0 S[A]#1\n");
    snprintf(name, sizeof name, "%s/verdict.json", folder);
    write_file(name, "{\"verdict\":\"FAIL\",\"model\":\"TSO\"}\n");
    snprintf(name, sizeof name, "%s/trace.trace", folder);
    write_file(name, trace);
}

static void meet(FILE *from)
{
    char line[256] = "";
    TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, from));
    TEST_ASSERT_EQUAL_MESSAGE(2,
                              sscanf(line, "SERVE http://127.0.0.1:%u/%32[0-9a-f]/", &server.port,
                                     server.token),
                              line);
    fclose(from);
}

/* The program, with an option besides. */
static void start(const char *what, const char *option)
{
    int ends[2];
    TEST_ASSERT_EQUAL(0, pipe(ends));
    server.pid = fork();
    if (server.pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(getenv("ORDEAL"), "ordeal", "serve", option, what, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    meet(fdopen(ends[0], "r"));
}

static char *request(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *request(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    char *answer = http_exchange(server.port, text, (size_t)size);
    free(text);
    return answer;
}

static char *get(const char *name)
{
    return request("GET /%s/%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", server.token, name,
                   server.port);
}

static char *post(const char *body)
{
    return request(
        "POST /%s/what-if HTTP/1.1\r\nHost: localhost:%u\r\nOrigin: http://localhost:%u\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        server.token, server.port, server.port, strlen(body), body);
}

static void expect_status(unsigned status, char *answer, int line)
{
    char message[400];
    snprintf(message, sizeof message, "line %d: %.300s", line, answer);
    TEST_ASSERT_EQUAL_UINT_MESSAGE(status, http_status(answer), message);
    free(answer);
}
#define STATUS(status, answer) expect_status(status, answer, __LINE__)

static void expect_in(char *answer, const char *part, int line)
{
    contains(answer, part, line);
    free(answer);
}
#define ANSWER(answer, part) expect_in(answer, part, __LINE__)

/* The sum that the page has for the what-if of its trace. */
static unsigned sum_in(const char *page)
{
    const char *at = strstr(page, "data-sum=\"");
    TEST_ASSERT_NOT_NULL(at);
    return (unsigned)strtoul(at + strlen("data-sum=\""), NULL, 10);
}

/* ---- who is let in --------------------------------------------------------------------------- */

static void the_gate_lets_in_few(void)
{
    static const struct {
        const char *method, *path, *host, *origin, *type;
        bool query;
        unsigned status;
    } cases[] = {
        { "GET", "/T/", "127.0.0.1:80", 0, 0, false, 0 },
        { "GET", "/T/index.html", "localhost:80", 0, 0, false, 0 },
        { "GET", "/T/bucket-17.html", "127.0.0.1:80", "http://evil", 0, false, 0 },
        { "GET", "/T/live.json", "127.0.0.1:80", 0, 0, false, 0 },
        { "POST", "/T/what-if", "127.0.0.1:80", "http://127.0.0.1:80", "application/json", false,
          0 },
        { "POST", "/T/what-if", "127.0.0.1:80", "http://localhost:80",
          "application/json; charset=utf-8", false, 0 },
        { "GET", "/T/", NULL, 0, 0, false, 403 },
        { "GET", "/T/", "evil.example:80", 0, 0, false, 403 },
        { "GET", "/T/", "127.0.0.1:81", 0, 0, false, 403 },
        { "GET", "/T/", "127.0.0.1", 0, 0, false, 403 },
        { "GET", "/T/", "127.0.0.1:80.evil.example", 0, 0, false, 403 },
        { "HEAD", "/T/", "127.0.0.1:80", 0, 0, false, 405 },
        { "OPTIONS", "/T/what-if", "127.0.0.1:80", "http://127.0.0.1:80", 0, false, 405 },
        { "PUT", "/T/", "127.0.0.1:80", 0, 0, false, 405 },
        { "POST", "/T/", "127.0.0.1:80", "http://127.0.0.1:80", "application/json", false, 405 },
        { "GET", "/T/what-if", "127.0.0.1:80", 0, 0, false, 405 },
        { "GET", "/", "127.0.0.1:80", 0, 0, false, 403 },
        { "GET", "/T", "127.0.0.1:80", 0, 0, false, 403 },
        { "GET", "/Tx/", "127.0.0.1:80", 0, 0, false, 403 },
        { "GET", "//T/", "127.0.0.1:80", 0, 0, false, 403 },
        { "GET", "*", "127.0.0.1:80", 0, 0, false, 403 },
        { "GET", "/00000000000000000000000000000000/", "127.0.0.1:80", 0, 0, false, 403 },
        { "GET", "/T/", "127.0.0.1:80", 0, 0, true, 404 },
        { "GET", "/T/../etc/passwd", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/..%2findex.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/%69ndex.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/index", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/bucket-.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/bucket--1.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/bucket-1x.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/bucket-1/../../x.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/bucket-9223372036854775807.html", "127.0.0.1:80", 0, 0, false, 0 },
        { "GET", "/T/bucket-9223372036854775808.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/bucket- 1.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "GET", "/T/bucket-+1.html", "127.0.0.1:80", 0, 0, false, 404 },
        { "POST", "/T/what-if", "127.0.0.1:80", NULL, "application/json", false, 403 },
        { "POST", "/T/what-if", "127.0.0.1:80", "null", "application/json", false, 403 },
        { "POST", "/T/what-if", "127.0.0.1:80", "http://evil.example", "application/json", false,
          403 },
        { "POST", "/T/what-if", "127.0.0.1:80", "https://127.0.0.1:80", "application/json", false,
          403 },
        { "POST", "/T/what-if", "127.0.0.1:80", "http://127.0.0.1:80", "text/plain", false, 415 },
        { "POST", "/T/what-if", "127.0.0.1:80", "http://127.0.0.1:80", NULL, false, 415 },
        { "POST", "/T/what-if", "127.0.0.1:80", "http://127.0.0.1:80", "application/jsonx", false,
          415 },
    };
    struct gate gate, other;
    struct gate_passed to;
    struct why why;
    TEST_ASSERT_TRUE(gate_open(&gate, 80, &why) && gate_open(&other, 80, &why));
    TEST_ASSERT_EQUAL(GATE_TOKEN, strspn(gate.token, "0123456789abcdef"));
    TEST_ASSERT_TRUE(strcmp(gate.token, other.token) != 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        const char *t = strchr(cases[i].path, 'T');
        snprintf(path, sizeof path, "%.*s%s%s", t ? (int)(t - cases[i].path) : 200, cases[i].path,
                 t ? gate.token : "", t ? t + 1 : "");
        struct gate_request r = { cases[i].method, path,          cases[i].host,
                                  cases[i].origin, cases[i].type, cases[i].query };
        TEST_ASSERT_EQUAL_UINT_MESSAGE(cases[i].status, gate_refuses(&gate, &r, &to), path);
    }
}

static void strangers_are_refused(void)
{
    make_failure("bad", BAD_TRACE);
    start("bad", "--no-waves");
    const char *t = server.token;
    unsigned p = server.port;
    STATUS(200, get(""));
    STATUS(403, request("GET /%.31s%c/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", t,
                        t[31] == '0' ? '1' : '0', p));
    STATUS(403, request("GET /%s/ HTTP/1.1\r\nHost: attacker.example:%u\r\n\r\n", t, p));
    STATUS(403, request("GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nHost: evil\r\n\r\n", t, p));
    STATUS(403, request("GET /%s/ HTTP/1.1\r\nHost: evil\r\nHost: 127.0.0.1:%u\r\n\r\n", t, p));
    STATUS(403, request("GET /%s/ HTTP/1.0\r\n\r\n", t));
    STATUS(405, request("DELETE /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", t, p));
    STATUS(405, request("HEAD /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", t, p));
    STATUS(404, get("../../../../etc/passwd"));
    STATUS(404, get("..%2f..%2fetc%2fpasswd"));
    STATUS(404, get("index.html%00"));
    STATUS(404, get("index.html?x=1"));
    STATUS(404, get("failure-1.html"));
    STATUS(404, get("live.json"));
    STATUS(
        403,
        request("POST /%s/what-if HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nOrigin: http://evil.example\r\n"
                "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
                t, p));
    STATUS(
        415,
        request("POST /%s/what-if HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nOrigin: http://127.0.0.1:%u\r\n"
                "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
                t, p, p));
    STATUS(200, get("index.html"));
    int status = stop_server();
    TEST_ASSERT_TRUE_MESSAGE(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                             "^C did not end it in order");
}

/* 127.0.0.2 is this computer, too, and whoever listens on all addresses would answer there. */
static void it_listens_on_one_address(void)
{
    make_failure("bad", BAD_TRACE);
    start("bad", "--no-waves");
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)server.port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1) };
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    TEST_ASSERT_EQUAL(-1, connect(s, (struct sockaddr *)&to, sizeof to));
    TEST_ASSERT_EQUAL(ECONNREFUSED, errno);
    close(s);
    STATUS(200, get(""));
}

static void answers_have_their_headers(void)
{
    static const char *const wanted[] = {
        "Content-Security-Policy: default-src 'none'; ",
        "connect-src 'self';",
        "frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer",
        "Cross-Origin-Resource-Policy: same-origin",
    };
    make_failure("bad", BAD_TRACE);
    start("bad", "--no-waves");
    char *answers[] = { get(""), get("nothing"), post("{\"trace\":\"x\"}") };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            contains(answers[i], wanted[k], __LINE__);
        TEST_ASSERT_NULL(strstr(answers[i], "Access-Control"));
        free(answers[i]);
    }
}

static void what_is_too_long_is_refused(void)
{
    static char body[(3 << 20) + 1], header[64 << 10];
    make_failure("bad", BAD_TRACE);
    start("bad", "--no-waves");
    memset(header, 'x', sizeof header - 1);
    char *answer = request("GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX: %s\r\n\r\n", server.token,
                           server.port, header);
    TEST_ASSERT_TRUE_MESSAGE(http_status(answer) == 0 || http_status(answer) >= 400, answer);
    free(answer);
    STATUS(
        413,
        request("POST /%s/what-if HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nOrigin: http://127.0.0.1:%u\r\n"
                "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{",
                server.token, server.port, server.port));
    memset(body, ' ', sizeof body - 1);
    STATUS(
        413,
        request(
            "POST /%s/what-if HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nOrigin: http://127.0.0.1:%u\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n",
            server.token, server.port, server.port, strlen(body), body));
    STATUS(200, get(""));
}

/* ---- what if --------------------------------------------------------------------------------- */

static void edits_change_lines(void)
{
    static const char text[] = "ordeal 1\nP0 CAS[A]=5?5#3 # x=1\nP1 L[B]=0x1f >r1\nlast";
    static const struct {
        struct edit edit[2];
        int count;
        const char *result; /* or why not */
    } cases[] = {
        { { { 0 } }, 0, "ordeal 1\nP0 CAS[A]=5?5#3 # x=1\nP1 L[B]=0x1f >r1\nlast\n" },
        { { { EDIT_VALUE, 3, 0, "7", 0 } },
          1,
          "ordeal 1\nP0 CAS[A]=5?5#3 # x=1\nP1 L[B]=7 >r1\nlast\n" },
        { { { EDIT_VALUE, 2, 2, "9", 0 }, { EDIT_VALUE, 2, 0, "0x8", 0 } },
          2,
          "ordeal 1\nP0 CAS[A]=0x8?5#9 # x=1\nP1 L[B]=0x1f >r1\nlast\n" },
        { { { EDIT_INSERT, 4, 0, "end", 0 }, { EDIT_DROP, 2, 0, NULL, 0 } },
          2,
          "ordeal 1\n\nP1 L[B]=0x1f >r1\nlast\nend\n" },
        { { { EDIT_INSERT, 2, 0, "P0 MEMBAR", 0 }, { EDIT_INSERT, 2, 0, "P1 MEMBAR", 0 } },
          2,
          "ordeal 1\nP0 CAS[A]=5?5#3 # x=1\nP0 MEMBAR\nP1 MEMBAR\nP1 L[B]=0x1f >r1\nlast\n" },
        { { { EDIT_VALUE, 2, 3, "1", 0 } }, 1, "line 2 has no such value" },
        { { { EDIT_VALUE, 2, 0, "1 x", 0 } }, 1, "line 2: '1 x' is not a value" },
        { { { EDIT_VALUE, 2, 0, "", 0 } }, 1, "line 2: '' is not a value" },
        { { { EDIT_INSERT, 2, 0, "a\nb", 0 } }, 1, "line 2: what is inserted is not one line" },
        { { { EDIT_DROP, 5, 0, NULL, 0 } }, 1, "there is no line 5" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct edits edits = { 0 };
        struct why why = { "" };
        char *result;
        for (int k = 0; k < cases[i].count; k++)
            TEST_ASSERT_TRUE(LIST_PUSH(&edits.list, cases[i].edit[k]));
        bool good = edits_apply(&edits, text, &result, &why);
        TEST_ASSERT_EQUAL_STRING(cases[i].result, good ? result : why.text);
        free(result);
        LIST_FREE(&edits.list);
    }
}

static void what_if_changes_the_verdict(void)
{
    char body[512];
    make_failure("bad", BAD_TRACE);
    start("bad", "--no-waves");
    char *page = get("");
    unsigned sum = sum_in(page);
    free(page);
    static const char question[] =
        "{\"page\":\"index\",\"part\":\"whole\",\"sum\":%u,\"edits\":[%s]}";
    snprintf(body, sizeof body, question, sum, "");
    ANSWER(post(body), "\"verdict\":\"FAIL\"");
    snprintf(body, sizeof body, question, sum, "{\"do\":\"value\",\"line\":5,\"text\":\"2\"}");
    ANSWER(post(body), "\"verdict\":\"PASS\"");
    snprintf(body, sizeof body, question, sum, "{\"do\":\"drop\",\"line\":4}");
    ANSWER(post(body), "\"verdict\":\"PASS\"");
    snprintf(body, sizeof body, question, sum, "{\"do\":\"value\",\"line\":5,\"text\":\"zz\"}");
    ANSWER(post(body), "\"error\":\"what-if:5:");
    snprintf(body, sizeof body, question, sum + 1, "");
    STATUS(404, post(body));
    snprintf(body, sizeof body, question, sum, "{\"do\":\"drop\",\"line\":99}");
    STATUS(400, post(body));
    STATUS(404, post("{\"page\":\"../bad\",\"part\":\"whole\",\"sum\":1}"));
    STATUS(404, post("{\"page\":\"index\",\"part\":\"../whole\",\"sum\":1}"));
    /* A fence forbids what TSO allows, and so does SC. */
    static const char sb[] =
        "{\"trace\":\"ordeal 1\\nP0 S[A]#1\\nP0 L[B]=0\\nP1 S[B]#1\\nP1 L[A]=0\\n\"%s}";
    snprintf(body, sizeof body, sb, "");
    ANSWER(post(body), "\"verdict\":\"PASS\"");
    snprintf(body, sizeof body, sb,
             ",\"edits\":[{\"do\":\"insert\",\"line\":2,\"text\":\"P0 MEMBAR\"},"
             "{\"do\":\"insert\",\"line\":4,\"text\":\"P1 MEMBAR\"}]");
    ANSWER(post(body), "\"verdict\":\"FAIL\"");
    ANSWER(post(body), "<svg");
    ANSWER(post(body), "\"steps\":[{");
    snprintf(body, sizeof body, sb, ",\"model\":\"SC\"");
    ANSWER(post(body), "\"verdict\":\"FAIL\"");
}

static void what_is_no_question_is_refused(void)
{
    static const char *const bad[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"trace\":1}",
        "{\"trace\":\"a\",\"page\":\"index\",\"part\":\"whole\"}",
        "{\"page\":\"index\"}",
        "{\"trace\":\"ordeal 1\\n\",\"edits\":1}",
        "{\"trace\":\"ordeal 1\\n\",\"edits\":[1]}",
        "{\"trace\":\"ordeal 1\\n\",\"edits\":[{\"do\":\"drop\",\"line\":0}]}",
        "{\"trace\":\"ordeal 1\\n\",\"edits\":[{\"do\":\"drop\",\"line\":1e300}]}",
        "{\"trace\":\"ordeal 1\\n\",\"edits\":[{\"do\":\"drop\",\"line\":1.5}]}",
        "{\"trace\":\"ordeal 1\\n\",\"edits\":[{\"do\":\"value\",\"line\":1}]}",
        "{\"trace\":\"ordeal 1\\n\",\"edits\":[{\"do\":\"eat\",\"line\":1}]}",
        "{\"trace\":\"ordeal 1\\n\",\"model\":\"X\"}",
        "{\"trace\":\"ordeal 1\\n\",\"model\":3}",
        "{\"trace\":\"ordeal 1\\n\"}}",
        "{\"trace\":\"ordeal 1\\n\"} {}",
    };
    make_failure("bad", BAD_TRACE);
    start("bad", "--no-waves");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *answer = post(bad[i]);
        TEST_ASSERT_EQUAL_UINT_MESSAGE(400, http_status(answer), bad[i]);
        free(answer);
    }
}

/* ---- databases ------------------------------------------------------------------------------- */

static void pages_of_a_database_go_no_further(void)
{
    regress_db_make("n.db",
                    &(struct regress_db_plan){
                        .when = 1794000000, .units = 2, .causes = 2, .folder = "failures/1-13" });
    make_failure("n.db-files/failures/1-13", BAD_TRACE);
    make_failure("elsewhere", BAD_TRACE);
    start("n.db", "--no-waves");
    char *page = get("bucket-1.html");
    unsigned sum = sum_in(page);
    free(page);
    ANSWER(get(""), "href=\"bucket-1.html\"");
    ANSWER(get("bucket-2.html"), "No example of it was kept");
    STATUS(404, get("bucket-3.html"));
    char body[256];
    snprintf(body, sizeof body, "{\"page\":\"bucket-1\",\"part\":\"whole\",\"sum\":%u}", sum);
    ANSWER(post(body), "\"verdict\":\"FAIL\"");
    regress_db_sql("n.db", "UPDATE bucket SET folder = '../elsewhere' WHERE id = 1");
    STATUS(404, post(body));
    ANSWER(get("bucket-1.html"), "is not there");
    EXPECT(0, "ln -s ../../elsewhere n.db-files/failures/link");
    regress_db_sql("n.db", "UPDATE bucket SET folder = 'failures/link' WHERE id = 1");
    STATUS(404, post(body));
    ANSWER(get("bucket-1.html"), "is not there");
}

/* Numbers of real buckets have 19 digits. */
static void causes_of_a_real_regression_can_be_looked_at(void)
{
    char name[64] = "", body[256];
    write_file("p.plan", "[regression]\ntests = 40\nshrink = 5\n[run bad]\ntarget = model\n"
                         "bug = forward-oldest\n");
    EXPECT(1, "$ORDEAL regress p.plan");
    start("p.db", "--no-waves");
    char *index = get("");
    const char *link = strstr(index, "href=\"bucket-");
    TEST_ASSERT_NOT_NULL_MESSAGE(link, index);
    TEST_ASSERT_EQUAL(1, sscanf(link, "href=\"%40[-a-z0-9].html", name));
    char *live = get("live.json");
    contains(live, name + strlen("bucket-"), __LINE__);
    snprintf(body, sizeof body, "%s.html", name);
    char *page = get(body);
    snprintf(body, sizeof body, "{\"page\":\"%s\",\"part\":\"%s\",\"sum\":%u}", name,
             strstr(page, "data-part=\"small\"") ? "small" : "whole", sum_in(page));
    ANSWER(post(body), "\"verdict\":\"FAIL\"");
    free(index), free(live), free(page);
}

static double live_number(const char *name)
{
    char *answer = get("live.json");
    cJSON *json = cJSON_Parse(http_body(answer));
    TEST_ASSERT_NOT_NULL_MESSAGE(json, answer);
    cJSON *item = cJSON_GetObjectItem(json, name);
    TEST_ASSERT_NOT_NULL_MESSAGE(item, name);
    double number = cJSON_IsArray(item) ? cJSON_GetArraySize(item) : item->valuedouble;
    cJSON_Delete(json);
    free(answer);
    return number;
}

/* Asked again until it is so; what was read last may be a second old. */
static void becomes(const char *name, double number)
{
    double got = -1;
    for (int i = 0; i < 100 && got != number; i++) {
        got = live_number(name);
        usleep(100000);
    }
    TEST_ASSERT_TRUE_MESSAGE(got == number, name);
}

static void a_database_that_grows_is_followed(void)
{
    regress_db_make("n.db",
                    &(struct regress_db_plan){ .when = 1794000000, .units = 2, .causes = 1 });
    regress_db_sql("n.db", "PRAGMA journal_mode = WAL");
    start("n.db", "--no-waves");
    double tests = live_number("tests"), fail = live_number("fail"),
           buckets = live_number("buckets");
    regress_db_sql(
        "n.db", "INSERT INTO unit(run, first, count, end) VALUES (1, 900, 2, 'done');"
                "INSERT INTO test(run, number, verdict) VALUES (1, 900, 'PASS'), (1, 901, 'FAIL');"
                "INSERT INTO bucket(id, signature, kind, title) VALUES (70, 's', 'violation', 't');"
                "INSERT INTO failure(run, number, bucket) VALUES (1, 901, 70)");
    becomes("tests", tests + 2);
    TEST_ASSERT_TRUE(live_number("fail") == fail + 1 && live_number("buckets") == buckets + 1);
    STATUS(200, get("bucket-70.html"));
}

static void bad_subjects_are_told_of(void)
{
    EXPECT(2, "$ORDEAL serve");
    EXPECT(2, "$ORDEAL serve a b");
    EXPECT(2, "$ORDEAL serve nowhere");
    ERR("nowhere");
    EXPECT(2, "echo hello > text; $ORDEAL serve text");
    ERR("it is no database");
    EXPECT(2, "mkdir empty; $ORDEAL serve empty");
    ERR("nothing to report");
    EXPECT(2, "$ORDEAL serve --port 70000 empty");
    ERR("--port");
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void print_address(const struct gate *gate)
{
    printf("SERVE http://127.0.0.1:%u/%s/\n", gate->port, gate->token);
    fflush(stdout);
}

/* In this program, with little patience. */
static void start_impatient(const char *what)
{
    int ends[2];
    TEST_ASSERT_EQUAL(0, pipe(ends));
    fflush(stdout);
    server.pid = fork();
    if (server.pid == 0) {
        struct source source;
        struct why why;
        struct server_plan plan = { .patience = 0.5, .seconds = 1, .ready = print_address };
        dup2(ends[1], STDOUT_FILENO);
        interrupt_watch();
        bool good = source_open(&source, what, true, &why) && server_run(&source, &plan, &why);
        _exit(good ? 0 : 1);
    }
    close(ends[1]);
    meet(fdopen(ends[0], "r"));
}

/* Each takes a place and asks, letter by letter, for something that never ends. */
static void slow_clients_do_not_keep_others_out(void)
{
    int slow[CONNECTIONS + 8];
    make_failure("bad", BAD_TRACE);
    start_impatient("bad");
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        slow[i] = http_connect(server.port);
        http_send(slow[i], "GET /", 5);
    }
    unsigned status = 0;
    for (int i = 0; i < 100 && status != 200; i++) {
        for (size_t k = 0; k < sizeof slow / sizeof *slow; k++)
            http_send(slow[k], "x", 1);
        char *answer = get("");
        status = http_status(answer);
        free(answer);
        usleep(50000);
    }
    TEST_ASSERT_EQUAL_UINT(200, status);
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        close(slow[i]);
    TEST_ASSERT_EQUAL(0, stop_server());
}

static void who_waits_for_us_is_not_cut_off(void)
{
    struct connections c;
    int ends[2];
    char byte;
    connections_open(&c);
    TEST_ASSERT_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    struct connection *one = connections_add(&c, ends[0]);
    connections_wait_for_us(&c, one, true);
    usleep(2000);
    connections_sweep(&c, 0.001);
    TEST_ASSERT_EQUAL(-1, recv(ends[1], &byte, 1, MSG_DONTWAIT));
    connections_wait_for_us(&c, one, false);
    usleep(2000);
    connections_sweep(&c, 0.001);
    TEST_ASSERT_EQUAL(0, recv(ends[1], &byte, 1, MSG_DONTWAIT));
    connections_remove(&c, one);
    for (int i = 0; i < CONNECTIONS; i++)
        TEST_ASSERT_NOT_NULL(connections_add(&c, ends[0]));
    TEST_ASSERT_NULL(connections_add(&c, ends[0]));
    close(ends[0]);
    close(ends[1]);
    connections_close(&c);
}

/* ---- many questions, and bad ones ------------------------------------------------------------ */

/* Legal, with few values, so that it is hard to find the order: as a JSON string. */
static char *hard_question(unsigned operations)
{
    unsigned memory[16] = { 0 }, seed = 7;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fputs("{\"trace\":\"ordeal 1\\n", f);
    for (unsigned i = 0; i < operations; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned hart = seed >> 16 & 7, word = seed >> 20 & 15;
        if ((seed >> 24) % 5 < 2)
            fprintf(f, "P%u S[%c]#%u\\n", hart, 'A' + word, memory[word] = 1 + (seed >> 28 & 3));
        else
            fprintf(f, "P%u L[%c]=%u\\n", hart, 'A' + word, memory[word]);
    }
    fputs("\"}", f);
    fclose(f);
    return text;
}

static char *repeated(const char *part, size_t times)
{
    size_t length = strlen(part);
    char *text = calloc(times, length + 1);
    for (size_t i = 0; i < times; i++)
        memcpy(text + i * length, part, length);
    return text;
}

static void an_undecided_check_ends_and_is_told(void)
{
    make_failure("bad", BAD_TRACE);
    start("bad", "--limit=0.1");
    char *question = hard_question(3000);
    ANSWER(post(question), "UNDECIDED");
    free(question);
    char *many = hard_question(60000);
    char *answer = post(many);
    TEST_ASSERT_EQUAL_UINT(200, http_status(answer));
    TEST_ASSERT_TRUE_MESSAGE(strstr(answer, "UNDECIDED") || strstr(answer, "limit"),
                             http_body(answer));
    free(answer);
    free(many);
}

enum { QUESTIONS = 1000, ASKERS = 3 };

static struct {
    const char *body;
    unsigned status;
} kinds[8];

static void *ask_many(void *user)
{
    unsigned *wrong = user;
    for (int i = 0; i < QUESTIONS / ASKERS + 1; i++) {
        int k = i % 40 < 8 ? i % 40 : i % 2;
        char *answer = post(kinds[k].body);
        if (http_status(answer) != kinds[k].status) {
            fprintf(stderr, "kind %d: %.200s\n", k, answer);
            ++*wrong;
        }
        free(answer);
    }
    return NULL;
}

/* Meanwhile somebody knows no token, somebody comes by another name, somebody talks nonsense, goes before
 * the answer is there, or says no more. Whoever is served besides must not notice. */
enum { SILENT = 6, NUISANCES = 5 };

static void go_away_early(void)
{
    int one = http_connect(server.port);
    char text[512];
    int size = snprintf(text, sizeof text,
                        "POST /%s/what-if HTTP/1.1\r\nHost: localhost:%u\r\n"
                        "Origin: http://localhost:%u\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        server.token, server.port, server.port, strlen(kinds[2].body),
                        kinds[2].body);
    http_send(one, text, (size_t)size);
    close(one);
}

static bool is_refused(unsigned status, char *answer)
{
    bool is = http_status(answer) == status;
    free(answer);
    return is;
}

static bool annoy(int kind)
{
    static const char stranger[] = "GET /00000000000000000000000000000000/ HTTP/1.1\r\n";
    switch (kind) {
    case 0: return is_refused(403, request("%sHost: 127.0.0.1:%u\r\n\r\n", stranger, server.port));
    case 1:
        return is_refused(403, request("GET /%s/ HTTP/1.1\r\nHost: evil\r\n\r\n", server.token));
    case 2: free(request("\x16\x03\x01\xff %%n%%n\r\n\r\n")); return true;
    case 3:
        return is_refused(405, request("DELETE /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
                                       server.token, server.port));
    default: go_away_early(); return true;
    }
}

static void *annoy_much(void *user)
{
    unsigned *wrong = user;
    int silent[SILENT];
    for (int i = 0; i < SILENT; i++) {
        silent[i] = http_connect(server.port);
        http_send(silent[i], "POST /", 6);
    }
    for (int i = 0; i < 200; i++)
        if (!annoy(i % NUISANCES)) {
            fprintf(stderr, "nuisance %d\n", i % NUISANCES);
            ++*wrong;
        }
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    return NULL;
}

static int open_files(void)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)server.pid);
    DIR *d = opendir(path);
    while (d && readdir(d))
        count++;
    if (d)
        closedir(d);
    return count;
}

static long resident_kib(void)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)server.pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %ld", &kib);
    if (f)
        fclose(f);
    return kib;
}

static void ask_from_several_sides(void)
{
    pthread_t threads[ASKERS + 1];
    unsigned wrong[ASKERS + 1] = { 0 };
    for (int i = 0; i <= ASKERS; i++)
        TEST_ASSERT_EQUAL(0, pthread_create(&threads[i], NULL, i < ASKERS ? ask_many : annoy_much,
                                            &wrong[i]));
    for (int i = 0; i <= ASKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i <= ASKERS; i++)
        TEST_ASSERT_EQUAL_UINT(0, wrong[i]);
}

/* What is between them may still be closing. */
static void descriptors_become(int count)
{
    int now = -1;
    for (int i = 0; i < 3000 && now != count; i++) {
        now = open_files();
        usleep(now == count ? 0 : 100000);
    }
    TEST_ASSERT_EQUAL_INT(count, now);
}

/* The address sanitizer does, to find uses of it; it looks for leaks itself when the server ends. */
static bool keeps_freed_memory(void)
{
#ifdef __SANITIZE_ADDRESS__
    return true;
#else
    return false;
#endif
}

/* Heaps settle after some rounds; what leaks grows in each. */
enum { MOST_ROUNDS = 4, ROUND_KIB = 8192 };

static void a_thousand_questions_leave_nothing_behind(void)
{
    char *deep = repeated("[", 200000), *hard = hard_question(1500),
         *huge = repeated("x", WHAT_IF_BYTES + 1);
    char *long_line = repeated("{\"trace\":\"ordeal 1\\nP0 S[", 1),
         *edits = repeated("{\"edits\":[", 90000);
    kinds[0].body = "{\"trace\":\"ordeal 1\\nP0 S[A]#1\\nP0 L[A]=1\\n\"}", kinds[0].status = 200;
    kinds[1].body = "{\"trace\":\"ordeal 1\\nP0 L[A]=1\\nP1 S[A]#2\\n\"}", kinds[1].status = 200;
    kinds[2].body = "{\"trace\":\"ordeal 1\\nP0 S[A]#1\\nP0 S[A]#2\\nP0 L[A]=1\\n\"}",
    kinds[2].status = 200;
    kinds[3].body = deep, kinds[3].status = 400;
    kinds[4].body = huge, kinds[4].status = 413;
    kinds[5].body = long_line, kinds[5].status = 400;
    kinds[6].body = edits, kinds[6].status = 400;
    kinds[7].body = hard, kinds[7].status = 200;
    make_failure("bad", BAD_TRACE);
    start("bad", "--limit=0.05");
    int files = open_files();
    for (int i = 0; i < 8; i++) { /* what is made once is there */
        char *answer = post(kinds[i].body);
        expect_status(kinds[i].status, answer, __LINE__);
    }
    ask_from_several_sides();
    descriptors_become(files);
    long before = resident_kib(), grown = LONG_MAX;
    for (int round = 0; round < MOST_ROUNDS && grown >= ROUND_KIB; round++) {
        ask_from_several_sides();
        descriptors_become(files);
        grown = resident_kib() - before;
        before += grown;
    }
    printf("%d questions a round: %d descriptors, %ld KiB, of which %ld in the last\n", QUESTIONS,
           files, before, grown);
    TEST_ASSERT_TRUE_MESSAGE(keeps_freed_memory() || grown < ROUND_KIB, "memory grows");
    TEST_ASSERT_EQUAL_MESSAGE(0, stop_server(), "it did not end in order, or leaked");
    free(deep), free(hard), free(huge), free(long_line), free(edits);
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(the_gate_lets_in_few);
    RUN_TEST(strangers_are_refused);
    RUN_TEST(it_listens_on_one_address);
    RUN_TEST(answers_have_their_headers);
    RUN_TEST(what_is_too_long_is_refused);
    RUN_TEST(edits_change_lines);
    RUN_TEST(what_if_changes_the_verdict);
    RUN_TEST(what_is_no_question_is_refused);
    RUN_TEST(pages_of_a_database_go_no_further);
    RUN_TEST(causes_of_a_real_regression_can_be_looked_at);
    RUN_TEST(a_database_that_grows_is_followed);
    RUN_TEST(bad_subjects_are_told_of);
    RUN_TEST(slow_clients_do_not_keep_others_out);
    RUN_TEST(who_waits_for_us_is_not_cut_off);
    RUN_TEST(an_undecided_check_ends_and_is_told);
    RUN_TEST(a_thousand_questions_leave_nothing_behind);
    return UNITY_END();
}
