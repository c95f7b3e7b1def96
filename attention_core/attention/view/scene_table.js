// A scene of records: rows of a key and a value that are texts. Each value lies in the box as high as its weight, and what is
// alike of them adds up. Before attention comes a dictionary, which finds what is spelled exactly as the query.
import { clamp, make } from "./prelude.js";
import { percentsOfRow, SceneDrawing } from "./scene_drawing.js";
import { NARROW, SceneLayout } from "./scene_layout.js";
import { placeWord, SceneView } from "./scene.js";

const MAX_SHOWN = 40, LEAST_SHARE = 0.005, N_ANSWERS = 2, TIGHT_ROWS = 12, MAX_LARGE = 36, LEAST_FRAMED = 4;
const NOT_FOUND = "not found";

// A text, cut where it has more letters than this.
const cutText = (text, most = MAX_SHOWN) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const keysHeader = ({ names }) => `keys: ${names[0]}`;

class TableLayout extends SceneLayout {
  standInRows(width, keys, values, header) {
    const scale = clamp(width / 1150, 0.8, 1.4), n = keys.length, isSmall = width < NARROW, isTight = n > TIGHT_ROWS;
    const isLong = this.longest(keys) + this.longest(values) > MAX_LARGE;
    const size = Math.max(isSmall ? 16 : Math.round((isTight ? 16 : isLong ? 18 : 21) * scale), this.smallest), line = Math.round(1.35 * size);
    const longest = (texts) => this.longest(texts) * size + 12, headerSize = Math.max(15, 0.8 * size, this.smallest);
    const long = (isSmall ? 0.28 : 0.14) * width, number = isSmall ? 5 : 3.3 * size, top = Math.round(1.2 * line) + 6;
    const row = isSmall ? 2 * line + 8 : line + (isTight ? 8 : 16 * scale), box = { w: isSmall ? 0.22 * width : clamp(0.21 * width, 120, 360) };
    const room = width - long - number - box.w - (isSmall ? 40 : 0.1 * width), beside = isSmall ? 0 : clamp(longest(values), 60, Math.max(0.36 * room, room - longest(keys)));
    const right = Math.min(room - beside, Math.max(longest(keys), this.measure(header) * headerSize + 4, 88)), columnLeft = right + 10, valueLeft = columnLeft + long + number;
    box.h = clamp(0.6 * n * row, 84, 280 * scale);
    Object.assign(this, { scale: 1, headerSize, querySize: isSmall ? 18 : size, isSmall, top, size, line, width, row, right, long, box, columnLeft, bar: 0.82 * line });
    this.numberSize = Array(n).fill(Math.max(Math.round(0.85 * size), this.smallest));
    const tops = keys.map((_, index) => top + index * row), high = { h: line };
    this.words = tops.map((y) => ({ x: 0, y, w: right, ...high }));
    this.strips = tops.map((y) => (isSmall ? { x: right, y: y + line, w: 0, h: 0 } : { x: right - 84, y: y + line, w: 80, h: 6 }));  // small: no room
    this.values = tops.map((y) => (isSmall ? { x: 0, y: y + line, w: columnLeft + long, ...high } : { x: valueLeft, y, w: beside, ...high }));
    this.doorLeft = valueLeft + (isSmall ? 0 : beside + 6);
    this.numberEnd = valueLeft - 8;
    this.boxTop = clamp(top + (n * row - box.h) / 2, top + line, 300 * scale);
    this.below = Math.max(top + n * row, this.boxTop + box.h + 2 * line) + 26;
  }

  longest(texts) { return Math.max(...texts.map((text) => this.measure(text))); }

  rowMiddle(index) { return this.top + index * this.row + this.line / 2; }
}

class TableDrawing extends SceneDrawing {
  constructor(canvas) { super(canvas); this.queryTitle = ""; }

  draw(state) {
    super.draw(state);
    const { layout, data } = this, { box, top, columnLeft, values, right, headerSize: size } = layout;
    const alpha = 0.85, y = top / 2 - 2, query = cutText(data.queries[state.row], Math.floor(box.w / (0.5 * size)));
    if (layout.isSmall) this.write(`${keysHeader(data)}, values: ${data.names[1]}`, 0, y, { size, alpha });
    else {
      this.write(keysHeader(data), right, y, { align: "right", size, alpha });
      this.write(`values: ${data.names[1]}`, values[0].x + 4, y, { size, alpha });
    }
    const { open, grow, divide } = state.progress, numbers = divide > 0.5 || state.isEven ? "weights" : grow > 0.5 ? "exp(score)" : "scores";
    if (open > 0.5 && !layout.isSmall) this.write(numbers, columnLeft, y, { size, alpha: alpha * state.progress.allScores });
    const middle = layout.boxAt(layout.boxMiddle(null));
    this.write(`“${query}”`, middle.x + middle.w, middle.y - 0.75 * size, { align: "right", size, weight: "600", hides: true });
    const [first] = layout.queries.places;
    this.write(data.queries.length > 1 ? "queries" : "query", first.x - 10, first.y + first.h / 2, { align: "right", size, alpha: first.x > 5 * size ? alpha : 0 });
  }

