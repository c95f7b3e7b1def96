// The scene of a sentence that is judged: a learned query weighs its words, and a verdict comes of their values. Then what each
// word does: below it hangs a bar for how the verdict moves when it is deleted, which its weight does not tell.
import { minus, shownBy } from "../../attention_core/attention/view/prelude.js";
import { SceneDrawing } from "../../attention_core/attention/view/scene_drawing.js";
import { SceneLayout } from "../../attention_core/attention/view/scene_layout.js";
import { SceneView } from "../../attention_core/attention/view/scene.js";
import { quoted, saidOf } from "../../attention_core/attention/view/scene_captions.js";

const LEAST_POINTS = 0.0095, GAP = 6, MORE_ROOM = 40, UNTURNED = 1.7;  // of a strip, the room of another one above it

const pointsOf = (change) => minus(`${change > 0 ? "+" : ""}${(100 * change).toFixed(Math.abs(change) < LEAST_POINTS ? 1 : 0)}`);

// With room for bars below the words.
class JudgedLayout extends SceneLayout {
  standInColumns(width, keys) {
    super.standInColumns(width, keys);
    this.boxTop += MORE_ROOM * this.scale;
    this.below += MORE_ROOM * this.scale;
  }
}

class JudgedDrawing extends SceneDrawing {
  drawKey(index) {
    super.drawKey(index);
    const { pen, layout, state, data } = this, { erase } = state.progress, change = data.ifRemoved?.[index];
    if (!erase || change === undefined) return;
    const room = layout.isNarrow ? this.box.x - layout.doorLeft - 50 : layout.boxTop - layout.strips[index].y - 56 * layout.scale;
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

  // The heaviest word as it is without the negation that has turned it round.
  drawUnturned({ index, numbers, label }) {
    const { layout, state: { progress: { open, erase } } } = this, alpha = open * (1 - erase), { x, y, w, h } = layout.strips[index], above = { x, y: y - UNTURNED * h, w, h: UNTURNED * h - GAP };
    this.drawStrip(above, numbers, alpha, this.tones.ink, 1.5);
    this.write(label, x - GAP, above.y + above.h / 2, { align: "right", size: 18 * layout.scale, alpha, hides: true });
  }

  draw(state) {
    super.draw(state);
    const { layout, data: { unturned } } = this, { erase } = state.progress, size = 15 * layout.scale;
    if (unturned && !layout.isNarrow) this.drawUnturned(unturned);
    if (erase && !layout.isNarrow) this.write("if deleted ↓", 0, layout.boxTop - 40 * layout.scale, { size, alpha: 0.85 * erase });
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

  newLayout(sizes) {
    const layout = new JudgedLayout(sizes);
    if (this.data.unturned && !layout.isNarrow) for (const strip of layout.strips) strip.y += UNTURNED * strip.h;
    return layout;
  }

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
      const [weights] = data.weights, first = weights.indexOf(Math.max(...weights)), turned = data.turned[first] ? ", but a negation has turned its vector round" : "";
      return `Out of that mixture comes ${saidOf(this.answer())}. **${quoted(data.keys[first])}** has the most weight${turned}.`;
    }
    return [step === "erase" ? data.compared : super.captionOf("says"), data.fault].filter(Boolean).join(" ");
  }
}

export default shownBy(JudgedScene, "chosen");
