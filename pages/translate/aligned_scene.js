// The scene of a translation: at its end the mixture gives way to lines, from each French word to the English one that it looks
// at most; the only one that crosses the present word's is as dark.
import { shownBy } from "../../attention_core/attention/view/prelude.js";
import { quoted } from "../../attention_core/attention/view/scene_captions.js";
import { SceneDrawing } from "../../attention_core/attention/view/scene_drawing.js";
import { SceneView } from "../../attention_core/attention/view/scene.js";
import { eased } from "../../attention_core/attention/view/scene_steps.js";

const THIN = 1, THICK = 7;  // pixels of a line of no weight and of all the weight
const BEGINS = 1.2, ENDS = 2.2;  // seconds of the last step

const heaviestOf = (shares) => shares.indexOf(Math.max(...shares));

class AlignedDrawing extends SceneDrawing {
  get aligned() { return this.layout.isNarrow || this.state.isEven ? 0 : this.state.progress.align * this.state.progress.open; }

  drawBox() {
    super.drawBox();
    const { pen, layout: { strips: [{ y, h }], queries, width }, tones, aligned } = this, top = y + h + 2;
    if (!aligned) return;
    Object.assign(pen, { fillStyle: tones.ground, globalAlpha: aligned }).fillRect(0, top, width, queries.places[0].y - top);
    const { rows, crossing } = this.view;
    rows.forEach((shares, row) => this.drawLine(row === this.state.row ? this.state.weights : shares, row, aligned * (row === this.state.row || crossing.includes(row) ? 0.9 : 0.35)));
    pen.globalAlpha = 1;
  }

  drawLine(shares, row, alpha) {
    const { pen, layout, tones } = this, { x, y, w } = layout.queries.places[row], key = heaviestOf(shares);
    Object.assign(pen, { strokeStyle: tones.weights, lineWidth: (THIN + (THICK - THIN) * shares[key]) * layout.scale, globalAlpha: alpha });
    this.drawPath(layout.curve(layout.door(key, 0)[0], { x: x + w / 2, y }), 1);
  }

  drawOdds() { if (this.aligned < 0.5) super.drawOdds(); }
}

class AlignedScene extends SceneView {
  constructor(root) {
    super(root);
    this.drawing = Object.assign(new AlignedDrawing(this.canvas), { view: this });
  }

  progressAt(time) {
    const since = time - this.timeline.starts.says;
    return { ...super.progressAt(time), align: eased(since, BEGINS, ENDS) };
  }

  // The rows that have lines: of what is not said any more nothing is known.
  get rows() { return this.data.weights.slice(0, Math.max(this.row + 1, this.local || this.saysOther ? 0 : this.data.weights.length)); }

  // The row whose line crosses that of the present word, if one alone does.
  get crossing() {
    const goals = this.rows.map(heaviestOf), rows = [...goals.keys()].filter((row) => (row - this.row) * (goals[row] - heaviestOf(this.weights)) < 0);
    return rows.length === 1 ? rows : [];
  }

  // What its lines are, in place of how to change them.
  get tail() {
    const { data: { queries }, row, crossing, layout } = this;
    if (layout.isNarrow || !this.data.weights) return undefined;
    const pair = [row, ...crossing].sort((a, b) => a - b).map((at) => quoted(queries[at]));
    return ` A line: where a French word looks most${pair.length > 1 ? `; **${pair.join(" and ")} cross**` : ""}.`;
  }
}

export default shownBy(AlignedScene, "chosen");
