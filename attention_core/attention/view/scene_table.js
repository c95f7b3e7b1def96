// A scene of records, whose keys and values are texts. Keys stand around the query, the closer the better they fit; it falls
// among them, and threads as thick as weights lead to them. Beside it is their table, below it what comes out: each value as wide as
// its weight. Before attention comes a dictionary, which finds what is spelled exactly as the query.
import { asPercent, clamp, make, set, wantsLessMotion } from "./prelude.js";
import { mix, percentsOfRow, SceneDrawing } from "./scene_drawing.js";
import { ROLE_COLOURS } from "./colours.js";
import { NARROW, SceneLayout } from "./scene_layout.js";
import { placeWord, SceneView } from "./scene.js";

const MAX_SHOWN = 40, MAX_IN_PLANE = 24, LEAST_SHARE = 0.005, GLIDE = 900;
const PLANE = 0.56, HALL_PLANE = 0.475, SMALLEST = 14, PLANE_HEIGHT = 0.56, THREAD = 30, LEAST_NAMED = 0.02, LABEL_COST = 10, ROW_GAP = 6;  // of the width, in a hall, too; pixels of letters; of the plane's points; pixels of all weight; of a weight written in the plane; how many dots a label would rather cover than another one; pixels between rows
const FALL = 0.55, LEAST_PIECE = 0.01, MAX_NAMED = 3;  // of the time in which the query asks; the weight below which values come out as one piece; names of narrow ones
const NOT_FOUND = "not found";

// A text, cut where it has more letters than this.
const cutText = (text, most = MAX_SHOWN) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

class TableLayout extends SceneLayout {
  standInRows(width, keys, values) {
    const scale = clamp(width / 1080, 0.8, 1.6), n = keys.length, isSmall = width < NARROW, gap = isSmall ? 14 : 28 * scale;
    const wide = isSmall ? width : Math.round((this.smallest > SMALLEST ? HALL_PLANE : PLANE) * width), rim = { x: (isSmall ? 42 : 72) * scale, y: (isSmall ? 34 : 42) * scale };
    const plane = { x: 0, y: 0, w: wide, h: PLANE_HEIGHT * (wide - 2 * rim.x) + 2 * rim.y }, left = isSmall ? 0 : wide + gap, room = width - left;
    const top = (isSmall ? plane.h + gap : 0) + Math.max(24 * scale, 1.3 * this.smallest), fitting = ((plane.h - top) / (n + 0.8) - ROW_GAP) / 1.3;
    const size = Math.max(isSmall ? 16 : clamp(fitting, 15, 20 * scale), this.smallest), line = Math.round(1.3 * size), row = isSmall ? 2 * line + 4 : Math.max(line + ROW_GAP, clamp((plane.h - top) / (n + 0.8), 0, 2 * line));
    const longest = (texts) => Math.max(...texts.map((text) => this.measure(text))) * size + 10, number = 2.4 * size, bar = 0.14 * room;
    const right = clamp(longest(keys), 60, isSmall ? 0.45 * room : Math.max(0.3 * room, room - bar - number - longest(values))), columnLeft = left + right;
    const long = isSmall ? room - right - number : bar, valueLeft = columnLeft + long + number;
    Object.assign(this, { scale: 1, zoom: scale, isSmall, plane, rim, top, size, line, width, row, right, long, columnLeft, valueLeft, left, bar: 0.8 * line });
    Object.assign(this, { labelSize: Math.max((isSmall ? 16 : 21) * scale, this.smallest), headerSize: Math.max(15 * scale, this.smallest), box: { w: width, h: (isSmall ? 66 : 47) * scale } });
    this.numberSize = Array(n).fill(Math.max(Math.round(0.9 * size), this.smallest));
    this.stand([...keys.keys()]);
    Object.assign(this, { words: this.names, strips: [] });
    this.numberEnd = valueLeft - 2;
    this.boxTop = Math.max(plane.h, top + (n + 0.9) * row) + 1.9 * this.headerSize;
    this.below = this.boxTop + this.box.h + 12;
  }

