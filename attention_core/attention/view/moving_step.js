// A step's matrix, and how its numbers come about: products of rows and columns add up, old numbers change into new ones,
// a softmax squeezes each row to a sum of 1. All is drawn on one canvas, so that it can be saved as a film.
import { arrayOf, asPercent, channelsOf, clamp, create, isNew, make, minus, pixelOf, placeOn, pointedIn, pointIn, putPixels, set, wantsLessMotion } from "./prelude.js";
import { numbersOf } from "./packed_heads.js";
import { CLEARNESS, LINEAR_FROM, MIN_EXPONENT, PINK, ROLE_COLOURS, STRONGEST, UNIFORM_AT } from "./colours.js";
import { makePointable, MASK, RAMPS } from "./matrix_view.js";
import { Film } from "./film.js";

const SECONDS = 1.4, FLIGHT_END = 0.5, FILL_END = 0.9, FOLD_START = 0.88; // of a movement; of a product, as shares of the time
const MAX_CELL = 110, MIN_SIDE = 48, MAX_HEIGHT = 360, BAR_HEIGHT = 34; // pixels: of cells, of the matrix, of the colours below it
const GAP = 14, MAX_FACTOR_SHARE = 0.3; // pixels between a product and its factors, and the share of the room that these take
const SHEET_GAP = 8, NAME_HEIGHT = 16; // pixels between the pictures of a sheet, and of a name above one
const MIN_NUMBER_WIDTH = 30, MIN_OPEN_SIDE = 22; // pixels of a cell from which on its number is written, and factors stay beside it
const MAX_MOVING_CELLS = 4000, MAX_FLIGHTS = 12, MAX_LABELS = 64; // larger matrices change as one picture
const SLANT = 0.72, MAX_SLANTED = 92; // the share of a slanted label's length that it takes across and upwards, and its longest
const ONE_BY_ONE = "1 × 1", EDGES = "rgba(128,128,128,0.5)";
const FRAME_COLOURS = { ...ROLE_COLOURS, input: undefined, output: undefined }; // framed in other colours: no roles of attention

const interpolate = (from, to, share) => from + (to - from) * share;
// How far a movement between two times has come, from 0 to 1; it begins and ends slowly.
const eased = (time, from, to) => { const share = clamp((time - from) / (to - from), 0, 1); return share * share * (3 - 2 * share); };
const boxBetween = (from, to, share) => Object.fromEntries(["x", "y", "w", "h"].map((side) => [side, interpolate(from[side], to[side], share)]));

// A number that fits a cell; a share of 1 as a percentage.
const cellText = (value, isShare = false) => {
  if (!Number.isFinite(value)) return "";
  if (isShare) return asPercent(value);
  const size = Math.abs(value), text = size >= 1000 ? size.toExponential(0) : size >= 100 ? size.toFixed(0) : `${+size.toFixed(2)}`;
  return value < 0 && text !== "0" ? `−${text}` : text;
};

// Labels of n rows or columns for so many positions: round numbers, every hundredth, say, and "" between them.
const positionLabels = (n, nPositions) => {
  const interval = 10 ** Math.ceil(Math.log10(nPositions / 10));
  return Array.from({ length: n }, (_, index) => {
    const [first, next] = [index, index + 1].map((edge) => Math.floor((edge * nPositions) / n / interval));
    return next > first ? `${next * interval}` : "";
  });
};

// A typed array of what `decode` returns for each code; through a table where there are more numbers than codes.
const decodeAll = (ArrayType, codes, nCodes, decode) => {
  const table = codes.length > nCodes && arrayOf(ArrayType, nCodes, decode);
  return arrayOf(ArrayType, codes.length, table ? (index) => table[codes[index]] : (index) => decode(codes[index]));
};

// The numbers of a matrix, n rows by m columns, with their colours. Code 0 is no number.
class Matrix {
  constructor({ shape, whole, low, high, steps, power, role, ink, glow, over, reach: minHigh = 0, n_keys }, codes) {
    [this.n, this.m] = shape;
    const uniform = 1 / (n_keys || whole[1]);
    const numberOf = (code) => (code ? low + ((code - 1) / steps) ** power * (high - low) : NaN);
    this.map = (ArrayType, convert) => decodeAll(ArrayType, codes, steps + 2, (code) => convert(numberOf(code)));
    this.values = this.map(Float64Array, (value) => value);
    Object.assign(this, { low, high: Math.max(high, minHigh), isShare: role === "weights" && low >= 0 && high <= 1, picture: create("canvas", { width: this.m, height: this.n }) });
    if (ink) { this.tint(ink); return; }
    if (glow) {
      Object.assign(this, { low: 0, high: glow, uniform, isCut: high > glow });
      this.colour = (value) => pixelOf(channelsOf(PINK), 255 * (over ? STRONGEST : 1) * clamp(value / glow, 0, 1) ** CLEARNESS);
    } else if (role === "weights") this.useRamp(RAMPS.weights, uniform);
    else if (role === "output" && low >= 0) this.useRamp(RAMPS.rising);
    else {
      const largest = Math.max(Math.abs(low), Math.abs(this.high)) || 1;
      [this.low, this.high] = [-largest, largest];
      this.colour = (value) => RAMPS.signed[Math.round(127.5 * (1 + clamp(value / largest, -1, 1)))];
    }
    this.paint();
  }

