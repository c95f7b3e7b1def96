// A training as a film: where the watched model looks in somebody's own input, beside how often it and its controls are
// right. While it goes on, the last picture is shown, unless somebody has gone back to an earlier one.
import { asPercent, bytesOf, clamp, make, makeHeard, isNew, set, shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { CLEARNESS, PINK } from "../../attention_core/attention/view/colours.js";
import { writeMarked } from "../../attention_core/attention/view/scene_player.js";
import { Film } from "../../attention_core/attention/view/film.js";

const PICTURES_A_SECOND = 5, BESIDE = 560, LARGEST = 480, LARGEST_IN_HALL = 730, LARGEST_ALONE = 920, CHART = 310, FOOT = 30, ACROSS = 5;
const LINES = ["#C2478C", "#75808E", "#75808E"]; // grey: without attention
const NODES = { red: "#C24A00", green: "#00805D", blue: "#0072B2" }, RIGHT = "#00875F", WRONG = "#D2520A";

const played = new Set();  // names of trainings that were played: another screen does not play them anew
const LINE = 1.3;  // letters

class LearningFilm extends Film {
  constructor(root) {
    const verdict = make(root, "p", "verdict"), caption = make(root, "p", "caption");
    super(root, "How far the training had come", "Watch it learn");
    Object.assign(this, { verdict, caption, heard: makeHeard(root) });
  }

  get title() { return "training"; }

  get canBeSaved() { return super.canBeSaved && !this.data.live && this.data.frames.length > 1; }

  turn(playing) {
    super.turn(playing);
    if (!playing) this.button.textContent = "▶ Watch it learn";
  }

  // Whether there is something to play that nobody has played.
  get isUnplayed() { return !played.has(this.data.name) && !this.data.live && this.data.frames.length > 1; }

  play(done) {
    played.add(this.data.name);
    super.play(done);
  }

  finish() {
    this.stop();
    this.show(1);
  }

  get seconds() { return window.lecture?.on ? 10 : this.data.frames.length / PICTURES_A_SECOND; }

  // The picture that is shown: the last one up to the batch at which the slider stands.
  get at() { return Math.max(0, this.data.frames.findLastIndex(({ step }) => step <= this.slider.value)); }

  get timeText() { return `After ${this.data.frames[this.at].step} batches`; }

  adopt(data) {
    window.training = this;  // for lecture.js
    if (!isNew(this, data)) return this.redraw();
    const last = data.frames.at(-1).step, isNewRun = data.name !== this.data?.name;
    const follows = isNewRun || (this.time === 1 && !this.playing);
    this.data = data;
    this.maps = data.frames.map((frame) => bytesOf(frame.weights));
    const at = Math.min(this.slider.value, last);
    this.slider.max = last;
    this.bar.style.visibility = last ? "visible" : "hidden";
    this.show(follows ? 1 : at / last || 0);
    if (isNewRun && this.isUnplayed && !wantsLessMotion()) this.play();
  }

  draw() {
    if (!this.data || !this.measure()) return this.stop();
    const { canvas, data } = this, frame = data.frames[this.at];
    writeMarked(this.verdict, frame.verdict);
    this.bar.style.display = data.isTried && window.lecture?.on ? "none" : "";
    this.verdict.hidden = data.isTried;  // what is asked is of the graph alone
    this.caption.textContent = data.caption;
    if (!this.playing && !data.live && this.heard.textContent !== this.verdict.textContent) this.heard.textContent = this.verdict.textContent;
    const wide = this.width >= BESIDE, side = Math.min(!window.lecture?.on ? LARGEST : data.isAlone ? LARGEST_ALONE : LARGEST_IN_HALL, wide && !data.isTried ? 0.48 * this.width : this.width), letters = Math.max(14, this.least);
    const top = 8, table = data.ink || data.isGraph ? null : this.table(frame, wide ? 0.52 * this.width : this.width, top);
    const map = table ?? { x: data.isTried ? (this.width - side) / 2 : 0, y: top, w: side, h: side };
    const chart = wide ? { x: map.x + map.w + (table?.beside ?? 0) + 66, y: top + 2 * letters, h: table ? CHART : side - 90 } : { x: 3 * letters, y: map.y + map.h + 4 * letters + 20, h: 170 };
    chart.w = Math.min(this.width - chart.x - 10, wide && data.isGraph ? 1.35 * map.w : Infinity);  // the graph is the hero
    const height = Math.max(map.y + map.h + 1.6 * letters, data.isTried ? 0 : chart.y + chart.h + FOOT);
    set(canvas, { "aria-label": `After ${frame.step} batches: ${frame.answer}` });
    this.clear(height);
    if (data.ink) {
      this.drawing(map, (pixel) => this.maps[this.at][pixel] / 255);
      this.write(frame.answer, 0, map.y + map.h + letters, { size: 17, weight: 600, room: map.w });
    } else if (data.isGraph) this.graph(map, frame, letters);
    else this.matrix(map, frame, letters);
    if (!data.isTried) this.curves(chart, frame, letters);
  }

  cell(x, y, w, h, share) {
    const { pen } = this;
    pen.globalAlpha = clamp(share, 0, 1) ** CLEARNESS;
    pen.fillStyle = PINK;
    pen.fillRect(x, y, w, h);
    pen.globalAlpha = 1;
  }

  // What a model looks at in the drawing.
  drawing(at, shareOf) {
    const { pen, data } = this, { side } = data, ink = bytesOf(data.ink), size = at.w / side;
    pen.strokeStyle = "rgba(128,128,128,0.5)";
    pen.strokeRect(at.x + 0.5, at.y + 0.5, at.w - 1, at.h - 1);
    for (let pixel = 0; pixel < side * side; pixel++) {
      const x = at.x + (pixel % side) * size, y = at.y + Math.floor(pixel / side) * size;
      pen.globalAlpha = (0.45 * ink[pixel]) / 255;
      pen.fillStyle = this.ink;
      pen.fillRect(x, y, size + 0.5, size + 0.5);
      this.cell(x, y, size, size, shareOf(pixel));
    }
  }

  // Nodes in a circle, in which neighbours of the alphabet lie far apart. The half of an edge that begins at a node is as thick as the weight that the node gives.
  graph({ x, y, w, h }, { says, right }, letters) {
    const { pen, data: { keys, relinked } } = this, map = this.maps[this.at], n = keys.length, disc = Math.max(1.25 * letters, h / 19), radius = h / 2 - disc - 1.7 * letters;
    const at = keys.map((_, node) => {
      const angle = (2 * Math.PI * (ACROSS * node - 0.5)) / n - Math.PI / 2;
      return [Math.cos(angle), Math.sin(angle)];
    }), middle = [x + w / 2, y + h / 2], place = (node, far = radius) => at[node].map((part, axis) => middle[axis] + part * far);
    const asked = new Set(relinked.flat());
    pen.strokeStyle = PINK;
    pen.lineCap = "butt";
    keys.forEach((_, from) => keys.forEach((_, to) => {
      const share = map[from * n + to] / 255, [[x1, y1], [x2, y2]] = [place(from), place(to)];
      if (from === to || !share || (asked.has(from) && asked.has(to))) return;  // an edge that is cut
      const stays = [from, to].includes(0) && share < 0.5;  // of the node that is asked about
      pen.globalAlpha = (0.3 + 0.7 * share) * (relinked.length ? 0.25 : 1);
      pen.lineWidth = 1 + (0.6 * disc - 1) * share;
      if (relinked.length) Object.assign(pen, stays ? { globalAlpha: 1, lineWidth: disc / 5, strokeStyle: this.ink } : { strokeStyle: PINK });
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.lineTo((x1 + x2) / 2, (y1 + y2) / 2);
      pen.stroke();
    }));
    pen.globalAlpha = 1;
    pen.strokeStyle = this.ink;
    pen.lineWidth = disc / 4;
    pen.setLineDash([disc / 2, disc / 3]);
    for (const edge of relinked) {
      pen.beginPath();
      for (const node of edge) pen.lineTo(...place(node));
      pen.stroke();
    }
    pen.setLineDash([]);
    keys.forEach((label, node) => {
      const [name, colour, , number] = label.split(" "), [left, top] = place(node);
      pen.beginPath();
      pen.arc(left, top, disc, 0, 7);
      pen.fillStyle = NODES[colour];
      pen.fill();
      this.write(name, left, top - 0.5 * disc, { size: 0.62 * disc, align: "center", colour: "#fff" });
      this.write(number, left, top + 0.28 * disc, { size: 0.9 * disc, align: "center", weight: 700, colour: "#fff" });
      this.mark(asked.has(node) ? "?" : says[node], asked.has(node) ? null : right[node], ...place(node, radius + disc + 0.95 * letters), "center", 0.72 * disc);
    });
  }

  // What a query says, and whether that is right.
  mark(says, isRight, x, y, align, size = 14) {
    const colour = isRight === false ? WRONG : isRight ? RIGHT : this.ink;
    this.write(`${says ?? ""}${isRight === false ? " ✗" : isRight ? " ✓" : ""}`, x, y, { size, weight: 600, align, colour });
  }

  // How wide the longest label is, in letters of that size.
  longest(labels, size) {
    this.pen.font = `${Math.max(size, this.least)}px ${this.font}`;
    return Math.max(0, ...labels.map((label) => this.pen.measureText(label).width));
  }

  // Where the table of words lies: French words beside its rows, English ones above its columns.
  table({ queries }, room, top) {
    const { keys, frames } = this.data, slant = 0.72 * this.longest(keys, 14) + 16;
    const left = this.longest(frames.flatMap((frame) => frame.queries), 14) + 10, beside = Math.max(slant - 20, this.longest(frames.flatMap((frame) => frame.says), 14) + 34);
    const rows = Math.max(...frames.map((frame) => frame.queries.length), keys.length);
    const size = Math.min((room - left - beside) / keys.length, 38);
    return { x: left, y: top + slant, w: size * keys.length, h: size * rows, size, beside, n: queries.length };
  }

  matrix({ x, y, size, w }, { queries, says, right }) {
    const { pen, data: { keys } } = this, map = this.maps[this.at];
    keys.forEach((word, column) => {
      pen.save();
      pen.translate(x + (column + 0.5) * size, y - 6);
      pen.rotate(-Math.PI / 4);
      this.write(word, 0, 0, { size: 14 });
      pen.restore();
    });
    pen.strokeStyle = "rgba(128,128,128,0.35)";
    pen.strokeRect(x - 0.5, y - 0.5, w + 1, queries.length * size + 1);
    queries.forEach((word, row) => {
      const middle = y + (row + 0.5) * size;
      this.write(word, x - 6, middle, { size: 14, align: "right" });
      this.mark(says[row], right[row], x + w + 8, middle);
      keys.forEach((_, column) => this.cell(x + column * size, y + row * size, size - 1, size - 1, map[row * keys.length + column] / 255));
    });
  }

  curves({ x, y, w, h }, { step }, letters) {
    const { pen, data } = this, frames = data.frames.slice(0, this.at + 1), line = (data.reasons.length ? 2 : 1) * LINE * letters;
    const room = Math.max(this.longest(data.names, 14) + 3.6 * letters, this.longest(data.reasons, 14) + 10), plot = w - room;
    const across = (batch) => x + (plot * batch) / data.n_steps, down = (share) => y + h * (1 - share);
    this.write(data.title, x, y - LINE * letters, { size: 14, weight: 600 });
    for (const share of [0, 0.5, 1]) {
      pen.fillStyle = "rgba(128,128,128,0.3)";
      pen.fillRect(x, down(share), plot, 1);
      this.write(asPercent(share), x - 5, down(share), { align: "right" });
    }
    this.write(`${data.n_steps.toLocaleString("en")} batches`, x + plot, y + h + 16, { align: "right" });
    const ends = data.names.map((name, model) => {
      pen.strokeStyle = LINES[model];
      pen.lineWidth = model ? 2 : 4;
      pen.lineJoin = "round";
      pen.setLineDash(model > 1 ? [3, 5] : []);
      pen.beginPath();
      frames.forEach((frame) => pen.lineTo(across(frame.step), down(frame.accuracies[model])));
      pen.stroke();
      const share = frames.at(-1).accuracies[model];
      return { name, share, model, y: down(share) };
    }).sort((a, b) => a.y - b.y);
    ends.forEach((end, index) => { end.label = Math.min(Math.max(end.y, index ? ends[index - 1].label + line : 0), y + h - line * (2 - index)); });
    pen.setLineDash([]);
    for (const { name, share, model, label } of ends) {
      pen.beginPath();
      pen.arc(across(step), down(share), 4, 0, 7);
      pen.fillStyle = LINES[model];
      pen.fill();
      this.write(`${asPercent(share)} ${name}`, x + plot + 10, label, { colour: LINES[model], weight: model ? "" : 600, size: 14 });
      this.write(data.reasons[model] ?? "", x + plot + 10, label + LINE * letters, { colour: LINES[model], size: 14 });
    }
  }
}

export default shownBy(LearningFilm, "shown");
