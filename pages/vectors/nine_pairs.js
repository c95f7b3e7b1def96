// Three vectors and the weights of their nine pairs. Where a dot product makes the scores, a drag changes the weights here
// at once; else they come from Python. What Python has moved glides there.
import { asPercent, clamp, isNew, make, pointedIn, set, shownBy, softmax } from "../../attention_core/attention/view/prelude.js";
import { wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { CENTRE, Plane, SIDE, two } from "../../ui/components/vector_plane.js";

const ARRIVAL = [600, 1500], LATER = [0, 400]; // milliseconds: at rest, under way
const FROM_ONE = 1e-9, LEAST_TOLD = 0.02; // what counts as a change of a weight, and what is told
const tenths = (share) => `${(100 * share).toFixed(1)}%`;
const mixOf = (weights, rows) => [0, 1].map((side) => weights.reduce((sum, weight, at) => sum + weight * rows[at][side], 0));
class NinePairs extends Plane {
  constructor(root) {
    super(root);
    this.beside = make(root, "div", "beside");
    this.table = make(this.beside, "table", { "aria-label": "The weight of every pair: how much a row takes from a column" });
    this.told = make(this.beside, "p", { class: "told", role: "status" });
    this.count = make(this.beside, "p", "count");
    this.lit = [];
    this.pointed = pointedIn(root, (places) => { this.lit = places; this.request(); });
  }

  // An arrow's places among those that ask and those that are asked.
  placesOf(place) {
    const { tables, query, key } = this.data, at = place - tables.indexOf(tables[place]);
    return [["queries", query], ["keys", key]].flatMap(([axis, table]) => (table === tables[place] ? [[axis, at]] : []));
  }

  isLit(places) { return places.some((place) => this.lit.some((one) => String(one) === String(place))); }

  isActive(place) { return this.lit.length ? this.isLit(this.placesOf(place)) : super.isActive(place); }

  makeTip(place) {
    const tip = super.makeTip(place);
    this.pointed.over(tip, () => this.placesOf(place).slice(0, 1));
    return tip;
  }

  // What has changed is told since the last touch; until the first one, since the example's own beginning.
  taken() {
    if (this.goal) this.arrows = this.goal;
    this.goal = null;
    this.from = this.arrows.map((arrow) => [...arrow]);
    this.base = this.weights();
  }

  adopt(data, tell) {
    const isOld = data.revision === this.revision, was = this.arrows;
    if (!isOld) this.from = null;
    super.adopt(data, tell);
    if (!isOld) this.glide(...(was?.length === data.arrows.length ? [was, LATER] : [data.from, ARRIVAL]));
    if (!this.from) this.base = data.before;
    else if (data.map) this.base = this.weights(this.from);
    this.svg.parentNode.hidden = data.arrows.length === 0;
    if (isNew(this.table, data.rows, data.columns)) this.buildTable(data);
  }

  glide(from, [rest, way]) {
    this.goal = null;
    if (!from || String(from) === String(this.arrows) || wantsLessMotion()) return;
    const goal = (this.goal = this.arrows), began = performance.now() + rest;
    const go = (now) => {
      if (this.goal !== goal) return;
      const share = clamp((now - began) / way, 0, 1) ** 2;
      if (share === 1) this.goal = null;
      this.arrows = goal.map((arrow, place) => arrow.map((value, axis) => from[place][axis] + share * (value - from[place][axis])));
      this.request();
      if (share < 1) requestAnimationFrame(go);
    };
    go(began);
  }

  buildBehind() {
    this.edges = make(this.svg, "svg:path", "edge");
    this.ghosts = make(this.svg, "svg:path", "ghost");
    this.ways = make(this.svg, "svg:path", "way");
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
    return tables.includes(name) ? arrows.filter((_, place) => tables[place] === name) : given[name];
  }

  weights(arrows = this.arrows) {
    const { map, allowed, query, key, soft, weights } = this.data;
    if (!map) return weights;
    const asked = this.rowsOf(key, arrows);
    return this.rowsOf(query, arrows).map((row, i) => {
      const turned = map[0].map((_, column) => row.reduce((sum, value, at) => sum + value * map[at][column], 0));
      const scores = asked.map((other, j) =>
        allowed && !allowed[i][j] ? -Infinity : other.reduce((sum, value, at) => sum + value * turned[at], 0));
      return soft ? softmax(scores) : scores.map((score) => (score === -Infinity ? 0 : score));
    });
  }

  follow() {
    const at = (place) => this.arrows[place].map((value, axis) => (axis ? this.y(value) : this.x(value)));
    set(this.edges, { d: this.data.edges.map(([one, other]) => `M${at(one)}L${at(other)}`).join("") });
    this.drawGhosts(at);
    if (!this.cells) return;
    const weights = this.weights(), { soft, allowed, neuron, rows, columns } = this.data, flat = weights.flat();
    const most = soft ? 1 : Math.max(...flat.map(Math.abs), 1e-9), written = soft ? asPercent : two;
    const base = this.base?.length === weights.length && this.base[0].length === weights[0].length ? this.base : null;
    const moved = this.moved().flatMap((place) => this.placesOf(place).map(String)), isMoved = (...place) => moved.includes(String(place));
    let changed = 0, found = null;
    this.cells.forEach((row, i) => row.forEach(({ cell, share, change }, j) => {
      const by = base ? Math.abs(weights[i][j] - base[i][j]) : 0, isMasked = allowed && !allowed[i][j];
      const isClose = by > FROM_ONE && soft && written(weights[i][j]) === written(base[i][j]), say = isClose ? tenths : written;
      const isChanged = by > FROM_ONE && say(weights[i][j]) !== say(base[i][j]);
      changed += isChanged ? 1 : 0;
      share.textContent = isMasked ? "may not" : say(weights[i][j]);
      change.textContent = isChanged ? `was ${say(base[i][j])}` : "";
      cell.classList.toggle("moved", isChanged);
      cell.classList.toggle("masked", Boolean(isMasked));
      cell.classList.toggle("lit", this.isLit([["queries", i], ["keys", j]]));
      cell.style.setProperty("--share", `${((80 * Math.abs(weights[i][j])) / most).toFixed(1)}%`);
      cell.classList.toggle("below", weights[i][j] < 0);
      if (rows[i] !== columns[j] && !isMoved("queries", i) && !isMoved("keys", j) && by > (found?.by ?? LEAST_TOLD)) found = { by, i, j };
    }));
    this.table.classList.toggle("compared", changed > 0);
    const even = this.data.map && soft && !allowed ? this.rowsOf(this.data.query, this.arrows).findIndex((row, i) => isMoved("queries", i) && !row.some(Boolean)) : -1;
    this.cells.forEach((row, i) => row.forEach(({ cell }, j) => cell.classList.toggle("found", even < 0 ? found?.i === i && found.j === j : even === i)));
    const told = this.goal ? "" : even >= 0
      ? `${rows[even]} asks for nothing, and takes ${columns.length === 3 ? "a third" : asPercent(1 / columns.length)} from each.`
      : found && (this.data.alone || (this.from && this.data.map)) && this.moved().length
      ? `Only ${this.moved().map((place) => this.data.names[place]).join(" and ")} moved. Yet ${rows[found.i]} now takes ${written(weights[found.i][found.j])} from ${columns[found.j]}, not ${written(base[found.i][found.j])}.`
      : changed ? "" : "Drag an arrow.";
    if (this.told.textContent !== told) this.told.textContent = told;
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
    return this.arrows.map((_, place) => place).filter((place) => `${from[place]}` !== `${this.arrows[place]}`);
  }

  // Arrows that have moved are shown where they were, too.
  drawGhosts(at) {
    const from = this.from ?? this.data.from ?? this.arrows;
    const was = (place) => [this.x(from[place][0]), this.y(from[place][1])];
    const moved = this.moved();
    set(this.ghosts, { d: moved.map((place) => `M${CENTRE} ${CENTRE}L${was(place)}`).join("") });
    this.before.forEach((label, place) => {
      label.textContent = moved.includes(place) ? `${this.data.names[place]} before` : "";
      const [x, y] = was(place);
      set(label, { x: clamp(x, 45, SIDE - 45), y: clamp(y + (y > CENTRE ? 16 : -16), 12, this.depth - 12) });
    });
    set(this.ways, { d: moved.map((place) => `M${was(place)}L${at(place)}`).join("") });
  }

  describe(place) {
    const weights = this.weights()[place];
    return weights && this.data.tables[place] === this.data.query
      ? weights.map((weight, j) => `${this.data.columns[j]} ${this.data.soft ? asPercent(weight) : two(weight)}`).join(", ")
      : "is asked";
  }
}

export default shownBy(NinePairs, "moved");
