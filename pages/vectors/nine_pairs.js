// Three vectors and the weights of their nine pairs. Where a dot product makes the scores, a drag changes the weights here
// at once; else they come from Python. What Python has moved glides there.
import { asPercent, clamp, isNew, make, pointedIn, set, shownBy, softmax } from "../../attention_core/attention/view/prelude.js";
import { wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { CENTRE, Plane, SIDE, twoDecimals } from "../../ui/components/vector_plane.js";

const ARRIVAL = [600, 1500], LATER = [0, 400]; // milliseconds: of rest, of movement
const SMALLEST_CHANGE = 1e-9, SMALLEST_NOTED = 0.02; // of a weight: what counts as a change, and what the sentence is about
const tenths = (share) => (share < 0.0995 || share >= 0.995 ? asPercent(share) : `${(100 * share).toFixed(1)}%`);
const mixOf = (weights, rows) => [0, 1].map((side) => weights.reduce((sum, weight, at) => sum + weight * rows[at][side], 0));
class NinePairs extends Plane {
  constructor(root) {
    super(root);
    this.beside = make(root, "div", "beside");
    this.table = make(this.beside, "table", { "aria-label": "The weight of every pair: how much a row takes from a column" });
    this.sentence = make(this.beside, "p", { class: "told", role: "status" });
    this.count = make(this.beside, "p", "count");
    this.lit = [];
    this.pointed = pointedIn(root, (positions) => { this.lit = positions; this.requestDraw(); });
  }

  // An arrow's positions on the axes: among the queries, among the keys, or both.
  positionsOf(arrow) {
    const { tables, query, key } = this.data, row = arrow - tables.indexOf(tables[arrow]);
    return [["queries", query], ["keys", key]].flatMap(([axis, table]) => (table === tables[arrow] ? [[axis, row]] : []));
  }

  isLit(positions) { return positions.some((position) => this.lit.some((lit) => String(lit) === String(position))); }

  isActive(arrow) { return this.lit.length ? this.isLit(this.positionsOf(arrow)) : super.isActive(arrow); }

  makeTip(arrow) {
    const tip = super.makeTip(arrow);
    this.pointed.over(tip, () => this.positionsOf(arrow).slice(0, 1));
    return tip;
  }

  // Weights are compared with those at the last touch; until the first one, with those of the example.
  onActive() {
    if (this.goal) this.arrows = this.goal;
    this.goal = null;
    this.from = this.arrows.map((arrow) => [...arrow]);
    this.base = this.weights();
  }

  adopt(data, tellPython) {
    const isOld = data.revision === this.revision, previous = this.arrows;
    if (!isOld) this.from = null;
    super.adopt(data, tellPython);
    if (!isOld) this.glide(...(previous?.length === data.arrows.length ? [previous, LATER] : [data.from, ARRIVAL]));
    if (!this.from) this.base = data.before;
    else if (data.map) this.base = this.weights(this.from);
    this.svg.parentNode.hidden = data.arrows.length === 0;
    if (isNew(this.table, data.rows, data.columns)) this.buildTable(data);
  }

  glide(from, [rest, duration]) {
    this.goal = null;
    if (!from || String(from) === String(this.arrows) || wantsLessMotion()) return;
    const goal = (this.goal = this.arrows), began = performance.now() + rest;
    const step = (now) => {
      if (this.goal !== goal) return;
      const share = clamp((now - began) / duration, 0, 1) ** 2;
      if (share === 1) this.goal = null;
      this.arrows = goal.map((arrow, index) => arrow.map((value, axis) => from[index][axis] + share * (value - from[index][axis])));
      this.requestDraw();
      if (share < 1) requestAnimationFrame(step);
    };
    step(began);
  }

  buildBehind() {
    this.edges = make(this.svg, "svg:path", "edge");
    this.ghosts = make(this.svg, "svg:path", "ghost");
    this.paths = make(this.svg, "svg:path", "way");
    this.before = this.arrows.map(() => make(this.svg, "svg:text", "name before"));
    this.outs = make(this.svg, "svg:path", "out");
    this.numbers = this.data.rows.map((_, row) => make(this.svg, "svg:text", "number", String(row + 1)));
  }

  buildTable({ rows, columns }) {
    this.table.replaceChildren();
    this.table.style.setProperty("--rows", rows.length);
    const head = make(this.table, "tr");
    make(head, "td");
    for (const name of columns) make(head, "th", { scope: "col" }, `from ${name}`);
    this.cells = rows.map((name, i) => {
      const row = make(this.table, "tr");
      make(row, "th", { scope: "row" }, `${name} takes`);
      return columns.map((_, j) => {
        const cell = make(row, "td", "cell");
        this.pointed.over(cell, () => [["queries", i], ["keys", j]]);
        return { cell, share: make(cell, "b"), change: make(cell, "span") };
      });
    });
  }

  // The rows of a table: as they are dragged, or as Python gave them where they are no arrows.
  rowsOf(name, arrows) {
    const { tables, given } = this.data;
    return tables.includes(name) ? arrows.filter((_, index) => tables[index] === name) : given[name];
  }

  weights(arrows = this.arrows) {
    const { map, allowed, query, key, soft, weights } = this.data;
    if (!map) return weights;
    const keys = this.rowsOf(key, arrows);
    return this.rowsOf(query, arrows).map((row, i) => {
      const turned = map[0].map((_, column) => row.reduce((sum, value, at) => sum + value * map[at][column], 0));
      const scores = keys.map((key, j) =>
        allowed && !allowed[i][j] ? -Infinity : key.reduce((sum, value, at) => sum + value * turned[at], 0));
      return soft ? softmax(scores) : scores.map((score) => (score === -Infinity ? 0 : score));
    });
  }

  follow() {
    const at = (arrow) => this.arrows[arrow].map((value, axis) => (axis ? this.y(value) : this.x(value)));
    set(this.edges, { d: this.data.edges.map(([start, end]) => `M${at(start)}L${at(end)}`).join("") });
    this.drawGhosts(at);
    if (!this.cells) return;
    const weights = this.weights(), { soft, allowed, neuron, rows, columns } = this.data, flat = weights.flat();
    const largest = soft ? 1 : Math.max(...flat.map(Math.abs), 1e-9), written = soft ? asPercent : twoDecimals;
    const base = this.base?.length === weights.length && this.base[0].length === weights[0].length ? this.base : null;
    const moved = this.moved().flatMap((arrow) => this.positionsOf(arrow).map(String)), isMoved = (...position) => moved.includes(String(position));
    let changed = 0, largestChange = null;
    this.cells.forEach((row, i) => row.forEach(({ cell, share, change }, j) => {
      const by = base ? Math.abs(weights[i][j] - base[i][j]) : 0, isMasked = allowed && !allowed[i][j];
      const isClose = by > SMALLEST_CHANGE && soft && written(weights[i][j]) === written(base[i][j]), write = isClose ? tenths : written;
      const isChanged = by > SMALLEST_CHANGE && write(weights[i][j]) !== write(base[i][j]);
      changed += isChanged ? 1 : 0;
      share.textContent = isMasked ? "may not" : write(weights[i][j]);
      change.textContent = isChanged ? `was ${write(base[i][j])}` : "";
      cell.classList.toggle("moved", isChanged);
      cell.classList.toggle("masked", Boolean(isMasked));
      cell.classList.toggle("lit", this.isLit([["queries", i], ["keys", j]]));
      cell.style.setProperty("--share", `${((80 * Math.abs(weights[i][j])) / largest).toFixed(1)}%`);
      cell.classList.toggle("below", weights[i][j] < 0);
      if (rows[i] !== columns[j] && !isMoved("queries", i) && !isMoved("keys", j) && by > (largestChange?.by ?? SMALLEST_NOTED)) largestChange = { by, i, j };
    }));
    this.table.classList.toggle("compared", changed > 0);
    const even = this.data.map && soft && !allowed ? this.rowsOf(this.data.query, this.arrows).findIndex((row, i) => isMoved("queries", i) && !row.some(Boolean)) : -1;
    this.cells.forEach((row, i) => row.forEach(({ cell }, j) => cell.classList.toggle("found", even < 0 ? largestChange?.i === i && largestChange.j === j : even === i)));
    const sentence = this.goal ? "" : even >= 0
      ? `${rows[even]} asks for nothing, and takes ${columns.length === 3 ? "a third" : asPercent(1 / columns.length)} from each.`
      : largestChange && (this.data.alone || (this.from && this.data.map)) && this.moved().length
      ? `Only ${this.moved().map((arrow) => this.data.names[arrow]).join(" and ")} moved. Yet ${rows[largestChange.i]} now takes ${written(weights[largestChange.i][largestChange.j])} from ${columns[largestChange.j]}, not ${written(base[largestChange.i][largestChange.j])}.`
      : changed ? "" : "Drag an arrow.";
    if (this.sentence.textContent !== sentence) this.sentence.textContent = sentence;
    this.count.textContent = changed ? `${changed} of ${flat.length} ${soft ? "weights" : "scores"} changed.${neuron ? " In an ordinary neuron the weights stay." : ""}` : "";
    this.drawOutputs(weights);
  }

  // Each row's output: the average of the values, by its weights.
  drawOutputs(weights) {
    const { key, values, soft } = this.data;
    const handed = soft && values && (key === "K" ? values : this.rowsOf(key, this.arrows).map((row) => mixOf(row, values)));
    const at = (row) => mixOf(row, handed).map((value, axis) => (axis ? this.y(value) : this.x(value)));
    set(this.outs, { d: (handed ? weights : []).map((row) => `M${at(row)}m-10 0l10 -10l10 10l-10 10Z`).join("") });
    this.numbers.forEach((number, row) => {
      const isDrawn = handed && weights[row];
      number.style.display = isDrawn ? "" : "none";
      if (isDrawn) set(number, { x: at(weights[row])[0], y: at(weights[row])[1] });
    });
  }

  moved() {
    const from = this.from ?? this.data.from ?? this.arrows;
    return [...this.arrows.keys()].filter((arrow) => `${from[arrow]}` !== `${this.arrows[arrow]}`);
  }

  // Arrows that have moved leave a ghost where they were.
  drawGhosts(at) {
    const from = this.from ?? this.data.from ?? this.arrows;
    const start = (arrow) => [this.x(from[arrow][0]), this.y(from[arrow][1])];
    const moved = this.moved();
    set(this.ghosts, { d: moved.map((arrow) => `M${CENTRE} ${CENTRE}L${start(arrow)}`).join("") });
    this.before.forEach((label, arrow) => {
      label.textContent = moved.includes(arrow) ? `${this.data.names[arrow]} before` : "";
      const [x, y] = start(arrow);
      set(label, { x: clamp(x, 45, SIDE - 45), y: clamp(y + (y > CENTRE ? 16 : -16), 12, this.depth - 12) });
    });
    set(this.paths, { d: moved.map((arrow) => `M${start(arrow)}L${at(arrow)}`).join("") });
  }

  describe(arrow) {
    const weights = this.weights()[arrow];
    return weights && this.data.tables[arrow] === this.data.query
      ? weights.map((weight, j) => `${this.data.columns[j]} ${this.data.soft ? asPercent(weight) : twoDecimals(weight)}`).join(", ")
      : "is asked";
  }
}

export default shownBy(NinePairs, "moved");
