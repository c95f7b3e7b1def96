// Tokens as text with shading, or in two columns with arcs. Hovering or focusing one shows where it looks and who looks
// at it, without the server; a click or Enter tells Python which query was chosen.
const SVG = "http://www.w3.org/2000/svg";
const ROW = 22; // screen pixels of a line in columns
const FLOOR = 6; // times the weight of looking everywhere alike: the strongest shade is at least so much
const MODE = "attention-explorer-token-view";
const make = (parent, tag, className = "", text = "") => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return parent.appendChild(node);
};
const isDark = (root) => {
  const parts = getComputedStyle(root).getPropertyValue("--st-background-color").match(/[0-9a-f]{2}/gi) ?? [];
  return parts.length >= 3 && parts.slice(0, 3).reduce((sum, part) => sum + parseInt(part, 16), 0) < 384;
};

// Numbers arrive as the square root of their share of the largest, 16 bits each: fine steps where weights are small.
const unpack = (text, high) => {
  const bytes = atob(text), numbers = new Float32Array(bytes.length / 2);
  for (let at = 0; at < numbers.length; at += 1) {
    const root = (bytes.charCodeAt(2 * at) + 256 * bytes.charCodeAt(2 * at + 1)) / 65535;
    numbers[at] = root * root * high;
  }
  return numbers;
};

