// What moves in a scene, on a canvas: lines, strips of numbers, dots, columns, and the box in which values lie on each other.
import { arrayOf, asPercent, channelsOf, clamp, create, minus, pixelOf, putPixels } from "./prelude.js";
import { MANY } from "./scene_layout.js";
import { ABOVE_ZERO, BELOW_ZERO, PINK, ROLE_COLOURS } from "./colours.js";

export const LOWEST = 0.08;  // of a column's length
export const HIGHEST = 0.94;
const EQUAL = 1e-6;  // percents that differ by less are written alike
const TICKS = 5, PATH_POINTS = 24, LEAST_TAKEN = 0.01;

export const mix = (from, to, share) => from + (to - from) * share;
const rectBetween = (from, to, share) => ({
  x: mix(from.x, to.x, share), y: mix(from.y, to.y, share), w: mix(from.w, to.w, share), h: mix(from.h, to.h, share),
});
export const middleOf = ({ x, y, w, h }) => ({ x: x + w / 2, y: y + h / 2 });

// A point of a Bezier curve.
const pointOn = ([a, b, c, d], t) => {
  const s = 1 - t, at = (axis) => s * s * s * a[axis] + 3 * s * s * t * b[axis] + 3 * s * t * t * c[axis] + t * t * t * d[axis];
  return { x: at("x"), y: at("y") };
};

// Red, green and blue of a colour as CSS writes it.
const partsOf = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);

// Colours for a light or a dark ground: on the dark one they are lighter.
export const tonesOn = (ink, ground) => {
  const [r, g, b] = partsOf(ground), isDark = r + g + b < 384;
  const tone = (hex) => `rgb(${channelsOf(hex).slice(0, 3).map((channel) => Math.round(isDark ? mix(channel, 255, 0.3) : channel)).join(" ")})`;
  const { query, value, context } = ROLE_COLOURS;
  return {
    ink, ground, isDark, query: tone(query), value: tone(value), context: tone(context), weights: tone(PINK),
    scores: isDark ? ROLE_COLOURS.scores : "rgb(42 132 184)", above: tone(ABOVE_ZERO.at(-1)), below: tone(BELOW_ZERO.at(-1)),
  };
};

// A share in percents of two digits, so that the ratio of two of them is about that of the shares.
export const finePercent = (share) => (share >= 1e-6 && share < 0.0995 ? `${Number((100 * share).toPrecision(2))}%` : asPercent(share));

// Weights as texts, in whole percents; equal ones as a fraction.
export const percentsOf = (weights) => {
  const positive = weights.filter((weight) => weight > 0), isEven = positive.length > 1 && Math.max(...positive) - Math.min(...positive) < 1e-4;
  if (isEven) return weights.map((weight) => (weight > 0 ? `1/${positive.length}` : "0%"));
  return weights.map(asPercent);
};

const percentOf = (whole, weight) => (whole === 100 && weight < 1 - EQUAL ? ">99%" : `${whole || "<1"}%`);

// Weights of a row in whole percents that add up to 100, by their largest remainders; equal weights stay equal.
export const percentsOfRow = (weights) => {
  const texts = percentsOf(weights), shares = weights.map((weight, at) => (/^\d+%$/.test(texts[at]) ? 100 * weight : 0)), whole = shares.map((share) => Math.floor(share + EQUAL));
  const remainder = (at) => shares[at] - whole[at], order = [...shares.keys()].sort((a, b) => remainder(b) - remainder(a));
  const sumOf = (numbers) => numbers.reduce((a, b) => a + b, 0), nRaised = Math.round(sumOf(shares)) - sumOf(whole), raised = order.slice(0, nRaised);
  if (raised.some((at) => order.slice(nRaised).some((other) => Math.abs(shares[at] - shares[other]) < EQUAL))) return texts;
  return texts.map((text, at) => (shares[at] > 0 ? percentOf(whole[at] + raised.includes(at), weights[at]) : text));
};

