// A recording: every head of every layer as a small picture; of those that are chosen the matrix, and the tokens, or the
// patches of a picture, with what they look at.
import { arrayOf, arrowOf, asPercent, bytesOf, clamp, create, inflate, isNew, keepFocus, make, minus, onceAFrame } from "./prelude.js";
import { pixelOf, placeOn, putPixels, set } from "./prelude.js";
import { TokenView } from "./token_view.js";
import { PackedHead, UNCHANGED } from "./packed_heads.js";
import { CLEARNESS } from "./colours.js";
import { drawThumbnail, MASK, MatrixView, maxOf, RAMPS, weightColouring } from "./matrix_view.js";
import { StepsView } from "./steps_view.js";
import { shadowIn } from "./host.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MOST_OPEN = 6;

const kindOf = (trace) => trace.name.split(" ")[0].split(".").filter((part) => part && !/^\d+$/.test(part)).join(" ") || "attention";

const toldMeasures = (head) => head.measures.map(([name, value]) => `${name} ${minus(value.toPrecision(3))}`).join(" · ");

class RecordingView {
  constructor(root, data) {
    this.data = data;
    this.query = data.query ?? null;
    this.heads = data.traces.map((trace) =>
      trace.heads.map((entry, head) => new PackedHead(trace, entry, head, data.axes, data.masks)));
    this.groups = new Map();
    const sizeOf = (trace) => [trace.queries, trace.keys].map((axis) => data.axes[axis].pieces.length).join(" × ");
    data.traces.forEach((trace, place) => {
      const kind = kindOf(trace), sizes = new Set(data.traces.filter((other) => kindOf(other) === kind).map(sizeOf));
      const name = sizes.size > 1 ? `${kind}, ${sizeOf(trace)}` : kind;
      this.groups.set(name, [...(this.groups.get(name) ?? []), place]);
    });
    this.open = data.open.map(([trace, head]) => this.heads[trace][head]);
    const top = make(root, "div", "top");
    this.kinds = make(top, "div", { class: "kinds", role: "group", "aria-label": "Kind of attention" });
    this.several = make(top, "button", { class: "toggle", "aria-pressed": this.open.length > 1 }, "Several heads");
    this.filter = make(top, "select", { "aria-label": "From one sentence to another" });
    this.offerChanges(make(root, "div", "top"));
    const body = make(root, "div", "body");
    this.glance = make(body, "div", { class: "glance", role: "group", "aria-label": "Heads" });
    this.main = make(body, "div", "main");
    this.title = make(this.main, "h3");
    const sides = make(this.main, "div", "sides");
    this.pictures = make(sides, "div", "pictures");
    this.tokens = make(sides, "div", "root");
    this.patches = make(sides, "div", "patches");
    this.told = make(this.main, "p", { class: "small told", "aria-live": "polite" });
    const isShares = data.traces.every((trace) => trace.softmax);
    const largest = isShares ? `${+(100 * data.error).toPrecision(2)} percentage points` : minus(data.error.toPrecision(2));
    const note = [data.note, `Weights as a file keeps them: none is off by more than ${largest}.`].filter(Boolean).join(" ");
    if (data.steps.length) this.steps = new StepsView(make(root, "div", "steps"), data.steps, data.parts);
    make(root, "p", "small", note);
    this.tokenView = new TokenView(this.tokens);
    this.several.onclick = () => {
      const on = this.several.getAttribute("aria-pressed") !== "true";
      set(this.several, { "aria-pressed": on });
      if (!on) this.openHeads([this.open.at(-1)]);
    };
    this.filter.onchange = () => this.show();
    for (const name of this.groups.keys()) {
      const button = make(this.kinds, "button", "kind", name);
      button.onclick = () => this.openHeads([this.heads[this.groups.get(name)[0]][0]]);
    }
    this.kinds.hidden = this.groups.size < 2;
    this.several.hidden = this.heads.flat().length < 2;
    this.readPicture().then(() => this.openHeads(this.open));
  }

