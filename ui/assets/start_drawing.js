// A drawing whose pixels show where they look. The pixel under the pointer asks; until a pointer comes, one pixel of ink after
// the other does. A grey picture holds the weights, a line for every asking pixel.
const SIDE = 28, CELL = 13, ARCS = 7, PACE = 140;

class StartDrawing {
  constructor(root) {
    this.canvas = make(root, "canvas", { role: "img", tabindex: 0 });
    set(this.canvas, { width: 2 * SIDE * CELL, height: 2 * SIDE * CELL, "aria-label": LABEL });
    this.canvas.onpointermove = (event) => this.ask(pointIn(this.canvas, event));
    this.canvas.onpointerdown = this.canvas.onpointermove;
    this.canvas.onpointerleave = () => { this.held = false; };
    this.canvas.onkeydown = (event) => {
      const way = arrowOf(event);
      if (!way) return;
      this.held = true;
      const row = clamp(Math.floor(this.query / SIDE) + way[1], 0, SIDE - 1), col = clamp((this.query % SIDE) + way[0], 0, SIDE - 1);
      this.look(row * SIDE + col);
    };
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.timer = setInterval(() => this.wander(), PACE);
  }

  async adopt({ ink, looks }) {
    if (!isNew(this, ink, looks)) return;
    const picture = new Image();
    picture.src = looks;
    await picture.decode();
    const sheet = new OffscreenCanvas(SIDE * SIDE, SIDE * SIDE).getContext("2d", { willReadFrequently: true });
    sheet.drawImage(picture, 0, 0);
    this.weights = (query) => sheet.getImageData(0, query, SIDE * SIDE, 1).data.filter((_, place) => place % 4 === 0);
    this.ink = ink;
    this.inked = ink.flatMap((amount, place) => (amount > 0.5 ? [place] : []));
    this.look(this.inked[this.inked.length >> 1]);
  }

  wander() {
    if (!this.canvas.isConnected) clearInterval(this.timer);
    if (this.held || !this.inked || !this.canvas.getClientRects().length) return;
    this.step = ((this.step ?? this.inked.length >> 1) + 1) % this.inked.length;
    this.look(this.inked[this.step]);
  }

  ask([x, y]) {
    this.held = true;
    const unit = boxOf(this.canvas).width / SIDE, at = (way) => clamp(Math.floor(way / unit), 0, SIDE - 1);
    this.look(at(y) * SIDE + at(x));
  }

  look(query) {
    if (!this.ink || query === this.query) return;
    this.query = query;
    const pen = this.canvas.getContext("2d"), row = this.weights(query), style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name).trim(), middle = (place) => [(place % SIDE) + 0.5, Math.floor(place / SIDE) + 0.5];
    pen.setTransform(2 * CELL, 0, 0, 2 * CELL, 0, 0);
    pen.clearRect(0, 0, SIDE, SIDE);
    const fill = (place, paint, opacity) => {
      pen.globalAlpha = opacity;
      pen.fillStyle = paint;
      pen.fillRect(place % SIDE, Math.floor(place / SIDE), 1, 1);
    };
    this.ink.forEach((amount, place) => { if (amount > 0) fill(place, style.color, 0.82 * amount); });
    row.forEach((share, place) => { if (share > 12) fill(place, colour("--weights"), 0.92 * (share / 255) ** 1.6); });
    const [x, y] = middle(query);
    pen.lineCap = "round";
    pen.strokeStyle = colour("--weights");
    for (const [share, place] of heaviest(row, ARCS)) {
      if (place === query) continue;
      const [a, b] = middle(place), bend = 0.18 * Math.hypot(a - x, b - y);
      pen.globalAlpha = share / 255;
      pen.lineWidth = 0.12 + 0.16 * (share / 255);
      pen.beginPath();
      pen.moveTo(x, y);
      pen.quadraticCurveTo((x + a) / 2, (y + b) / 2 - bend, a, b);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.lineWidth = 0.22;
    pen.strokeStyle = style.outlineColor;
    pen.strokeRect(x - 0.6, y - 0.6, 1.2, 1.2);
  }
}
const LABEL = "A drawn digit. The framed pixel asks all 784 pixels; the pinker a pixel, the more attention it gets.";

export default shownBy(StartDrawing, "asked");
