// A step's matrix, and how its numbers come about: rows and columns meet and their products add up, old numbers become new
// ones, a softmax squeezes each row to one. All is drawn on one canvas, so that it can be saved as a film.
import { arrayOf, channelsOf, clamp, create, isNew, make, minus, pixelOf, placeOn, pointedIn, pointIn, putPixels, set, wantsLessMotion } from "./prelude.js";
import { numbersOf } from "./packed_heads.js";
import { CLEARNESS, LINEAR_FROM, MIN_EXPONENT, PINK, ROLE_COLOURS, STRONGEST, UNIFORM_AT } from "./colours.js";
import { asMatrix, MASK, RAMPS } from "./matrix_view.js";
import { Film } from "./film.js";

const SECONDS = 1.4, LARGEST_CELL = 110, ROOM = 360, LEAST_SIDE = 48, NUMBERS_FROM = 30, GAP = 14, BAR = 34, MOST_FLIGHTS = 12, MOST_WORDS = 64;
const OPEN_FROM = 22; // pixels of a cell from which on the factors of a product stay beside it
const SLANT = 0.72, MOST_SLANTED = 92; // what a slanted word takes of its length across and upwards, and the length at which it is cut
const SINGLE = "1 × 1";
const MARK = { ...ROLE_COLOURS, input: undefined, output: undefined }; // which are no parts of attention

const between = (from, to, share) => from + (to - from) * share;
const part = (time, from, to) => { const share = clamp((time - from) / (to - from), 0, 1); return share * share * (3 - 2 * share); };
const mixed = (from, to, share) => Object.fromEntries(["x", "y", "w", "h"].map((side) => [side, between(from[side], to[side], share)]));

// A number that fits a cell.
const inCell = (value) => {
  if (!Number.isFinite(value)) return "";
  const size = Math.abs(value), text = size >= 1000 ? size.toExponential(0) : size >= 100 ? size.toFixed(0) : `${+size.toFixed(2)}`;
  return value < 0 && text !== "0" ? `−${text}` : text;
};

// Positions along a long axis of which so many labels came: every hundredth, say.
const numbered = (n, whole) => {
  const each = 10 ** Math.ceil(Math.log10(whole / 10));
  return Array.from({ length: n }, (_, at) => {
    const [first, next] = [at, at + 1].map((one) => Math.floor((one * whole) / n / each));
    return next > first ? `${next * each}` : "";
  });
};

// What is made of each of many codes: once of a code, where there are fewer kinds of them.
const ofCodes = (Kind, codes, kinds, make) => {
  const table = codes.length > kinds && arrayOf(Kind, kinds, make);
  return arrayOf(Kind, codes.length, table ? (at) => table[codes[at]] : (at) => make(codes[at]));
};

// Numbers with their colours.
class Grid {
  constructor({ shape, whole, low, high, steps, power, role, ink, glow, over, reach: least = 0, n_keys }, codes) {
    [this.n, this.m] = shape;
    const uniform = 1 / (n_keys || whole[1]);
    this.isEmpty = role === "weights" && codes.every((code) => !code);  // to be guessed
    const value = (code) => (code ? low + ((code - 1) / steps) ** power * (high - low) : NaN);
    this.each = (Kind, make) => ofCodes(Kind, codes, steps + 2, (code) => make(value(code)));
    this.values = this.each(Float64Array, (value) => value);
    Object.assign(this, { low, high: Math.max(high, least), picture: create("canvas", { width: this.m, height: this.n }) });
    if (ink) { this.tint(ink); return; }
    if (glow) {
      Object.assign(this, { low: 0, high: glow, uniform, isCut: high > glow });
      this.pixel = (value) => pixelOf(channelsOf(PINK), 255 * (over ? STRONGEST : 1) * clamp(value / glow, 0, 1) ** CLEARNESS);
    } else if (role === "weights") this.rise(RAMPS.weights, uniform);
    else if (role === "output" && low >= 0) this.rise(RAMPS.rising);
    else {
      const reach = Math.max(Math.abs(low), Math.abs(this.high)) || 1;
      [this.low, this.high] = [-reach, reach];
      this.pixel = (value) => RAMPS.signed[Math.round(127.5 * (1 + clamp(value / reach, -1, 1)))];
    }
    this.paint();
  }