  // What can be changed of all heads at once: keys that nobody may look at, the temperature; and what is too small to show.
  offerChanges(parent) {
    Object.assign(this, { changes: UNCHANGED, below: 0, others: [], tell: () => {} });
    const hint = "Then click the tokens, or columns of the matrix, that nobody may look at";
    this.barring = make(parent, "button", { class: "toggle", "aria-pressed": false, title: hint }, "Bar keys");
    this.barring.onclick = () => {
      set(this.barring, { "aria-pressed": this.barring.getAttribute("aria-pressed") !== "true" });
      this.show();
    };
    this.gone = make(parent, "span", { role: "group", "aria-label": "Barred keys" });
    const slider = (name, bounds, value, read) => {
      const label = make(parent, "label", "small", `${name} `), input = make(label, "input", { type: "range", ...bounds, value });
      const told = make(label, "output");
      (input.oninput = () => { told.textContent = read(+input.value); })();
      input.addEventListener("input", onceAFrame(() => this.change()));
    };
    slider("Temperature", { min: -20, max: 20 }, 0, (at) => {
      this.changes = { ...this.changes, temperature: 10 ** (at / 20) };
      return this.changes.temperature.toPrecision(2);
    });
    slider("Show no weights below", { min: 0, max: 50 }, 0, (at) => asPercent(this.below = at / 100));
  }

  bar(key) {
    const axis = this.open.at(-1).trace.keys, keys = new Set(this.changes.barred.get(axis));
    if (!keys.delete(key)) keys.add(key);
    this.changes = { ...this.changes, barred: new Map(this.changes.barred).set(axis, keys) };
    this.change();
  }

  change() {
    for (const head of this.heads.flat()) head.changes = this.changes;
    keepFocus(this.gone, () => {
      this.gone.replaceChildren();
      const { keys } = this.open.at(-1).trace;
      for (const key of this.changes.barred.get(keys) ?? []) {
        const text = this.data.axes[keys].pieces[key][0];
        make(this.gone, "button", { class: "chip", "aria-label": `let ${text} be looked at again` }, `${text} ×`).onclick = () => this.bar(key);
      }
    });
    this.paintGlance([...this.buttons.keys()]);
    this.show();
  }

  take(row, column) {
    if (column != null && this.barring.getAttribute("aria-pressed") === "true") this.bar(column);
    else if (row != null) this.setQuery(row, column);
  }

  choose(head, more) {
    if (!more) return this.openHeads([head]);
    const others = this.open.filter((other) => other !== head);
    return this.openHeads(others.length < this.open.length && others.length ? others : [...others, head].slice(-MOST_OPEN));
  }

  openHeads(heads, isOwn = true) {
    this.open = heads;
    if (isOwn) {
      for (const other of this.others) {
        const alike = heads.map((head) => other.heads[this.data.traces.indexOf(head.trace)]?.[head.head]).filter(Boolean);
        if (alike.length) other.openHeads(alike, false);
      }
    }
    const place = this.data.traces.indexOf(heads.at(-1).trace), [name, places] = [...this.groups].find(([, all]) => all.includes(place));
    if (name !== this.shown) this.drawGlance(name, places);
    const axes = this.axesOf(heads.at(-1)), parts = axes.map((axis) => axis.parts.length);
    if (isNew(this, parts, name)) this.offerParts(parts);
    for (const [head, button] of this.buttons) {
      set(button, { "aria-pressed": heads.includes(head), tabindex: head === heads.at(-1) ? 0 : -1 });
    }
    this.query = Math.min(this.query ?? axes[0].pieces.findIndex((piece) => !piece[2]), axes[0].pieces.length - 1);
    this.query = Math.max(this.query, 0);
    this.show();
  }

  axesOf(head) {
    return [this.data.axes[head.trace.queries], this.data.axes[head.trace.keys]];
  }

  offerParts([n, m]) {
    this.filter.replaceChildren();
    make(this.filter, "option", { value: "" }, "All tokens");
    for (let from = 0; from < n; from++) {
      for (let to = 0; to < m; to++) {
        make(this.filter, "option", { value: `${from},${to}` }, `Sentence ${LETTERS[from] ?? from} → ${LETTERS[to] ?? to}`);
      }
    }
    this.filter.hidden = n * m < 2;
  }