  // Puts rows below each other in an order of the keys.
  stand(order) {
    const { left, right, line, top, row, isSmall, valueLeft, width } = this, tops = order.map((_, index) => top + order.indexOf(index) * row);
    this.order = order;
    this.names = tops.map((y) => ({ x: left, y, w: right - 8, h: line }));
    this.values = tops.map((y) => (isSmall ? { x: left, y: y + line - 2, w: width, h: line } : { x: valueLeft, y, w: width - valueLeft, h: line }));
  }

  // Queries are chosen elsewhere.
  wordsBelow(labels) { return { size: 0, places: labels.map(() => ({ x: 0, y: 0, w: 0, h: 0 })), belows: [], bottom: this.below - 12 }; }

  rowMiddle(index) { return this.names[index].y + this.line / 2; }
  boxMiddle() { return { x: this.width / 2, y: this.boxTop + this.box.h / 2 }; }

  // Where a point of the plane lies.
  at([x, y]) {
    const { plane, rim } = this, across = plane.w - 2 * rim.x;
    return [plane.x + rim.x + x * across, plane.y + rim.y + y * across];
  }

  // Where dots and labels stand, flat: of each text its dot, its label's box, and whether that is seen. `order` says who chooses
  // first: the query, then its best key. Labels turn away from threads; one that would cover others, or two dots, is left out.
  spots(texts, points, order, query) {
    const { labelSize, plane, zoom } = this, dots = points.map((point) => this.at(point)), high = 1.25 * labelSize, near = 11 * zoom;
    const boxes = dots.map(([x, y]) => [x - near, y - near, 2 * near, 2 * near]), costOf = ([x, y, w, h]) => boxes.reduce((cost, [a, b, c, d], at) => cost + (x < a + c && a < x + w && y < b + d && b < y + h && (at < dots.length ? 1 : LABEL_COST)), 0);
    const labels = [];
    for (const at of order) {
      const [x, y] = dots[at], w = this.measure(texts[at]) * labelSize * (at === query ? 1.2 : 1.06) + 6, [fromX, fromY] = dots[at === query ? order[1] : query];
      const around = [1, 2.6].flatMap((far) => {
        const g = near * far, [lefts, tops] = [[x - g - w, x - w / 2, x + g], [y - g - high, y - high / 2, y + g]];
        const places = [[1, 0], [1, 2], [0, 1], [2, 1], [0, 0], [2, 0], [0, 2], [2, 2]].map(([column, line]) => [lefts[column], tops[line], w, high]);
        return places.sort((a, b) => (a[0] + w / 2 - x) * (fromX - x) + (a[1] + high / 2 - y) * (fromY - y) - (b[0] + w / 2 - x) * (fromX - x) - (b[1] + high / 2 - y) * (fromY - y));
      });
      const inside = around.map(([left, top, ...sizes]) => [clamp(left, 4, Math.max(4, plane.w - w - 4)), clamp(top, plane.y + 2, plane.h - high - 2), ...sizes]), costs = inside.map(costOf), cost = Math.min(...costs);
      const box = inside[costs.indexOf(cost)], isSeen = at === query || cost < 2;
      if (isSeen) boxes.push(box);
      labels[at] = [x, y, ...box, Number(isSeen)];
    }
    return labels.flat();
  }
}

class TableDrawing extends SceneDrawing {
  // The plane, the query in it, and the table's headings.
  draw(state) {
    const { layout, pen, tones } = this, { plane, headerSize: size, columnLeft, valueLeft, left, top } = layout, { open, grow, divide } = state.progress;
    Object.assign(pen, { fillStyle: tones.ink, globalAlpha: 0.045 }).beginPath();
    pen.roundRect(plane.x, plane.y, plane.w, plane.h, 10);
    pen.fill();
    pen.globalAlpha = 1;
    super.draw(state);
    const numbers = divide > 0.5 || state.isEven ? "weights" : grow > 0.5 ? "exp(score)" : "scores", y = top - 0.75 * size, style = { size, alpha: 0.8 };
    this.write("keys", left, y, style);
    if (open > 0.5) this.write(numbers, columnLeft, y, { size, alpha: 0.8 * state.progress.allScores });
    if (!layout.isSmall) this.write("values", valueLeft + 4, y, style);
    this.write("comes out: every value, as wide as its weight", 0, layout.boxTop - 0.8 * size, style);
    this.drawQuery();
  }

