"use strict";
// What the pages share: state in the address, filters, sorting.
const miglab = (() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const by = (id) => document.getElementById(id);

  // The address holds what is chosen behind its #, so that it can be shared.
  const read = () => new URLSearchParams(location.hash.slice(1));
  const write = (values) => {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) {
      if (value) params.set(name, value);
    }
    const hash = "#" + params;
    if (hash !== location.hash && (params.size || location.hash)) history.replaceState(null, "", hash);
  };

  // element makes an element; text never becomes markup.
  const element = (name, attributes = {}, ...children) => {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };

  // options fills a select and keeps its value where that is still there.
  const options = (select, values, wanted) => {
    const value = wanted ?? select.value;
    select.replaceChildren(...values.map((v) => (Array.isArray(v) ? element("option", { value: v[0] }, v[1]) : element("option", { value: v }, v))));
    const there = [...select.options].some((o) => o.value === value);
    if (there) select.value = value;
    return there;
  };

  // What a cell is sorted by: its first number, or null where there is none.
  const number = (text) => {
    if (/^[-–]?$/.test(text)) return null;
    const inf = /^([-−+]?)inf/i.exec(text);
    if (inf) return /[-−]/.test(inf[1]) ? -Infinity : Infinity;
    const found = /[-−+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i.exec(text);
    return found ? Number(found[0].replace("−", "-")) : null;
  };
  const collator = new Intl.Collator("en", { numeric: true });

  // together puts the rows that are folded under another one behind it.
  const together = (rows) => {
    const under = (head) => rows.filter((r) => r.dataset.head === head.dataset.algorithm && r.dataset.dataset === head.dataset.dataset);
    return rows.filter((r) => !r.dataset.head).flatMap((head) => [head, ...under(head)]);
  };

  // sortable gives every heading of a table a button. It returns a function that sorts
  // by a column as the buttons do; "" restores the first order.
  const sortable = (table, changed) => {
    const heads = all("thead th", table);
    const body = table.tBodies[0];
    const first = [...body.rows];
    const sort = (name, direction) => {
      const column = heads.findIndex((h) => h.dataset.column === name);
      heads.forEach((h, i) => {
        if (i === column) h.setAttribute("aria-sort", direction === "desc" ? "descending" : "ascending");
        else h.removeAttribute("aria-sort");
      });
      let rows = first;
      if (column >= 0) {
        const numeric = heads[column].classList.contains("num");
        const sign = direction === "desc" ? -1 : 1;
        const keyed = first.map((row) => {
          const cell = row.cells[column];
          const text = (cell.dataset.sort ?? cell.textContent).trim();
          return { row, key: numeric ? number(text) : text && text !== "–" ? text : null };
        });
        keyed.sort((a, b) => {
          if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
          if (a.key === b.key) return 0;
          return sign * (numeric ? (a.key < b.key ? -1 : 1) : collator.compare(a.key, b.key));
        });
        rows = keyed.map((k) => k.row);
      }
      body.append(...together(rows));
    };
    for (const head of heads) {
      const button = element("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const direction = head.getAttribute("aria-sort") === "ascending" ? "desc" : "asc";
        sort(head.dataset.column, direction);
        changed(head.dataset.column, direction);
      });
    }
    return sort;
  };

  // filters ties a form to the address: apply runs with the form's values whenever
  // one of the two changes.
  const filters = (form, load, apply) => {
    const values = () => Object.fromEntries(new FormData(form));
    const fromAddress = () => {
      load(read());
      apply(values());
    };
    form.addEventListener("input", () => apply(values()));
    form.addEventListener("submit", (e) => e.preventDefault());
    form.addEventListener("reset", (e) => {
      e.preventDefault();
      history.replaceState(null, "", "#");
      fromAddress();
    });
    addEventListener("hashchange", fromAddress);
    fromAddress();
  };

  // rowsOf returns the rows of a board. Its section may have other tables beside it.
  const rowsOf = (section) => all("table.sortable tbody tr", section);

  // drawCost draws the algorithms of a dataset by the median time of an instance and by what they are
  // ranked by, both on logarithmic scales where all values are above zero. The best ones for
  // their time are joined by a line.
  const drawCost = (section, dataset) => {
    const figure = section.querySelector(".cost");
    const points = rowsOf(section).filter((r) => r.dataset.dataset === dataset && !r.hidden).map((r) => ({
      name: r.dataset.algorithm, x: Number(r.dataset.micros), y: Number(r.dataset.value), first: r.classList.contains("first"),
      rank: Number(r.dataset.rank) || Infinity,
    })).filter((p) => p.x > 0 && Number.isFinite(p.y)).sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank));
    figure.hidden = points.length < 3;
    if (figure.hidden) return;
    const { axis } = all(".answer", section).find((a) => a.dataset.dataset === dataset).dataset;
    const gap = axis.startsWith("gap");
    const width = Math.max(280, Math.min(960, figure.parentElement.clientWidth));
    const height = 300;
    const space = { left: 52, right: 16, top: 22, bottom: 36 };
    // A logarithmic axis is for gaps that differ much. It ends at most five powers of ten below its
    // highest value.
    const highest = Math.max(...points.map((p) => p.y));
    const lowest = Math.min(...points.map((p) => p.y));
    const log = gap && lowest >= 0 && highest > 5 * lowest;
    const least = log ? 10 ** (Math.floor(Math.log10(highest)) - 4) : 0;
    const scaleY = log ? (v) => Math.log10(Math.max(v, least)) : (v) => v;
    const range = (values, pad) => {
      const [from, to] = [Math.min(...values), Math.max(...values)];
      const more = (to - from || 1) * pad;
      return [from - more, to + more];
    };
    const [x0, x1] = range(points.map((p) => Math.log10(p.x)), 0.06);
    const [y0, y1] = range(points.map((p) => scaleY(p.y)), 0.08);
    const px = (v) => space.left + ((Math.log10(v) - x0) / (x1 - x0)) * (width - space.left - space.right);
    const py = (v) => height - space.bottom - ((scaleY(v) - y0) / (y1 - y0)) * (height - space.top - space.bottom);
    const svg = (name, attributes, ...children) => {
      const e = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
      e.append(...children);
      return e;
    };
    const text = (x, y, words, attributes = {}) => svg("text", { x, y, ...attributes }, words);
    const time = (us) => (us < 1e3 ? `${us} µs` : us < 1e6 ? `${us / 1e3} ms` : `${us / 1e6} s`);
    const parts = [];
    const marks = [...Array(12).keys()].flatMap((e) => [1, 2, 5].map((m) => m * 10 ** (e - 2))).filter((v) => Math.log10(v) >= x0 && Math.log10(v) <= x1);
    for (const v of marks.filter((v) => marks.length < 7 || Math.log10(v) % 1 === 0)) {
      const x = px(v);
      parts.push(svg("line", { class: "grid", x1: x, x2: x, y1: space.top, y2: height - space.bottom }), text(x, height - space.bottom + 15, time(v), { "text-anchor": "middle" }));
    }
    // Round numbers: powers of ten, with 2 and 5 times one where there are few, or multiples of
    // 1, 2 or 5 times one.
    const power = 10 ** Math.floor(Math.log10((y1 - y0) / 3));
    const step = power * [5, 2, 1].find((m) => (y1 - y0) / (m * power) >= 2.5);
    const within = (v) => v >= least && scaleY(v) > y0 && scaleY(v) < y1;
    const powers = [...Array(6).keys()].map((i) => least * 10 ** i).filter(within);
    const linear = [...Array(12).keys()].map((i) => (Math.ceil(y0 / step) + i) * step).filter(within);
    const logarithmic = powers.length > 2 ? powers : [...Array(6).keys()].flatMap((i) => [1, 2, 5].map((m) => m * least * 10 ** i)).filter(within);
    for (const v of log ? logarithmic : linear) {
      const y = py(v);
      const number = String(Number(v.toPrecision(log ? 1 : 3)));
      const label = v === least && points.some((p) => p.y < least) ? "≤ " + number : number;
      parts.push(svg("line", { class: "grid", x1: space.left, x2: width - space.right, y1: y, y2: y }), text(space.left - 6, y + 4, label, { "text-anchor": "end" }));
    }
    parts.push(text(width - space.right, height - 4, "median time of an instance", { "text-anchor": "end" }));
    parts.push(text(4, 12, axis));
    // The points are by rank, so that those before are at least as good.
    const front = [];
    for (const p of points) if (!front.some((f) => f.x <= p.x)) front.push(p);
    if (front.length > 1) parts.push(svg("polyline", { class: "front", points: front.map((p) => `${px(p.x)},${py(p.y)}`).join(" ") }));
    // Labels go where none is yet: beside the point, or a little above or below it.
    const taken = points.map((p) => [px(p.x) - 5, py(p.y) - 5, px(p.x) + 5, py(p.y) + 5]);
    for (const p of points) {
      const [x, y] = [px(p.x), py(p.y)];
      parts.push(svg("circle", { class: front.includes(p) ? "best" : "", cx: x, cy: y, r: 4.5 }, svg("title", {}, `${p.name}: ${p.y} in ${time(p.x)}`)));
      const name = p.name.length > 26 ? p.name.slice(0, 25) + "…" : p.name;
      const w = name.length * 6.3;
      for (const [dx, dy, anchor] of [[9, 4, 0], [9, -8, 0], [9, 16, 0], [-9, 4, 1], [-9, -8, 1], [-9, 16, 1]]) {
        const left = x + dx - (anchor ? w : 0);
        const box = [left, y + dy - 10, left + w, y + dy + 3];
        if (box[0] < space.left || box[2] > width - 2 || box[1] < 14 || box[3] > height - space.bottom) continue;
        if (taken.some((t) => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])) continue;
        taken.push(box);
        parts.push(text(x + dx, y + dy, name, { class: "name", "text-anchor": anchor ? "end" : "start" }));
        break;
      }
    }
    figure.replaceChildren(
      svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Quality of ${points.length} algorithms against the median time of an instance` }, ...parts),
      element("figcaption", {}, "Quality against the time that an instance takes. The line joins those that nobody beats in less time. Points without a name say it when pointed at."));
  };

  // setFields puts an address's values into a form; what it lacks, or what is no option,
  // becomes the first option or empty.
  const setFields = (form, params) => {
    for (const field of form.elements) {
      if (!field.name) continue;
      const value = params.get(field.name) ?? "";
      if (field.type === "checkbox") {
        field.checked = value === field.value;
        continue;
      }
      field.value = value;
      if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0;
    }
  };

  const matches = (text, wanted) => {
    const low = text.toLowerCase();
    return wanted.toLowerCase().split(/\s+/).every((word) => low.includes(word));
  };

  const boards = (form) => {
    const sections = all("section.board");
    const sorts = new Map();
    let order = { sort: "", dir: "" };
    const { gpu, model, dataset } = form.elements;
    const distinct = (list, of) => [...new Set(list.map(of))];
    const remember = () => write({ ...Object.fromEntries(new FormData(form)), ...order });
    for (const section of sections) {
      sorts.set(section, sortable(section.querySelector("table"), (sort, dir) => {
        order = { sort, dir };
        for (const [other, sortOther] of sorts) if (other !== section) sortOther(sort, dir);
        remember();
      }));
    }
    // What a row has folded under it shows at a click.
    for (const row of all("tr[data-folded]")) {
      const button = element("button", { type: "button", class: "fold", "aria-expanded": "false" }, row.dataset.folded);
      row.querySelector("td[data-column=algorithm]").append(button);
      button.addEventListener("click", () => {
        button.ariaExpanded = String(button.ariaExpanded !== "true");
        form.dispatchEvent(new Event("input"));
      });
    }
    const open = (row) => {
      const head = rowsOf(row.closest("section")).find((r) => r.dataset.algorithm === row.dataset.head && r.dataset.dataset === row.dataset.dataset);
      return head.querySelector(".fold").ariaExpanded === "true";
    };
    for (const span of all(".span")) {
      for (const [i, part] of span.dataset.span.split(" ").entries()) span.style.setProperty(["--l", "--w", "--a"][i], `${part}%`);
    }
    // Choosing a GPU offers what there is of it, the first board at first.
    const offer = (params) => {
      options(gpu, distinct(sections, (s) => s.dataset.gpu), params?.get("gpu"));
      const here = sections.filter((s) => s.dataset.gpu === gpu.value);
      options(model, distinct(here, (s) => s.dataset.model), params?.get("model"));
      by("board-model").hidden = model.options.length === 1 && !model.value;
      const board = here.find((s) => s.dataset.model === model.value);
      const names = distinct(rowsOf(board), (r) => r.dataset.dataset);
      const wanted = params ? params.get("dataset") ?? names[0] : dataset.value;
      const several = names.length > 1 ? [["*", `all ${names.length} datasets`]] : [];
      if (!options(dataset, [...names.map((n) => [n, n]), ...several], wanted)) dataset.selectedIndex = 0;
    };
    const load = (params) => {
      setFields(form, params);
      offer(params);
      order = { sort: params.get("sort") ?? "", dir: params.get("dir") ?? "" };
      for (const sort of sorts.values()) sort(order.sort, order.dir);
    };
    filters(form, load, (values) => {
      offer();
      values = Object.fromEntries(new FormData(form));
      let shown = 0;
      let rows = 0;
      for (const section of sections) {
        const here = section.dataset.gpu === values.gpu && section.dataset.model === values.model;
        section.classList.toggle("shown", here);
        if (!here) continue;
        section.classList.toggle("one", values.dataset !== "*");
        section.classList.toggle("all", Boolean(values.all));
        for (const answer of all(".answer", section)) answer.hidden = values.dataset !== "*" && answer.dataset.dataset !== values.dataset;
        const one = all(".answer", section).find((a) => a.dataset.dataset === values.dataset);
        section.querySelector(".scale").textContent = one?.dataset.scale ? `scale: ${one.dataset.scale}` : "";
        for (const row of rowsOf(section)) {
          const found = (values.dataset === "*" || row.dataset.dataset === values.dataset) && matches(row.dataset.algorithm, values.q);
          const ok = found && (!row.dataset.head || values.q || open(row));
          row.hidden = !ok;
          rows++;
          shown += ok;
        }
        drawCost(section, values.dataset);
      }
      by("board-count").textContent = `${shown} of ${rows} rows of this board`;
      remember();
    });
  };

  const numbers = (form) => {
    const rows = all("table.numbers tbody tr");
    for (const select of all("select", form)) {
      const values = new Set(rows.map((row) => row.dataset[select.name]).filter(Boolean));
      options(select, [["", "all"], ...values]);
    }
    filters(form, (params) => setFields(form, params), ({ q, ...wanted }) => {
      let shown = 0;
      for (const row of rows) {
        const ok = Object.entries(wanted).every(([name, value]) => !value || row.dataset[name] === value) && matches(row.textContent, q);
        row.hidden = !ok;
        shown += ok;
      }
      by("number-count").textContent = `${shown} of ${rows.length} numbers`;
      write({ ...wanted, q });
    });
  };

  for (const [id, start] of [["board-filters", boards], ["number-filters", numbers]]) {
    if (by(id)) start(by(id));
  }
  return { all, by, read, write, element, options };
})();
