// The scene of a drawing whose pixels attend to one another: the framed pixel, `asker`, asks all of them. A click on the picture
// chooses another one, dragging draws.
import { clamp, shownBy } from "../../attention_core/attention/view/prelude.js";
import { middleOf } from "../../attention_core/attention/view/scene_drawing.js";
import { DrawnScene } from "../../ui/components/drawn_scene.js";
import { underHand } from "./pixel_pad.js";

class PixelScene extends DrawnScene {
  constructor(root) {
    super(root);
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
    const { x, y, w, h } = this.cellOf(this.data.asker), { pen, layout: { tones }, asked: { size, places: [place] } } = this;
    this.text("takes", place.x + place.w, place.y, size, { alpha: clamp(10 * this.progress().take, 0, 1) });
    for (const [strokeStyle, lineWidth] of [[tones.ground, 7], [tones.query, 3.5]])
      Object.assign(pen, { strokeStyle, lineWidth }).strokeRect(x - 2, y - 2, w + 4, h + 4);
  }
}

export default shownBy(PixelScene, "chosen");
