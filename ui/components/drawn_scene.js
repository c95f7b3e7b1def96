// A scene over a picture on a page: Python hears what is chosen in it. Where the picture is that of a drawing pad, the pad lies
// over it unseen, until somebody draws.
import { boxOf, make } from "../../attention_core/attention/view/prelude.js";
import { PictureScene } from "../../attention_core/attention/view/picture_scene.js";
import { watchPads } from "./pads.js";

const LATEST = 4000;  // milliseconds after a stroke without an answer

export class DrawnScene extends PictureScene {
  constructor(root) {
    super(root);
    this.hint = make(this.picture, "span", "hint", "✎ draw here");
  }

  adopt(data, tell) {
    super.adopt(data, tell);
    const place = data.pad && this.root.getRootNode().host.closest(`.st-key-${data.pad}_first`);
    if (place && !this.endWatch) this.endWatch = watchPads(place, (board) => this.takePad(place, board));
    this.pad?.style.setProperty("pointer-events", data.covered ? "none" : "auto");
    this.showPad(this.isDrawing || Boolean(data.isEmpty));
  }

  leave() {
    super.leave();
    this.endWatch?.();
    this.sizes?.disconnect();
  }

  showImage() {
    super.showImage();
    this.endStroke();
  }

  // Another pad may be mounted in the same frame.
  takePad(place, board) {
    const pad = place.querySelector(`.st-key-${this.data.pad}_canvas_frame`), isOther = pad !== this.pad;
    Object.assign(this, { pad, board });
    board.addEventListener("keydown", (event) => { if (event.key === " " || event.key.startsWith("Arrow")) this.beginStroke(); });
    this.hearPad(isOther);
    this.sizes ??= new ResizeObserver(this.redraw);
    this.sizes.disconnect();
    for (const node of [board, this.say]) this.sizes.observe(node);
    this.showPad(Boolean(this.data.isEmpty));
  }

  // The frame of a pad may be known already.
  hearPad(isOther) {
    if (!isOther) return;
    this.pad.addEventListener("pointerdown", () => this.beginStroke());
    this.pad.addEventListener("pointermove", (event) => { if (!this.isDrawing) this.look(this.cellAt(event)); });
    this.pad.addEventListener("pointerup", () => { if (window.lecture?.on) this.board.blur(); });  // which else keeps its keys
    this.pad.addEventListener("pointerleave", (event) => this.pointed.leave(event));
  }

  beginStroke() {
    this.isTouched = this.isDrawing = this.hasDrawn = true;
    this.pointed.leave();
    this.showPad(true);
    clearTimeout(this.late);
    this.late = setTimeout(() => this.endStroke(), LATEST);
  }

  endStroke() {
    clearTimeout(this.late);
    this.isDrawing = false;
    this.showPad(Boolean(this.data.isEmpty));
  }

  // Where one can draw is said until somebody has.
  write(...state) {
    super.write(...state);
    this.hint.hidden = !this.data.pad || this.hasDrawn || this.isCovered || this.playing > 0 || !this.isOver() || Number.isInteger(this.over);
  }

  showPad(isShown) { this.pad?.style.setProperty("--pad", isShown ? 1 : 0); }

  placeAll() {
    super.placeAll();
    if (!this.pad) return;
    const { side } = this.layout, place = this.pad.offsetParent ?? this.pad.parentNode, [at, from] = [boxOf(this.picture), boxOf(place)];
    const { offsetWidth: width, offsetHeight: height } = this.board;
    if (width) Object.assign(this.pad.style, { width: `${width}px`, height: `${height}px`, transform: `translate(${at.x - from.x}px, ${at.y - from.y}px) scale(${side / width})` });
  }
}