  // Of whole percents that don't add up to 100.
  roundingNote() {
    const { percents } = this.state;
    return percents.every((text) => /^\d+%$/.test(text)) && percents.reduce((sum, text) => sum + parseInt(text, 10), 0) !== 100 ? " before rounding" : "";
  }

  // A dictionary compares the query with every key, letter by letter.
  drawContrast() {
    const { pen, layout, state, tones, data } = this, { progress } = state, here = 1 - progress.open, found = data.exact[state.row];
    const box = layout.boxAt(layout.boxMiddle(null)), size = layout.numberSize[0];
    for (let index = 0; index < layout.n; index++) {
      const isFound = index === found, [door] = layout.door(index, 0), seen = clamp(3 * progress.compare - (1.6 * index) / layout.n - 0.4, 0, 1);
      Object.assign(pen, { strokeStyle: tones.query, lineWidth: isFound ? 3 : 1.5, globalAlpha: here * (isFound ? 0.9 : 0.5 * (1 - 0.7 * progress.find)) });
      this.drawPath(layout.curve(door, { x: box.x, y: box.y + box.h / 2 }).reverse(), clamp(3 * progress.compare - (1.6 * index) / layout.n, 0, 1));
      pen.globalAlpha = 1;
      this.write(isFound ? "=" : "≠", layout.columnLeft + 4, layout.rowMiddle(index), { size, weight: isFound ? "700" : "400", alpha: here * seen * (isFound ? 1 : 0.75) });
    }
    const isFull = found !== null && progress.find > 0.5, style = { size, weight: "600" };
    Object.assign(pen, { strokeStyle: isFull ? tones.context : tones.ink, lineWidth: 2.5, globalAlpha: here }).strokeRect(box.x, box.y, box.w, box.h);
    this.writeIn(box, "?", { ...style, alpha: here * (1 - progress.find) });
    this.writeIn(box, found === null ? NOT_FOUND : data.values[found], { ...style, alpha: here * progress.find });
  }

  // Values lie on each other, each as high as its weight.
  drawContext() {
    const { state, layout, box, sums } = this, { weights, progress } = state;
    const alpha = progress.blend * progress.open;
    if (alpha <= 0) return;
    for (let index = 0; index < layout.n; index++) {
      if (weights[index] * box.h >= 0.5) this.drawValue({ x: box.x, y: box.y + box.h * sums[index], w: box.w, h: box.h * weights[index] }, index, alpha, 1);
    }
  }

  drawValue(rect, index, alpha, thickness) {
    const { pen, tones, layout, data } = this, size = Math.min(layout.size, rect.h - 3);
    if (alpha <= 0 || rect.h <= 0) return;
    Object.assign(pen, { fillStyle: tones.ground, strokeStyle: tones.value, lineWidth: thickness, globalAlpha: alpha }).fillRect(rect.x, rect.y, rect.w, rect.h);
    Object.assign(pen, { fillStyle: tones.value, globalAlpha: 0.22 * alpha }).fillRect(rect.x, rect.y, rect.w, rect.h);
    pen.globalAlpha = alpha;
    if (rect.h >= LEAST_FRAMED) pen.strokeRect(rect.x, rect.y, rect.w, rect.h);
    if (size >= layout.smallest - 2) this.writeIn(rect, data.values[index], { size: Math.max(size, layout.smallest), alpha });
  }

