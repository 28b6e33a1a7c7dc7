// SPDX-License-Identifier: Apache-2.0
// Looks at the pages that tests/pages/run has made, in the folder that is named, as people do: with a mouse, with
// keys alone, on a phone, by day and by night. Pictures of them are left in shots/ there.
"use strict";
const { chromium } = require("playwright-core");
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");

const folder = path.resolve(process.argv[2]);
const pages = ["nightly/index", "nightly/bucket-1", "nightly/bucket-2", "nightly", "clean", "hostile", "reasons", "cases",
  "waves", "hangs", "list", "tuned"];
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const address = (name) => "file://" + folder + "/" + name + ".html";
let browser;

// A page that is watched: whatever it complains of or asks the network for fails the test.
async function look(name, options, test) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage(), wrong = [];
  page.on("console", (message) => wrong.push("console: " + message.text()));
  page.on("pageerror", (error) => wrong.push("error: " + error.message));
  page.on("dialog", (dialog) => { wrong.push("dialog: " + dialog.message()); dialog.dismiss(); });
  await context.route("**", (route) => {
    const url = route.request().url();
    if (url.startsWith("file://" + folder) || url.startsWith("data:")) return route.continue();
    wrong.push("request: " + url);
    return route.abort();
  });
  try {
    await page.goto(address(name));
    await test(page);
    await page.waitForTimeout(50);
    assert.deepStrictEqual(wrong, [], name);
  } finally {
    await context.close();
  }
}

const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth);
// Words of plots, names of signals and operations over time that stick out of their place.
const cut = (page) => page.evaluate(() => [...document.querySelectorAll(".plot svg text, .time-names text, .time-run .label")]
  .filter((text) => {
    const a = text.getBoundingClientRect(), b = text.closest(".plot svg, .time-names, .time-run svg").getBoundingClientRect();
    return a.width && (a.left < b.left - 0.5 || a.right > b.right + 0.5);
  }).map((text) => text.textContent));
const focused = (page, attribute) => page.evaluate((a) => document.activeElement.getAttribute(a), attribute);
const visible = "section.part:not([hidden]) ";

async function shoot(scheme, width) {
  for (const name of pages)
    await look(name, { colorScheme: scheme, viewport: { width, height: 900 } }, async (page) => {
      assert.ok(await wide(page) <= width, name + " is wider than its window: " + await wide(page));
      assert.deepStrictEqual(await cut(page), [], name + ": words are cut");
      const file = [name.replace("/", "-"), scheme, width].join("-") + ".png";
      await page.screenshot({ path: path.join(folder, "shots", file), fullPage: true });
    });
}

// Cells of a table that one has to scroll for.
const beside = (page, table) => page.locator(table + " td").evaluateAll((all) => all
  .filter((cell) => cell.getBoundingClientRect().right > cell.closest(".wide").getBoundingClientRect().right + 0.5)
  .map((cell) => cell.textContent));

