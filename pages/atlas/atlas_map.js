// A matrix as a map: drag, wheel, pinch, keys and buttons move the view; tiles come from Python as they are needed,
// coarser ones stand in meanwhile. Queries are rows, keys are columns.
import { arrowOf, boxOf, clamp, create, make, onceAFrame, pointIn, set } from "../../attention_core/attention/view/prelude.js";
import { wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { cacheOf, Desk, keyOf, LABELS_AT_ONCE, MASKED, MAX_ASKED, POLL, readMessage, UNKNOWN, unpack, weightOf, ZERO } from "./atlas_tiles.js";
import { count, exactPercent } from "./atlas_paint.js";
import { FLIGHT, GLIDE } from "./atlas_view.js";
import { MapDrawing } from "./atlas_drawing.js";

const flownIn = new Set();  // matrices to which the map has flown on arrival
const SETTLE = 90, TELL_AFTER = 700, BEFORE_FLIGHT = 700;

class AtlasMap extends MapDrawing {
  constructor(root) {
    super();
    this.root = root;
    this.pointers = new Map();
    this.request = onceAFrame(() => this.paint());
    this.build();
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.stage);
  }

  build() {
    const body = make(this.root, "div", "body");
    this.stage = make(body, "div", "stage");
    this.canvas = make(this.stage, "canvas", { class: "map", tabindex: 0, role: "application" });
    this.tip = make(this.stage, "div", "tip");
    const side = make(body, "div", "side"), zoom = make(side, "div", { class: "group", role: "toolbar", "aria-label": "Map" });
    this.button(zoom, "−", "Zoom out (−)", () => this.zoomBy(0.5)).classList.add("square");
    this.button(zoom, "+", "Zoom in (+)", () => this.zoomBy(2)).classList.add("square");
    this.small = make(side, "canvas", { class: "small", "aria-hidden": "true", title: "The whole matrix: drag the box" });
    this.smallName = make(side, "div", "caption", "");
    const legend = make(side, "div", "legend");
    this.legendTitle = make(legend, "div", "title");
    this.legend = make(legend, "canvas", { "aria-hidden": "true" });
    this.marks = make(legend, "div", "marks");
    this.keys = make(legend, "div", "swatches");
    this.status = make(this.root, "p", { class: "status", role: "status" });
    this.listen();
  }

  button(parent, text, title, does) {
    const node = make(parent, "button", { title, "aria-label": title }, text);
    node.onclick = does;
    return node;
  }

  async adopt(data, tell) {
    this.readTheme();
    if (data === this.lastData) return this.request();  // called again for another reason, such as a change of the theme
    this.lastData = data;
    const header = readMessage(data), { view, answered, labels, later, tiles: _, ...appearance } = header;
    const newAppearance = JSON.stringify(appearance);
    this.desk ??= new Desk(() => this.settle(true));
    this.desk.tell = tell;
    const isNewMatrix = header.atlas !== this.data?.atlas;
    const cache = cacheOf(header.atlas);
    this.data = header;
    this.smallName.textContent = `all ${count(header.rows.n)} ${header.rows.name}; the box is this view`;
    if (isNewMatrix) this.open(header, cache);
    if (!isNewMatrix && header.go && header.go.number !== this.journey) this.go(header.go);
    for (const { axis, start, texts } of labels) cache.labels[axis].set(Math.floor(start / LABELS_AT_ONCE), texts);
    this.desk.answered(answered);
    const tiles = await Promise.all(header.tiles.map(unpack));
    for (const tile of tiles) {
      tile.came = performance.now();
      cache.put(tile.key, tile);
    }
    this.desk.leaveOut(new Set(tiles.map((tile) => tile.key)), later);
    if (this.cache !== cache) return;
    this.settle(true, newAppearance !== this.appearance || labels.length || tiles.length);
    this.appearance = newAppearance;
    if (isNewMatrix && this.awaits) setTimeout(() => { if (this.awaits && this.cache) this.go(this.awaits); }, BEFORE_FLIGHT);
  }

  // Go where Python sends the map.
  go({ number, mark, column, row, across, slowly }) {
    this.awaits = null;
    this.status.textContent = slowly ? "Flying …" : "";
    this.journey = number;
    [this.mark, this.isLit] = [mark, slowly && mark];
    this.flyTo(this.middleOf(column), row, across ? this.cellFor(across) : this.cell, slowly ? FLIGHT : GLIDE);
  }

  // A phone has room for the framed cell, not for both sentences around it.
  middleOf(column) { return this.isLit && this.isNarrow ? this.mark[1] + 0.5 : column; }

  open(header, cache) {
    this.cache = cache;
    this.rows = header.rows;
    this.columns = header.columns;
    this.hovered = null;
    // Where Python has sent the map last is where it opens, unless it was moved since.
    this.journey = header.go?.number;
    const stayed = header.go && header.go.row === header.view?.row && header.go.column === header.view?.column;
    this.mark = stayed ? header.go.mark : null;
    this.isLit = this.mark && header.go.slowly;
    this.scale = null;
    const label = `${header.title}: a map of ${count(this.rows.n)} rows, queries, by ${count(this.columns.n)} columns, ` +
      "keys. Arrow keys move it, plus and minus zoom, 0 shows the whole.";
    set(this.canvas, { "aria-label": label });
    this.x = this.middleOf(header.view?.column ?? this.columns.n / 2);
    this.y = header.view?.row ?? this.rows.n / 2;
    this.across = header.view?.across ?? null;
    this.cell = null;
    // The first time, where motion is welcome, it flies there from the whole.
    this.awaits = stayed && header.go.slowly && !flownIn.has(header.atlas) && !wantsLessMotion() ? header.go : null;
    flownIn.add(header.atlas);
    if (this.awaits) [this.across, this.mark] = [null, null];
    this.status.textContent = this.awaits ? "The whole text. Flying in …" : "";
    this.resize();
  }

  listen() {
    const { canvas } = this, at = (event) => pointIn(canvas, event);
    canvas.addEventListener("wheel", (event) => {
      if (!this.plot) return;
      const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (this.wasWhole && (isAcross || event.deltaY > 0)) return;  // the page scrolls on
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 400 : 1;
      if (isAcross) this.moveBy(event.deltaX || event.deltaY, 0);
      else this.zoomAt(2 ** (-clamp(event.deltaY * lines, -240, 240) / (event.ctrlKey ? 80 : 220)), ...at(event));
    }, { passive: false });
    canvas.onpointerdown = (event) => {
      if (event.button !== 0 || !this.plot) return;
      this.pointers.set(event.pointerId, at(event));
      canvas.setPointerCapture(event.pointerId);
      if (event.pointerType === "mouse") canvas.focus({ preventScroll: true });
      this.pressed = at(event);
      this.awaits = this.isLit = null;
      this.stopGliding();
    };
    canvas.onpointermove = (event) => {
      const [px, py] = at(event), before = this.pointers.get(event.pointerId);
      if (!before) {
        if (event.pointerType === "mouse") this.hover(px, py);
        return;
      }
      const second = [...this.pointers.keys()].find((id) => id !== event.pointerId);
      this.pointers.set(event.pointerId, [px, py]);
      if (second !== undefined) {
        const [ox, oy] = this.pointers.get(second);
        const apart = Math.hypot(px - ox, py - oy), was = Math.hypot(before[0] - ox, before[1] - oy);
        this.moveBy((before[0] - px) / 2, (before[1] - py) / 2, false);
        if (was > 8 && apart > 8) this.zoomAt(apart / was, (px + ox) / 2, (py + oy) / 2);
      } else if (event.pointerType !== "touch" || !this.wasWhole) {
        if (Math.hypot(px - this.pressed[0], py - this.pressed[1]) > 3) {
          this.dragging = true;
          this.hover(null);
        }
        this.moveBy(before[0] - px, before[1] - py);
      }
    };
    canvas.onpointerup = (event) => {
      const wasPressed = this.pointers.delete(event.pointerId), [px, py] = at(event);
      if (wasPressed && !this.dragging && !this.pointers.size) {
        this.hover(px, py);
        const { time = -Infinity, px: wasX, py: wasY } = this.tapped ?? {};
        const isAgain = event.timeStamp - time < 320 && Math.hypot(px - wasX, py - wasY) < 24;
        if (isAgain) this.zoomBy(event.shiftKey ? 0.5 : 2.5, [px, py]);
        this.tapped = isAgain ? null : { time: event.timeStamp, px, py };
      }
      if (!this.pointers.size) this.dragging = false;
    };
    canvas.onpointercancel = (event) => { this.pointers.delete(event.pointerId); this.dragging = false; };
    canvas.onpointerleave = (event) => { if (event.pointerType === "mouse") this.hover(null); };
    canvas.onkeydown = (event) => this.key(event);
    const jump = (event) => {
      if (event.type === "pointerdown") this.small.setPointerCapture(event.pointerId);
      else if (!event.buttons) return;
      const [x, y] = pointIn(this.small, event), unit = this.smallUnit();
      this.moveTo(x / unit, y / unit, this.cell, true);
    };
    this.small.onpointerdown = this.small.onpointermove = jump;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 0.9 : 0.25, arrow = arrowOf(event);
    if (arrow) this.moveBy(arrow[0] * step * this.plot.width, arrow[1] * step * this.plot.height);
    else if (event.key === "+" || event.key === "=") this.zoomBy(2);
    else if (event.key === "-" || event.key === "_") this.zoomBy(0.5);
    else if (event.key === "0") this.showWhole();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // The page is left: nothing is asked for any more.
  leave() {
    for (const timer of [this.asking, this.quiet, this.telling, this.polling]) clearTimeout(timer);
    this.desk?.close();
    cancelAnimationFrame(this.gliding);
    this.watcher.disconnect();
    this.cache = null;
  }

  // After a move: draw, ask for what is missing, and once it is quiet say what is in view.
  settle(quick = false, draws = true) {
    if (draws) this.request();
    clearTimeout(this.asking);
    if (quick) this.ask(); else this.asking = setTimeout(() => this.ask(), SETTLE);
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => {
      this.ask(true);
      this.say();
    }, SETTLE);
  }

  tellLater() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      if (!this.desk.ask(this.data.atlas, [], [], this.view())) this.tellLater();
    }, TELL_AFTER);
  }

  ask(isQuiet = false) {
    if (!this.plot || !this.desk || !this.cache) return;
    const range = this.viewRange(), level = this.level();
    const keys = [...this.tilesIn(level, range).map(([row, col]) => keyOf(level, row, col)), keyOf(this.data.levels - 1, 0, 0)];
    const labels = this.missingLabels(range);
    let tiles = keys.filter((key) => !this.cache.tiles.has(key) && this.desk.mayAsk(key));
    if (isQuiet && !tiles.length && !labels.length) tiles = this.unfinished(keys);
    if (tiles.length || labels.length) {
      this.desk.ask(this.data.atlas, tiles.slice(0, MAX_ASKED), labels, this.view());
    }
  }

  // Tiles that the survey had not filled when they came, while it goes on.
  unfinished(keys) {
    const { running, surveyed } = this.data;
    clearTimeout(this.polling);
    if (running) this.polling = setTimeout(() => this.ask(true), POLL + 100);
    return [...new Set(keys)].filter((key) => {
      const tile = this.cache.tiles.get(key);
      return tile && !tile.complete && (running ? performance.now() - tile.came > POLL : tile.surveyed < surveyed);
    });
  }

  missingLabels(range) {
    const missing = [];
    for (const [axis, from, to] of [["rows", range.top, range.bottom], ["columns", range.left, range.right]]) {
      if (this[axis].kind !== "text" || to - from > 2048) continue;
      for (let chunk = Math.floor(from / LABELS_AT_ONCE); chunk * LABELS_AT_ONCE < to; chunk++) {
        if (!this.cache.labels[axis].has(chunk)) missing.push([axis, chunk * LABELS_AT_ONCE]);
      }
    }
    for (const chunk of new Set(this.phraseRows(range).map((row) => Math.floor(row / LABELS_AT_ONCE)))) {
      if (range.bottom - range.top > 2048 && !this.cache.labels.rows.has(chunk)) missing.push(["rows", chunk * LABELS_AT_ONCE]);
    }
    return missing;
  }

  hover(px, py) {
    const { left, top, plot } = this, within = (at, from, length) => at > from && at < from + length;
    const isOn = px !== null && within(px, left, plot.width) && within(py, top, plot.height);
    const at = isOn ? { row: this.rowAt(py), column: this.columnAt(px), px, py } : null;
    const isCell = isOn && at.row >= 0 && at.column >= 0 && at.row < this.rows.n && at.column < this.columns.n;
    this.hovered = isCell ? at : null;
    this.request();
  }

  showTip() {
    const at = this.hovered;
    this.tip.style.display = at ? "block" : "none";
    if (!at) return;
    at.row = this.rowAt(at.py);
    at.column = this.columnAt(at.px);
    this.tip.replaceChildren(...this.hoverLines(at).map(([className, textContent]) => create("div", { className, textContent })));
    const tip = boxOf(this.tip);
    const beside = (from, length, limit, gap) => (from + length + 22 > limit ? Math.max(0, from - length - gap) : from + 16);
    this.tip.style.left = `${beside(at.px, tip.width, this.size.width, 14)}px`;
    this.tip.style.top = `${beside(at.py, tip.height, this.size.height, 12)}px`;
  }

  named(axis, from, to) {
    const name = (position) => {
      const label = this.labelOf(axis, position);
      return label ? `${count(position + 1)} “${label}”` : count(position + 1);
    };
    return to - from <= 1 ? name(from) : `${name(from)} to ${name(to - 1)}`;
  }

  hoverLines({ row, column }) {
    const level = this.level(), span = 2 ** level;
    const cells = (axis, from) => this.named(axis, from, Math.min(from + span, this[axis].n));
    const [queries, keys] = level ? ["queries", "keys"] : ["query", "key"];
    return [
      ["value", this.valueText(row, column, level)],
      ["query", `${queries} ${cells("rows", Math.floor(row / span) * span)}`],
      ["key", `${keys} ${cells("columns", Math.floor(column / span) * span)}`],
    ];
  }

  valueText(row, column, level) {
    const point = this.codeAt(row, column, level);
    if (!point) return "…";
    if (point.code === MASKED) return level ? "all masked" : "masked: 0";
    if (point.code === UNKNOWN) return "not surveyed yet";
    if (point.code === ZERO) return "below what float32 can hold";
    return `${level ? "largest " : ""}${exactPercent(weightOf(point.tile, point.code))}`;
  }

  say() {
    if (!this.plot || !this.cache) return;
    const { left, right, top, bottom } = this.viewRange();
    const numbers = (from, to) => `${count(Math.floor(from) + 1)} to ${count(Math.ceil(to))}`;
    const unit = this.level() ? "Each point is the largest of many weights." : "Every cell is one weight.";
    const rows = numbers(top, bottom), columns = numbers(left, right);
    const area = rows === columns && this.rows.name === this.columns.name
      ? `${this.rows.name} ${rows}` : `queries ${rows}, keys ${columns}`;
    const { length } = this.data.blind, blind = length ? ` ${length} row${length > 1 ? "s" : ""} may look at no key.` : "";
    const text = this.goal || this.root.dataset.complete !== "true" ? "" : `In view: ${area}. ${unit}${blind}`;
    if (this.status.textContent !== text) this.status.textContent = text;
  }
}

// Streamlit joins what happens at the same moment in one message and runs one fragment for all of it. So a question waits
// while what was used elsewhere is on its way.
const JOINED = 60;
let used = -JOINED;
for (const kind of ["keydown", "pointerdown", "pointerup"]) {
  const now = () => { used = performance.now(); };
  const note = (event) => {
    if (event.composedPath().some((node) => node.map instanceof AtlasMap)) return;
    now();
    setTimeout(now);  // handling it takes its time, too
  };
  document.addEventListener(kind, note, true);
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".root");
  const send = (request) => {
    const wait = used + JOINED - performance.now();
    if (wait > 0) setTimeout(send, wait, request); else setStateValue("asked", request);
  };
  root.map ??= new AtlasMap(root);
  root.map.adopt(data, (request) => setTimeout(send, 0, request));
  return () => root.map.leave();
}
