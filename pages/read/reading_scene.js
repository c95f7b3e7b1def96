// The scene of a number that is read look after look. Below the drawing stand, in turn, the state before a look and what that look
// takes: an arrow rises from the state to where the look goes, a line falls from there to what it takes, and both make the next
// state. A state is named by what has been read so far: the first of the look's words.
import { asPercent, bold, clamp, make, set, shownBy } from "../../attention_core/attention/view/prelude.js";
import { mix, tonesOn } from "../../attention_core/attention/view/scene_drawing.js";
import { DrawnScene } from "../../ui/components/drawn_scene.js";

const NARROW = 560, WIDE = 1060, HALF = 0.5, PALE = 0.25, PIECE = 0.094, HALL = 1.5, END = "end";

// Weights of which only the largest are left, those that hold half of all.
const halfOf = (weights) => {
  const half = weights.map(() => 0);
  let sum = 0;
  for (const index of [...weights.keys()].sort((a, b) => weights[b] - weights[a])) {
    if (sum >= HALF) break;
    half[index] = weights[index];
    sum += weights[index];
  }
  return half;
};

// The middle of the 3 x 3 regions that hold most: a single one can be heavy far from the others.
const heaviestPlace = (weights, columns) => {
  const sums = weights.map((_, index) => [-1, 0, 1].reduce((sum, on) => {
    const isInside = (index % columns) + on >= 0 && (index % columns) + on < columns;
    return sum + (isInside ? [-columns, 0, columns].reduce((all, down) => all + (weights[index + on + down] ?? 0), 0) : 0);
  }, 0));
  return sums.indexOf(Math.max(...sums));
};

class ReadingScene extends DrawnScene {
  constructor(root) {
    super(root);
    this.root.insertBefore(this.note, this.frame);
    this.looks.classList.add("chain");
  }

  adopt(data, tell) {
    this.halves = data.looks.map(({ weights }) => halfOf(weights));
    this.spots = data.looks.map(({ weights }) => heaviestPlace(weights, data.grid[1]));
    super.adopt(data, tell);
  }

  get lastRow() { return this.isEven ? 0 : super.lastRow; }

  makeButtons() {
    const { looks } = this.data;
    return looks.map(({ label, answer }) => {
      const node = make(this.looks, "button", "", label);
      node.replaceChildren(bold("·"), " \u00a0");
      node.classList.toggle("end", answer[0][0] === END);
      return node;
    });
  }

  layOut() {
    const { width, least, ink, ground } = this.measureFrame(), isNarrow = width < NARROW, { lookButtons, data: { grid: [rows, columns], looks } } = this;
    const side = least ? Math.min(width - 4, (HALL * innerHeight) / (this.canvas.currentCSSZoom ?? 1)) : width - 4, scale = isNarrow ? 1 : clamp(side / WIDE, 0.7, 1.8), high = (side * rows) / columns, size = Math.max(isNarrow ? 12 : (looks.length > 6 ? 15 : 18) * scale, least), gap = isNarrow ? 4 : 9 * scale;
    this.pen = this.canvas.getContext("2d");
    this.layout = { width, isNarrow, scale, least, tones: tonesOn(ink, ground), side, high, size };
    const states = looks.map(({ words: [[name]] }) => this.text(name, 0, 0, size, { weight: 650, alpha: 0 }) + size), ends = looks.map((_, row) => this.endsAt(row));
    const between = isNarrow ? looks.map(() => gap) : states.map((wide) => wide + 2 * gap), nPieces = ends.filter((isEnd) => !isEnd).length, wideEnd = isNarrow ? 40 : 4.2 * size;
    const room = side - (isNarrow ? states[0] / 2 : 0) - between.reduce((sum, one) => sum + one, 0) - wideEnd * (looks.length - nPieces);
    const piece = Math.min(isNarrow ? 56 : PIECE * side, room / Math.max(1, nPieces)), y = high + (isNarrow ? 74 : 50 * scale), middle = isNarrow ? high + 46 : y + piece / 2;
    // Each piece below where its look went, as far as there is room.
    const wides = ends.map((isEnd) => (isEnd ? wideEnd : piece)), lefts = looks.map((_, row) => this.spotOf(row)[0] - wides[row] / 2);
    lefts.forEach((left, row) => { lefts[row] = Math.max(left, row ? lefts[row - 1] + wides[row - 1] + between[row] : isNarrow ? states[0] / 2 : between[0] - gap); });
    for (let row = looks.length - 1, end = side; row >= 0; row--) {
      lefts[row] = Math.min(lefts[row], end - wides[row]);
      end = lefts[row] - between[row];
    }
    const middles = lefts.map((left, row) => (isNarrow ? Math.max(left - gap / 2, states[row] / 2 + 1) : row ? (lefts[row - 1] + wides[row - 1] + left) / 2 : left - gap - states[0] / 2));
    Object.assign(this.layout, { states, middles, middle, wides, lefts, box: { x: lefts[0], y, w: wides[0] }, question: { x: middles[0], y: middle } });
    this.looks.hidden = false;  // to be measured
    this.looks.style = `left:0;top:0`;
    lookButtons.forEach((node, row) => {
      node.style.width = `${wides[row]}px`;
      node.hidden = false;  // to be measured, too
      const tall = node.offsetHeight, top = ends[row] ? y + (piece - tall) / 2 : y + piece + 6;
      Object.assign(node.style, { left: `${lefts[row]}px`, top: `${top}px` });
      this.layout.height = Math.max(row ? this.layout.height : 0, top + tall + 4);
    });
    this.placeAll();
  }