  // A text in a rectangle, in as many lines as it has room for.
  writeIn({ x, y, w, h }, text, { size, weight = "400", alpha }) {
    const { pen, layout } = this, room = w - 10, high = 1.25 * size, lines = [""];
    pen.font = `${weight} ${Math.max(size, layout.smallest - 1)}px ${this.font}`;
    for (const word of text.split(" ")) {
      const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
      if (pen.measureText(longer).width <= room || !lines.at(-1)) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    const n = Math.max(1, Math.floor((h - 2) / high)), shown = lines.slice(0, n);
    if (lines.length > n) shown[n - 1] += " …";
    shown.forEach((line, at) => {
      let part = line;
      while (part.length > 2 && pen.measureText(part).width > room) part = `${part.slice(0, -2)}…`;
      this.write(part, x + w / 2, y + h / 2 + (at - (shown.length - 1) / 2) * high, { align: "center", size, weight, alpha });
    });
  }

  // The largest shares of what comes out, below the box; on a phone the box alone says of what.
  drawOdds() {
    const { layout, state, box } = this, { progress } = state, size = layout.numberSize[0], most = Math.floor((3 * box.w) / size);
    const odds = layout.isSmall ? state.odds.slice(0, 1).map((text) => text.split(" ")[0]) : state.odds;
    if (!state.isEven) odds.slice(0, N_ANSWERS).forEach((text, row) => {
      const y = box.y + box.h + layout.line * (0.75 + row);
      this.write(cutText(text, most), this.width - 2, y, { align: "right", size, weight: row ? "400" : "600", alpha: progress.say * progress.open, hides: true });
    });
  }
}

export class TableScene extends SceneView {
  constructor(root) {
    super(root);
    root.classList.add("table");
    Object.assign(this, { drawing: new TableDrawing(this.canvas), switchTitles: ["", "soft look-up"], resetTitle: "as it was", stepTitles: { takes: "mixes", says: "comes out" } });
  }

  // A guess is about another comparison.
  get standsCovered() { return true; }

  hasStep(name) { return !["vector", "evenly", "erase"].includes(name); }

  build() {
    this.values = [];
    super.build();
    this.values = this.data.values.map((text) => make(this.words, "span", { class: "value", title: text }, text));
    this.keys.forEach((node, index) => { node.title = this.data.titles[index]; });
    this.layOut();
  }

  newLayout(sizes) { return new TableLayout({ ...sizes, values: this.data.values, header: keysHeader(this.data) }); }

  layOut() {
    super.layOut();
    const { layout } = this;
    this.drawing.data = this.data;
    this.root.classList.toggle("wide", !layout.isSmall);
    this.values.forEach((node, index) => placeWord(node, layout.values[index], layout.isSmall ? layout.smallest : layout.size));
  }

  goalMiddle() { return this.layout.boxMiddle(null); }

  // Shares of the different values: the weights of those that are alike add up.
  answer() {
    const shares = new Map();
    this.weights.forEach((weight, index) => { const text = this.data.values[index]; shares.set(text, (shares.get(text) ?? 0) + weight); });
    const texts = percentsOfRow([...shares.values()]), rows = [...shares].map(([text, share], at) => ({ text, share, says: texts[at] }));
    const [best, ...others] = rows.sort((a, b) => b.share - a.share).slice(0, N_ANSWERS).filter(({ share }) => share >= LEAST_SHARE);
    return best ? { word: best.text, probability: best.share, likely: best.says, odds: [best, ...others].map(({ text, says }) => `${says} ${text}`) } : null;
  }

  percentsOf(weights) { return percentsOfRow(weights); }

  captionOf(step) {
    const { data, state } = this, { row, progress, isEven, answer } = state, text = `“${cutText(data.queries[row])}”`;
    if (step === "exact") {
      if (progress.find <= 0) return `A **dictionary** compares ${text} with every key, letter by letter.`;
      const found = data.exact[row];
      return found === null ? `A **dictionary** finds nothing: no key is exactly ${text}.` : `A **dictionary** finds the key that is exactly ${text}: **${cutText(data.values[found])}**.`;
    }
    if (step !== "asks" && step !== "scores" && !answer) return "Every record is crossed out: **nothing** comes out.";
    if (step === "takes") return `Each record hands over its value, **as much of it as its weight**.`;
    if (step === "says" && isEven) return `The same weight for all: **every value alike**, whatever was asked.`;
    if (step !== "says" || this.local || state.isChanged || state.cut.length) return super.captionOf(step);
    if (answer.probability < 0.5) {
      return `Out comes a mixture: **${cutText(answer.word)}**, but only ${answer.likely}, beside ${new Set(data.values).size - 1} others.`;
    }
    const key = cutText(data.keys[this.weights.indexOf(Math.max(...this.weights))]);
    const fits = data.exact[row] === null ? `No key is exactly ${text}, but **${key}** fits best` : `${text} fits **${key}** best`;
    return `${fits}: out comes **${cutText(answer.word)}** (${answer.likely}).${this.isCovered ? "" : ` Now pull “${key}” to the left, or cross it out by a click.`}`;
  }
}