  // The small pictures, which are painted one after the other so that the page stays alive.
  drawGlance(name, places) {
    this.shown = name;
    [...this.kinds.children].forEach((kind) => set(kind, { "aria-pressed": kind.textContent === name }));
    this.glance.replaceChildren();
    this.buttons = new Map();
    const rows = places.map((place) => this.heads[place]), most = Math.max(...rows.map((row) => row.length));
    const size = clamp(Math.floor(430 / most) - 3, 15, 54), shape = rows[0][0], wide = Math.min(1, shape.m / shape.n);
    this.glance.style.gridTemplateColumns = `auto repeat(${most}, ${Math.max(9, Math.round(size * wide))}px)`;
    this.glance.style.gridAutoRows = `${Math.max(9, Math.round(size * Math.min(1, shape.n / shape.m)))}px`;
    this.glance.style.gridTemplateRows = "auto";
    make(this.glance, "span");
    for (let head = 0; head < most; head++) make(this.glance, "span", "name", size < 24 ? `${head}` : `H${head}`);
    rows.forEach((row, down) => {
      make(this.glance, "span", { class: "name", style: "grid-column: 1" }, `L${row[0].trace.layer}`);
      row.forEach((head, across) => {
        const button = make(this.glance, "button", { class: "thumb", "aria-label": head.name, title: head.name });
        head.canvas = make(button, "canvas", { "aria-hidden": true, width: 1, height: 1 });
        head.measures = this.data.measures.map(({ name, values }) => [name, values[head.trace.layer]?.[across]]).filter(([, value]) => value != null);
        if (head.measures.length) {
          const [name, value] = head.measures[0], { largest } = this.data.measures.find((measure) => measure.name === name);
          const told = `${head.name}: ${toldMeasures(head)}`, strong = `${Math.round((100 * Math.abs(value)) / largest)}%`;
          set(button, { "aria-label": told, title: told });
          button.style.borderBottom = `5px solid color-mix(in srgb, var(${value < 0 ? "--query" : "--key"}) ${strong}, transparent)`;
        }
        this.buttons.set(head, button);
        button.onclick = (event) => {
          const more = event.shiftKey || event.ctrlKey || event.metaKey || this.several.getAttribute("aria-pressed") === "true";
          this.choose(head, more);
        };
        button.onkeydown = (event) => {
          const way = arrowOf(event);
          if (way) this.buttons.get(rows[down + way[1]]?.[across + way[0]])?.focus();
        };
      });
    });
    this.paintGlance([...this.buttons.keys()]);
  }

  async paintGlance(heads) {
    const isNow = this.painting = {};
    for (let at = 0, began = performance.now(); at < heads.length; at++) {
      await heads[at].load();
      if (this.painting !== isNow) return;
      drawThumbnail(heads[at].canvas, heads[at]);
      if (performance.now() - began > 30) {
        await new Promise((resolve) => setTimeout(resolve));
        began = performance.now();
      }
    }
    set(this.glance, { "data-painted": heads.length });
  }

  async show() {
    const shown = this.showing = {};
    await Promise.all(this.open.map((head) => head.load()));
    if (this.showing !== shown) return;
    const last = this.open.at(-1), axes = this.axesOf(last);
    const alike = this.open.filter((head) => head.n === last.n && head.m === last.m);
    this.title.replaceChildren(alike.map((head) => head.name).join(", "));
    const { name, mechanism, note } = last.trace;
    make(this.title, "small", "", [...new Set([name, mechanism, note, toldMeasures(last)])].filter(Boolean).join(" · "));
    const [from, to] = this.filter.value.split(","), [rows, columns] = axes.map((axis, place) => {
      const part = [from, to][place], n = axis.pieces.length;
      return part ? [axis.parts[part], axis.parts[+part + 1] ?? n] : [0, n];
    });
    this.pictures.replaceChildren();
    this.matrices = alike.map((head) => this.drawMatrix(head, rows, columns, axes, alike.length));
    this.mean = this.mixed(alike, rows, columns);
    this.window = [rows, columns];
    this.steps?.follow(this.query);
    this.drawTokens(last, axes);
  }