  drawStrip() {}
  drawOdds() {}

  dotOf(index) { return this.spots.slice(7 * index, 7 * index + 2); }

  // Where the query is: above the plane, until it falls; where a guess covers what fits, equally far from all keys.
  queryPoint() {
    const [x, y] = this.dotOf(this.layout.n), { ask, open } = this.state.progress, fallen = this.isCovered ? 1 : open < 1 ? 0 : clamp(ask / FALL, 0, 1) ** 2;
    return [x, mix(Math.min(y, 16 * this.layout.zoom), y, fallen)];
  }

  drawQuery() {
    const { pen, tones, layout, spots } = this, [x, y] = this.queryPoint(), [, goal, left, labelTop, w, h] = spots.slice(7 * layout.n);
    Object.assign(pen, { fillStyle: tones.query, strokeStyle: tones.ground, lineWidth: 3 }).beginPath();
    pen.arc(x, y, 9 * layout.zoom, 0, 7);
    pen.stroke();
    pen.fill();
    this.write(this.query, left + w / 2, Math.max(y + labelTop - goal, 2) + h / 2, { align: "center", size: layout.labelSize * 1.15, weight: "700", hides: true, colour: tones.query });
  }

  // A thread to a key: thin while it asks, then as thick as the weight.
  drawRibbon(index) {
    const { pen, layout, state, tones } = this, { progress } = state, weight = state.weights[index], [x, y] = this.dotOf(index), from = this.queryPoint();
    const grown = clamp((progress.ask - FALL) / (1 - FALL), 0, 1), share = progress.divide, thick = Math.max(1.2, THREAD * layout.zoom * weight);
    if (!grown) return;
    Object.assign(pen, { lineCap: "round", lineWidth: mix(1.5, thick, share), strokeStyle: share > 0.5 ? tones.weights : tones.query, globalAlpha: progress.open * (share > 0.5 && weight < 0.01 ? 0.35 : 0.6) });
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(mix(from[0], x, grown), mix(from[1], y, grown));
    if (!state.cut.includes(index)) pen.stroke();
    Object.assign(pen, { globalAlpha: 1, lineCap: "butt" });
  }

  drawDot(index) {
    const { pen, layout, tones, state } = this, [x, y] = this.dotOf(index);
    Object.assign(pen, { fillStyle: ROLE_COLOURS.key, strokeStyle: tones.ground, lineWidth: 2, globalAlpha: state.cut.includes(index) ? 0.4 : 1 }).beginPath();
    pen.arc(x, y, 7 * layout.zoom, 0, 7);
    pen.fill();
    pen.stroke();
    pen.globalAlpha = 1;
  }

  drawKey(index) {
    this.drawDot(index);
    super.drawKey(index);
  }

  // Of whole percents that don't add up to 100.
  roundingNote() {
    const { percents } = this.state;
    return percents.every((text) => /^\d+%$/.test(text)) && percents.reduce((sum, text) => sum + parseInt(text, 10), 0) !== 100 ? " before rounding" : "";
  }

  // A dictionary compares the query with every key, letter by letter.
  drawContrast() {
    const { pen, layout, state, tones, data, box } = this, { progress } = state, here = 1 - progress.open, found = data.exact[state.row], size = layout.numberSize[0];
    for (let index = 0; index < layout.n; index++) {
      const isFound = index === found, seen = clamp(3 * progress.compare - (1.6 * index) / layout.n - 0.4, 0, 1);
      this.drawDot(index);
      this.write(isFound ? "=" : "≠", layout.columnLeft + 4, layout.rowMiddle(index), { size, weight: isFound ? "700" : "400", alpha: here * seen * (isFound ? 1 : 0.75) });
    }
    Object.assign(pen, { strokeStyle: found !== null && progress.find > 0.5 ? tones.context : tones.ink, lineWidth: 2.5, globalAlpha: here }).strokeRect(box.x, box.y, box.w, box.h);
    this.writeIn(box, "?", { size, weight: "600", alpha: here * (1 - progress.find) });
    this.writeIn(box, found === null ? NOT_FOUND : data.values[found], { size, weight: "600", alpha: here * progress.find });
  }

