// The scene of a photograph that a word or a region asks: first all regions count alike, then as much as their weights; what
// comes out of both stays side by side. `equal` is said of equal weights, `best` are best scores, if they are to be compared,
// `mixtures` are pictures of what was taken, and `says` is the last caption.
import { asPercent, clamp, create, shownBy } from "../../attention_core/attention/view/prelude.js";
import { PictureScene } from "../../attention_core/attention/view/picture_scene.js";
import { clearedPen, tonesOn } from "../../attention_core/attention/view/scene_drawing.js";
import { eased } from "../../attention_core/attention/view/scene_steps.js";

const NARROW = 560, WIDE = 1060, TALLEST = 450, BAR_ROWS = 6.2, LARGEST = 0.42, HIGHEST_SCORE = 25, LEAST_RIVAL = 0.02, VEIL = 0.6, LEAST_LIT = 0.06, SPOT = "226 32 140", FULL = 8, CLEARNESS = 0.6;

class PhotoScene extends PictureScene {
  constructor(root) {
    super(root);
    this.picture.onclick = (event) => this.askFrom(this.cellAt(event));
    this.picture.addEventListener("keydown", (event) => { if (event.key === "Enter" && this.over !== null) this.askFrom(this.over); });
    this.outcomes = [true, false].map(() => create("img", { onload: () => this.draw() }));
  }

  adopt(data, tell) {
    data.mixtures?.forEach((picture, at) => { if (this.outcomes[at].src !== picture) this.outcomes[at].src = picture; });
    super.adopt(data, tell);
  }

  get stepNames() { return ["evenly", ...super.stepNames]; }

  askFrom(region) {
    this.isTouched = true;
    this.tell?.({ row: 0, query: region });
  }

  layOut() {
    const { width, least, ink, ground } = this.measureFrame(), isNarrow = width < NARROW, [rows, columns] = this.data.grid;
    const scale = isNarrow ? 1 : clamp(width / WIDE, 0.8, 1.7), tallest = isNarrow ? 1.1 * width : TALLEST * scale, { best } = this.data;
    const side = Math.min(isNarrow ? width : 0.54 * width, (tallest * columns) / rows), high = (side * rows) / columns;
    const left = isNarrow ? 0 : side + 36 * scale, room = width - left, gap = (isNarrow ? 14 : 28) * scale;
    const top = isNarrow ? high + 14 : 0, size = Math.max(32 * scale, least) * (isNarrow ? 0.8 : 1), small = Math.max(isNarrow ? 15 : 18 * scale, least);
    const y = top + 1.75 * size + 1.6 * small, smallest = isNarrow ? 30 : 46 * scale, bars = best ? BAR_ROWS * small : 0, shape = rows / columns;
    const w = Math.min((room - gap) / 2 - 3, isNarrow ? room : (tallest - (y - top) - 1.15 * smallest - 2.6 * small - bars) / shape), h = shape * w;
    const big = isNarrow ? smallest : clamp((high - y - h - 2.6 * small - bars) / 1.15, smallest, LARGEST * w), below = y + h + 1.15 * big + 2.6 * small;
    const layout = { width, isNarrow, scale, least, side, high, gap, left, room, size, small, big };
    this.layout = { ...layout, question: { x: left, y: top }, box: { x: left + w + gap + 3, y, w, h }, bars: { x: left, y: below, room } };
    Object.assign(this.layout, { even: { x: left + 3, y, w, h }, tones: tonesOn(ink, ground), height: Math.max(high, below + bars) + 4 });
    this.pen = this.canvas.getContext("2d");
    this.placeBox();
    this.sizeStage(this.layout);
    const { box } = this.layout;
    this.mix.style = `left:${box.x}px;top:${box.y}px;width:${w}px;height:${h}px`;
    this.picture.style = `left:0;top:0;width:${side}px;height:${high}px`;
  }

  placeBox() { this.asked = this.layQuestion(); }

  layQuestion() {
    const { question: { x, y }, size: largest, room } = this.layout, text = `${this.data.looks[0].words[0][0]}?`;
    const one = this.text(text, 0, 0, 1, { weight: 700, alpha: 0 }), size = Math.min(largest, (room - 4) / (one + 1)), w = (one + 0.9) * size;
    return { text, size, places: [{ x: x + 1.5, y: y + 1.5, w, h: 1.5 * size }], bottom: y + 1.5 * size };
  }

  progress() {
    const { time, timeline: { starts } } = this, at = starts.evenly;
    return { ...super.progress(), mixEvenly: clamp((time - at - 0.5) / 1.5, 0, 1), blendEvenly: this.data.mixes ? eased(time - at, 2, 2.4) : 0, sayEvenly: eased(time - at, 2.2, 2.6) };
  }