  // Paint numbers that are ink, from 0 to 1, in a colour.
  tint(ink) {
    this.ink = ink;
    this.colour = (value) => pixelOf(ink.match(/\d+/g), Math.round(255 * clamp(value, 0, 1)));
    this.paint();
  }

  paint() {
    putPixels(this.picture, this.map(Uint32Array, (value) => this.pixel(value)));
  }

  // A ramp from 0 to the highest number, spread so that a weight of 1/n can be seen.
  useRamp(ramp, uniform = 0) {
    this.low = 0;
    this.high = Math.max(this.high, 1.02 * uniform) || 1;
    const ratio = uniform / this.high, exponent = !uniform || ratio > LINEAR_FROM ? 1 : clamp(Math.log(UNIFORM_AT) / Math.log(ratio), MIN_EXPONENT, 1);
    this.uniform = uniform;
    this.colour = (value) => ramp[Math.round(255 * clamp(value / this.high, 0, 1) ** exponent)];
  }

  // A picture of its colours, from the lowest to the highest number.
  get rampPicture() {
    if (!this.ramp) {
      this.ramp = create("canvas", { width: 256, height: 1 });
      putPixels(this.ramp, arrayOf(Uint32Array, 256, (step) => this.colour(interpolate(this.low, this.high, step / 255))));
    }
    return this.ramp;
  }

  get isLarge() { return this.n * this.m > MAX_MOVING_CELLS; }

  at(row, column) { return this.values[row * this.m + column]; }

  // A number as a pixel; `colour` is the same for numbers that are not masked.
  pixel(value) { return Number.isNaN(value) ? MASK : this.colour(value); }

  // Red, green, blue and opacity, from 0 to 1.
  channels(value) {
    const pixel = this.pixel(value);
    return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255, (pixel >>> 24) / 255];
  }
}

// Of a row and a column, as far as the first n products.
const dotProduct = (left, right, row, column, n) => {
  let sum = 0;
  for (let inner = 0; inner < n; inner++) sum += left.at(row, inner) * right.at(inner, column);
  return sum;
};

// A step with its numbers and labels, of which it has the indices among the parts that steps share.
export const withParts = (step, parts) => {
  const withData = (matrix) => matrix && { ...matrix, data: parts[matrix.data] };
  return { ...withData(step), rows: parts[step.rows], columns: parts[step.columns], before: withData(step.before), factors: step.factors.map(withData) };
};

const matricesOf = (step) => [step, step.before, ...step.factors];

export const codesOf = (step) => Promise.all(matricesOf(step).map((matrix) => matrix && numbersOf(matrix.data)));

// A note on how many numbers a cell is the largest of: at rest, and in the matrices from which its numbers come.
const reductionNote = (step) => {
  const blockOf = ({ whole, shape }) => whole.map((n, side) => Math.ceil(n / shape[side]));
  const largestBlock = (matrices) => matrices.map(blockOf).sort(([a, b], [c, d]) => c * d - a * b)[0]?.join(" × ") ?? ONE_BY_ONE;
  const atRest = largestBlock([step]), moving = largestBlock([step.before, ...step.factors].filter(Boolean));
  if (atRest === ONE_BY_ONE) return moving === ONE_BY_ONE ? "" : `While it moves, a cell is the largest of ${moving} numbers.`;
  return `Each cell is the largest of ${atRest} numbers${moving === ONE_BY_ONE ? "" : `, and while it moves of ${moving}`}.`;
};

export class MovingStep extends Film {
  // `choose` gets the row and column of a clicked cell.
  constructor(root, choose) {
    super(root, "How the numbers of this step come about", "Show how these numbers come about");
    Object.assign(this, { choose, seconds: SECONDS });
    set(this.canvas, { tabindex: 0, role: "application", "aria-label": "The numbers of this step" });
    this.announcement = make(root, "p", { class: "small said", "aria-live": "polite" });
    this.note = make(root, "p", "note");
    this.pointed = pointedIn(root, (places) => this.light(places));
  }

