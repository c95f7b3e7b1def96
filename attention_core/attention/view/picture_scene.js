// A scene over a picture: a question asks every region, which gets a score, then a weight, and hands over as much of its
// numbers as that; a piece of the picture stands for them. Looks follow one another, and each may say something. `mixes`: what
// was handed over becomes one mean piece; `near` is a piece's side, in regions. `ink` says which regions are ink. `tell` hears
// of { row }, { row, cut } and { even }.
import { arrowOf, asPercent, cellBeside, clamp, create, inLine, isNew, make, minus, pixelOf, placeOn, pointedIn, putPixels, set, wantsLessMotion } from "./prelude.js";
import { ScenePlayer } from "./scene_player.js";
import { eased, Timeline } from "./scene_steps.js";
import { clearedPen, finePercent, mix, shortNumber, tonesOn, writeText } from "./scene_drawing.js";
import { tilesOf } from "./scene_tiles.js";

const NARROW = 560, FULL = 8, CLEARNESS = 0.6, NEAR = 2.2, APART = 4, SAMPLE_GAP = 3, MIXTURE = 96, LATER_PACE = 4, NUMBERED = 0.05, BOW = 0.3, MAX_ROUNDING = 0.3;
const STEPS = ["asks", "scores", "softmax", "takes"];

export class PictureScene extends ScenePlayer {
  constructor(root) {
    super(root, "A picture that is asked");
    this.narrowShare = 1;  // how much of a phone's width the picture has
    this.image = create("img", { decoding: "sync", onload: () => { if (this.data) this.showImage(); } });
    this.picture = make(this.stage, "div", { class: "picture", role: "application", tabindex: 0 });
    this.looks = make(this.stage, "div", { class: "looks", role: "group", "aria-label": "Looks" });
    this.pointed = pointedIn(root, (places) => { this.over = placeOn(places, "regions", true); this.draw(); });
    this.switch = make(this.bar, "div", { class: "switch", role: "group", "aria-label": "What is handed over" });
    this.choices = [["as learned", false], ["all equal", true]].map(([title, isEven]) => {
      const node = make(this.switch, "button", "", title);
      return Object.assign(node, { isEven, onclick: () => this.weighEvenly(isEven) });
    });
    this.changed = make(this.switch, "button", { "aria-pressed": true });
    this.picture.onpointermove = (event) => this.look(this.cellAt(event));
    this.picture.onpointerleave = (event) => this.pointed.leave(event);
    this.picture.onkeydown = (event) => {
      const way = arrowOf(event), [rows, columns] = this.data.grid;
      if (way) this.look(cellBeside(this.over ?? 0, way, rows, columns));
    };
    this.mix = make(this.stage, "button", "mix");
    this.mix.onclick = (event) => this.cross(event);
  }

  adopt(data, tell) {
    if (!this.hears(data, tell) || !isNew(this, data)) return;
    const isFirst = !this.data, isOther = this.data && JSON.stringify(this.data.looks) !== JSON.stringify(data.looks);
    if (this.data?.picture !== data.picture) this.image.src = data.picture;
    Object.assign(this, { data, isEven: Boolean(data.isEven), mixtures: {} });
    this.row = clamp(data.query, 0, this.lastRow);
    this.note.textContent = data.note ?? "";
    this.looks.replaceChildren();
    this.slider.hidden = data.looks.length > 1;
    this.lookButtons = this.makeButtons();
    inLine(this.lookButtons, () => {}, (row) => this.choose(row));
    this.layOut();
    this.takeRow();
    const isRevealed = this.cover(data.covered), plays = isRevealed || (isFirst && data.plays && !this.hasPlayed(data.looks));
    if (data.covered || (plays && !wantsLessMotion())) {
      this.stop();
      this.row = this.nSaid = 0;
      this.takeRow();
      if (data.covered) this.show(0);
      else this.playOnArrival();
    } else {
      if (isOther || isRevealed) this.row = this.lastRow;
      if (isFirst || isOther || isRevealed) this.nSaid = data.looks.length;  // else what was not told yet waits
      this.takeRow();
      this.time = this.timeline.end;
      this.stop();
      this.draw();
    }
  }

  makeButtons() { return this.data.looks.length < 2 ? [] : this.data.looks.map(({ label }) => make(this.looks, "button", "", label)); }

  showImage() {
    this.mixtures = {};
    this.draw();
  }

  get lastRow() { return this.data.looks.length - 1; }

