// The scene of a drawing whose pixels attend to one another: the framed pixel, `asker`, asks all of them. A click on the picture
// chooses another one, dragging draws. Beside its mixture stand those of all pixels, out of which the answer comes: `taken` says
// how much of each is ink, `inks` are the colours of paper and ink.
import { asPercent, clamp, shownBy } from "../../attention_core/attention/view/prelude.js";
import { middleOf } from "../../attention_core/attention/view/scene_drawing.js";
import { DrawnScene } from "../../ui/components/drawn_scene.js";
import { underHand } from "./pixel_pad.js";

const APART = 18, LINE = 1.35, N_NUMBERED = 2, LEAST_RIVAL = 0.01;

const meanOf = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / (numbers.length || 1);

class PixelScene extends DrawnScene {
  constructor(root) {
    super(root);
    this.narrowShare = 0.78;
    this.picture.addEventListener("keydown", (event) => { if (event.key === "Enter" && this.over !== null) this.ask(this.over); });
  }

  hearPad() {
    underHand(this.board.parentNode, {
      over: () => !this.isDrawing && !this.data.isEmpty,
      hover: (event) => this.look(this.cellAt(event)),
      choose: (event) => this.ask(this.cellAt(event)),
      begin: () => this.beginStroke(),
      end: () => { if (this.isDrawing) this.beginStroke(); },
      leave: (event) => this.pointed.leave(event),
    });
  }

  ask(pixel) {
    this.isTouched = true;
    this.tell?.({ row: 0, query: pixel });
  }

  originOfQuestion() {
    const { x, y } = middleOf(this.cellOf(this.data.asker));
    return [x, y];
  }

  drawQuestion() {
    super.drawQuestion();
    const { asked: { size, places: [place] } } = this;
    this.text("takes", place.x + place.w, place.y, size, { alpha: clamp(10 * this.progress().take, 0, 1) });
    this.frameAsker(this.cellOf(this.data.asker), 3.5);
    if (this.progress().take >= 1 && !this.isEven) this.numberSources();
  }

  // The pixels from which most is taken; their tiles have the same numbers.
  numberSources() {
    const { layout: { scale, least, side } } = this, size = Math.max(16 * scale, least);
    this.tiles.slice(0, N_NUMBERED).forEach(({ index }, rank) => {
      const { x, y, w, h } = this.cellOf(index), isRight = x + w + 2 * size < side;
      this.textOnPlate(`${rank + 1}`, isRight ? x + w + 3 : x - 1.25 * size - 3, y + h / 2 + 0.7 * size, size, 700);
    });
  }

  drawTiles(progress, weights) {
    super.drawTiles(progress, weights);
    if (progress.take < 1 || this.isEven) return;
    const { box, scale, least } = this.layout, size = Math.max(18 * scale, least);
    this.tiles.slice(0, N_NUMBERED).forEach(({ index, x, y }, rank) => {
      this.textOnPlate(`${rank + 1}: ${asPercent(weights[index])}`, box.x + x * box.w + 5, box.y + y * box.w + 1.4 * size + 5, size, 700);
    });
  }

  frameAsker({ x, y, w, h }, lineWidth) {
    const { pen, layout: { tones } } = this;
    for (const [strokeStyle, wide] of [[tones.ground, 2 * lineWidth], [tones.query, lineWidth]])
      Object.assign(pen, { strokeStyle, lineWidth: wide }).strokeRect(x - 2, y - 2, w + 4, h + 4);
  }

  captionOf(progress, scores, weights) {
    const isSaid = this.timeline.steps[this.timeline.indexAt(this.time)].name === "says", { data, isEven } = this;
    if (!isSaid || data.learned) return super.captionOf(progress, scores, weights);
    const [[text, share]] = this.answers, says = `comes **“${text}”** (${asPercent(share)})`;
    if (isEven) return `With every weight equal **all pixels take the same**: nothing tells where the ink lies. Out of it ${says}.`;
    const mean = (isInk) => Math.round(100 * meanOf(data.taken.filter((_, at) => Boolean(data.ink[at]) === isInk)));
    return `Pixels of ink take **${mean(true)}% ink** on average, pixels of paper ${mean(false)}%: the drawing comes through. Out of it ${says}.`;
  }

  // The map of all mixtures stands beside the box of one, the answer below the map or, where it can be larger so, beside it.
  drawAnswer({ say }) {
    const { layout: { box, scale, isNarrow, least, width }, answers: [[text, share], ...others], pen } = this;
    const room = width - box.x - box.w - APART - 4, small = Math.max(isNarrow ? 13 : 17 * scale, least * 0.85), size = 2 * LINE * small;
    const lines = [asPercent(share), ...others.slice(0, 1).filter(([, likely]) => likely >= LEAST_RIVAL).map(([other, likely]) => `or “${other}” (${asPercent(likely)})`)];
    const long = size * 0.6 + 10 + Math.max(...lines.map((line) => this.text(line, 0, 0, small, { alpha: 0 })));
    const [beside, below] = [Math.min(box.w, room - long - APART), Math.min(box.w, room, box.w - size - 12)], isBeside = beside > below;
    const map = { x: box.x + box.w + APART, y: box.y, w: Math.max(beside, below) };
    const [x, y] = isBeside ? [map.x + map.w + APART, map.y] : [map.x, map.y + map.w + 12];
    pen.globalAlpha = say;
    this.drawTaken(map, say);
    this.text("every pixel", map.x, this.asked.places[0].y, Math.min(this.asked.size, map.w / 4.6), { alpha: say });
    this.text(text, x, y + 0.8 * size, size, { weight: 700, alpha: say });
    lines.forEach((line, at) => this.text(line, x + size * 0.6 + 10, y + (0.9 + LINE * at) * small, small, { alpha: say * (at ? 0.8 : 1) }));
  }

  // How much ink each pixel took; the asker's cell is what its box is in large.
  drawTaken({ x, y, w }, alpha) {
    const { pen, layout: { box, tones }, data: { grid: [rows, columns], taken, ink, inks: [paper, dark], asker } } = this, side = w / columns;
    const alike = this.isEven ? meanOf(ink) : null;
    Object.assign(pen, { globalAlpha: alpha, fillStyle: paper }).fillRect(x, y, w, side * rows);
    pen.fillStyle = dark;
    taken.forEach((share, index) => {
      pen.globalAlpha = alpha * (alike ?? share);
      pen.fillRect(x + (index % columns) * side, y + Math.floor(index / columns) * side, side + 0.3, side + 0.3);
    });
    const cell = { x: x + (asker % columns) * side, y: y + Math.floor(asker / columns) * side, w: side, h: side };
    Object.assign(pen, { globalAlpha: alpha, strokeStyle: tones.context, lineWidth: 1.5 }).strokeRect(x - 1, y - 1, w + 2, side * rows + 2);
    pen.beginPath();
    pen.moveTo(box.x + box.w + 2, cell.y + side / 2);
    pen.lineTo(cell.x, cell.y + side / 2);
    pen.stroke();
    this.frameAsker(cell, 2);
    pen.globalAlpha = 1;
  }
}

export default shownBy(PixelScene, "chosen");