  get title() { return this.data.title; }

  get size() { return [this.matrix.n, this.matrix.m]; }

  async adopt(data) {
    if (!isNew(this, data)) return;
    const stamp = (this.stamp = {}), codes = await codesOf(data);
    if (stamp === this.stamp) this.setStep(data, codes);
  }

  setStep(data, codes) {
    this.measure();
    const ink = data.ink && (this.ink || "rgb(128, 128, 128)");
    const [matrix, before, ...factors] = matricesOf(data).map((packed, index) => packed && new Matrix({ ...packed, ink: index === 0 && ink }, codes[index]));
    if (!this.data) makePointable(this);
    const isOtherStep = this.data && this.data.symbol + this.data.title !== data.symbol + data.title;
    const row = data.query === null ? 0 : Math.floor((data.query * matrix.n) / data.whole[0]);
    const isSameRow = data.query === null || row === this.row;
    const isSameMovement = this.playing && !isOtherStep && isSameRow && String(this.data.shape) === String(data.shape); // as after a click on a number
    Object.assign(this, { data, matrix, before, factors, cell: null });
    if (!isSameMovement) this.row = row;
    if (!isSameMovement) this.column = data.column === null ? this.strongestColumn() : Math.floor((data.column * matrix.m) / data.whole[1]);
    set(this.canvas, { "aria-label": `${data.title}: ${data.whole[0]} ${data.names[0]} by ${data.whole[1]} ${data.names[1]}. Arrow keys go from number to number.` });
    const canMove = Boolean(data.kind) || data.grid;
    this.bar.hidden = !canMove;
    this.note.textContent = reductionNote(data);
    if (isSameMovement) return;
    this.stop();
    this.show(1);
    if (isOtherStep && canMove && !wantsLessMotion() && !document.hidden) this.play();
  }

  // The column of the number of the largest size in the row.
  strongestColumn() {
    const sizeAt = (column) => Math.abs(this.matrix.at(this.row, column)), columns = Array.from({ length: this.matrix.m }).keys();
    return [...columns].reduce((strongest, column) => (sizeAt(column) > sizeAt(strongest) ? column : strongest), 0);
  }

  stop() {
    super.stop();
    this.light(this.pointed.places());
  }

  // Sets where the result, its factors and the labels are drawn, in `layouts`: `closed` without factors, `open` with the left
  // one at the left and the right one above, and whether it `staysOpen` at rest. Returns the height of all.
  layOut() {
    const { data, matrix, factors, width } = this, { n, m } = matrix;
    this.pen.font = `${Math.max(12, this.least)}px ${this.font}`;
    const longest = (labels) => Math.max(0, ...labels.slice(0, 400).map((label) => this.pen.measureText(label).width));
    this.labels = [data.rows, data.columns].map((labels, side) => (labels.length > MAX_LABELS ? positionLabels(labels.length, data.whole[side]) : labels));
    const rowRoom = Math.min(longest(this.labels[0]), width / 5, 110) + 8, columnRoom = longest(this.labels[1]);
    let size = Math.min(data.size, width);
    const k = factors.length ? factors[0].m : 0;
    const layoutOf = (isOpen) => {
      const inner = isOpen ? k : 0, gap = isOpen ? GAP : 0, across = size - rowRoom, down = Math.max(size - 60, 120);
      const largest = clamp(MAX_HEIGHT / (n + inner), 54, MAX_CELL), cell = (room, count) => Math.min((room - gap) / (count + inner), largest);
      let side = Math.min(cell(across, m), cell(down, n));
      const factorRoom = (room) => Math.min(inner * Math.max(side, 2), MAX_FACTOR_SHARE * room);
      let w = Math.min(m * side, across), h = Math.min(n * side, down);
      if (isOpen && inner * side > MAX_FACTOR_SHARE * Math.min(across, down)) {
        const [roomAcross, roomDown] = [across, down].map((room) => (1 - MAX_FACTOR_SHARE) * room - gap);
        side = Math.min(roomAcross / m, roomDown / n, largest);
        [w, h] = [m * side, n * side];
      }
      w = Math.max(w, Math.min(MIN_SIDE * m, across - factorRoom(across) - gap));
      h = Math.max(h, Math.min(MIN_SIDE * n, MAX_HEIGHT, down - factorRoom(down) - gap));
      const isLevel = columnRoom <= w / m - 4 || Math.max(...this.labels[1].map((label) => label.length)) <= 3;
      const labelHeight = isLevel ? 18 : Math.min(SLANT * columnRoom + 12, 80), left = isOpen ? factorRoom(across) : 0, top = isOpen ? factorRoom(down) : 0;
      const result = { x: rowRoom + left + gap, y: labelHeight + top + gap, w, h };
      return { result, left: { x: rowRoom, y: result.y, w: left, h }, right: { x: result.x, y: labelHeight, w, h: top }, isLevel, side: Math.min(w / m, h / n) };
    };
    // Where slanted labels end: those of the last columns reach beyond them.
    const labelsEnd = ({ result: { x, w } }) => Math.max(...this.labels[1].map((label, column) => x + ((column + 0.5) * w) / m + SLANT * Math.min(longest([label]), MAX_SLANTED)));
    const first = layoutOf(false);
    if (!first.isLevel) size -= Math.max(0, labelsEnd(first) - width);
    const closed = layoutOf(false), open = k ? layoutOf(true) : closed;
    this.rowRoom = rowRoom;
    this.layouts = { closed, open, staysOpen: k > 0 && open.side >= MIN_OPEN_SIDE };
    return Math.max(closed.result.y + closed.result.h, open.result.y + open.result.h) + BAR_HEIGHT;
  }

