// A sentence that goes into one vector, and into one vector a word: what comes out of either, and the threads of attention back
// to the words. Below, the visitor's sentence is made shorter and longer along the curves of BLEU by length.
import { arrowOf, clamp, create, isNew, make, putPixels, set, shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { channelsOf, pixelOf } from "../../attention_core/attention/view/prelude.js";
import { ScenePlayer } from "../../attention_core/attention/view/scene_player.js";
import { eased, Timeline } from "../../attention_core/attention/view/scene_steps.js";

const SECONDS = { reads: 5, vector: 4.5, attention: 5 }, FLIGHT = 1.1, QUICK = 2.5;
const TITLES = { reads: "reads", vector: "one vector says", attention: "attention says" };
const OPEN_MIDDLE = 2;  // words beyond the first of an open group, "18+", at which its point stands in short sentences
const SHORT = 10;  // words of a sentence that a hall sees larger
const RIM = 8, CURVE_HEIGHT = 134, LONG = 21, A_WORD = 4, CURVE_LEFT = 16, CURVE_RIGHT = 130;
const isMark = (text) => /^[.,;:!?]+$/.test(text);
const middleOf = (group) => (group.endsWith("+") ? parseInt(group, 10) + OPEN_MIDDLE : group.split("-").reduce((sum, text) => sum + Number(text) / 2, 0));

class OneVector extends ScenePlayer {
  constructor(root) {
    super(root, "A sentence, and what one vector and attention make of it");
    this.grid = make(this.stage, "div", "grid");
    const side = make(this.grid, "div", "side");
    this.source = make(side, "p", "source");
    this.halves = ["vector", "attention"].map((name) => {
      const bars = make(this.grid, "div", { class: `bars ${name}`, "aria-hidden": true }), said = make(this.grid, "div", `said ${name}`);
      const title = make(said, "h2"), english = make(said, "p", "english"), lost = make(name === "vector" ? side : said, "p", "lost");
      return { name, bars, said, title, english, lost };
    });
    this.lengths = make(this.frame, "div", "lengths");
    this.curve = make(this.lengths, "svg:svg", { "aria-hidden": true });
    this.length = make(this.lengths, "input", { type: "range", "aria-label": "Words of the sentence" });
    this.length.oninput = () => this.cutTo(Number(this.length.value));
    this.length.onkeydown = (event) => { const way = arrowOf(event); if (way) this.cutTo(this.neighbour(way[0] - way[1])); };
  }

  adopt(data, tell) {
    if (!this.hears(data, tell) || !isNew(this, data)) return;
    const isFirst = !this.data, isRevealed = this.cover(data.covered), isNewText = !this.hasPlayed(data.sentence);
    this.stop();
    this.data = data;
    this.timeline = new Timeline(["reads", ...data.halves.map(({ name }) => name)], TITLES, SECONDS);
    this.build();
    this.layOut();
    this.pace = isFirst || isRevealed ? 1 : QUICK;
    if (data.covered) this.show(this.timeline.restOf(0));
    else if (isRevealed) this.playTo(this.timeline.end, this.timeline.starts.vector ?? 0);
    else if (isNewText && !wantsLessMotion()) this.playOnArrival();
    else this.show(this.timeline.end);
  }

  build() {
    const { words, halves, counts, stops } = this.data;
    this.buildSteps(this.timeline);
    this.words = this.fill(this.source, words.map((text) => [text]));
    for (const half of this.halves) {
      const { name } = half;
      const data = (half.data = halves.find((each) => each.name === name));
      for (const node of [half.bars, half.said, half.lost]) node.hidden = !data;
      if (!data) continue;
      half.title.textContent = data.isLiteral ? `${data.title} (word for word)` : data.title;
      half.strips = data.vectors.map((numbers) => paint(numbers, create("canvas", { width: numbers.length, height: 1 })));
      half.bars.replaceChildren(...half.strips);
      half.englishWords = this.fill(half.english, data.english);
      half.english.title = data.french.join(" ");
      const { lost } = data, nLost = lost.length;
      half.lost.replaceChildren(create("b", { textContent: nLost ? `${nLost} of ${counts.at(-1)}` : "none" }), nLost ? (name === "vector" ? " struck: wrong, lost or misplaced" : " wrong") : ` of ${counts.at(-1)} wrong${name === "vector" ? " with one vector" : ""}`);
      half.lost.classList.toggle("none", !nLost);
      const nOf = (text, texts) => texts.filter((each) => each.toLowerCase() === text.toLowerCase()).length;
      if (name === "vector") this.gone = words.map((text) => nOf(text, words) <= nOf(text, lost));
    }
    set(this.length, { min: stops[0], max: stops.at(-1), "aria-valuetext": `${counts.at(-1)} words` });
    this.length.value = counts[0];
    this.length.disabled = stops.length < 2;
    this.lengths.hidden = !this.data.curve.groups.length;
  }

  // Words, each a span; those that are wrong are marked.
  fill(paragraph, words) {
    paragraph.replaceChildren();
    return words.map(([text, isWrong], index) => {
      if (index && !isMark(text) && !words[index - 1][0].endsWith("'")) paragraph.append(" ");
      return make(paragraph, "span", isWrong ? "wrong" : "", text);
    });
  }

  // The next length that is longer, or shorter.
  neighbour(direction) {
    const { stops } = this.data;
    return stops[clamp(stops.indexOf(this.n) + direction, 0, stops.length - 1)];
  }

  // The visitor's sentence gets as many words as this, or nearly: it ends at no word that must go on.
  cutTo(wanted) {
    const { stops } = this.data, n = stops.reduce((best, stop) => (Math.abs(stop - wanted) < Math.abs(best - wanted) ? stop : best));
    this.length.value = n;
    if (n === this.n) return;
    this.n = n;
    this.drawCurve();
    this.root.classList.add("waits");
    this.tell?.({ length: n });
  }

  layOut() {
    const { width, ink, least } = this.measureFrame();
    Object.assign(this, { ink, n: this.data.counts[0], smallest: Math.max(13, least) });
    this.root.classList.toggle("narrow", width < 620);
    this.root.classList.toggle("hall", least > 0);
    this.root.classList.toggle("short", this.data.words.length <= SHORT);
    this.root.classList.remove("waits");
    this.grid.style.setProperty("--n", this.data.words.length);
    this.wide = this.stage.clientWidth;
    this.high = this.stage.clientHeight;
    Object.assign(this.canvas, { width: this.wide * this.ratio, height: this.high * this.ratio });
    set(this.canvas, { style: `width:${this.wide}px;height:${this.high}px` });
    const pen = this.canvas.getContext("2d");
    const boxOf = (node) => ({ x: node.offsetLeft, y: node.offsetTop, w: node.offsetWidth, h: node.offsetHeight });
    Object.assign(this, { pen, edge: boxOf(this.source), wordBoxes: this.words.map(boxOf) });
    for (const half of this.halves) if (half.data) Object.assign(half, { boxes: half.strips.map(boxOf), saidBox: boxOf(half.said) });
    this.drawCurve();
  }

  draw() {
    const { pen, time, timeline: { starts }, words, halves } = this, n = words.length, isRead = this.isCovered || time >= starts.reads + SECONDS.reads;
    if (!pen) return;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.wide, this.high);
    const flown = (index) => { const start = 0.4 + ((SECONDS.reads - 0.8 - FLIGHT) * index) / n; return isRead ? 1 : eased(time, start, start + FLIGHT); };
    words.forEach((node, index) => node.classList.toggle("now", !isRead && flown(index) > 0 && flown(index) < 1));
    for (const half of halves) {
      if (!half.data) continue;
      const start = starts[half.name], last = half.strips.length - 1, since = time - start;
      words.forEach((_, index) => this.drawFlight(half, index, flown(index)));
      half.strips.forEach((node, index) => { node.style.opacity = last ? flown(index) : words.reduce((sum, __, at) => sum + flown(at), 0) / n; });
      const shown = (index, count) => (this.isCovered ? 0 : eased(since, 0.5 + (3 * index) / count, 0.8 + (3 * index) / count));
      half.englishWords.forEach((node, index) => { node.style.opacity = shown(index, half.englishWords.length); });
      half.lost.style.opacity = this.isCovered ? 0 : eased(since, 3.5, 3.9);
      if (half.name === "vector") words.forEach((node, index) => node.classList.toggle("gone", this.gone[index] && !this.isCovered && since > 3.5));
      this.drawThreads(half, (index) => shown(index, half.data.french.length));
    }
    this.writeTime(this.captionNow());
  }

  // A word on its way from the sentence to a vector, and the way that it leaves.
  drawFlight({ boxes }, index, share) {
    const { pen, edge, wordBoxes, words, root } = this, box = boxes[Math.min(index, boxes.length - 1)], isNarrow = root.classList.contains("narrow");
    if (share <= 0) return;
    const from = isNarrow ? { x: edge.x + (edge.w * (index + 0.5)) / words.length, y: edge.y + edge.h } : { x: edge.x + edge.w + RIM, y: edge.y + (edge.h * (index + 0.5)) / words.length };
    const to = isNarrow ? { x: box.x + (boxes.length > 1 ? 0 : box.w / 2), y: box.y + (boxes.length > 1 ? box.h / 2 : 0) } : { x: box.x - 3, y: box.y + box.h / 2 };
    if (!isNarrow || boxes.length === 1) this.stroke(from, to, 0.3 * share, this.ink, 1.3);
    if (share >= 1) return;
    const word = wordBoxes[index], x = word.x + word.w / 2 + (to.x - word.x - word.w / 2) * share, y = word.y + word.h / 2 + (to.y - word.y - word.h / 2) * share;
    Object.assign(pen, { font: `600 ${Math.max(5, word.h * 0.62 * (1 - 0.6 * share))}px ${this.font}`, textAlign: "center", textBaseline: "middle", fillStyle: this.ink, globalAlpha: 1 - 0.6 * share });
    pen.fillText(words[index].textContent, x, y);
  }

  // From one vector one way goes on to what is said; from one vector a word each French word has a thread of its own, in the
  // order of the English words.
  drawThreads({ data, boxes, saidBox, englishWords, strips }, shown) {
    const isNarrow = this.root.classList.contains("narrow");
    if (data.keys) for (const node of [...strips, ...this.words, ...englishWords]) node.classList.remove("lit");
    const m = data.french.length, end = (index) => ({ x: saidBox.x - RIM, y: saidBox.y + (saidBox.h * (index + 0.5)) / m });
    [...data.french.keys()].sort((a, b) => (data.keys ? data.keys[a] - data.keys[b] : 0)).forEach((index, at) => {
      const key = data.keys ? data.keys[index] : 0, box = boxes[key], isStrong = data.keys && index === data.row;
      if (!box || !shown(at)) return;
      if (isStrong) for (const node of [strips[key], this.words[key], englishWords.find(({ textContent }) => textContent === this.words[key].textContent)]) node?.classList.add("lit");
      if (isNarrow) return;
      this.stroke({ x: box.x + box.w + 3, y: box.y + box.h / 2 }, end(at), (isStrong ? 1 : data.keys ? 0.8 : 0.3) * shown(at), data.keys ? "#CC79A7" : this.ink, isStrong ? 5 : data.keys ? 2 : 1.3);
    });
  }

  stroke(from, to, alpha, colour, thick) {
    const { pen } = this, middle = (from.x + to.x) / 2;
    Object.assign(pen, { globalAlpha: alpha, strokeStyle: colour, lineWidth: thick });
    pen.beginPath();
    pen.moveTo(from.x, from.y);
    pen.bezierCurveTo(middle, from.y, middle, to.y, to.x, to.y);
    pen.stroke();
    pen.globalAlpha = 1;
  }

  captionNow() {
    const { data: { halves, counts, size, isTold }, time, timeline: { starts } } = this, n = counts.at(-1), [first, second] = halves;
    if (isTold) return "";
    if (this.isCovered || time < SECONDS.reads) return `Above, all ${n} words go into **one vector** of ${size} numbers. Below, **each word keeps its own**.`;
    const lossOf = ({ lost }) => (lost.length ? `**${lost.length} of ${n}** ${lost.length > 1 ? "are" : "is"} wrong, lost or misplaced` : "**no word** is wrong");
    const one = first.name === "vector" ? `Out of one vector for ${n} words, ${lossOf(first)}.` : "";
    if (time < (starts.attention ?? Infinity)) return one;
    if (halves.every(({ lost }) => !lost.length)) return `One vector was enough for these ${n} words: **no word** is wrong.`;
    return `${one} Attention goes back to each word's own vector: ${first.lost.length && second?.lost.length ? `**${second.lost.length} of ${n}**` : lossOf(second ?? first)}.`.trim();
  }

  // BLEU by length of both, and where on the curves the sentence stands.
  drawCurve() {
    const { curve, length, lengths, smallest, n, data: { stops, curve: { groups, scores } } } = this;
    if (!groups.length) return;
    const isNarrow = this.root.classList.contains("narrow"), width = lengths.clientWidth, high = CURVE_HEIGHT + (smallest > 13 && A_WORD * Math.max(0, LONG - n)),  // a hall has room beside a short sentence
       left = isNarrow ? 8 : CURVE_LEFT, right = width - (isNarrow ? 8 : Math.max(CURVE_RIGHT, smallest * 8));
    const top = Math.max(stops.at(-1), middleOf(groups.at(-1))), low = Math.min(stops[0], middleOf(groups[0])), highest = Math.max(...scores.flatMap(({ bleu }) => bleu));
    const xOf = (count) => left + ((right - left) * (clamp(count, low, top) - low)) / (top - low), yOf = (score) => 8 + (high - 12) * (1 - score / highest);
    const xs = groups.map((group, at) => xOf(at < groups.length - 1 ? middleOf(group) : top)), all = high + 1.5 * smallest;
    curve.replaceChildren();
    set(curve, { viewBox: `0 0 ${width} ${all}`, width, height: all });
    const write = (text, x, y, about = {}) => make(curve, "svg:text", { x, y, "font-size": smallest, fill: "currentcolor", ...about }, text);
    make(curve, "svg:line", { x1: xOf(n), x2: xOf(n), y1: 0, y2: high - 14 - smallest, stroke: "currentcolor", "stroke-width": 2, "stroke-dasharray": "4 3" });
    const pointsOf = ({ bleu }) => bleu.map((score, at) => `${xs[at]},${yOf(score)}`);
    if (scores.length > 1) make(curve, "svg:polygon", { class: "gap", points: [...pointsOf(scores[0]), ...pointsOf(scores[1]).reverse()].join(" ") });
    for (const { name, colour, bleu } of scores) {
      make(curve, "svg:polyline", { points: pointsOf({ bleu }).join(" "), fill: "none", stroke: colour, "stroke-width": 3 });
      bleu.forEach((score, at) => make(curve, "svg:circle", { cx: xs[at], cy: yOf(score), r: 4, fill: colour }));
      if (!isNarrow) write(Math.round(bleu.at(-1)), right + 12, yOf(bleu.at(-1)) + 4, { "font-weight": 600 });
      const isUpper = scores.every((other) => other.bleu[0] <= bleu[0]);
      write(`${name} ${Math.round(bleu[0])}`, xs[0] - 4, yOf(bleu[0]) + (isUpper ? -8 : smallest + 5), { "font-weight": 600, style: `fill:color-mix(in srgb, ${colour} 60%, currentcolor)` });
    }
    if (scores.length > 1) { const [above, below] = scores.map(({ bleu }) => yOf(bleu.at(-2))); write("lost without attention", xs.at(-2), (above + below + smallest) / 2, { "text-anchor": "middle" }); }
    for (const group of groups.slice(0, -1)) { const x = xOf(Number(group.split("-")[1]) + 0.5); make(curve, "svg:line", { x1: x, x2: x, y1: high, y2: high + 6, stroke: "currentcolor", opacity: 0.6 }); }
    const present = groups.findLastIndex((group, at) => !at || parseInt(group, 10) <= n);
    groups.forEach((group, at) => write(group, xs[at], all - 3, { "text-anchor": "middle", "font-weight": at === present ? 700 : 400 }));
    write("translation quality (BLEU, 0 to 100) by number of words", left - 4, high - 6, { class: "over" });
    if (!isNarrow) write(`${n} words`, right + 28, all - 3, { "font-weight": 600 });
    Object.assign(length.style, { marginLeft: `${xOf(stops[0]) - 9}px`, width: `${xOf(stops.at(-1)) - xOf(stops[0]) + 18}px` });
  }
}

const [GROUND, ABOVE, BELOW] = ["#FFFFFF", "#C06A14", "#2C7BB6"].map(channelsOf);

// Numbers as cells, orange above 0 and blue below.
const paint = (numbers, canvas) => {
  putPixels(canvas, Uint32Array.from(numbers, (number) => pixelOf(GROUND.map((part, channel) => part + (((number < 0 ? BELOW : ABOVE)[channel] - part) * Math.min(1, Math.abs(number)))))));
  return canvas;
};

export default shownBy(OneVector, "chosen");