  // Draws numbers that are ink, from 0 to 1, in a colour.
  tint(ink) {
    this.ink = ink;
    this.pixel = (value) => pixelOf(ink.match(/\d+/g), Math.round(255 * clamp(value, 0, 1)));
    this.paint();
  }

  paint() {
    putPixels(this.picture, this.each(Uint32Array, (value) => this.shade(value)));
  }

  rise(ramp, uniform = 0) {
    this.low = 0;
    this.high = Math.max(this.high, 1.02 * uniform) || 1;
    const ratio = uniform / this.high, exponent = !uniform || ratio > LINEAR_FROM ? 1 : clamp(Math.log(UNIFORM_AT) / Math.log(ratio), MIN_EXPONENT, 1);
    this.uniform = uniform;
    this.share = (value) => clamp(value / this.high, 0, 1) ** exponent;
    this.pixel = (value) => ramp[Math.round(255 * this.share(value))];
  }

  // Its colours from the lowest to the highest number, side by side.
  get scale() {
    if (!this.ramp) {
      this.ramp = create("canvas", { width: 256, height: 1 });
      putPixels(this.ramp, arrayOf(Uint32Array, 256, (step) => this.pixel(between(this.low, this.high, step / 255))));
    }
    return this.ramp;
  }

  at(row, column) { return this.values[row * this.m + column]; }

  shade(value) { return Number.isNaN(value) ? MASK : this.pixel(value); }

  // Red, green, blue and opacity, from 0 to 1.
  colour(value) {
    const pixel = this.shade(value);
    return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255, (pixel >>> 24) / 255];
  }
}

// A step with its numbers and labels, which stand among the parts that steps share.
export const withParts = (step, parts) => {
  const whole = (one) => one && { ...one, data: parts[one.data] };
  return { ...whole(step), rows: parts[step.rows], columns: parts[step.columns], before: whole(step.before), factors: step.factors.map(whole) };
};

const matricesOf = (step) => [step, step.before, ...step.factors];

export const codesOf = (step) => Promise.all(matricesOf(step).map((one) => one && numbersOf(one.data)));

// Of how many numbers a cell is the largest: at rest, and in what its numbers come from.
const reductionOf = (step) => {
  const block = ({ whole, shape }) => whole.map((n, side) => Math.ceil(n / shape[side]));
  const largest = (matrices) => matrices.map(block).sort(([a, b], [c, d]) => c * d - a * b)[0]?.join(" × ") ?? SINGLE;
  const atRest = largest([step]), moving = largest([step.before, ...step.factors].filter(Boolean));
  if (atRest === SINGLE) return moving === SINGLE ? "" : `While it moves, a cell is the largest of ${moving} numbers.`;
  return `Each cell is the largest of ${atRest} numbers${moving === SINGLE ? "" : `, and while it moves of ${moving}`}.`;
};

export class MovingStep extends Film {
  // `choose` gets the row and column of a clicked cell.
  constructor(root, choose) {
    super(root, "How the numbers of this step come about", "Show how these numbers come about");
    Object.assign(this, { choose, seconds: SECONDS });
    this.canvas.tabIndex = 0;
    this.line = make(root, "p", { class: "small said", "aria-live": "polite" });
    this.note = make(root, "p", "note");
    this.pointed = pointedIn(root, (places) => this.light(places));
  }

  get title() { return this.data.title; }

  get size() { return [this.grid.n, this.grid.m]; }

  async adopt(data) {
    if (!isNew(this, data)) return;
    const stamp = (this.stamp = {}), codes = await codesOf(data);
    if (stamp === this.stamp) this.put(data, codes);
  }

