// A training as a film: where the watched model looks in somebody's own input, beside how often it and its controls are
// right. While it goes on, the last picture is shown, unless somebody has gone back to an earlier one.
import { asPercent, bytesOf, clamp, isNew, set, shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { CLEARNESS, PINK } from "../../attention_core/attention/view/colours.js";
import { Film } from "../../attention_core/attention/view/film.js";

const PICTURES_A_SECOND = 5, BESIDE = 560, LARGEST = 330, HEAD = 50, FOOT = 30, GAP = 20;
const LINES = ["#C2478C", "#75808E", "#75808E"]; // grey: without attention

class LearningFilm extends Film {
  constructor(root) { super(root, "How far the training had come", "Watch it learn"); }

  get title() { return "training"; }

  get canBeSaved() { return super.canBeSaved && !this.data.live && this.data.frames.length > 1; }

  turn(playing) {
    super.turn(playing);
    if (!playing) this.button.textContent = "▶ Watch it learn";
  }

  // Whether there is something to play that nobody has played.
  get isUnplayed() { return !this.hasPlayed && !this.data.live && this.data.frames.length > 1 && this.root.getClientRects().length > 0; }

  play(done) {
    this.hasPlayed = true;
    super.play(done);
  }

  get seconds() { return window.lecture?.on ? 10 : this.slider.max / PICTURES_A_SECOND; }

  get at() { return Number(this.slider.value); }

  adopt(data) {
    window.training = this;  // for lecture.js
    if (!isNew(this, data)) return this.redraw();
    const last = data.frames.length - 1, isNewRun = data.name !== this.data?.name;
    const follows = isNewRun || (this.time === 1 && !this.playing);
    if (isNewRun) this.hasPlayed = false;
    this.data = data;
    this.maps = data.frames.map((frame) => bytesOf(frame.weights));
    const at = Math.min(this.at, last);
    this.slider.max = last;
    this.bar.style.visibility = last ? "visible" : "hidden";
    this.show(follows ? 1 : at / last || 0);
    if (isNewRun && this.isUnplayed && !window.lecture?.on && !wantsLessMotion()) this.play();
  }

  draw() {
    if (!this.data || !this.measure()) return this.stop();
    const { canvas, data } = this, frame = data.frames[this.at];
    const wide = this.width >= BESIDE, side = Math.min(LARGEST, wide ? 0.32 * this.width : (this.width - GAP) / 2);
    const map = data.ink ? { x: 0, y: HEAD, w: side, h: side } : this.table(frame, wide ? 0.56 * this.width : this.width);
    const equal = { ...map, x: side + GAP }, last = data.ink ? equal : map;
    const chart = wide
      ? { x: last.x + last.w + 52, y: HEAD, h: data.ink ? side : LARGEST - 66 }
      : { x: 34, y: map.y + map.h + 66, h: 150 };
    const beside = this.longest(data.ink ? data.names.slice(2) : data.names, 12);
    chart.w = this.width - chart.x - Math.max(data.ink ? 84 : 118, Math.min(109, beside) + 14);
    const height = Math.max(map.y + map.h, chart.y + chart.h) + FOOT;
    set(canvas, { "aria-label": `After ${frame.step} batches: ${frame.says}` });
    this.clear(height);
    this.write(frame.says, 0, data.ink ? map.y + map.h + 18 : 12, { size: 17, weight: 600, room: wide || data.ink ? map.x + map.w : this.width });
    if (data.ink) {
      this.drawing(map, frame, 0, (pixel) => this.maps[this.at][pixel] / 255);
      this.drawing(equal, frame, 1, () => data.even);
    } else this.matrix(map, frame);
    this.curves(chart, frame);
  }

  cell(x, y, w, h, share) {
    const { pen } = this;
    pen.globalAlpha = clamp(share, 0, 1) ** CLEARNESS;
    pen.fillStyle = PINK;
    pen.fillRect(x, y, w, h);
    pen.globalAlpha = 1;
  }

  // What a model looks at in the drawing, below its name and how often it is right.
  drawing(at, { accuracies }, model, shareOf) {
    const { pen, data } = this, { side } = data, ink = bytesOf(data.ink), size = at.w / side;
    this.write(data.names[model], at.x, 8, { size: 14, room: at.w });
    this.write(`${asPercent(accuracies[model])} right`, at.x, 30, { size: 22, weight: 600, colour: LINES[model], room: at.w });
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

  // How wide the longest label is, in letters of that size.
  longest(labels, size) {
    this.pen.font = `${Math.max(size, this.least)}px ${this.font}`;
    return Math.max(0, ...labels.map((label) => this.pen.measureText(label).width));
  }

  // Where the table of words lies: French words beside its rows, English ones above its columns.
  table({ queries }, room) {
    const { keys, frames } = this.data;
    const beside = this.longest(frames.flatMap((frame) => frame.queries), 13) + 10, above = 0.72 * this.longest(keys, 13) + 16;
    const rows = Math.max(...this.data.frames.map((frame) => frame.queries.length), keys.length);
    const size = Math.min((room - beside - 30) / keys.length, 34);
    return { x: beside, y: HEAD + above, w: size * keys.length, h: size * rows, size, n: queries.length };
  }

  matrix({ x, y, size, w }, { queries }) {
    const { pen, data: { keys } } = this, map = this.maps[this.at];
    keys.forEach((word, column) => {
      pen.save();
      pen.translate(x + (column + 0.5) * size, y - 6);
      pen.rotate(-Math.PI / 4);
      this.write(word, 0, 0, { size: 13 });
      pen.restore();
    });
    pen.strokeStyle = "rgba(128,128,128,0.35)";
    pen.strokeRect(x - 0.5, y - 0.5, w + 1, queries.length * size + 1);
    queries.forEach((word, row) => {
      this.write(word, x - 6, y + (row + 0.5) * size, { size: 13, align: "right" });
      keys.forEach((_, column) => this.cell(x + column * size, y + row * size, size - 1, size - 1, map[row * keys.length + column] / 255));
    });
  }

  curves({ x, y, w, h }, { step, losses: [loss] }) {
    const { pen, data } = this, frames = data.frames.slice(0, this.at + 1);
    const across = (batch) => x + (w * batch) / data.n_steps, down = (share) => y + h * (1 - share);
    this.write(data.title, x, y - 20, { size: 13, weight: 600 });
    for (const share of [0, 0.5, 1]) {
      pen.fillStyle = "rgba(128,128,128,0.3)";
      pen.fillRect(x, down(share), w, 1);
      this.write(asPercent(share), x - 5, down(share), { align: "right" });
    }
    const progress = `${step.toLocaleString("en")} of ${data.n_steps.toLocaleString("en")} batches`;
    this.write(loss === undefined ? progress : `${progress}, loss ${loss.toFixed(2)}`, x, y + h + 16);
    const ends = data.names.map((name, line) => {
      pen.strokeStyle = LINES[line];
      pen.lineWidth = line ? 2 : 3;
      pen.lineJoin = "round";
      pen.setLineDash(line > 1 ? [3, 5] : []);
      pen.beginPath();
      frames.forEach((frame) => pen.lineTo(across(frame.step), down(frame.accuracies[line])));
      pen.stroke();
      const share = frames.at(-1).accuracies[line];
      return { name, share, line, y: down(share) };
    }).sort((a, b) => a.y - b.y);
    ends.forEach((end, index) => { end.y = Math.min(Math.max(end.y, index ? ends[index - 1].y + 30 : 0), y + h - 8 - 30 * (2 - index)); });
    pen.setLineDash([]);
    for (const end of ends) {
      pen.beginPath();
      pen.arc(across(step), down(end.share), 4, 0, 7);
      pen.fillStyle = LINES[end.line];
      pen.fill();
      this.write(asPercent(end.share), x + w + 9, end.y - 6, { colour: LINES[end.line], weight: 600, size: 14 });
      if (!data.ink || end.line > 1) this.write(end.name, x + w + 9, end.y + 9, { room: 109 });  // the others stand above their maps
    }
  }
}

export default shownBy(LearningFilm, "shown");
