// The scene of a question about a drawing. While a guess is awaited, nothing of the answer is there but how many looks there will be.
import { shownBy } from "../../attention_core/attention/view/prelude.js";
import { DrawnScene } from "../../ui/components/drawn_scene.js";

const LARGE = 0.38, HALL = 0.56;  // of the width, and of a hall's height: the side of the drawing

class QuestionScene extends DrawnScene {
  layOut() {
    super.layOut();
    if (!this.isCovered) return;
    const { layout, layout: { width, isNarrow } } = this, n = this.data.looks.length;
    const side = isNarrow ? layout.side : Math.min(LARGE * width, layout.least ? (HALL * innerHeight) / (this.canvas.currentCSSZoom ?? 1) : Infinity);
    const left = isNarrow ? 0 : 1.1 * side, w = (width - left) / (1.4 * n + 0.8), box = { x: left + 2, y: isNarrow ? side + 50 : (side - w) / 2, w };
    Object.assign(layout, { side, high: side, box, height: isNarrow ? box.y + w + 10 : side + 4 });
    this.placeAll();
  }

  draw() {
    super.draw();
    if (!this.isCovered || !this.layout?.box) return;
    const { pen, layout: { box: { x, y, w }, tones, scale, least, isNarrow } } = this, size = isNarrow ? 15 : Math.max(20 * scale, least);
    this.data.looks.forEach(({ label }, at) => {
      const left = x + 1.4 * w * at, middle = y + w / 2;
      Object.assign(pen, { strokeStyle: tones.context, lineWidth: 2.5 }).setLineDash([7, 6]);
      pen.strokeRect(left, y, w, w);
      pen.setLineDash([]);
      this.text(label, left + w / 2, y - 0.6 * size, size, { weight: 650, align: "center" });
      Object.assign(pen, { strokeStyle: tones.query, fillStyle: tones.query });
      this.drawArrow([left + 1.05 * w, middle], [left + 1.37 * w, middle], Math.min(9 * scale, 0.09 * w));
    });
    this.text("?", x + 1.4 * w * this.data.looks.length + 0.35 * w, y + 0.75 * w, 0.75 * w, { weight: 700, align: "center" });
  }

  drawQuestion() {
    if (!this.isCovered) super.drawQuestion();
  }

  captionOf(...state) {
    return this.isCovered ? `It looks **${this.data.looks.length} times** before it answers.` : super.captionOf(...state);
  }
}

export default shownBy(QuestionScene, "chosen");