  drawMatrix(head, rows, columns, axes, n) {
    const figure = make(this.pictures, "figure"), all = head.matrix(), width = columns[1] - columns[0];
    if (n > 1) make(figure, "figcaption", "", head.name);
    const cell = (row, column) => (rows[0] + row) * head.m + columns[0] + column;
    let most = 0;
    for (let row = rows[0]; row < rows[1]; row++) {
      most = Math.max(most, maxOf(all.subarray(row * head.m + columns[0], row * head.m + columns[1])));
    }
    const colour = weightColouring(most, head.m);
    const matrix = new MatrixView(figure, {
      rows: rows[1] - rows[0], columns: width, side: n > 1 ? 220 : 340, row: this.query - rows[0],
      axes: [[axes[0].name, rows[0]], [axes[1].name, columns[0]]],
      name: `${head.name}: weights, queries downwards, keys to the right`,
      paint: (place) => {
        const [row, column] = [Math.floor(place / width), place % width];
        if (!head.sees(rows[0] + row, columns[0] + column)) return MASK;
        return all[cell(row, column)] < this.below ? 0 : colour(all[cell(row, column)]);
      },
      say: (row, column) => {
        const texts = [[axes[0], rows[0] + row], [axes[1], columns[0] + column]].map(([axis, at]) => `${axis.pieces[at][0]} ${at + 1}`);
        return `${texts.join(" → ")}: ${this.tokenView.number(all[cell(row, column)])}`;
      },
      tell: (text) => { this.told.textContent = text; },
      choose: (row, column) => this.take(rows[0] + row, columns[0] + column),
    });
    const shade = head.trace.softmax ? asPercent(most) : most.toPrecision(2);
    make(figure, "p", "small", `Rows ask, columns are looked at; the strongest shade is ${shade}.`);
    return matrix;
  }

  // The mean of heads, of the rows and columns that are looked at.
  mixed(heads, rows, columns) {
    const width = columns[1] - columns[0], matrix = new Float32Array((rows[1] - rows[0]) * width);
    const outside = new Float32Array(rows[1] - rows[0]);
    for (const head of heads) {
      const all = head.matrix();
      for (let row = rows[0]; row < rows[1]; row++) {
        for (let column = 0; column < head.m; column++) {
          const weight = all[row * head.m + column] / heads.length, inside = column >= columns[0] && column < columns[1];
          if (inside) matrix[(row - rows[0]) * width + column - columns[0]] += weight;
          else outside[row - rows[0]] += weight;
        }
      }
    }
    matrix.forEach((weight, place) => { if (weight < this.below) matrix[place] = 0; });
    return { matrix, outside };
  }

  drawTokens(head, axes) {
    const [rows, columns] = this.window, { grid, tiles } = axes[1], { picture } = this.data;
    const isPatches = Boolean(grid) && !this.filter.value;
    this.tokens.hidden = isPatches;
    this.patches.hidden = !isPatches;
    const own = head.trace.queries === head.trace.keys && !kindOf(head.trace).endsWith("cross");
    const isWhole = rows[1] - rows[0] === head.n && columns[1] - columns[0] === head.m;
    const { matrix, outside } = this.mean, beyond = columns[1] - columns[0] < head.m;
    const query = this.query < rows[0] || this.query >= rows[1] ? rows[0] : this.query;
    this.stamp = (this.stamp ?? 0) + 1;
    this.tokenView.adopt({
      queries: axes[0].pieces.slice(...rows), keys: own && isWhole ? null : axes[1].pieces.slice(...columns),
      names: [`Queries, ${axes[0].name}`, `Keys, ${axes[1].name}`], axes: axes.map((axis) => axis.name), matrix, high: maxOf(matrix), active: query - rows[0],
      start: [rows[0], columns[0]], outside: beyond ? outside : null, uniform: 1 / head.m,
      percent: head.trace.softmax, tolerance: Math.max(...this.open.map((one) => one.entry.error ?? this.data.error)), stamp: this.stamp, barring: this.barring.getAttribute("aria-pressed") === "true",
      barred: this.changes.barred.get(head.trace.keys),
      tiles: tiles && picture && { ...tiles, picture: picture.address },
    }, ({ row, key }) => this.take(row, key));
    if (isPatches) this.drawPatches(head, axes, own);
  }

  setQuery(row, column = null, isOwn = true) {
    const last = this.open.at(-1), axis = this.axesOf(last)[0];
    if (row >= axis.pieces.length) return;
    this.query = row;
    if (isOwn) {
      for (const other of this.others) other.setQuery(row, null, false);
      this.tell({ layer: last.trace.layer, head: last.head, query: row, key: column, weight: column === null ? null : last.row(row)[column] });
    }
    this.matrices.forEach((matrix) => matrix.mark(row - this.window[0][0]));
    this.steps?.follow(row);
    const head = this.open.at(-1);
    this.drawTokens(head, this.axesOf(head));
  }