  draw() {
    const { width: widthBefore } = this;
    if (!this.matrix || !this.measure()) return;
    if (this.matrix.ink && this.matrix.ink !== this.ink) {  // dark or light has changed
      this.matrix.tint(this.ink);
      this.pictured = null;
    }
    if (this.laidOut !== this.matrix || widthBefore !== this.width) {
      this.laidOut = this.matrix;
      this.height = this.data.grid ? this.layOutSheet() : this.layOut();
    }
    this.clear(this.height);
    this.pen.imageSmoothingEnabled = false;
    if (this.data.grid) this.drawSheet();
    else this.drawMatrix();
    this.drawBar(this.height - BAR_HEIGHT + 12);
  }

  // `folded` says how far the factors are gone, from 0 to 1.
  drawMatrix() {
    const { data, time, layouts, factors, matrix } = this, folded = layouts.staysOpen || !factors.length ? 0 : eased(time, FOLD_START, 1);
    const area = (this.area = factors.length ? boxBetween(layouts.open.result, layouts.closed.result, folded) : layouts.closed.result);
    this.drawLabels(area, folded < 0.5 && factors.length ? layouts.open : layouts.closed, factors.length ? layouts.open.left.x : area.x, folded);
    if (factors.length && folded < 1) this.drawProduct(area, layouts.open, folded);
    else if (time >= 1 || !this.before) this.drawCells(matrix, area);
    else if (data.kind === "softmax") this.squeeze(area);
    else if (data.kind === "mask") this.fall(area);
    else this.slide(area);
    if (time === 1 && data.query !== null && matrix.n > 1) this.drawFrame(area, matrix, this.row, null, FRAME_COLOURS.query);
    if (!data.kind && data.column !== null) this.drawFrame(area, matrix, this.row, this.column, this.ink);
    for (const cell of data.framed ?? []) this.drawFrame(area, matrix, ...cell, FRAME_COLOURS.context);
    if (this.cell) this.drawCross(area);
  }

  // Lets `draw` draw with an opacity, times the one that is set.
  withOpacity(opacity, draw) {
    const { pen } = this, before = pen.globalAlpha;
    pen.globalAlpha = before * opacity;
    draw();
    pen.globalAlpha = before;
  }

  // Cells of a matrix with their numbers, in a rectangle; `opacityOf` a cell is from 0 to 1, without it all are opaque.
  drawCells(matrix, area, opacityOf = null) {
    const { pen } = this, { w, h } = this.boxOf(matrix, area, 0, 0);
    if (!opacityOf) pen.drawImage(matrix.picture, area.x, area.y, area.w, area.h);
    const hasNumbers = w >= MIN_NUMBER_WIDTH && h >= 15;
    if (!opacityOf && !hasNumbers) return;
    for (let row = 0; row < matrix.n; row++) {
      for (let column = 0; column < matrix.m; column++) {
        const opacity = opacityOf ? opacityOf(row, column) : 1, box = this.boxOf(matrix, area, row, column);
        if (opacity > 0) this.withOpacity(opacity, () => {
          if (opacityOf) pen.drawImage(matrix.picture, column, row, 1, 1, box.x, box.y, w, h);
          if (hasNumbers) this.drawNumber(matrix, matrix.at(row, column), box);
        });
      }
    }
  }

  drawNumber(matrix, value, { x, y, w, h }, text = cellText(value, matrix.isShare)) {
    const [r, g, b, opacity] = matrix.channels(value);
    const ink = opacity < 1 ? this.ink : 0.299 * r + 0.587 * g + 0.114 * b < 130 ? "#ffffff" : "#1B1F24";
    this.write(text, x + w / 2, y + h / 2, { align: "center", colour: ink, room: w, size: clamp(h / 4, 12, 20) });
  }

