// A query and keys as arrows in a plane. Everything a drag changes is drawn here, frame by frame; Python is told at
// most every `pause` milliseconds, and hardly when several messages are unanswered, so that a slow server is not flooded.
const SIDE = 440, CENTRE = SIDE / 2, STEP = 0.05, KEY_STEP = 0.25, PATIENCE = 400, MOST_UNANSWERED = 2;
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

const two = (x) => minus((Math.abs(x) < 0.005 ? 0 : x).toFixed(2));
const keyName = (place) => "k" + SUBSCRIPTS[place + 1];

// The geometry of one key against the query; the angle of a vector of length 0 is null.
const geometry = (q, k) => {
  const dot = q[0] * k[0] + q[1] * k[1], lengthQ = Math.hypot(...q), lengthK = Math.hypot(...k);
  const defined = lengthQ > 1e-9 && lengthK > 1e-9;
  const cosine = defined ? clamp(dot / (lengthQ * lengthK), -1, 1) : 0;
  return { dot, lengthQ, lengthK, cosine, degrees: defined ? (Math.acos(cosine) * 180) / Math.PI : null };
};
const softmax = (scores) => {
  const top = Math.max(...scores), grown = scores.map((s) => Math.exp(s - top));
  const sum = grown.reduce((a, b) => a + b, 0);
  return grown.map((e) => e / sum);
};

