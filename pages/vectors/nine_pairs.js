// Three vectors and the weights of their nine pairs: what arrows make of them where a dot product makes the scores.
import { asPercent, clamp, make, set, shownBy } from "../../attention_core/attention/view/prelude.js";
import { ROLE_COLOURS } from "../../attention_core/attention/view/colours.js";
import { PlaneScene } from "../../ui/components/plane_scene.js";
import { twoDecimals } from "../../ui/components/vector_plane.js";

const ROOMY = 3, RIM = 14;  // rows and columns of cells in which pairs have room; pixels around both arrows together
const SMALLEST_CHANGE = 1e-9, SAME_LENGTH = 0.01, UNEQUAL = 1.1;  // of a score; up to which lengths differ by rounding; times as long as another key, from which on that is said
const times = (rows, matrix) => rows.map((row) => matrix[0].map((_, column) => row.reduce((sum, value, at) => sum + value * matrix[at][column], 0)));
const isSame = (a, b) => a.every((value, at) => Math.abs(value - b[at]) < 1e-9);
const TURNS = [["query: x", false], ["query: x, turned", true]];
const dot = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);
const degreesBetween = (a, b) => Math.round((Math.acos(clamp(dot(a, b) / (Math.hypot(...a) * Math.hypot(...b) || 1), -1, 1)) * 180) / Math.PI);

class NinePairs extends PlaneScene {
  get hasAngles() {
    const { data: { queries, keys }, now } = this;
    return Math.max(queries.length, keys.length) <= ROOMY && now?.queries[0].length === 2;
  }

  // Whether a cell has room for its query and key, and for their score.
  get hasPairs() {
    const { data: { isSoft }, layout } = this;
    return isSoft && this.hasAngles && !layout?.isNarrow;
  }

  // In each cell its query and its key from one point, all in one scale: the nearer they point, the more weight.
  drawRow(drawing) { if (this.hasPairs) this.data.queries.forEach((_, row) => this.drawPairs(drawing, row)); }

  drawPairs(drawing, row) {
    const { layout, tones } = drawing, { queries, keys } = this.data.numbers, { open } = this.state.progress;
    const rangeOf = (query, key, axis) => [Math.min(0, query[axis], key[axis]), Math.max(0, query[axis], key[axis])];
    const [wide, high] = [0, 1].map((axis) => Math.max(...queries.flatMap((query) => keys.map((key) => rangeOf(query, key, axis)).map(([low, top]) => top - low))) || 1);
    keys.forEach((key, at) => {
      const { x, y, h: tall } = layout.rowCell(row, at), h = tall - layout.footSize, w = this.pairWidth(row, at), radius = Math.min((w - RIM) / wide, (h - RIM) / high);
      const [right, up] = [0, 1].map((axis) => rangeOf(queries[row], key, axis).reduce((a, b) => a + b) / 2), from = { x: x + w / 2 - radius * right, y: y + h / 2 + radius * up };
      drawing.drawArrow(from, queries[row], radius, open, tones.query, 1.5);
      drawing.drawArrow(from, key, radius, open, ROLE_COLOURS.key, 0.8);
    });
  }

  get numbersShare() { return this.hasPairs ? 0.5 : 1; }

  get noteRoom() { return this.hasPairs ? 1.3 * Math.max(12, this.layout.smallest) : 0; }

  pairWidth(row, key) {
    const { w, h } = this.layout.rowCell(row, key);
    return Math.min(1.6 * h, w / 2);
  }

  legend() {
    const isScored = this.given.factor !== null && this.hasPairs;
    return `Blue: query. Yellow: keys, as thick as their weight. Orange: context, the pink steps added up.${isScored ? ` A score is ${this.product}.` : ""}`;
  }

  // An arrow's positions on the axes: among the queries, among the keys, or both.
  positionsOf(arrow) {
    const { tables, query, key } = this.given, row = arrow - tables.indexOf(tables[arrow]);
    return [["queries", query], ["keys", key]].flatMap(([axis, table]) => (table === tables[arrow] ? [[axis, row]] : []));
  }

  arrowOfRow() {
    const { tables, query } = this.given;
    return tables.includes(query) ? tables.indexOf(query) + this.row : -1;
  }

  // The rows of a table: as they are dragged, or as Python gave them where they are no arrows.
  rowsOf(name, arrows) {
    const { tables, rows } = this.given;
    return tables.includes(name) ? arrows.filter((_, index) => tables[index] === name) : rows[name];
  }

