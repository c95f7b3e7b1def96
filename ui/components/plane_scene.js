// Arrows in a plane, and beside them their keys as a scene: scores, weights and values of one row at a time, whose context is
// an arrow, too. Below stand the weights of all rows; another row is a click away. What arrows that are dragged make of scores
// says `computed`; what it has not, null, comes from Python. `scene` in the data is what scene.js reads.
import { asPercent, clamp, make, set, softmax, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { HIGHEST, LOWEST, mix, SceneDrawing } from "../../attention_core/attention/view/scene_drawing.js";
import { SceneLayout } from "../../attention_core/attention/view/scene_layout.js";
import { mixtureOf, placeWord, SceneView } from "../../attention_core/attention/view/scene.js";
import { Plane, SIDE, twoDecimals } from "./vector_plane.js";

const ROOM_BELOW = 0.27;  // of a column's length, for the number of a score that hangs
const MANY_ROWS = 5, GLIDE = 500, LATER_PACE = 5, SMALLEST_CHANGE = 1e-9;
const SMALLEST_WRITTEN = 0.001;  // weight in a row of weights
const NAME_ROOM = 34;  // pixels from the middle of the context's name to the edge
const percentIn = (weight) => (weight > 0 && weight < SMALLEST_WRITTEN ? `<${asPercent(SMALLEST_WRITTEN)}` : asPercent(weight));
const copyOf = (arrows) => arrows.map((arrow) => [...arrow]);

// Numbers with the largest of them as 1 or -1.
const scaled = (rows) => {
  const largest = Math.max(...rows.flat().map(Math.abs)) || 1;
  return rows.map((row) => row.map((number) => number / largest));
};

// The next of 1, 2, 5, 10, 20, ... that is not below: a scale that seldom jumps while scores move.
const roundUp = (largest) => {
  if (largest <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= largest);
};

class ArrowPlane extends Plane {
  constructor(root, scene) { super(root); this.scene = scene; }

  build() {
    super.build();
    this.context = { line: make(this.svg, "svg:path", "arrow sum"), head: make(this.svg, "svg:path", "head sum") };
    this.contextName = make(this.svg, "svg:text", "name", "context");
    this.svg.parentNode.hidden = this.arrows.length === 0 || Boolean(this.data.bare);
  }

  buildBehind() {
    this.edges = make(this.svg, "svg:path", "edge");
    this.ghosts = make(this.svg, "svg:path", "ghost");
    this.ways = make(this.svg, "svg:path", "way");
    this.parts = make(this.svg, "svg:path", "share");
  }

  makeTip(arrow) {
    const tip = super.makeTip(arrow);
    this.scene.pointed.over(tip, () => this.scene.positionsOf(arrow).slice(0, 1));
    return tip;
  }

  onActive() { this.scene.touch(); }
  isActive(arrow) { return this.scene.isLit(arrow) || super.isActive(arrow); }
  describe(arrow) { return this.scene.describe(arrow); }
  screen([x, y]) { return [this.x(x), this.y(y)]; }

  follow() {
    const moved = this.scene.isDragged ? this.scene.moved() : [], from = this.scene.from, line = (start, end) => `M${this.screen(start)}L${this.screen(end)}`;
    set(this.edges, { d: (this.data.edges ?? []).map(([start, end]) => line(this.arrows[start], this.arrows[end])).join("") });
    set(this.ghosts, { d: moved.map((arrow) => line([0, 0], from[arrow])).join("") });
    set(this.ways, { d: moved.map((arrow) => line(from[arrow], this.arrows[arrow])).join("") });
    this.scene.followArrows();
  }

  // Values, each as long as its weight makes it, laid tip to tail: they end where the context does.
  showContext(values, weights, ranks, progress) {
    if (!this.context) return;
    const isShown = values?.[0]?.length === 2 && progress.box > 0;
    for (const node of [this.parts, this.contextName, ...Object.values(this.context)]) node.style.display = isShown ? "" : "none";
    if (!isShown) return;
    let at = [0, 0], path = `M${this.screen(at)}`;
    [...weights.keys()].sort((a, b) => ranks[a] - ranks[b]).forEach((key) => {
      const share = weights[key] * progress.take(ranks[key]);
      at = at.map((value, axis) => value + share * values[key][axis]);
      path += `L${this.screen(at)}`;
    });
    set(this.parts, { d: path });
    const context = mixtureOf(values, weights).map((value) => value * progress.blend);
    this.shape(this.context, context);
    const [x, y] = this.findLabelPoint("context", this.screen(context), Math.atan2(-context[1], context[0]));
    set(this.contextName, { x: clamp(x, NAME_ROOM, SIDE - NAME_ROOM), y });
    const isFree = this.labelPoints.every(([a, b]) => Math.hypot(a - x, b - y) > NAME_ROOM);
    this.contextName.style.opacity = isFree ? progress.blend : 0;
    for (const node of Object.values(this.context)) node.style.opacity = Math.min(1, 5 * progress.blend);
  }
}

class RowsLayout extends SceneLayout {
  constructor(sizes) {
    super(sizes);
    this.room = 0;
  }

  get rowSize() { return Math.max(this.smallest, this.isNarrow ? 15 : Math.round(17 * this.scale)); }

  leftOf(scale, labels) {
    this.scale = scale;
    return Math.max(super.leftOf(scale), this.longest(labels));
  }

  longest(labels) { return Math.max(...labels.map((label) => this.measure(label))) * this.rowSize + 18; }

  wordsBelow(labels) {
    const size = this.rowSize, h = Math.round((labels.length > MANY_ROWS ? 1.35 : 1.6) * size), top = this.below + (this.isNarrow ? h : 0), w = this.isNarrow ? this.longest(labels) : this.left;
    this.rows = { left: w, top, h };
    return { size, places: labels.map((_, row) => ({ x: 0, y: top + row * (h + 4), w: w - 6, h })), belows: [], bottom: top + labels.length * (h + 4) };
  }

  rowCell(row, key) {
    const { left, top, h } = this.rows, room = (this.width - left) / this.n, [x, w] = this.isNarrow ? [left + key * room, room] : [this.cells[key].x - this.cells[key].w / 2, this.cells[key].w];
    return { x: x + 3, y: top + row * (h + 4), w: w - 6, h };
  }

  boxMiddle(query) { return this.isNarrow ? super.boxMiddle(query) : { x: (this.left + this.width) / 2, y: this.boxTop + this.box.h / 2 }; }
}

class RowsDrawing extends SceneDrawing {
  // Scores stand on the line of 0, those below it hang.
  get foot() { return this.heightOf(0); }

  heightOf(score) {
    const high = roundUp(this.state.high), low = -roundUp(-this.state.low);
    return mix(low < 0 ? ROOM_BELOW : LOWEST, HIGHEST, high > low ? (score - low) / (high - low) : 0);
  }

  draw(state) {
    super.draw(state);
    const { layout, tones, pen } = this, { progress } = state, alpha = progress.open * progress.score(0) * (1 - progress.grow);
    if (layout.isNarrow) {
      this.names.forEach((name, key) => { const { x, y, w } = layout.rowCell(0, key); this.write(name, x + w / 2, y - 12, { align: "center", size: 14, alpha: 0.85 }); });
    } else if (alpha > 0) {
      const y = layout.base - this.foot * layout.long;
      Object.assign(pen, { strokeStyle: tones.ink, lineWidth: 1.5, globalAlpha: 0.6 * alpha }).beginPath();
      pen.moveTo(layout.left, y);
      pen.lineTo(this.width, y);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }
}

export class PlaneScene extends SceneView {
  constructor(root) {
    super(root);
    root.classList.add("arrows");
    Object.assign(this, { drawing: new RowsDrawing(this.canvas), resetTitle: "as computed", stepTitles: { takes: "mixes" }, cells: [], from: null, base: null, lit: [], isDragged: false });
    this.plane = new ArrowPlane(root, this);
  }

  adopt(data, tellMoved, tellChosen) {
    const { plane, given } = this, isMoved = given && data.revision !== plane.revision, before = plane.arrows, base = this.data?.weights;
    this.given = data;
    plane.adopt(data, tellMoved);
    if (isMoved || data.scene.isEdited || given?.scene.isEdited) Object.assign(this, { from: null, base: null });
    if (isMoved && given.subject === data.subject && String(given.names) === String(data.names)) this.glide(before, base);
    super.adopt(this.live(data.scene), tellChosen);
  }

  cover(isCovered) {
    this.plane.svg.parentNode.inert = Boolean(isCovered);
    return super.cover(isCovered);
  }

  // The numbers of the scene as the arrows are now.
  live(scene) {
    const now = this.computed(this.plane.arrows);
    this.values = now?.values ?? this.given.values;
    if (!now) return scene;
    const scores = now.scores.map((row, at) => row ?? scene.scores[at]);
    const weights = now.scores.map((row, at) => (row && scene.isSoft ? softmax(row.map((score) => score ?? -Infinity)) : scene.weights[at]));
    const numbers = { ...scene.numbers, queries: scaled(now.queries), keys: scaled(now.keys), values: scaled(now.values) };
    return { ...scene, scores, weights, numbers };
  }

  stripNote() { return this.data.queries.length > MANY_ROWS ? "" : super.stripNote(); }

  // There is no other picture before it.
  progressAt(time) { return { ...super.progressAt(time), open: 1 }; }

  hasStep(name) { return name === "asks" || name === "scores" || (this.data.isSoft && super.hasStep(name)); }

  // What Python has moved goes there.
  glide(from, base) {
    const { plane } = this, goal = plane.arrows, began = performance.now();
    Object.assign(this, { from, base, isDragged: false });
    if (String(goal) === String(from) || wantsLessMotion()) return;
    const step = (now) => {
      if (plane.goal !== goal) return;
      const share = clamp((now - began) / GLIDE, 0, 1) ** 2;
      plane.arrows = share === 1 ? goal : goal.map((arrow, index) => arrow.map((value, axis) => mix(from[index][axis], value, share)));
      plane.requestDraw();
      if (share < 1) requestAnimationFrame(step);
      else plane.goal = null;
    };
    plane.goal = goal;
    step(began);
  }

  // An arrow is taken hold of: what changes is compared with what was.
  touch() {
    const { plane } = this;
    if (plane.goal) Object.assign(plane, { arrows: plane.goal, goal: null });
    if (!this.layout || this.isCovered) return;
    Object.assign(this, { from: copyOf(plane.arrows), base: this.data.weights.map((row) => [...row]), isDragged: true, isTour: false });
    if (this.time < this.timeline.end) this.finish();
    this.isTouched = true;
  }

  // Arrows that are not where they were; with weights of a visitor's own nothing is compared.
  moved() {
    const { arrows } = this.plane;
    return !this.data?.isEdited && this.from?.length === arrows.length ? [...arrows.keys()].filter((arrow) => String(this.from[arrow]) !== String(arrows[arrow])) : [];
  }

  // Another row is chosen for what it has, not for what has changed.
  choose(row, focus) {
    Object.assign(this, { from: null, base: null });
    this.plane.requestDraw();
    super.choose(row, focus);
  }

  followArrows() {
    if (!this.layout) return;
    const arrows = String(this.plane.arrows);
    if (arrows !== this.shownArrows) {
      this.shownArrows = arrows;
      Object.assign(this.data, this.live(this.data));
      this.stopMorph?.();
      this.weights = this.targetWeights();
    }
    this.draw();
  }

  change() {
    if (this.plane.dragging === null) return super.change();
    this.weights = this.targetWeights();
    return this.draw();
  }

  light(places) {
    super.light(places);
    this.lit = places.map(String);
    this.plane.requestDraw();
  }

  // Whether a visitor has crossed a key out of a row, or pulled a weight of it.
  isOwnRow(row) { return Boolean(this.data.changed?.includes(row) || (this.local && row === this.row)); }

  isLit(arrow) { return this.lit.length ? this.positionsOf(arrow).some((position) => this.lit.includes(String(position))) : this.arrowOfRow() === arrow; }
  arrowOfRow() { return 0; }
  positionsOf() { return []; }
  describe() { return ""; }

  captionOf(step) {
    if (step !== "takes") return super.captionOf(step);
    if (this.state.progress.blend === 1) return this.captionOfRest();
    return "Each key hands over its value, **as much of it as its weight**. Laid tip to tail, they end at the **context**.";
  }

  build() {
    this.cells = [];
    super.build();
    const { data } = this;
    this.cells = data.queries.map((_, row) => data.keys.map((_, key) => {
      const node = make(this.words, "span", "cell");
      node.onclick = () => this.choose(row);
      if (data.axes) this.pointed.over(node, () => [[data.axes[0], data.firsts[row]], [data.axes[1], key]]);
      return node;
    }));
    this.layOut();
  }

  buildSwitch() {
    super.buildSwitch();
    this.switch.hidden = !this.data.isEdited;
  }

  newLayout(sizes) { return new RowsLayout(sizes); }

  layOut() {
    super.layOut();
    const { layout } = this;
    this.cells.forEach((cells, row) => cells.forEach((node, key) => placeWord(node, layout.rowCell(row, key), layout.queries.size)));
  }

  get tour() { return this.data.tour ?? this.data.queries.map((_, row) => row); }

  playOnArrival() {
    Object.assign(this, { isTour: true, row: this.tour[0], pace: 1 });
    this.weights = this.targetWeights();
    super.playOnArrival();
  }

  play() {
    if (this.time >= this.timeline.end - 0.01) Object.assign(this, { isTour: true, row: this.tour[0], pace: 1, weights: this.data.weights[this.tour[0]] });
    super.play();
  }

  // A row is over: the next one asks, faster; after the last one the first comes back.
  arrive() {
    const next = this.tour[this.tour.indexOf(this.row) + 1];
    if (!this.isTour || this.time < this.timeline.end) return;
    if (next === undefined) {
      Object.assign(this, { isTour: false, row: this.data.query });
      this.change();
      return;
    }
    Object.assign(this, { row: next, pace: LATER_PACE });
    this.weights = this.targetWeights();
    this.playTo(this.timeline.end, 0);
  }

  playStep(index) {
    Object.assign(this, { isTour: false, pace: 1 });
    super.playStep(index);
  }

  finish() {
    this.isTour = false;
    super.finish();
  }

  // How much of a row's weights is seen: while it plays they come one row after another.
  shownOf(row) {
    const { progress } = this.state;
    if (this.isCovered) return 0;
    if (row === this.row) return this.data.isSoft ? progress.divide : progress.allScores;
    return this.isTour && (this.playing || this.time === 0) && !this.tour.slice(0, this.tour.indexOf(this.row)).includes(row) ? 0 : 1;
  }

  draw() {
    if (!this.layout || !this.root.isConnected) return;
    this.drawing.names = this.data.keys;
    super.draw();
    this.cells.forEach((cells, row) => cells.forEach((node, key) => this.writeCell(node, row, key)));
    this.plane.showContext(this.data.isSoft && this.values, this.weights, this.drawing.ranks, this.state.progress);
  }

  writeCell(node, row, key) {
    const { data, base } = this, isNow = row === this.row, weight = (isNow ? this.weights : data.weights[row])[key], score = data.scores[row][key];
    const isMasked = score === null, text = isMasked ? "may not" : data.isSoft ? percentIn(weight) : twoDecimals(score), before = base?.[row]?.[key];
    const isChanged = this.isDragged && this.isChangedCell(row, key), isLit = data.axes && [[data.axes[0], data.firsts[row]], [data.axes[1], key]].some((position) => this.lit.includes(String(position)));
    const form = [text, weight, before, isNow, isChanged, isLit, this.shownOf(row)].join();
    if (node.form === form) return;
    node.form = form;
    node.textContent = text;
    node.className = ["cell", isNow && "now", isLit && "lit", isMasked && "masked"].filter(Boolean).join(" ");
    node.style.opacity = this.shownOf(row);
    node.style.setProperty("--share", data.isSoft ? `${(100 * weight).toFixed(1)}%` : "0%");
    node.style.setProperty("--before", isChanged ? `${(100 * before).toFixed(1)}%` : "-10px");
  }

  isChangedCell(row, key) { return Boolean(this.base?.[row]) && this.data.isSoft && this.moved().length > 0 && Math.abs(this.data.weights[row][key] - this.base[row][key]) > SMALLEST_CHANGE; }

  get nChanged() { return this.cells.flatMap((cells, row) => cells.filter((_, key) => this.isChangedCell(row, key))).length; }
}