// A number of any size in few characters.
export const shortNumber = (value) => {
  if (value >= 1e5 || (value > 0 && value < 0.001)) return value.toExponential(0).replace("e+", "e");
  return value >= 100 ? value.toFixed(0) : `${+value.toPrecision(value < 0.1 ? 1 : 3)}`;
};

// Round numbers between two, at most so many.
const ticksBetween = (low, high) => {
  const raw = (high - low) / TICKS || 1, size = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((one) => one * size >= raw) * size;
  return Array.from({ length: TICKS + 2 }, (_, index) => (Math.ceil(low / step) + index) * step).filter((tick) => tick <= high);
};

// The pen of an empty canvas; `ratio` is how many pixels of the screen are one of the page.
export const clearedPen = (canvas, { width, height }, ratio) => {
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)], pen = canvas.getContext("2d");
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
};

// A text, with a rim that hides what is below it; returns its width, also of one that is not seen.
export const writeText = (pen, text, x, y, { font, align, alpha, colour, rim, baseline }) => {
  Object.assign(pen, { font, textAlign: align, textBaseline: baseline, globalAlpha: alpha, fillStyle: colour });
  if (rim && alpha > 0) Object.assign(pen, { strokeStyle: rim, lineWidth: 4, lineJoin: "round" }).strokeText(text, x, y);
  if (alpha > 0) pen.fillText(text, x, y);
  pen.globalAlpha = 1;
  return pen.measureText(text).width;
};

export class SceneDrawing {
  constructor(canvas) { Object.assign(this, { canvas, queryTitle: "query", pictures: new WeakMap() }); }

  // Begin a picture: `style` has width, height, pixels of the screen in one of the page, font, tones and layout.
  begin(style) {
    Object.assign(this, style);
    this.pen = clearedPen(this.canvas, style, style.ratio);
    this.pen.imageSmoothingEnabled = false;
  }

  // A state of the scene: of `progress` all motions, see Timeline; of the query its numbers, scores, weights, and its box.
  draw(state) {
    const { layout } = this, { progress, weights } = state, sums = [0];
    for (const weight of weights) sums.push(sums.at(-1) + weight);
    Object.assign(this, { state, sums, box: layout.boxAt(state.middle) });
    this.ranks = [];
    [...weights.keys()].sort((a, b) => weights[b] - weights[a]).forEach((index, rank) => { this.ranks[index] = rank; });
    if (progress.open < 1) this.drawContrast();
    if (progress.open > 0) {
      if (!layout.isNarrow) this.drawScale();
      for (let index = 0; index < layout.n; index++) this.drawRibbon(index);
      this.drawBox();
      if (!layout.isNarrow) this.writeLines([progress.box > 0.5 ? "values" : "keys", ...state.legend], middleOf(layout.strips[0]).y, progress.open);
    }
    if (progress.open <= 0) return;
    for (let index = 0; index < layout.n; index++) this.drawKey(index);
    for (let index = 0; index < layout.n; index++) this.drawMoving(index);
    if (progress.grow > 0) this.drawTotal();
    if (progress.say > 0 && state.odds.length) this.drawOdds();
  }

  // Without attention: all keys are pressed into one vector.
  drawContrast() {
    const { pen, layout, state, tones } = this, { progress } = state, { vector } = state;
    if (!vector) return;
    const box = layout.boxAt(layout.boxMiddle(null)), n = layout.n, here = 1 - progress.open;
    pen.strokeStyle = tones.ink;
    pen.lineWidth = layout.isNarrow ? 2 : 3;
    for (let index = 0; index < n; index++) {
      const [door] = layout.door(index, 0), [gate] = layout.gate(box, (index + 0.5) / n, 1);
      pen.globalAlpha = 0.28 * here;
      this.drawPath(layout.curve(door, gate), clamp(1.3 * progress.press - (0.3 * index) / n, 0, 1));
    }
    pen.globalAlpha = 1;
    this.drawStrip(box, vector.numbers, here * clamp(3 * progress.press - 2, 0, 1), tones.ink, 2.5);
    const [x, y] = layout.isNarrow ? [box.x + box.w, box.y + box.h + 14] : [box.x + box.w + 14, box.y + box.h / 2];
    const told = clamp(1 - 2 * progress.open, 0, 1) * clamp(3 * progress.press - 2, 0, 1);  // gone before the query's title comes
    this.write(vector.caption, x, y, { align: layout.isNarrow ? "right" : "left", size: 18 * layout.scale, alpha: told, hides: true });
  }