  computed(arrows) {
    const { factor, projections, query, key, values, allowed } = this.given;
    const project = (rows, letter) => (projections ? times(rows, projections[letter]) : rows), inputs = this.rowsOf(key, arrows);
    const queries = project(this.rowsOf(query, arrows), "Q"), keys = project(inputs, "K");
    const scores = queries.map((one, row) => factor !== null && keys.map((other, at) => (allowed && !allowed[row][at] ? null : factor * dot(one, other)))).map((row) => row || null);
    return { queries, keys, values: projections ? times(inputs, projections.V) : values, scores };
  }

  projected() {
    const { query, key, isProjected } = this.given, { arrows } = this.plane;
    if (!isProjected) return null;
    const pairOf = (from, to) => [from.length === to.length ? from : to, to], inputs = this.rowsOf(key, arrows);
    return { query: pairOf(this.rowsOf(query, arrows)[this.row], this.now.queries[this.row]), keys: this.now.keys.map((to, at) => pairOf(inputs[at], to)) };
  }

  // What asks: an input as it is, or turned by a projection; both in one picture.
  buildSwitch() {
    super.buildSwitch();
    if (this.given.isTurned === null || this.data.isEdited) return;
    this.switch.replaceChildren();
    this.switch.hidden = false;
    set(this.switch, { "aria-label": "What asks" });
    this.choices = TURNS.map(([title, isTurned]) => {
      const node = make(this.switch, "button", "", title);
      return Object.assign(node, { isOn: () => this.given.isTurned === isTurned, onclick: () => this.turnQueries(isTurned) });
    });
  }

  turnQueries(isTurned) {
    Object.assign(this, { from: null, base: null });
    this.tell?.({ row: this.row, focus: isTurned ? "attention" : "vector" });
  }

  describe(arrow) {
    const { tables, query } = this.given, { weights, scores, isSoft, keys } = this.data, row = arrow - tables.indexOf(query);
    if (tables[arrow] !== query || !weights[row]) return "is asked";
    return keys.map((key, at) => `${key} ${isSoft ? asPercent(weights[row][at]) : twoDecimals(scores[row][at] ?? 0)}`).join(", ");
  }

  captionOf(step) {
    const { data, row } = this, name = data.queries[row];
    if (step === "asks") {
      const { query, keys } = this.projected() ?? { query: [[], []], keys: [] };
      if ([query, ...keys].every(([from, to]) => isSame(from, to))) return `**${name}** is the query (blue): it **asks every key** (yellow).`;
      return `**W_Q** makes the query (blue) of ${name}, **W_K** the keys (yellow): the query **asks every key**.`;
    }
    if (step === "scores") {
      return `Each key gets a **score**: ${this.scoreInWords(name)}.${data.isSoft ? "" : " Without a softmax scores are the weights."}`;
    }
    return super.captionOf(step);
  }

  get product() {
    const { factor } = this.given, d = this.data.numbers.sizes[1];
    return `query · key${factor === 1 ? "" : Math.abs(factor * Math.sqrt(d) - 1) < 1e-9 ? ` / √${d}` : ` × ${twoDecimals(factor)}`}`;
  }

  scoreInWords(name) {
    if (this.given.factor === null) return `how well it fits ${name}`;
    return `${this.product}, high where both point the same way`;
  }

  // Of a row out of which a visitor has crossed keys, or pulled a weight.
  captionOfOwnRow() {
    const { data, weights, local, row } = this, isCut = local?.weight === 0, name = data.queries[row];
    const cut = data.keys.filter((_, key) => data.cut[row].includes(key) || (isCut && key === local.key)).join(", ");
    if (!cut || local?.weight > 0) return `With the weights as you set them, **${name}**'s context is ${this.sharesOf(weights)}.`;
    return `You crossed out **${cut}**: ${name} ${weights.some((weight) => weight > 0) ? "shares its weight among the rest" : "takes nothing"}.`;
  }

  sharesOf(weights, percents = this.percentsOf(weights)) { return weights.map((weight, key) => (weight ? `${percents[key]} of ${this.data.keys[key]}` : "")).filter(Boolean).join(", ") || "nothing"; }

  get headingOfBars() { return this.data.isSoft && this.state?.progress.divide > 0.5 ? `${this.data.queries[this.row]} takes` : ""; }

