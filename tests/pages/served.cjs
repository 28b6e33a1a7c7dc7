// SPDX-License-Identifier: Apache-2.0
// Looks at pages of `ordeal serve` in the folder that tests/pages/run has filled: what if by mouse and by keys, and a
// database that grows. Each server is ended by ^C when its test is over. Pictures are left in shots/ there.
"use strict";
const { chromium } = require("playwright-core");
const { spawn, spawnSync, execFileSync } = require("node:child_process");
const assert = require("node:assert");
const path = require("node:path");

const folder = path.resolve(process.argv[2]), ordeal = process.argv[3];
const maker = path.join(path.dirname(ordeal), "tests", "pages");
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser;

// Its address is the first line that it prints.
function serve(what) {
  const child = spawn(ordeal, ["serve", path.join(folder, what)], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("exit", (code) => done(code)));
  const address = new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const found = text.match(/^SERVE (http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/)\n/);
      if (found) done(found[1]);
    });
    ended.then((code) => fail(new Error("the server ended with " + code)));
  });
  return { address, end: () => { child.kill("SIGINT"); return ended; } };
}

// Whatever the page complains of, or asks somebody else than its server for, fails the test.
async function look(what, name, options, test) {
  const server = serve(what), address = await server.address;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage(), wrong = [];
  page.on("console", (message) => wrong.push("console: " + message.text()));
  page.on("pageerror", (error) => wrong.push("error: " + error.message));
  await context.route("**", (route) => {
    const url = route.request().url();
    if (url.startsWith(address) || url.startsWith("data:")) return route.continue();
    wrong.push("request: " + url);
    return route.abort();
  });
  try {
    await page.goto(address + name);
    await test(page);
    assert.deepStrictEqual(wrong, [], name);
  } finally {
    await context.close();
    assert.strictEqual(await server.end(), 0);
  }
}

const said = (page, words) => page.locator(".verdict").filter({ hasText: words }).waitFor({ timeout: 20000 });
const row = (page, text) => page.locator(".edit-lines li").filter({ hasText: text });
const shot = (page, name) => page.screenshot({ path: path.join(folder, "shots", name + ".png"), fullPage: true });
const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth);