  drawTile(matrix, row, column, box, { text, alpha = 1 } = {}) {
    this.withOpacity(alpha, () => {
      this.pen.drawImage(matrix.picture, column, row, 1, 1, box.x, box.y, box.w, box.h);
      if (box.w >= 22 && box.h >= 14) this.drawNumber(matrix, matrix.at(row, column), box, text);
    });
  }

  boxOf(matrix, area, row, column) {
    const [w, h] = [area.w / matrix.m, area.h / matrix.n];
    return { x: area.x + column * w, y: area.y + row * h, w, h };
  }

  // A frame around a row (column null), a column (row null) or a cell.
  drawFrame(area, matrix, row, column, colour) {
    const { pen } = this, first = this.boxOf(matrix, area, row ?? 0, column ?? 0);
    const [w, h] = [column === null ? area.w : first.w, row === null ? area.h : first.h];
    for (const [width, stroke] of [[4, "rgba(255,255,255,0.85)"], [2, colour]]) {
      [pen.lineWidth, pen.strokeStyle] = [width, stroke];
      pen.strokeRect(first.x, first.y, Math.max(w, 1), Math.max(h, 1));
    }
  }

  drawProduct(area, layout, folded) {
    const { pen, time, matrix, factors: [left, right] } = this, { row, column } = this.currentCell();
    this.withOpacity(1 - folded, () => {
      this.drawCells(left, layout.left);
      this.drawCells(right, layout.right);
      this.drawFactorNames(layout);
    });
    if (time === 1) this.drawCells(matrix, area);
    else {
      const nDone = eased(time, FLIGHT_END, FILL_END) * matrix.n;
      [pen.lineWidth, pen.strokeStyle] = [1, EDGES];
      pen.strokeRect(area.x, area.y, area.w, area.h);
      if (matrix.isLarge) pen.drawImage(matrix.picture, 0, 0, matrix.m, Math.max(nDone, 0.01), area.x, area.y, area.w, (area.h * nDone) / matrix.n);
      else this.drawCells(matrix, area, (i, j) => (i === this.row && j === this.column && time >= FLIGHT_END) || i + (j + 1) / matrix.m <= nDone ? 1 : 0);
      if (time < FLIGHT_END) this.flyIntoCell(area, layout, time / FLIGHT_END);
    }
    if (folded >= 0.5) return;
    const [first, second] = this.data.factors.map((factor) => FRAME_COLOURS[factor.role] ?? "#6B7785");
    this.drawFrame(layout.left, left, Math.floor((row * left.n) / matrix.n), null, first);
    this.drawFrame(layout.right, right, null, Math.floor((column * right.m) / matrix.m), second);
    if (time < 1 || this.cell) this.drawFrame(area, matrix, row, column, this.ink);
  }

  // The cell that is being computed, or pointed at.
  currentCell() {
    const { time, matrix } = this;
    const [row, column] = time === 1 ? this.litCell() : [this.row, this.column];
    if (time < FLIGHT_END || time === 1) return { row, column };
    const nDone = Math.min(eased(time, FLIGHT_END, FILL_END) * matrix.n, matrix.n - 1e-6);
    return { row: Math.floor(nDone), column: Math.floor((nDone % 1) * matrix.m) };
  }

  // The numbers of a row and of a column glide into their cell, where their products add up; the time is from 0 to 1.
  flyIntoCell(area, layout, time) {
    const { matrix, factors: [left, right] } = this, k = left.m, goal = this.boxOf(matrix, area, this.row, this.column);
    const i = Math.floor((this.row * left.n) / matrix.n), j = Math.floor((this.column * right.m) / matrix.m), nFlights = Math.min(k, MAX_FLIGHTS);
    const edgeOf = (flight) => Math.floor((flight * k) / nFlights);
    let nLanded = 0;
    for (let flight = 0; flight < nFlights; flight++) {
      const from = edgeOf(flight), start = (0.7 * flight) / nFlights, moved = eased(time, start, start + 0.3);
      if (moved === 1) nLanded++;
      else if (moved > 0) {
        this.drawTile(left, i, from, boxBetween(this.boxOf(left, layout.left, i, from), goal, moved), { alpha: 0.9 });
        this.drawTile(right, from, j, boxBetween(this.boxOf(right, layout.right, from, j), goal, moved), { alpha: 0.9 });
      }
    }
    const sum = dotProduct(left, right, i, j, edgeOf(nLanded));
    if (nLanded) this.drawTile(matrix, this.row, this.column, goal, { text: this.data.kind === "product" ? cellText(sum) : "" });
  }