  draw() {
    const { layout, data } = this;
    if (!layout || !data || !this.root.isConnected || !this.timeline) return;
    this.pen = clearedPen(this.canvas, layout, this.ratio);
    const { pen } = this, { side, high } = layout, progress = this.progress(), weights = this.weights(), { scores } = data.looks[0];
    if (this.image.complete && this.image.naturalWidth) pen.drawImage(this.image, 0, 0, side, high);
    this.drawCells(progress, scores, weights);
    if (progress.soften > 0) this.drawSpot(weights, progress.soften);
    if (progress.say > 0) this.labelSpot(progress.say);
    if (progress.ask > 0 && progress.score < 1) this.drawAsking(progress);
    this.drawQuestion(progress);
    if (progress.score > 0.5 && progress.take < 0.05) this.drawSamples(progress, scores, weights);
    if (progress.mixEvenly > 0) this.drawOutcome(true, progress.mixEvenly, progress.blendEvenly, progress.sayEvenly);
    if (progress.take > 0) this.drawOutcome(false, progress.take, progress.blend, progress.say);
    if (progress.say > 0) this.drawBest(progress.say);
    if (this.isCovered) this.drawQuestionMarks();
    if (this.over !== null && this.over !== undefined) this.drawPointed(progress, scores, weights);
    this.write(progress, scores, weights);
  }

  get veil() { return 0; }

  lightCell() { }  // all at once: see drawSpot

  // A spot of light: what is looked at is seen as it is, within a pink rim, since a region has seen beyond its edges.
  drawSpot(weights, alpha) {
    const { pen, layout: { side, high, tones }, data: { grid: [rows, columns] } } = this, cell = side / columns;
    this.spot = Object.assign(this.spot ?? create("canvas", {}), { width: side, height: high });
    const light = this.spot.getContext("2d"), strongest = Math.max(FULL / (rows * columns), ...weights);
    const shine = (index, reach, strength, colour, core) => {
      const { x, y, w, h } = this.cellOf(index), at = [x + w / 2, y + h / 2], rays = light.createRadialGradient(...at, 0, ...at, reach * cell);
      for (const [stop, share] of [[0, strength], [core, strength], [1, 0]]) rays.addColorStop(stop, `rgb(${colour} / ${share})`);
      light.fillStyle = rays;
      light.fillRect(at[0] - reach * cell, at[1] - reach * cell, 2 * reach * cell, 2 * reach * cell);
    };
    const lit = [...weights.keys()].map((index) => [index, (weights[index] / strongest) ** CLEARNESS]).filter(([, share]) => share > LEAST_LIT);
    Object.assign(light, { globalAlpha: VEIL, fillStyle: tones.ground }).fillRect(0, 0, side, high);
    light.globalAlpha = 1;
    for (const [index, share] of lit) shine(index, 2.3, share, SPOT, 0.6);
    light.globalCompositeOperation = "destination-out";
    for (const [index, share] of lit) shine(index, 1.7, share, "0 0 0", 0.75);
    pen.globalAlpha = alpha;
    pen.drawImage(this.spot, 0, 0, side, high);
    pen.globalAlpha = 1;
  }

  // A name for what the rim and the clear picture in it mean, below the strongest weight or above it.
  labelSpot(alpha) {
    const { best, layout: { side, high, small }, data: { grid: [, columns] } } = this, { x, y, w, h } = this.cellOf(best), reach = (2.1 * side) / columns;
    const text = `it looks here: ${asPercent(this.shareAround(best))}`, wide = this.text(text, 0, 0, small, { weight: 650, alpha: 0 }), middle = y + h / 2, isBelow = middle + reach + 1.3 * small < high;
    this.text(text, clamp(x + (w - wide) / 2, 4, side - wide - 4), isBelow ? middle + reach + small : middle - reach - 0.3 * small, small, { weight: 650, alpha, hides: true });
  }

  // The weight of a region and those at most two away from it, as far as its light reaches.
  shareAround(best) {
    const [, columns] = this.data.grid, far = (index) => Math.max(Math.abs((index % columns) - (best % columns)), Math.abs(Math.floor(index / columns) - Math.floor(best / columns)));
    return this.weights().reduce((sum, weight, index) => sum + (far(index) <= 2 ? weight : 0), 0);
  }

  // While a guess is awaited, what is to come: an answer with equal weights, and one as asked.
  drawQuestionMarks() {
    const { pen, layout: { box, even, big, small, tones } } = this;
    for (const [{ x, y, w, h }, title] of [[even, "all regions equal"], [box, "as asked"]]) {
      this.text(title, x, y - 0.5 * small, small, { alpha: 0.8 });
      Object.assign(pen, { strokeStyle: tones.context, lineWidth: 2.5, globalAlpha: 1 }).strokeRect(x - 2, y - 2, w + 4, h + 4);
      this.text("?", x + w / 2, y + h / 2 + 0.35 * big, big, { weight: 700, align: "center" });
    }
  }

