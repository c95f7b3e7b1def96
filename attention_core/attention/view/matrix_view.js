// Matrices as pictures: queries downwards, keys to the right.
import { arrayOf, arrowOf, boxOf, channelsOf, clamp, make, pixelOf, placeOn, pointedIn, pointIn, putPixels, rampOf, set } from "./prelude.js";
import { ABOVE_ZERO, BELOW_ZERO, MASKED_COLOUR, MIN_RANGE, PINKS, UNIFORM_AT } from "./colours.js";

// Each ramp as 256 pixels; the paper, light or dark, is 0, also between blue and orange.
const [below, above, pinks] = [BELOW_ZERO, ABOVE_ZERO, PINKS].map(rampOf);
const pixelsOf = (ramp) => arrayOf(Uint32Array, 256, (step) => pixelOf(ramp(step / 255)));
export const RAMPS = {
  rising: pixelsOf(above),
  signed: pixelsOf((share) => (share < 0.5 ? below(1 - 2 * share) : above(2 * share - 1))),
  weights: pixelsOf(pinks),
};
export const MASK = pixelOf(channelsOf(MASKED_COLOUR));

// What makes a weight a colour: up to the largest one, small ones spread so that the weight 1/n can be seen.
export const colouring = (largest, n) => {
  const high = Math.max(largest, Math.min(MIN_RANGE / n, 1), 1e-30), ratio = Math.min(1 / n / high, 0.999);
  const exponent = Math.min(1, Math.log(UNIFORM_AT) / Math.log(ratio));
  return (weight) => RAMPS.weights[Math.round(255 * clamp(weight / high, 0, 1) ** exponent)];
};

export const mostOf = (numbers) => {
  let most = 0;
  for (const number of numbers) if (number > most) most = number;
  return most;
};

// A head on few pixels: the largest weight behind each of them, of a sample of the rows.
export const thumbnail = (canvas, head) => {
  const { n, m } = head, height = Math.min(n, 48), width = Math.min(m, 48);
  const each = clamp(Math.floor(50000 / (height * m)), 1, Math.ceil(n / height));
  const cells = new Float32Array(width * height).fill(-1);
  for (let y = 0; y < height; y++) {
    const first = Math.floor((y * n) / height), rows = Math.floor(((y + 1) * n) / height) - first || 1;
    for (let turn = 0; turn < Math.min(each, rows); turn++) {
      const row = first + Math.floor((turn * rows) / Math.min(each, rows)), weights = head.row(row);
      for (let column = 0; column < m; column++) {
        const place = y * width + Math.floor((column * width) / m);
        if (weights[column] > cells[place] && head.sees(row, column)) cells[place] = weights[column];
      }
    }
  }
  const colour = colouring(mostOf(cells), m);
  Object.assign(canvas, { width, height });
  canvas.classList.toggle("sharp", Math.max(width, height) < 24);
  putPixels(canvas, arrayOf(Uint32Array, cells.length, (at) => (cells[at] < 0 ? MASK : colour(cells[at]))));
};

// Let a view look at the cell of its canvas on which the pointer, the focus or an arrow key is, and take one that is clicked:
// it has `cellUnder` an event, the cell `lit`, and how many rows and columns there are, its `size`.
export const asMatrix = (view) => {
  const { canvas } = view;
  canvas.onpointermove = (event) => view.look(view.cellUnder(event));
  canvas.onpointerleave = canvas.onblur = (event) => view.pointed.leave(event);
  canvas.onclick = (event) => view.take(view.cellUnder(event));
  canvas.onfocus = () => view.look(view.lit());
  canvas.onkeydown = (event) => {
    const way = arrowOf(event), [row, column] = view.lit(), [n, m] = view.size;
    if (way) view.look([clamp(row + way[1], 0, n - 1), clamp(column + way[0], 0, m - 1)]);
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    view.take(view.lit());
  };
};

export class MatrixView {
  // about: { rows, columns (how many), axes ([name, first position] of both), name, paint: (place) => pixel, say: (row, column) => text, choose: (row, column) => ... }
  constructor(parent, about) {
    Object.assign(this, about);
    this.box = make(parent, "div", "matrix");
    this.canvas = make(this.box, "canvas", { tabindex: 0, role: "img", "aria-label": about.name });
    this.line = make(this.box, "div", "line");
    this.cross = make(this.box, "div", { class: "cross", hidden: "" });
    const [n, m] = this.size = [about.rows, about.columns];
    Object.assign(this.canvas, { width: m, height: n });
    const most = about.side ?? 340, longest = Math.max(n, m), unit = Math.max(most / longest, longest > most ? 0 : 1);
    const [width, height] = [m, n].map((count) => Math.max(count * unit, 12));
    set(this.box, { style: `width:${width}px;aspect-ratio:${width}/${height}` });
    this.canvas.classList.toggle("sharp", unit >= 1);
    putPixels(this.canvas, arrayOf(Uint32Array, n * m, about.paint));
    this.at = [about.row ?? 0, 0];
    this.pointed = pointedIn(this.box, (places) => this.light(places));
    asMatrix(this);
    this.mark(about.row);
  }

  lit() { return this.at; }

  take(cell) { this.choose?.(...cell); }

  cellUnder(event) {
    const [x, y] = pointIn(this.canvas, event), { width, height } = boxOf(this.canvas), [n, m] = this.size;
    return [clamp(Math.floor((y / height) * n), 0, n - 1), clamp(Math.floor((x / width) * m), 0, m - 1)];
  }

  look(cell) {
    this.at = cell;
    this.pointed.look(this.placesOf(...cell));
  }

  placesOf(row, column) { return this.axes.map(([name, first], side) => [name, first + [row, column][side]]); }

  cellAt(places) {
    return this.axes.map(([name, first], side) => {
      const at = placeOn(places, name, side === 1);
      return at === null || at < first || at >= first + this.size[side] ? null : at - first;
    });
  }

  light(places) {
    const [row, column] = this.cellAt(places), isCell = row !== null && column !== null;
    this.cross.hidden = row === null && column === null;
    if (!this.cross.hidden) this.place(this.cross, row, places.length > 1 || row === null ? column : null);
    if (isCell && places.length > 1) this.tell(this.say(row, column));
    else if (!places.length) this.tell("");
  }

  mark(row) {
    this.line.hidden = row === undefined || row === null || row < 0 || row >= this.size[0];
    if (!this.line.hidden) this.place(this.line, row);
  }

  place(node, row, column = null) {
    const [[top, height], [left, width]] = [row, column].map((at, side) =>
      (at === null ? [0, 100] : [(100 * at) / this.size[side], 100 / this.size[side]]));
    set(node, { style: `top:${top}%;height:${height}%;left:${left}%;width:${width}%` });
  }
}