  // The numbers before come in from the left, and change one after the other.
  slide(area) {
    const { pen, time, matrix, before } = this, arrived = eased(time, 0, 0.35);
    const changed = eased(time, 0.45, 0.95), left = { ...area, x: area.x - (1 - arrived) * 50 };
    if (time < 0.95) this.withOpacity(arrived * (1 - changed), () => this.drawCells(before, left));
    if (matrix.isLarge) this.withOpacity(changed, () => pen.drawImage(matrix.picture, area.x, area.y, area.w, area.h));
    else this.drawCells(matrix, area, (row, column) => clamp((time - 0.45) * 4 - (row + column) / (matrix.n + matrix.m), 0, 1));
  }

  // What is masked falls out of the matrix.
  fall(area) {
    const { time, matrix, before } = this;
    if (matrix.isLarge || before.n !== matrix.n) return this.slide(area);
    this.drawCells(before, area, (row, column) => (Number.isNaN(matrix.at(row, column)) ? 0 : 1));
    for (let row = 0; row < matrix.n; row++) {
      for (let column = 0; column < matrix.m; column++) {
        if (!Number.isNaN(matrix.at(row, column))) continue;
        const box = this.boxOf(matrix, area, row, column), fallen = clamp(1.6 * time - (0.6 * column) / matrix.m, 0, 1) ** 2;
        this.drawTile(matrix, row, column, box, { alpha: fallen });
        this.drawTile(before, row, column, { ...box, y: box.y + fallen * (area.h - (box.y - area.y)) }, { alpha: 1 - fallen });
      }
    }
  }

  // The cells of a row become as wide as their weights, side by side as a bar of length 1, and then cells again.
  squeeze(area) {
    const { time, matrix, before } = this;
    if (matrix.isLarge || before.n !== matrix.n) return this.slide(area);
    if (time < 0.2) return this.drawCells(before, area);
    const share = eased(time, 0.2, 0.5) - eased(time, 0.75, 1), colours = eased(time, 0.2, 0.5);
    for (let row = 0; row < matrix.n; row++) {
      let x = area.x, total = 0;
      for (let column = 0; column < matrix.m; column++) total += matrix.at(row, column) || 0;
      for (let column = 0; column < matrix.m; column++) {
        const box = this.boxOf(matrix, area, row, column), weight = (matrix.at(row, column) || 0) / (total || 1);
        const tile = boxBetween(box, { ...box, x, w: weight * area.w }, share);
        x += weight * area.w;
        const [scoreText, weightText] = time < 0.35 ? [undefined, ""] : ["", undefined]; // undefined = the number
        this.drawTile(before, row, column, tile, { text: scoreText, alpha: 1 - colours });
        this.drawTile(matrix, row, column, tile, { text: weightText, alpha: colours });
      }
      if (share > 0.5) this.write("= 1", area.x + area.w + 5, area.y + ((row + 0.5) * area.h) / matrix.n);
    }
  }

  // Labels beside the rows and above the columns, level or slanted, all or one at each interval.
  drawLabels(area, { isLevel }, left, folded) {
    const { matrix, pen } = this, [w, h] = [area.w / matrix.m, area.h / matrix.n], [rows, columns] = this.labels;
    const x = interpolate(left, area.x, folded), top = folded < 0.5 && this.factors.length ? this.layouts.open.right.y : area.y;
    pen.font = `${Math.max(12, this.least)}px ${this.font}`;
    const shortened = (text, room) => {
      let result = text;
      while (result.length > 1 && pen.measureText(result).width > room) result = `${result.slice(0, -2)}…`;
      return result;
    };
    const intervalOf = (labels, room, side) => (labels.length > MAX_LABELS ? 1 : Math.ceil(Math.max(room, this.least) / side));
    const rowInterval = intervalOf(rows, 14, h), columnInterval = intervalOf(columns, isLevel ? 16 : 14, w);
    for (let row = 0; row < rows.length; row += rowInterval) {
      this.write(shortened(rows[row], this.rowRoom - 8), x - 6, area.y + (row + 0.5) * h, { align: "right" });
    }
    for (let column = 0; column < columns.length; column += columnInterval) {
      const middle = area.x + (column + 0.5) * w;
      if (isLevel) this.write(shortened(columns[column], Math.max(w * columnInterval, 24)), middle, top - 9, { align: "center" });
      else {
        pen.save();
        pen.translate(middle, top - 5);
        pen.rotate(-Math.PI / 4);
        this.write(shortened(columns[column], MAX_SLANTED), 0, 0);
        pen.restore();
      }
    }
  }