  async readPicture() {
    const { picture } = this.data;
    if (!picture) return;
    const { width, height } = picture, bytes = await inflate(bytesOf(picture.data)), size = width * height;
    picture.pixels = arrayOf(Uint32Array, size, (at) => pixelOf([bytes[at], bytes[size + at], bytes[2 * size + at]]));
    const canvas = create("canvas", { width, height });
    putPixels(canvas, picture.pixels);
    picture.address = canvas.toDataURL();
  }

  // Weights over the picture, or over grey where there is none.
  drawPatches(head, axes, own) {
    keepFocus(this.patches, () => {
      this.patches.replaceChildren();
      const names = make(this.patches, "div", { class: "others", role: "group", "aria-label": "Queries" });
      const others = axes[0].grid ? axes[0].before : Math.min(axes[0].pieces.length, 256), { matrix } = this.mean, m = head.m;
      for (let row = 0; row < others; row++) {
        const pressed = { class: "chip", "aria-pressed": row === this.query };
        make(names, "button", pressed, axes[0].pieces[row][0]).onclick = () => this.setQuery(row);
      }
      const asks = axes[0].pieces[this.query][0], out = matrix.subarray(this.query * m, (this.query + 1) * m);
      this.patchMap(`Where ${asks} looks`, axes[1], out, own, true);
      if (own) this.patchMap(`Who looks at ${asks}`, axes[0], arrayOf(Float32Array, head.n, (row) => matrix[row * m + this.query]), own);
      const { before, grid, pieces } = axes[1], end = before + grid[0] * grid[1];
      const besides = pieces.flatMap((piece, at) => at < before || at >= end ? [`${piece[0]} ${this.tokenView.number(out[at])}`] : []);
      if (besides.length) make(this.patches, "p", "small", `Besides the patches: ${besides.join(", ")}.`);
    });
  }

  patchMap(title, axis, weights, own, isOfKeys) {
    const figure = make(this.patches, "figure"), { picture } = this.data, [down, across] = axis.grid, { before } = axis;
    make(figure, "figcaption", "", title);
    const high = Math.max(maxOf(weights.subarray(before, before + down * across)), 4 / weights.length);
    const at = (row, column) => before + row * across + column;
    const view = new MatrixView(figure, {
      rows: down, columns: across, name: title, side: 260,
      paint: (place) => RAMPS.weights[Math.round(255 * clamp(weights[before + place] / high, 0, 1) ** CLEARNESS)],
      say: (row, column) => `${axis.pieces[at(row, column)][0]}: ${this.tokenView.number(weights[at(row, column)])}`,
      tell: (text) => { this.told.textContent = text; },
      choose: (row, column) => this.take(own ? at(row, column) : null, isOfKeys ? at(row, column) : null),
      placesOf: (row, column) => [[axis.name, at(row, column)]],
      cellAt: (places) => {
        const place = (placeOn(places, axis.name, true) ?? -1) - before;
        return place < 0 || place >= down * across ? [null, null] : [Math.floor(place / across), place % across];
      },
    });
    if (picture) {
      const under = create("canvas", { className: "under", width: picture.width, height: picture.height });
      view.box.prepend(under);
      putPixels(under, picture.pixels);
    }
    const chosen = own ? this.query - before : -1;
    if (chosen >= 0) {
      view.line.hidden = false;
      view.moveTo(view.line, Math.floor(chosen / across), chosen % across);
    }
  }
}

// Draw recordings into an element, several side by side, each of which follows what is chosen in the others.
export const showRecording = (host, rules, data, tell = () => {}) => {
  const shadow = shadowIn(host, rules), all = [data, ...data.beside];
  const page = make(shadow, "div", all.length > 1 ? "pair" : "");
  host.views = all.map((one) => {
    const root = make(page, "div", "root page");
    if (all.length > 1) make(root, "p", "heading", one.axes[one.traces[0].keys].pieces.map(([text, glued]) => (glued ? "" : " ") + text).join(""));
    return new RecordingView(root, { ...one, query: one.query ?? data.query });
  });
  host.views.forEach((view) => Object.assign(view, { others: host.views.filter((other) => other !== view), tell }));
  host.view = host.views[0];
};

export const showRecordings = (name, rules, data) => {
  for (const host of document.querySelectorAll(`[data-attention="${name}"]`)) if (!host.shadowRoot) showRecording(host, rules, data);
};