const tests = {
  "what if: a click changes the verdict, and back": () => look("sb", "", {}, async (page) => {
    await said(page, "Nothing is changed");
    await row(page, "P0 L[B]=0").getByRole("button", { name: /^Drop/ }).click();
    await said(page, /PASS under SC.*before it was FAIL under SC/);
    assert.strictEqual(await page.locator(".answer .told").count(), 1);
    await page.getByRole("button", { name: /^Undo/ }).click();
    await said(page, "Nothing is changed");
    await row(page, "P1 L[A]=0").locator("button.value").click();
    await page.keyboard.type("1");
    await page.keyboard.press("Enter");
    await said(page, /PASS under SC/);
    assert.match(await row(page, "P1 L[A]=").locator("button.value").innerText(), /^1$/);
    await page.getByRole("button", { name: /^Take all/ }).click();
    await said(page, "Nothing is changed");
  }),

  "what if: fences forbid what TSO allows, and the new circle is shown": () => look("sb", "", {}, async (page) => {
    await page.getByLabel("Memory model").selectOption("TSO");
    await said(page, /PASS under TSO/);
    await row(page, "P0 S[A]#1").getByRole("button", { name: /^Add a fence/ }).click();
    await said(page, /PASS under TSO/);
    await row(page, "P1 S[B]#1").getByRole("button", { name: /^Add a fence/ }).click();
    await said(page, /FAIL under TSO/);
    assert.strictEqual(await page.locator(".edit-lines .inserted").count(), 2);
    const edge = page.locator(".answer .edge[role=button]").first();
    await edge.focus();
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".answer .reasons").innerText(), /is before|follows|saw/);
    await shot(page, "serve-fences");
  }),

  "what if: keys alone are enough": () => look("sb", "", {}, async (page) => {
    await said(page, "Nothing is changed");
    for (let i = 0; i < 60 && !await page.evaluate(() => document.activeElement.matches(".edit-lines li")); i++)
      await page.keyboard.press("Tab");
    const key = () => page.evaluate(() => document.activeElement.getAttribute("data-key"));
    const first = await key();
    assert.match(first, /^line-/);
    await page.keyboard.press("ArrowDown");
    assert.notStrictEqual(await key(), first);
    await page.keyboard.press("Delete");
    await said(page, /PASS under SC/);
    await page.keyboard.press("u");
    await said(page, "Nothing is changed");
    await page.keyboard.press("f");
    await said(page, /FAIL under SC, as before/);
    await page.keyboard.press("u");
    await page.keyboard.press("Enter");
    assert.strictEqual(await page.evaluate(() => document.activeElement.tagName), "INPUT");
    await page.keyboard.press("Escape");
    assert.match(await key(), /^line-/);
  }),

  "what if: what cannot be a trace is told": () => look("sb", "", {}, async (page) => {
    await row(page, "P0 L[B]=0").locator("button.value").click();
    await page.keyboard.type("many");
    await page.keyboard.press("Enter");
    await said(page, /No verdict: what-if:\d+/);
  }),

  "what if: the small test and the one that ran": () => look("nightly-5.db", "bucket-1.html", {}, async (page) => {
    await said(page, "Nothing is changed");
    await page.locator(".edit-lines .core").first().getByRole("button", { name: /^Drop/ }).click();
    await said(page, /under TSO/);
    await page.getByLabel("Which trace").selectOption({ label: "As it ran" });
    await said(page, "Nothing is changed");
    await page.locator(".edit-lines .core").last().getByRole("button", { name: /^Drop/ }).click();
    await said(page, /under TSO/);
  }),

  "a database that grows moves its page": () => look("live.db", "", {}, async (page) => {
    const tests = page.locator("[data-count=tests] span");
    await page.locator(".live").filter({ hasText: "of 8000 tests" }).waitFor();
    const before = await tests.innerText(), cards = await page.locator("a.card").count();
    await page.locator("a.card").first().focus();
    const focus = await page.evaluate(() => document.activeElement.getAttribute("href"));
    await page.evaluate(() => { window.stays = true; });
    execFileSync(maker, [folder, "grow"]);
    await page.locator("a.card").nth(cards).waitFor({ timeout: 20000 });
    await page.waitForFunction((b) => document.querySelector("[data-count=tests] span").textContent !== b, before);
    assert.strictEqual(await page.evaluate(() => window.stays), true, "it was loaded again");
    assert.strictEqual(await page.evaluate(() => document.activeElement.getAttribute("href")), focus);
    await shot(page, "serve-live");
  }),

  "a regression that runs is followed to its end, and on to its causes": async () => {
    const run = spawn(ordeal, ["regress", "moving.plan"], { cwd: folder, stdio: "ignore" });
    const ended = new Promise((done) => run.on("exit", (code) => done(code)));
    const isThere = () => spawnSync(ordeal, ["report", "moving.db", "-o", "moving"], { cwd: folder }).status === 0;
    for (let i = 0; i < 200 && !isThere(); i++) await new Promise((done) => setTimeout(done, 100));
    try {
      await look("moving.db", "", {}, async (page) => {
        await page.locator(".live").filter({ hasText: "It has ended, 400 of 400 tests" }).waitFor({ timeout: 120000 });
        assert.strictEqual(await ended, 1);
        assert.strictEqual(await page.locator("[data-count=tests] span").innerText(), "400");
        assert.notStrictEqual(await page.locator("[data-count=fail] span").innerText(), "0");
        await page.locator("a.card").first().click();
        await said(page, "Nothing is changed");
        await page.locator(".edit-lines .core").first().getByRole("button", { name: /^Drop/ }).click();
        await said(page, /under TSO/);
      });
    } finally {
      run.kill("SIGINT");
      await ended;
    }
  },

  "pages fit, by day and by night": async () => {
    for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 390], ["dark", 390]])
      for (const [what, name] of [["sb", ""], ["live.db", ""]])
        await look(what, name, { colorScheme, viewport: { width, height: 900 } }, async (page) => {
          if (what === "sb") {
            await row(page, "P0 L[B]=0").getByRole("button", { name: /^Drop/ }).click();
            await said(page, /PASS/);
          }
          await page.waitForTimeout(100);
          assert.ok(await wide(page) <= width, what + " is wider than its window: " + await wide(page));
          await shot(page, ["serve", what, colorScheme, width].join("-"));
        });
  },
};

(async () => {
  let passed = 0, failed = 0;
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: flags });
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log("served pages: " + name + ": PASS");
      passed++;
    } catch (error) {
      console.log("served pages: " + name + ": FAIL: " + error.message);
      failed++;
    }
  }
  await browser.close();
  console.log(passed + " passed, " + failed + " failed");
  process.exit(failed ? 1 : 0);
})();
