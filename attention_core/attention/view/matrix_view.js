// Matrices as pictures: queries downwards, keys to the right.
import { arrayOf, arrowOf, boxOf, channelsOf, clamp, make, pixelOf, placeOn, pointedIn, pointIn, putPixels, rampOf, set } from "./prelude.js";
import { ABOVE_ZERO, BELOW_ZERO, MASKED_COLOUR, MIN_RANGE, PINKS, UNIFORM_AT } from "./colours.js";

// Each ramp as 256 pixels. A number 0 is transparent, in the middle of `signed` too, so that the page's light or dark is seen.
const [below, above, pinks] = [BELOW_ZERO, ABOVE_ZERO, PINKS].map(rampOf);
const pixelsOf = (ramp) => arrayOf(Uint32Array, 256, (step) => pixelOf(ramp(step / 255)));
export const RAMPS = {
  rising: pixelsOf(above),
  signed: pixelsOf((share) => (share < 0.5 ? below(1 - 2 * share) : above(2 * share - 1))),
  weights: pixelsOf(pinks),
};
export const MASK = pixelOf(channelsOf(MASKED_COLOUR));

// A function from a weight, up to the largest, to its pixel; small weights are spread so that 1/n can be seen.
export const weightColouring = (largest, n) => {
  const high = Math.max(largest, Math.min(MIN_RANGE / n, 1), 1e-30), ratio = Math.min(1 / n / high, 0.999);
  const exponent = Math.min(1, Math.log(UNIFORM_AT) / Math.log(ratio));
  return (weight) => RAMPS.weights[Math.round(255 * clamp(weight / high, 0, 1) ** exponent)];
};

// The largest of some numbers and 0.
export const maxOf = (numbers) => numbers.reduce((max, number) => Math.max(max, number), 0);

const MAX_THUMBNAIL_SIDE = 48, MAX_SAMPLED_WEIGHTS = 50000;

// Draws the weights of a head as a thumbnail: each pixel is the largest weight of its cells, in a sample of its rows.
export const drawThumbnail = (canvas, head) => {
  const { n, m } = head, height = Math.min(n, MAX_THUMBNAIL_SIDE), width = Math.min(m, MAX_THUMBNAIL_SIDE);
  const maxSampled = clamp(Math.floor(MAX_SAMPLED_WEIGHTS / (height * m)), 1, Math.ceil(n / height));
  const pixels = new Float32Array(width * height).fill(-1); // -1 = no weight
  for (let y = 0; y < height; y++) {
    const first = Math.floor((y * n) / height), rows = Math.floor(((y + 1) * n) / height) - first || 1, nSampled = Math.min(maxSampled, rows);
    for (let sample = 0; sample < nSampled; sample++) {
      const row = first + Math.floor((sample * rows) / nSampled), weights = head.row(row);
      for (let column = 0; column < m; column++) {
        const pixel = y * width + Math.floor((column * width) / m);
        if (weights[column] > pixels[pixel] && head.sees(row, column)) pixels[pixel] = weights[column];
      }
    }
  }
  const colour = weightColouring(maxOf(pixels), m);
  Object.assign(canvas, { width, height });
  canvas.classList.toggle("sharp", Math.max(width, height) < 24);
  putPixels(canvas, arrayOf(Uint32Array, pixels.length, (index) => (pixels[index] < 0 ? MASK : colour(pixels[index]))));
};

// Lets cells of a view's canvas be pointed at, by pointer, focus or arrow keys, and chosen, by a click, Enter or the space bar.
// The view has `canvas`, `pointed` of pointedIn, `size`, [rows, columns], and `cellUnder(event)`, `litCell()`, `pointAt(cell)` and
// `chooseCell(cell)`; a cell is [row, column] or null.
export const makePointable = (view) => {
  const { canvas } = view;
  canvas.onpointermove = (event) => view.pointAt(view.cellUnder(event));
  canvas.onpointerleave = canvas.onblur = (event) => view.pointed.leave(event);
  canvas.onclick = (event) => view.chooseCell(view.cellUnder(event));
  canvas.onfocus = () => view.pointAt(view.litCell());
  canvas.onkeydown = (event) => {
    const arrow = arrowOf(event), [row, column] = view.litCell(), [n, m] = view.size;
    if (arrow) view.pointAt([clamp(row + arrow[1], 0, n - 1), clamp(column + arrow[0], 0, m - 1)]);
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    view.chooseCell(view.litCell());
  };
};

export class MatrixView {
  // options: { rows, columns (their numbers), axes ([name, first position] of rows and columns), name, side (pixels), row (marked),
  // paint: (index) => pixel, say: (row, column) => text, tell: (text) => ..., choose: (row, column) => ... }; they become properties.
  constructor(parent, options) {
    Object.assign(this, options);
    this.box = make(parent, "div", "matrix");
    this.canvas = make(this.box, "canvas", { tabindex: 0, role: "application", "aria-label": options.name });
    this.line = make(this.box, "div", "line");
    this.cross = make(this.box, "div", { class: "cross", hidden: "" });
    const [n, m] = this.size = [options.rows, options.columns];
    Object.assign(this.canvas, { width: m, height: n });
    const side = options.side ?? 340, longest = Math.max(n, m), unit = Math.max(side / longest, longest > side ? 0 : 1);
    const [width, height] = [m, n].map((count) => Math.max(count * unit, 12));
    set(this.box, { style: `width:${width}px;aspect-ratio:${width}/${height}` });
    this.canvas.classList.toggle("sharp", unit >= 1);
    putPixels(this.canvas, arrayOf(Uint32Array, n * m, options.paint));
    this.lit = [options.row ?? 0, 0];
    this.pointed = pointedIn(this.box, (places) => this.light(places));
    makePointable(this);
    this.mark(options.row);
  }

  litCell() { return this.lit; }

  chooseCell(cell) { this.choose?.(...cell); }

  cellUnder(event) {
    const [x, y] = pointIn(this.canvas, event), { width, height } = boxOf(this.canvas), [n, m] = this.size;
    return [clamp(Math.floor((y / height) * n), 0, n - 1), clamp(Math.floor((x / width) * m), 0, m - 1)];
  }

  pointAt(cell) {
    this.lit = cell;
    this.pointed.look(this.placesOf(...cell));
  }

  placesOf(row, column) { return this.axes.map(([name, first], side) => [name, first + [row, column][side]]); }

  cellAt(places) {
    return this.axes.map(([name, first], side) => {
      const position = placeOn(places, name, side === 1);
      return position === null || position < first || position >= first + this.size[side] ? null : position - first;
    });
  }

  light(places) {
    const [row, column] = this.cellAt(places), isCell = row !== null && column !== null;
    this.cross.hidden = row === null && column === null;
    if (!this.cross.hidden) this.moveTo(this.cross, row, places.length > 1 || row === null ? column : null);
    if (isCell && places.length > 1) this.tell(this.say(row, column));
    else if (!places.length) this.tell("");
  }

  // Marks a row; none if there is no such row.
  mark(row) {
    this.line.hidden = row === undefined || row === null || row < 0 || row >= this.size[0];
    if (!this.line.hidden) this.moveTo(this.line, row);
  }

  // Puts a node over a row (column null), a column (row null) or a cell.
  moveTo(node, row, column = null) {
    const [[top, height], [left, width]] = [row, column].map((index, side) =>
      (index === null ? [0, 100] : [(100 * index) / this.size[side], 100 / this.size[side]]));
    set(node, { style: `top:${top}%;height:${height}%;left:${left}%;width:${width}%` });
  }
}
