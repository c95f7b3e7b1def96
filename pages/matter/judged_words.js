// The scene of a sentence that is judged: a learned query weighs its words, and a verdict comes of their values. Then what each
// word does: below it hangs a bar for how the verdict moves when it is deleted, which its weight does not tell.
import { asPercent, minus, shownBy } from "../../attention_core/attention/view/prelude.js";
import { SceneDrawing } from "../../attention_core/attention/view/scene_drawing.js";
import { SceneLayout } from "../../attention_core/attention/view/scene_layout.js";
import { SceneView } from "../../attention_core/attention/view/scene.js";
import { quoted, saidOf } from "../../attention_core/attention/view/scene_captions.js";

const LEAST_POINTS = 0.0095, GAP = 6, MORE_ROOM = 12, APART = 12;  // pixels, of a large screen the last two

const pointsOf = (change) => minus(`${change > 0 ? "+" : ""}${(100 * change).toFixed(Math.abs(change) < LEAST_POINTS ? 1 : 0)}`);

// With tall strips, and room for bars below them, perhaps for one more strip above one of them.
class JudgedLayout extends SceneLayout {
  constructor({ hasMore, ...sizes }) {
    super(sizes);
    if (this.isNarrow) return;
    const { h } = this.strips[0], lower = hasMore ? 2 * h + APART * this.scale : 0;
    for (const strip of this.strips) Object.assign(strip, { y: strip.y + lower, h: 2 * h });
    for (const side of ["boxTop", "below"]) this[side] += lower + h + MORE_ROOM * this.scale;
    this.queries = this.wordsBelow(sizes.queries);
    this.height = this.queries.bottom + 6;
  }
}

class JudgedDrawing extends SceneDrawing {
  drawKey(index) {
    super.drawKey(index);
    const { pen, layout, state, data } = this, { erase } = state.progress, change = data.ifRemoved?.[index];
    if (!erase || change === undefined) return;
    const room = layout.isNarrow ? this.box.x - layout.doorLeft - 50 : layout.boxTop - layout.strips[index].y - layout.strips[index].h - 39 * layout.scale;
    const long = Math.max(1.5, Math.abs(change) * room * erase), size = layout.numberSize[index], text = pointsOf(change);
    const style = { size, weight: Math.abs(change) < 0.05 ? "400" : "600", alpha: erase, hides: true }, column = layout.column(index);
    Object.assign(pen, { fillStyle: change < 0 ? this.tones.below : this.tones.above, globalAlpha: erase });
    if (layout.isNarrow) {
      const x = layout.doorLeft + GAP;
      pen.fillRect(x, column.y, long, column.h);
      this.write(text, x + long + GAP, column.y + column.h / 2, style);
    } else {
      const { y, h } = layout.strips[index], top = y + h + GAP;
      pen.fillRect(column.x, top, column.w, long);
      this.write(text, column.x + column.w / 2, top + long + 0.75 * size, { ...style, align: "center" });
    }
    pen.globalAlpha = 1;
  }

  // The heaviest word as it is without the negation that turns it round, and whence that comes.
  drawUnturned({ index, by, numbers }) {
    const { pen, layout, tones, state: { progress: { open, erase } } } = this, { scale } = layout, alpha = open * (1 - erase), { x, y, w, h } = layout.strips[index], start = layout.strips[by];
    const above = { x, y: y - h - APART * scale, w, h }, size = 18 * scale, middle = y + h / 2, tip = x - GAP, style = { align: "right", size, alpha, hides: true };
    this.drawStrip(above, numbers, alpha, tones.ink, 1.5);
    this.write(`without ${quoted(this.data.keys[by])}`, tip, above.y + h / 2, style);
    if (by !== index - 1) return;
    Object.assign(pen, { strokeStyle: tones.ink, fillStyle: tones.ink, lineWidth: 2 * scale, globalAlpha: alpha }).beginPath();
    pen.moveTo(start.x + start.w + GAP, middle);
    pen.lineTo(tip, middle);
    pen.stroke();
    pen.beginPath();
    for (const [back, aside] of [[0, 0], [10, -6], [10, 6]]) pen.lineTo(tip - back * scale, middle + aside * scale);
    pen.fill();
    this.write("turns it", tip - 14 * scale, middle - 0.7 * size, { ...style, hides: false });
  }

  draw(state) {
    super.draw(state);
    if (this.data.unturned && !this.layout.isNarrow) this.drawUnturned(this.data.unturned);
  }
}

class JudgedScene extends SceneView {
  constructor(root) {
    super(root);
    Object.assign(this, { drawing: new JudgedDrawing(this.canvas), stepTitles: { says: "judges" }, isSentence: false });
  }

  hasStep(name) { return name === "erase" ? Boolean(this.data.ifRemoved) : super.hasStep(name); }

  // A guess is about what deleting does, which alone plays then.
  get standsCovered() { return true; }
  playReveal() { this.playStep(this.timeline.steps.length - 1); }

  build() {
    super.build();
    this.keys.forEach((node, index) => { if (this.data.readAs[index]) node.title = `read as ${this.data.readAs[index]}`; });
  }

  newLayout(sizes) { return new JudgedLayout({ ...sizes, hasMore: Boolean(this.data.unturned) }); }

  get legend() { return this.layout.hasLegend && this.progressAt(this.time).erase ? ["", "if deleted,", "points of", "positive"] : super.legend; }

  stripNote() { return this.data.ifRemoved && this.layout.isNarrow ? `${super.stripNote()} Beside a word: by how many points “positive” moves if it is deleted.` : super.stripNote(); }

  layOut() {
    super.layOut();
    this.drawing.data = this.data;
  }

  // What deleting does is that of the network as it learned.
  isChanged() { return Boolean(this.local || this.isEven || this.data.isEdited); }

  progressAt(time) {
    const progress = super.progressAt(time);
    return { ...progress, erase: this.isChanged() ? 0 : progress.erase };
  }

  captionOf(step) {
    const { data, local, isEven } = this;
    if (step === "asks") return "Praise or blame? One **learned query** asks **every word**.";
    if (step !== "erase" && step !== "says") return super.captionOf(step);
    if (data.isEdited && !local && !isEven) return data.changedText;
    if (this.isChanged()) return super.captionOf("says");
    if (data.isAwaited) {
      const [weights] = data.weights, first = weights.indexOf(Math.max(...weights)), heaviest = `**${quoted(data.keys[first])}** has the most weight, ${asPercent(weights[first])}`, comes = `out comes ${saidOf(this.answer())}`;
      return data.unturned ? `${heaviest}, but **${quoted(data.keys[data.unturned.by])}** turned its vector round before attention weighs it: ${comes}.` : `${heaviest}; ${comes}.`;
    }
    return [step === "erase" ? data.compared : super.captionOf("says"), data.fault].filter(Boolean).join(" ");
  }
}

export default shownBy(JudgedScene, "chosen");