  placeBox() {
    const { layout: { box, lefts, wides }, row } = this;
    Object.assign(box, { x: lefts[row], w: wides[row] });
    super.placeBox();
  }

  layQuestion() { return { size: this.layout.size, places: [], bottom: 0 }; }

  drawQuestion() { }

  // Whether a look ends the reading: what it takes is nothing to be seen.
  endsAt(row) { return this.data.looks[row].answer[0][0] === END; }

  // Where a look goes.
  spotOf(row) {
    const { x, y, w, h } = this.cellOf(this.spots[row]);
    return [x + w / 2, y + h / 2];
  }

  get veil() { return 0.5; }

  weightsInPicture({ say }, weights) {
    const { halves, row, lastRow } = this;
    if (this.isEven) return weights;
    return halves[row].map((weight, index) => (row === lastRow && say ? Math.max(weight, ...halves.map((half) => say * half[index])) : weight));
  }

  originOfQuestion() {
    const { middles, middle, size } = this.layout;
    return [middles[this.row], middle - size];
  }

  joinLooks() { }

  numberLooks() { }

  drawCells(progress, ...numbers) {
    super.drawCells(progress, ...numbers);
    if (this.isCovered) this.askForNext();
    else this.drawChain(progress);
  }

  // What is there while a guess is awaited: the state after the first look, and nothing that it leads to.
  askForNext() {
    const { pen, data: { looks }, layout, layout: { middles, middle, high, tones, scale, lefts, wides, box } } = this, row = Math.min(1, looks.length - 1), size = 1.4 * layout.size;
    Object.assign(pen, { strokeStyle: tones.query, fillStyle: tones.query, lineWidth: 3 * scale });
    this.drawArrow([middles[row], middle - size], [middles[row], high + 3], 9 * scale);
    this.text("?", middles[row] + size, high + 2 * size, 2 * size, { weight: 700, colour: tones.query });
    Object.assign(pen, { strokeStyle: tones.context, lineWidth: 2 * scale }).setLineDash([6, 5]);
    pen.strokeRect(lefts[row] + size, box.y, wides[row], box.w);
    pen.setLineDash([]);
    this.text("?", lefts[row] + size + wides[row] / 2, middle + 0.7 * size, 2 * size, { weight: 700, align: "center", colour: tones.context });
    this.drawState(row, 1, size);
  }

  drawChain({ soften, take, say }) {
    const { pen, data: { looks }, layout: { middles, middle, lefts, wides, box, tones, scale, isNarrow, size }, row, nSaid, isEven } = this;
    const atRest = row === this.lastRow ? say : 0, last = isEven ? 0 : Math.min(looks.length - 1, Math.max(row + (say > 0), nSaid));
    Object.assign(pen, { strokeStyle: tones.query, lineWidth: 2 * scale, globalAlpha: 1 });
    pen.beginPath();
    pen.moveTo(middles[0], middle);
    pen.lineTo(middles[last], middle);
    pen.stroke();
    for (let index = 0; index <= last; index++) {
      const isPresent = index === row, [arrow, line] = isPresent ? [soften, take] : index < nSaid ? [1, 1] : [0, 0], spot = this.spotOf(index), foot = [lefts[index] + wides[index] / 2, this.endsAt(index) ? box.y + box.w / 4 : box.y];
      pen.globalAlpha = isPresent ? 1 : mix(PALE, 1, atRest);
      Object.assign(pen, { strokeStyle: tones.query, fillStyle: tones.query, lineWidth: 2.5 * scale });
      const start = [middles[index], middle - 0.9 * size];
      if (arrow > 0 && !isEven) this.drawArrow(start, [0, 1].map((axis) => mix(start[axis], spot[axis], arrow)), (isNarrow ? 6 : 9) * scale);
      Object.assign(pen, { strokeStyle: tones.context, fillStyle: tones.context });
      if (line > 0 && !isEven) {
        pen.beginPath();
        pen.moveTo(...spot);
        pen.lineTo(...[0, 1].map((axis) => mix(spot[axis], foot[axis], line)));
        pen.stroke();
        pen.beginPath();
        pen.arc(...spot, (isNarrow ? 3 : 5) * scale, 0, 7);
        pen.fill();
      }
      pen.globalAlpha = 1;
      if (!isPresent && line && !this.endsAt(index)) {
        const at = [lefts[index], box.y, wides[index], wides[index]];
        pen.drawImage(this.mixtureOf(index), ...at);
        pen.strokeRect(...at);
      }
      this.drawState(index, index > row && index > nSaid - 1 ? Math.max(say, index < nSaid) : 1);
    }
  }

