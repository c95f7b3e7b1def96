// Tokens as text with shading, or in two columns with arcs. Hovering or focusing one shows where it looks and who looks
// at it; a click or Enter tells whoever draws it which query was chosen. The matrix comes packed, or as numbers.
import { arrowOf, asPercent, bold, boxOf, bytesOf, create, heaviest, inPage, isNew, make, onceAFrame, placeOn } from "./prelude.js";
import { pointedIn, set } from "./prelude.js";

const ROW = 22; // screen pixels of a line in columns
const FLOOR = 6; // times the weight of looking everywhere alike: the strongest shade is at least so much
const FEW = 24; // tokens that are written large
const PATIENCE = 2000; // milliseconds after which a file that was not there is asked for again
const MODE = "attention-explorer-token-view";
const MODES = { text: "Text", columns: "Two columns" };

// Numbers arrive as the square root of their share of the largest, 16 bits each: fine steps where weights are small.
const unpack = (buffer, high) => {
  const roots = new Float32Array(new Uint16Array(buffer));
  return roots.map((root) => (root / 65535) ** 2 * high);
};

// Tokens that are parts of a picture, { first, rows, columns, picture (its address) }, lie on it as tiles.
const pictureStyle = ({ rows, columns, picture }) =>
  `grid-template-columns:repeat(${columns},1fr);aspect-ratio:${columns}/${rows};background-image:url("${picture}")`;

export class TokenView {
  constructor(root) {
    const head = make(root, "div", "head");
    this.modes = Object.entries(MODES).map(([mode, name]) => {
      const button = make(head, "button", "mode", name);
      button.onclick = () => this.setMode(mode);
      return button;
    });
    this.legend = make(head, "p", "legend");
    this.out = make(root, "p", { class: "tip", "aria-live": "polite" });
    this.in = make(root, "p", "tip");
    this.frame = make(root, "div", "frame");
    this.scroll = make(this.frame, "div", "scroll");
    this.canvas = make(this.frame, "canvas", { class: "arcs", "aria-hidden": true });
    this.later = onceAFrame(() => this.paint());
    this.pointed = pointedIn(root, (places) => this.light(places));
    const on = (kind, does) => this.scroll.addEventListener(kind, (event) => does(event.target.closest(".token"), event));
    on("scroll", this.later);
    on("pointerover", (at, event) => { if (event.pointerType === "mouse") this.look(at); });
    on("pointerleave", (_, event) => this.pointed.leave(event));
    on("click", (at) => this.choose(at));
    on("focusin", (at) => this.look(at));
    on("focusout", () => this.pointed.leave());
    on("keydown", (at, event) => { if (at) this.key(at, event); });
    new ResizeObserver(this.later).observe(this.scroll);
    try { this.mode = sessionStorage.getItem(MODE); } catch { /* a browser may forbid it */ }
    this.mode = this.mode === "columns" ? "columns" : "text";
  }

  adopt(data, tell) {
    this.tell = tell;
    if (data.stamp === this.data?.stamp) return;
    this.given = data.matrix ?? unpack(bytesOf(data.packed).buffer, data.high);
    if (!data.file) this.whole = this.given;
    else if (data.file !== this.data?.file || data.high !== this.data.high) this.whole = this.asked = null;
    this.data = data;
    this.active = data.active;
    if (isNew(this, data.queries, data.keys, data.names, data.tiles)) this.build();
    else this.later();
  }

  // The rest of a large matrix. The server lets go of files that nobody asks for: a run makes them anew.
  async load() {
    const { file, high } = this.data;
    if (this.asked) return;
    const asked = this.asked = {}, isNow = () => asked === this.asked;
    try {
      const answer = await fetch(file);
      if (!answer.ok) throw new Error(answer.statusText);
      const whole = unpack(await answer.arrayBuffer(), high);
      if (isNow()) this.whole = whole;
      this.later();
    } catch {
      if (!isNow()) return;
      this.tell({ row: this.active + this.data.start[0] });
      setTimeout(() => { if (isNow()) this.asked = null; }, PATIENCE);
    }
  }

