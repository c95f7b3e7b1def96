// Arrows in a plane, and beside them their keys as a scene: scores, weights and values of one row at a time, whose context is
// an arrow, too. Below stand the weights of all rows; another row is a click away. What arrows that are dragged make of scores
// says `computed`; what it has not, null, comes from Python. `scene` in the data is what scene.js reads.
import { arrayOf, boxOf, channelsOf, clamp, create, make, pixelOf, putPixels, set, softmax, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { ROLE_COLOURS } from "../../attention_core/attention/view/colours.js";
import { HIGHEST, LOWEST, mix, percentsOfRow, SceneDrawing } from "../../attention_core/attention/view/scene_drawing.js";
import { SceneLayout } from "../../attention_core/attention/view/scene_layout.js";
import { mixtureOf, placeWord, SceneView } from "../../attention_core/attention/view/scene.js";
import { writeMarked } from "../../attention_core/attention/view/scene_player.js";
import { CENTRE, HALF_WIDTH, Plane, SIDE, twoDecimals } from "./vector_plane.js";

const ROOM_BELOW = 0.27;  // of a column's length, for the number of a score that hangs
const MANY_ROWS = 5, GLIDE = 500, SMALLEST_CHANGE = 1e-9;
const FIELD = 110, BANDS = 12, FIELD_OPACITY = 200;  // cells of a field's side, its shades, and how opaque the darkest is, of 255
const BOLDEST = 10;  // pixels by which the arrow of a key with all weight is thicker
const RING = 10;  // pixels of the radius where an arrow ended before
const ROW_GAP = 6, LEAST_ROW = 34, PHONE_ROW = 52, ROOMY_ROW = 60, BEFORE = 2.45;  // pixels between rows of a table, and of the lowest one, and of one that has two lines; letters' sizes of a weight before
const ARC = 50, ARC_STEP = 42, ARC_NAME = 16;  // pixels from 0 to the arc of the widest angle, between arcs, from an arc to its degrees
const HALL = 1.2;  // times as large letters as in other scenes
const SETTLES = 0.16, SETTLED = 0.01;  // of the way that a projected arrow goes in a frame; what is left of it in the end
const SMALLEST_ANGLE = 0.01;  // radians of an arc
const copyOf = (arrows) => arrows.map((arrow) => [...arrow]);

// Numbers with the largest of them as 1 or -1.
const scaled = (rows, largest = Math.max(...rows.flat().map(Math.abs)) || 1) => rows.map((row) => row.map((number) => number / largest));
const isFlat = (vectors) => Boolean(vectors) && ["queries", "keys", "values"].every((name) => vectors[name][0].length === 2);

// Of queries and keys in a plane, which are compared by eye, the longest is 1.
const scaledTogether = ({ queries, keys, values }) => {
  const lengthOf = (rows) => Math.max(...rows.map((row) => Math.hypot(...row))) || 1;
  if (!isFlat({ queries, keys, values })) return { queries: scaled(queries), keys: scaled(keys), values: scaled(values) };
  const longest = lengthOf([...queries, ...keys]);
  return { queries: scaled(queries, longest), keys: scaled(keys, longest), values: scaled(values, lengthOf(values)) };
};

// The next of 1, 2, 5, 10, 20, ... that is not below: a scale that seldom jumps while scores move.
const roundUp = (largest) => {
  if (largest <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= largest);
};

// A score as a picture of the plane up to `top`, the darker the higher a key would score there.
const pictureOfField = (score, top, size = FIELD) => {
  const placeOf = (cell) => top * ((2 * cell + 1) / size - 1), scores = arrayOf(Float64Array, size * size, (at) => score([placeOf(at % size), -placeOf(Math.floor(at / size))]));
  const low = scores.reduce((a, b) => Math.min(a, b)), span = scores.reduce((a, b) => Math.max(a, b)) - low || 1;
  const picture = create("canvas", { width: size, height: size }), colour = channelsOf(ROLE_COLOURS.scores);
  putPixels(picture, arrayOf(Uint32Array, size * size, (at) => pixelOf(colour, (FIELD_OPACITY * Math.min(BANDS - 1, Math.floor(BANDS * ((scores[at] - low) / span) ** 2))) / (BANDS - 1))));
  return picture;
};

export class ArrowPlane extends Plane {
  constructor(root, scene) { super(root); this.scene = scene; }

  build() {
    super.build();
    this.context = { line: make(this.svg, "svg:path", "arrow sum"), head: make(this.svg, "svg:path", "head sum") };
    this.contextName = make(this.svg, "svg:text", "name", "context");
    this.queryName = make(this.svg, "svg:text", "name", this.data.projectedName ?? "query");
    const query = this.data.isProjected && this.makeProjected("query");
    this.projected = query ? [...this.data.scene.keys.map(() => this.makeProjected("key")), query] : [];
    [this.ghosts, this.rings] = ["ghost", "ring"].map((name) => make(this.svg, "svg:path", name));
    this.ringName = make(this.svg, "svg:text", "name");
    this.labels[0]?.before(this.ghosts, this.rings);  // above an arrow that has grown over them
    this.svg.parentNode.hidden = this.arrows.length === 0 || Boolean(this.data.bare);
  }

  // An arrow for what a projection makes of another one, below all names; the query's is the rim of a key that lies on it.
  makeProjected(kind) {
    const nodes = { line: make(this.svg, "svg:path", `arrow projected ${kind}`), head: make(this.svg, "svg:path", `head projected ${kind}`) };
    this.labels[0].before(nodes.line, nodes.head);
    return nodes;
  }

  buildBehind() {
    this.field = make(this.svg, "svg:image", { class: "field", width: SIDE, height: SIDE, preserveAspectRatio: "none" });
    this.fieldName = null;
    this.edges = make(this.svg, "svg:path", "edge");
    this.ways = make(this.svg, "svg:path", "way");
    this.parts = make(this.svg, "svg:path", "share");
    this.turns = make(this.svg, "svg:path", "way");
    this.arcs = [];
  }

  // Between the query and each key an arc with its degrees, the widest angle's nearest to 0.
  showAngles(query, keys, opacity) {
    const turnOf = ([x, y]) => Math.atan2(y, x), start = query && turnOf(query), half = 2 * Math.PI;
    const angles = (opacity > 0 && query ? keys : []).map((key) => ((turnOf(key) - start + 1.5 * half) % half) - half / 2).filter((angle) => Math.abs(angle) > SMALLEST_ANGLE).sort((a, b) => Math.abs(b) - Math.abs(a));
    while (this.arcs.length < angles.length) this.arcs.push([make(this.svg, "svg:path", "angle"), make(this.svg, "svg:text", "name degrees")]);
    this.arcs.forEach(([arc, name], at) => {
      const angle = angles[at], radius = ARC + ARC_STEP * at, pointAt = (turn, r = radius) => [CENTRE + r * Math.cos(turn), CENTRE - r * Math.sin(turn)];
      for (const node of [arc, name]) Object.assign(node.style, { display: angle === undefined ? "none" : "", opacity });
      if (angle === undefined) return;
      const [x, y] = pointAt(start + angle * (at ? 0.5 : 0.66), radius + ARC_NAME);
      set(arc, { d: `M${pointAt(start)}A${radius} ${radius} 0 0 ${angle > 0 ? 0 : 1} ${pointAt(start + angle)}` });
      set(name, { x, y });
      name.textContent = `${Math.round((Math.abs(angle) * 360) / half)}°`;
    });
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
    const ring = (tip) => `M${this.screen([tip[0], tip[1]])}m-${RING},0a${RING},${RING} 0 1,0 ${2 * RING},0a${RING},${RING} 0 1,0 -${2 * RING},0`;
    set(this.ghosts, { d: moved.map((arrow) => line([0, 0], from[arrow])).join("") });
    set(this.rings, { d: moved.map((arrow) => ring(from[arrow])).join("") });
    set(this.ways, { d: moved.map((arrow) => line(from[arrow], this.arrows[arrow])).join("") });
    this.scene.followArrows();
    const [first] = moved.map((arrow) => from[arrow]), name = first ? "before" : "", [x, y] = first ? this.findLabelPoint(name, this.screen(first), Math.atan2(-first[1], first[0])) : [0, 0];
    set(this.ringName, { x, y });
    this.ringName.textContent = name;
  }

  // A key's arrow is as thick as its weight, which stands beside its name, once there are weights.
  showWeights(weights, percents) {
    this.arrows.forEach((_, arrow) => {
      const { scene, data: { names }, labels, projected, shafts } = this, key = scene.keyOf(arrow), isNow = arrow === scene.arrowOfRow(), before = labels[arrow].textContent;
      labels[arrow].textContent = key === undefined || !percents[key] ? names[arrow] : `${names[arrow]} ${percents[key]}`;
      if (labels[arrow].textContent.length !== before.length) this.requestDraw();  // a longer name stands further in
      const nodes = key === undefined ? [] : [projected[key] ?? shafts[arrow], isNow && projected.at(-1)].filter(Boolean);
      for (const node of nodes.flatMap(Object.values)) node.style.setProperty("--bold", `${BOLDEST * (weights[key] ?? 0)}px`);
    });
  }

  // A name beyond the tip of an arrow, unless another one is there.
  nameAt(node, tip, opacity) {
    const name = node.textContent, [x, y] = this.findLabelPoint(name, this.screen(tip), Math.atan2(-tip[1], tip[0]));
    set(node, { x, y });
    node.style.opacity = this.isApart(name, [x, y]) ? opacity : 0;
    this.labelPoints.push([x, y, this.halfOf(name)]);
  }

  // Keys, then the query, as they are multiplied: on their way from the inputs, or from where they were.
  showProjected(goal, progress) {
    const { scene } = this;
    if (!this.field) return;
    this.svg.classList.toggle("projects", Boolean(goal) && progress.ask > 0);
    for (const node of this.projected.flatMap(Object.values)) node.style.display = goal && progress.ask > 0 ? "" : "none";
    this.queryName.style.opacity = 0;
    set(this.turns, { d: "" });
    if (!goal || !progress.ask) return;
    const aims = [...goal.keys, goal.query].map(([from, to]) => from.map((value, axis) => mix(value, to[axis], progress.ask)));
    const isAtOnce = this.shown?.length !== aims.length || scene.playing || scene.isDragged || wantsLessMotion();
    this.shown = isAtOnce ? aims : this.shown.map((vector, at) => vector.map((value, axis) => mix(value, aims[at][axis], SETTLES)));
    if (this.shown.some((vector, at) => Math.hypot(vector[0] - aims[at][0], vector[1] - aims[at][1]) > SETTLED)) requestAnimationFrame(() => scene.draw());
    else this.shown = aims;
    this.projected.forEach((nodes, at) => this.shape(nodes, this.shown[at]));
    const query = this.shown.at(-1), isRim = this.shown.slice(0, -1).some((key) => Math.hypot(key[0] - query[0], key[1] - query[1]) < SETTLED);
    for (const node of Object.values(this.projected.at(-1))) node.classList.toggle("rim", isRim);
    const inputs = [...goal.keys, goal.query].map(([from]) => from), isTurned = inputs.map((from, at) => Math.hypot(from[0] - this.shown[at][0], from[1] - this.shown[at][1]) > SETTLED);
    set(this.turns, { d: inputs.map((from, at) => (isTurned[at] ? `M${this.screen(from)}L${this.screen(this.shown[at])}` : "")).join("") });
    if (isTurned.at(-1)) this.nameAt(this.queryName, this.shown.at(-1), 1);
  }

  // The plane is the darker the higher a key would score there; nothing is shown of a score that Python computes.
  showField(score, name, opacity) {
    this.field.style.opacity = score ? opacity : 0;
    if (!score || name === this.fieldName) return;
    this.fieldName = name;
    set(this.field, { href: pictureOfField(score, HALF_WIDTH * this.extent).toDataURL() });
  }

  // Values, each as long as its weight makes it, laid tip to tail: they end where the context does.
  showContext(values, weights, progress) {
    if (!this.context) return;
    const isShown = values?.[0]?.length === 2 && progress.box > 0;
    for (const node of [this.parts, this.contextName, ...Object.values(this.context)]) node.style.display = isShown ? "" : "none";
    if (!isShown) return;
    let at = [0, 0], path = `M${this.screen(at)}`;
    [...weights.keys()].sort((a, b) => weights[b] - weights[a]).forEach((key, rank) => {
      const share = weights[key] * progress.take(rank);
      at = at.map((value, axis) => value + share * values[key][axis]);
      path += `L${this.screen(at)}`;
    });
    set(this.parts, { d: path });
    const context = mixtureOf(values, weights).map((value) => value * progress.blend);
    this.shape(this.context, context);
    this.nameAt(this.contextName, context, progress.blend);
    for (const node of Object.values(this.context)) node.style.opacity = Math.min(1, 5 * progress.blend);
  }
}

class RowsLayout extends SceneLayout {
  constructor(sizes) {
    super(sizes);
    this.room = 0;
  }

  // Of a cell's height the bar of its weight.
  get footSize() { return clamp(0.16 * this.rows.h, 5, 24); }

  // Whether keys have columns above the cells of all rows.
  get hasColumns() { return true; }

  get hasLegend() { return false; }

  // What a row's label means, below it.
  get noteSize() { return Math.max(this.smallest, Math.round(15 * this.scale)); }

  get rowSize() { return Math.max(this.smallest, this.isNarrow ? 15 : Math.round(17 * this.scale)); }

  leftOf(scale, labels) {
    this.scale = scale;
    return Math.max(50 * scale, this.longest(labels));
  }

  // Of a column of labels, and of what they mean: beside them, on a phone below them.
  longest(labels, glosses = this.glosses ?? []) {
    const lengthOf = (texts, size) => Math.max(0, ...texts.map((text) => this.measure(text) * size)), long = [lengthOf(labels, 1.06 * this.rowSize), lengthOf(glosses, this.noteSize)];
    this.labelWidth = long[0] + 12;
    return (this.isNarrow ? Math.max(...long) : long[0] + long[1] + (long[1] && 10)) + 18;
  }

  wordsBelow(labels) {
    const { glosses = [], noteSize, rowSize: size } = this, line = Math.round((labels.length > MANY_ROWS ? 1.35 : 1.6) * size), below = glosses.length && this.isNarrow ? Math.round(1.3 * noteSize) : 0;
    const h = line + below, top = this.below + (this.isNarrow ? line : 0), w = this.isNarrow ? this.longest(labels) : this.left;
    this.rows = { left: w, top, h };
    this.glossSize = noteSize;
    const wide = glosses.length && !this.isNarrow ? this.labelWidth : w - 6, places = labels.map((_, row) => ({ x: 0, y: top + row * (h + 4), w: wide, h: line }));
    const belows = places.map((place) => (below ? { ...place, y: place.y + line - 3, h: below } : { ...place, x: wide, w: w - 6 - wide }));
    return { size, places, belows, bottom: top + labels.length * (h + 4) };
  }

  rowCell(row, key) {
    const { left, top, h } = this.rows, room = (this.width - left) / this.n, [x, w] = this.isNarrow ? [left + key * room, room] : [this.cells[key].x - this.cells[key].w / 2, this.cells[key].w];
    return { x: x + 3, y: top + row * (h + 4), w: w - 6, h };
  }

  boxMiddle(query) { return this.isNarrow ? super.boxMiddle(query) : { x: (this.left + this.width) / 2, y: this.boxTop + this.box.h / 2 }; }
}

// Where vectors are arrows in the plane: a table as tall as that, a row for each query, below the names of the keys.
class TableLayout extends RowsLayout {
  constructor(sizes) {
    super(sizes);
    Object.assign(this, { tall: sizes.tall, share: sizes.share });
    this.queries = this.wordsBelow(this.labels);
    this.height = this.queries.bottom;
  }

  get hasColumns() { return false; }
  get noteSize() { return this.isNarrow ? this.smallest : super.noteSize; }
  get rowSize() { return this.isNarrow ? Math.max(this.smallest, 15) : Math.max(this.smallest + 2, (this.glosses || this.labels.length > MANY_ROWS ? 18 : 26) * this.scale); }
  get hasRoom() { return !this.isNarrow && this.rows.h >= ROOMY_ROW; }
  get cellSize() { return clamp(0.3 * this.rows.h, this.smallest + 1, Math.min(this.isNarrow ? 19 : 48 * this.scale, (this.share * this.rowCell(0, 0).w) / BEFORE)); }

  longest(labels, glosses = this.glosses ?? []) {
    const lengthOf = (texts, size) => Math.max(0, ...texts.map((text) => this.measure(text) * size));
    return Math.max(lengthOf(labels, 1.06 * this.rowSize), lengthOf(glosses, this.noteSize)) + 26;
  }

  wordsBelow(labels) {
    const { glosses = [], noteSize, rowSize: size, isNarrow, tall = 0 } = this, n = labels.length, head = Math.round(1.5 * this.size), line = Math.round(1.25 * size), note = glosses.length && Math.round(1.2 * noteSize);
    const h = Math.max(isNarrow && n <= MANY_ROWS ? PHONE_ROW : LEAST_ROW, (isNarrow ? 0 : (tall - head) / n) - ROW_GAP), w = isNarrow ? this.longest(labels) : this.left;
    this.rows = { left: w, top: head, h };
    this.words = this.words.map((_, key) => ({ ...this.rowCell(0, key), y: 0, h: head - 4 }));
    this.labelBoxes = labels.map((_, row) => ({ x: 1, y: this.rowCell(row, 0).y, w: w - 8, h }));
    this.glossSize = noteSize;
    const places = this.labelBoxes.map((box) => ({ ...box, y: box.y + (h - line - note) / 2, h: line }));
    return { size, places, belows: places.map((place) => ({ ...place, y: place.y + line, h: note })), bottom: head + n * (h + ROW_GAP) };
  }

  rowCell(row, key) {
    const { left, top, h } = this.rows, w = (this.width - left) / this.n;
    return { x: left + key * w + 3, y: top + row * (h + ROW_GAP), w: w - 6, h };
  }
}

class RowsDrawing extends SceneDrawing {
  // Each score has its number, and a line of 0.
  drawScale() {
    const { formula, layout: { scale, left, base, long }, state: { progress } } = this, alpha = progress.open * progress.allScores;
    this.write("fits better ↑", 0, 10 * scale, { size: 15 * scale, alpha: 0.8 * alpha * (1 - progress.grow) });
    if (!formula) return;
    const size = 34 * scale, room = left - 24;
    this.write(formula, 0, base - long / 2, { size: size * Math.min(1, room / this.lengthOf(formula, size)), weight: "600", alpha });
  }

  get totalY() { return this.layout.base - 8 * this.layout.scale; }

  // Scores stand on the line of 0, those below it hang.
  get foot() { return this.heightOf(0); }

  heightOf(score) {
    const high = roundUp(this.state.high), low = -roundUp(-this.state.low);
    return mix(low < 0 ? ROOM_BELOW : LOWEST, HIGHEST, high > low ? (score - low) / (high - low) : 0);
  }

  drawArrow({ x, y }, [right, up], radius, alpha, colour, wide = 1) {
    const { pen } = this, long = radius * Math.hypot(right, up), thick = Math.min(wide * clamp(radius / 12, 2, 5), Math.max(0.3 * long, 2)), head = Math.min(3 * thick, 0.7 * long);
    if (alpha <= 0) return;
    pen.save();
    Object.assign(pen, { globalAlpha: alpha, strokeStyle: colour, fillStyle: colour, lineWidth: thick, lineCap: "round" });
    pen.translate(x, y);
    pen.rotate(Math.atan2(-up, right));
    pen.beginPath();
    pen.moveTo(0, 0);
    pen.lineTo(Math.max(0, long - head), 0);
    pen.stroke();
    pen.beginPath();
    if (long < 1) pen.arc(0, 0, thick, 0, 7);
    else for (const [along, beside] of [[long, 0], [long - head, head / 2], [long - head, -head / 2]]) pen.lineTo(along, beside);
    pen.fill();
    pen.restore();
  }

  // The names of rows are what one presses; the present one is filled.
  drawLabelBoxes({ row: present }) {
    const { pen, tones, layout } = this;
    layout.labelBoxes.forEach(({ x, y, w, h }, row) => {
      Object.assign(pen, { fillStyle: tones.query, strokeStyle: tones.query, lineWidth: 1.5 }).beginPath();
      pen.roundRect(x, y, w, h, 8);
      if (row === present) pen.fill();
      else pen.stroke();
    });
  }

  draw(state) {
    const { layout, pen, tones } = this, { progress } = state;
    if (!layout.hasColumns) {
      this.state = state;
      this.drawLabelBoxes(state);
      this.drawRow?.(this);
      return;
    }
    super.draw(state);
    const alpha = progress.open * progress.score(0) * (1 - progress.grow);
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
    this.plane = new this.Plane(root, this);
  }

  adopt(data, tellMoved, tellChosen) {
    const { plane, given } = this, isMoved = given && data.revision !== plane.revision, before = plane.arrows, base = this.data?.weights;
    this.given = data;
    if (isMoved) Object.assign(this, { isAboutToPlay: false }).finish();
    plane.adopt(data, tellMoved);
    if (isMoved || data.scene.isEdited || given?.scene.isEdited) Object.assign(this, { from: null, base: null });
    if (isMoved && given.subject === data.subject && String(given.names) === String(data.names)) this.glide(before, base);
    super.adopt(this.live(data.scene), tellChosen);
  }

  // What comes of a guess is shown at once, at rest, with what was before where one arrow alone has moved.
  cover(isCovered) {
    this.plane.svg.parentNode.inert = Boolean(isCovered);
    if (!super.cover(isCovered)) return false;
    const goal = this.plane.goal ?? this.plane.arrows, nMoved = goal.filter((arrow, at) => String(arrow) !== String(this.from?.[at])).length;
    Object.assign(this, { isTour: false, isDragged: true }, nMoved > 1 && { from: null, base: null });
    return false;
  }

  get Plane() { return ArrowPlane; }

  // A guess is about other arrows.
  get standsCovered() { return true; }

  percentsOf(weights) { return percentsOfRow(weights); }

  // The numbers of the scene as the arrows are now.
  live(scene) {
    const now = this.computed(this.plane.arrows);
    this.now = now;
    if (!now) return scene;
    const scores = now.scores.map((row, at) => row ?? scene.scores[at]);
    const weights = now.scores.map((row, at) => (row && scene.isSoft ? softmax(row.map((score) => score ?? -Infinity)) : scene.weights[at]));
    const numbers = { ...scene.numbers, ...scaledTogether(now) };
    return { ...scene, scores, weights, numbers };
  }

  stripNote() { return isFlat(this.now) ? "" : super.stripNote(); }

  // Below it, what marks in the plane mean, as a page says it.
  writeLegend(text) {
    if (this.note.legend === text && this.note.textContent) return;
    this.note.legend = text;
    writeMarked(this.note, text);
  }

  // The weight that a cell had, where it is to be told.
  textBefore(row, key) {
    if (!this.layout.hasRoom || !this.isDragged || !this.isChangedCell(row, key) || !this.isOver()) return "";
    const [was, is] = [this.base[row], this.data.weights[row]].map((weights) => this.percentsOf(weights)[key]);
    return was === is ? "" : `${was} →`;
  }

  // There is no other picture before it.
  progressAt(time) { return { ...super.progressAt(time), open: 1 }; }

  hasStep(name) { return name === "asks" || name === "scores" || (this.data.isSoft && super.hasStep(name)); }

  // What Python has moved goes there.
  glide(from, base, duration = GLIDE) {
    const { plane } = this, goal = plane.arrows, began = performance.now();
    Object.assign(this, { from, base, isDragged: false });
    if (String(goal) === String(from) || wantsLessMotion()) return;
    const step = (now) => {
      if (plane.goal !== goal) return;
      const share = clamp((now - began) / duration, 0, 1) ** 2;
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
  keyOf(arrow) { return this.positionsOf(arrow).find(([axis]) => axis === "keys")?.[1]; }
  describe() { return ""; }

  // The query and the keys that are multiplied, each with the input that it is made from; null where they are no arrows.
  projected() { return null; }

  // A score as a function of where a key lies, and a name for it, of which there is one field.
  field() { return [null, ""]; }

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

  newLayout(sizes) {
    const Layout = isFlat(this.now) ? TableLayout : RowsLayout;
    return new Layout({ ...sizes, least: HALL * sizes.least, glosses: this.data.glosses, tall: boxOf(this.plane.svg).height, share: this.numbersShare });
  }

  // The share of a cell's width that its numbers have.
  get numbersShare() { return 1; }

  // Pixels below it for what a page writes there.
  get noteRoom() { return 0; }

  // What a page draws into the cells.
  drawRow() {}

  get laterPace() { return 5; }

  layOut() {
    super.layOut();
    const { layout } = this;
    this.cells.forEach((cells, row) => cells.forEach((node, key) => {
      const cell = layout.rowCell(row, key), high = cell.h - layout.footSize - this.noteRoom;  // above the bar of its weight
      placeWord(node, cell, layout.cellSize ?? layout.queries.size);
      node.style.lineHeight = `${high}px`;
      for (const [name, pixels] of [["--foot", layout.footSize], ["--middle", high / 2]]) node.style.setProperty(name, `${pixels}px`);
    }));
  }

  get tour() { return this.data.tour ?? this.data.queries.map((_, row) => row); }

  playOnArrival() {
    Object.assign(this, { isTour: true, isUntold: true, row: this.tour[0], pace: 1 });
    this.weights = this.targetWeights();
    super.playOnArrival();
  }

  play() {
    if (this.time >= this.timeline.end - 0.01) Object.assign(this, { isTour: true, row: this.tour[0], pace: 1, weights: this.data.weights[this.tour[0]] });
    super.play();
  }

  // What comes of it, and of a guess, is told once its first row has shown it.
  turn() {
    super.turn();
    if (this.timeline && this.isOver() && !this.isAboutToPlay) this.isUntold = false;
    document.documentElement.toggleAttribute("data-untold", Boolean(this.isCovered || this.isUntold));
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
    Object.assign(this, { row: next, pace: this.laterPace });
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
    if (row === this.row) return this.data.isSoft ? progress.divide : progress.allScores;
    const isToCome = this.isUntold || (this.isTour && (this.playing || this.time === 0));
    return isToCome && !this.tour.slice(0, this.tour.indexOf(this.row)).includes(row) ? 0 : 1;
  }

  draw() {
    if (!this.layout || !this.root.isConnected) return;
    Object.assign(this.drawing, { names: this.data.keys, formula: this.headingOfBars, drawRow: this.drawRow.bind(this) });
    super.draw();
    this.cells.forEach((cells, row) => cells.forEach((node, key) => this.writeCell(node, row, key)));
    this.glosses.forEach((node, row) => node.classList.toggle("now", row === this.row));
    const { plane, state: { progress } } = this;
    plane.labelPoints.length = plane.arrows.length;
    const isWeighed = this.data.isSoft && this.shownOf(this.row) > 0.5;
    plane.showWeights(isWeighed ? this.weights : [], isWeighed ? this.percentsOf(this.weights) : []);
    plane.showProjected(this.projected(), progress);
    plane.showContext(this.data.isSoft && (this.now?.values ?? this.given.values), this.weights, progress);
    const [score, name] = this.field();
    plane.showField(score, name, (this.tones.isDark ? 0.6 : 1) * progress.allScores);
    if (isFlat(this.now)) this.writeLegend(this.legend());
  }

  // Whether a cell has its score, for want of weights as yet.
  isUnweighed(row) { return !this.layout.hasColumns && row === this.row && this.data.isSoft && this.state.progress.divide <= 0.5; }

  writeCell(node, row, key) {
    const { data } = this, isUnweighed = this.isUnweighed(row), isNow = row === this.row, weight = (isNow ? this.weights : data.weights[row])[key], score = data.scores[row][key];
    const isMasked = score === null && !data.cut[row]?.includes(key), text = isMasked ? "may not" : data.isSoft && !isUnweighed ? this.percentsOf(isNow ? this.weights : data.weights[row])[key] : twoDecimals(score);
    const isLit = data.axes && [[data.axes[0], data.firsts[row]], [data.axes[1], key]].some((position) => this.lit.includes(String(position)));
    set(node, { "data-before": this.textBefore(row, key) });
    const form = [text, weight, isNow, isLit, this.isBest(row, key), this.shownOf(row), this.layout.hasRoom].join();
    node.style.opacity = isUnweighed ? this.state.progress.score(key) * (1 - clamp(2 * this.state.progress.divide, 0, 1)) : this.shownOf(row);
    if (node.form === form) return;
    node.form = form;
    node.textContent = text;
    node.className = ["cell", isNow && "now", this.isBest(row, key) && "best", isLit && "lit", isMasked && "masked"].filter(Boolean).join(" ");
    node.style.setProperty("--share", data.isSoft && !isUnweighed ? `${(100 * weight).toFixed(1)}%` : "0%");
  }

  // In a table a weight is changed by its key's name alone.
  writeGrip(node, ...about) {
    super.writeGrip(node, ...about);
    if (!this.layout.hasColumns) node.hidden = true;
  }

  // Whether a cell is to stand out in its row.
  isBest() { return false; }
  get isTranslation() { return false; }
  get headingOfBars() { return this.data.glosses && this.data.formulas[this.row]; }

  isChangedCell(row, key) { return Boolean(this.base?.[row]) && this.data.isSoft && this.moved().length > 0 && Math.abs(this.data.weights[row][key] - this.base[row][key]) > SMALLEST_CHANGE; }

  get nChanged() { return this.cells.flatMap((cells, row) => cells.filter((_, key) => this.isChangedCell(row, key))).length; }
}