  drawBox() {
    const { pen, state, tones, box } = this, { progress } = state;
    this.drawContext();
    Object.assign(pen, { globalAlpha: progress.open, strokeStyle: progress.blend > 0.5 ? tones.context : tones.ink, lineWidth: 2.5 }).strokeRect(box.x, box.y, box.w, box.h);
    pen.globalAlpha = 1;
  }

  // Values lie beside each other, each as wide as its weight, the small ones at the end.
  get pieces() {
    const { layout: { order }, state: { weights } } = this, isSmall = (index) => weights[index] < LEAST_PIECE;
    return [order.filter((index) => !isSmall(index)), order.filter((index) => isSmall(index) && weights[index] > 0)];
  }

  pieceOf(...indices) {
    const { box, state: { weights } } = this, order = this.pieces.flat(), sumOf = (keys) => keys.reduce((sum, key) => sum + weights[key], 0);
    return { x: box.x + box.w * sumOf(order.slice(0, order.indexOf(indices[0]))), y: box.y, w: box.w * sumOf(indices), h: box.h };
  }

  // What has no room for its text is named above, at the right.
  drawContext() {
    const { data, layout, state: { progress, weights } } = this, alpha = progress.blend * progress.open, [large, small] = this.pieces, nameOf = (keys) => (keys.length > 1 ? `${keys.length} others` : "");
    const pieces = [...large.map((index) => [index]), small].filter((keys) => keys.length), narrow = pieces.filter((keys) => !this.drawValue(this.pieceOf(...keys), nameOf(keys) || data.values[keys[0]], alpha));
    const names = narrow.slice(-MAX_NAMED).map((keys) => `${nameOf(keys) || cutText(data.keys[keys[0]], 20)} ${asPercent(keys.reduce((sum, key) => sum + weights[key], 0))}`);
    if (!layout.isSmall) this.write(names.join(", "), this.width, layout.boxTop - 0.8 * layout.headerSize, { align: "right", size: layout.headerSize, alpha });
  }

  drawValue(rect, text, alpha) {
    const { pen, tones, layout } = this, size = Math.min(layout.size, rect.h - 3);
    if (alpha <= 0 || rect.w < 0.5) return true;
    Object.assign(pen, { fillStyle: tones.ground, strokeStyle: tones.value, lineWidth: 1, globalAlpha: alpha }).fillRect(rect.x, rect.y, rect.w, rect.h);
    Object.assign(pen, { fillStyle: tones.value, globalAlpha: 0.22 * alpha }).fillRect(rect.x, rect.y, rect.w, rect.h);
    pen.globalAlpha = alpha;
    pen.strokeRect(rect.x, rect.y, rect.w, rect.h);
    pen.font = `600 ${size}px ${this.font}`;
    const hasRoom = rect.h > size && (rect.w > 4 * size || pen.measureText(text).width < rect.w - 8);
    if (hasRoom) this.writeIn(rect, text, { size, weight: "600", alpha });
    return hasRoom;
  }

  // A text in a rectangle, in as many lines as it has room for; smaller, where it needs more than one.
  writeIn({ x, y, w, h }, text, { size, weight = "400", alpha }) {
    const { pen, layout } = this, room = w - 8, lines = [""], least = layout.smallest - 1;
    pen.font = `${weight} ${Math.max(size, least)}px ${this.font}`;
    const letters = pen.measureText(text).width > room ? Math.max(0.8 * size, least) : Math.max(size, least), high = 1.15 * letters;
    pen.font = `${weight} ${letters}px ${this.font}`;
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
      this.write(part, x + w / 2, y + h / 2 + (at - (shown.length - 1) / 2) * high, { align: "center", size: letters, weight, alpha });
    });
  }

  // A value goes along its thread to the query, and on to what comes out.
  drawMoving(index) {
    const { layout, state } = this, { progress, weights } = state, gone = progress.take(this.ranks[index]), goal = this.pieceOf(index);
    if (gone <= 0 || progress.blend >= 1 || weights[index] < LEAST_SHARE) return;
    const [x, y] = this.dotOf(index), [queryX, queryY] = this.queryPoint(), high = 0.55 * goal.h, wide = clamp(goal.w, 6, 110 * layout.zoom), second = clamp(2 * gone - 1, 0, 1), first = clamp(2 * gone, 0, 1);
    const along = { x: mix(x, queryX, first) - wide / 2, y: mix(y, queryY, first) - high / 2, w: wide, h: high };
    const rect = Object.fromEntries(["x", "y", "w", "h"].map((side) => [side, mix(along[side], goal[side], second)]));
    this.drawValue(rect, this.data.values[index], 1 - progress.blend);
  }
}