  setMode(mode) {
    if (mode === this.mode) return;
    this.mode = mode;
    try { sessionStorage.setItem(MODE, mode); } catch { /* a browser may forbid it */ }
    this.build();
  }

  build() {
    this.looked = this.other = null;
    const { queries, keys, names } = this.data, isText = this.mode === "text";
    this.isOne = isText && !keys; // one text that looks at itself, shown once
    this.modes.forEach((button, place) => set(button, { "aria-pressed": isText === (place === 0) }));
    this.scroll.replaceChildren();
    this.scroll.className = `scroll ${this.mode}${this.isOne ? " one" : ""}${this.isOne && queries.length <= FEW ? " few" : ""}`;
    this.scroll.scrollTop = 0;
    const inner = make(this.scroll, "div", "inner");
    const addKeys = () => { this.keys = this.list(inner, "key", keys ?? queries, names[1]); };
    if (isText && keys) addKeys();
    this.queries = this.list(inner, "query", queries, names[0]);
    if (!isText) addKeys();
    if (this.isOne) this.keys = this.queries;
    if (isText) this.arcs = make(inner, "svg:svg", { "aria-hidden": true });
    this.legend.replaceChildren();
    ["where it looks", "who looks at it"].forEach((text, place) => {
      make(this.legend, "i", `sample ${place ? "in" : "out"}${place && !this.isOne ? " back" : ""}`);
      this.legend.append(`${text} `);
    });
    this.show(this.active);
    this.later();
  }

  list(parent, side, tokens, name) {
    const box = make(parent, "div", `tokens ${side}`), isText = this.mode === "text";
    if (!this.isOne) make(box, "p", "name", name);
    const list = make(box, "div", { class: "flow", role: "group", "aria-label": name });
    const { tiles, start } = this.data, first = tiles ? tiles.first - start[side === "key" ? 1 : 0] : NaN;
    let picture;
    return tokens.map(([text, glued, muted], place) => {
      const isTile = isText && place >= first && place < first + tiles.rows * tiles.columns;  // false without tiles
      if (isTile) picture ??= make(list, "span", { class: "picture", style: pictureStyle(tiles) });
      else if (isText && place && !glued) list.append(" ");
      const kind = `token${muted ? " muted" : ""}${glued ? " glued" : ""}`;
      const node = make(isTile ? picture : list, "span", { class: kind, role: "button", tabindex: -1 }, text);
      Object.assign(node, { side, place, shares: {} });
      if (isText && text.endsWith("↵")) make(list, "br");
      return node;
    });
  }

  look(at) {
    if (!at) return this.pointed.leave();
    const side = at.side === "key" ? 1 : 0;
    this.pointed.look([[this.data.axes[side], at.place + this.data.start[side]]]);
    Object.assign(this, { looked: at, other: null });  // where both sides are one text, it is this side's token
    this.later();
  }

  // A token that asks shows where it looks; of a cell the key is marked too.
  light(places) {
    if (!this.queries) return;
    const { axes, start } = this.data, find = (nodes, side) => nodes[(placeOn(places, axes[side], side === 1) ?? NaN) - start[side]];
    const query = find(this.queries, 0), key = find(this.keys, 1);
    Object.assign(this, { looked: query ?? key ?? null, other: places.length > 1 ? key : null });
    this.later();
  }

  choose(at) {
    if (at && this.data.barring && this.isKey(at)) return this.tell({ key: at.place + this.data.start[1] });
    if (at?.side !== "query") return;
    this.active = at.place;
    this.tell({ row: at.place + this.data.start[0] });
    this.later();
  }

  isKey(node) { return node.side === "key" || this.isOne; }