  put(data, codes) {
    const given = matricesOf(data);
    this.measure();
    const [grid, before, ...factors] = given.map((one, place) => one && new Grid({ ...one, ink: data.ink && !place && (this.ink || "rgb(128, 128, 128)") }, codes[place]));
    if (!this.data) asMatrix(this);
    const moved = this.data && this.data.symbol + this.data.title !== data.symbol + data.title;
    const row = data.query === null ? 0 : Math.floor((data.query * grid.n) / data.whole[0]);
    const isSame = data.query === null || row === this.row;
    const goesOn = this.playing && !moved && isSame && String(this.data.shape) === String(data.shape); // from what was clicked
    Object.assign(this, { data, grid, before, factors, cell: null });
    if (!goesOn) this.row = row;
    if (!goesOn) this.column = data.column === null ? this.strongest() : Math.floor((data.column * grid.m) / data.whole[1]);
    const about = `${data.title}: ${data.whole[0]} ${data.names[0]} by ${data.whole[1]} ${data.names[1]}`;
    set(this.canvas, { "aria-label": `${about}. Arrow keys go from number to number.` });
    const quiet = wantsLessMotion(), moves = Boolean(data.kind) || data.grid;
    this.bar.hidden = !moves;
    this.note.textContent = reductionOf(data);
    if (goesOn) return;
    this.stop();
    this.show(1);
    if (moved && moves && !quiet && !document.hidden) this.play();
  }

  strongest() {
    let best = 0;
    for (let column = 1; column < this.grid.m; column++) {
      if (Math.abs(this.grid.at(this.row, column)) > Math.abs(this.grid.at(this.row, best))) best = column;
    }
    return best;
  }

  stop() {
    super.stop();
    this.light(this.pointed.places());
  }

  // Where all stands: the result, the factors beside it if there is room, the room of labels.
  lay() {
    const { data, grid, factors } = this, { width } = this, [n, m] = [grid.n, grid.m];
    this.pen.font = `${Math.max(12, this.least)}px ${this.font}`;
    const longest = (labels) => Math.max(0, ...labels.slice(0, 400).map((label) => this.pen.measureText(label).width));
    this.names = [data.rows, data.columns].map((labels, side) => (labels.length > MOST_WORDS ? numbered(labels.length, data.whole[side]) : labels));
    const rowRoom = Math.min(longest(this.names[0]), width / 5, 110) + 8, columns = longest(this.names[1]);
    let size = Math.min(data.size, width);
    const k = factors.length ? factors[0].m : 0;
    const lay = (open) => {
      const inner = open ? k : 0, gap = open ? GAP : 0, across = size - rowRoom, down = Math.max(size - 60, 120);
      const largest = clamp(ROOM / (n + inner), 54, LARGEST_CELL), cell = (room, count) => Math.min((room - gap) / (count + inner), largest);
      let side = Math.min(cell(across, m), cell(down, n));
      const share = (room) => Math.min(inner * Math.max(side, 2), 0.3 * room);
      let w = Math.min(m * side, across), h = Math.min(n * side, down);
      if (open && inner * side > 0.3 * Math.min(across, down)) {
        side = Math.min((0.7 * across - gap) / m, (0.7 * down - gap) / n, largest);
        [w, h] = [m * side, n * side];
      }
      w = Math.max(w, Math.min(LEAST_SIDE * m, across - share(across) - gap));
      h = Math.max(h, Math.min(LEAST_SIDE * n, ROOM, down - share(down) - gap));
      const fits = columns <= w / m - 4 || Math.max(...this.names[1].map((label) => label.length)) <= 3;
      const tall = fits ? 18 : Math.min(SLANT * columns + 12, 80), left = open ? share(across) : 0, over = open ? share(down) : 0;
      const result = { x: rowRoom + left + gap, y: tall + over + gap, w, h };
      return { result, left: { x: rowRoom, y: result.y, w: left, h }, right: { x: result.x, y: tall, w, h: over }, fits, side: Math.min(w / m, h / n) };
    };
    // Slanted names of the last columns reach beyond them.
    const end = ({ result: { x, w } }) => Math.max(...this.names[1].map((label, column) => x + ((column + 0.5) * w) / m + SLANT * Math.min(longest([label]), MOST_SLANTED)));
    const first = lay(false);
    if (!first.fits) size -= Math.max(0, end(first) - width);
    const closed = lay(false), open = k ? lay(true) : closed;
    this.rowRoom = rowRoom;
    this.places = { closed, open, stays: k > 0 && open.side >= OPEN_FROM };
    return Math.max(closed.result.y + closed.result.h, open.result.y + open.result.h) + BAR;
  }

