// A matrix as a map: drag, wheel, pinch, keys and buttons move the view; tiles come from Python as they are needed,
// coarser ones stand in meanwhile. Queries are rows, keys are columns. Pixels are CSS pixels.
const FINEST = 1.5, LARGEST_CELL = 66, NUMBERS_FROM = 44, LABELS_FROM = 12, SIDE = 150, STRIP = 46;
const SETTLE = 90, TELL_AFTER = 700, GLIDE = 180, RING = 6;
const KINDS = ["mean", "largest"];
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

const make = (parent, tag, attributes = {}, text = "") => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  return parent.appendChild(node);
};

class AtlasMap {
  constructor(root) {
    this.root = root;
    this.options = { scale: "log", domain: "view", kind: "mean", diagonal: false };
    this.pointers = new Map();
    this.prefetching = true;
    this.drawn = 0;
    this.build();
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.stage);
  }

  // ---- what stands on the page

  build() {
    this.bar = make(this.root, "div", { class: "bar", role: "toolbar", "aria-label": "Map" });
    const zoom = make(this.bar, "div", { class: "group" });
    this.button(zoom, "−", "Zoom out (−)", () => this.zoomBy(0.5)).classList.add("square");
    this.button(zoom, "+", "Zoom in (+)", () => this.zoomBy(2)).classList.add("square");
    this.button(zoom, "Whole", "Show the whole matrix (0)", () => this.showWhole());
    this.choices = {};
    this.choice("scale", "Colours", { log: "Logarithmic", linear: "Linear" });
    this.choice("domain", "over", { view: "The view", all: "The whole" });
    this.choice("kind", "Blocks", { mean: "Mean", largest: "Largest" });
    const body = make(this.root, "div", { class: "body" });
    this.stage = make(body, "div", { class: "stage" });
    this.canvas = make(this.stage, "canvas", { class: "map", tabindex: 0, role: "application" });
    this.tip = make(this.stage, "div", { class: "tip" });
    const side = make(body, "div", { class: "side" });
    this.small = make(side, "canvas", { class: "small", "aria-hidden": "true", title: "The whole matrix: drag the box" });
    const legend = make(side, "div", { class: "legend" });
    this.legendTitle = make(legend, "div", { class: "title" });
    this.legend = make(legend, "canvas", { "aria-hidden": "true" });
    this.marks = make(legend, "div", { class: "marks" });
    this.keys = make(legend, "div", { class: "swatches" });
    this.facts = make(side, "p", { class: "facts" });
    const diagonal = make(side, "label", { class: "tick" });
    this.diagonal = make(diagonal, "input", { type: "checkbox" });
    diagonal.append("Mark the diagonal");
    this.diagonal.onchange = () => this.choose("diagonal", this.diagonal.checked);
    this.button(side, "Save as PNG", "Save what the map shows as a picture", () => this.save()).className = "save";
    this.said = make(this.root, "p", { class: "said", role: "status" });
    this.listen();
  }

  button(parent, text, title, does) {
    const node = make(parent, "button", { type: "button", title, "aria-label": title }, text);
    node.onclick = does;
    return node;
  }

  choice(name, title, texts) {
    const labelled = make(this.bar, "div", { class: "labelled" });
    make(labelled, "span", {}, title);
    const group = make(labelled, "div", { class: "group", role: "radiogroup", "aria-label": title });
    this.choices[name] = Object.entries(texts).map(([value, text]) => {
      const node = make(group, "button", { type: "button", role: "radio", "data-value": value }, text);
      node.onclick = () => this.choose(name, value);
      return node;
    });
  }

  choose(name, value) {
    this.options[name] = value;
    this.showOptions();
    this.settle(true);
    this.tellLater();
  }

  showOptions() {
    for (const [name, nodes] of Object.entries(this.choices)) {
      for (const node of nodes) node.setAttribute("aria-checked", String(node.dataset.value === this.options[name]));
    }
    this.diagonal.checked = this.options.diagonal;
    this.scaleStale = true;
    this.request();
  }

  // ---- messages from Python

  async adopt(bytes, tell) {
    this.readTheme();
    this.request();
    if (bytes === this.seen) return;  // called again for another reason, such as a change of the theme
    this.seen = bytes;
    const header = readMessage(bytes);
    this.desk ??= Object.assign(new Desk(() => {}), { onPatience: () => this.settle(true) });
    this.desk.tell = tell;
    const isNew = header.atlas !== this.data?.atlas;
    const shelf = shelfOf(header.atlas);
    this.data = header;
    if (isNew) this.open(header, shelf);
    if (header.go && header.go.number !== this.gone) {
      this.gone = header.go.number;
      this.mark = header.go.mark;
      if (!isNew || !this.fresh) this.flyTo(header.go.column, header.go.row, this.cellFor(header.go.across));
    }
    for (const { axis, start, texts } of header.labels) shelf.labels[axis].set(Math.floor(start / LABELS_AT_ONCE), texts);
    this.desk.answered(header.answered);
    const tiles = await Promise.all(header.tiles.map((about) => unpack(about, about.packed)));
    for (const tile of tiles) {
      delete tile.packed;
      tile.came = performance.now();
      shelf.put(tile.key, tile);
    }

    this.desk.leaveOut(new Set(tiles.map((tile) => tile.key)), header.later);
    if (this.shelf !== shelf) return;
    if (tiles.length) this.scaleStale = true;
    this.settle(true);
  }

  open(header, shelf) {
    this.shelf = shelf;
    this.rows = header.rows;
    this.columns = header.columns;
    this.hovered = null;
    this.mark = null;
    this.scale = null;
    this.scaleStale = true;
    this.canvas.setAttribute("aria-label", `${header.title}: a map of ${count(this.rows.n)} rows, queries, by ` +
      `${count(this.columns.n)} columns, keys. Arrow keys move it, plus and minus zoom, 0 shows the whole.`);
    this.options = { ...this.options, ...header.view?.options };
    this.x = header.view?.column ?? this.columns.n / 2;
    this.y = header.view?.row ?? this.rows.n / 2;
    this.across = header.view?.across ?? null;
    this.cell = null;
    this.ramp = rampOf(header.colours);
    this.showOptions();
    this.resize();
  }

  // ---- geometry

  resize() {
    const width = this.stage.clientWidth;
    if (!width || !this.shelf) return;
    const narrow = width < 520;
    this.left = narrow ? 62 : 92;
    this.top = narrow ? 50 : 60;
    const square = width - this.left + this.top, room = Math.max(340, window.innerHeight * (narrow ? 0.68 : 0.8));
    const height = Math.round(clamp(square, 300, Math.min(780, room)));
    this.ratio = window.devicePixelRatio || 1;
    this.size = { width, height };
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.plot = { width: width - this.left - STRIP - 6, height: height - this.top - STRIP - 6 };
    this.cell = this.cell && !this.wasWhole ? this.cell : this.across ? this.cellFor(this.across) : this.fit();
    this.wasWhole = this.cell <= this.fit() * 1.001;
    this.keepInside();
    this.settle(true);
  }

  fit() { return Math.min(this.plot.width / this.columns.n, this.plot.height / this.rows.n); }
  finestCell() { return Math.max(LARGEST_CELL, this.fit()); }
  cellFor(across) { return clamp(Math.min(this.plot.width, this.plot.height) / across, this.fit(), this.finestCell()); }

  keepInside() {
    this.cell = clamp(this.cell, this.fit(), this.finestCell());
    const inside = (centre, n, pixels) => {
      const half = pixels / this.cell / 2;
      return 2 * half >= n ? n / 2 : clamp(centre, half, n - half);
    };
    this.x = inside(this.x, this.columns.n, this.plot.width);
    this.y = inside(this.y, this.rows.n, this.plot.height);
    this.wasWhole = this.cell <= this.fit() * 1.001;
    this.canvas.style.touchAction = this.wasWhole ? "pan-y" : "none";  // the whole map lets a finger scroll the page
  }

  // Where a column or row begins on the canvas, and what is there.
  px(column) { return this.left + this.plot.width / 2 + (column - this.x) * this.cell; }
  py(row) { return this.top + this.plot.height / 2 + (row - this.y) * this.cell; }
  columnAt(px) { return this.x + (px - this.left - this.plot.width / 2) / this.cell; }
  rowAt(py) { return this.y + (py - this.top - this.plot.height / 2) / this.cell; }

  // The part of the matrix that is in view, in cells.
  seenPart() {
    return {
      left: Math.max(0, this.columnAt(this.left)), right: Math.min(this.columns.n, this.columnAt(this.left + this.plot.width)),
      top: Math.max(0, this.rowAt(this.top)), bottom: Math.min(this.rows.n, this.rowAt(this.top + this.plot.height)),
    };
  }

  level(cell = this.cell) { return clamp(Math.ceil(Math.log2(FINEST / cell) - 1e-9), 0, this.data.levels - 1); }

  places(level, part, margin = 0) {
    const span = this.data.tile * 2 ** level, found = [];
    const last = (n) => Math.ceil(n / span) - 1;
    const r0 = Math.max(0, Math.floor(part.top / span) - margin), r1 = Math.min(last(this.rows.n), Math.ceil(part.bottom / span) - 1 + margin);
    const c0 = Math.max(0, Math.floor(part.left / span) - margin), c1 = Math.min(last(this.columns.n), Math.ceil(part.right / span) - 1 + margin);
    for (let row = r0; row <= r1; row++) for (let col = c0; col <= c1; col++) found.push([row, col]);
    const middle = [(part.top + part.bottom) / 2 / span - 0.5, (part.left + part.right) / 2 / span - 0.5];
    const away = ([row, col]) => Math.hypot(row - middle[0], col - middle[1]);
    return found.sort((a, b) => away(a) - away(b));
  }

  kindAt(level) { return level === 0 ? "mean" : this.options.kind; }

  // ---- moving

  zoomBy(factor, at = null) {
    const [px, py] = at ?? [this.left + this.plot.width / 2, this.top + this.plot.height / 2];
    const cell = clamp(this.cell * factor, this.fit(), this.finestCell());
    const column = this.columnAt(px), row = this.rowAt(py);
    this.flyTo(column - (px - this.left - this.plot.width / 2) / cell, row - (py - this.top - this.plot.height / 2) / cell, cell);
  }

  showWhole() { this.flyTo(this.columns.n / 2, this.rows.n / 2, this.fit()); }

  // Glide to a view; a far one is reached at once, and so is any where motion is not wanted.
  flyTo(x, y, cell) {
    if (!this.plot) { this.x = x; this.y = y; return; }
    const from = { x: this.x, y: this.y, cell: this.cell };
    [this.x, this.y, this.cell] = [x, y, cell];
    this.keepInside();
    const to = { x: this.x, y: this.y, cell: this.cell };
    const far = Math.hypot(to.x - from.x, to.y - from.y) * Math.min(from.cell, to.cell) > 2 * this.plot.width;
    cancelAnimationFrame(this.gliding);
    this.settle();
    this.tellLater();
    if (far || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const began = performance.now();
    const glide = (now) => {
      const share = clamp((now - began) / GLIDE, 0, 1), eased = 1 - (1 - share) ** 3;
      this.cell = from.cell * (to.cell / from.cell) ** eased;
      // The point that both views hold in the same place stays there.
      const part = to.cell === from.cell ? eased : (1 / from.cell - 1 / this.cell) / (1 / from.cell - 1 / to.cell);
      this.x = from.x + (to.x - from.x) * part;
      this.y = from.y + (to.y - from.y) * part;
      if (share === 1) [this.x, this.y, this.cell] = [to.x, to.y, to.cell];
      this.paint();
      if (share < 1) this.gliding = requestAnimationFrame(glide);
    };
    glide(began);
  }

  moveBy(dx, dy, quick = true) {
    cancelAnimationFrame(this.gliding);
    this.x += dx / this.cell;
    this.y += dy / this.cell;
    this.keepInside();
    this.settle(quick);
    this.tellLater();
  }

  zoomAt(factor, px, py) {
    cancelAnimationFrame(this.gliding);
    const column = this.columnAt(px), row = this.rowAt(py);
    this.cell = clamp(this.cell * factor, this.fit(), this.finestCell());
    this.x = column - (px - this.left - this.plot.width / 2) / this.cell;
    this.y = row - (py - this.top - this.plot.height / 2) / this.cell;
    this.keepInside();
    this.settle();
    this.tellLater();
  }

  listen() {
    const { canvas } = this, at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.x, event.clientY - box.y];
    };
    canvas.addEventListener("wheel", (event) => {
      if (!this.plot) return;
      const out = event.deltaY > 0, [px, py] = at(event);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        if (this.wasWhole) return;
        event.preventDefault();
        this.moveBy(event.deltaX || event.deltaY, 0);
        return;
      }
      if (out && this.wasWhole) return;  // the page scrolls on
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 400 : 1;
      this.zoomAt(2 ** (-clamp(event.deltaY * lines, -240, 240) / (event.ctrlKey ? 80 : 220)), px, py);
    }, { passive: false });
    canvas.onpointerdown = (event) => {
      if (event.button !== 0 || !this.plot) return;
      this.pointers.set(event.pointerId, at(event));
      canvas.setPointerCapture(event.pointerId);
      if (event.pointerType === "mouse") canvas.focus({ preventScroll: true });
      this.pressed = at(event);
      cancelAnimationFrame(this.gliding);
    };
    canvas.onpointermove = (event) => {
      const [px, py] = at(event), before = this.pointers.get(event.pointerId);
      if (!before) { if (event.pointerType === "mouse") this.hover(px, py); return; }
      const others = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      this.pointers.set(event.pointerId, [px, py]);
      if (others.length) {
        const [ox, oy] = others[0];
        const apart = Math.hypot(px - ox, py - oy), was = Math.hypot(before[0] - ox, before[1] - oy);
        this.moveBy((before[0] - px) / 2, (before[1] - py) / 2, false);
        if (was > 8 && apart > 8) this.zoomAt(apart / was, (px + ox) / 2, (py + oy) / 2);
      } else if (event.pointerType !== "touch" || !this.wasWhole) {
        if (Math.hypot(px - this.pressed[0], py - this.pressed[1]) > 3) { this.dragging = true; this.hover(null); }
        this.moveBy(before[0] - px, before[1] - py);
      }
    };
    canvas.onpointerup = (event) => {
      const known = this.pointers.delete(event.pointerId), [px, py] = at(event);
      if (known && !this.dragging && !this.pointers.size) {
        this.hover(px, py);
        const again = this.tapped && event.timeStamp - this.tapped.time < 320 && Math.hypot(px - this.tapped.px, py - this.tapped.py) < 24;
        if (again) { this.zoomBy(event.shiftKey ? 0.5 : 2.5, [px, py]); this.tapped = null; } else this.tapped = { time: event.timeStamp, px, py };
      }
      if (!this.pointers.size) this.dragging = false;
    };
    canvas.onpointercancel = (event) => { this.pointers.delete(event.pointerId); this.dragging = false; };
    canvas.onpointerleave = (event) => { if (event.pointerType === "mouse") this.hover(null); };
    canvas.onkeydown = (event) => this.key(event);
    const jump = (event) => {
      if (event.type === "pointerdown") this.small.setPointerCapture(event.pointerId);
      else if (!event.buttons) return;
      const box = this.small.getBoundingClientRect(), unit = this.smallUnit();
      cancelAnimationFrame(this.gliding);
      this.x = (event.clientX - box.x) / unit;
      this.y = (event.clientY - box.y) / unit;
      this.keepInside();
      this.settle(true);
      this.tellLater();
    };
    this.small.onpointerdown = this.small.onpointermove = jump;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 0.9 : 0.25;
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (by) this.moveBy(by[0] * step * this.plot.width, by[1] * step * this.plot.height);
    else if (event.key === "+" || event.key === "=") this.zoomBy(2);
    else if (event.key === "-" || event.key === "_") this.zoomBy(0.5);
    else if (event.key === "0") this.showWhole();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- tiles

  // After a move: draw, ask for what is missing, and once it is quiet look at colours and sums again.
  settle(quick = false) {
    this.request();
    clearTimeout(this.asking);
    if (quick) this.ask(); else this.asking = setTimeout(() => this.ask(), SETTLE);
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => { this.scaleStale = true; this.sumsStale = true; this.request(); this.ask(true); this.say(); }, SETTLE);
  }

  tellLater() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      if (!this.desk.ask(this.data.atlas, [], [], this.view())) this.tellLater();
    }, TELL_AFTER);
  }

  view() {
    const across = Math.min(this.plot.width, this.plot.height) / this.cell, round = (one) => Math.round(one * 100) / 100;
    return { row: round(this.y), column: round(this.x), across: this.wasWhole ? null : round(across), options: this.options };
  }

  ask(isQuiet = false) {
    if (!this.plot || !this.desk || !this.shelf) return;
    const part = this.seenPart(), level = this.level(), own = this.kindAt(level), other = KINDS.find((kind) => kind !== own);
    const places = this.places(level, part);
    const lacks = (key) => !this.shelf.tiles.has(key) && this.desk.mayAsk(key);
    const keys = (kind, some, at = level) => some.map(([row, col]) => keyOf(kind, at, row, col)).filter(lacks);
    const labels = this.missingLabels(part);
    let tiles = keys(own, places);
    const top = keyOf(this.kindAt(this.data.levels - 1), this.data.levels - 1, 0, 0);
    if (lacks(top)) tiles.push(top);
    if (isQuiet && !tiles.length && level > 0) tiles = keys(other, places);
    if (isQuiet && !tiles.length && !labels.length) tiles = this.unfinished(places, level);
    if (isQuiet && !tiles.length && !labels.length && this.prefetching && level <= 3) {
      tiles = keys(own, this.places(level, part, 1)).slice(0, RING);
    }
    if (tiles.length || labels.length) {
      const asked = this.desk.ask(this.data.atlas, tiles.slice(0, MOST_ASKED), labels, this.view());
      if (asked) clearTimeout(this.telling);
    }
  }

  // Tiles that the survey had not filled when they came, while it goes on.
  unfinished(places, level) {
    const all = [...places.map(([row, col]) => keyOf(this.kindAt(level), level, row, col)), keyOf(this.kindAt(this.data.levels - 1), this.data.levels - 1, 0, 0)];
    const stale = [...new Set(all)].filter((key) => {
      const tile = this.shelf.tiles.get(key);
      return tile && !tile.whole && (this.data.running ? performance.now() - tile.came > POLL : tile.surveyed < this.data.surveyed);
    });
    clearTimeout(this.polling);
    if (this.data.running) this.polling = setTimeout(() => this.ask(true), POLL + 100);
    return stale;
  }

  missingLabels(part) {
    const found = [];
    for (const [axis, from, to] of [["rows", part.top, part.bottom], ["columns", part.left, part.right]]) {
      if (this[axis].kind !== "text" || to - from > 2048) continue;
      for (let chunk = Math.floor(from / LABELS_AT_ONCE); chunk * LABELS_AT_ONCE < to; chunk++) {
        if (!this.shelf.labels[axis].has(chunk)) found.push([axis, chunk * LABELS_AT_ONCE]);
      }
    }
    return found;
  }

  labelOf(axis, place) {
    const about = this[axis];
    if (about.kind === "text") return this.shelf.label(axis, place) ?? "";
    if (about.kind === "grid") return `${Math.floor(place / about.grid[1])}, ${place % about.grid[1]}`;
    return "";
  }

  // ---- drawing

  request() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  readTheme() {
    const style = getComputedStyle(this.root), of = (name) => style.getPropertyValue(name).trim();
    this.text = of("--st-text-color") || "#1b1f24";
    this.paper = of("--st-background-color") || "#fff";
    this.soft = of("--st-secondary-background-color") || "#f6f7f9";
    this.font = of("--st-font") || "sans-serif";
    this.accent = of("--st-primary-color") || "#0072B2";
    const parts = this.paper.match(/[0-9a-f]{2}/gi) ?? [];
    this.isDark = parts.length >= 3 && parts.slice(0, 3).reduce((sum, one) => sum + parseInt(one, 16), 0) < 384;
    this.hatch = null;
  }

  chooseScale() {
    if (this.scale && !this.scaleStale) return;
    this.scaleStale = false;
    const level = this.level(), part = this.seenPart(), uniform = 1 / this.columns.n;
    let high = 0, low = Infinity;
    if (this.options.domain === "all") {
      high = this.data.largest ?? 0;
      const top = this.shelf.tiles.get(keyOf("largest", this.data.levels - 1, 0, 0)) ?? this.shelf.tiles.get(keyOf("mean", this.data.levels - 1, 0, 0));
      if (top) { high = Math.max(high, valueOf(top, top.top)); low = 0; }
    } else {
      for (const [row, col] of this.places(level, part)) {
        const tile = this.shelf.tiles.get(keyOf(this.kindAt(level), level, row, col));
        if (tile) { const [a, b] = this.extremes(tile, part, level, row, col); high = Math.max(high, b); low = Math.min(low, a); }
      }
    }
    if (!high) high = this.scale?.high ?? 1;
    low = Math.max(low === Infinity ? 0 : low, Math.min(uniform / 1000, high / 1e4));
    if (low >= high) low = high / 10;
    const [top, bottom] = [Number(high.toPrecision(4)), Number(low.toPrecision(3))];
    this.scale = new Scale(this.ramp, bottom, top, this.options.scale === "log");
    this.drawLegend();
  }

  // The smallest and largest value above 0 of the part of a tile that is in view.
  extremes(tile, part, level, row, col) {
    const span = 2 ** level, tileSpan = this.data.tile * span;
    const r0 = clamp(Math.floor((part.top - row * tileSpan) / span), 0, tile.height), r1 = clamp(Math.ceil((part.bottom - row * tileSpan) / span), 0, tile.height);
    const c0 = clamp(Math.floor((part.left - col * tileSpan) / span), 0, tile.width), c1 = clamp(Math.ceil((part.right - col * tileSpan) / span), 0, tile.width);
    let top = 0, bottom = Infinity;
    for (let r = r0; r < r1; r++) {
      for (let i = r * tile.width + c0; i < r * tile.width + c1; i++) {
        const code = tile.codes[i];
        if (code >= FIRST) { if (code > top) top = code; if (code < bottom) bottom = code; }
      }
    }
    return top ? [valueOf(tile, bottom), valueOf(tile, top)] : [Infinity, 0];
  }

  paint() {
    if (!this.plot || !this.shelf) return;
    this.chooseScale();
    const pen = this.canvas.getContext("2d"), { width, height } = this.size;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const part = this.seenPart(), level = this.level();
    pen.save();
    pen.beginPath();
    pen.rect(this.left, this.top, this.plot.width, this.plot.height);
    pen.clip();
    const complete = this.paintTiles(pen, part, level);
    if (this.options.diagonal) this.paintDiagonal(pen);
    if (this.cell >= NUMBERS_FROM) this.paintNumbers(pen, part);
    this.paintHovered(pen, level);
    pen.restore();
    this.paintEdges(pen, part, level);
    this.paintSums(pen, part, level);
    this.paintSmall();
    this.showTip();
    this.drawn += 1;
    this.root.dataset.drawn = this.drawn;
    this.root.dataset.complete = String(complete);
    this.root.dataset.view = `${level}/${this.y.toFixed(2)}/${this.x.toFixed(2)}/${this.cell.toFixed(4)}`;
  }

  paintTiles(pen, part, level) {
    const [x0, y0, x1, y1] = [this.px(part.left), this.py(part.top), this.px(part.right), this.py(part.bottom)];
    this.hatch ??= hatch(pen, this.isDark ? "rgba(230,234,240,0.22)" : "rgba(255,255,255,0.42)");
    pen.fillStyle = this.soft;
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    pen.fillStyle = this.hatch;
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    let complete = true;
    const kind = this.kindAt(level);
    for (const [row, col] of this.places(level, part)) {
      const tile = this.shelf.get(keyOf(kind, level, row, col));
      if (!tile) complete = false;
      if (!tile?.whole) this.paintStandIn(pen, kind, level, row, col);
      if (tile) this.paintTile(pen, tile, level, row, col);
    }
    return complete;
  }

  // Edges are rounded to device pixels in the same way for neighbours, so that no seam shows between them.
  paintTile(pen, tile, level, row, col, clip = null) {
    const span = 2 ** level, r0 = row * this.data.tile, c0 = col * this.data.tile;
    const { top = 0, left = 0, bottom = tile.height, right = tile.width } = clip ?? {};
    const snap = (at) => Math.round(at * this.ratio) / this.ratio;
    const x = snap(this.px((c0 + left) * span)), y = snap(this.py((r0 + top) * span));
    const x1 = snap(this.px(Math.min((c0 + right) * span, this.columns.n))), y1 = snap(this.py(Math.min((r0 + bottom) * span, this.rows.n)));
    const wide = Math.min((c0 + right) * span, this.columns.n) / span - c0 - left, high = Math.min((r0 + bottom) * span, this.rows.n) / span - r0 - top;
    if (wide <= 0 || high <= 0) return;
    pen.imageSmoothingEnabled = this.cell * span * this.ratio < 2;
    if (tile.whole) pen.clearRect(x, y, x1 - x, y1 - y);
    pen.drawImage(pictureOf(tile, this.scale), left, top, wide, high, x, y, x1 - x, y1 - y);
    if (tile.whole) return;
    const from = clamp(snap(this.py((r0 + tile.seen) * span)), y, y1);
    pen.fillStyle = this.hatch;
    pen.fillRect(x, from, x1 - x, y1 - from);
  }

  paintStandIn(pen, kind, level, row, col) {
    for (let above = level + 1; above < this.data.levels; above++) {
      const by = 2 ** (above - level), [r, c] = [Math.floor(row / by), Math.floor(col / by)];
      const tile = this.shelf.tiles.get(keyOf(kind, above, r, c)) ?? this.shelf.tiles.get(keyOf("mean", above, r, c));
      if (!tile || !(tile.whole || above === this.data.levels - 1)) continue;
      const side = this.data.tile / by, top = (row - r * by) * side, left = (col - c * by) * side;
      const clip = { top, left, bottom: Math.min(top + side, tile.height), right: Math.min(left + side, tile.width) };
      this.paintTile(pen, tile, above, r, c, clip);
      return;
    }
  }

  paintDiagonal(pen) {
    const n = Math.min(this.rows.n, this.columns.n);
    for (const [colour, wide] of [["rgba(0,0,0,0.55)", 3], ["#fff", 1]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.beginPath();
      pen.moveTo(this.px(0), this.py(0));
      pen.lineTo(this.px(n), this.py(n));
      pen.stroke();
    }
  }

  codeAt(row, col, level = 0, kind = this.kindAt(level)) {
    const span = 2 ** level, r = Math.floor(row / span), c = Math.floor(col / span), side = this.data.tile;
    const tile = this.shelf.tiles.get(keyOf(kind, level, Math.floor(r / side), Math.floor(c / side)));
    if (!tile) return null;
    return { tile, code: tile.codes[(r % side) * tile.width + (c % side)] };
  }

  paintNumbers(pen, part) {
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `${this.cell >= 58 ? 11.5 : 9.5}px ${this.font}`;
    for (let row = Math.floor(part.top); row < part.bottom; row++) {
      for (let col = Math.floor(part.left); col < part.right; col++) {
        const found = this.codeAt(row, col);
        if (!found || found.code === UNKNOWN) continue;
        const value = valueOf(found.tile, found.code), [r, g, b] = this.ramp(this.scale.shareOf(value));
        pen.fillStyle = found.code === MASKED ? this.text : 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff";
        pen.fillText(found.code === MASKED ? "masked" : short(value), this.px(col + 0.5), this.py(row + 0.5));
      }
    }
  }

  paintHovered(pen, level) {
    const frame = (row, col, span, colour) => {
      const side = Math.max(span * this.cell, 5), x = this.px(col + span / 2) - side / 2, y = this.py(row + span / 2) - side / 2;
      pen.strokeStyle = "rgba(0,0,0,0.8)";
      pen.lineWidth = 4;
      pen.strokeRect(x, y, side, side);
      pen.strokeStyle = colour;
      pen.lineWidth = 2;
      pen.strokeRect(x, y, side, side);
    };
    if (this.mark) frame(this.mark[0] ?? -1e9, this.mark[1] ?? -1e9, 1, "#ff7f50");
    if (this.mark && (this.mark[0] === null || this.mark[1] === null)) this.paintLine(pen);
    if (!this.hovered) return;
    const span = 2 ** level;
    frame(Math.floor(this.hovered.row / span) * span, Math.floor(this.hovered.column / span) * span, span, "#fff");
  }

  // A row or a column that was jumped to.
  paintLine(pen) {
    const [row, col] = this.mark, thick = Math.max(this.cell, 2);
    pen.strokeStyle = "#ff7f50";
    pen.lineWidth = 2;
    if (row !== null) pen.strokeRect(this.px(0) - 2, this.py(row + 0.5) - thick / 2, this.columns.n * this.cell + 4, thick);
    else if (col !== null) pen.strokeRect(this.px(col + 0.5) - thick / 2, this.py(0) - 2, thick, this.rows.n * this.cell + 4);
  }

  paintEdges(pen, part, level) {
    const right = this.px(part.right), bottom = this.py(part.bottom), x0 = this.px(part.left), y0 = this.py(part.top);
    pen.strokeStyle = this.isDark ? "rgba(230,234,240,0.35)" : "rgba(27,31,36,0.3)";
    pen.lineWidth = 1;
    pen.strokeRect(x0 - 0.5, y0 - 0.5, right - x0 + 1, bottom - y0 + 1);
    pen.fillStyle = this.text;
    pen.textBaseline = "middle";
    pen.font = `11.5px ${this.font}`;
    if (this.cell >= LABELS_FROM) {
      this.writeLabels(pen, part, x0, y0);
    } else {
      pen.textAlign = "right";
      for (const row of ticks(part.top, part.bottom, this.cell, 46)) {
        const y = this.py(row + (this.cell > 4 ? 0.5 : 0));
        pen.fillText(count(row), x0 - 9, clamp(y, y0 + 5, bottom - 5));
        pen.fillRect(x0 - 6, y, 5, 1);
      }
      pen.textAlign = "center";
      for (const col of ticks(part.left, part.right, this.cell, 76)) {
        const x = this.px(col + (this.cell > 4 ? 0.5 : 0));
        pen.fillText(count(col), clamp(x, x0 + 6, this.size.width - 20), y0 - 14);
        pen.fillRect(x, y0 - 6, 1, 5);
      }
    }
    pen.font = `11.5px ${this.font}`;
    pen.textAlign = "left";
    pen.fillStyle = "#A87400";
    if (this.isDark) pen.fillStyle = "#E69F00";
    pen.fillText(fitText(pen, `keys: ${this.columns.name} →`, this.size.width - x0), x0, this.cell >= LABELS_FROM ? 8 : y0 - 36);
    pen.save();
    pen.translate(10, y0);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "right";
    pen.fillStyle = this.isDark ? "#4DA3D9" : "#0072B2";
    pen.fillText(fitText(pen, `← queries: ${this.rows.name}`, bottom - y0), 0, 0);
    pen.restore();
  }

  writeLabels(pen, part, x0, y0) {
    const strong = this.hovered, size = clamp(this.cell * 0.62, 9.5, 12.5);
    pen.textAlign = "right";
    for (let row = Math.floor(part.top); row < part.bottom; row++) {
      const y = this.py(row + 0.5);
      if (y < y0 - 2 || y > this.py(part.bottom) + 2) continue;
      const bold = strong && Math.floor(strong.row) === row, label = this.labelOf("rows", row), high = label && this.cell >= 28;
      pen.font = `${bold ? "600 " : ""}${size}px ${this.font}`;
      pen.fillText(fitText(pen, label || count(row), this.left - 28), x0 - 6, high ? y - 6 : y);
      if (high) { pen.globalAlpha = 0.7; pen.fillText(count(row), x0 - 6, y + 7); pen.globalAlpha = 1; }
    }
    const flat = this.cell >= 40;
    for (let col = Math.floor(part.left); col < part.right; col++) {
      const x = this.px(col + 0.5);
      if (x < x0 - 2 || x > this.px(part.right) + 2) continue;
      const bold = strong && Math.floor(strong.column) === col, label = this.labelOf("columns", col);
      pen.font = `${bold ? "600 " : ""}${size}px ${this.font}`;
      if (flat) {
        pen.textAlign = "center";
        pen.fillText(fitText(pen, label || count(col), this.cell - 4), x, y0 - (label ? 22 : 9));
        if (label) { pen.globalAlpha = 0.7; pen.fillText(count(col), x, y0 - 8); pen.globalAlpha = 1; }
      } else {
        pen.save();
        pen.translate(x, y0 - 5);
        pen.rotate(-Math.PI / 2);
        pen.textAlign = "left";
        pen.fillText(fitText(pen, label || count(col), this.top - 20), 0, 0);
        pen.restore();
      }
    }
  }

  // What the rows and columns in view add up to within it; whole rows add up to 1, so a row's sum is its share.
  sums(part, level) {
    const place = `${level}/${part.left}/${part.right}/${part.top}/${part.bottom}`;
    if (this.added?.place === place && !this.sumsStale) return this.added;
    if (!this.sumsStale) return this.added?.level === level ? this.added : null;
    this.sumsStale = false;
    const span = 2 ** level, side = this.data.tile;
    const r0 = Math.floor(part.top / span), c0 = Math.floor(part.left / span);
    const nr = Math.ceil(part.bottom / span) - r0, nc = Math.ceil(part.right / span) - c0;
    const rows = new Float64Array(nr), columns = new Float64Array(nc);
    for (const [row, col] of this.places(level, part)) {
      const tile = this.shelf.tiles.get(keyOf("mean", level, row, col));
      if (!tile || !tile.whole) return (this.added = null);
      const top = Math.max(0, r0 - row * side), left = Math.max(0, c0 - col * side);
      const bottom = Math.min(tile.height, r0 + nr - row * side), right = Math.min(tile.width, c0 + nc - col * side);
      for (let r = top; r < bottom; r++) {
        const high = this.overlap(row * side + r, span, part.top, part.bottom, this.rows.n);
        for (let c = left; c < right; c++) {
          const code = tile.codes[r * tile.width + c];
          if (code < FIRST) continue;
          const sum = valueOf(tile, code) * this.overlap(col * side + c, span, part.left, part.right, this.columns.n);
          rows[row * side + r - r0] += sum;
          columns[col * side + c - c0] += sum * high;
        }
      }
    }
    return (this.added = { place, level, rows, columns, r0, c0 });
  }

  // How many of a block's cells lie in view; single cells count whole, so that what is written is a plain sum.
  overlap(block, span, from, to, n) {
    if (span === 1) return 1;
    return Math.max(0, Math.min((block + 1) * span, to, n) - Math.max(block * span, from));
  }

  paintSums(pen, part, level) {
    const added = this.sums(part, level), right = this.px(part.right) + 6, bottom = this.py(part.bottom) + 6, span = 2 ** level;
    pen.font = `10.5px ${this.font}`;
    pen.fillStyle = this.text;
    if (!added) return;
    const room = STRIP - 14, gap = span * this.cell > 4 ? 1 : 0;
    const highest = added.columns.reduce((a, b) => Math.max(a, b), 0) / span || 1, widest = added.rows.reduce((a, b) => Math.max(a, b), 0) || 1;
    pen.save();
    pen.beginPath();
    pen.rect(right, this.py(part.top), STRIP, this.py(part.bottom) - this.py(part.top));
    pen.rect(this.px(part.left), bottom, this.px(part.right) - this.px(part.left), STRIP);
    pen.clip();
    pen.globalAlpha = 0.75;
    pen.fillStyle = this.isDark ? "#4DA3D9" : "#0072B2";
    const snap = (at) => Math.round(at * this.ratio) / this.ratio;
    added.rows.forEach((sum, at) => {
      const y = snap(this.py((added.r0 + at) * span));
      pen.fillRect(right, y, (room * sum) / widest, snap(this.py((added.r0 + at + 1) * span)) - y - gap);
    });
    pen.fillStyle = "#E69F00";
    added.columns.forEach((sum, at) => {
      const x = snap(this.px((added.c0 + at) * span));
      pen.fillRect(x, bottom, snap(this.px((added.c0 + at + 1) * span)) - x - gap, (room * sum) / span / highest);
    });
    pen.restore();
    pen.fillStyle = this.text;
    pen.globalAlpha = 0.85;
    pen.textBaseline = "top";
    pen.textAlign = "left";
    const text = `column sums of the rows in view${span > 1 ? ", averaged in blocks" : ""}, up to ${short(highest)}`;
    const brief = `column sums, up to ${short(highest)}`, wide = this.px(part.right) - this.px(part.left);
    pen.fillText(pen.measureText(text).width < wide ? text : brief, this.px(part.left), bottom + room + 2);
    pen.save();
    pen.translate(right + room + 2, this.py(part.top));
    pen.rotate(Math.PI / 2);
    pen.textBaseline = "bottom";
    pen.fillText(this.plot.height > 340 ? `share of each row in view, up to ${short(Math.min(widest, 1))}` : `row share ≤ ${short(Math.min(widest, 1))}`, 0, 0);
    pen.restore();
    pen.globalAlpha = 1;
  }

  smallUnit() { return SIDE / Math.max(this.rows.n, this.columns.n); }

  paintSmall() {
    const unit = this.smallUnit(), width = Math.max(this.columns.n * unit, 4), height = Math.max(this.rows.n * unit, 4);
    const form = `${width} ${height} ${this.ratio}`;
    if (this.smallForm !== form) {
      this.smallForm = form;
      Object.assign(this.small.style, { width: `${width}px`, height: `${height}px` });
      Object.assign(this.small, { width: Math.round(width * this.ratio), height: Math.round(height * this.ratio) });
    }
    const pen = this.small.getContext("2d"), level = this.data.levels - 1;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.fillStyle = this.soft;
    pen.fillRect(0, 0, width, height);
    if (this.hatch) { pen.fillStyle = this.hatch; pen.fillRect(0, 0, width, height); }
    const tile = this.shelf.tiles.get(keyOf(this.kindAt(level), level, 0, 0)) ?? this.shelf.tiles.get(keyOf("mean", level, 0, 0));
    if (tile) {
      if (tile.whole) pen.clearRect(0, 0, width, height);
      pen.imageSmoothingEnabled = true;
      pen.drawImage(this.smallPicture(tile), 0, 0, this.columns.n / 2 ** level, this.rows.n / 2 ** level, 0, 0, width, height);
    }
    const part = this.seenPart(), box = [part.left * unit, part.top * unit, (part.right - part.left) * unit, (part.bottom - part.top) * unit];
    const [bw, bh] = [Math.max(box[2], 5), Math.max(box[3], 5)], [bx, by] = [box[0] - (bw - box[2]) / 2, box[1] - (bh - box[3]) / 2];
    pen.strokeStyle = "rgba(0,0,0,0.75)";
    pen.lineWidth = 3.5;
    pen.strokeRect(bx, by, bw, bh);
    pen.strokeStyle = "#ff7f50";
    pen.lineWidth = 1.75;
    pen.strokeRect(bx, by, bw, bh);
  }

  // The overview keeps colours of its own, so that it does not change while the map is moved.
  smallPicture(tile) {
    if (tile.small?.surveyed === tile.surveyed && tile.small.log === this.options.scale) return tile.small.picture;
    const top = tile.top >= FIRST ? valueOf(tile, tile.top) : 1, low = Math.max(tile.bottom < Infinity ? valueOf(tile, tile.bottom) : 0, Math.min(top / 1e4, 0.001 / this.columns.n));
    const copy = { ...tile, picture: undefined, scale: "" };
    tile.small = { surveyed: tile.surveyed, log: this.options.scale, picture: pictureOf(copy, new Scale(this.ramp, Math.min(low, top / 10), top, this.options.scale === "log")) };
    return tile.small.picture;
  }

  drawLegend() {
    const { scale } = this, width = SIDE, height = 10, uniform = 1 / this.columns.n;
    this.legendTitle.textContent = this.level() === 0 ? "weight" : this.options.kind === "mean" ? "mean weight of a block" : "largest weight of a block";
    Object.assign(this.legend, { width: width * this.ratio, height: height * this.ratio });
    const pen = this.legend.getContext("2d");
    for (let x = 0; x < this.legend.width; x++) {
      pen.fillStyle = `rgb(${this.ramp(x / (this.legend.width - 1)).join()})`;
      pen.fillRect(x, 0, 1, this.legend.height);
    }
    this.marks.replaceChildren();
    make(this.marks, "span", { class: "low" }, scale.isLog ? `≤ ${short(scale.low)}` : "0");
    make(this.marks, "span", { class: "high" }, short(scale.high));
    const share = scale.shareOf(uniform);
    if (share > 0 && share < 1) {
      const mark = make(this.marks, "span", { class: "uniform", style: `left:${(100 * share).toFixed(1)}%` });
      make(mark, "i");
      make(mark, "b", { style: `transform:translateX(${-100 * share}%)` }, `1/n = ${short(uniform)}`);
    }
    this.keys.replaceChildren();
    if (this.data.masks) make(make(this.keys, "span"), "i", { class: "masked" }).parentNode.append("masked");
    if (this.data.surveyed < 1) make(make(this.keys, "span"), "i", { class: "hatched" }).parentNode.append("a glimpse: one row per block");
  }

  // The map as it is, on the page's background.
  save() {
    const copy = Object.assign(document.createElement("canvas"), { width: this.canvas.width, height: this.canvas.height });
    const pen = copy.getContext("2d");
    pen.fillStyle = this.paper;
    pen.fillRect(0, 0, copy.width, copy.height);
    pen.drawImage(this.canvas, 0, 0);
    Object.assign(document.createElement("a"), { href: copy.toDataURL("image/png"), download: "atlas.png" }).click();
  }

  // ---- words

  hover(px, py) {
    const column = px === null ? -1 : this.columnAt(px), row = px === null ? -1 : this.rowAt(py);
    const on = px !== null && px > this.left && py > this.top && px < this.left + this.plot.width && py < this.top + this.plot.height &&
      column >= 0 && row >= 0 && column < this.columns.n && row < this.rows.n;
    this.hovered = on ? { row, column, px, py } : null;
    this.request();
  }

  showTip() {
    const at = this.hovered;
    this.tip.style.display = at ? "block" : "none";
    if (!at) return;
    at.row = this.rowAt(at.py);
    at.column = this.columnAt(at.px);
    const lines = this.hoverLines(at);
    this.tip.replaceChildren(...lines.map(([kind, text]) => Object.assign(document.createElement("div"), { className: kind, textContent: text })));
    const { width, height } = this.size, own = this.tip.getBoundingClientRect();
    this.tip.style.left = `${at.px + own.width + 22 > width ? Math.max(0, at.px - own.width - 14) : at.px + 16}px`;
    this.tip.style.top = `${at.py + own.height + 22 > height ? Math.max(0, at.py - own.height - 12) : at.py + 16}px`;
  }

  named(axis, from, to) {
    const one = (place) => {
      const label = this.labelOf(axis, place);
      return this[axis].kind === "grid" ? `${count(place)} (row, column ${label})` : label ? `${count(place)} “${label}”` : count(place);
    };
    return to - from <= 1 ? one(from) : `${one(from)} to ${one(to - 1)}`;
  }

  hoverLines({ row, column }) {
    const level = this.level(), span = 2 ** level, r = Math.floor(row / span) * span, c = Math.floor(column / span) * span;
    const to = (from, n) => Math.min(from + span, n), uniform = 1 / this.columns.n;
    const found = this.codeAt(row, column, level, "mean"), largest = this.codeAt(row, column, level, "largest");
    const lines = [];
    const shown = found ?? largest;
    if (!shown) lines.push(["value", "…"]);
    else if (shown.code === MASKED) lines.push(["value", level ? "all masked" : "masked: 0"]);
    else if (shown.code === UNKNOWN) lines.push(["value", "not surveyed yet"]);
    else if (level === 0) {
      const value = valueOf(found.tile, found.code);
      lines.push(["value", `${long(value)}`], ["", value ? `${short(value / uniform)} times 1/n` : "below what float32 can hold"]);
    } else {
      const some = found ?? largest, glimpsed = !some.tile.whole && Math.floor(row / span) % this.data.tile >= some.tile.seen;
      const may = glimpsed ? "about " : "";
      if (found) lines.push(["value", `mean ${may}${long(valueOf(found.tile, found.code))}`]);
      if (largest) lines.push([found ? "" : "value", `largest ${may}${long(valueOf(largest.tile, largest.code))}`]);
      if (glimpsed) lines.push(["", `by one row of the block's ${count(to(r, this.rows.n) - r)}`]);
    }
    lines.push(["query", `${level ? "queries" : "query"} ${this.named("rows", r, to(r, this.rows.n))}`]);
    lines.push(["key", `${level ? "keys" : "key"} ${this.named("columns", c, to(c, this.columns.n))}`]);
    return lines;
  }

  say() {
    if (!this.plot || !this.shelf || !this.scale) return;
    const part = this.seenPart(), level = this.level();
    const range = (from, to) => `${count(Math.floor(from))} to ${count(Math.ceil(to) - 1)}`;
    const one = level ? `One block is ${2 ** level} × ${2 ** level} cells.` : "Every cell is one weight.";
    this.facts.textContent = `Level ${level} of ${this.data.levels - 1}. ${one}`;
    this.said.textContent = `In view: queries ${range(part.top, part.bottom)}, keys ${range(part.left, part.right)}. ` +
      `The colours end at ${long(this.scale.high)}, the largest ${level && this.options.kind === "mean" ? "block mean" : "weight"} ` +
      `${this.options.domain === "view" ? "in view" : "of the matrix"}.`;
  }
}

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".root");
  root.map ??= new AtlasMap(root);
  root.map.adopt(data, (message) => setStateValue("asked", message));
}
