// A picture in layers. What a cell holds is told under the pointer, which lights it in other views; where one can be chosen,
// by a click or by arrow keys and Enter, it has a frame.
import { arrowOf, cellBeside, cellUnder, make, placeOn, pointedIn, set, shownBy } from "../../attention_core/attention/view/prelude.js";

const GAP = "var(--st-background-color)";
const gaps = (row) => `repeating-linear-gradient(${GAP} 0 1px, transparent 0 ${row - 1}px, ${GAP} 0 ${row}px)`;

class Layers {
  constructor(root) {
    this.picture = make(root, "div", "picture");
    this.frame = make(this.picture, "i");
    this.pointed = pointedIn(root, (places) => this.light(placeOn(places, this.data.axis)));
    const under = (event) => cellUnder(this.picture, event, this.data.rows, this.data.columns);
    this.picture.onpointermove = (event) => this.look(under(event));
    this.picture.onpointerleave = this.picture.onblur = (event) => this.pointed.leave(event);
    this.picture.onclick = (event) => this.choose(under(event));
    this.picture.onkeydown = (event) => {
      const way = arrowOf(event);
      if (way) this.look(cellBeside(this.at ?? 0, way, this.data.rows, this.data.columns));
      if (event.key === "Enter") this.choose(this.at);
    };
  }

  adopt(data, tell) {
    Object.assign(this, { data, tell });
    const { rows, columns, size, row, layers, smooth, about, takes, tells } = data;
    set(this.picture, { "aria-label": about, role: takes ? "application" : "img", tabindex: takes ? 0 : -1 });
    Object.assign(this.picture.style, {
      width: `${size}px`,
      aspectRatio: row ? `${size} / ${rows * row}` : `${columns} / ${rows}`,
      background: (row ? [gaps(row)] : []).concat(layers.map((layer) => `url("${layer}") 0 0 / 100% 100%`)).join(", "),
      imageRendering: smooth ? "auto" : "pixelated",
      cursor: takes ? "pointer" : "default",
      pointerEvents: tells ? "auto" : "none",
    });
    this.light(placeOn(this.pointed.places(), data.axis));
  }

  placeOf(cell) { return [Math.floor(cell / this.data.columns), cell % this.data.columns]; }

  look(cell) {
    const { axis, tells, numbers } = this.data, [row, column] = this.placeOf(cell);
    this.picture.title = `row ${row + 1}, column ${column + 1}: ${tells.replace("{}", numbers[cell])}`;
    this.picture.ariaLabel = `${this.data.about}. ${this.picture.title}`;
    this.pointed.look([[axis, cell]]);
  }

  light(cell) {
    const { rows, columns, chosen } = this.data;
    this.at = cell < rows * columns ? cell ?? chosen : chosen;
    this.frame.hidden = this.at === null;
    const [row, column] = this.placeOf(this.at);
    const shares = { left: column / columns, top: row / rows, width: 1 / columns, height: 1 / rows };
    for (const side in shares) this.frame.style[side] = `${100 * shares[side]}%`;
  }

  choose(cell) { if (this.data.takes) this.tell({ cell }); }
}

export default shownBy(Layers, "chosen");
