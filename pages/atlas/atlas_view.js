// What part of a matrix is in view, and how it moves: by keys, wheel, fingers and buttons. Cells are square, but for those of
// a matrix so thin that nothing of it would be seen. Pixels are CSS pixels; x and y are the column and row in the middle.
// Leaflet (42 kB gzipped) and OpenSeadragon (87 kB) may be sent as the app's own scripts are, but all of the atlas is 15 kB,
// and they would take over some 160 of its 980 lines. Either has one scale for both axes where a thin matrix has two, and
// labels, numbers, hatching, the overview and the keys that move it would stay ours.
import { clamp, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

const FINEST = 1.5, VAST = 0.5, THIN = 40, LARGEST_CELL = 90, MARGIN = 8, GLIDE = 180, FLIGHT = 1600, SIDE = 120, LETTERS = 13, HALL_LETTERS = 22;

export class MapView {
  resize() {
    const width = this.stage.clientWidth, before = this.plot && Math.min(this.plot.width, this.plot.height);
    if (!width || !this.cache) return;
    const narrow = this.isNarrow, zoom = this.stage.currentCSSZoom ?? 1, scale = getComputedStyle(this.stage).getPropertyValue("--scale") || 1;
    this.large = window.lecture?.on ? Math.max(1, (HALL_LETTERS * scale) / zoom / LETTERS) : 1;
    this.left = (narrow ? 74 : 80) * this.large;
    this.top = (narrow ? 70 : 86) * this.large;
    const square = width - this.left + this.top;
    const room = `(var(--map, 64vh) - 6vh) / var(--zoom, 1)`;  // of the window, however much a lecture enlarges
    this.canvas.style.height = `clamp(300px, min(${square}px, ${room}), 780px)`;
    const height = this.canvas.clientHeight, plot = { width: width - this.left - MARGIN, height: height - this.top - MARGIN };
    if (Math.min(plot.width, plot.height) < LARGEST_CELL) return;  // a page on its way, whose room is not there yet
    this.ratio = (window.devicePixelRatio || 1) * zoom;
    this.size = { width, height };
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.plot = plot;
    const grown = before ? Math.min(this.plot.width, this.plot.height) / before : 1;  // as many cells stay in view
    if (this.goal) {  // to which it still flies
      this.goal.cell = this.wasWhole ? this.fit() : this.goal.cell * grown;
      this.cell *= grown;
    } else {
      this.cell = this.cell && !this.wasWhole ? this.cell * grown : this.across ? this.cellFor(this.across) : this.fit();
      this.across = null;  // with which it has opened
      this.keepInside();
    }
    this.settle(true);
  }

  get isNarrow() { return this.stage.clientWidth < 520; }

  fit() { return Math.min(this.plot.width / this.columns.n, this.plot.height / this.rows.n); }

  // How wide and how high a cell is. The whole of a large matrix fills the map.
  wide(cell = this.cell) { return Math.max(cell, (this.fit() < VAST ? this.plot.width : THIN) / this.columns.n); }
  high(cell = this.cell) { return Math.max(cell, (this.fit() < VAST ? this.plot.height : THIN) / this.rows.n); }

  finestCell() { return Math.max(LARGEST_CELL, this.fit()); }

  // So many along the shorter side; of two sentences that are told of, all columns.
  cellFor(across) {
    const least = this.isLit && this.data.echo && !this.isNarrow ? this.plot.width / this.data.echo.width : Infinity;
    return clamp(Math.min(this.plot.width / across, this.plot.height / across, least), this.fit(), this.finestCell());
  }

  keepInside() {
    this.cell = clamp(this.cell, this.fit(), this.finestCell());
    const inside = (centre, n, pixels, side) => {
      const half = pixels / side / 2;
      return 2 * half >= n ? n / 2 : clamp(centre, half, n - half);
    };
    this.x = inside(this.x, this.columns.n, this.plot.width, this.wide());
    this.y = inside(this.y, this.rows.n, this.plot.height, this.high());
    this.wasWhole = this.cell <= this.fit() * 1.001;
    this.canvas.style.touchAction = this.wasWhole ? "pan-y" : "none";  // the whole map lets a finger scroll the page
  }

  // The middle of the plot on the canvas, where a column or row begins there, and what is there.
  get midX() { return this.left + this.plot.width / 2; }
  get midY() { return this.top + this.plot.height / 2; }
  px(column) { return this.midX + (column - this.x) * this.wide(); }
  py(row) { return this.midY + (row - this.y) * this.high(); }
  columnAt(px) { return this.x + (px - this.midX) / this.wide(); }
  rowAt(py) { return this.y + (py - this.midY) / this.high(); }

  // The part of the matrix that is in view, in cells.
  viewRange() {
    return {
      left: Math.max(0, this.columnAt(this.left)), right: Math.min(this.columns.n, this.columnAt(this.left + this.plot.width)),
      top: Math.max(0, this.rowAt(this.top)), bottom: Math.min(this.rows.n, this.rowAt(this.top + this.plot.height)),
    };
  }

  level() { return clamp(Math.ceil(Math.log2(FINEST / this.cell) - 1e-9), 0, this.data.levels - 1); }

  tilesIn(level, range) {
    const span = this.data.tile * 2 ** level, tiles = [];
    const first = (from) => Math.max(0, Math.floor(from / span));
    const end = (to, n) => Math.min(Math.ceil(n / span), Math.ceil(to / span));
    for (let row = first(range.top); row < end(range.bottom, this.rows.n); row++) {
      for (let col = first(range.left); col < end(range.right, this.columns.n); col++) tiles.push([row, col]);
    }
    const midRow = (range.top + range.bottom) / 2 / span - 0.5, midColumn = (range.left + range.right) / 2 / span - 0.5;
    const away = ([row, col]) => Math.hypot(row - midRow, col - midColumn);
    return tiles.sort((a, b) => away(a) - away(b));
  }

  // The view with cells of another size in which this place on the canvas shows what it shows now.
  zoomed(factor, px, py) {
    const cell = clamp(this.cell * factor, this.fit(), this.finestCell());
    return [this.columnAt(px) - (px - this.midX) / this.wide(cell), this.rowAt(py) - (py - this.midY) / this.high(cell), cell];
  }

  // Around a place on the canvas, or the middle of where the map is gliding to, so that quick presses add up.
  zoomBy(factor, point) {
    const { x, y, cell } = this.goal ?? this;
    this.flyTo(...(point ? this.zoomed(factor, ...point) : [x, y, cell * factor]));
  }

  showWhole() { this.flyTo(this.columns.n / 2, this.rows.n / 2, this.fit()); }

  // Glide to a view; a far one is reached at once, and so is any where motion is not wanted.
  flyTo(x, y, cell, time = GLIDE) {
    if (!this.plot) { this.x = x; this.y = y; return; }
    const from = { x: this.x, y: this.y, cell: this.cell };
    this.moveTo(x, y, cell);
    const to = { x: this.x, y: this.y, cell: this.cell };
    const far = Math.hypot(to.x - from.x, to.y - from.y) * Math.min(from.cell, to.cell) > 2 * this.plot.width;
    if (far || wantsLessMotion()) return;
    this.goal = to;
    const began = performance.now();
    const glide = (now) => {
      const share = clamp((now - began) / time, 0, 1), eased = time > GLIDE ? share * share * (3 - 2 * share) : 1 - (1 - share) ** 3;
      this.cell = from.cell * (to.cell / from.cell) ** eased;
      // The point that both views hold in the same place stays there.
      const part = to.cell === from.cell ? eased : (1 / from.cell - 1 / this.cell) / (1 / from.cell - 1 / to.cell);
      this.x = from.x + (to.x - from.x) * part;
      this.y = from.y + (to.y - from.y) * part;
      if (share === 1) {
        [this.x, this.y, this.cell] = [to.x, to.y, to.cell];
        this.goal = null;
      }
      this.paint();
      if (share < 1) this.gliding = requestAnimationFrame(glide); else this.settle();
    };
    glide(began);
  }

  stopGliding() {
    cancelAnimationFrame(this.gliding);
    this.goal = null;
  }

  moveTo(x, y, cell = this.cell, quick = false) {
    this.stopGliding();
    [this.x, this.y, this.cell] = [x, y, cell];
    this.keepInside();
    this.settle(quick);
    this.tellLater();
  }

  moveBy(dx, dy, quick = true) { this.moveTo(this.x + dx / this.wide(), this.y + dy / this.high(), this.cell, quick); }

  zoomAt(factor, px, py) { this.moveTo(...this.zoomed(factor, px, py)); }

  // What is in view, or will be once it has glided there.
  view() {
    const { x, y, cell } = this.goal ?? this, round = (number) => Math.round(number * 100) / 100;
    const across = Math.min(this.plot.width, this.plot.height) / cell, isWhole = cell <= this.fit() * 1.001;
    const { go } = this.data, isThere = this.isLit && go && y === go.row && x === this.middleOf(go.column) && Math.abs(cell - this.cellFor(go.across)) < 0.01;
    if (this.awaits || isThere) return { row: go.row, column: go.column, across: go.across };  // as Python knows it
    return { row: round(y), column: round(x), across: isWhole ? null : round(across) };
  }

  smallUnit() { return SIDE / Math.max(this.rows.n, this.columns.n); }
}

export { FLIGHT, GLIDE, SIDE };
