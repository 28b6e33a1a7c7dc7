/* SPDX-License-Identifier: Apache-2.0 */
/* What pages do that a server shows: ask what if, and move while a regression runs. Text of others comes in as text
 * nodes; the markup of an answer is the server's own. SERVE.md describes what is asked and answered. */
"use strict";
(function () {
  const { make, showExecution } = window.ordealPage;
  const MODELS = ["SC", "TSO", "PSO", "PC", "RMO"];

  function button(text, label, act) {
    const b = make("button", { type: "button", "aria-label": label, title: label, tabindex: "-1" }, text);
    b.addEventListener("click", act);
    return b;
  }

  /* ---- what if ---------------------------------------------------------------------------- */

  /* A line in pieces: text and values in turn, up to a comment. */
  function piecesOf(text) {
    const comment = text.search(/(^|[ \t])#/), end = comment < 0 ? text.length : comment;
    const pieces = text.slice(0, end).split(/([=#?])([0-9A-Za-z]+)/), values = [];
    let plain = "";
    for (let i = 0; i < pieces.length; i += 3) {
      plain += pieces[i];
      if (i + 2 >= pieces.length) break;
      values.push({ before: plain + pieces[i + 1], value: pieces[i + 2] });
      plain = "";
    }
    return { values, rest: plain + text.slice(end) };
  }
  const threadOf = (text) => (text.match(/^\s*(P\d+)\s/) || [])[1];
  const sameEdit = (a, b) => a.do === b.do && a.line === b.line && a.at === b.at;

  function WhatIf(place) {
    const page = place.closest(".page");
    const parts = [...page.querySelectorAll(".part")].filter((p) => p.querySelector(".execution .listing li"));
    if (!parts.length) return;
    let part = parts[0], edits = [], before = [], asked = 0, current = null;

    const model = make("select", { "aria-label": "Memory model" }, make("option", { value: "" }, "as it was judged"),
      ...MODELS.map((name) => make("option", { value: name }, name)));
    const which = make("select", { "aria-label": "Which trace" },
      ...parts.map((p, i) => make("option", { value: String(i) }, p.dataset.tab)));
    const undo = button("Undo", "Undo the last change (u)", () => goBack());
    const reset = button("Reset", "Take all changes back", () => { if (edits.length) change([]); });
    const list = make("ol", { class: "edit-lines", "aria-label": "Operations of the trace" });
    const verdict = make("p", { class: "verdict", role: "status" });
    const shown = make("div", { class: "answer" });

    const execution = () => part.querySelector(".execution");
    const verdictBefore = () => JSON.parse(execution().querySelector("script.data").textContent).verdict;
    const find = (edit) => edits.find((e) => sameEdit(e, edit));

    /* Rows: a line as it was, with what is changed of it, and what is inserted behind it. */
    function rowOf(key, content, tools, css) {
      const row = make("li", { tabindex: "-1", "data-key": key, class: css }, ...content, make("span", { class: "tools" }, ...tools));
      row.addEventListener("keydown", onKey);
      row.addEventListener("focus", () => choose(row));
      return row;
    }
    function valueButton(line, at, piece) {
      const edit = find({ do: "value", line, at }), value = edit ? edit.text : piece.value;
      const b = button(value, "Change the value " + value, () => openValue(b, line, at, piece.value));
      b.className = "value" + (edit ? " changed" : "");
      return b;
    }
    function lineRow(item) {
      const line = item.value, text = item.textContent.trim(), dropped = find({ do: "drop", line });
      const pieces = piecesOf(text), code = make("code", {});
      pieces.values.forEach((piece, at) => code.append(piece.before, valueButton(line, at, piece)));
      code.append(pieces.rest);
      const tools = [];
      if (threadOf(text)) tools.push(button("+ fence", "Add a fence after line " + line + " (f)", () => toggleFence(line, text)));
      tools.push(button(dropped ? "restore" : "drop", (dropped ? "Restore" : "Drop") + " line " + line + " (Delete)", () => toggle({ do: "drop", line })));
      const row = rowOf("line-" + line, [make("span", { class: "number" }, String(line)), code], tools,
        (item.classList.contains("core") ? "core" : "") + (dropped ? " dropped" : ""));
      row.line = line;
      row.text = text;
      return row;
    }
    function fenceRow(edit) {
      const row = rowOf("fence-" + edit.line, [make("span", { class: "number" }, "+"), make("code", {}, edit.text)],
        [button("drop", "Take the fence back (Delete)", () => toggle(edit))], "inserted");
      row.edit = edit;
      return row;
    }
    function render() {
      const rows = [];
      for (const item of execution().querySelectorAll(".listing li")) {
        if (!/^\s*(P\d+|init|final)\s/.test(item.textContent)) continue;
        rows.push(lineRow(item));
        const fence = find({ do: "insert", line: item.value });
        if (fence) rows.push(fenceRow(fence));
      }
      const inside = list.contains(document.activeElement), key = current;
      list.replaceChildren(...rows);
      const row = rows.find((r) => r.dataset.key === key) || rows.find((r) => r.classList.contains("core")) || rows[0];
      choose(row);
      if (inside && row) row.focus();
      undo.disabled = !before.length;
      reset.disabled = !edits.length;
    }
    /* One row can be reached by Tab, the others by arrows. */
    function choose(row) {
      if (!row) return;
      for (const other of list.querySelectorAll("li[tabindex='0']")) other.tabIndex = -1;
      row.tabIndex = 0;
      current = row.dataset.key;
    }

    /* Changes. */
    function change(now) {
      before.push(edits);
      edits = now;
      render();
      ask();
    }
    function goBack() {
      if (!before.length) return;
      edits = before.pop();
      render();
      ask();
    }
    function toggle(edit) {
      change(find(edit) ? edits.filter((e) => !sameEdit(e, edit)) : [...edits, edit]);
    }
    const toggleFence = (line, text) => toggle({ do: "insert", line, text: threadOf(text) + " MEMBAR" });
    function openValue(b, line, at, original) {
      const input = make("input", { class: "value", value: b.textContent, size: Math.max(3, b.textContent.length + 1),
        "aria-label": "The value", spellcheck: "false", autocomplete: "off", maxlength: "200" });
      const key = "line-" + line;
      let done = false;
      function close(take) {
        if (done) return;
        done = true;
        const text = input.value.trim(), others = edits.filter((e) => !sameEdit(e, { do: "value", line, at }));
        current = key;
        if (take && text && text !== b.textContent) change(text === original ? others : [...others, { do: "value", line, at, text }]);
        else render();
        const row = list.querySelector("[data-key='" + key + "']");
        if (row) row.focus();
      }
      input.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Enter") close(true);
        if (event.key === "Escape") close(false);
      });
      input.addEventListener("blur", () => close(true));
      b.replaceWith(input);
      input.focus();
      input.select();
    }
    function onKey(event) {
      const row = event.currentTarget, rows = [...list.children], at = rows.indexOf(row);
      if (event.target !== row && event.key !== "Escape") return;
      const undone = event.key === "u" || (event.key === "z" && (event.ctrlKey || event.metaKey));
      if ((event.ctrlKey || event.metaKey || event.altKey) && !undone) return;
      const first = row.querySelector("button.value");
      const act = undone ? goBack : {
        ArrowDown: () => rows[at + 1] && rows[at + 1].focus(), ArrowUp: () => rows[at - 1] && rows[at - 1].focus(),
        Home: () => rows[0].focus(), End: () => rows[rows.length - 1].focus(),
        Delete: () => toggle(row.edit || { do: "drop", line: row.line }),
        Backspace: () => toggle(row.edit || { do: "drop", line: row.line }),
        f: () => row.text && threadOf(row.text) && toggleFence(row.line, row.text),
        Enter: () => first && first.click(), e: () => first && first.click(),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    }

    /* The question and its answer. */
    function say(word, css, ...more) {
      verdict.className = "verdict " + css;
      verdict.replaceChildren(make("b", {}, word), ...more);
    }
    function show(answer) {
      const was = verdictBefore();
      shown.replaceChildren();
      if (answer.error) return say("No verdict", "warn", ": " + answer.error);
      const now = answer.execution.verdict, css = { PASS: "good", FAIL: "bad" }[now.verdict] || "warn";
      const changed = now.verdict === was.verdict && now.model === was.model ? ", as before"
        : " \u2013 before it was " + was.verdict + " under " + was.model;
      say(now.verdict + " under " + now.model, css, changed + ".");
      const section = new DOMParser().parseFromString(answer.section, "text/html").querySelector(".execution");
      shown.append(section);
      showExecution(section);
    }
    async function ask() {
      const number = ++asked;
      if (!edits.length && !model.value) {
        shown.replaceChildren();
        return say("Nothing is changed", "soft", ".");
      }
      say("\u2026", "soft", " the checker is at work");
      place.setAttribute("aria-busy", "true");
      const question = { page: place.dataset.page, part: part.dataset.part, sum: +execution().dataset.sum, edits };
      if (model.value) question.model = model.value;
      try {
        const response = await fetch("what-if", { method: "POST", headers: { "Content-Type": "application/json" },
          body: JSON.stringify(question) });
        const text = await response.text();
        if (number !== asked) return;
        if (response.ok) show(JSON.parse(text));
        else { shown.replaceChildren(); say("No answer", "warn", " " + text.trim()); }
      } catch (error) {
        if (number === asked) say("No answer", "warn", " the server does not answer any more");
      }
      if (number === asked) place.removeAttribute("aria-busy");
    }

    model.addEventListener("change", ask);
    which.addEventListener("change", () => {
      part = parts[+which.value];
      edits = [];
      before = [];
      current = null;
      render();
      ask();
    });
    for (const b of [undo, reset]) b.tabIndex = 0;
    place.append(make("div", { class: "what-if-bar" }, ...(parts.length > 1 ? [which] : []),
      make("label", {}, "Judged by ", model), make("span", { class: "space" }), undo, reset), list,
    make("p", { class: "keys" }, make("kbd", {}, "\u2191 \u2193"), " walk, ", make("kbd", {}, "Enter"), " changes a value, ",
      make("kbd", {}, "Delete"), " drops, ", make("kbd", {}, "f"), " adds a fence, ", make("kbd", {}, "u"), " undoes"), verdict, shown);
    place.hidden = false;
    render();
    ask();
    const core = list.querySelector(".core");
    if (core) list.scrollTop = core.offsetTop - list.offsetTop - 60;
  }

  /* ---- a regression that runs --------------------------------------------------------------- */

  const COLOURS = { pass: "good", fail: "bad", undecided: "warn", lost: "warn" };
  const EVERY = 1000, REFRESH = 10000, PATIENT = 5;
  const countText = (n) => (n < 10000 ? String(n) : String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f"));

  function Live(page) {
    const bar = make("p", { class: "live", role: "status" });
    let last = null, refreshed = Date.now(), failures = 0;

    function place() {
      const header = page.querySelector("header");
      if (header && bar.parentElement !== header) header.append(bar);
    }
    function tell(now, moving) {
      const running = now.end === "", words = running ? (moving ? "Live" : "Waiting for tests") : "It has ended";
      const parts = [make("span", { class: "dot" + (running ? " on" : "") }), words];
      if (now.budget) {
        parts.push(", " + countText(now.tests) + " of " + countText(now.budget) + " tests ",
          make("progress", { max: now.budget, value: Math.min(now.tests, now.budget), "aria-label": "Tests that are done" }));
      }
      bar.replaceChildren(...parts);
    }
    function count(now) {
      for (const tile of page.querySelectorAll("[data-count]")) {
        const name = tile.dataset.count, number = now[name];
        tile.firstElementChild.textContent = countText(number);
        if (COLOURS[name]) tile.classList.toggle(COLOURS[name], number > 0);
      }
    }
    /* All else is made by the server as ever. */
    async function refresh() {
      const response = await fetch("index.html");
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector(".page");
      const focus = page.contains(document.activeElement) && document.activeElement.getAttribute("href");
      if (!response.ok || !fresh) return;
      page.replaceChildren(...fresh.childNodes);
      place();
      refreshed = Date.now();
      const link = focus && [...page.querySelectorAll("a")].find((a) => a.getAttribute("href") === focus);
      if (link) link.focus();
    }
    async function look() {
      const response = await fetch("live.json");
      if (!response.ok) throw new Error(String(response.status));
      const now = await response.json(), text = JSON.stringify(now);
      const slow = (n) => n && JSON.stringify([n.end, n.incidents, n.buckets.map((b) => [b.id, b.state])]);
      const moving = last !== null && JSON.stringify(last) !== text;
      /* Between the page and the first look there may have come more. */
      const other = last ? slow(now) !== slow(last) : now.buckets.length !== page.querySelectorAll("a.card").length;
      if (other || (Date.now() - refreshed > REFRESH && moving)) await refresh();
      count(now);
      if (moving || last === null || now.end !== "" || Date.now() - refreshed > REFRESH) tell(now, moving);
      last = now;
    }
    async function run() {
      try {
        if (!document.hidden) await look();
        failures = 0;
      } catch (error) {
        failures++;
        if (failures >= PATIENT) return bar.replaceChildren(make("span", { class: "dot" }), "The server does not answer any more");
      }
      setTimeout(run, EVERY * (1 + failures));
    }
    place();
    run();
  }

  for (const place of document.querySelectorAll(".what-if")) WhatIf(place);
  const counted = document.querySelector("[data-count]");
  if (counted) Live(counted.closest(".page"));
})();
