// Arrows in a plane, dragged by their tips. What follows a drag is drawn here, frame by frame; Python is told at most every
// `pause` milliseconds, and hardly when several messages are unanswered, so that a slow server is not flooded. A page's
// own view extends it: `follow` draws what depends on the arrows, `describe` says it of one, `buildBehind` adds to the
// plane what lies behind them, and `onActive` is called when one is dragged or focused.
import { arrowOf, clamp, dragged, make, makeHeard, minus, onceAFrame, set } from "../../attention_core/attention/view/prelude.js";

export const SIDE = 440;
export const CENTRE = SIDE / 2;
export const HALF_WIDTH = 1.1; // of the plane, in extents of the arrows
const MAX_UNANSWERED = 2, BUSY_PAUSE = 400; // messages from which on this pause, in milliseconds, lies between two
const STEPS = 80, LARGE_STEPS = 16; // of a drag or of Shift and an arrow key, and of an arrow key, in an extent
const FLOOR = -0.55, FLOOR_ROOM = 34; // in extents, to which the plane always reaches down, and the pixels below it
const TICK_ROOM = 16, ARROW_ROOM = 12, EDGE_ROOM = 12; // pixels from a name to a number, to an arrow, to the edge
const LETTER = 4.6, NAME_SIZE = 17; // pixels, half as wide as a letter of a name of this size
const TURNS = [0, 0.8, -0.8, 1.4, -1.4, 2, -2]; // of a name around its tip, radians
const MEASURE_PAUSE = 250; // milliseconds: asking where the plane lies forces a layout

export const twoDecimals = (x) => minus((Math.abs(x) < 0.005 ? 0 : x).toFixed(2));