  draw() {
    const { width } = this;
    if (!this.grid || !this.measure()) return;
    if (this.grid.ink && this.grid.ink !== this.ink) {  // dark or light has changed
      this.grid.tint(this.ink);
      this.drawn = null;
    }
    if (this.measured !== this.grid || width !== this.width) {
      this.measured = this.grid;
      this.height = this.data.grid ? this.laySheet() : this.lay();
    }
    this.clear(this.height);
    this.pen.imageSmoothingEnabled = false;
    if (this.data.grid) this.drawSheet();
    else this.drawMatrix();
    this.drawBar(this.height - BAR + 12);
  }

  drawMatrix() {
    const { data, time, places, factors, grid } = this, folded = places.stays || !factors.length ? 0 : part(time, 0.88, 1);
    const at = factors.length ? mixed(places.open.result, places.closed.result, folded) : places.closed.result, lay = folded < 0.5 && factors.length ? places.open : places.closed;
    this.at = at;
    this.labels(at, lay, factors.length ? places.open.left.x : at.x, folded);
    if (factors.length && folded < 1) this.product(at, places.open, folded);
    else if (time < 1 && this.before) this[{ softmax: "squeeze", mask: "fall" }[data.kind] ?? "slide"](at);
    else this.cells(grid, at);
    if (grid.isEmpty) this.lattice(at);
    if (time === 1 && data.query !== null && grid.n > 1) this.frame(at, grid, this.row, null, MARK.query);
    if (!data.kind && data.column !== null) this.frame(at, grid, this.row, this.column, this.ink);
    for (const cell of data.framed ?? []) this.frame(at, grid, ...cell, MARK.context);
    if (this.cell) this.cross(at);
  }

  // Cells of a matrix with their numbers, in a rectangle; `shown` says of each how much of it is to be seen.
  cells(grid, at, shown = null) {
    const { pen } = this, [w, h] = [at.w / grid.m, at.h / grid.n];
    if (!shown) pen.drawImage(grid.picture, at.x, at.y, at.w, at.h);
    const numbers = w >= NUMBERS_FROM && h >= 15;
    if (!shown && !numbers) return;
    for (let row = 0; row < grid.n; row++) {
      for (let column = 0; column < grid.m; column++) {
        const alpha = shown ? shown(row, column) : 1, box = { x: at.x + column * w, y: at.y + row * h, w, h };
        if (alpha <= 0) continue;
        if (shown) pen.globalAlpha = alpha;
        if (shown) pen.drawImage(grid.picture, column, row, 1, 1, box.x, box.y, w, h);
        if (numbers) this.number(grid, grid.at(row, column), box);
        if (shown) pen.globalAlpha = 1;
      }
    }
  }

  // The edges of cells that hold nothing yet.
  lattice(at) {
    const { grid, pen } = this;
    [pen.lineWidth, pen.strokeStyle] = [1, "rgba(128,128,128,0.5)"];
    for (let place = 0; place < grid.n * grid.m; place++) {
      const { x, y, w, h } = this.boxOf(grid, at, Math.floor(place / grid.m), place % grid.m);
      pen.strokeRect(x, y, w, h);
    }
  }

  number(grid, value, { x, y, w, h }, text = inCell(value)) {
    const [r, g, b, opacity] = grid.colour(value);
    const ink = opacity < 1 ? this.ink : 0.299 * r + 0.587 * g + 0.114 * b < 130 ? "#ffffff" : "#1B1F24";
    this.write(text, x + w / 2, y + h / 2, { align: "center", colour: ink, room: w, size: clamp(h / 4, 12, 20) });
  }

  tile(grid, row, column, box, { text, alpha = 1 } = {}) {
    this.pen.globalAlpha = alpha;
    this.pen.drawImage(grid.picture, column, row, 1, 1, box.x, box.y, box.w, box.h);
    if (box.w >= 22 && box.h >= 14) this.number(grid, grid.at(row, column), box, text);
    this.pen.globalAlpha = 1;
  }

  boxOf(grid, at, row, column) {
    const [w, h] = [at.w / grid.m, at.h / grid.n];
    return { x: at.x + column * w, y: at.y + row * h, w, h };
  }