  // Steps, tiles and words of the present look.
  takeRow() {
    const { data, row } = this, isLast = row === this.lastRow;
    this.placeBox();
    const { scores } = data.looks[row], weights = this.weights();
    this.tiles = this.isEven ? this.regionsAsTiles() : tilesOf(weights, data.ink);
    this.best = weights.indexOf(Math.max(...weights));
    const [, columns] = data.grid, far = (index) => Math.abs((index % columns) - (this.best % columns)) + Math.abs(index - this.best) / columns;
    const n = data.grid[0] * columns, lower = [...scores.keys()].filter((index) => index < n && scores[index] !== null && scores[this.best] - scores[index] > APART);
    this.sample = lower.filter((index) => far(index) > Math.max(SAMPLE_GAP, this.near)).sort((a, b) => scores[b] - scores[a])[0] ?? lower[0] ?? null;
    this.buildSteps(new Timeline(isLast || data.looks[row].answer ? [...this.stepNames, "says"] : this.stepNames));
  }

  get stepNames() { return STEPS; }

  get near() { return this.data.near ?? NEAR; }

  weights() {
    const { data, row } = this, { scores, weights } = data.looks[row];
    if (!this.isEven) return weights;
    const n = scores.filter((score) => score !== null).length;
    return scores.map((score) => (score === null ? 0 : 1 / n));
  }

  regionsAsTiles() {
    const [rows, columns] = this.data.grid;
    return Array.from({ length: rows * columns }, (_, index) => ({ index, x: (index % columns) / columns, y: Math.floor(index / columns) / rows, w: 1 / columns, h: 1 / rows }));
  }

  choose(row) {
    Object.assign(this, { isTouched: true, row, nSaid: Math.max(this.nSaid, row) });
    this.takeRow();
    this.playTo(this.timeline.end, 0);
    this.tell?.({ row });
  }

  weighEvenly(isEven) {
    Object.assign(this, { isTouched: true, isEven, nSaid: this.data.looks.length });
    this.row = this.lastRow;
    this.stop();
    this.takeRow();
    this.show(this.timeline.end);
    this.tell?.({ row: this.row, even: isEven });
  }

  // Of the piece that is pressed, or by keys of the largest, the network may take nothing any more.
  cross(event) {
    const { box } = this.layout, [x, y] = this.pointOf(event), [u, v] = [(x - box.x) / box.w, (y - box.y) / (box.h ?? box.w)];
    const tile = event.detail ? this.tiles.find((one) => u >= one.x && u < one.x + one.w && v >= one.y && v < one.y + one.h) : this.tiles[0];
    if (tile) this.tell?.({ row: this.row, cut: tile.index });
  }

  isOver() { return super.isOver() && this.row === this.lastRow; }

  // Of several looks each is a stage.
  endStage() {
    if (this.data.looks.length < 2) super.endStage();
    else this.show(this.timeline.end);
  }

  playOn() {
    if (this.data.looks.length < 2) super.playOn();
    else this.choose(super.isOver() ? this.row + 1 : this.row);
  }

  // A look is over: the next one asks.
  arrive() {
    if (this.isHeld || this.time < this.timeline.end || this.row >= this.lastRow) return;
    this.row++;
    this.takeRow();
    this.playTo(this.timeline.end, 0);
  }

  // Looks after the first pass quickly, where each of them says something.
  get pace() { return this.row && this.data.looks[this.row].answer ? LATER_PACE : 1; }

  play() {
    if (this.isOver()) {
      this.row = this.nSaid = 0;
      this.takeRow();
      this.time = 0;
    }
    super.play();
  }

  layOut() {
    const { width, least, ink, ground } = this.measureFrame(), isNarrow = width < NARROW, { lookButtons, data, data: { grid: [rows, columns] } } = this;
    const scale = isNarrow ? 1 : clamp(width / 760, 0.8, 1.7);
    const side = isNarrow ? Math.min(this.narrowShare * width - 4, 940) : Math.min(0.4 * width, 440 * scale), high = (side * rows) / columns, left = isNarrow ? 3 : side + 34 * scale;
    const box = { x: left, w: isNarrow ? Math.min(150, 0.42 * width) : Math.min(side, width - left - 165 * scale) };
    this.layout = { width, isNarrow, scale, least, tones: tonesOn(ink, ground), side, high, box, question: { x: left, y: isNarrow ? high + 26 : 22 * scale }, room: width - (isNarrow ? 6 : left), height: high + 4 };
    this.pen = this.canvas.getContext("2d");
    this.asked = this.layQuestion();
    const below = this.asked.bottom + 8;
    box.y = below + (lookButtons.length > 0 ? 38 * scale : 0) + (data.ink ? 8 : 1.2 * this.titleSize + 8);
    this.looks.hidden = false;  // to be measured
    this.looks.style = `left:${left}px;top:${below}px`;
    if (isNarrow) this.layout.height = box.y + box.w + 12;
    else box.w = Math.min(box.w, side - box.y - 4);
    this.placeAll();
  }

  get titleSize() { return Math.max(16 * this.layout.scale, this.layout.least * 0.85); }