  drawQuestion() {
    const { pen, layout: { tones }, asked: { text, size, places: [{ x, y, w, h }] } } = this;
    Object.assign(pen, { strokeStyle: tones.query, lineWidth: 3, globalAlpha: 1 });
    pen.beginPath();
    pen.roundRect(x, y, w, h, 9);
    pen.stroke();
    this.text(text, x + 0.45 * size, y + 1.1 * size, size, { weight: 700 });
  }

  originOfQuestion() {
    const { isNarrow, side } = this.layout, { places: [{ x, y, h }] } = this.asked;
    return isNarrow ? [side / 2, y] : [x, y + h / 2];
  }

  // A box of what was taken, with equal weights or with those of the question, and below it what comes of that.
  drawOutcome(isEven, take, blend, say) {
    const { layout, data } = this, { box, even, small, big, tones } = layout, place = isEven ? even : box;
    const title = isEven ? "all regions equal" : data.mixes ? "as asked" : "as asked: area is weight";
    this.text(title, place.x, place.y - 0.5 * small, Math.min(small, (place.w + layout.gap - 6) / this.text(title, 0, 0, 1, { alpha: 0 })), { alpha: 0.8 });
    if (isEven) this.drawWhole(take, blend);
    else this.drawTiles({ take, blend }, this.weights());
    const [[text, share], ...others] = isEven ? data.equal : data.answer, top = place.y + place.h, room = place.w + 0.8 * layout.gap;
    const fits = (words, size) => Math.min(size, room / Math.max(0.1, this.text(words, 0, 0, 1, { weight: 650, alpha: 0 })));
    if (share !== null) {
      this.text(asPercent(share), place.x, top + big, big, { weight: 700, alpha: say, colour: isEven ? tones.ink : tones.context });
      this.text(text, place.x, top + big + 1.3 * small, fits(text, 1.1 * small), { weight: 650, alpha: say });
    } else this.text(text, place.x, top + big, fits(text, 0.8 * big), { weight: 700, alpha: say });
    const rival = others.find(([, one]) => one >= LEAST_RIVAL), words = rival && `then ${rival[0]} ${asPercent(rival[1])}`;
    if (rival) this.text(words, place.x, top + big + 2.4 * small, fits(words, 0.9 * small), { alpha: 0.75 * say });
  }

  mixtureOf() { return this.outcomes[1]; }

  // The photograph, in which all regions count alike, or what comes of mixing them.
  drawWhole(take, blend) {
    const { pen, image, layout: { even: { x, y, w, h }, tones } } = this;
    Object.assign(pen, { globalAlpha: take, strokeStyle: tones.context, lineWidth: 2.5 }).strokeRect(x - 2, y - 2, w + 4, h + 4);
    for (const [picture, alpha] of [[image, take], [this.outcomes[0], blend]]) if (alpha > 0 && picture.naturalWidth) Object.assign(pen, { globalAlpha: alpha }).drawImage(picture, x, y, w, h);
    pen.globalAlpha = 1;
  }

  // The best score of each question: softmax forgets how high it was.
  drawBest(alpha) {
    const { pen, layout: { small, bars: { x, y: top, room }, tones }, data: { best } } = this;
    if (!best) return;
    const named = 0.3 * room, names = best.map(([name]) => name), longest = Math.max(...names.map((name) => this.text(name, 0, 0, 1, { alpha: 0 })));
    const size = Math.min(small, named / longest), start = x + named + 12, wide = room - (start - x) - 3 * small;
    this.text("best score: how well the best region fits the word", x, top + 1.6 * small, small, { alpha: 0.8 * alpha });
    best.forEach(([, score], at) => {
      const y = top + (2.8 + 1.35 * at) * small, long = (wide * clamp(score, 0, HIGHEST_SCORE)) / HIGHEST_SCORE;
      this.text(names[at], x, y + 0.35 * small, size, { alpha });
      Object.assign(pen, { globalAlpha: (at === best.length - 1 ? 1 : 0.6) * alpha, fillStyle: tones.scores }).fillRect(start, y - 0.45 * small, long, 0.9 * small);
      this.text(score.toFixed(1), start + long + 6, y + 0.35 * small, small, { weight: 650, alpha });
    });
  }

  captionOf(progress, scores, weights) {
    if (this.isCovered) return `Where would **you** look for “${this.data.looks[0].words[0][0]}”?`;
    const { name } = this.timeline.steps[this.timeline.indexAt(this.time)];
    return { evenly: this.data.saysEvenly, says: this.data.says }[name] ?? super.captionOf(progress, scores, weights);
  }
}

export default shownBy(PhotoScene, "chosen");
