"use strict";
// Gantt charts on one time axis. Time runs to the right, slices down.
(() => {
  const { all, by, element } = miglab;
  const charts = by("charts");
  if (!charts) return;

  // The colours are those of the drawn figures.
  let colours = null;
  const setColours = (of) => {
    colours = of;
    for (const kind of ["create", "destroy"]) document.documentElement.style.setProperty("--" + kind, colours[kind]);
  };

  const svg = (name, attributes = {}, ...children) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };
  const seconds = (t) => t.toFixed(3) + "\u00a0s";
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = "600 11px system-ui, sans-serif"; // as wide as it gets
  const width = (text) => measure.measureText(text).width;

  // fit shortens a label to a width in pixels; "" where nothing of it is of use.
  const fit = (text, room) => {
    if (width(text) <= room) return text;
    for (let n = text.length - 1; n >= 3; n--) {
      const short = text.slice(0, n) + "…";
      if (width(short) <= room) return short;
    }
    return "";
  };

  // ticks are round instants between two, at most n.
  const ticks = (from, to, n) => {
    const least = (to - from) / Math.max(1, n);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = power * [1, 2, 5, 10].find((m) => power * m >= least);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const out = [];
    for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) out.push({ at: k * step, label: (k * step).toFixed(decimals) });
    return out;
  };

  const describe = (bar) => {
    const last = bar.slice + bar.width - 1;
    const where = bar.width === 1 ? `slice S${bar.slice}` : `slices S${bar.slice}–S${last}`;
    const on = current.gpus > 1 ? `GPU ${bar.gpu}, ${where}` : where;
    const what = { run: bar.label, create: `create instance ${bar.label}`, destroy: `destroy instance ${bar.label}` }[bar.kind];
    return { what, rows: [["size", `${bar.width}`], ["place", on], ["start", seconds(bar.start)], ["end", seconds(bar.end)], ["takes", seconds(bar.end - bar.start)]] };
  };

  let current = null; // the instance shown
  let view = { from: 0, to: 1 }; // the part of the time axis shown
  let whole = 1; // where the time axis ends
  let panels = [];
  let chosen = ""; // the task that is marked in both charts

  const tip = element("div", { class: "tip", id: "tip" });
  tip.hidden = true;
  document.body.append(tip);
  const showTip = (bar, x, y) => {
    const d = describe(bar);
    tip.replaceChildren(element("strong", {}, d.what), element("dl", {}, ...d.rows.flatMap(([k, v]) => [element("dt", {}, k), element("dd", {}, v)])));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const page = document.documentElement;
    tip.style.left = Math.max(4, Math.min(x + 14, page.clientWidth - box.width - 4)) + "px";
    tip.style.top = (y + 18 + box.height > page.clientHeight ? Math.max(4, y - box.height - 10) : y + 18) + "px";
  };
  const hideTip = () => (tip.hidden = true);

  // One frame is drawn at most once, whatever asks for it.
  let asked = false;
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      for (const p of panels) p.draw();
    });
  };

  const setView = (from, to) => {
    const span = Math.min(whole, Math.max(whole / 500, to - from));
    const start = Math.max(0, Math.min(whole - span, from));
    view = { from: start, to: start + span };
    charts.dataset.from = view.from;
    charts.dataset.to = view.to;
    redraw();
  };
  const zoom = (factor, at = (view.from + view.to) / 2) => {
    // At an end of the zoom the place stays as well.
    const span = Math.min(whole, Math.max(whole / 500, (view.to - view.from) * factor));
    const share = (at - view.from) / (view.to - view.from);
    setView(at - share * span, at + (1 - share) * span);
  };
  const pan = (share) => {
    const by = (view.to - view.from) * share;
    setView(view.from + by, view.to + by);
  };
  const act = { in: () => zoom(1 / 1.5), out: () => zoom(1.5), left: () => pan(-0.2), right: () => pan(0.2), reset: () => setView(0, whole) };
  const keys = { "+": "in", "=": "in", "-": "out", _: "out", ArrowLeft: "left", ArrowRight: "right", 0: "reset", Home: "reset" };

  const left = 34;
  const right = 10;
  const top = 38;
  const bottom = 34;
  const strip = 36; // the height of a count over time, below the slices
  const above = 20; // and the room for its name

  const panel = (plan) => {
    const bars = plan.bars;
    const row = current.gpus > 1 ? 18 : 30;
    const gap = 10;
    const rowTop = (gpu, slice) => top + gpu * (current.slices * row + gap) + slice * row;
    const counts = [
      { name: "slices in use", steps: plan.used, most: current.gpus * current.slices },
      { name: "tasks that have not begun", steps: plan.waiting, most: current.tasks.length },
    ];
    const height = rowTop(current.gpus - 1, current.slices) + counts.length * (above + strip) + bottom;
    const drawing = svg("svg", { class: "gantt", height, "aria-hidden": "true" });
    const chart = element("div", { class: "chart", tabindex: "0", role: "group", "aria-roledescription": "Gantt chart" }, drawing);
    chart.setAttribute("aria-label", `Schedule of ${plan.algorithm}. Plus and minus zoom, left and right move, 0 resets, up and down go from bar to bar. A table follows.`);
    const detail = element("p", { class: "detail", role: "status" });
    let selected = -1;
    let shown = []; // the bars' rectangles in pixels

    const inner = () => Math.max(60, (chart.clientWidth || 600) - left - right);
    const x = (t) => ((t - view.from) / (view.to - view.from)) * inner();
    const timeAt = (clientX) => view.from + ((clientX - chart.getBoundingClientRect().left - left) / inner()) * (view.to - view.from);

    const draw = () => {
      const w = inner();
      const full = left + w + right;
      drawing.setAttribute("width", full);
      drawing.setAttribute("viewBox", `0 0 ${full} ${height}`);
      const plot = svg("svg", { x: left, y: 0, width: w, height, overflow: "hidden" });
      const front = svg("g");
      const marks = ticks(view.from, view.to, w / 70);
      const axis = svg("g", { class: "axis" });
      const base = height - bottom;
      for (let gpu = 0; gpu < current.gpus; gpu++) {
        const y = rowTop(gpu, 0);
        plot.append(svg("rect", { class: "idle", x: x(0), y, width: Math.max(0, x(plan.makespan) - x(0)), height: current.slices * row }));
        for (let s = 0; s <= current.slices; s++) plot.append(svg("line", { class: "grid", x1: 0, x2: w, y1: y + s * row, y2: y + s * row }));
        for (const t of marks) plot.append(svg("line", { class: "grid", x1: x(t.at), x2: x(t.at), y1: y, y2: y + current.slices * row }));
        for (let s = 0; s < current.slices; s++) axis.append(svg("text", { x: left - 7, y: y + (s + 0.5) * row + 4, "text-anchor": "end" }, current.gpus > 1 ? `${gpu}.S${s}` : `S${s}`));
      }
      counts.forEach(({ name, steps, most }, k) => {
        const zero = base - (counts.length - 1 - k) * (above + strip);
        const y = (n) => zero - (n / most) * strip;
        for (const n of [0, most]) {
          plot.append(svg("line", { class: "grid", x1: 0, x2: w, y1: y(n), y2: y(n) }));
          axis.append(svg("text", { x: left - 7, y: y(n) + 4, "text-anchor": "end" }, `${n}`));
        }
        for (const t of marks) plot.append(svg("line", { class: "grid", x1: x(t.at), x2: x(t.at), y1: y(most), y2: zero }));
        plot.append(svg("path", { class: "steps", d: steps.map(({ at, n }, i) => (i ? `H${x(at)}V${y(n)}` : `M${x(at)} ${y(n)}`)).join("") + `H${x(whole)}` }));
        axis.append(svg("text", { x: left, y: y(most) - 6 }, name));
      });
      for (const t of marks) axis.append(svg("text", { x: Math.min(left + x(t.at), full - width(t.label) / 2), y: base + 15, "text-anchor": "middle" }, t.label));
      axis.append(svg("text", { x: left + w, y: height - 3, "text-anchor": "end" }, "time in s"));
      shown = bars.map((bar, i) => {
        const x0 = x(bar.start);
        const r = { x: x0, y: rowTop(bar.gpu, bar.slice), width: Math.max(bar.kind === "run" ? 1 : 2, x(bar.end) - x0), height: bar.width * row };
        if (r.x > w || r.x + r.width < 0) return r;
        const marked = i === selected || (bar.kind === "run" && bar.label === chosen);
        const rect = svg("rect", { ...r, class: bar.kind + (r.width > 5 ? " wide" : "") + (marked ? " marked" : ""), "data-bar": i });
        if (bar.kind === "run") rect.setAttribute("fill", colours.tasks[current.places.get(bar.label) % colours.tasks.length]);
        (marked ? front : plot).append(rect);
        if (bar.kind === "run") {
          // The label stands in the middle of what is seen of the bar.
          const from = Math.max(0, r.x);
          const to = Math.min(w, r.x + r.width);
          const at = { class: "name", x: (from + to) / 2, y: r.y + r.height / 2 + 4, "text-anchor": "middle" };
          const upright = to - from >= 14 && width(bar.label) > to - from - 6 && width(bar.label) <= r.height - 6;
          if (upright) at.transform = `rotate(-90 ${at.x} ${at.y - 4})`;
          const text = upright ? bar.label : fit(bar.label, to - from - 6);
          if (text) (marked ? front : plot).append(svg("text", at, text));
        } else if (bar.kind === "destroy" && r.width > 8) {
          plot.append(svg("path", { class: "cross", d: `M${r.x} ${r.y}l${r.width} ${r.height}m0 ${-r.height}l${-r.width} ${r.height}` }));
        }
        return r;
      });
      plot.append(front);
      // Each label has a row of its own above the chart, and the lines begin below both rows,
      // so that labels meet neither labels nor lines.
      const line = (at, kind, y, text) => {
        const px = x(at);
        if (px < -0.5 || px > w + 0.5) return;
        const half = width(text) / 2;
        plot.append(svg("line", { class: kind, x1: px, x2: px, y1: top - 6, y2: base }));
        axis.append(svg("text", { class: kind, x: left + Math.max(half - 2, Math.min(w - half + 2, px)), y, "text-anchor": "middle" }, text));
      };
      if (current.bound > 0) line(current.bound, "bound", 12, (current.proven ? "proven optimum " : "certified bound ") + current.boundText + " s");
      line(plan.makespan, "end", 28, "makespan " + plan.makespanText + " s");
      drawing.replaceChildren(plot, axis);
    };

    const select = (i) => {
      selected = i;
      chosen = bars[i].kind === "run" ? bars[i].label : "";
      const d = describe(bars[i]);
      detail.textContent = d.what + ": " + d.rows.map(([k, v]) => `${k} ${v}`).join(", ");
      for (const p of panels) if (p.chart !== chart) p.clear();
      redraw();
    };

    // A bar that is out of sight is moved into it.
    const step = (by) => {
      if (bars.length === 0) return;
      const i = Math.max(0, Math.min(bars.length - 1, selected < 0 ? 0 : selected + by));
      const { start, end } = bars[i];
      if (start < view.from || start > view.to) setView((start + end - (view.to - view.from)) / 2, (start + end + (view.to - view.from)) / 2);
      select(i);
    };
    chart.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (keys[e.key]) act[keys[e.key]]();
      else if (e.key === "ArrowUp") step(-1);
      else if (e.key === "ArrowDown") step(1);
      else if (e.key === "Escape") hideTip();
      else return;
      e.preventDefault();
    });

    chart.addEventListener("wheel", (e) => {
      // Where there is nothing left to zoom, or to move to, the page scrolls.
      const before = view;
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(e.deltaX / inner());
      else zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.004), timeAt(e.clientX));
      if (view.from !== before.from || view.to !== before.to) e.preventDefault();
    }, { passive: false });

    // One pointer moves the view, two zoom it.
    const pointers = new Map();
    let moved = 0;
    chart.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      if (pointers.size === 0) moved = 0;
      pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
      chart.setPointerCapture(e.pointerId);
    });
    const barAt = (e) => {
      const box = chart.getBoundingClientRect();
      const px = e.clientX - box.left - left;
      const py = e.clientY - box.top;
      if (px < 0 || px > inner()) return -1;
      return shown.findLastIndex((r) => px >= r.x - 1 && px <= r.x + r.width + 1 && py >= r.y && py < r.y + r.height);
    };
    chart.addEventListener("pointermove", (e) => {
      const was = pointers.get(e.pointerId);
      if (!was) {
        const i = barAt(e);
        const task = i >= 0 && bars[i].kind === "run" ? bars[i].label : "";
        if (i >= 0) showTip(bars[i], e.clientX, e.clientY);
        else hideTip();
        if (e.pointerType === "mouse" && selected < 0 && task !== chosen) {
          chosen = task;
          redraw();
        }
        return;
      }
      const others = [...pointers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
      if (others.length === 1) {
        const o = others[0];
        const apart = Math.max(12, Math.abs(was.x - o.x));
        const now = Math.max(12, Math.abs(e.clientX - o.x));
        zoom(apart / now, timeAt((e.clientX + o.x) / 2));
        moved += 10;
      } else {
        pan((was.x - e.clientX) / inner());
        moved += Math.abs(was.x - e.clientX) + Math.abs(was.y - e.clientY);
      }
      if (moved > 4) hideTip();
      pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    });
    const up = (e) => {
      if (!pointers.delete(e.pointerId)) return;
      if (e.type === "pointerup" && moved <= 4) {
        const i = barAt(e);
        if (i >= 0) {
          select(i);
          showTip(bars[i], e.clientX, e.clientY);
        } else {
          for (const p of panels) p.clear();
          chosen = "";
          redraw();
        }
      }
    };
    chart.addEventListener("pointerup", up);
    chart.addEventListener("pointercancel", up);
    chart.addEventListener("pointerleave", (e) => {
      if (e.pointerType !== "mouse") return;
      hideTip();
      if (selected < 0 && chosen && panels.every((p) => !p.hasSelection())) {
        chosen = "";
        redraw();
      }
    });

    const facts = [
      ["makespan", plan.makespanText + " s"],
      [current.proven ? "above the optimum" : "above the bound", plan.gap === "–" ? "–" : plan.gap + " %"],
      ["slices busy", plan.utilisation + " %"],
      ["reconfigurations", `${plan.reconfigurations}`],
    ];
    const table = element("table", { class: "data" },
      element("caption", {}, `Schedule of ${plan.algorithm}`),
      element("thead", {}, element("tr", {}, ...["what", "size", "place", "start s", "end s"].map((h, i) => element("th", { scope: "col", ...(i === 1 || i > 2 ? { class: "num" } : {}) }, h)))),
      element("tbody", {}, ...bars.map((bar) => {
        const d = describe(bar);
        return element("tr", {}, element("th", { scope: "row" }, d.what), element("td", { class: "num" }, `${bar.width}`), element("td", {}, d.rows[1][1]), element("td", { class: "num" }, bar.start.toFixed(3)), element("td", { class: "num" }, bar.end.toFixed(3)));
      })));
    const section = element("section", { class: "plan", "aria-label": plan.algorithm },
      element("h2", {}, plan.algorithm),
      element("dl", { class: "plan-facts" }, ...facts.map(([k, v]) => element("div", {}, element("dt", {}, k), element("dd", {}, v)))),
      chart, detail,
      element("details", {}, element("summary", {}, "As a table"), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Schedule of ${plan.algorithm} as a table` }, table)));
    return {
      section, chart, draw,
      hasSelection: () => selected >= 0,
      clear: () => {
        selected = -1;
        detail.textContent = "";
      },
    };
  };

  // show draws plans of an instance and returns their sections.
  const show = (instance, plans, ofFigures) => {
    hideTip();
    setColours(ofFigures);
    current = { ...instance, places: new Map() };
    for (const t of current.tasks) if (!current.places.has(t)) current.places.set(t, current.places.size);
    chosen = "";
    panels = plans.map(panel);
    const sections = panels.map((p) => p.section);
    charts.replaceChildren(...sections);
    whole = Math.max(current.bound, ...plans.map((p) => p.makespan)) * 1.02 || 1;
    setView(0, whole);
    for (const p of panels) p.draw();
    return sections;
  };

  for (const button of all("#zoom button")) button.addEventListener("click", act[button.dataset.do]);
  addEventListener("scroll", hideTip, { passive: true });
  new ResizeObserver(redraw).observe(charts);
  miglab.show = show;
})();