  drawFactorNames({ left, right }) {
    for (const [index, x, y] of [[0, left.x + left.w, left.y - 8], [1, right.x - 5, right.y + right.h - 8]]) {
      const { symbol, role } = this.data.factors[index];
      this.write(symbol, x, y, { align: "right", colour: FRAME_COLOURS[role] ?? this.ink, weight: "bold" });
    }
  }

  // A matrix with an axis of positions in a picture becomes a sheet of pictures: one for each column, or, where the columns are
  // the positions (`flat`), one for each row. A further position, which is in no picture, has its number written above.
  layOutSheet() {
    const { data, matrix, width } = this, [tall, wide] = data.grid, [n, count] = data.flat ? [matrix.m, matrix.n] : [matrix.n, matrix.m];
    const hasFurther = n > tall * wide, isSingle = count === 1, few = Math.ceil(4 * Math.min(1, (2 * tall) / wide));
    const across = isSingle ? 1 : count <= 16 ? few : count <= 24 ? 6 : 8, nameHeight = isSingle && !hasFurther ? 0 : NAME_HEIGHT;
    const size = isSingle ? data.size - 120 : data.size, gap = isSingle ? 0 : SHEET_GAP;
    const scale = (Math.min(size, width) / across - gap) / Math.max(tall, wide);
    this.sheet = { count, hasFurther, across, nameHeight, w: wide * scale, h: tall * scale };
    return Math.ceil(count / across) * (tall * scale + SHEET_GAP + nameHeight) + BAR_HEIGHT;
  }

  pictureBox(picture) {
    const { across, nameHeight, w, h } = this.sheet;
    return { x: (picture % across) * (w + SHEET_GAP), y: Math.floor(picture / across) * (h + SHEET_GAP + nameHeight) + nameHeight, w, h };
  }

  valueAt(matrix, picture, position) { return this.data.flat ? matrix.at(picture, position) : matrix.at(position, picture); }

  picturesOf(matrix, number = (picture, position) => this.valueAt(matrix, picture, position)) {
    const [height, width] = this.data.grid;
    return Array.from({ length: this.sheet.count }, (_, picture) => {
      const canvas = create("canvas", { width, height });
      putPixels(canvas, arrayOf(Uint32Array, height * width, (position) => matrix.pixel(number(picture, position))));
      return canvas;
    });
  }

  pictureName(picture) {
    const { data, matrix, sheet, pen } = this, side = data.flat ? 0 : 1, label = (data.flat ? data.rows : data.columns)[picture];
    const further = sheet.hasFurther ? `  ∅ ${cellText(this.valueAt(matrix, picture, data.grid[0] * data.grid[1]))}` : "";
    const name = `${data.names[side].replace(/s$/, "")} ${label}${further}`;
    pen.font = `${Math.max(12, this.least)}px ${this.font}`;
    return data.flat || pen.measureText(name).width > sheet.w ? `${label}${further}` : name;
  }

  // Products add up picture by picture, numbers that change fade into each other, others come from above.
  drawSheet() {
    const { data, matrix, before, factors: [left, right], pen, time } = this, [tall, wide] = data.grid, { count, nameHeight } = this.sheet;
    if (this.pictured !== matrix) {
      this.pictured = matrix;
      [this.pictures, this.earlier] = [matrix, before?.n === matrix.n ? before : null].map((matrix) => matrix && this.picturesOf(matrix));
    }
    const background = this.over, nAdded = data.flat && left && time < 1 ? Math.floor(eased(time, 0, 0.95) * left.m) : null;
    const sum = (picture, position) => dotProduct(left, right, picture, position, nAdded);
    const pictures = nAdded === null ? this.pictures : this.picturesOf(matrix, sum), fades = this.earlier && time < 1, opacity = fades ? eased(time, 0.1, 0.9) : 1;
    for (let picture = 0; picture < count; picture++) {
      const box = this.pictureBox(picture), nRows = fades || nAdded !== null ? tall : Math.ceil(tall * clamp(time * 2 - picture / count, 0, 1));
      pen.imageSmoothingEnabled = Boolean(data.glow);
      if (background) pen.drawImage(background, box.x, box.y, box.w, box.h);
      pen.imageSmoothingEnabled = false;
      for (const [layer, alpha] of [[fades && this.earlier, 1 - opacity], [nRows && !(data.ink && background) && pictures, opacity]]) {
        if (layer) this.withOpacity(alpha, () => pen.drawImage(layer[picture], 0, 0, wide, nRows, box.x, box.y, box.w, (box.h * nRows) / tall));
      }
      if (nameHeight) this.write(this.pictureName(picture), box.x, box.y - 8, { room: box.w });
      [pen.lineWidth, pen.strokeStyle] = [1, EDGES];
      pen.strokeRect(box.x, box.y, box.w, box.h);
      const marked = this.cell?.[data.flat ? 1 : 0] ?? (data.flat ? data.column : data.query);
      const colour = FRAME_COLOURS[data.flat || !data.isQuery ? "key" : "query"];
      if (marked !== null && marked < tall * wide) this.drawFrame(box, { n: tall, m: wide }, Math.floor(marked / wide), marked % wide, colour);
    }
    if (nAdded !== null) this.write(`${nAdded} of ${left.m} products are added`, 230, this.height - BAR_HEIGHT + 28);
  }

