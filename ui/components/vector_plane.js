// Arrows in a plane, dragged by their tips. What follows a drag is drawn here, frame by frame; Python is told at most every
// `pause` milliseconds, and hardly when several messages are unanswered, so that a slow server is not flooded. A page's
// own view extends it: `follow` draws what stands beside the arrows, `describe` says it.
import { arrowOf, clamp, dragged, make, minus, onceAFrame, set } from "../../attention_core/attention/view/prelude.js";

const SIDE = 440, CENTRE = SIDE / 2, PATIENCE = 400, MOST_UNANSWERED = 2, STEPS = 80, LARGE_STEPS = 16, LABEL_ROOM = 20, FLOOR_ROOM = 34, ARROW_ROOM = 12, FLOOR = -0.55;
const TURNS = [0, 0.8, -0.8, 1.4, -1.4, 2, -2];  // of a name around its tip, radians

export const two = (x) => minus((Math.abs(x) < 0.005 ? 0 : x).toFixed(2));

export class Plane {
  constructor(root) {
    this.svg = make(make(root, "div", "plane"), "svg:svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group" });
    this.said = make(root, "div", { class: "said", "aria-live": "polite" });
    this.request = onceAFrame(() => this.draw());
    this.revision = this.held = null;
    this.sequence = this.answered = 0;
    this.sentAt = -Infinity;
  }

  follow() {}
  describe() { return ""; }
  isActive(place) { return place === this.active; }

  adopt(data, tell) {
    this.tell = tell;
    this.data = data;
    this.answered = Math.max(this.answered, data.answered);
    if (data.revision !== this.revision) {  // Python changed the arrows: an example, one more, typed numbers
      this.revision = data.revision;
      this.extent = data.extent;
      this.arrows = data.arrows.map((arrow) => [...arrow]);
      this.active = clamp(data.active, 0, data.arrows.length - 1);
      this.sequence = Math.max(this.sequence, data.answered);
      this.held = null;
      this.build();
    }
    this.request();
    if (this.unsent) this.send();
  }

  x(value) { return CENTRE + (value * CENTRE) / (1.1 * this.extent); }
  y(value) { return CENTRE - (value * CENTRE) / (1.1 * this.extent); }

  // The plane ends below what lies in it, and grows when something is dragged further down.
  reachDown(lowest) {
    const needed = clamp(this.y(Math.min(lowest, FLOOR * this.extent)) + FLOOR_ROOM, 0, SIDE);
    if (needed <= this.depth) return;
    this.depth = needed;
    set(this.svg, { viewBox: `0 0 ${SIDE} ${needed}` });
    this.svg.style.aspectRatio = `${SIDE} / ${needed}`;
  }

  build() {
    this.depth = 0;
    this.reachDown(Math.min(...[...this.arrows, ...(this.data.from ?? [])].map(([, y]) => y)));
    const focused = this.svg.getRootNode().activeElement?.dataset?.place;
    this.svg.replaceChildren();
    const names = this.data.names.join(", ");
    set(this.svg, { "aria-label": `Arrows in a plane: ${names}. Drag their tips, or focus one with Tab and use the arrow keys.` });
    make(this.svg, "svg:rect", { class: "paper", width: SIDE, height: SIDE, rx: 4 });
    const between = this.extent / 4;
    for (let line = -4; line <= 4; line++) {
      const value = line * between, kind = line === 0 ? "axis" : "grid";
      make(this.svg, "svg:line", { class: kind, x1: this.x(value), x2: this.x(value), y1: 0, y2: SIDE });
      make(this.svg, "svg:line", { class: kind, y1: this.y(value), y2: this.y(value), x1: 0, x2: SIDE });
      if (line !== 0 && line % 2 === 0) {
        make(this.svg, "svg:text", { class: "tick", x: this.x(value), y: this.y(0) + 14 }, minus(String(value)));
        make(this.svg, "svg:text", { class: "tick", x: this.x(0) - 12, y: this.y(value) + 4 }, minus(String(value)));
      }
    }
    this.buildBehind?.();
    this.shafts = [];  // the first one lies on top
    for (let place = this.arrows.length - 1; place >= 0; place--) {
      const kind = this.data.kinds[place];
      this.shafts[place] = { line: make(this.svg, "svg:path", `arrow ${kind}`), head: make(this.svg, "svg:path", `head ${kind}`) };
    }
    this.labels = this.data.names.map((name) => make(this.svg, "svg:text", "name", name));
    this.tips = [];
    for (let place = this.arrows.length - 1; place >= 0; place--) this.tips[place] = this.makeTip(place);
    if (focused !== undefined) this.tips[focused]?.focus({ preventScroll: true });
  }

  makeTip(place) {
    const tip = make(this.svg, "svg:circle", {
      class: "tip", r: 24, tabindex: 0, role: "slider", "data-place": place,
      "aria-label": this.data.names[place], "aria-roledescription": "arrow in a plane",
      "aria-valuemin": -this.extent, "aria-valuemax": this.extent,
    });
    const begin = (event) => {
      event.preventDefault();
      tip.focus({ preventScroll: true });
      this.held = place;
      this.take(place);
      this.measuredAt = -Infinity;
    };
    const go = (event) => {
      if (this.held !== place) return;
      if (event.timeStamp - this.measuredAt > 250) {  // not at every move: asking forces a layout
        this.box = this.svg.getBoundingClientRect();
        this.measuredAt = event.timeStamp;
      }
      const box = this.box, perUnit = box.width / (2.2 * this.extent);
      this.move(place, (event.clientX - box.x - box.width / 2) / perUnit,
        1.1 * this.extent - (event.clientY - box.y) / perUnit);
    };
    const end = () => {
      if (this.held !== place) return;
      this.held = null;
      this.say();
      this.send(true);
    };
    dragged(tip, { begin, go, end });
    tip.onfocus = () => { if (this.held === null) this.take(place); };
    tip.onkeydown = (event) => {
      const way = arrowOf(event);
      if (!way) return;
      const step = this.extent / (event.shiftKey ? STEPS : LARGE_STEPS), [x, y] = this.arrows[place];
      this.move(place, x + way[0] * step, y - way[1] * step);
      this.say();
    };
    return tip;
  }

  take(place) {
    this.active = place;
    this.taken?.();
    this.request();
  }

  move(place, x, y) {
    const step = this.extent / STEPS;
    const snap = (v) => Number((Math.round(clamp(v, -this.extent, this.extent) / step) * step).toFixed(3));
    this.arrows[place] = [snap(x), snap(y)];
    this.reachDown(this.arrows[place][1]);
    this.request();
    this.send();
  }

  draw() {
    this.follow();
    this.named = [];
    this.arrows.forEach(([x, y], place) => {
      this.drawArrow(place, [x, y]);
      const told = `x ${two(x)}, y ${two(y)}, ${this.describe(place)}`;
      set(this.tips[place], { cx: this.x(x), cy: this.y(y), "aria-valuenow": x, "aria-valuetext": told });
    });
  }

  drawArrow(place, [x, y]) {
    const length = Math.hypot(x, y), { line, head } = this.shafts[place];
    const [ux, uy] = length > 1e-9 ? [x / length, -y / length] : [0, 0];
    const [tx, ty] = [this.x(x), this.y(y)], size = Math.min(13, (length * CENTRE) / (1.1 * this.extent));
    const [bx, by] = [tx - ux * size, ty - uy * size];
    set(line, { d: `M${CENTRE} ${CENTRE}L${bx} ${by}` });
    line.classList.toggle("active", this.isActive(place));
    set(head, length > 1e-9
      ? { d: `M${tx} ${ty}L${bx - uy * size * 0.45} ${by + ux * size * 0.45}L${bx + uy * size * 0.45} ${by - ux * size * 0.45}Z` }
      : { d: `M${tx - 5} ${ty}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z` });
    const spot = this.spotOf(place, [tx, ty], Math.atan2(uy, ux));
    this.named.push(spot);
    set(this.labels[place], { x: spot[0], y: spot[1] });
  }

  // A name stands beyond the tip, or beside it where another name or an arrow is in the way.
  spotOf(place, [tx, ty], outward) {
    const wide = 17 + 4 * Math.max(this.data.names[place].length - 2, 0), spots = TURNS.map((turn) => {
      const at = outward + turn;
      return [clamp(tx + wide * Math.cos(at), 12, SIDE - 12), clamp(ty + 17 * Math.sin(at), 12, this.depth - 12)];
    });
    const isFree = (spot) => this.named.every(([x, y]) => Math.hypot(x - spot[0], y - spot[1]) >= LABEL_ROOM) &&
      this.arrows.every((arrow) => this.gap(arrow, spot) >= ARROW_ROOM);
    return spots.find(isFree) ?? spots[0];
  }

  // Between an arrow and a place on the screen.
  gap([x, y], [px, py]) {
    const dx = this.x(x) - CENTRE, dy = this.y(y) - CENTRE, length = dx * dx + dy * dy || 1;
    const along = clamp(((px - CENTRE) * dx + (py - CENTRE) * dy) / length, 0, 1);
    return Math.hypot(px - CENTRE - along * dx, py - CENTRE - along * dy);
  }

  say() {
    this.draw();
    this.said.textContent = `${this.data.names[this.active]}: ${this.describe(this.active)}`;
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
      arrows: this.arrows, active: this.active, revision: this.revision, sequence: this.sequence,
      moving: this.held !== null,
    });
  }
}

export { CENTRE, SIDE };
