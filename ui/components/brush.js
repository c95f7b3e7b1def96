// A picture in cells over which a region is brushed: by dragging, or by the arrow keys, with Shift while they paint. What
// begins on the region takes away from it.
import { arrowOf, cellBeside, cellUnder, dragged, make, shownBy } from "../../attention_core/attention/view/prelude.js";

const CELL = 24;  // pixels of the canvas
const ABOUT = "Brush a region by dragging. Arrow keys move, Space paints, Shift with an arrow goes on painting, Escape clears.";

class Brush {
  constructor(root) {
    this.canvas = make(root, "canvas", { tabindex: 0, role: "application", "aria-label": ABOUT, title: ABOUT });
    const { canvas } = this;
    this.at = 0;
    dragged(canvas, {
      begin: (event) => { this.move(event); this.begin(); },
      go: (event) => { this.move(event); this.brush(); },
      end: () => this.end(),
    });
    canvas.onkeydown = (event) => this.key(event);
    canvas.onkeyup = ({ key }) => { if (key === "Shift") this.end(); };
    canvas.onfocus = () => this.paint();
    canvas.onblur = () => { this.end(); this.paint(); };
  }

  adopt(data, tell) {
    Object.assign(this, { data, tell });
    // what answers an earlier message says nothing of what was painted since
    if (this.sent === String(data.chosen)) this.sent = undefined;
    if (this.adds === undefined && this.sent === undefined) this.chosen = new Set(data.chosen);
    const { canvas } = this, { rows, columns, layers, size, pixels } = data;
    if (canvas.width !== columns * CELL) Object.assign(canvas, { width: columns * CELL, height: rows * CELL });
    Object.assign(canvas.style, { width: `${size}px`, aspectRatio: `${columns} / ${rows}` });
    canvas.style.background = layers.map((layer) => `url("${layer}") 0 0 / 100% 100%`).join(", ");
    canvas.style.imageRendering = pixels ? "pixelated" : "auto";
    this.at = Math.min(this.at, rows * columns - 1);
    this.paint();
  }

  move(event) { this.at = cellUnder(this.canvas, event, this.data.rows, this.data.columns); }

  key(event) {
    const way = arrowOf(event);
    if (way) {
      this.at = cellBeside(this.at, way, this.data.rows, this.data.columns);
      if (event.shiftKey && this.adds === undefined) this.begin();
      else if (event.shiftKey) this.brush();
    } else if (event.key === " ") {
      event.preventDefault();
      this.begin();
      this.end();
    } else if (event.key === "Escape") {
      this.chosen.clear();
      this.adds = true;
      this.end();
    }
    this.paint();
  }

  begin() {
    this.adds = !this.chosen.has(this.at);
    this.brush();
  }

  brush() {
    const { reach, rows, columns } = this.data;
    for (let down = -reach; down <= reach; down++) {
      for (let right = -reach; right <= reach; right++) {
        this.chosen[this.adds ? "add" : "delete"](cellBeside(this.at, [right, down], rows, columns));
      }
    }
    this.paint();
  }

  end() {
    if (this.adds === undefined) return;
    this.adds = undefined;
    const cells = [...this.chosen].sort((a, b) => a - b);
    this.sent = String(cells);
    this.tell({ cells });
  }

  paint() {
    if (!this.data) return;
    const pen = this.canvas.getContext("2d"), { columns } = this.data;
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const corner = (cell) => [CELL * (cell % columns), CELL * Math.floor(cell / columns)], [x, y] = corner(this.at);
    pen.fillStyle = "#0072b26b";
    for (const cell of this.chosen) pen.fillRect(...corner(cell), CELL, CELL);
    if (!this.canvas.matches(":focus-visible")) return;
    pen.lineWidth = 4;
    pen.strokeStyle = "#0072b2";
    pen.strokeRect(x + 2, y + 2, CELL - 4, CELL - 4);
  }
}

export default shownBy(Brush, "brushed");