  // What lies over the canvas.
  placeAll() {
    const { layout: { side, high, box } } = this;
    this.sizeStage(this.layout);
    this.mix.style = `left:${box.x}px;top:${box.y}px;width:${box.w}px;height:${box.w}px`;
    this.picture.style = `left:0;top:0;width:${side}px;height:${high}px`;
    this.placeBox();
  }

  placeBox() { this.asked = this.layQuestion(); }

  cellAt({ clientX, clientY }) {
    const [rows, columns] = this.data.grid, [x, y] = this.pointOf({ clientX, clientY }), { side, high } = this.layout;
    return clamp(Math.floor((y / high) * rows), 0, rows - 1) * columns + clamp(Math.floor((x / side) * columns), 0, columns - 1);
  }

  look(index) { this.pointed.look([["regions", index]]); }

  cellOf(index) {
    const [rows, columns] = this.data.grid, { side, high } = this.layout;
    return { x: ((index % columns) * side) / columns, y: (Math.floor(index / columns) * high) / rows, w: side / columns, h: high / rows };
  }

  progress() {
    const { time, timeline: { starts } } = this, since = (name, from, to) => eased(time - starts[name], from, to);
    return {
      ask: since("asks", 0.5, 2.2), score: since("scores", 0.3, 1.6), soften: since("softmax", 0.5, 1.6), call: since("softmax", 1.7, 2.2),
      take: clamp((time - starts.takes - 0.4) / 2.6, 0, 1), blend: this.data.mixes ? since("takes", 3.1, 3.8) : 0, say: since("says", 0.3, 0.9),
    };
  }

  draw() {
    const { layout, data } = this;
    if (!layout || !data || !this.root.isConnected || !this.timeline) return;
    const pen = (this.pen = clearedPen(this.canvas, layout, this.ratio)), { side, high } = layout;
    const progress = this.progress(), weights = this.weights(), { scores } = data.looks[this.row];
    if (this.image.complete && this.image.naturalWidth) pen.drawImage(this.image, 0, 0, side, high);
    this.drawCells(progress, scores, this.weightsInPicture(progress, weights));
    if (progress.say > 0 && !this.isEven && this.row === this.lastRow) this.joinLooks(progress.say);
    if (progress.say > 0 && !this.isEven && this.row === this.lastRow) this.numberLooks(progress.say);
    for (const [name, x, y] of data.names ?? []) this.nameColour(name, x * side, y * high);
    this.drawQuestion();
    if (progress.ask > 0 && progress.score < 1) this.drawAsking(progress);
    if (progress.score > 0.5 && progress.take < 0.05) this.drawSamples(progress, scores, weights);
    if (progress.take > 0) this.drawTiles(progress, weights);
    if (progress.take > 0 && !data.ink && !data.mixes) this.text("what it takes: area is weight", layout.box.x, layout.box.y - 8, this.titleSize);
    if (progress.say > 0) this.drawAnswer(progress);
    if (this.over !== null && this.over !== undefined) this.drawPointed(progress, scores, weights);
    this.write(progress, scores, weights);
  }

  // Where all looks of a row went, once the last one has said something.
  weightsInPicture({ say }, weights) {
    const { data: { looks }, row, lastRow } = this;
    if (this.isEven || row !== lastRow || !say) return weights;
    return weights.map((weight, index) => Math.max(weight, ...looks.map((look) => say * look.weights[index])));
  }

  // From where each look went most to where the next one went, which it has led there.
  joinLooks(alpha) {
    const { pen, data: { looks, grid: [rows, columns] }, layout: { tones, scale } } = this;
    const spots = looks.map(({ weights }) => weights.indexOf(Math.max(...weights))).filter((index) => index < rows * columns).map((index) => this.cellOf(index)).map(({ x, y, w, h }) => [x + w / 2, y + h / 2]);
    Object.assign(pen, { strokeStyle: tones.query, fillStyle: tones.query, lineWidth: 2.5 * scale, globalAlpha: alpha });
    spots.slice(1).forEach((to, at) => this.drawArrow(spots[at], to, 9 * scale, BOW));
    pen.globalAlpha = 1;
  }