  // Of the keys that the query takes most and least from, at which angles.
  captionOfAngles(name) {
    const { row, weights, now, data: { queries, keys, isEdited } } = this, percents = this.percentsOf(weights), isSame = !this.given.isTurned && String(queries) === String(keys);
    const order = [...keys.keys()].filter((key) => weights[key] > 0).sort((a, b) => weights[b] - weights[a]), others = order.filter((key) => !(isSame && key === row));
    if (isEdited || this.given.factor === null || others.length < 2 || now.queries[row].length !== 2) return null;
    const degreesTo = (key) => degreesBetween(now.queries[row], now.keys[key]), isByAngle = order.every((key, rank) => !rank || degreesTo(order[rank - 1]) <= degreesTo(key));
    const shares = others.filter((_, rank) => rank === 0 || rank === others.length - 1).map((key) => `**${percents[key]}** from ${keys[key]} at ${degreesTo(key)}°`);
    if (isSame && order[0] === row) shares.unshift(`**${percents[row]}** from itself`);
    const lengths = this.now.keys.map((key) => Math.hypot(...key)), areEqual = Math.max(...lengths) - Math.min(...lengths) < SAME_LENGTH, subject = this.given.isTurned ? `**${name}**, turned by W_Q,` : `**${name}**`;
    return `${isByAngle ? `${areEqual ? "Of equally long keys, the" : "The"} smaller the angle, the more ${subject} takes:` : `Angles are not all: ${subject} takes`} ${shares.join(", ")}.${this.captionOfLengths()}`;
  }

  // Of keys that are not equally long, by which scores differ, too.
  captionOfLengths() {
    const { keys } = this.data, lengths = this.now.keys.map((key) => Math.hypot(...key)), [long, short] = [Math.max, Math.min].map((choose) => lengths.indexOf(choose(...lengths)));
    if (!this.hasAngles || this.given.factor === null || lengths[long] < UNEQUAL * lengths[short] || !lengths[short]) return "";
    return ` **Length** counts, too: ${keys[long]} is ${(lengths[long] / lengths[short]).toFixed(1)} times as long as ${keys[short]}.`;
  }

  // The scores before an arrow was moved; null where none was, or Python computes them.
  get scoresBefore() {
    const isKnown = this.moved().length && this.given.factor !== null && this.hasPairs;
    return isKnown ? this.computed(this.from).scores : null;
  }

  isRescored(row, key, before = this.scoresBefore) {
    return Boolean(before) && this.data.scores[row][key] !== null && Math.abs(before[row][key] - this.data.scores[row][key]) > SMALLEST_CHANGE;
  }

  draw() {
    super.draw();
    const { now, row, plane, state } = this;
    if (this.layout && state) plane.showAngles(this.hasAngles && now.queries[row], now.keys, state.progress.ask);
  }

  writeCell(node, row, key) {
    super.writeCell(node, row, key);
    const { hasPairs, data: { scores } } = this, score = scores[row][key], isNew = this.isRescored(row, key), hasScore = hasPairs && score !== null && !this.isUnweighed(row);
    set(node, { "data-score": hasScore ? `${isNew ? `${twoDecimals(this.scoresBefore[row][key])} →` : "score"} ${twoDecimals(score)}` : "" });
    node.classList.toggle("rescored", isNew);
    node.style.setProperty("--pair", hasPairs ? `${this.pairWidth(row, key)}px` : "0px");
  }

  captionOfRest() {
    if (this.isOwnRow(this.row)) return this.captionOfOwnRow();
    const { data, weights } = this, name = data.queries[this.row], moved = this.moved(), { names } = this.given, movedNames = moved.map((arrow) => names[arrow]);
    const rowOf = (arrow, side) => this.positionsOf(arrow).find(([axis]) => axis === side)?.[1];
    const queries = moved.map((arrow) => rowOf(arrow, "queries"));
    const isEven = (row) => row.every((weight) => Math.abs(weight - 1 / row.length) < 1e-6), even = queries.find((row) => row !== undefined && isEven(data.weights[row]));
    if (even !== undefined) return `**${data.queries[even]}** asks for nothing, and takes ${data.keys.length === 3 ? "a third" : asPercent(1 / data.keys.length)} from each.`;
    const { nChanged } = this, n = data.queries.length * data.keys.length;
    if (!nChanged) return this.captionOfAngles(name) ?? `${name}'s **context** is ${weights.filter((weight) => weight > 0).length === 1 ? `${data.keys[weights.findIndex((weight) => weight > 0)]}'s value, all of it` : `a mixture: ${this.sharesOf(weights)}`}.`;
    const before = this.scoresBefore, nScores = before ? data.scores.flatMap((scores, i) => scores.filter((_, j) => this.isRescored(i, j, before))).length : 0;
    const scores = nScores ? ` **${nScores} of ${n}** scores changed (blue), ${nScores < nChanged ? "but" : "and"}` : "";
    return `Only ${movedNames.join(" and ")} moved.${scores} **${nChanged} of ${n} weights changed**.${this.captionOfLengths()}`;
  }
}

export default shownBy(NinePairs, "moved", "chosen");