  // A frame around a row, or one cell of it, or a column.
  frame(at, grid, row, column, colour) {
    const { pen } = this, first = this.boxOf(grid, at, row ?? 0, column ?? 0);
    const [w, h] = [column === null ? at.w : first.w, row === null ? at.h : first.h];
    for (const [width, stroke] of [[4, "rgba(255,255,255,0.85)"], [2, colour]]) {
      [pen.lineWidth, pen.strokeStyle] = [width, stroke];
      pen.strokeRect(first.x, first.y, Math.max(w, 1), Math.max(h, 1));
    }
  }

  product(at, places, folded) {
    const { pen, time, grid, factors: [left, right] } = this, { row, column } = this.now();
    pen.globalAlpha = 1 - folded;
    this.cells(left, places.left);
    this.cells(right, places.right);
    this.factorNames(places);
    pen.globalAlpha = 1;
    if (time === 1) this.cells(grid, at);
    else {
      const done = part(time, 0.5, 0.9) * grid.n, large = grid.n * grid.m > 4000;
      pen.strokeStyle = "rgba(128,128,128,0.5)";
      pen.lineWidth = 1;
      pen.strokeRect(at.x, at.y, at.w, at.h);
      if (large) pen.drawImage(grid.picture, 0, 0, grid.m, Math.max(done, 0.01), at.x, at.y, at.w, (at.h * done) / grid.n);
      else this.cells(grid, at, (i, j) => (i === this.row && j === this.column && time >= 0.5) || i + (j + 1) / grid.m <= done ? 1 : 0);
      if (time < 0.5) this.meet(at, places, time / 0.5);
    }
    if (folded >= 0.5) return;
    const [first, second] = this.data.factors.map((factor) => MARK[factor.role] ?? "#6B7785");
    this.frame(places.left, left, Math.floor((row * left.n) / grid.n), null, first);
    this.frame(places.right, right, null, Math.floor((column * right.m) / grid.m), second);
    if (time < 1 || this.cell) this.frame(at, grid, row, column, this.ink);
  }

  // The cell that is being computed, or looked at.
  now() {
    const { time, grid } = this;
    const [row, column] = time === 1 ? this.lit() : [this.row, this.column];
    if (time < 0.5 || time === 1) return { row, column };
    const done = Math.min(part(time, 0.5, 0.9) * grid.n, grid.n - 1e-6);
    return { row: Math.floor(done), column: Math.floor((done % 1) * grid.m) };
  }

  // The numbers of a row and of a column glide into their cell, where their products add up.
  meet(at, places, time) {
    const { grid, factors: [left, right] } = this, k = left.m, goal = this.boxOf(grid, at, this.row, this.column);
    const i = Math.floor((this.row * left.n) / grid.n), j = Math.floor((this.column * right.m) / grid.m), flights = Math.min(k, MOST_FLIGHTS);
    let sum = 0, landed = 0;
    for (let flight = 0; flight < flights; flight++) {
      const [from, to] = [flight, flight + 1].map((one) => Math.floor((one * k) / flights));
      const moved = part(time, (0.7 * flight) / flights, (0.7 * flight) / flights + 0.3);
      if (moved === 1) {
        for (let inner = from; inner < to; inner++) sum += left.at(i, inner) * right.at(inner, j);
        landed++;
      } else if (moved > 0) {
        this.tile(left, i, from, mixed(this.boxOf(left, places.left, i, from), goal, moved), { alpha: 0.9 });
        this.tile(right, from, j, mixed(this.boxOf(right, places.right, from, j), goal, moved), { alpha: 0.9 });
      }
    }
    if (landed) this.tile(grid, this.row, this.column, goal, { text: this.data.kind === "product" ? inCell(sum) : "" });
  }

  // Numbers come from the left as they were, and change in their places, one after the other.
  slide(at) {
    const { pen, time, grid, before } = this, come = part(time, 0, 0.35);
    if (time < 0.95) {
      pen.globalAlpha = come * (1 - part(time, 0.45, 0.95));
      this.cells(before, { ...at, x: at.x - (1 - come) * 50 });
      pen.globalAlpha = 1;
    }
    if (grid.n * grid.m > 4000) {
      pen.globalAlpha = part(time, 0.45, 0.95);
      pen.drawImage(grid.picture, at.x, at.y, at.w, at.h);
      pen.globalAlpha = 1;
    } else this.cells(grid, at, (row, column) => clamp((time - 0.45) * 4 - (row + column) / (grid.n + grid.m), 0, 1));
  }

