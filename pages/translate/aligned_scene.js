// The scene of a translation: at its end a thin line ties each other French word to the English one that it looks at most.
import { shownBy } from "../../attention_core/attention/view/prelude.js";
import { SceneDrawing } from "../../attention_core/attention/view/scene_drawing.js";
import { SceneView } from "../../attention_core/attention/view/scene.js";

const THIN = 1, THICK = 4, HEAVY = 0.5;  // screen pixels of a line, and the weight from which on one is drawn

class AlignedDrawing extends SceneDrawing {
  drawBox() {
    const { layout, state: { progress, isEven } } = this;
    if (progress.say > 0 && !layout.isNarrow && !isEven) this.drawAlignment(progress.say * progress.open);
    super.drawBox();
  }

  drawAlignment(alpha) {
    const { pen, layout, tones, state: { row: present }, data: { weights } } = this;
    weights.slice(0, -1).forEach((shares, row) => {
      const { x, y, w } = layout.queries.places[row], weight = Math.max(...shares);
      if (row === present || weight < HEAVY) return;
      Object.assign(pen, { strokeStyle: tones.weights, lineWidth: (THIN + (THICK - THIN) * weight) * layout.scale, globalAlpha: 0.3 * alpha });
      this.drawPath(layout.curve(layout.door(shares.indexOf(weight), 0)[0], { x: x + w / 2, y }), 1);
    });
    pen.globalAlpha = 1;
  }
}

class AlignedScene extends SceneView {
  constructor(root) {
    super(root);
    this.drawing = new AlignedDrawing(this.canvas);
  }

  layOut() {
    super.layOut();
    this.drawing.data = this.data;
  }
}

export default shownBy(AlignedScene, "chosen");