  // An arrow between two points that are far enough apart, the more bent the larger `bow` is.
  drawArrow([left, top], [x, y], tip, bow = 0) {
    const { pen } = this, bend = [(left + x) / 2 + bow * (y - top), (top + y) / 2 - bow * Math.abs(x - left)], angle = Math.atan2(y - bend[1], x - bend[0]);
    if (Math.hypot(x - left, y - top) < 3 * tip) return;
    pen.beginPath();
    pen.moveTo(left, top);
    pen.quadraticCurveTo(...bend, x - tip * Math.cos(angle), y - tip * Math.sin(angle));
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x, y);
    for (const side of [-2.6, 2.6]) pen.lineTo(x + 1.6 * tip * Math.cos(angle + side), y + 1.6 * tip * Math.sin(angle + side));
    pen.fill();
  }

  // Which look went where most, where several lead to one answer: above what is drawn there or, without room, below it.
  numberLooks(alpha) {
    const { pen, data: { looks, boxes = [], grid: [rows, columns] }, layout: { tones, scale, least, side } } = this, size = Math.max(15 * scale, least * 0.8), places = new Map();
    looks.forEach(({ weights }, row) => {
      const index = weights.indexOf(Math.max(...weights)), { x, y, w, h } = this.cellOf(index), isNear = ([top, left, bottom, right]) => x + w > left * side - w && x < right * side + w && y + h > top * side - h && y < bottom * side + h;
      const box = boxes.find(isNear)?.map((share) => share * side) ?? [y, x, y + h, x + w];
      if (looks.length > 1 && index < rows * columns) places.set(String(box), [box, [...(places.get(String(box))?.[1] ?? []), row + 1]]);
    });
    places.forEach(([[y, from, bottom, to], numbers]) => {
      const label = `look ${numbers.join(", ")}`, wide = this.text(label, 0, 0, size, { weight: 650, alpha: 0 }) + 0.8 * size;
      const left = clamp((from + to - wide) / 2, 2, side - wide - 2), top = y > 1.8 * size ? y - 1.7 * size : Math.min(bottom + 0.3 * size, side - 1.5 * size);
      pen.globalAlpha = alpha;
      pen.fillStyle = tones.ink;
      pen.beginPath();
      pen.roundRect(left, top, wide, 1.4 * size, 4);
      pen.fill();
      this.text(label, left + 0.4 * size, top + 1.05 * size, size, { weight: 650, alpha, colour: tones.ground });
    });
  }

  // Below what has it.
  nameColour(name, x, y) {
    const { layout: { scale, least, high } } = this, size = Math.max(16 * scale, least * 0.8);
    this.text(name, x, Math.min(y + size, high - 5), size, { weight: 650, align: "center", hides: true });
  }

  write(progress, scores, weights) {
    const { data, over } = this, caption = this.captionOf(progress, scores, weights);
    this.writeTime(caption);
    if (progress.say > 0.5) this.nSaid = Math.max(this.nSaid, this.row + 1);
    this.lookButtons.forEach((node, row) => set(node, { "aria-pressed": row === this.row }));
    this.choices.forEach((node) => set(node, { "aria-pressed": node.isEven === this.isEven && (node.isEven || !this.data.learned) }));
    Object.assign(this.changed, { textContent: data.changed ?? "as changed", hidden: !data.learned || this.isEven });
    this.switch.hidden = !data.even;
    this.mix.hidden = !data.canCross || progress.take < 1 || this.isEven;
    set(this.mix, { "aria-label": "Cross out what most is taken from" });
    const about = over === null || over === undefined || over >= scores.length ? "" : ` ${data.nouns[1].replace(/^./, (letter) => letter.toUpperCase())} ${over + 1}: score ${scores[over]?.toFixed(2) ?? "none"}, weight ${asPercent(weights[over])}.`;
    set(this.picture, { "aria-label": `The picture. ${caption.replaceAll("**", "")}${about}` });
  }

  captionOf(progress, scores, weights) {
    const { data, row, best, sample } = this, n = data.looks.length, [, key] = data.nouns, { asks } = data.looks[row], { name } = this.timeline.steps[this.timeline.indexAt(this.time)];
    const which = n > 1 ? `Look ${row + 1} of ${n}: ` : "";
    if (name === "asks" && asks) return `${which}${asks}`;
    if (name === "asks") return `${which}${which ? "the" : "The"} question, above all its **pink words**${row ? " and what it has found so far" : ""}, asks **every ${key}**.`;
    if (name === "scores") return `${which}${which ? "each" : "Each"} ${key} gets a **score**. The bluer, the better it fits.`;
    if (name === "softmax" && this.isEven) return `All ${key}s get the **same weight**, whatever their score.`;
    if (name === "softmax" && sample !== null && progress.call > 0) {
      const less = scores[best].toFixed(1) - scores[sample].toFixed(1), [most, least] = [best, sample].map((index) => parseFloat(finePercent(weights[index])));
      const times = Number(Math.exp(less).toPrecision(2));  // of the difference that stands here
      if (Math.abs(Math.log(most / least) - less) < MAX_ROUNDING) return `**Softmax** makes weights of the scores: ${less.toFixed(1)} points less is about ${shortNumber(times)} times less.`;
    }
    if (name === "softmax") return "**Softmax** makes weights of the scores, which together are 100%.";
    if (name === "takes" && data.ink) {
      return `Each ${key} hands over its numbers: **area is weight**. Ink: ${asPercent(this.inkedShare(weights.map(() => 1 / weights.length)))} of the picture, **${asPercent(this.inkedShare(weights))}** of what is taken.`;
    }
    if (name === "takes") {
      const nothing = weights.length > data.grid[0] * data.grid[1] ? weights.at(-1) : 0;
      return nothing > 0.5 ? `${which}${asPercent(nothing)} of it looks at **nothing** in the picture.` : `Each ${key} hands over its numbers, ${data.mixes ? "**as much of them as its weight**; what comes out is their **mixture**" : "for which its piece stands: **area is weight**"}.${nothing > 0.1 ? ` ${asPercent(nothing)} of it goes to nothing in the picture.` : ""}`;
    }
    const [text, share] = this.answers[0], other = (this.isEven ? (data.learned ?? data.answer) : data.even)?.[0][0];
    if (this.isEven) return `With every weight equal it says **“${text}”** (${asPercent(share)})${other === text ? "" : `; as learned, **“${other}”**`}.`;
    if (data.learned) return `${data.cut?.length ? "Where it may not look at what is crossed out," : "With the weights **as you changed them**"} it says **“${text}”** (${asPercent(share)}); as learned, **“${data.learned[0][0]}”**.`;
    const invite = data.canCross ? " Click a piece to cross it out." : "";
    const evenly = !other || other === text ? "" : `; with every weight equal it ${/^no such/.test(other) ? "finds nothing and says" : "would say"} **“${other}”**`;
    return `Out of these pieces comes **“${text}”** (${asPercent(share)})${evenly}.${invite}`;
  }

  inkedShare(weights) { return weights.reduce((sum, weight, index) => sum + weight * this.data.ink[index], 0); }

  drawCells(progress, scores, weights) {
    const { pen, layout, data } = this, { tones } = layout, n = data.grid[0] * data.grid[1], finite = scores.slice(0, n).filter((score) => score !== null);
    const low = Math.min(...finite), high = Math.max(...finite), strongest = Math.max(FULL / n, ...data.looks.flatMap((look) => look.weights.slice(0, n)));  // one scale for all looks, and for equal weights
    if (progress.score > 0) {
      pen.globalAlpha = mix(0.55, this.veil, progress.soften) * progress.score;
      pen.fillStyle = tones.ground;
      pen.fillRect(0, 0, layout.side, layout.high);
    }
    for (let index = 0; index < n; index++) {
      const cell = this.cellOf(index);
      if (scores[index] !== null && progress.score > 0 && progress.soften < 1) {
        const fit = high > low ? (scores[index] - low) / (high - low) : 0.5;
        pen.globalAlpha = progress.score * (1 - progress.soften) * (0.06 + 0.8 * fit * fit);
        pen.fillStyle = tones.scores;
        pen.fillRect(cell.x, cell.y, cell.w + 0.5, cell.h + 0.5);
      }
      if (progress.soften > 0 && weights[index] > 0) this.lightCell(index, cell, progress.soften * (weights[index] / strongest) ** CLEARNESS);
    }
    pen.globalAlpha = 0.7;
    Object.assign(pen, { strokeStyle: tones.isDark ? "rgb(255 110 100)" : "rgb(190 30 30)", lineWidth: 1.5 });
    pen.beginPath();
    for (const index of data.cut ?? []) {
      const { x, y, w, h } = this.cellOf(index);
      pen.moveTo(x + 2, y + 2);
      pen.lineTo(x + w - 2, y + h - 2);
    }
    pen.stroke();
    pen.globalAlpha = 0.5;
    Object.assign(pen, { strokeStyle: "rgb(128 128 128)", lineWidth: 1 }).strokeRect(0.5, 0.5, layout.side - 1, layout.high - 1);
    pen.globalAlpha = 1;
  }

  // How much of the picture is hidden where no weight is.
  get veil() { return 0.3; }

  lightCell(_, { x, y, w, h }, share) {
    const { pen, layout: { tones } } = this;
    pen.globalAlpha = 0.85 * share;
    pen.fillStyle = tones.weights;
    pen.fillRect(x, y, w + 0.5, h + 0.5);
  }

  // Where the words of the question stand: in as many lines as they need, in letters that leave room for two.
  layQuestion() {
    const { layout, data } = this, { words } = data.looks[this.row], { scale, room, least } = layout;
    const wide = (size) => words.map(([text]) => this.text(text, 0, 0, size, { weight: 650, alpha: 0 }));
    const all = wide(100).reduce((sum, one) => sum + one + 32, 0) / 100, size = Math.max(Math.min(22 * scale, (1.7 * room) / all), least, 15);
    let { x, y } = layout.question;
    const left = x;
    const places = wide(size).map((length) => {
      if (x > left && x + length > left + room) { x = left; y += 1.35 * size; }
      const place = { x, y, w: length };
      x += length + 0.32 * size;
      return place;
    });
    return { size, places, bottom: y + 0.4 * size };
  }

  // The words of the question, as pink as this look weighs them.
  drawQuestion() {
    const { pen, data, row, asked: { size, places } } = this, { words } = data.looks[row], largest = Math.max(...words.map(([, weight]) => weight), 0.001);
    words.forEach(([text, weight], at) => {
      const { x, y, w } = places[at];
      pen.globalAlpha = 0.4 * (weight / largest);
      pen.fillStyle = this.layout.tones.weights;
      pen.fillRect(x - 3, y - size * 0.85, w + 6, size * 1.15);
      this.text(text, x, y, size, { weight: weight > largest / 2 ? 650 : 400 });
    });
  }

  // Where the lines to the regions begin.
  originOfQuestion() {
    const { question: { x, y }, isNarrow, side } = this.layout;
    return isNarrow ? [side / 2, y - 20] : [x - 6, y - 6];
  }

  drawAsking({ ask, score }) {
    const { pen, layout, data } = this, n = data.grid[0] * data.grid[1], from = this.originOfQuestion();
    const farthest = Math.hypot(layout.side, layout.side);
    Object.assign(pen, { strokeStyle: layout.tones.query, lineWidth: 1 });
    for (let index = 0; index < n; index++) {
      const cell = this.cellOf(index), to = [cell.x + cell.w / 2, cell.y + cell.h / 2];
      const far = Math.hypot(to[0] - from[0], to[1] - from[1]) / farthest, share = clamp((1.5 * ask - 0.4 * far) * 1.3, 0, 1);
      if (share <= 0) continue;
      pen.globalAlpha = 0.16 * (1 - score);
      pen.beginPath();
      pen.moveTo(...from);
      pen.lineTo(mix(from[0], to[0], share), mix(from[1], to[1], share));
      pen.stroke();
      if (share === 1) {
        pen.globalAlpha = 0.6 * (1 - score);
        pen.strokeRect(cell.x + 1, cell.y + 1, cell.w - 2, cell.h - 2);
      }
    }
    pen.globalAlpha = 1;
  }

  // Two regions say what softmax does: the best, and one that is some points below.
  drawSamples({ score, call, take }, scores, weights) {
    const { layout: { isNarrow, scale, box } } = this, side = isNarrow ? 44 : 72 * scale, alpha = clamp(2 * score - 1, 0, 1) * (1 - clamp(20 * take, 0, 1));
    if (this.best >= this.data.grid[0] * this.data.grid[1]) return;
    const samples = [this.best, this.sample].filter((index) => index !== null).sort((a, b) => a - b);
    samples.forEach((index, place) => this.drawSample(index, { x: box.x, y: box.y + place * (side + 22 * scale), w: side, h: side }, { alpha, call, place }, scores, weights));
  }

  drawSample(index, at, { alpha, call }, scores, weights) {
    const { pen, layout: { tones, isNarrow, scale, least } } = this, cell = this.cellOf(index), size = Math.max(isNarrow ? 18 : 26 * scale, least);
    pen.globalAlpha = alpha;
    Object.assign(pen, { strokeStyle: tones.ink, lineWidth: 2 }).strokeRect(cell.x, cell.y, cell.w, cell.h);
    pen.globalAlpha = 0.5 * alpha;
    pen.beginPath();
    pen.moveTo(cell.x + cell.w, cell.y + cell.h / 2);
    if (!isNarrow) pen.lineTo(at.x, at.y + at.w / 2);
    pen.stroke();
    this.drawPiece(index, at, this.near, alpha);
    pen.globalAlpha = 0.6 * alpha;
    Object.assign(pen, { strokeStyle: tones.ink, lineWidth: 1 }).strokeRect(at.x, at.y, at.w, at.h);
    this.writeSample(index, at.x + at.w + 14, at.y + at.w / 2 + size / 3, size, { alpha, call }, scores, weights);
  }

  writeSample(index, x, y, size, { alpha, call }, scores, weights, hides = false) {
    const { tones } = this.layout, style = { weight: 650, hides };
    const wide = this.text(`score ${minus(scores[index].toFixed(1))}`, x, y, size, { ...style, alpha, colour: tones.scores });
    return wide + this.text(` → ${finePercent(weights[index])}`, x + wide, y, size, { ...style, alpha: alpha * call, colour: tones.weights });
  }

  // A region with what lies around it, which it has seen, too.
  drawPiece(index, { x, y, w, h }, near, alpha = 1) {
    const { pen, image, data } = this, [rows, columns] = data.grid, { naturalWidth: wide, naturalHeight: high } = image;
    if (!wide || index >= rows * columns) return;
    const share = Math.min(((wide / columns) * near) / w, ((high / rows) * near) / h), [sw, sh] = [w * share, h * share];
    const sx = clamp((((index % columns) + 0.5) * wide) / columns - sw / 2, 0, wide - sw), sy = clamp(((Math.floor(index / columns) + 0.5) * high) / rows - sh / 2, 0, high - sh);
    pen.globalAlpha = alpha;
    pen.fillStyle = data.paper ?? "#fff";
    pen.fillRect(x, y, w, h);
    pen.drawImage(image, sx, sy, sw, sh, x, y, w, h);
    pen.globalAlpha = 1;
  }

  mixtureOf(row) { return (this.mixtures[this.isEven ? "even" : row] ??= this.mixPieces(this.isEven ? this.weights() : this.data.looks[row].weights)); }

  // The mean of the regions' pieces, each counted by its weight.
  mixPieces(weights) {
    const { image, near, data: { grid: [rows, columns], paper } } = this, cell = MIXTURE / near, [wide, high] = [Math.round(columns * cell), Math.round(rows * cell)];
    const whole = create("canvas", { width: wide, height: high }).getContext("2d"), sums = new Float32Array(3 * MIXTURE * MIXTURE);
    whole.fillStyle = paper ?? "#fff";
    whole.fillRect(0, 0, wide, high);
    if (image.naturalWidth) whole.drawImage(image, 0, 0, wide, high);
    const { data } = whole.getImageData(0, 0, wide, high), start = (place, length) => Math.round(clamp((place + 0.5) * cell - MIXTURE / 2, 0, Math.max(0, length - MIXTURE)));
    const regions = weights.slice(0, rows * columns), total = regions.reduce((sum, weight) => sum + weight, 0) || 1;
    regions.forEach((weight, index) => {
      const left = start(index % columns, wide), top = start(Math.floor(index / columns), high);
      for (let at = 0; weight > 0 && at < MIXTURE * MIXTURE; at++) {
        const from = 4 * ((top + Math.floor(at / MIXTURE)) * wide + left + (at % MIXTURE));
        for (let colour = 0; colour < 3; colour++) sums[3 * at + colour] += (weight / total) * data[from + colour];
      }
    });
    const canvas = create("canvas", { width: MIXTURE, height: MIXTURE });
    putPixels(canvas, Uint32Array.from({ length: MIXTURE * MIXTURE }, (_, at) => pixelOf([...sums.subarray(3 * at, 3 * at + 3)].map(Math.round))));
    return canvas;
  }

  drawTiles({ take, blend }, weights) {
    const { pen, layout, tiles, data } = this, { box } = layout, high = box.h ?? box.w, n = data.grid[0] * data.grid[1];
    Object.assign(pen, { strokeStyle: layout.tones.context, lineWidth: 2.5 }).strokeRect(box.x - 2, box.y - 2, box.w + 4, high + 4);
    tiles.forEach(({ index, x, y, w, h }, rank) => {
      const share = eased(1.6 * take - (0.6 * rank) / tiles.length, 0, 1);
      if (share <= 0) return;
      const cell = index < n ? this.cellOf(index) : { x: layout.side, y: layout.high, w: 4, h: 4 };
      const at = { x: mix(cell.x, box.x + x * box.w, share), y: mix(cell.y, box.y + y * high, share) - 30 * Math.sin(share * Math.PI), w: mix(cell.w, w * box.w, share), h: mix(cell.h, h * high, share) };
      if (index < n) this.drawPiece(index, at, mix(1, w > 0.12 ? this.near : 1, share));
      else {
        pen.fillStyle = "rgb(128 128 128 / 0.35)";
        pen.fillRect(at.x, at.y, at.w, at.h);
      }
      if (at.w > 6 && !this.isEven) Object.assign(pen, { strokeStyle: data.ink ? layout.tones.ground : "rgb(128 128 128 / 0.7)", lineWidth: 1.5 }).strokeRect(at.x, at.y, at.w, at.h);
      const text = `${asPercent(weights[index])}${index < n ? "" : " nothing"}`, size = Math.max(15 * layout.scale, layout.least * 0.8, 14);
      if (share > 0.98 && blend < 0.5 && !data.ink && weights[index] >= NUMBERED && at.h > 1.4 * size && at.w > this.text(text, 0, 0, size, { weight: 650, alpha: 0 }) + 8) this.textOnPlate(text, at.x + 3, at.y + at.h - 3, size, 650);
    });
    if (data.ink && take >= 1) {
      const share = this.inkedShare(weights);
      this.labelInk(`ink ${asPercent(share)}`, share);
      this.labelInk(`paper ${asPercent(1 - share)}`, 1 - share, true);
    }
    if (blend <= 0) return;
    pen.globalAlpha = blend;
    pen.drawImage(this.mixtureOf(this.row), box.x, box.y, box.w, high);
    pen.globalAlpha = 1;
  }

  // Upright where its tiles are narrower than it.
  labelInk(text, share, isRight = false) {
    const { pen, layout: { box, scale, least } } = this, size = Math.max(18 * scale, least), wide = this.text(text, 0, 0, size, { alpha: 0 }) + 0.6 * size;
    const isUpright = share * box.w < wide, high = 1.4 * size, x = isRight ? box.x + box.w - 4 - (isUpright ? 0 : wide) : box.x + 4 + (isUpright ? high : 0);
    pen.save();
    pen.translate(x, box.y + box.w - 4);
    if (isUpright) pen.rotate(-Math.PI / 2);
    this.textOnPlate(text, 0, 0, size);
    pen.restore();
  }

  // A text that is legible on black and on white, from its lower left corner.
  textOnPlate(text, x, y, size, weight = 400) {
    const { pen, layout: { tones } } = this, wide = this.text(text, 0, 0, size, { weight, alpha: 0 }) + 0.6 * size;
    Object.assign(pen, { globalAlpha: 0.85, fillStyle: tones.ground }).fillRect(x, y - 1.4 * size, wide, 1.4 * size);
    this.text(text, x + 0.3 * size, y - 0.4 * size, size, { weight });
  }

  // What is said at last, or at the present look.
  get answers() {
    const { answer } = this.data.looks[this.row];
    return this.isEven ? this.data.even : answer ?? this.data.answer;
  }

  drawAnswer({ say }) {
    const { layout, answers } = this, { box, scale, isNarrow } = layout;
    const room = layout.width - box.x - box.w - 22, longest = this.text(answers[0][0], 0, 0, 1, { weight: 700, alpha: 0 }) + (answers[0][2] ? 0.85 : 0);
    const largest = isNarrow ? 24 : Math.max(56 * scale, Math.min(0.4 * room, 0.45 * box.w));  // a hall has room
    const size = Math.min(largest, (0.85 * room) / longest), others = answers.slice(1, 3).filter(([, share]) => share >= 0.01).map(([text, share]) => `or ${text} (${asPercent(share)})`);
    const wanted = Math.max(isNarrow ? 15 : 17 * scale, layout.least * 0.85, size / 5), small = Math.min(wanted, room / Math.max(1, ...others.map((text) => this.text(text, 0, 0, 1, { alpha: 0 }))));
    const x = box.x + box.w + 18, y = box.y + size;
    answers.slice(0, others.length + 1).forEach(([text, share, colour], place) => {
      const top = y + (place ? (1.5 + 1.5 * place) * small : 0);
      if (!place && colour) {
        this.pen.globalAlpha = say;
        Object.assign(this.pen, { fillStyle: colour, strokeStyle: "rgb(128 128 128)", lineWidth: 1 });
        this.pen.beginPath();
        this.pen.arc(x + size * 0.32, top - size * 0.32, size * 0.32, 0, 7);
        this.pen.fill();
        this.pen.stroke();
        this.pen.globalAlpha = 1;
      }
      const left = x + (!place && colour ? size * 0.85 : 0);
      this.text(place ? others[place - 1] : text, left, top, place ? small : size, { weight: place ? 400 : 700, alpha: say * (place ? 0.8 : 1) });
      if (!place) this.text(asPercent(share), left, top + 1.5 * small, small, { alpha: say });
    });
  }

  // The region that is pointed at, and its numbers.
  drawPointed(progress, scores, weights) {
    const { layout, over, pen } = this, n = this.data.grid[0] * this.data.grid[1];
    if (over >= n) return;
    const cell = this.cellOf(over), size = Math.max(15, layout.least * 0.8), known = progress.soften > 0.5 ? finePercent(weights[over]) : progress.score > 0.5 ? `score ${minus(scores[over]?.toFixed(1) ?? "none")}` : "";
    pen.globalAlpha = 1;
    Object.assign(pen, { strokeStyle: layout.tones.ink, lineWidth: 2.5 }).strokeRect(cell.x, cell.y, cell.w, cell.h);
    const isRight = cell.x + cell.w / 2 < layout.side / 2;
    this.text(known, isRight ? cell.x + cell.w + 6 : cell.x - 6, cell.y + cell.h / 2 + size / 3, size, { weight: 650, hides: true, align: isRight ? "left" : "right" });
  }

  // A text, `hides` what is below it by a rim of the ground; returns its width.
  text(text, x, y, size, { weight = 400, alpha = 1, colour = this.layout.tones.ink, hides = false, align = "left" } = {}) {
    const font = `${weight} ${size}px ${this.font}`;
    return writeText(this.pen, text, x, y, { font, align, alpha, colour, rim: hides ? this.layout.tones.ground : null, baseline: "alphabetic" });
  }
}