  drawState(index, alpha, size = this.layout.size) {
    const { pen, data, layout: { middles, middle, states, tones, size: usual } } = this, wide = (states[index] * size) / usual;
    Object.assign(pen, { globalAlpha: alpha, fillStyle: tones.ground, strokeStyle: tones.query, lineWidth: 2.5 });
    pen.beginPath();
    pen.roundRect(middles[index] - wide / 2, middle - 0.9 * size, wide, 1.8 * size, 0.9 * size);
    pen.fill();
    pen.stroke();
    this.text(data.looks[index].words[0][0], middles[index], middle + 0.35 * size, size, { weight: 650, align: "center", alpha, colour: tones.query });
  }

  // Below the regions.
  drawSample(index, _, { alpha, call, place }, scores, weights) {
    const { pen, layout: { tones, scale, isNarrow, least, high, width } } = this, cell = this.cellOf(index), size = Math.max(17 * scale, least);
    Object.assign(pen, { globalAlpha: alpha, strokeStyle: tones.ink, lineWidth: 2 }).strokeRect(cell.x, cell.y, cell.w, cell.h);
    const long = this.writeSample(index, 0, 0, size, { alpha: 0, call }, scores, weights);
    this.writeSample(index, Math.min(cell.x, width - long), high + (1 + (isNarrow ? place : 0)) * size, size, { alpha, call }, scores, weights, true);
  }

  drawTiles(progress, weights) {
    if (!this.isCovered && (this.isEven || !this.endsAt(this.row) || !progress.say)) super.drawTiles(progress, weights);
  }

  drawAnswer(progress) {
    if (this.isEven) super.drawAnswer(progress);
  }

  write(...state) {
    super.write(...state);
    const { data: { looks }, nSaid } = this;
    this.looks.hidden = this.note.hidden = this.isEven;
    this.lookButtons.forEach((node, row) => {
      const { label, answer: [[name, share]] } = looks[row], said = row < nSaid ? name : "·";
      set(node, { "aria-label": `${label}: ${said} ${row < nSaid ? asPercent(share) : ""}` });
      node.hidden = this.endsAt(row) && row >= nSaid;
      if (node.firstChild?.textContent !== said) node.replaceChildren(bold(said), " ", row < nSaid ? asPercent(share) : "\u00a0");
    });
  }

  captionOf(progress, scores, weights) {
    const { data: { looks, answer: [[read]], even: [[evenly]], learned }, row } = this, n = looks.length;
    if (this.isCovered) return `It began with ${this.named(0)} read, and read **${read}**. Now it begins with ${this.named(Math.min(1, n - 1))} already read.`;
    const { name } = this.timeline.steps[this.timeline.indexAt(this.time)];
    if (name !== "says" || this.isEven) return super.captionOf(progress, scores, weights);
    const other = learned ? `; before: **${learned[0][0]}**` : evenly === read ? "" : `; with every weight equal it reads **${evenly}**${evenly.length < read.length ? " and stops" : ""}`;
    if (row === n - 1) return `It has read **${read}** in ${n} look${n > 1 ? "s" : ""}${other}.`;
    const [[text, share]] = looks[row].answer;
    return `Look ${row + 1} of ${n}: out of that mixture comes **“${text}”** (${asPercent(share)}).`;
  }

  named(row) { return `**${this.data.looks[row].words[0][0]}**`; }
}

export default shownBy(ReadingScene, "chosen");
