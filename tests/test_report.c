/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal report`: pages of failures, regressions and tunings are well-formed whatever stands in what they are
 * made of, show what is there, tell what is missing, and are there whole or not at all. The same pages in a
 * browser: tests/pages. */
#include "graphviz_leaks.h"
#include "markup.h"
#include "regress_db.h"
#include "report/execution.h"
#include "report/html.h"
#include "report/waves_data.h"
#include "shell.h"
#include "waves_file.h"

#define HOSTILE \
    "\"'><img src=x onerror=alert(1)><script>alert(2)</script>&lt;</script>\xe2\x80\xae\x1b[31m"

static char page[1 << 22];

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

/* ---- helpers ------------------------------------------------------------------------------------- */

static void read_page(const char *name)
{
    slurp(name, page, sizeof page);
    const char *wrong = markup_wrong(page);
    char message[800];
    snprintf(message, sizeof message, "%s: %s", name, wrong ? wrong : "");
    TEST_ASSERT_NULL_MESSAGE(wrong, message);
}

static void page_has(const char *part, int line) { contains(page, part, line); }
#define PAGE(part) page_has(part, __LINE__)
#define PAGE_NOT(part) TEST_ASSERT_NULL_MESSAGE(strstr(page, part), part)

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, name);
    fputs(text, f);
    fclose(f);
}

static void make_failure(void)
{
    EXPECT(
        1,
        "$ORDEAL run --target model --model TSO --bug forward-oldest --count 20 --check --stop-after 1 "
        "--shrink --save kept");
}

static struct regress_db_plan plan(void)
{
    return (struct regress_db_plan){
        .when = 1794000000, .units = 10, .causes = 3, .folder = "failures/1-13"
    };
}

/* ---- text of others ------------------------------------------------------------------------------ */

static const char *written(void (*write)(FILE *out))
{
    static char text[4096];
    FILE *f = fmemopen(text, sizeof text, "w");
    write(f);
    fclose(f);
    return text;
}

static void write_hostile(FILE *out)
{
    html(out, "<p title=\"%s\">%d %.1f%%</p>", HOSTILE, -3, 2.5);
}
static void write_data(FILE *out)
{
    cJSON *data = cJSON_CreateObject();
    cJSON_AddStringToObject(data, HOSTILE, HOSTILE "\xff\xe2\x80\xa8");
    TEST_ASSERT_TRUE(html_data(out, "d", data));
    cJSON_Delete(data);
}
static void write_svg(FILE *out)
{
    html_svg(out, "<?xml?><svg id=\"a\"><b id=\"c\"> id=\"d\"</b></svg>", "p-");
}
static void write_images(FILE *out)
{
    html_image(out, "M", 1, "");
    html_image(out, "Ma", 2, "");
    html_image(out, "Man", 3, "");
}

static void text_of_others_does_nothing(void)
{
    const char *text = written(write_hostile);
    TEST_ASSERT_EQUAL_STRING(
        "<p title=\"&quot;&#39;&gt;&lt;img src=x onerror=alert(1)&gt;&lt;script&gt;alert(2)"
        "&lt;/script&gt;&amp;lt;&lt;/script&gt;\\xe2\\x80\\xae\\x1b[31m\">-3 2.5%</p>",
        text);
    text = written(write_data);
    TEST_ASSERT_NULL(strchr(strchr(text, '>') + 1, '<') == strstr(text, "</script>")
                         ? NULL
                         : "a '<' in data");
    TEST_ASSERT_NULL(strstr(text, "\xe2\x80"));
    TEST_ASSERT_NULL(strchr(text, '\xff'));
    cJSON *data = cJSON_Parse(strchr(text, '>') + 1);
    TEST_ASSERT_NOT_NULL(data);
    TEST_ASSERT_NOT_NULL(strstr(data->child->string, "<script>alert(2)</script>"));
    cJSON_Delete(data);
    TEST_ASSERT_EQUAL_STRING("<svg id=\"p-a\"><b id=\"p-c\"> id=\"d\"</b></svg>",
                             written(write_svg));
    text = written(write_images);
    contains(text, "base64,TQ==\"", __LINE__);
    contains(text, "base64,TWE=\"", __LINE__);
    contains(text, "base64,TWFu\"", __LINE__);
}

/* The reader of this test finds what it is for. */
static void the_strict_reader_is_strict(void)
{
    static const char *const bad[] = {
        "<p>",
        "<p></b>",
        "<p>&x;</p>",
        "<p onclick=\"x\"></p>",
        "<p class=a></p>",
        "<p class=\"a\" class=\"b\"></p>",
        "<p id=\"a\"></p><p id=\"a\"></p>",
        "<a href=\"#nowhere\"></a>",
        "<a href=\"javascript:x\"></a>",
        "<iframe></iframe>",
        "<img src=\"x\"/>",
        "<script>1</script><script>2</script>",
        "<script type=\"application/json\">{\"a\":\"<\"}</script>",
        "<p title=\"<\"></p>",
        "<p>\x1b</p>",
        "<p>\xe2\x80\xae</p>",
    };
    char text[4096];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "<!DOCTYPE html>\n<html><body>%s<script>1</script></body></html>\n", bad[i]);
        TEST_ASSERT_NOT_NULL_MESSAGE(markup_wrong(text), bad[i]);
    }
    TEST_ASSERT_NULL(markup_wrong("<!DOCTYPE html>\n<html><p id=\"a\">&lt;</p><a href=\"#a\">x</a>"
                                  "<script>a<b</script></html>\n"));
}

/* ---- failures ------------------------------------------------------------------------------------ */

/* Every edge that is drawn has a step that tells why, and reasons of reasons come to an end. */
static void check_reasons(const char *name, enum ordeal_model model)
{
    struct execution x;
    struct why why = { "" };
    char path[4200], text[1 << 14];
    snprintf(path, sizeof path, "%s/tests/golden/%s", home, name);
    slurp(path, text, sizeof text);
    if (execution_open(&x, text, name, &model, &why) && x.proof.inferences.count) {
        FILE *f = fmemopen(page, sizeof page, "w");
        TEST_ASSERT_TRUE(execution_write(&x, "p-", f));
        fclose(f);
        const cJSON *steps = cJSON_GetObjectItem(x.data, "steps"), *step, *reason;
        int drawn = 0;
        cJSON_ArrayForEach(step, steps)
        {
            cJSON_ArrayForEach(reason, cJSON_GetObjectItem(step, "because"))
                TEST_ASSERT_LESS_THAN(cJSON_GetObjectItem(step, "step")->valueint,
                                      reason->valueint);
        }
        for (const char *at = page; (at = strstr(at, "<g id=\"p-edge_")); at++) {
            char key[64] = "", wanted[80];
            sscanf(at, "<g id=\"p-%60[a-z0-9_]", key);
            snprintf(wanted, sizeof wanted, "\"arrow\":\"%s\"", key);
            contains(strstr(page, "<script"), wanted, __LINE__);
            drawn++;
        }
        TEST_ASSERT_GREATER_THAN(0, drawn);
        TEST_ASSERT_LESS_OR_EQUAL(cJSON_GetArraySize(cJSON_GetObjectItem(x.data, "graph")), drawn);
    }
    execution_close(&x);
}

static void every_edge_has_its_reasons(void)
{
    static const char *const names[] = { "fig2_2a.trace", "fig2_3a.trace", "fig2_3b.trace",
                                         "fig4_1.trace",  "fig4_3.trace",  "fig4_6a.trace" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int m = 0; m < ORDEAL_MODELS; m++)
            check_reasons(names[i], (enum ordeal_model)m);
}

static void a_failure_becomes_a_page(void)
{
    make_failure();
    EXPECT(0, "$ORDEAL report kept/test-* -o why.html");
    OUT("REPORT why.html\n");
    read_page("why.html");
    PAGE("<h1>test-00");
    PAGE("Made small");
    PAGE("As it ran");
    PAGE("<code>ordeal run --target model");
    PAGE("forward-oldest");
    PAGE("class=\"edge circle\"");
    PAGE("The test, small/test.test");
    PAGE("operations alone violate TSO. This forces");
    EXPECT(0, "grep -Eq '<code>ordeal run .*/small/test.test</code>' why.html");
    PAGE("class=\"what-if\"");
    PAGE("Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-");
    PAGE_NOT("http://www.w3.org/Graphics");
}

/* The policy lets the browser take our style and our script: their hashes are those of what is there. */
static void the_policy_names_what_is_there(void)
{
    make_failure();
    EXPECT(0, "$ORDEAL report kept/test-* -o why.html");
    EXPECT(
        0,
        "for what in style script; do"
        "  from=\"<$what>\"; to=\"</$what>\";"
        "  awk -v RS='\\001' -v from=\"$from\" -v to=\"$to\" '{ i = index($0, from) + length(from);"
        "    s = substr($0, i); printf \"%%s\", substr(s, 1, index(s, to) - 1) }' why.html |"
        "  sha256sum | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64 -w0 > hash;"
        "  grep -q \"$what-src 'sha256-$(cat hash)'\" why.html || exit 1; done");
}

static void folders_of_failures_become_a_list(void)
{
    make_failure();
    EXPECT(0, "cp -r kept/test-* kept/another; $ORDEAL report kept -o pages/");
    read_page("pages/index.html");
    PAGE("href=\"failure-1.html\"><b>another</b> <span class=\"pill quiet\">coherence.word</span>");
    read_page("pages/failure-2.html");
    PAGE("href=\"index.html\"");
    EXPECT(0, "$ORDEAL report kept -o one.html");
    read_page("one.html");
    PAGE("href=\"#failure-1\"><b>another</b>");
}

static void damaged_and_hostile_folders_are_told_of(void)
{
    make_failure();
    EXPECT(
        0,
        "mv kept/test-* kept/it; cp -r kept/it 'kept/\"><script>alert(1)'; cd kept/*script*;"
        "rm trace.trace run.txt small/trace.trace; echo '<script>alert(3)</script>' > explanation.txt");
    write_file("kept/it/verdict.json",
               "{\"verdict\":\"FAIL\",\"model\":\"TSO\",\"machine\":\""
               "<b>&\\u202e"
               "\",\"profile\":\"</script>\",\"reason\":\"\\u001b[31m<script>\"}");
    write_file("kept/it/small/test.test", HOSTILE);
    write_file("kept/it/small/trace.trace", "ordeal 1\nP0 S[A" HOSTILE "]#1\n");
    EXPECT(0, "$ORDEAL report kept -o one.html");
    read_page("one.html");
    PAGE("<h1>&quot;&gt;&lt;script&gt;alert(1)</h1>");
    PAGE("<dd>&lt;b&gt;&amp;\\xe2\\x80\\xae</dd>");
    PAGE("<pre class=\"told\">&lt;script&gt;alert(3)&lt;/script&gt;\n</pre>");
    PAGE("run.txt: No such file");
    PAGE("small/trace.trace:2");
}

static void a_full_disk_is_told(void)
{
    EXPECT(
        1,
        "$ORDEAL run --target model --bug forward-oldest --check --count 9 --stop-after 1 --save kept");
    EXPECT(2, "ulimit -f 4; $ORDEAL report kept/* -o full");
    ERR("File too large");
    EXPECT(2, "ulimit -f 4; $ORDEAL report kept/* -o full.html");
    ERR("File too large");
    EXPECT(2, "printf '[regression]\\ntests = 9\\nshrink = 0\\n[run a]\\ntarget = model\\n"
              "bug = forward-oldest\\n' >p.plan; $ORDEAL regress p.plan >told; ulimit -f 100; "
              "$ORDEAL report p.db -o full");
    ERR("File too large");
    EXPECT(1, "ls | grep full");
}

static void a_folder_of_nothing_is_refused(void)
{
    EXPECT(2, "mkdir nothing; $ORDEAL report nothing -o pages");
    ERR("nothing: there is nothing to report in it");
    EXPECT(2, "$ORDEAL report nowhere -o pages");
    ERR("nowhere: No such file");
    EXPECT(2, "$ORDEAL report");
    ERR("of what?");
    EXPECT(2, "mkfifo pipe; $ORDEAL report pipe");
    ERR("neither a file nor a folder");
    EXPECT(1, "ls -d pages ordeal-report 2>&1 | grep -v 'cannot access'");
}

/* ---- signals ------------------------------------------------------------------------------------- */

static cJSON *read_waves(uint64_t first, uint64_t last, struct why *why)
{
    struct waves_view view = { .first = first, .last = last, .harts = 1 << 1 };
    FILE *f = fopen("waves.fst", "r");
    TEST_ASSERT_NOT_NULL(f);
    cJSON *data = waves_data(fileno(f), &view, why);
    fclose(f);
    return data;
}

static cJSON *signal_of(const cJSON *data, const char *name)
{
    cJSON *signal;
    cJSON_ArrayForEach(signal, cJSON_GetObjectItem(data, "signals")) if (
        strcmp(cJSON_GetObjectItem(signal, "name")->valuestring, name)
        == 0) return cJSON_GetObjectItem(signal, "changes");
    return NULL;
}

static void signals_are_read_around_the_violation(void)
{
    struct why why;
    waves_file_write("waves.fst", 1, 300, 0);
    cJSON *data = read_waves(140, 160, &why);
    TEST_ASSERT_NOT_NULL(data);
    char *text = cJSON_PrintUnformatted(signal_of(data, "rec_valid_o"));
    TEST_ASSERT_EQUAL_STRING("[[120,\"0\"],[150,\"1\"],[151,\"0\"]]", text);
    free(text);
    cJSON *address = signal_of(data, "rec_addr_o");
    TEST_ASSERT_EQUAL(180 - 120 + 1, cJSON_GetArraySize(address));
    text = cJSON_PrintUnformatted(cJSON_GetArrayItem(address, 60));
    TEST_ASSERT_EQUAL_STRING("[180,\"000000b4\"]", text);
    free(text);
    cJSON_Delete(data);
}

/* A machine that hangs is noticed late: where its signals moved last is shown. */
static void signals_that_stand_still_are_not_looked_at(void)
{
    struct why why;
    waves_file_write("waves.fst", 1, 300, 5000);
    cJSON *data = read_waves(4000, 4010, &why);
    TEST_ASSERT_NOT_NULL(data);
    TEST_ASSERT_EQUAL(319, cJSON_GetObjectItem(data, "last")->valueint);
    TEST_ASSERT_EQUAL(179, cJSON_GetObjectItem(data, "first")->valueint);
    TEST_ASSERT_EQUAL(300 - 179, cJSON_GetArraySize(signal_of(data, "rec_addr_o")));
    cJSON_Delete(data);
}

/* A machine that stands still leaves no trace; its signals are shown where the words say. */
static void signals_of_a_machine_that_broke_are_shown(void)
{
    make_failure();
    EXPECT(
        0,
        "mv kept/test-* kept/it; cd kept/it; rm -r trace.trace small;"
        "echo 'it stands still, cycle 200; hart 1 waits for a line, for 50 cycles' > explanation.txt;"
        "echo \"{\\\"verdict\\\":\\\"FAIL\\\",\\\"model\\\":\\\"TSO\\\",\\\"broke\\\":true,"
        "\\\"reason\\\":\\\"$(cat explanation.txt)\\\"}\" > verdict.json");
    waves_file_write("kept/it/waves.fst", 1, 300, 0);
    EXPECT(0, "$ORDEAL report kept/it -o why.html");
    read_page("why.html");
    PAGE("<p class=\"reason\"><code>it stands still, cycle 200; hart 1 waits for a line");
    PAGE_NOT("<pre class=\"told\">");
    PAGE_NOT("<dt>Violates</dt>");
    PAGE("\"name\":\"rec_valid_o\"");
    EXPECT(0, "$ORDEAL report --no-waves kept/it -o why.html");
    read_page("why.html");
    PAGE_NOT("\"name\":\"rec_valid_o\"");
    write_file("kept/it/waves.fst", "not waves");
    EXPECT(0, "$ORDEAL report kept/it -o why.html");
    read_page("why.html");
    PAGE("waves.fst: the waves could not be read");
}

/* Cut anywhere, or changed: told, or read; never more. */
static void damaged_waves_are_told_of(void)
{
    struct why why;
    char bytes[1 << 14];
    waves_file_write("waves.fst", 1, 300, 0);
    FILE *f = fopen("waves.fst", "r");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t cut = 0; cut < size; cut += size / 12 + 1) {
        f = fopen("waves.fst", "w");
        fwrite(bytes, 1, cut, f);
        fclose(f);
        cJSON *data = read_waves(140, 160, &why);
        TEST_ASSERT_TRUE(data || strstr(why.text, "could not be read"));
        cJSON_Delete(data);
    }
}

/* ---- regressions --------------------------------------------------------------------------------- */

static void a_regression_becomes_pages(void)
{
    struct regress_db_plan p = plan();
    regress_db_make("a.db", &p);
    make_failure();
    EXPECT(
        0,
        "mkdir -p a.db-files/failures; mv kept/test-* a.db-files/failures/1-13; $ORDEAL report a.db -o pages");
    read_page("pages/index.html");
    PAGE("<h1>a.db</h1>");
    PAGE("It is done.");
    PAGE("caches/bug=upgrade-wins");
    PAGE("href=\"bucket-3.html\"");
    PAGE("a store overtakes an earlier store");
    PAGE("Slowest tests");
    PAGE("h4-s16-w2-l4-b8-q4");
    PAGE("the machine did not answer");
    PAGE_NOT("<h2>History</h2>");
    read_page("pages/bucket-1.html");
    PAGE("class=\"edge circle\"");
    PAGE("Tests that fail so");
    read_page("pages/bucket-2.html");
    PAGE("No example of it was kept.");
}

/* Machines that look the same are one row, a column of nothing is not there, and units that were skipped
 * have no tests. */
static void nothing_is_said_twice_or_in_vain(void)
{
    struct regress_db_plan p = plan();
    regress_db_make("a.db", &p);
    EXPECT(0, "$ORDEAL report a.db -o pages");
    read_page("pages/index.html");
    PAGE("<th>Model</th>");
    PAGE("<th>Profile</th>");
    regress_db_sql(
        "a.db",
        "INSERT INTO machine SELECT 3, target, description, 'other', sources, configuration, revision"
        " FROM machine WHERE id = 1; UPDATE run SET machine = 3 WHERE id = 2;"
        "UPDATE run SET model = NULL; UPDATE test SET profile = NULL;"
        "INSERT INTO unit VALUES (1, 9000, 20, 1, 1794000001, 0, 0, 0, 'skipped', 0)");
    EXPECT(0, "$ORDEAL report a.db -o pages");
    read_page("pages/index.html");
    PAGE_NOT("<th>Model</th>");
    PAGE_NOT("<th>Profile</th>");
    PAGE("data-count=\"tests\"><span>600</span>");
    const char *machine = strstr(page, "four harts, write-back caches");
    TEST_ASSERT_NOT_NULL(machine);
    TEST_ASSERT_NULL(strstr(machine + 1, "four harts, write-back caches"));
    contains(machine, "<td class=\"n\">400</td>", __LINE__);
}

static void what_is_missing_is_told_in_the_page(void)
{
    struct regress_db_plan p = plan();
    regress_db_make("a.db", &p);
    EXPECT(0, "$ORDEAL report a.db -o pages");
    read_page("pages/bucket-1.html");
    PAGE("The example that was kept is not there: a.db-files/failures/1-13");
    p.folder = "../kept";
    make_failure();
    EXPECT(0, "mv kept/test-* kept/it; mkdir a.db-files; mv kept/it/* kept");
    regress_db_make("a.db", &p);
    EXPECT(0, "$ORDEAL report a.db -o pages");
    read_page("pages/bucket-1.html");
    PAGE("is not there: a.db-files/../kept");
}

static void an_empty_or_clean_database_is_fine(void)
{
    struct regress_db_plan p = { .when = 1794000000, .units = 5 };
    regress_db_make("clean.db", &p);
    EXPECT(0, "$ORDEAL report clean.db -o clean.html");
    read_page("clean.html");
    PAGE("No test failed.");
    regress_db_sql(
        "clean.db",
        "DELETE FROM session; DELETE FROM run; DELETE FROM unit; DELETE FROM test; "
        "DELETE FROM machine; DELETE FROM incident; DELETE FROM point; DELETE FROM cover");
    EXPECT(0, "$ORDEAL report clean.db -o clean.html");
    read_page("clean.html");
    PAGE("It has not begun.");
}

static void several_databases_are_a_history(void)
{
    struct regress_db_plan p = plan();
    regress_db_make("mon.db", &p);
    p.when += 86400, p.causes = 2;
    regress_db_make("tue.db", &p);
    regress_db_sql("tue.db",
                   "UPDATE bucket SET signature = 'another', title = 'something new' WHERE id = 2");
    EXPECT(0, "$ORDEAL report tue.db mon.db -o pages");
    read_page("pages/index.html");
    PAGE("<h1>tue.db</h1>");
    PAGE("<h2>History</h2>");
    PAGE("something new</b> <span class=\"pill bad\">new</span>");
    PAGE("<span class=\"pill quiet\">still there</span>");
    PAGE("<span class=\"pill good\">gone</span>");
    read_page("pages/bucket-4.html");
}

static void put_small(const char *folder, const char *signature)
{
    char command[400];
    snprintf(command, sizeof command,
             "mkdir -p a.db-files/failures/%s/small; cd a.db-files/failures/%s; "
             "echo '{\"signature\":\"%s\"}' > small/verdict.json",
             folder, folder, signature);
    EXPECT(0, command);
}

/* Of four causes the second and the fourth are the first, made small, and the third is itself. */
static void causes_with_the_same_small_example_are_told_of(void)
{
    struct regress_db_plan p = plan();
    p.causes = 4;
    regress_db_make("a.db", &p);
    regress_db_sql("a.db", "UPDATE bucket SET signature = 's' || id, folder = 'failures/' || id,"
                           "kind = 'violation', title = 'words of ' || id || ': S a#1; L a=0'");
    put_small("2", "s1");
    put_small("3", "s3");
    put_small("4", "s1");
    regress_db_sql("a.db", "UPDATE bucket SET folder = '../x' WHERE id = 1");
    EXPECT(0, "$ORDEAL report a.db -o pages");
    read_page("pages/index.html");
    PAGE("<b>words of 1</b><code class=\"core\" title=\"S a#1; L a=0\">S a#1; L a=0</code>");
    EXPECT(0, "grep -c 'made small is' pages/index.html");
    OUT("2\n");
    EXPECT(0, "grep -c 'made small is <code>s1</code>, as that of number 1 is: maybe one cause.' "
              "pages/index.html");
    OUT("2\n");
    EXPECT(0, "rm -r pages");
}

/* What did not end is a session that was killed, unless it is the last; who counts no cycles has none. */
static void a_killed_session_is_told_of(void)
{
    struct regress_db_plan p = plan();
    regress_db_make("a.db", &p);
    regress_db_sql("a.db",
                   "UPDATE session SET end = NULL, ended = NULL; UPDATE test SET cycles = 0");
    EXPECT(0, "$ORDEAL report a.db -o a.html");
    read_page("a.html");
    PAGE("<td>killed</td>");
    EXPECT(0, "grep -c '<td>killed</td>' a.html");
    OUT("1\n");
    PAGE_NOT("<td class=\"n\">0</td><td class=\"n\">3 s");
    PAGE("<td class=\"n\">\u2013</td>");
}

/* One operation is one. */
static void a_single_operation_is_told_as_one(void)
{
    EXPECT(0,
           "mkdir one; printf 'ordeal 1\\nmodel TSO\\nfinal A=0\\nP0 S[A]#1\\n' > one/trace.trace;"
           "cp one/trace.trace one/test.test; echo '{\"model\":\"TSO\"}' > one/verdict.json");
    EXPECT(0, "$ORDEAL report one -o one.html");
    read_page("one.html");
    PAGE("This operation alone violates TSO. This forces a circle:");
}

static void text_in_a_database_does_nothing(void)
{
    struct regress_db_plan p = { .when = 1794000000, .units = 4, .causes = 2, .text = HOSTILE };
    regress_db_make("hostile.db", &p);
    EXPECT(0, "$ORDEAL report hostile.db -o one.html; $ORDEAL report hostile.db -o pages");
    read_page("one.html");
    PAGE("&lt;script&gt;alert(2)&lt;/script&gt;");
    read_page("pages/index.html");
    read_page("pages/bucket-1.html");
}

static void other_files_are_refused(void)
{
    struct regress_db_plan p = plan();
    regress_db_make("a.db", &p);
    EXPECT(0, "head -c 20000 a.db > cut.db; head -c 100000 /dev/urandom > noise.db; : > empty.db;"
              "cp a.db other.db; cp a.db newer.db");
    regress_db_sql("other.db", "PRAGMA application_id = 5");
    regress_db_sql("newer.db", "PRAGMA user_version = 2");
    EXPECT(2, "$ORDEAL report other.db -o pages");
    ERR("other.db: it is no database of 'ordeal regress'");
    EXPECT(2, "$ORDEAL report newer.db -o pages");
    ERR("newer.db: its version is 2, and this program knows 1");
    EXPECT(2, "$ORDEAL report noise.db -o pages");
    ERR("noise.db: it is no database");
    EXPECT(2, "$ORDEAL report empty.db -o pages");
    EXPECT(2, "$ORDEAL report cut.db -o pages");
    ERR("cut.db: ");
    EXPECT(2, "mkdir x; $ORDEAL report a.db x -o pages");
    EXPECT(0, "ls -A > list; ! grep -q 'pages\\|ordeal-tmp' list");
}

/* ---- where they go ------------------------------------------------------------------------------- */

static void nobody_elses_folder_is_taken(void)
{
    struct regress_db_plan p = plan();
    regress_db_make("a.db", &p);
    EXPECT(2, "mkdir mine; echo x > mine/thesis.tex; $ORDEAL report a.db -o mine");
    ERR("mine: it is there, and is not a report");
    EXPECT(2, "echo x > file; $ORDEAL report a.db -o file");
    ERR("it is there, and is no folder");
    EXPECT(0, "$ORDEAL report a.db -o pages; echo x > pages/notes.txt");
    EXPECT(2, "$ORDEAL report a.db -o pages");
    ERR("'notes.txt' in it is not of a report");
    EXPECT(0, "rm pages/notes.txt; touch -d 2001-01-01 pages/index.html; ls pages/bucket-3.html");
    p.causes = 1;
    regress_db_make("a.db", &p);
    EXPECT(0, "$ORDEAL report a.db -o pages/; ls pages; ls -A . > list; ! grep -q ordeal-tmp list");
    OUT("bucket-1.html\nindex.html\n");
    TEST_ASSERT_NULL(strstr(out, "bucket-3.html"));
    EXPECT(0, "cat mine/thesis.tex");
    OUT("x\n");
    EXPECT(2, "$ORDEAL report a.db -o nowhere/pages");
    EXPECT(2, "$ORDEAL report a.db -o nowhere/page.html");
}

/* ---- tunings ------------------------------------------------------------------------------------- */

static void a_tuning_becomes_a_page(void)
{
    EXPECT(0, "mkdir tuned");
    write_file(
        "tuned/tuned.bias",
        "# A bias tuned by coverage. To run it:\n#\n#   ordeal run --bias <x>\n#\n# It is more.\n\n"
        "# From profile a<b by 1 move.\n[profile wide<script>]\nweight = 3\n"
        "# 0 -> 0 | 15, one of 3 keys taken from fences: 12.0 expected, without 3.0\nmembar.sl = 0 | 15\n"
        "test.values = wide\n# 4 -> 2: no gain\ntest.threads = 2\n");
    write_file("tuned/coverage.svg",
               "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>");
    EXPECT(0, "$ORDEAL report tuned -o tuned.html");
    read_page("tuned.html");
    PAGE("<pre>ordeal run --bias &lt;x&gt;\n</pre>");
    PAGE("<h3>wide&lt;script&gt;</h3>");
    PAGE(
        "<tr><td><code>membar.sl</code></td><td>0</td><td>0 | 15</td><td class=\"words\">one of 3 keys");
    PAGE(
        "<tr><td><code>test.threads</code></td><td>4</td><td>2</td><td class=\"words\">no gain</td></tr>");
    PAGE_NOT("<code>test.values");
    EXPECT(0, "rm tuned/coverage.svg; $ORDEAL report tuned -o tuned.html");
    read_page("tuned.html");
    PAGE("coverage.svg");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(text_of_others_does_nothing);
    RUN_TEST(the_strict_reader_is_strict);
    RUN_TEST(every_edge_has_its_reasons);
    RUN_TEST(a_failure_becomes_a_page);
    RUN_TEST(the_policy_names_what_is_there);
    RUN_TEST(folders_of_failures_become_a_list);
    RUN_TEST(damaged_and_hostile_folders_are_told_of);
    RUN_TEST(a_full_disk_is_told);
    RUN_TEST(a_folder_of_nothing_is_refused);
    RUN_TEST(signals_are_read_around_the_violation);
    RUN_TEST(signals_that_stand_still_are_not_looked_at);
    RUN_TEST(signals_of_a_machine_that_broke_are_shown);
    RUN_TEST(damaged_waves_are_told_of);
    RUN_TEST(a_regression_becomes_pages);
    RUN_TEST(nothing_is_said_twice_or_in_vain);
    RUN_TEST(what_is_missing_is_told_in_the_page);
    RUN_TEST(an_empty_or_clean_database_is_fine);
    RUN_TEST(several_databases_are_a_history);
    RUN_TEST(causes_with_the_same_small_example_are_told_of);
    RUN_TEST(a_killed_session_is_told_of);
    RUN_TEST(a_single_operation_is_told_as_one);
    RUN_TEST(text_in_a_database_does_nothing);
    RUN_TEST(other_files_are_refused);
    RUN_TEST(nobody_elses_folder_is_taken);
    RUN_TEST(a_tuning_becomes_a_page);
    return UNITY_END();
}