// How far two colours are apart, as the guidelines for accessible pages (WCAG) measure it.
function contrast(a, b) {
  const light = (rgb) => rgb.match(/\d+/g).slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

const tests = {
  "pages fit a laptop, by day": () => shoot("light", 1280),
  "pages fit a laptop, by night": () => shoot("dark", 1280),
  "pages fit a phone, by day": () => shoot("light", 390),
  "pages fit a phone, by night": () => shoot("dark", 390),

  "what moved and what went wrong can be read on a phone": async () => {
    const phone = { viewport: { width: 390, height: 900 } };
    await look("tuned", phone, async (page) => {
      assert.deepStrictEqual(await beside(page, "table.moved"), []);
      assert.ok(await page.locator("figure img").evaluate((image) => image.getBoundingClientRect().width) >= 500);
    });
    await look("nightly/index", phone, async (page) => {
      assert.ok(await page.locator("table.folding td.words").count() > 0, "no incidents");
      assert.deepStrictEqual(await beside(page, "table.folding"), []);
    });
  },

  "text can be read by day and by night": async () => {
    const grounds = [];
    for (const colorScheme of ["light", "dark"])
      await look("nightly/index", { colorScheme }, async (page) => {
        const colours = await page.evaluate(() => ["html", ".lead", ".bad", ".good", ".warn", ".tiles dt", ".card .soft"]
          .map((s) => [s, getComputedStyle(document.querySelector(s)).color]));
        const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
        for (const [what, colour] of colours)
          assert.ok(contrast(colour, ground) >= 4.5, colorScheme + " " + what + " " + contrast(colour, ground));
        grounds.push(ground);
      });
    assert.notStrictEqual(grounds[0], grounds[1]);
  },

  "an edge unfolds on a click, and folds on another": () => look("nightly/bucket-1", {}, async (page) => {
    const edge = page.locator(visible + ".edge[role=button]").first(), reasons = page.locator(visible + ".reasons");
    const hint = await reasons.innerText();
    await edge.locator(".hit").click({ force: true });
    assert.strictEqual(await edge.getAttribute("aria-expanded"), "true");
    assert.match(await reasons.innerText(), /is before|follows|saw/);
    await edge.locator(".hit").click({ force: true });
    assert.strictEqual(await reasons.innerText(), hint);
  }),

  "reasons unfold step by step down to the program and what was seen": () => look("cases", {}, async (page) => {
    const edges = await page.locator(".edge[role=button]").all();
    assert.ok(edges.length >= 4, edges.length + " edges");
    let deepest = 0;
    for (const edge of edges) {
      await edge.focus();
      await page.keyboard.press("Enter");
      const folded = page.locator("[role=treeitem][aria-expanded=false] > .row");
      for (let i = 0; i < 100 && await folded.count(); i++) await folded.first().click();
      deepest = Math.max(deepest, await page.locator("[role=treeitem] [role=treeitem]").count());
      assert.strictEqual(await folded.count(), 0);
      const leaves = await page.locator("[role=treeitem]:not([aria-expanded]) > .row .ground").allInnerTexts();
      for (const leaf of leaves) assert.match(leaf, /program order|value|one of two cases/);
      await page.keyboard.press("Escape");
    }
    assert.ok(deepest >= 2, "nothing unfolds twice");
  }),

  "the short story comes first, and of two cases each shows its circle": () => look("cases", {}, async (page) => {
    assert.match(await page.locator(".reason p").innerText(), /These \d+ operations alone violate TSO.*either of two cases/);
    const order = await page.evaluate(() => [".reason", ".graph", ".steps", ".listing"]
      .map((s) => document.querySelector(s).getBoundingClientRect().top));
    assert.deepStrictEqual(order, [...order].sort((a, b) => a - b));
    const chosen = () => page.locator(".edge.chosen").evaluateAll((all) => all.map((e) => e.id).sort().join());
    const cases = page.locator(".reason .case");
    assert.strictEqual(await cases.count(), 2);
    await cases.first().click();
    const one = await chosen();
    assert.strictEqual(one.split(",").length, 8);
    await cases.nth(1).focus();
    await page.keyboard.press("Enter");
    assert.notStrictEqual(await chosen(), one);
    assert.strictEqual(await page.locator(".case[aria-pressed=true]").count(), 1);
    await page.keyboard.press("Escape");
    assert.strictEqual(await chosen(), "");
    await page.locator("details.steps summary").click();
    const columns = await page.locator(".steps .cases ol").evaluateAll((all) => all.map((e) => e.getBoundingClientRect()));
    assert.ok(columns.length === 2 && columns[0].right <= columns[1].left && columns[0].top === columns[1].top);
  }),

  "a graph of six threads is whole on a laptop, and its labels can be read": () => look("cases", {}, async (page) => {
    assert.ok(await page.locator("div.graph").evaluate((g) => g.scrollWidth <= g.clientWidth), "it is cut");
    const over = await page.locator("div.graph").evaluate((g) => {
      const labels = [...g.querySelectorAll(".edge text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
      const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
      return labels.flatMap(([name, a], i) => labels.slice(i + 1).filter(([, b]) => meet(a, b)).map(([other]) => name + "/" + other));
    });
    assert.deepStrictEqual(over, [], "labels on top of each other");
  }),

  "each form of the test has the command that runs it again": () => look("nightly/bucket-1", {}, async (page) => {
    const command = page.locator(visible + ".command code");
    assert.match(await command.innerText(), /^ordeal run .*\/small\/test\.test$/);
    await page.getByRole("tab", { name: "As it ran" }).click();
    assert.match(await command.innerText(), /^ordeal run .*1-13\/test\.test$/);
  }),

  "keys alone are enough": () => look("nightly/bucket-1", {}, async (page) => {
    for (let i = 0; i < 30 && await focused(page, "aria-expanded") === null; i++) await page.keyboard.press("Tab");
    const first = await focused(page, "id");
    assert.match(first, /edge_/);
    await page.keyboard.press("ArrowDown");
    assert.notStrictEqual(await focused(page, "id"), first);
    await page.keyboard.press("ArrowUp");
    assert.strictEqual(await focused(page, "id"), first);
    await page.keyboard.press("Enter");
    assert.strictEqual(await focused(page, "role"), "treeitem");
    assert.ok(await page.locator(".edge.lit").count() >= 1);
    await page.keyboard.press("Escape");
    assert.strictEqual(await focused(page, "id"), first);
    assert.strictEqual(await page.locator(".edge.lit, .here").count(), 0);
    await page.locator("[role=tab]").first().focus();
    await page.keyboard.press("ArrowRight");
    assert.strictEqual(await page.locator("[role=tab][aria-selected=true]").innerText(), "As it ran");
    assert.strictEqual(await page.locator("section.part:visible").count(), 1);
  }),

  "a line of the trace is shown when it is chosen": () => look("nightly/bucket-1", {}, async (page) => {
    await page.locator(visible + ".edge[role=button]").first().focus();
    await page.keyboard.press("Enter");
    await page.locator(visible + ".reasons .ground a").first().click();
    assert.ok(await page.locator(visible + ".listing li.core").first().isVisible());
  }),

  "operations and signals are drawn over cycles": () => look("waves", {}, async (page) => {
    const run = page.locator(visible + ".time-run svg");
    assert.strictEqual(await page.locator(visible + ".time .op.core").count(), 3);
    assert.ok(await page.locator(visible + ".time .wave").count() >= 1, "no signal of one bit");
    assert.ok(await page.locator(visible + ".time .bus").count() > 20, "no signal of many bits");
    const before = +await run.getAttribute("width");
    await page.locator(visible + ".time").focus();
    await page.keyboard.press("+");
    assert.strictEqual(+await run.getAttribute("width"), 2 * before);
    await page.getByRole("button", { name: "Show all" }).first().click();
    assert.strictEqual(+await run.getAttribute("width"), before);
  }),

  "of a machine that hangs the last moves are shown, and what it waits for": () => look("hangs", {}, async (page) => {
    assert.match(await page.locator(".time-bar").innerText(), /^Cycles 179 to 319/);
    assert.strictEqual(await page.locator(".time .op").count(), 0);
    assert.ok(await page.locator(".time .bus").count() > 20, "no signals");
    assert.match(await page.locator(".time-names").innerHTML(), />wait_addr</);
  }),

  "pages lead to each other, in a folder and in one file": async () => {
    await look("nightly/index", {}, async (page) => {
      await page.locator("a.card").first().click();
      assert.match(page.url(), /bucket-1\.html$/);
      await page.getByText("overview").click();
      assert.match(page.url(), /index\.html$/);
    });
    await look("nightly", {}, async (page) => {
      assert.strictEqual(await page.locator(".page:visible").count(), 1);
      await page.locator("a.card").nth(1).click();
      await page.locator("#bucket-2").waitFor(); // who is led there is told of it afterwards
      assert.strictEqual(await page.locator(".page:visible").getAttribute("id"), "bucket-2");
      await page.goBack();
      await page.locator("#index").waitFor();
      assert.strictEqual(await page.locator(".page:visible").getAttribute("id"), "index");
    });
  },

  "text of others does nothing": () => look("hostile", {}, async (page) => {
    assert.ok(await page.getByText("<script>alert(2)</script>").count() > 0);
    assert.strictEqual(await page.locator("img").count(), 0);
    assert.strictEqual(await page.evaluate(() => document.querySelectorAll("script:not([type])").length), 1);
  }),

  "what if is not offered without a server": () => look("nightly/bucket-1", {}, async (page) => {
    assert.strictEqual(await page.locator(".what-if").count(), 1);
    assert.strictEqual(await page.locator(".what-if").isVisible(), false);
  }),
};

(async () => {
  let passed = 0, failed = 0;
  fs.mkdirSync(path.join(folder, "shots"), { recursive: true });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: flags });
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log("pages: " + name + ": PASS");
      passed++;
    } catch (error) {
      console.log("pages: " + name + ": FAIL: " + error.message);
      failed++;
    }
  }
  await browser.close();
  console.log(passed + " passed, " + failed + " failed");
  process.exit(failed ? 1 : 0);
})();