  // The part of a curve that has been drawn so far.
  drawPath(points, share) {
    if (share <= 0) return;
    const { pen } = this;
    pen.beginPath();
    for (let at = 0; at <= PATH_POINTS; at++) {
      const { x, y } = pointOn(points, (share * at) / PATH_POINTS);
      if (at) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    }
    pen.stroke();
  }

  // Numbers as cells in a rectangle, the stronger the larger they are; below 0 in another colour.
  drawStrip({ x, y, w, h }, numbers, alpha, frame = null, thickness = 1) {
    const { pen } = this;
    if (alpha <= 0) return;
    pen.globalAlpha = alpha;
    pen.drawImage(this.pictureOf(numbers), x, y, w, h);
    if (frame) {
      Object.assign(pen, { strokeStyle: frame, lineWidth: thickness });
      pen.strokeRect(x, y, w, h);
    }
    pen.globalAlpha = 1;
  }

  // The numbers of a vector as a picture, a pixel each, which is kept.
  pictureOf(numbers) {
    const { tones, pictures } = this, kept = pictures.get(numbers);
    if (kept?.tones === tones) return kept.picture;
    const picture = create("canvas", { width: numbers.length, height: 1 }), [ground, above, below] = [tones.ground, tones.above, tones.below].map(partsOf);
    putPixels(picture, arrayOf(Uint32Array, numbers.length, (index) => {
      const number = numbers[index], ink = number < 0 ? below : above;
      return pixelOf(ground.map((part, channel) => Math.round(mix(part, ink[channel], Math.min(1, Math.abs(number))))));
    }));
    pictures.set(numbers, { picture, tones });
    return picture;
  }

  // Higher fits better: the scale of the scores.
  drawScale() {
    const { pen, layout, tones, state } = this, { progress, low, high } = state, alpha = progress.open * progress.allScores * (1 - progress.grow);
    if (alpha <= 0) return;
    Object.assign(pen, { strokeStyle: tones.ink, lineWidth: 1 });
    for (const tick of ticksBetween(low, high)) {
      const y = layout.base - this.heightOf(tick) * layout.long;
      pen.globalAlpha = 0.18 * alpha;
      pen.beginPath();
      pen.moveTo(layout.left, y);
      pen.lineTo(this.width, y);
      pen.stroke();
      this.write(minus(`${+tick.toPrecision(3)}`), layout.left - 6, y, { align: "right", size: 13, alpha: 0.75 * alpha });
    }
    this.write("fits better ↑", 0, 10 * layout.scale, { size: 15 * layout.scale, alpha: 0.8 * alpha });
  }

  // Where on the scale the columns of scores begin: those of lower ones hang.
  get foot() { return 0; }

  // How high a score is on the scale, from 0 to 1.
  heightOf(score) {
    const { low, high } = this.state;
    return mix(LOWEST, HIGHEST, high > low ? (score - low) / (high - low) : 0.5);
  }

