/* SPDX-License-Identifier: Apache-2.0 */
/* What pages do: unfold the reasons of an edge, draw what happened over time, change between parts and
 * pages. Text of others comes in as text nodes alone. */
"use strict";
(function () {
  const SVG = "http://www.w3.org/2000/svg";

  function fill(element, attributes, children) {
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    for (const child of children) element.append(child);
    return element;
  }
  function make(name, attributes, ...children) {
    return fill(document.createElement(name), attributes, children);
  }
  function draw(name, attributes, ...children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
  }

  /* ---- reasons ---------------------------------------------------------------------------- */

  /* What a step without reasons rests on. */
  const grounds = {
    R1: "program order", R2: "program order", R3: "program order", PO: "program order",
    SA: "program order", DEP: "program order", T2: "program order", T3: "program order",
    R4: "value seen", R5: "program order and value seen", R7: "value seen", INIT: "initial value",
    FIN: "final value", A6: "order that the trace gives", TIME: "cycles", AT: "a swap is one piece",
  };
  /* The same of a step without a rule, by its kind. */
  const groundsOfKind = { case: "one of two cases", suppose: "supposed, to be refuted", saw: "value seen",
    value: "values seen", group: "one transaction" };

  const BROAD = 640; /* a picture of this width has no room beside it */

  function Reasons(section, data) {
    const prefix = section.dataset.prefix, panel = section.querySelector(".reasons");
    const steps = new Map(data.steps.map((s) => [s.step, s]));
    const edges = [];
    const hint = panel.firstElementChild;
    let open = null;

    const elementOf = (id) => document.getElementById(prefix + id);
    /* Of edges that look the same one has the arrow of all. */
    function arrowOf(edge) {
      const own = elementOf(edge.arrow);
      const alike = data.graph.filter((e) => e.from === edge.from && e.to === edge.to);
      return own || alike.map((e) => elementOf(e.arrow)).find((e) => e);
    }
    /* An edge by itself, as a step. */
    function edgeItself(edge) {
      const ends = [edge.from, edge.to, edge.via].map((id) => data.core.find((o) => o.id === id));
      return { text: edge.sentence, rule: edge.rule, rule_text: edge.rule_text, because: edge.because,
        edges: [edge.edge], lines: ends.filter((o) => o).map((o) => o.line) };
    }
    function reasonOf(edge) {
      const step = steps.get(edge.step), supposed = step.kind === "suppose" || step.kind === "case";
      return { ...edgeItself(edge), ...(supposed ? { text: step.text, kind: step.kind } : {}) };
    }
    function light(step, on) {
      for (const number of step.edges) {
        const arrow = arrowOf(data.graph[number - 1]);
        if (arrow) arrow.classList.toggle("lit", on);
      }
      for (const line of step.lines) {
        const item = elementOf("line-" + line);
        if (item) item.classList.toggle("here", on);
      }
    }
    function showLine(event, line) {
      const item = elementOf("line-" + line);
      event.preventDefault();
      event.stopPropagation();
      if (!item) return;
      item.closest("details").open = true;
      item.scrollIntoView({ block: "center" });
    }
    function lineLinks(step) {
      const list = make("span", { class: "ground" });
      const ground = !step.because.length && (grounds[step.rule] || groundsOfKind[step.kind]);
      if (ground) list.append(ground);
      if (step.lines.length) list.append((ground ? "; " : "") + (step.lines.length > 1 ? "lines " : "line "));
      step.lines.forEach((line, i) => {
        const link = make("a", { href: "#" + prefix + "line-" + line, tabindex: "-1" }, String(line));
        link.addEventListener("click", (event) => showLine(event, line));
        list.append(i ? ", " : "", link);
      });
      return list;
    }
    /* What it rests on; a chain rests on its edges. */
    function reasonsOf(step) {
      if (step.because.length) return step.because.map((number) => steps.get(number));
      return !step.rule && step.edges.length > 1 ? step.edges.map((number) => edgeItself(data.graph[number - 1])) : [];
    }
    function setOpen(item, on) {
      if (!item.hasAttribute("aria-expanded")) return;
      const group = item.querySelector(":scope > ul");
      if (on && !group.childElementCount) for (const reason of reasonsOf(item.step)) group.append(itemOf(reason));
      group.hidden = !on;
      item.setAttribute("aria-expanded", String(on));
    }
    function itemOf(step) {
      const words = make("span", { class: "words" }, step.text + " "), unfolds = reasonsOf(step).length > 0;
      const item = make("li", { role: "treeitem", tabindex: "-1" },
        make("div", { class: "row" },
          make("span", { class: "sign", "aria-hidden": "true" }, unfolds ? "\u203a" : "\u00b7"), words));
      item.step = step;
      if (step.rule) words.append(make("abbr", { class: "rule", title: step.rule_text || "" }, step.rule));
      words.append(lineLinks(step));
      if (unfolds) {
        item.setAttribute("aria-expanded", "false");
        item.append(make("ul", { role: "group", hidden: "" }));
      }
      item.firstChild.addEventListener("click", () => {
        setOpen(item, item.getAttribute("aria-expanded") === "false");
        item.focus();
      });
      item.addEventListener("focus", () => light(step, true));
      item.addEventListener("blur", () => light(step, false));
      return item;
    }
    function fold(focus) {
      if (!open) return;
      const edge = open;
      open = null;
      edge.setAttribute("aria-expanded", "false");
      panel.replaceChildren(hint);
      for (const lit of section.querySelectorAll(".lit, .here")) lit.classList.remove("lit", "here");
      if (focus) edge.focus();
    }
    function unfold(edge, focus) {
      fold(false);
      open = edge;
      edge.setAttribute("aria-expanded", "true");
      const items = edge.reasons.map(itemOf), item = items[0];
      item.tabIndex = 0;
      panel.replaceChildren(make("h3", {}, "Why this arrow is there"),
        make("ul", { role: "tree", "aria-label": "Reasons" }, ...items),
        make("p", { class: "keys" }, make("kbd", {}, "\u2190 \u2191 \u2192 \u2193"), " walk and unfold, ", make("kbd", {}, "Esc"),
          " folds"));
      items.forEach((i) => setOpen(i, true));
      edge.reasons.forEach((reason) => light(reason, true));
      if (focus) item.focus();
    }
    const toggle = (edge, focus) => (open === edge ? fold(focus) : unfold(edge, focus));

    function visibleItems() {
      return [...panel.querySelectorAll("[role=treeitem]")].filter((i) => i.offsetParent !== null);
    }
    function walkTree(event) {
      const item = event.target.closest("[role=treeitem]");
      if (!item) return;
      const all = visibleItems(), at = all.indexOf(item), state = item.getAttribute("aria-expanded");
      const parent = item.parentElement.closest("[role=treeitem]");
      const moves = {
        ArrowDown: () => all[at + 1], ArrowUp: () => all[at - 1], Home: () => all[0],
        End: () => all[all.length - 1],
        ArrowRight: () => (state === "false" ? setOpen(item, true) : state && all[at + 1]),
        ArrowLeft: () => (state === "true" ? setOpen(item, false) : parent),
        Enter: () => setOpen(item, state === "false"), " ": () => setOpen(item, state === "false"),
        Escape: () => fold(true),
      };
      if (!moves[event.key]) return;
      event.preventDefault();
      const to = moves[event.key]();
      if (to && to.focus) to.focus();
    }
    function walkEdges(event) {
      const edge = event.currentTarget, at = edges.indexOf(edge), n = edges.length;
      const moves = {
        ArrowDown: () => edges[(at + 1) % n].focus(), ArrowRight: () => edges[(at + 1) % n].focus(),
        ArrowUp: () => edges[(at + n - 1) % n].focus(), ArrowLeft: () => edges[(at + n - 1) % n].focus(),
        Enter: () => toggle(edge, true), " ": () => toggle(edge, true), Escape: () => fold(true),
      };
      if (!moves[event.key]) return;
      event.preventDefault();
      moves[event.key]();
    }
    function prepare(edge, reason) {
      if (edge.reasons) {
        edge.reasons.push(reason);
        return;
      }
      const path = edge.querySelector("path");
      const label = edge.querySelector("text");
      edge.reasons = [reason];
      fill(edge, { tabindex: "0", role: "button", "aria-expanded": "false", "aria-label": reason.text }, []);
      if (path) path.after(draw("path", { class: "hit", d: path.getAttribute("d") }));
      if (label) label.setAttribute("aria-hidden", "true");
      edge.addEventListener("click", () => toggle(edge, false));
      edge.addEventListener("keydown", walkEdges);
      edges.push(edge);
    }
    /* ---- cases: the circle of one of them is shown alone ---- */
    const graph = section.querySelector(".graph"), cases = [...section.querySelectorAll(".reason .case")];
    function choose(chosen) {
      const number = cases.indexOf(chosen) + 1;
      const end = data.steps.filter((s) => s.case === number && s.kind === "impossible").pop();
      for (const edge of graph.querySelectorAll(".chosen")) edge.classList.remove("chosen");
      for (const edge of (end && end.cycle) || []) {
        const arrow = arrowOf(data.graph[edge - 1]);
        if (arrow) arrow.classList.add("chosen");
      }
      graph.classList.toggle("choosing", graph.querySelector(".chosen") !== null);
      for (const one of cases) one.setAttribute("aria-pressed", String(one === chosen));
    }
    function offer(one) {
      const toggleCase = () => choose(one.getAttribute("aria-pressed") === "true" ? null : one);
      fill(one, { role: "button", tabindex: "0", "aria-pressed": "false", title: "Show its circle" }, []);
      one.addEventListener("click", toggleCase);
      one.addEventListener("keydown", (event) => {
        const act = { Enter: toggleCase, " ": toggleCase, Escape: () => choose(null) }[event.key];
        if (!act) return;
        event.preventDefault();
        act();
      });
    }
    cases.forEach(offer);

    /* What the colours of arrows say, of those that are there. */
    const colours = { circle: cases.length ? "the circle of one case" : "run in a circle, which no order can",
      given: "program order, or a value seen", found: "follows from others", supposed: "holds in one case, or is supposed" };
    graph.after(make("ul", { class: "arrows" }, ...Object.keys(colours)
      .filter((name) => graph.querySelector(".edge." + name)).map((name) => make("li", { class: name }, colours[name]))));

    /* A wide one gets all of the page, and is not made too small to read: its place scrolls. */
    for (const svg of section.querySelectorAll(".graph > svg")) {
      svg.style.minWidth = 0.7 * svg.width.baseVal.value + "px";
      if (svg.width.baseVal.value > BROAD) section.querySelector(".proof").classList.add("broad");
    }
    /* What Graphviz calls things is for nobody. */
    for (const title of section.querySelectorAll(".graph title")) title.remove();
    for (const link of section.querySelectorAll(".graph a")) link.removeAttribute("xlink:title");
    for (const edge of data.graph) {
      const arrow = arrowOf(edge);
      if (arrow) prepare(arrow, reasonOf(edge));
    }
    panel.addEventListener("keydown", walkTree);
  }

  /* ---- over time -------------------------------------------------------------------------- */

  const ROW = 20, LANE = 8, LABELLED = 17, HEAD = 26;

  function rangeOf(data) {
    if (data.waves) return [data.waves.first, data.waves.last];
    const core = data.operations.filter((o) => o.core);
    return [Math.max(0, Math.min(...core.map((o) => o.begin)) - 20), Math.max(...core.map((o) => o.end)) + 20];
  }
  /* Each into the first lane in which it meets no other. */
  function pack(operations, extent) {
    const ends = [];
    return operations.map((o) => {
      const [from, to] = extent(o);
      let lane = ends.findIndex((end) => end < from);
      if (lane < 0) lane = ends.length;
      ends[lane] = to;
      return lane;
    });
  }
  function stepOf(cycles, room) {
    const rough = cycles / Math.max(2, room / 90), power = 10 ** Math.floor(Math.log10(rough));
    return Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough));
  }
  /* Of a machine that hangs one wants to know what it waits for. */
  const isShown = (data) => (signal) => signal.changes.length > 1
    || (!data.operations.length && /^(pc|wait)/.test(signal.name));

  function Time(section, data) {
    const figure = section.querySelector(".time");
    const [first, last] = rangeOf(data), cycles = last - first + 1;
    const harts = [...new Set(data.operations.filter((o) => o.end >= first && o.begin <= last).map((o) => o.hart))]
      .sort((a, b) => a - b);
    const still = data.waves ? data.waves.signals.filter((s) => !isShown(data)(s)).length : 0;
    const names = make("div", { class: "time-names" }), run = make("div", { class: "time-run" });
    let zoom = 1;

    function button(text, label, act) {
      const b = make("button", { type: "button", "aria-label": label, title: label }, text);
      b.addEventListener("click", act);
      return b;
    }
    function setZoom(value) {
      const middle = (run.scrollLeft + run.clientWidth / 2) / Math.max(1, run.scrollWidth);
      zoom = Math.min(64, Math.max(1, value));
      render();
      run.scrollLeft = middle * run.scrollWidth - run.clientWidth / 2;
    }

    function render() {
      const room = Math.max(200, run.clientWidth - 1), width = room * zoom, scale = width / cycles;
      const x = (cycle) => (cycle - first) * scale;
      const left = draw("svg", { width: 150, role: "presentation" }), right = draw("svg", { width });
      let y = HEAD;
      const name = (text, css, at) => left.append(draw("text", { x: 10, y: at, class: css }, text));
      const band = (height) => right.append(draw("rect", { class: "band", x: 0, y, width, height }));

      function axis() {
        const step = stepOf(cycles, width);
        for (let c = Math.ceil(first / step) * step; c <= last; c += step) {
          right.append(draw("line", { class: "grid", x1: x(c), x2: x(c), y1: HEAD - 6, y2: "100%" }));
          if (x(c) + 3 + 7 * String(c).length < width)
            right.append(draw("text", { class: "tick", x: x(c) + 3, y: 15 }, String(c)));
        }
        name("cycle", "tick", 15);
      }
      function bar(o, at, height) {
        const from = Math.max(o.begin, first), to = Math.min(o.end + 1, last + 1);
        return draw("rect", { class: "op " + o.kind + (o.core ? " core" : ""), x: x(from), y: at,
          width: Math.max(2.5, x(to) - x(from)), height, rx: 2 },
          draw("title", {}, o.text + ", line " + o.line + ", cycles " + o.begin + " to " + o.end));
      }
      function lanes(hart) {
        const mine = data.operations.filter((o) => o.hart === hart && o.end >= first && o.begin <= last);
        const core = mine.filter((o) => o.core), rest = mine.filter((o) => !o.core);
        const label = (o) => Math.max(2, Math.min(x(o.begin), width - 2 - 7.2 * o.text.length)); // where it begins
        const labelled = pack(core, (o) => [Math.min(x(o.begin), label(o)),
          Math.max(x(o.end + 1), label(o) + 14 + 7.2 * o.text.length)]);
        const others = pack(rest, (o) => [o.begin, o.end]).map((lane) => Math.min(lane, 5));
        const top = Math.max(0, ...labelled.map((l) => l + 1)) * (LABELLED + 8);
        const height = Math.max(ROW, top + Math.max(0, ...others.map((l) => l + 1)) * LANE + 6);
        if (harts.indexOf(hart) % 2 === 0) band(height);
        core.forEach((o, i) => {
          const at = y + 3 + labelled[i] * (LABELLED + 8);
          right.append(bar(o, at + 15, 7), draw("text", { class: "label", x: label(o), y: at + 11 }, o.text));
        });
        rest.forEach((o, i) => right.append(bar(o, y + 3 + top + others[i] * LANE, LANE - 3)));
        name("P" + hart, "group", y + 15);
        y += height + 4;
      }
      function bit(signal, at) {
        const level = (v) => (v === "1" ? at + 4 : at + ROW - 5);
        let d = "";
        signal.changes.forEach(([cycle, value], i) => {
          const end = i + 1 < signal.changes.length ? signal.changes[i + 1][0] : last + 1;
          d += (d ? "L" : "M") + x(cycle) + " " + level(value) + "L" + x(end) + " " + level(value);
        });
        right.append(draw("path", { class: "wave", d }));
      }
      function bus(signal, at) {
        signal.changes.forEach(([cycle, value], i) => {
          const end = i + 1 < signal.changes.length ? signal.changes[i + 1][0] : last + 1;
          const a = x(cycle), b = x(end), slope = Math.min(3, (b - a) / 2), m = at + ROW / 2;
          const text = value.replace(/^0+(?=.)/, "");
          right.append(draw("path", { class: "bus" + (value === "x" ? " unknown" : ""),
            d: "M" + a + " " + m + "L" + (a + slope) + " " + (at + 3) + "H" + (b - slope) + "L" + b + " " + m + "L" +
              (b - slope) + " " + (at + ROW - 3) + "H" + (a + slope) + "Z" }, draw("title", {}, signal.name + " " + value)));
          if (b - a > 6.6 * text.length + 8)
            right.append(draw("text", { class: "value", x: a + 5, y: at + 14 }, text));
        });
      }
      function signals() {
        let group = null;
        for (const signal of data.waves.signals.filter(isShown(data))) {
          const title = signal.hart === undefined ? "bus to memory" : "signals of P" + signal.hart;
          if (title !== group) {
            y += 10;
            name(group = title, "group", y + 14);
            y += ROW;
          }
          name(signal.name.replace(/_[io]$/, ""), "name", y + 14);
          (signal.width === 1 ? bit : bus)(signal, y);
          y += ROW;
        }
      }
      function marks() {
        for (const o of data.operations.filter((o) => o.core))
          right.append(draw("line", { class: "mark", x1: x(o.end + 0.5), x2: x(o.end + 0.5), y1: HEAD - 4, y2: y }));
      }
      axis();
      harts.forEach(lanes);
      if (data.waves) signals();
      marks();
      left.setAttribute("height", y + 10);
      right.setAttribute("height", y + 10);
      names.replaceChildren(left);
      run.replaceChildren(right);
    }

    const note = "Cycles " + first + " to " + last +
      (still ? "; " + still + (still === 1 ? " signal that stands still is left out" : " signals that stand still are left out") : "") +
      (data.waves && data.waves.cut ? "; more changes than are shown" : "");
    figure.append(make("div", { class: "time-bar" }, make("span", {}, note), make("span", { class: "space" }),
      button("\u2212", "Zoom out", () => setZoom(zoom / 2)), button("+", "Zoom in", () => setZoom(zoom * 2)),
      button("Fit", "Show all", () => setZoom(1))),
      make("div", { class: "time-body" }, names, run));
    figure.addEventListener("keydown", (event) => {
      const act = { "+": () => setZoom(zoom * 2), "=": () => setZoom(zoom * 2), "-": () => setZoom(zoom / 2),
        "0": () => setZoom(1), ArrowLeft: () => run.scrollBy(-80, 0), ArrowRight: () => run.scrollBy(80, 0) }[event.key];
      if (!act || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      act();
    });
    let known = 0;
    new ResizeObserver(() => {
      if (run.clientWidth && run.clientWidth !== known) render();
      known = run.clientWidth;
    }).observe(run);
  }

  /* ---- an execution, parts, pages ----------------------------------------------------------- */

  function showExecution(section) {
    const data = JSON.parse(section.querySelector("script.data").textContent);
    if (section.querySelector(".reasons")) Reasons(section, data);
    if (section.querySelector(".time")) Time(section, data);
  }

  function showTabs(page) {
    const parts = [...page.querySelectorAll(".part")];
    if (parts.length < 2) return;
    const bar = make("div", { class: "tabs", role: "tablist" });
    const choose = (chosen, focus) => parts.forEach((part, i) => {
      part.hidden = i !== chosen;
      fill(bar.children[i], { "aria-selected": String(i === chosen), tabindex: i === chosen ? "0" : "-1" }, []);
      if (focus && i === chosen) bar.children[i].focus();
    });
    parts.forEach((part, i) => {
      const tab = make("button", { type: "button", role: "tab", "aria-controls": part.id }, part.dataset.tab);
      tab.addEventListener("click", () => choose(i));
      tab.addEventListener("keydown", (event) => {
        const move = { ArrowRight: 1, ArrowLeft: parts.length - 1 }[event.key];
        if (move) choose((i + move) % parts.length, true);
      });
      part.classList.add("tabbed");
      part.setAttribute("role", "tabpanel");
      bar.append(tab);
    });
    parts[0].before(bar);
    choose(0);
  }

  function showCopy(button) {
    if (!navigator.clipboard) return;
    button.hidden = false;
    button.addEventListener("click", () => navigator.clipboard.writeText(button.previousSibling.textContent).then(() => {
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    }));
  }

  /* All pages in one file: the one that the address names is shown. */
  function showPages() {
    const pages = [...document.querySelectorAll(".page")];
    if (pages.length < 2) return;
    function choose() {
      const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const chosen = (named && named.closest(".page")) || pages[0];
      for (const page of pages) page.hidden = page !== chosen;
      document.title = chosen.dataset.title;
      if (named && named !== chosen) named.scrollIntoView();
      else window.scrollTo(0, 0);
    }
    window.addEventListener("hashchange", choose);
    choose();
  }

  /* For whoever puts another execution into the page. */
  window.ordealPage = { showExecution, make };

  for (const section of document.querySelectorAll(".execution")) showExecution(section);
  for (const page of document.querySelectorAll(".page")) showTabs(page);
  for (const button of document.querySelectorAll(".copy")) showCopy(button);
  showPages();
})();