  // What is masked falls out of the matrix.
  fall(at) {
    const { time, grid, before } = this;
    if (grid.n * grid.m > 4000 || before.n !== grid.n) return this.slide(at);
    this.cells(before, at, (row, column) => (Number.isNaN(grid.at(row, column)) ? 0 : 1));
    for (let row = 0; row < grid.n; row++) {
      for (let column = 0; column < grid.m; column++) {
        if (!Number.isNaN(grid.at(row, column))) continue;
        const box = this.boxOf(grid, at, row, column), fallen = clamp(1.6 * time - (0.6 * column) / grid.m, 0, 1) ** 2;
        this.tile(grid, row, column, box, { alpha: fallen });
        this.tile(before, row, column, { ...box, y: box.y + fallen * (at.h - (box.y - at.y)) }, { alpha: 1 - fallen });
      }
    }
  }

  // Each row becomes one whole that its cells share, and then cells again.
  squeeze(at) {
    const { time, grid, before } = this;
    if (grid.n * grid.m > 4000 || before.n !== grid.n) return this.slide(at);
    if (time < 0.2) return this.cells(before, at);
    const share = part(time, 0.2, 0.5) - part(time, 0.75, 1), colours = part(time, 0.2, 0.5);
    for (let row = 0; row < grid.n; row++) {
      let x = at.x, total = 0;
      for (let column = 0; column < grid.m; column++) total += grid.at(row, column) || 0;
      for (let column = 0; column < grid.m; column++) {
        const box = this.boxOf(grid, at, row, column), weight = (grid.at(row, column) || 0) / (total || 1);
        const place = mixed(box, { ...box, x, w: weight * at.w }, share);
        x += weight * at.w;
        const [old, now] = time < 0.35 ? [undefined, ""] : ["", undefined];
        this.tile(before, row, column, place, { text: old, alpha: 1 - colours });
        this.tile(grid, row, column, place, { text: now, alpha: colours });
      }
      if (share > 0.5) this.write("= 1", at.x + at.w + 5, at.y + ((row + 0.5) * at.h) / grid.n);
    }
  }