class TokenView {
  constructor(root) {
    this.root = root;
    const head = make(root, "div", "head");
    this.modes = ["Text", "Two columns"].map((name, place) => {
      const button = make(head, "button", "mode", name);
      button.type = "button";
      button.onclick = () => this.setMode(place ? "columns" : "text");
      return button;
    });
    this.legend = make(head, "p", "legend");
    this.out = make(root, "p", "tip");
    this.in = make(root, "p", "tip");
    this.out.setAttribute("aria-live", "polite");
    this.frame = make(root, "div", "frame");
    this.scroll = make(this.frame, "div", "scroll");
    this.canvas = make(this.frame, "canvas", "arcs");
    this.canvas.setAttribute("aria-hidden", "true");
    this.scroll.addEventListener("scroll", () => this.later());
    this.scroll.addEventListener("pointerover", (event) => this.hover(event));
    this.scroll.addEventListener("pointerleave", () => this.look(null));
    this.scroll.addEventListener("click", (event) => this.choose(this.placeOf(event.target)));
    this.scroll.addEventListener("focusin", (event) => this.look(this.placeOf(event.target)));
    this.scroll.addEventListener("focusout", () => this.look(null));
    this.scroll.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.later()).observe(this.scroll);
    try { this.mode = sessionStorage.getItem(MODE); } catch { /* a browser may forbid it */ }
    this.mode = this.mode === "columns" ? "columns" : "text";
    this.sequence = 0;
  }

  adopt(data, tell) {
    this.tell = tell;
    this.root.classList.toggle("dark", isDark(this.root));
    if (data.stamp === this.data?.stamp) return;
    const same = this.data && data.packed === this.data.packed && data.high === this.data.high;
    const form = JSON.stringify([data.queries, data.keys, data.names]);
    this.data = data;
    if (!same) this.numbers = unpack(data.packed, data.high);
    this.active = data.active;
    this.looked = null;
    if (form !== this.form) {
      this.form = form;
      this.build();
    } else {
      this.later();
    }
  }

  setMode(mode) {
    if (mode === this.mode) return;
    this.mode = mode;
    try { sessionStorage.setItem(MODE, mode); } catch { /* a browser may forbid it */ }
    this.build();
  }

  get isOne() { // one text that looks at itself, shown once
    return this.mode === "text" && !this.data.keys;
  }

  build() {
    const { queries, keys, names } = this.data;
    this.modes.forEach((button, place) => button.setAttribute("aria-pressed", String((this.mode === "columns") === Boolean(place))));
    this.scroll.replaceChildren();
    this.scroll.className = `scroll ${this.mode}`;
    this.scroll.scrollTop = 0;
    const inner = make(this.scroll, "div", "inner");
    this.arcs = null;
    if (this.mode === "text") {
      if (!this.isOne) this.keys = this.list(inner, "key", keys, names[1]);
      this.queries = this.list(inner, "query", queries, names[0]);
      if (this.isOne) this.keys = this.queries;
      this.arcs = document.createElementNS(SVG, "svg");
      this.arcs.setAttribute("aria-hidden", "true");
      inner.append(this.arcs);
    } else {
      this.queries = this.list(inner, "query", queries, names[0]);
      this.keys = this.list(inner, "key", keys ?? queries, names[1]);
    }
    this.legend.replaceChildren();
    this.data.legend.forEach((text, place) => {
      make(this.legend, "i", `sample ${place ? "in" : "out"}${place && !this.isOne ? " back" : ""}`);
      this.legend.append(`${text} `);
    });
    this.show(this.active);
    this.later();
  }

  list(parent, side, tokens, name) {
    const box = make(parent, "div", `tokens ${side}`);
    if (!this.isOne) make(box, "p", "name", name);
    const list = make(box, "div", "flow");
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", name);
    return tokens.map(([text, glued, muted], place) => {
      if (this.mode === "text" && place && !glued) list.append(" ");
      const node = make(list, "span", `token${muted ? " muted" : ""}${glued ? " glued" : ""}`, text);
      node.setAttribute("role", "button");
      node.tabIndex = -1;
      node.side = side;
      node.place = place;
      if (this.mode === "text" && text.endsWith("↵")) make(list, "br");
      return node;
    });
  }

  placeOf(target) {
    const node = target.closest?.(".token");
    return node ? { side: node.side, place: node.place } : null;
  }

  hover(event) {
    if (event.pointerType === "mouse") this.look(this.placeOf(event.target));
  }

  look(at) {
    if (at?.side === this.looked?.side && at?.place === this.looked?.place) return;
    this.looked = at;
    this.later();
  }

  choose(at) {
    if (!at || at.side !== "query") return;
    this.active = at.place;
    this.sequence += 1;
    this.tell({ row: at.place + this.data.start[0], sequence: this.sequence, at: Date.now() });
    this.later();
  }

  key(event) {
    const at = this.placeOf(event.target);
    if (!at) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(at);
      return;
    }
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const side = at.side === "query" ? this.queries : this.keys;
    if (this.mode === "columns" && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      const other = event.key === "ArrowLeft" ? this.queries : this.keys;
      other[Math.min(at.place, other.length - 1)].focus();
    } else side[at.place + step]?.focus();
  }

  show(place) {
    const node = this.queries[place];
    if (!node || this.scroll.scrollHeight <= this.scroll.clientHeight + 4) return;
    const own = node.getBoundingClientRect(), box = this.scroll.getBoundingClientRect();
    this.scroll.scrollTop += own.top - box.top - box.height / 3;
  }

  later() { // at most once a frame
    this.asked ??= requestAnimationFrame(() => {
      this.asked = null;
      if (this.data) this.paint();
    });
  }

  row(place) {
    const n = this.keys.length;
    return this.numbers.subarray(place * n, (place + 1) * n);
  }

  column(place) {
    const n = this.keys.length;
    return this.queries.map((_, row) => this.numbers[row * n + place]);
  }

  paint() {
    const at = this.looked ?? { side: "query", place: this.active };
    const out = at.side === "query" ? this.row(at.place) : null;
    const inward = at.side === "key" || this.isOne ? this.column(at.place) : null;
    this.shade("out", this.keys, out);
    this.shade("in", this.queries, inward);
    const mark = (nodes, side) => nodes.forEach((node, place) => {
      const name = `${place === at.place && side === at.side ? "now" : ""}${side === "query" && place === this.active ? " chosen" : ""}`;
      if (node.marked === name) return;
      node.marked = name;
      node.classList.toggle("now", name.startsWith("now"));
      node.classList.toggle("chosen", name.endsWith("chosen"));
      node.tabIndex = name.endsWith("chosen") ? 0 : -1;
      if (side === "query") node.setAttribute("aria-pressed", String(name.endsWith("chosen")));
    });
    mark(this.queries, "query");
    if (this.keys !== this.queries) mark(this.keys, "key");
    this.say(at, out, inward);
    if (this.mode === "columns") this.drawColumns(at);
    else this.drawText(at, out ?? inward, out ? this.keys : this.queries);
  }

  shade(name, nodes, numbers) { // up to the largest, so that the pattern of small weights shows too, but no pattern where there is none
    const floor = this.data.percent ? Math.min(1, FLOOR * this.data.uniform) : 0;
    const most = numbers ? numbers.reduce((a, b) => Math.max(a, b), floor) : 0;
    const [weights, asks] = ["204 121 167", this.root.classList.contains("dark") ? "77 163 217" : "0 114 178"];
    const paint = name === "out" ? (style, share) => { style.backgroundColor = share ? `rgb(${weights} / ${0.85 * share})` : ""; }
      : this.isOne ? (style, share) => { style.boxShadow = share ? `inset 0 -3px 0 rgb(${asks} / ${share})` : ""; }
        : (style, share) => { style.backgroundColor = share ? `rgb(${asks} / ${0.6 * share})` : ""; };
    nodes.forEach((node, place) => {
      const share = most > 0 ? Math.round(100 * (numbers[place] / most) ** 0.6) : 0;
      node.shares ??= {};
      if (node.shares[name] === share) return;
      node.shares[name] = share;
      paint(node.style, share / 100);
    });
  }

  number(value) {
    if (!this.data.percent) return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
    const share = 100 * value;
    return `${share >= 9.95 ? share.toFixed(0) : share >= 0.095 ? share.toFixed(1) : share.toPrecision(1)} %`;
  }

  say(at, out, inward) {
    const name = (nodes, place, start) => [["b", nodes[place].textContent || "·"], ["i", `${place + start}`]];
    const best = (numbers, nodes, start) => {
      const order = Array.from(numbers, (value, place) => [value, place]).sort((a, b) => b[0] - a[0]).slice(0, 5);
      const seen = order.filter(([value]) => value > 0);
      return seen.length ? seen.flatMap(([value, place], number) =>
        [["", number ? ", " : ""], ...name(nodes, place, start), ["", ` ${this.number(value)}`]]) : [["", "nothing"]];
    };
    const { start, outside, uniform } = this.data;
    const own = at.side === "query" ? name(this.queries, at.place, start[0]) : name(this.keys, at.place, start[1]);
    const write = (node, parts) => node.replaceChildren(...parts.map(([tag, text]) => {
      if (!tag) return document.createTextNode(text);
      const part = document.createElement(tag);
      part.textContent = text;
      return part;
    }));
    const beyond = out && outside && outside[at.place] > 0.0005 ? ` (${this.number(outside[at.place])} beyond this window)` : "";
    const lines = [];
    if (out) lines.push([...own, ["", ` ${this.data.verbs[0]} `], ...best(out, this.keys, start[1]), ["", beyond]]);
    if (inward) lines.push([...(out ? [] : own), ["", `${out ? "" : " "}${this.data.verbs[1]} `], ...best(inward, this.queries, start[0])]);
    if (lines.length < 2) lines.push([["", this.data.percent ? `Everywhere alike would be ${this.number(uniform)}.` : ""]]);
    write(this.out, lines[0]);
    write(this.in, lines[1]);
  }

  // Curves in the flowing text to the few tokens with most.
  drawText(at, numbers, nodes) {
    this.canvas.width = this.canvas.height = 0;
    const inner = this.arcs.parentNode.getBoundingClientRect();
    const from = (at.side === "query" ? this.queries : this.keys)[at.place].getClientRects()[0];
    const paths = [];
    const order = Array.from(numbers, (value, place) => [value, place]).sort((a, b) => b[0] - a[0]).slice(0, 4);
    for (const [value, place] of order) {
      const node = nodes[place], to = node.getClientRects()[0];
      if (!to || !from || value < 0.25 * order[0][0] || value <= 0 || (this.isOne && place === at.place)) continue;
      const x1 = from.x + from.width / 2 - inner.x, x2 = to.x + to.width / 2 - inner.x;
      const down = to.y > from.y + 4, up = to.y < from.y - 4;
      const y1 = (down ? from.bottom : from.top) - inner.y, y2 = (up ? to.bottom : to.top) - inner.y;
      const lift = up || down ? (y2 - y1) / 2 : 0;
      const bend = up || down ? 0 : -Math.min(9, 3 + Math.abs(x2 - x1) / 40);
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", `M${x1} ${y1}C${x1} ${y1 + lift + bend} ${x2} ${y2 - lift + bend} ${x2} ${y2}`);
      path.style.strokeOpacity = 0.25 + 0.6 * (value / order[0][0]);
      paths.push(path);
    }
    this.arcs.replaceChildren(...paths);
  }

  // Lines between the columns for the rows in sight, on a canvas as large as what is in sight.
  drawColumns(at) {
    const box = this.frame.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    const left = this.queries[0].parentNode.getBoundingClientRect(), right = this.keys[0].parentNode.getBoundingClientRect();
    if (!box.width) return;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.lineWidth = 1.5;
    const style = getComputedStyle(this.root);
    const x1 = left.right - box.x + 3, x2 = right.left - box.x - 3, middle = (x1 + x2) / 2;
    const y = (list, place) => list.top - box.y + (place + 0.5) * ROW;
    const draw = (query, key, opacity, colour) => {
      const [a, b] = [y(left, query), y(right, key)];
      pen.globalAlpha = opacity;
      pen.strokeStyle = colour;
      pen.beginPath();
      pen.moveTo(x1, a);
      pen.bezierCurveTo(middle, a, middle, b, x2, b);
      pen.stroke();
    };
    const first = Math.max(0, Math.floor((box.y - left.top) / ROW)), n = this.keys.length;
    const last = Math.min(this.queries.length, Math.ceil((box.bottom - left.top) / ROW));
    const weights = style.getPropertyValue("--weights"), asks = style.getPropertyValue("--query");
    const whole = this.data.percent ? 1 : this.data.high;
    pen.save();
    pen.beginPath();
    pen.rect(0, this.queries[0].parentNode.offsetTop, box.width, box.height);
    pen.clip();
    for (let query = first; query < last; query += 1) {
      const row = this.row(query);
      for (let key = 0; key < n; key += 1) {
        const share = row[key] / whole;
        if (share > 0.03) draw(query, key, 0.28 * share, weights);
      }
    }
    const numbers = at.side === "query" ? this.row(at.place) : this.column(at.place);
    const most = numbers.reduce((a, b) => Math.max(a, b), 0);
    numbers.forEach((value, place) => {
      if (value < 0.04 * most || value <= 0) return;
      if (at.side === "query") draw(at.place, place, 0.15 + 0.85 * (value / most), weights);
      else draw(place, at.place, 0.15 + 0.85 * (value / most), asks);
    });
    pen.restore();
  }
}

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".root");
  root.view ??= new TokenView(root);
  root.view.adopt(data, (message) => setStateValue("chosen", message));
}