  // What stands at a key: its strip, its dot on the scale, then its column and its number.
  drawKey(index) {
    const { pen, layout, state, tones, numberSize = layout.numberSize[index] } = this, { progress } = state;
    const weight = state.weights[index], score = state.scores[index], isHidden = state.hidden[index], scored = progress.open * progress.score(index);
    const values = progress.box > 0 ? state.values : state.keys;
    this.drawStrip(layout.strips[index], values[index], isHidden ? 0.3 : progress.open, "rgb(128 128 128 / 0.6)");
    if (isHidden || scored <= 0) return;
    const dotAlpha = scored * (1 - clamp(2.2 * progress.grow, 0, 1)), columnAlpha = progress.open * clamp(2.5 * progress.grow - 1, 0, 1);
    const { foot } = this, height = mix(foot, this.heightOf(score), progress.score(index)), share = mix(height, weight, progress.grow);
    if (dotAlpha > 0) {
      const start = layout.end(index, foot), end = layout.end(index, height);
      Object.assign(pen, { strokeStyle: tones.scores, fillStyle: tones.scores, lineWidth: 3, globalAlpha: 0.5 * dotAlpha });
      pen.beginPath();
      pen.moveTo(start.x, start.y);
      pen.lineTo(end.x, end.y);
      pen.stroke();
      pen.globalAlpha = dotAlpha;
      pen.beginPath();
      pen.arc(end.x, end.y, layout.isNarrow ? 6 : 8 * layout.scale, 0, 7);
      pen.fill();
    }
    if (columnAlpha > 0) {
      const column = layout.column(index, share), full = layout.column(index);
      pen.globalAlpha = columnAlpha;
      pen.fillStyle = tones.weights;
      const least = layout.isNarrow ? { ...column, w: Math.max(1.5, column.w) } : { ...column, y: Math.min(column.y, layout.base - 1.5), h: Math.max(1.5, column.h) };
      pen.fillRect(least.x, least.y, least.w, least.h);
      Object.assign(pen, { globalAlpha: progress.open * progress.divide * 0.35, strokeStyle: tones.ink, lineWidth: 1 });
      pen.strokeRect(full.x, full.y, full.w, full.h);
      if (state.before) {
        const { x, y, w, h } = layout.column(index, state.before[index]);
        Object.assign(pen, { globalAlpha: progress.open * progress.divide, strokeStyle: tones.weights, lineWidth: 2 }).setLineDash([4, 3]);
        pen.strokeRect(x, y, w, h);
        pen.setLineDash([]);
      }
      if (state.held === index) Object.assign(pen, { globalAlpha: 1, strokeStyle: tones.weights, lineWidth: 3 }).strokeRect(full.x, full.y, full.w, full.h);
    }
    pen.globalAlpha = 1;
    const hangs = progress.grow < 0.5 && height < foot, end = layout.end(index, hangs && layout.isNarrow ? foot : share), { text, alpha } = this.numberOf(index), isLow = progress.grow > 0.5 && weight < 0.01;
    const gap = progress.grow < 0.5 ? 12 : 4, bold = isLow ? "400" : "600", shade = (isLow ? (layout.n > MANY ? 0 : 0.75) : 1) * alpha * scored;
    if (layout.isNarrow) {
      const isLong = end.x + gap + this.lengthOf(text, numberSize) > layout.numberEnd;
      this.write(text, isLong ? end.x - gap : end.x + gap, end.y, { align: isLong ? "right" : "left", size: numberSize, weight: bold, alpha: shade, hides: true });
    }
    else {
      const y = end.y + (hangs ? 1 : -1) * (gap + numberSize * 0.55), isInside = progress.grow > 0.5 && y < layout.base - layout.long + numberSize * 0.5;  // where there is no room above the column
      this.write(text, end.x, isInside ? end.y + gap + numberSize * 0.6 : y, { align: "center", size: numberSize, weight: bold, alpha: shade, hides: !isInside, colour: isInside ? tones.ground : tones.ink });
    }
  }

  // A score, then e to its power, then its share of the sum; one fades before the next comes.
  numberOf(index) {
    const { progress, scores, percents, isEven } = this.state, apart = (share) => clamp(4 * Math.abs(share - 0.5) - 1, 0, 1);
    if (progress.grow < 0.5) return { text: minus(scores[index].toFixed(this.layout.decimals)), alpha: apart(progress.grow) };
    if (progress.divide < 0.5 && !isEven) return { text: shortNumber(Math.exp(scores[index])), alpha: Math.min(apart(progress.grow), apart(progress.divide)) };
    return { text: percents[index], alpha: isEven ? 1 : apart(progress.divide) };
  }