export class Plane {
  constructor(root) {
    this.svg = make(make(root, "div", "plane"), "svg:svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group" });
    this.announcement = makeHeard(root);
    this.requestDraw = onceAFrame(() => this.draw());
    Object.assign(this, { labelPoints: [], large: 1 });
    this.revision = this.dragging = null;
    this.sequence = this.answered = 0;
    this.sentAt = -Infinity;
  }

  follow() {}
  describe() { return ""; }
  isActive(arrow) { return arrow === this.active; }

  adopt(data, tellPython) {
    this.tellPython = tellPython;
    this.data = data;
    this.answered = Math.max(this.answered, data.answered);
    if (data.revision !== this.revision) {  // Python changed the arrows: an example, one more, typed numbers
      this.revision = data.revision;
      this.extent = data.extent;
      this.arrows = data.arrows.map((arrow) => [...arrow]);
      this.active = clamp(data.active, 0, data.arrows.length - 1);
      this.sequence = Math.max(this.sequence, data.answered);
      this.dragging = null;
      this.build();
    }
    this.requestDraw();
    if (this.unsent) this.send();
  }

  get perUnit() { return CENTRE / (HALF_WIDTH * this.extent); }
  x(value) { return CENTRE + value * this.perUnit; }
  y(value) { return CENTRE - value * this.perUnit; }

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
    this.ticks = [];
    for (let line = -4; line <= 4; line++) {
      const value = (line * this.extent) / 4, kind = line === 0 ? "axis" : "grid";
      make(this.svg, "svg:line", { class: kind, x1: this.x(value), x2: this.x(value), y1: 0, y2: SIDE });
      make(this.svg, "svg:line", { class: kind, y1: this.y(value), y2: this.y(value), x1: 0, x2: SIDE });
      if (line === 0 || line % 2) continue;
      for (const [x, y] of [[this.x(value), this.y(0) + 14], [this.x(0) - 12, this.y(value) + 4]]) {
        make(this.svg, "svg:text", { class: "tick", x, y }, minus(String(value)));
        this.ticks.push([x, y]);
      }
    }
    this.buildBehind?.();
    this.shafts = [];  // the shortest one lies on top
    const lengths = this.arrows.map((arrow) => Math.hypot(...arrow));
    for (const arrow of [...lengths.keys()].reverse().sort((a, b) => lengths[b] - lengths[a])) {
      const kind = this.data.kinds[arrow];
      this.shafts[arrow] = { line: make(this.svg, "svg:path", `arrow ${kind}`), head: make(this.svg, "svg:path", `head ${kind}`) };
    }
    this.labels = this.data.names.map((name) => make(this.svg, "svg:text", "name", name));
    this.tips = [];
    for (let arrow = this.arrows.length - 1; arrow >= 0; arrow--) this.tips[arrow] = this.makeTip(arrow);
    if (focused !== undefined) this.tips[focused]?.focus({ preventScroll: true });
  }

  makeTip(arrow) {
    const tip = make(this.svg, "svg:circle", {
      class: "tip", r: 24, tabindex: 0, role: "slider", "data-place": arrow,
      "aria-label": this.data.names[arrow], "aria-roledescription": "arrow in a plane",
      "aria-valuemin": -this.extent, "aria-valuemax": this.extent,
    });
    const begin = (event) => {
      event.preventDefault();
      tip.focus({ preventScroll: true });
      this.dragging = arrow;
      this.activate(arrow);
      this.measuredAt = -Infinity;
    };
    const go = (event) => {
      if (this.dragging !== arrow) return;
      if (event.timeStamp - this.measuredAt > MEASURE_PAUSE) {
        this.box = this.svg.getBoundingClientRect();
        this.measuredAt = event.timeStamp;
      }
      const box = this.box, top = HALF_WIDTH * this.extent, perUnit = box.width / (2 * top);
      this.move(arrow, (event.clientX - box.x - box.width / 2) / perUnit, top - (event.clientY - box.y) / perUnit);
    };
    const end = () => {
      if (this.dragging !== arrow) return;
      this.dragging = null;
      this.announce();
      this.send(true);
    };
    dragged(tip, { begin, go, end });
    tip.onfocus = () => { if (this.dragging === null) this.activate(arrow); };
    tip.onkeydown = (event) => {
      const direction = arrowOf(event);
      if (!direction) return;
      const step = this.extent / (event.shiftKey ? STEPS : LARGE_STEPS), [x, y] = this.arrows[arrow];
      this.move(arrow, x + direction[0] * step, y - direction[1] * step);
      this.announce();
    };
    return tip;
  }

  activate(arrow) {
    this.active = arrow;
    this.onActive?.();
    this.requestDraw();
  }

  move(arrow, x, y) {
    const step = this.extent / STEPS;
    const snap = (value) => Number((Math.round(clamp(value, -this.extent, this.extent) / step) * step).toFixed(3));
    this.arrows[arrow] = [snap(x), snap(y)];
    this.reachDown(this.arrows[arrow][1]);
    this.requestDraw();
    this.send();
  }

  draw() {
    this.labelPoints = [];
    if (this.dragging === null) this.large = (this.labels[0] && parseFloat(getComputedStyle(this.labels[0]).fontSize) / NAME_SIZE) || 1;
    this.arrows.forEach((arrow, index) => this.drawArrow(index, arrow));
    this.follow();
    this.arrows.forEach(([x, y], arrow) => {
      const text = `x ${twoDecimals(x)}, y ${twoDecimals(y)}, ${this.describe(arrow)}`;
      set(this.tips[arrow], { cx: this.x(x), cy: this.y(y), "aria-valuenow": x, "aria-valuetext": text });
    });
  }

  // A shaft, and a triangle with its tip at (x, y) as its head; a disc for an arrow of length 0.
  drawArrow(arrow, [x, y]) {
    this.shafts[arrow].line.classList.toggle("active", this.isActive(arrow));
    const { tip, outward } = this.shape(this.shafts[arrow], [x, y]), name = this.labels[arrow].textContent, [labelX, labelY] = this.findLabelPoint(name, tip, outward);
    this.labelPoints.push([labelX, labelY, this.halfOf(name)]);
    set(this.labels[arrow], { x: labelX, y: labelY });
  }

  // An arrow's path for where it points to; returns its tip on the screen, and its angle there.
  shape({ line, head }, [x, y]) {
    const length = Math.hypot(x, y);
    const [ux, uy] = length > 1e-9 ? [x / length, -y / length] : [0, 0]; // the unit vector on the screen
    const [tipX, tipY] = [this.x(x), this.y(y)], size = Math.min(13, length * this.perUnit), half = 0.45 * size;
    const [baseX, baseY] = [tipX - ux * size, tipY - uy * size];
    set(line, { d: `M${CENTRE} ${CENTRE}L${baseX} ${baseY}` });
    set(head, length > 1e-9
      ? { d: `M${tipX} ${tipY}L${baseX - uy * half} ${baseY + ux * half}L${baseX + uy * half} ${baseY - ux * half}Z` }
      : { d: `M${tipX - 5} ${tipY}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z` });
    return { tip: [tipX, tipY], outward: Math.atan2(uy, ux) };
  }

  halfOf(name) { return LETTER * this.large * name.length; }

  // Whether a name at a point lies on no other one.
  isApart(name, [x, y]) { return this.labelPoints.every(([a, b, half]) => Math.abs(a - x) >= half + this.halfOf(name) || Math.abs(b - y) >= NAME_SIZE * this.large); }

  // A name stands beyond the tip, or beside it where another name or an arrow is in the way.
  findLabelPoint(name, [tipX, tipY], outward) {
    const { large } = this, height = NAME_SIZE * large, width = height + 4 * large * Math.max(name.length - 2, 0), edge = this.halfOf(name) + EDGE_ROOM / 2;
    const points = TURNS.map((turn) => [
      clamp(tipX + width * Math.cos(outward + turn), edge, SIDE - edge),
      clamp(tipY + height * Math.sin(outward + turn), EDGE_ROOM, this.depth - EDGE_ROOM),
    ]);
    const isFree = (point) => this.ticks.every(([x, y]) => Math.hypot(x - point[0], y - point[1]) >= TICK_ROOM) && this.isApart(name, point) &&
      this.arrows.every((tip) => this.distance(tip, point) >= ARROW_ROOM);
    return points.find(isFree) ?? points[0];
  }

  // Between an arrow and a point on the screen, in pixels.
  distance([x, y], [px, py]) {
    const dx = this.x(x) - CENTRE, dy = this.y(y) - CENTRE, squared = dx * dx + dy * dy || 1;
    const along = clamp(((px - CENTRE) * dx + (py - CENTRE) * dy) / squared, 0, 1);
    return Math.hypot(px - CENTRE - along * dx, py - CENTRE - along * dy);
  }

  announce() {
    this.draw();
    this.announcement.textContent = `${this.data.names[this.active]}: ${this.describe(this.active)}`;
  }

  // Sends the arrows, or soon if the last message is too recent; `isUrgent`: at once.
  send(isUrgent = false) {
    clearTimeout(this.timer);
    const isBusy = this.sequence - this.answered >= MAX_UNANSWERED;
    const pause = isBusy ? Math.max(this.data.pause, BUSY_PAUSE) : this.data.pause, wait = this.sentAt + pause - performance.now();
    this.unsent = true;
    if (!isUrgent && wait > 0) { this.timer = setTimeout(() => this.send(), wait); return; }
    this.unsent = false;
    this.sentAt = performance.now();
    this.sequence += 1;
    this.tellPython({
      arrows: this.arrows, active: this.active, revision: this.revision, sequence: this.sequence,
      moving: this.dragging !== null,
    });
  }
}