export class TableScene extends SceneView {
  constructor(root) {
    super(root);
    root.classList.add("table");
    set(this.stage, { "aria-label": "Keys in a plane, their table, and what comes out" });
    Object.assign(this, { drawing: new TableDrawing(this.canvas), switchTitle: "soft look-up", resetTitle: "as it was", stepTitles: { takes: "mixes", says: "comes out" } });
  }

  cover(isCovered) {
    if (isCovered) this.spots = null;
    return super.cover(isCovered);
  }

  hasStep(name) { return !["vector", "evenly", "erase"].includes(name); }
  stripNote() { return ""; }

  build() {
    this.rows = [];
    super.build();
    const { keys, values, titles } = this.data;
    this.keys.forEach((node, index) => { node.title = titles[index]; node.share = make(node, "b"); });
    this.rows = keys.map((text, index) => ["name", "value"].map((column) => make(this.words, "span", { class: column, title: column === "name" ? titles[index] : values[index], "aria-hidden": column === "name" }, column === "name" ? text : values[index])));
    this.rows.forEach(([name], index) => { name.onclick = () => { if (this.canChange) this.cross(index); }; });
    this.spots = null;
    this.layOut();
  }

  newLayout(sizes) {
    const layout = new TableLayout({ ...sizes, values: this.data.values });
    layout.stand(this.orderOfRows());
    return layout;
  }

  // The best key first; where a visitor has crossed out keys of the same query, all stay where they are.
  orderOfRows() {
    const { data, row, layout } = this, scores = data.scores[row], order = [...scores.keys()];
    if (this.orderedRow === row && layout?.n === order.length && scores.includes(null)) return layout.order;
    this.orderedRow = row;
    return order.sort((a, b) => (scores[b] ?? -Infinity) - (scores[a] ?? -Infinity) || 0);
  }

  layOut() {
    super.layOut();
    const { layout } = this;
    this.drawing.data = this.data;
    this.root.classList.toggle("wide", !layout.isSmall);
    this.rows.forEach((nodes, index) => nodes.forEach((node, column) => placeWord(node, [layout.names, layout.values][column][index], Math.max(column && !layout.isSmall ? 0.92 * layout.size : layout.size, layout.smallest))));
    this.spots = null;
  }

  goalMiddle() { return this.layout.boxMiddle(); }

  // Dots and labels as they are to stand.
  goalSpots() {
    const { data, row, layout } = this, weights = this.targetWeights(), n = layout.n, shares = percentsOfRow(weights);
    const texts = [...data.keys.map((key, index) => `${cutText(key, MAX_IN_PLANE)}${weights[index] >= LEAST_NAMED ? ` ${shares[index]}` : ""}`), cutText(data.queries[row], MAX_IN_PLANE)];
    this.canvas.getContext("2d").font = `500 100px ${this.font}`;  // with which a layout measures
    return layout.spots(texts, [...data.points[row], [0.5, PLANE_HEIGHT / 2]], [n, ...[...weights.keys()].sort((a, b) => weights[b] - weights[a])], n);
  }

  // They glide where they have to go.
  change() {
    if (this.layout) {
      const before = this.spotsNow();
      if (String(this.orderOfRows()) !== String(this.layout.order)) this.layOut();
      Object.assign(this, { before, spots: this.goalSpots(), movedAt: performance.now() });
    }
    super.change();
  }