  // A line that asks, then a ribbon as wide as the weight; where lengths are known, paler the shorter the value is.
  drawRibbon(index) {
    const { pen, layout, state, tones, box, sums } = this, { progress } = state, weight = state.weights[index];
    const asks = progress.open * (1 - progress.divide);
    if (asks > 0 && progress.ask > 0 && !state.hidden[index]) {
      Object.assign(pen, { strokeStyle: tones.query, lineWidth: 1.5, globalAlpha: 0.65 * asks });
      this.drawPath(this.askPath(index), progress.ask);
    }
    if (progress.divide > 0 && weight > 0) {
      const [a, b] = layout.door(index, weight), [c, d] = layout.gate(box, sums[index], sums[index + 1]);
      const [, p, q] = layout.curve(a, c), [, u, v] = layout.curve(b, d);
      pen.globalAlpha = 0.34 * (state.lengths?.[index] ?? 1) * progress.divide * progress.open * (1 - 0.8 * progress.erase);
      pen.fillStyle = tones.weights;
      pen.beginPath();
      pen.moveTo(a.x, a.y);
      pen.bezierCurveTo(p.x, p.y, q.x, q.y, c.x, c.y);
      pen.lineTo(d.x, d.y);
      pen.bezierCurveTo(v.x, v.y, u.x, u.y, b.x, b.y);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  // From the query's strip to a key.
  askPath(index) {
    const { layout, box } = this, [door] = layout.door(index, 0), gate = layout.isNarrow ? { x: box.x, y: box.y + box.h / 2 } : { x: box.x + box.w / 2, y: box.y };
    return layout.curve(door, gate).reverse();
  }

  // The query's numbers at its place, then the box in which values lie and become what they add up to.
  drawBox() {
    const { pen, layout, state, tones, box } = this, { progress } = state, h = layout.isNarrow ? 18 : 22 * layout.scale;
    const query = { ...box, y: box.y + (box.h - h) / 2, h }, here = progress.open * (1 - progress.box);
    this.drawStrip(query, state.query, here, tones.query, 2.5);
    const beside = layout.isNarrow ? { x: query.x + query.w / 2, y: query.y - 14, align: "center" } : this.besideBox(12);
    this.write(this.queryTitle, beside.x, beside.y, { align: beside.align, size: layout.isNarrow ? 15 : 18 * layout.scale, alpha: 0.85 * here * clamp(2 * progress.open - 1, 0, 1), hides: true });
    if (progress.box <= 0) return;
    pen.globalAlpha = progress.box * progress.open;
    Object.assign(pen, { strokeStyle: tones.query, lineWidth: 2.5 }).strokeRect(box.x, box.y, box.w, box.h);
    pen.globalAlpha = 1;
    this.drawContext();
  }

  drawContext() {
    const { state, tones, box } = this, { progress } = state;
    this.drawStrip(box, state.context, progress.blend * progress.open, tones.context, 2.5);
  }

  drawValue(rect, index, alpha, thickness) { this.drawStrip(rect, this.state.values[index], alpha, this.tones.value, thickness); }

  // To the right of the box, or to its left where there is no room.
  besideBox(gap, room = 70 * this.layout.scale) {
    const { box, width } = this, isRight = box.x + box.w + room < width || box.x < room;
    return { x: isRight ? box.x + box.w + gap : box.x - gap, y: box.y + box.h / 2, align: isRight ? "left" : "right" };
  }

  // What travels: the query's numbers to a key, which they lie on, and a key's value, as thick as its weight, to the box.
  drawMoving(index) {
    const { layout, state, tones, box, sums } = this, { progress } = state, strip = layout.strips[index];
    if (state.hidden[index]) return;
    const asked = progress.score(index);
    if (progress.ask > 0 && asked < 1 && progress.grow <= 0) {
      const tip = pointOn(this.askPath(index), progress.ask), w = layout.isNarrow ? 42 : 62 * layout.scale, h = layout.isNarrow ? 6 : 11 * layout.scale;
      const travelling = { x: tip.x - w / 2, y: tip.y, w, h }, over = { ...strip, y: strip.y + strip.h + 4 };
      this.drawStrip(rectBetween(rectBetween(travelling, over, progress.lie), strip, asked), state.query, progress.open * (1 - asked), tones.query, 1.5);
    }
    const weight = state.weights[index], taken = progress.take(this.ranks[index]);
    if (taken <= 0 || progress.blend >= 1 || weight < LEAST_TAKEN) return;
    const lying = { x: box.x, y: box.y + box.h * sums[index], w: box.w, h: box.h * weight };
    const [a, b] = layout.door(index, weight), [c, d] = layout.gate(box, sums[index], sums[index + 1]);
    const on = pointOn(layout.curve({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, { x: (c.x + d.x) / 2, y: (c.y + d.y) / 2 }), taken);
    const from = layout.values?.[index] ?? strip, size = rectBetween(from, lying, taken), along = { ...size, x: on.x - size.w / 2, y: on.y - size.h / 2 };
    const inside = clamp((taken - 0.75) * 4, 0, 1), outside = clamp(taken * 4, 0, 1);
    this.drawValue(rectBetween(rectBetween(from, along, outside), lying, inside), index, (layout.values ? outside : 1) * (1 - progress.blend), taken < 1 ? 1.5 : 0.5);
  }

  roundingNote() { return ""; }

  get totalY() { return this.layout.base - this.layout.long / 2; }

  // Lines of a label to the left of the columns.
  writeLines(lines, y, alpha) { lines.forEach((line, at) => this.write(line, 0, y + 1.25 * at * Math.max(15, this.layout.smallest), { size: 15, alpha: 0.8 * alpha, hides: true })); }

  // The sum of the row.
  drawTotal() {
    const { layout, state } = this, { progress, scores, hidden, weights } = state, isDivided = progress.divide > 0.5 || state.isEven;
    const sum = scores.reduce((total, score, index) => total + (hidden[index] ? 0 : Math.exp(score)), 0);
    const total = `${Math.round(100 * weights.reduce((a, b) => a + b, 0))}%`, alpha = progress.open * clamp(3 * progress.grow - 2, 0, 1);
    const text = isDivided ? `together ${total}${this.roundingNote()}` : `sum of all: ${shortNumber(sum)}`;
    if (layout.isNarrow) this.write(text, layout.columnLeft, layout.top + layout.n * layout.row + 2, { size: 14, alpha: 0.85 * alpha });
    else this.writeLines(isDivided ? ["weights", `sum ${total}`] : ["sum of all", shortNumber(sum)], this.totalY, alpha);
  }

  // What is said, with the likeliest others.
  drawOdds() {
    const { layout, state, box } = this, { odds, progress } = state, size = layout.isNarrow ? 16 : 21 * layout.scale;
    if (layout.isNarrow) {
      odds.slice(0, 2).forEach((text, row) => this.write(text, this.width - 2, box.y + box.h + 16 + 21 * row, { align: "right", size, weight: row ? "400" : "600", alpha: progress.say * progress.open, hides: true }));
      return;
    }
    const gap = 20 * layout.scale, long = odds.reduce((sum, text) => sum + this.lengthOf(text, size) + gap, 0);
    const { x, y, align } = this.besideBox(16, long), texts = align === "right" ? [...odds].reverse() : odds;
    let at = x;
    texts.forEach((text) => {
      const weight = text === odds[0] ? "600" : "400";
      const wide = this.write(text, at, y, { align, size, weight, alpha: (text === odds[0] ? 1 : 0.8) * progress.say * progress.open, hides: true });
      at += (align === "right" ? -1 : 1) * (wide + gap);
    });
  }

  lengthOf(text, size) {
    this.pen.font = `600 ${Math.max(size, this.layout.smallest - 1)}px ${this.font}`;
    return this.pen.measureText(text).width;
  }

  // A text, `hides` what is below it by a rim of the ground; returns its width.
  write(text, x, y, { align = "left", size = 16, weight = "400", alpha = 1, hides = false, colour = this.tones.ink } = {}) {
    const { pen, tones, layout } = this, letters = Math.max(size, layout.smallest - 1);
    if (alpha <= 0 || !text) return 0;
    return writeText(pen, text, x, y, { font: `${weight} ${letters}px ${this.font}`, align, alpha, colour, rim: hides ? tones.ground : null, baseline: "middle" });
  }
}