  // Words beside the rows and above the columns; of a long axis numbers, here and there.
  labels(at, { fits }, left, folded) {
    const { grid, pen } = this, [w, h] = [at.w / grid.m, at.h / grid.n], [rows, columns] = this.names;
    const x = between(left, at.x, folded), top = folded < 0.5 && this.factors.length ? this.places.open.right.y : at.y;
    pen.font = `${Math.max(12, this.least)}px ${this.font}`;
    const cut = (text, room) => {
      let shown = text;
      while (shown.length > 1 && pen.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
      return shown;
    };
    for (let row = 0, every = rows.length > MOST_WORDS ? 1 : Math.ceil(Math.max(14, this.least) / h); row < rows.length; row += every) {
      this.write(cut(rows[row], this.rowRoom - 8), x - 6, at.y + (row + 0.5) * h, { align: "right" });
    }
    for (let column = 0, every = columns.length > MOST_WORDS ? 1 : Math.ceil(Math.max(fits ? 16 : 14, this.least) / w); column < columns.length; column += every) {
      const middle = at.x + (column + 0.5) * w;
      if (fits) this.write(cut(columns[column], Math.max(w * every, 24)), middle, top - 9, { align: "center" });
      else {
        pen.save();
        pen.translate(middle, top - 5);
        pen.rotate(-Math.PI / 4);
        this.write(cut(columns[column], MOST_SLANTED), 0, 0);
        pen.restore();
      }
    }
  }

  factorNames({ left, right }) {
    const [first, second] = this.data.factors;
    this.write(first.symbol, left.x + left.w, left.y - 8, { align: "right", colour: MARK[first.role] ?? this.ink, weight: "bold" });
    this.write(second.symbol, right.x - 5, right.y + right.h - 8, { align: "right", colour: MARK[second.role] ?? this.ink, weight: "bold" });
  }

  // Positions of a picture: one picture for each dimension, or where they lie along the columns for each row. The number of
  // a place behind them, which is in no picture, is written above it.
  laySheet() {
    const { data, grid, width } = this, [tall, wide] = data.grid, [n, count] = data.flat ? [grid.m, grid.n] : [grid.n, grid.m];
    const isBeside = n > tall * wide, few = Math.ceil(4 * Math.min(1, (2 * tall) / wide));
    const across = count === 1 ? 1 : count <= 16 ? few : count <= 24 ? 6 : 8, name = count === 1 && !isBeside ? 0 : 16;
    const most = count === 1 ? data.size - 120 : data.size, gap = count === 1 ? 0 : 8;
    const scale = (Math.min(most, width) / across - gap) / Math.max(tall, wide);
    this.sheet = { count, isBeside, across, name, w: wide * scale, h: tall * scale };
    return Math.ceil(count / across) * (tall * scale + 8 + name) + BAR;
  }

  sheetPlace(picture) {
    const { across, name, w, h } = this.sheet;
    return { x: (picture % across) * (w + 8), y: Math.floor(picture / across) * (h + 8 + name) + name, w, h };
  }

  placed(grid, picture, place) { return this.data.flat ? grid.at(picture, place) : grid.at(place, picture); }

  picturesOf(grid, number = (picture, place) => this.placed(grid, picture, place)) {
    const [height, width] = this.data.grid;
    return Array.from({ length: this.sheet.count }, (_, picture) => {
      const canvas = create("canvas", { width, height });
      putPixels(canvas, arrayOf(Uint32Array, height * width, (place) => grid.shade(number(picture, place))));
      return canvas;
    });
  }

  sheetName(picture) {
    const { data, grid, sheet, pen } = this, side = data.flat ? 0 : 1, label = (data.flat ? data.rows : data.columns)[picture];
    const beside = sheet.isBeside ? `  ∅ ${inCell(this.placed(grid, picture, data.grid[0] * data.grid[1]))}` : "", whole = `${data.names[side].replace(/s$/, "")} ${label}${beside}`;
    pen.font = `${Math.max(12, this.least)}px ${this.font}`;
    return data.flat || pen.measureText(whole).width > sheet.w ? `${label}${beside}` : whole;
  }

  // Products add up picture by picture, numbers that change fade into each other, others come from above.
  drawSheet() {
    const { data, grid, before, factors: [left, right], pen, time } = this, [tall, wide] = data.grid, { count, name } = this.sheet;
    if (this.drawn !== grid) {
      this.drawn = grid;
      [this.pictures, this.earlier] = [grid, before?.n === grid.n ? before : null].map((one) => one && this.picturesOf(one));
    }
    const below = this.over, added = data.flat && left && time < 1 ? Math.floor(part(time, 0, 0.95) * left.m) : null;
    const sum = (picture, place) => { let all = 0; for (let inner = 0; inner < added; inner++) all += left.at(picture, inner) * right.at(inner, place); return all; };
    const pictures = added === null ? this.pictures : this.picturesOf(grid, sum), fades = this.earlier && time < 1, come = fades ? part(time, 0.1, 0.9) : 1;
    for (let picture = 0; picture < count; picture++) {
      const at = this.sheetPlace(picture), shown = fades || added !== null ? tall : Math.ceil(tall * clamp(time * 2 - picture / count, 0, 1));
      pen.imageSmoothingEnabled = Boolean(data.glow);
      if (below) pen.drawImage(below, at.x, at.y, at.w, at.h);
      pen.imageSmoothingEnabled = false;
      for (const [one, alpha] of [[fades && this.earlier, 1 - come], [shown && !(data.ink && below) && pictures, come]]) {
        pen.globalAlpha = alpha;
        if (one) pen.drawImage(one[picture], 0, 0, wide, shown, at.x, at.y, at.w, (at.h * shown) / tall);
      }
      pen.globalAlpha = 1;
      if (name) this.write(this.sheetName(picture), at.x, at.y - 8, { room: at.w });
      [pen.lineWidth, pen.strokeStyle] = [1, "rgba(128,128,128,0.5)"];
      pen.strokeRect(at.x, at.y, at.w, at.h);
      const marked = this.cell?.[data.flat ? 1 : 0] ?? (data.flat ? data.column : data.query);
      if (marked !== null && marked < tall * wide) this.frame(at, { n: tall, m: wide }, Math.floor(marked / wide), marked % wide, data.flat || !data.isQuery ? MARK.key : MARK.query);
    }
    if (added !== null) this.write(`${added} of ${left.m} products are added`, 230, this.height - BAR + 28);
  }

  // The colours, from the lowest to the highest number.
  drawBar(y) {
    const { grid, pen, data } = this, x = data.grid ? 0 : this.at.x, width = Math.min(220, this.width - x - 60);
    if (data.ink || grid.isEmpty || width < 60) return;
    pen.drawImage(grid.scale, x, y, width, 8);
    this.write(minus(`${+grid.low.toPrecision(2)}`), x, y + 16);
    this.write(minus(`${grid.isCut ? "≥ " : ""}${+grid.high.toPrecision(2)}`), x + width, y + 16, { align: "right" });
    if (grid.uniform && grid.uniform < 0.8 * grid.high) {
      const at = x + (width * grid.uniform) / grid.high;
      pen.fillStyle = this.ink;
      pen.fillRect(at, y - 2, 1.5, 12);
      if (at > x + 24) this.write(`1/${data.n_keys || data.whole[1]}`, at, y + 16, { align: "center" });
    }
  }

  cellUnder(event) {
    if (!this.grid) return null;
    const [x, y] = pointIn(this.canvas, event), { data, grid } = this;
    if (data.grid) {
      const [tall, wide] = data.grid;
      for (let picture = 0; picture < this.sheet.count; picture++) {
        const at = this.sheetPlace(picture), [i, j] = [Math.floor(((y - at.y) / at.h) * tall), Math.floor(((x - at.x) / at.w) * wide)];
        if (i >= 0 && i < tall && j >= 0 && j < wide) return data.flat ? [picture, i * wide + j] : [i * wide + j, picture];
      }
      return null;
    }
    const row = Math.floor(((y - this.at.y) / this.at.h) * grid.n), column = Math.floor(((x - this.at.x) / this.at.w) * grid.m);
    return row >= 0 && row < grid.n && column >= 0 && column < grid.m ? [row, column] : null;
  }

  // The row and the column that are looked at, or else those whose numbers move first.
  lit() { return [this.cell?.[0] ?? this.row, this.cell?.[1] ?? this.column]; }

  look(cell) {
    if (this.playing || !this.grid) return;
    if (!cell) return this.pointed.leave();
    this.pointed.look(cell.map((at, side) => [this.data.names[side], at * this.perPlace(side)]));
  }

  // Positions of an axis that one row or column stands for.
  perPlace(side) { return Math.ceil(this.data.whole[side] / this.data.shape[side]); }

  light(places) {
    if (this.playing || !this.grid) return;
    const { data, grid } = this, ofKeys = ["key", "value"].includes(data.role);
    const cell = data.names.map((name, side) => {
      const at = placeOn(places, name, side === 1 || ofKeys);
      return at === null || at >= data.whole[side] ? null : Math.floor(at / this.perPlace(side));
    });
    if (String(cell) === String(this.cell ?? [null, null])) return;
    this.cell = cell.some((at) => at !== null) ? cell : null;
    this.redraw();
    if (cell.includes(null) || places.length < 2) return void (this.line.textContent = "");
    const value = grid.at(...cell), about = data.shape[0] < data.whole[0] || data.shape[1] < data.whole[1] ? "at most " : "";
    const nothing = grid.isEmpty ? "still hidden" : data.role === "scores" ? "−∞" : "nothing";
    const number = Number.isNaN(value) ? nothing : about + minus(`${+value.toPrecision(3)}`);
    this.line.textContent = `${data.rows[cell[0]]} → ${data.columns[cell[1]]}: ${number}`;
  }

  cross(at) {
    const [row, column] = this.cell;
    if (row !== null) this.frame(at, this.grid, row, null, MARK.query);
    if (column !== null) this.frame(at, this.grid, null, column, MARK.key);
  }

  take(cell) {
    if (!cell) return;
    this.choose?.(...cell.map((at, side) => at * this.perPlace(side)));
    if (this.factors.length && !this.data.grid && !this.places.stays) { [this.row, this.column] = cell; this.play(); }
  }
}