  spotsNow() {
    this.spots ??= this.goalSpots();
    const share = wantsLessMotion() || this.before?.length !== this.spots.length ? 1 : clamp((performance.now() - this.movedAt) / GLIDE, 0, 1), eased = share * share * (3 - 2 * share);
    if (share === 1) return this.spots;
    return this.spots.map((number, at) => mix(this.before[at], number, eased));
  }

  draw() {
    if (!this.layout) return;
    const spots = this.spotsNow(), { layout, data, drawing } = this;
    Object.assign(drawing, { spots, isCovered: this.isCovered, query: cutText(data.queries[this.row], MAX_IN_PLANE) });
    this.keys.forEach((node, index) => {
      const [, , x, y, w, h, seen] = spots.slice(7 * index);
      placeWord(node, { x, y, w, h }, layout.labelSize);
      node.style.opacity = seen;
    });
    super.draw();
    if (spots !== this.spots) requestAnimationFrame(() => this.draw());
  }

  writeKey(node, at, isVector) {
    super.writeKey(node, at, isVector);
    const { weights, percents, progress } = this.state, isTold = weights[at] >= LEAST_NAMED && progress.divide > 0.5 && !isVector;
    node.firstChild.textContent = cutText(this.data.keys[at], MAX_IN_PLANE);
    node.share.textContent = isTold ? ` ${percents[at]}` : "";
    if (isTold && this.canChange) set(node, { "aria-label": `${node.textContent}: ${node.ariaLabel}` });  // what is read comes first
    this.rows[at]?.[0].classList.toggle("cut", node.classList.contains("cut"));
    this.rows[at]?.[0].classList.toggle("strong", node.classList.contains("strong"));
  }

  // The share of the value that comes out most: the weights of those that are alike add up.
  answer() {
    const shares = new Map();
    this.weights.forEach((weight, index) => { const text = this.data.values[index]; shares.set(text, (shares.get(text) ?? 0) + weight); });
    const texts = percentsOfRow([...shares.values()]), [best, next] = [...shares].map(([word, probability], at) => ({ word, probability, likely: texts[at], odds: [] })).sort((a, b) => b.probability - a.probability);
    return best.probability >= LEAST_SHARE ? { ...best, next: next && [next.word, next.probability] } : null;
  }

  percentsOf(weights) { return percentsOfRow(weights); }

  captionOf(step) {
    const { data, state } = this, { row, progress, isEven, answer } = state, text = `“${cutText(data.queries[row])}”`;
    if (this.isCovered) return "";
    if (step === "exact") {
      if (progress.find <= 0) return `A **dictionary** compares ${text} with every key, letter by letter.`;
      const found = data.exact[row];
      return found === null ? `A **dictionary** finds nothing: no key is exactly ${text}.` : `A **dictionary** finds the key that is exactly ${text}: **${cutText(data.values[found])}**.`;
    }
    if (step !== "asks" && step !== "scores" && !answer) return "Every record is crossed out: **nothing** comes out.";
    if (step === "asks") return `${text} is the query: it falls among the keys and **asks every one**.`;
    if (step === "takes") return `Each record hands over its value, **as much of it as its weight**.`;
    if (step === "says" && isEven) return `The same weight for all: **every value alike**, whatever was asked.`;
    if (step !== "says" || this.local || state.isChanged || state.cut.length) return super.captionOf(step);
    if (data.unlike[row]) return `${text} hardly resembles any key, yet weights sum to 100%: a softmax cannot say “nothing fits”. Out comes **${cutText(answer.word)}**, ${answer.likely}.`;
    if (answer.probability < 0.5) {
      return `Out comes a mixture: **${cutText(answer.word)}**, but only ${answer.likely}, beside ${new Set(data.values).size - 1} others.`;
    }
    const key = cutText(data.keys[this.weights.indexOf(Math.max(...this.weights))]);
    const fits = data.exact[row] === null ? `No key is exactly ${text}, but **${key}** fits best` : `${text} fits **${key}** best`;
    return `${fits}: out comes **${cutText(answer.word)}** (${answer.likely}). Click a key to cross it out.`;
  }
}