  key(at, event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(at);
      return;
    }
    const way = arrowOf(event);
    if (!way) return;
    const own = at.side === "query" ? this.queries : this.keys, other = way[0] < 0 ? this.queries : this.keys;
    if (this.mode === "columns" && way[0]) other[Math.min(at.place, other.length - 1)].focus();
    else own[at.place + way[0] + way[1] * (at.closest(".picture") ? this.data.tiles.columns : 1)]?.focus();
  }

  show(place) {
    const node = this.queries[place];
    if (!node || this.scroll.scrollHeight <= this.scroll.clientHeight + 4) return;
    const own = boxOf(node), box = boxOf(this.scroll);
    this.scroll.scrollTop += own.top - box.top - box.height / 3;
  }

  row(place) {
    const n = this.keys.length;
    return this.whole ? this.whole.subarray(place * n, (place + 1) * n) : this.given.subarray(0, n);
  }

  column(place) {
    const n = this.keys.length;
    return this.whole ? this.queries.map((_, row) => this.whole[row * n + place]) : this.given.subarray(n);
  }

  paint() {
    if (!this.data) return;
    const at = this.looked ?? this.queries[this.active], isGiven = at === this.queries[this.data.active];
    for (const node of new Set([...this.queries, ...this.keys])) this.mark(node, node === at || node === this.other);
    if (!this.whole && !(isGiven && this.mode === "text")) this.load();
    if (!this.whole && !isGiven) return;
    const out = at.side === "query" ? this.row(at.place) : null;
    const inward = at.side === "key" || this.isOne ? this.column(at.place) : null;
    this.shade("out", this.keys, out);
    this.shade("in", this.queries, inward);
    this.say(at, out, inward);
    if (this.mode === "columns") this.drawColumns(at);
    else this.drawText(at, out ?? inward, out ? this.keys : this.queries);
  }

  mark(node, isNow) {
    const isChosen = node === this.queries[this.active], { barred, start } = this.data;
    const isBarred = Boolean(this.isKey(node) && barred?.has(node.place + start[1])), marks = `${isNow} ${isChosen} ${isBarred}`;
    if (node.marks === marks) return;
    node.marks = marks;
    node.classList.toggle("now", isNow);
    node.classList.toggle("chosen", isChosen);
    node.classList.toggle("barred", isBarred);
    node.tabIndex = isChosen ? 0 : -1;
    if (node.side === "query") set(node, { "aria-pressed": isChosen });
  }

  // Up to the largest, so that the pattern of small weights shows too, but no pattern where there is none.
  shade(name, nodes, numbers) {
    const floor = this.data.percent ? Math.min(1, FLOOR * this.data.uniform) : 0;
    const most = numbers ? numbers.reduce((a, b) => Math.max(a, b), floor) : 0;
    nodes.forEach((node, place) => {
      const share = most > 0 ? Math.round(100 * (numbers[place] / most) ** 0.6) : 0;
      if (node.shares[name] === share) return;
      node.shares[name] = share;
      node.style.setProperty(`--${name}`, `${share}%`);
    });
  }

  number(value) {
    if (!this.data.percent) return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
    const floor = Math.max(this.data.tolerance ?? 0, 0.01);  // below a file's tolerance its numbers say no more
    return value > 0 && value < floor ? `<${Math.ceil(100 * floor)}%` : asPercent(value);
  }

  say(at, out, inward) {
    const { start, outside, uniform } = this.data;
    const name = (node) => {
      const place = String(1 + node.place + start[node.side === "query" ? 0 : 1]);
      return [bold(node.textContent || "·"), create("sub", { textContent: place })];
    };
    const best = (numbers, nodes) => {
      const seen = heaviest(numbers, 5).filter(([value]) => value > 0);
      if (!seen.length) return ["nothing"];
      return seen.flatMap(([value, place], number) => [number ? ", " : "", ...name(nodes[place]), ` ${this.number(value)}`]);
    };
    const lines = [];
    if (out) {
      const beyond = outside && outside[at.place] > 0.0005 ? ` (${this.number(outside[at.place])} beyond this window)` : "";
      lines.push([...name(at), " looks at ", ...best(out, this.keys), beyond]);
    }
    if (inward) lines.push([...(out ? [] : name(at)), `${out ? "" : " "}is looked at by `, ...best(inward, this.queries)]);
    if (lines.length < 2) lines.push([this.data.percent ? `Everywhere alike would be ${this.number(uniform)}.` : ""]);
    this.out.replaceChildren(...lines[0]);
    this.in.replaceChildren(...lines[1]);
  }

  // Curves in the flowing text to the few tokens with most.
  drawText(at, numbers, nodes) {
    this.canvas.width = this.canvas.height = 0;
    this.arcs.replaceChildren();
    const lineOf = (node) => node.getClientRects()[0] && inPage(node, node.getClientRects()[0]);  // its first line
    const inner = boxOf(this.arcs.parentNode), from = lineOf(at);
    const order = heaviest(numbers, 4), most = order[0][0];
    for (const [value, place] of order) {
      const node = nodes[place], to = lineOf(node);
      if (!to || !from || value < 0.25 * most || value <= 0 || node === at) continue;
      const x1 = from.x + from.width / 2 - inner.x, x2 = to.x + to.width / 2 - inner.x;
      const down = to.y > from.bottom - 4, up = to.bottom < from.y + 4;
      const y1 = (down ? from.bottom : from.top) - inner.y, y2 = (up ? to.bottom : to.top) - inner.y;
      const top = Math.min(y1, y2), room = top < from.height ? top : 9;  // above the first line, or between two
      const bend = up || down ? (y1 + y2) / 2 : top - Math.min(room, 3 + Math.abs(x2 - x1) / 20);
      const d = `M${x1} ${y1}C${x1} ${bend} ${x2} ${bend} ${x2} ${y2}`;
      make(this.arcs, "svg:path", { d }).style.strokeOpacity = 0.25 + 0.6 * (value / most);
    }
  }

  // Lines between the columns for the rows in sight, on a canvas as large as what is in sight.
  drawColumns(at) {
    const box = boxOf(this.frame), ratio = window.devicePixelRatio || 1;
    const left = boxOf(this.queries[0].parentNode), right = boxOf(this.keys[0].parentNode);
    if (!box.width) return;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    const pen = this.canvas.getContext("2d"), style = getComputedStyle(this.canvas);
    const x1 = left.right - box.x + 3, x2 = right.left - box.x - 3, middle = (x1 + x2) / 2;
    const draw = (query, key, opacity) => {
      const [a, b] = [[left, query], [right, key]].map(([list, place]) => list.top - box.y + (place + 0.5) * ROW);
      pen.globalAlpha = opacity;
      pen.beginPath();
      pen.moveTo(x1, a);
      pen.bezierCurveTo(middle, a, middle, b, x2, b);
      pen.stroke();
    };
    pen.scale(ratio, ratio);
    pen.lineWidth = 1.5;
    pen.strokeStyle = style.getPropertyValue("--weights");
    pen.rect(0, this.queries[0].parentNode.offsetTop, box.width, box.height);
    pen.clip();
    const first = Math.max(0, Math.floor((box.y - left.top) / ROW)), whole = this.data.percent ? 1 : this.data.high;
    const last = Math.min(this.queries.length, Math.ceil((box.bottom - left.top) / ROW));
    for (let query = first; this.whole && query < last; query += 1) {
      this.row(query).forEach((value, key) => { if (value / whole > 0.03) draw(query, key, (0.28 * value) / whole); });
    }
    const isQuery = at.side === "query", numbers = isQuery ? this.row(at.place) : this.column(at.place);
    const most = numbers.reduce((a, b) => Math.max(a, b), 0);
    if (!isQuery) pen.strokeStyle = style.color;
    numbers.forEach((value, place) => {
      if (value < 0.04 * most || value <= 0) return;
      const [query, key] = isQuery ? [at.place, place] : [place, at.place];
      draw(query, key, 0.15 + 0.85 * (value / most));
    });
  }
}