  // The colours, from the lowest to the highest number.
  drawBar(y) {
    const { matrix, pen, data } = this, x = data.grid ? 0 : this.area.x, width = Math.min(220, this.width - x - 60);
    if (data.ink || width < 60) return;
    pen.drawImage(matrix.rampPicture, x, y, width, 8);
    this.write(minus(`${+matrix.low.toPrecision(2)}`), x, y + 16);
    this.write(minus(`${matrix.isCut ? "≥ " : ""}${+matrix.high.toPrecision(2)}`), x + width, y + 16, { align: "right" });
    if (matrix.uniform && matrix.uniform < 0.8 * matrix.high) {
      const tick = x + (width * matrix.uniform) / matrix.high;
      pen.fillStyle = this.ink;
      pen.fillRect(tick, y - 2, 1.5, 12);
      if (tick > x + 24) this.write(`1/${data.n_keys || data.whole[1]}`, tick, y + 16, { align: "center" });
    }
  }

  cellUnder(event) {
    if (!this.matrix) return null;
    const [x, y] = pointIn(this.canvas, event), { data, matrix } = this;
    if (data.grid) {
      const [tall, wide] = data.grid;
      for (let picture = 0; picture < this.sheet.count; picture++) {
        const box = this.pictureBox(picture), [i, j] = [Math.floor(((y - box.y) / box.h) * tall), Math.floor(((x - box.x) / box.w) * wide)];
        if (i >= 0 && i < tall && j >= 0 && j < wide) return data.flat ? [picture, i * wide + j] : [i * wide + j, picture];
      }
      return null;
    }
    const row = Math.floor(((y - this.area.y) / this.area.h) * matrix.n), column = Math.floor(((x - this.area.x) / this.area.w) * matrix.m);
    return row >= 0 && row < matrix.n && column >= 0 && column < matrix.m ? [row, column] : null;
  }

  // The row and the column that are pointed at, or else those whose numbers move first.
  litCell() { return [this.cell?.[0] ?? this.row, this.cell?.[1] ?? this.column]; }

  pointAt(cell) {
    if (this.playing || !this.matrix) return;
    if (!cell) return this.pointed.leave();
    this.pointed.look(cell.map((index, side) => [this.data.names[side], index * this.positionsPer(side)]));
  }

  // Positions of an axis that one row or column stands for.
  positionsPer(side) { return Math.ceil(this.data.whole[side] / this.data.shape[side]); }

  light(places) {
    if (this.playing || !this.matrix) return;
    const { data } = this, isOfKeys = ["key", "value"].includes(data.role);
    const cell = data.names.map((name, side) => {
      const position = placeOn(places, name, side === 1 || isOfKeys);
      return position === null || position >= data.whole[side] ? null : Math.floor(position / this.positionsPer(side));
    });
    if (String(cell) === String(this.cell ?? [null, null])) return;
    this.cell = cell.some((index) => index !== null) ? cell : null;
    this.redraw();
    this.announcement.textContent = cell.includes(null) || places.length < 2 ? "" : this.describe(cell);
  }

  // A cell's labels and number in words.
  describe(cell) {
    const { data, matrix } = this;
    const value = matrix.at(...cell), prefix = data.shape[0] < data.whole[0] || data.shape[1] < data.whole[1] ? "at most " : "";
    const noNumber = data.role === "scores" ? "−∞" : "nothing";
    const number = Number.isNaN(value) ? noNumber : prefix + minus(`${+value.toPrecision(3)}`);
    return `${data.rows[cell[0]]} → ${data.columns[cell[1]]}: ${number}`;
  }

  drawCross(area) {
    const [row, column] = this.cell;
    if (row !== null) this.drawFrame(area, this.matrix, row, null, FRAME_COLOURS.query);
    if (column !== null) this.drawFrame(area, this.matrix, null, column, FRAME_COLOURS.key);
  }

  chooseCell(cell) {
    if (!cell) return;
    this.choose?.(...cell.map((index, side) => index * this.positionsPer(side)));
    if (this.factors.length && !this.data.grid && !this.layouts.staysOpen) { [this.row, this.column] = cell; this.play(); }
  }
}