class Plane {
  constructor(root) {
    this.svg = make(root, "svg:svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group" });
    this.equation = make(root, "div", "equation");
    this.equation.innerHTML = '<span class="q">q</span> · <span class="k"></span> = |<span class="q">q</span>| ' +
      '|<span class="k"></span>| cos θ<br><span class="numbers"></span><br><span class="small"></span>';
    this.table = make(root, "table", { "aria-label": "Dot product, length, angle and softmax weight of every key" });
    this.said = make(root, "div", { class: "said", "aria-live": "polite" });
    this.request = onceAFrame(() => this.draw());
    this.revision = null;
    this.held = null;
    this.sequence = this.answered = 0;
    this.sentAt = -Infinity;
  }

  adopt(data, tell) {
    this.tell = tell;
    this.pause = data.pause;
    this.answered = Math.max(this.answered, data.answered);
    if (data.revision !== this.revision) {  // Python changed the vectors: a preset, a key more, typed numbers
      this.revision = data.revision;
      this.extent = data.extent;
      this.scale = data.scale;
      this.vectors = [data.query, ...data.keys].map((v) => [...v]);
      this.active = clamp(data.active, 0, data.keys.length - 1);
      this.sequence = Math.max(this.sequence, data.answered);
      this.held = null;
      this.build();
    }
    if (this.unsent) this.send();
  }

  x(value) { return CENTRE + (value * CENTRE) / (this.extent + 0.4); }
  y(value) { return CENTRE - (value * CENTRE) / (this.extent + 0.4); }

  build() {
    const focused = this.svg.getRootNode().activeElement?.dataset?.place;
    this.svg.replaceChildren();
    const label = `A query and ${this.vectors.length - 1} keys as arrows in a plane. Drag the tips, or focus one with ` +
      "Tab and use the arrow keys.";
    set(this.svg, { "aria-label": label });
    make(this.svg, "svg:rect", { class: "paper", width: SIDE, height: SIDE, rx: 4 });
    for (let v = -this.extent; v <= this.extent; v++) {
      const kind = v === 0 ? "axis" : "grid";
      make(this.svg, "svg:line", { class: kind, x1: this.x(v), x2: this.x(v), y1: 0, y2: SIDE });
      make(this.svg, "svg:line", { class: kind, y1: this.y(v), y2: this.y(v), x1: 0, x2: SIDE });
      if (v !== 0 && v % 2 === 0) {
        make(this.svg, "svg:text", { class: "tick", x: this.x(v), y: this.y(0) + 14 }, minus(String(v)));
        make(this.svg, "svg:text", { class: "tick", x: this.x(0) - 12, y: this.y(v) + 4 }, minus(String(v)));
      }
    }
    this.shadow = make(this.svg, "svg:line", "shadow");
    this.drop = make(this.svg, "svg:line", "drop");
    this.arc = make(this.svg, "svg:path", "arc");
    this.arrows = this.vectors.map((_, place) => {
      const kind = place ? "key" : "query";
      return { line: make(this.svg, "svg:path", `arrow ${kind}`), head: make(this.svg, "svg:path", `head ${kind}`) };
    });
    this.theta = make(this.svg, "svg:text", "theta");
    this.names = this.vectors.map((_, place) => make(this.svg, "svg:text", "name", place ? keyName(place - 1) : "q"));
    this.tips = [];  // the query's lies on top of the keys'
    for (let place = this.vectors.length - 1; place >= 0; place--) this.tips[place] = this.makeTip(place);
    this.buildTable();
    this.draw();
    if (focused !== undefined) this.tips[focused]?.focus({ preventScroll: true });
  }

  makeTip(place) {
    const tip = make(this.svg, "svg:circle", {
      class: "tip", r: 24, tabindex: 0, role: "slider", "data-place": place,
      "aria-label": place ? `Key ${place}` : "Query", "aria-roledescription": "arrow in a plane",
      "aria-valuemin": -this.extent, "aria-valuemax": this.extent,
    });
    tip.onpointerdown = (event) => {
      event.preventDefault();
      tip.setPointerCapture(event.pointerId);
      tip.focus({ preventScroll: true });
      this.held = place;
      this.measuredAt = -Infinity;
      this.activate(place);
    };
    tip.onpointermove = (event) => {
      if (this.held !== place) return;
      if (event.timeStamp - this.measuredAt > 250) {  // not at every move: asking forces a layout
        this.box = this.svg.getBoundingClientRect();
        this.measuredAt = event.timeStamp;
      }
      const box = this.box, perUnit = box.width / (2 * (this.extent + 0.4));
      this.move(place, (event.clientX - box.x - box.width / 2) / perUnit,
        -(event.clientY - box.y - box.height / 2) / perUnit);
    };
    tip.onpointerup = tip.onpointercancel = () => {
      if (this.held !== place) return;
      this.held = null;
      this.say();
      this.send(true);
    };
    tip.onfocus = () => this.activate(place);
    tip.onkeydown = (event) => {
      const way = arrowOf(event);
      if (!way) return;
      const step = event.shiftKey ? STEP : KEY_STEP, [x, y] = this.vectors[place];
      this.move(place, x + way[0] * step, y - way[1] * step);
      this.say();
    };
    return tip;
  }

  buildTable() {
    this.table.replaceChildren();
    const head = make(make(this.table, "thead"), "tr");
    for (const title of ["", "q · k", "length", "angle"]) make(head, "th", "", title);
    make(head, "th", "wide", `softmax of q · k${this.scale === 1 ? "" : " / √2"}`);
    const body = make(this.table, "tbody");
    this.rows = this.vectors.slice(1).map((_, place) => {
      const row = make(body, "tr"), cells = [keyName(place), "", "", ""].map((text) => make(row, "td", "", text));
      const track = make(make(row, "td", "wide"), "div", "track");
      return { row, cells, bar: make(track, "i"), share: make(track, "span") };
    });
  }

  activate(place) {
    if (place > 0) this.active = place - 1;
    this.request();
  }

  move(place, x, y) {
    const snap = (v) => Number((Math.round(clamp(v, -this.extent, this.extent) / STEP) * STEP).toFixed(2));
    this.vectors[place] = [snap(x), snap(y)];
    this.request();
    this.send();
  }

  draw() {
    const [q, ...keys] = this.vectors;
    const facts = keys.map((k) => geometry(q, k)), weights = softmax(facts.map((f) => f.dot * this.scale));
    this.vectors.forEach((v, place) => this.drawArrow(place, v));
    this.drawAngle(q, keys[this.active], facts[this.active]);
    this.writeEquation(facts[this.active], keyName(this.active));
    this.rows.forEach(({ row, cells, bar, share }, place) => {
      const { dot, lengthK, degrees } = facts[place];
      cells[1].textContent = two(dot);
      cells[2].textContent = two(lengthK);
      cells[3].textContent = degrees === null ? "none" : `${degrees.toFixed(0)}°`;
      bar.style.width = `${(70 * weights[place]).toFixed(2)}%`;
      share.textContent = `${(100 * weights[place]).toFixed(1)}%`;
      row.className = place === this.active ? "active" : "";
    });
    this.vectors.forEach(([x, y], place) => set(this.tips[place], {
      cx: this.x(x), cy: this.y(y), "aria-valuenow": x,
      "aria-valuetext": `x ${two(x)}, y ${two(y)}` +
        (place ? `, dot product ${two(facts[place - 1].dot)}, weight ${(100 * weights[place - 1]).toFixed(0)}%` : ""),
    }));
    this.facts = facts;
    this.weights = weights;
  }

  drawArrow(place, [x, y]) {
    const length = Math.hypot(x, y), { line, head } = this.arrows[place];
    const [ux, uy] = length > 1e-9 ? [x / length, -y / length] : [0, 0];
    const [tx, ty] = [this.x(x), this.y(y)], size = Math.min(13, (length * CENTRE) / (this.extent + 0.4));
    const [bx, by] = [tx - ux * size, ty - uy * size];
    set(line, { d: `M${CENTRE} ${CENTRE}L${bx} ${by}` });
    line.classList.toggle("active", place === this.active + 1);
    set(head, length > 1e-9
      ? { d: `M${tx} ${ty}L${bx - uy * size * 0.45} ${by + ux * size * 0.45}L${bx + uy * size * 0.45} ${by - ux * size * 0.45}Z` }
      : { d: `M${tx - 5} ${ty}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z` });
    const out = (t, u) => clamp(t + (length > 1e-9 ? u : 0.7) * 17, 12, SIDE - 12);
    set(this.names[place], { x: out(tx, ux), y: out(ty, uy) });
  }

  drawAngle(q, k, { dot, cosine, lengthQ, lengthK, degrees }) {
    const shown = degrees !== null;
    for (const node of [this.shadow, this.drop, this.arc, this.theta]) node.style.display = shown ? "" : "none";
    if (!shown) return;
    const projection = lengthK * cosine, foot = [(q[0] / lengthQ) * projection, (q[1] / lengthQ) * projection];
    const cross = q[0] * k[1] - q[1] * k[0], aside = cross > 0 ? 7 : -7;  // beside q, on the side away from k
    const [ax, ay] = [(q[1] / lengthQ) * aside, (q[0] / lengthQ) * aside];
    set(this.shadow, { x1: CENTRE + ax, y1: CENTRE + ay, x2: this.x(foot[0]) + ax, y2: this.y(foot[1]) + ay });
    set(this.drop, { x1: this.x(k[0]), y1: this.y(k[1]), x2: this.x(foot[0]), y2: this.y(foot[1]) });
    const from = Math.atan2(q[1], q[0]), turn = Math.atan2(cross, dot);
    const at = (angle, r) => [CENTRE + r * Math.cos(angle), CENTRE - r * Math.sin(angle)];
    const [a, b] = [at(from, 34), at(from + turn, 34)];
    set(this.arc, { d: `M${a[0]} ${a[1]}A34 34 0 0 ${turn > 0 ? 0 : 1} ${b[0]} ${b[1]}` });
    const [tx, ty] = at(from + turn / 2, 52);
    set(this.theta, { x: tx, y: ty });
    this.theta.textContent = `${degrees.toFixed(0)}°`;
  }

  writeEquation({ dot, cosine, lengthQ, lengthK, degrees }, name) {
    const angle = degrees === null ? "(no angle: a vector is 0)" : `cos ${degrees.toFixed(1)}°`;
    const write = (part, text) => { for (const node of this.equation.querySelectorAll(part)) node.textContent = text; };
    write(".k", name);
    write(".numbers", `= ${two(lengthQ)} × ${two(lengthK)} × ${angle} = ${two(dot)}`);
    write(".small", `${name} reaches ${two(lengthK * cosine)} along q (the pale blue bar); × |q| = ${two(dot)}`);
  }

  say() {
    this.draw();
    const { dot, degrees } = this.facts[this.active];
    this.said.textContent = `Key ${this.active + 1}: ${degrees === null ? "no angle" : `angle ${degrees.toFixed(0)} degrees`}, ` +
      `dot product ${two(dot)}, weight ${(100 * this.weights[this.active]).toFixed(0)} percent`;
  }

  send(now = false) {
    clearTimeout(this.timer);
    const since = performance.now() - this.sentAt;
    const busy = this.sequence - this.answered >= MOST_UNANSWERED;
    const wait = Math.max(this.pause - since, busy ? PATIENCE - since : 0);
    this.unsent = true;
    if (!now && wait > 0) { this.timer = setTimeout(() => this.send(), wait); return; }
    this.unsent = false;
    this.sentAt = performance.now();
    this.sequence += 1;
    this.tell({
      query: this.vectors[0], keys: this.vectors.slice(1), active: this.active, revision: this.revision,
      sequence: this.sequence, moving: this.held !== null,
    });
  }
}

export default shownBy(Plane, "moved");
