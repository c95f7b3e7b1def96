// What is drawn on the canvases: tiles, coarser ones in their stead, numbers, labels, the overview, the colour bar.
import { asPercent, clamp, isNew, make, rampOf } from "../../attention_core/attention/view/prelude.js";
import { finePercent } from "../../attention_core/attention/view/scene_drawing.js";
import { FIRST, keyOf, MASKED, UNKNOWN, weightOf } from "./atlas_tiles.js";
import { count, fitText, hatch, outline, pictureOf, Scale, ticks, turned } from "./atlas_paint.js";
import { MapView, SIDE } from "./atlas_view.js";

const COARSEST = 4; // levels between what is to be seen and what stands in for it
const LABELS_FROM = 12, LARGEST_LABEL = 16, LEAST_FLAT = 13, MARK = "#ffffff";
const LINEAR_FROM = 10, SHADINGS = 8; // pixels of a cell from which on colours turn to a linear scale, in so many steps
const TOLD_FROM = 0.05, ROOM_OF_NUMBER = 26, LEAST_MARKED = 0.1; // the smallest weight that is written, pixels of a cell with room for it, of the colour bar to a mark
const PHRASES_APART = 30, LINES_APART = 19, MAX_LISTED = 1000, SHORTEST_PHRASE = 90, MAX_PIECES = 24, ENDS_SENTENCE = /[.?!…]$/;

const titleOf = (role, { name }) => (name === role ? role : `${role}: ${name}`);

export class MapDrawing extends MapView {
  readTheme() {
    const style = getComputedStyle(this.root), of = (name) => style.getPropertyValue(name).trim();
    this.text = of("--st-text-color");
    this.paper = of("--st-background-color");
    this.soft = of("--st-secondary-background-color");
    this.font = of("--st-font");
    this.isDark = style.colorScheme === "dark";
    this.queryColour = this.isDark ? "#4DA3D9" : "#0072B2";
    this.keyColour = this.isDark ? "#E69F00" : "#A87400";
    this.hatch = null;
  }

  // A tile, without the cache noting a use of it.
  tile(level, row = 0, col = 0) { return this.cache.tiles.get(keyOf(level, row, col)); }

  useFont(pen, size, weight = "") { pen.font = `${weight}${this.large * size}px ${this.font}`; }

  // A coordinate on the canvas, on a whole pixel of the screen, so that neighbouring tiles show no seam.
  snap(at) { return Math.round(at * this.ratio) / this.ratio; }

  // What is hatched is not surveyed.
  fillGround(pen, ...rectangle) {
    for (const style of this.data.surveyed < 1 ? [this.soft, this.hatch] : [this.paper]) {
      pen.fillStyle = style;
      pen.fillRect(...rectangle);
    }
  }

  // One scale for all of a matrix: of logarithms far out, linear where words can be read and few cells are in view.
  chooseScale() {
    const tile = this.tile(this.data.levels - 1), high = tile?.top >= FIRST ? Number(weightOf(tile, tile.top).toPrecision(4)) : 1;
    const { atlas, colour, uniform, masks, surveyed } = this.data;
    const linear = clamp(Math.round(SHADINGS * Math.log2(this.cell / LINEAR_FROM)) / SHADINGS, 0, 1);
    if (!isNew(this, high, linear, atlas, colour, uniform, masks, surveyed < 1, this.paper)) return;
    const ramp = rampOf([this.paper, this.data.colour]);
    this.scale = new Scale(ramp, Number(Math.min(this.data.uniform / 100, high / 1e4).toPrecision(3)), high, linear);
    this.drawLegend();
  }

  paint() {
    if (!this.plot || !this.cache) return;
    this.chooseScale();
    const pen = this.canvas.getContext("2d"), { width, height } = this.size;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const range = this.viewRange(), level = this.level();
    pen.save();
    pen.beginPath();
    pen.rect(this.left, this.top, this.plot.width, this.plot.height);
    pen.clip();
    const complete = this.paintTiles(pen, range, level);
    if (this.cell >= ROOM_OF_NUMBER * this.large || this.isLit) this.paintLargest(pen, range);
    if (this.cell >= LABELS_FROM) this.paintBlindRows(pen, range);
    if (this.data.echo && this.cell >= ROOM_OF_NUMBER) this.paintEcho(pen, this.data.echo);
    this.paintFrames(pen, level);
    pen.restore();
    this.paintEdges(pen, range);
    this.paintSmall();
    this.showTip();
    this.root.dataset.complete = String(complete);
    this.root.dataset.view = `${level}/${this.y.toFixed(2)}/${this.x.toFixed(2)}/${this.cell.toFixed(4)}`;
  }

  paintTiles(pen, range, level) {
    const [x0, y0, x1, y1] = [this.px(range.left), this.py(range.top), this.px(range.right), this.py(range.bottom)];
    this.hatch ??= hatch(pen, this.isDark ? "rgba(230,234,240,0.22)" : "rgba(255,255,255,0.42)");
    this.fillGround(pen, x0, y0, x1 - x0, y1 - y0);
    let complete = true;
    for (const [row, col] of this.tilesIn(level, range)) {
      const tile = this.cache.get(keyOf(level, row, col));
      if (!tile) complete = false;
      if (!tile?.complete) this.paintStandIn(pen, level, row, col);
      if (tile) this.paintTile(pen, tile, level, row, col);
    }
    return complete;
  }

  paintTile(pen, tile, level, row, col, clip = {}) {
    const span = 2 ** level, r0 = row * this.data.tile, c0 = col * this.data.tile;
    const { top = 0, left = 0, bottom = tile.height, right = tile.width } = clip;
    const endColumn = Math.min((c0 + right) * span, this.columns.n), endRow = Math.min((r0 + bottom) * span, this.rows.n);
    const x = this.snap(this.px((c0 + left) * span)), y = this.snap(this.py((r0 + top) * span));
    const x1 = this.snap(this.px(endColumn)), y1 = this.snap(this.py(endRow));
    const wide = endColumn / span - c0 - left, high = endRow / span - r0 - top;
    if (wide <= 0 || high <= 0) return;
    pen.imageSmoothingEnabled = this.cell * span * this.ratio < 2;
    if (tile.complete) pen.clearRect(x, y, x1 - x, y1 - y);
    pen.drawImage(pictureOf(tile, this.scale), left, top, wide, high, x, y, x1 - x, y1 - y);
    if (tile.complete) return;
    const from = clamp(this.snap(this.py((r0 + tile.n_surveyed) * span)), y, y1);
    pen.fillStyle = this.hatch;
    pen.fillRect(x, from, x1 - x, y1 - from);
  }

  paintStandIn(pen, level, row, col) {
    for (let above = level + 1; above < this.data.levels && above <= level + COARSEST; above++) {
      const by = 2 ** (above - level), [r, c] = [Math.floor(row / by), Math.floor(col / by)];
      const tile = this.tile(above, r, c);
      if (!tile || !(tile.complete || above === this.data.levels - 1)) continue;
      const side = this.data.tile / by, top = (row - r * by) * side, left = (col - c * by) * side;
      const clip = { top, left, bottom: Math.min(top + side, tile.height), right: Math.min(left + side, tile.width) };
      this.paintTile(pen, tile, above, r, c, clip);
      return;
    }
  }

  codeAt(row, col, level = 0) {
    const span = 2 ** level, r = Math.floor(row / span), c = Math.floor(col / span), side = this.data.tile;
    const tile = this.tile(level, Math.floor(r / side), Math.floor(c / side));
    return tile ? { tile, code: tile.codes[(r % side) * tile.width + (c % side)] } : null;
  }

  // What the pointer is on, and the cell that was jumped to.
  paintFrames(pen, level) {
    const frame = (row, col, span, colour) => {
      const [across, down] = [Math.min(span, this.columns.n - col), Math.min(span, this.rows.n - row)];
      const side = Math.max(across * this.wide(), 5), rise = Math.max(down * this.high(), 5);
      const x = this.px(col + across / 2) - side / 2, y = this.py(row + down / 2) - rise / 2;
      outline(pen, [["rgba(0,0,0,0.8)", 4], [colour, 2]], () => pen.strokeRect(x, y, side, rise));
    };
    if (this.mark) frame(...this.mark, 1, MARK);
    if (!this.hovered) return;
    const span = 2 ** level, begin = (at) => Math.floor(at / span) * span;
    frame(begin(this.hovered.row), begin(this.hovered.column), span, "#fff");
  }

  // Where not all numbers have room, those of large weights are written, and that of the marked cell.
  paintLargest(pen, range) {
    const { cell } = this;
    if (cell < LABELS_FROM) return;
    Object.assign(pen, { textAlign: "center", textBaseline: "middle", fillStyle: this.text });
    for (let row = Math.floor(range.top); row < range.bottom; row++) {
      for (let col = Math.floor(range.left); col < range.right; col++) {
        const point = this.codeAt(row, col), isMarked = this.isLit && row === this.mark[0] && col === this.mark[1];
        const weight = !point || [UNKNOWN, MASKED].includes(point.code) ? 0 : weightOf(point.tile, point.code);
        if (!weight || !(isMarked || (weight >= TOLD_FROM && cell >= ROOM_OF_NUMBER * this.large))) continue;
        this.useFont(pen, Math.min(isMarked ? 20 : 17, cell / this.large / 2.7), isMarked ? "700 " : "");
        pen.fillText(asPercent(weight), this.px(col + 0.5), this.py(row + 0.5), cell - 4);
      }
    }
  }

  paintBlindRows(pen, range) {
    Object.assign(pen, { textAlign: "left", textBaseline: "middle", fillStyle: this.text });
    this.useFont(pen, Math.min(14, (0.7 * this.cell) / this.large));
    for (const row of this.data.blind) if (row + 1 > range.top && row < range.bottom) pen.fillText("may look at no key: its weights are 0", this.px(range.left) + 8, this.py(row + 0.5));
  }

  paintEdges(pen, range) {
    const right = this.px(range.right), bottom = this.py(range.bottom), x0 = this.px(range.left), y0 = this.py(range.top);
    const isLabelled = this.cell >= LABELS_FROM;
    pen.strokeStyle = this.isDark ? "rgba(230,234,240,0.35)" : "rgba(27,31,36,0.3)";
    pen.lineWidth = 1;
    pen.strokeRect(x0 - 0.5, y0 - 0.5, right - x0 + 1, bottom - y0 + 1);
    pen.fillStyle = this.text;
    pen.textBaseline = "middle";
    this.useFont(pen, 13);
    if (isLabelled) this.writeLabels(pen, range, x0, y0);
    else this.writeTicks(pen, range, x0, y0, bottom);
    if (!isLabelled) this.writePhrases(pen, range);
    this.useFont(pen, 13);
    pen.textAlign = "left";
    pen.fillStyle = this.keyColour;
    const above = isLabelled ? this.top - 8 * this.large : 36 * this.large;
    pen.fillText(fitText(pen, `${titleOf("keys", this.columns)} →`, this.size.width - x0), x0, y0 - above);
    if (this.mark && this.isLit && isLabelled) this.paintArc(pen, range, y0);
    this.useFont(pen, 13);
    pen.textAlign = "right";
    pen.fillStyle = this.queryColour;
    const queries = fitText(pen, `← ${titleOf("queries", this.rows)}`, bottom - y0);
    turned(pen, isLabelled ? 10 : x0 - this.left + 10, y0, -1, () => pen.fillText(queries, 0, 0));
  }

  writeTicks(pen, range, x0, y0, bottom) {
    pen.textAlign = "right";
    for (const row of ticks(range.top, range.bottom, this.high(), 46)) {
      const y = this.py(row - (this.high() > 4 ? 0.5 : 0)); // people count rows from 1
      if (y < y0) continue;
      pen.fillText(count(row), x0 - 9, clamp(y, y0 + 5, bottom - 5));
      pen.fillRect(x0 - 6, y, 5, 1);
    }
    pen.textAlign = "center";
    if (this.data.dots) return this.writeDots(pen, range, y0);
    for (const col of ticks(range.left, range.right, this.wide(), 76)) {
      const x = this.px(col - (this.wide() > 4 ? 0.5 : 0));
      if (x < x0) continue;
      const half = pen.measureText(count(col)).width / 2;
      pen.fillText(count(col), clamp(x, x0 + 6, this.size.width - half), y0 - 8 - 6 * this.large);
      pen.fillRect(x, y0 - 6, 1, 5);
    }
  }

  // Over each column that is a full stop, a dot.
  writeDots(pen, range, y0) {
    for (let col = Math.floor(range.left); col < range.right; col++) {
      if (this.labelOf("columns", col) !== ".") continue;
      pen.beginPath();
      pen.arc(this.px(col + 0.5), y0 - 8 * this.large, 3 * this.large, 0, 7);
      pen.fill();
    }
  }

  // The rows beside which a sentence is written, each if they are few: where cells are small, and what a row has not read yet
  // leaves room.
  phraseRows(range) {
    const overview = this.tile(this.data.levels - 1), isCausal = overview?.codes[overview.width - 1] === MASKED;
    if (this.rows.kind !== "text" || this.cell >= LABELS_FROM || !isCausal) return [];
    const isListed = range.bottom - range.top < MAX_LISTED, apart = (isListed ? LINES_APART : PHRASES_APART) * this.large;
    return ticks(range.top, range.bottom, this.high(), apart);
  }

  // Whether what is far behind a row is out of its reach, so that there is room before the weights, too.
  get isBand() {
    const { codes, width, height } = this.tile(this.data.levels - 1);
    return codes[(height - 1) * width] === MASKED;
  }

  // The sentence that begins at a row or soon after it, and where; null where its labels are not there yet.
  sentenceFrom(row) {
    const raw = (position) => this.cache.label("rows", position), last = Math.min(row + MAX_PIECES, this.rows.n - 1);
    let start = row;
    while (start < last && !ENDS_SENTENCE.test(raw(start - 1) ?? "")) start++;
    const pieces = [];
    for (let at = start; at < start + MAX_PIECES && raw(at) && !ENDS_SENTENCE.test(pieces.at(-1) ?? ""); at++) pieces.push(raw(at));
    if (!pieces.some((piece) => /\p{L}/u.test(piece))) return null;
    return { start, text: pieces.join(pieces.some((piece) => piece.startsWith(" ")) ? "" : " ").trim() };
  }

  writePhrases(pen, range) {
    const beside = 12 + 9 * this.large * (this.wide() / this.high() - 1);  // no letter touches the diagonal, however flat it is
    let above = 0;
    this.useFont(pen, 14);
    for (const row of this.phraseRows(range)) {
      const { start, text } = this.sentenceFrom(row) ?? { text: "" }, x = Math.max(this.left, this.px(start + 1)) + beside, y = this.py(start + 0.5);
      const isInside = y > Math.max(above + 0.9 * LINES_APART * this.large, this.top + 12 * this.large) && y < this.top + this.plot.height - 6;
      if (!text || !isInside) continue;
      const isLeft = this.isBand && this.size.width - x < pen.measureText(text).width, end = this.px(start - 1 / this.data.uniform) - beside;
      const room = isLeft ? end - this.left : this.size.width - x;
      if (room < SHORTEST_PHRASE * this.large) continue;
      above = y;
      pen.textAlign = isLeft ? "right" : "left";
      pen.fillText(fitText(pen, text, room), isLeft ? end : x, y);
    }
  }

  writeLabels(pen, range, x0, y0) {
    const { hovered, cell } = this, flat = (this.flat = this.flatSize(pen, range)), isFlat = flat > 0, size = flat || clamp((cell * 0.62) / this.large, 9.5, LARGEST_LABEL);
    const useWeight = (isHovered) => this.useFont(pen, size, isHovered ? "600 " : "");
    pen.textAlign = "right";
    for (let row = Math.floor(range.top); row < range.bottom; row++) {
      const y = this.py(row + 0.5);
      if (y < y0 - 2 || y > this.py(range.bottom) + 2) continue;
      useWeight((hovered && Math.floor(hovered.row) === row) || (this.isLit && this.mark[0] === row));
      pen.fillText(fitText(pen, this.labelOf("rows", row) || count(row + 1), this.left - 28), x0 - 6, y);
    }
    pen.textAlign = isFlat ? "center" : "left";
    for (let col = Math.floor(range.left); col < range.right; col++) {
      const x = this.px(col + 0.5);
      if (x < x0 - 2 + isFlat * 0.4 * cell || x > this.px(range.right) + 2 - isFlat * 0.4 * cell) continue;
      useWeight((hovered && Math.floor(hovered.column) === col) || (this.isLit && this.mark.includes(col)));
      const text = fitText(pen, this.labelOf("columns", col) || count(col + 1), isFlat ? cell - 4 : this.top - 24);
      if (isFlat) pen.fillText(text, x, y0 - 12 * this.large);
      else turned(pen, x, y0 - 5, -1, () => pen.fillText(text, 0, 0));
    }
  }

  // The largest letters in which the labels of all columns that are wholly in view fit above their cells; 0 = they are turned.
  flatSize(pen, range) {
    const first = Math.ceil(range.left - 0.1), labels = Array.from({ length: Math.floor(range.right + 0.1) - first }, (_, column) => this.labelOf("columns", first + column));
    for (let size = LARGEST_LABEL; size >= LEAST_FLAT && this.cell > ROOM_OF_NUMBER * this.large; size--) {
      this.useFont(pen, size, "600 ");
      if (labels.every((label) => pen.measureText(label).width < this.cell - 3)) return size;
    }
    return 0;
  }

  // From the marked cell's query to its key, over the heads of their columns.
  paintArc(pen, range, y0) {
    const { large, mark: [row, column] } = this, [from, to] = [this.px(row + 0.5), this.px(column + 0.5)], [low, high] = [y0 - 24 * large, y0 - 62 * large];
    const point = this.codeAt(row, column);
    if (!this.flat || column < range.left || row + 1 > range.right || !point) return;
    Object.assign(pen, { strokeStyle: this.data.colour, fillStyle: this.data.colour, lineWidth: 3 * large });
    pen.beginPath();
    pen.moveTo(from, low);
    pen.bezierCurveTo(from, high, to, high, to, low);
    pen.stroke();
    pen.beginPath();
    for (const [right, up] of [[-6, 7], [6, 7], [0, -3]]) pen.lineTo(to + right * large, low - up * large);
    pen.fill();
    Object.assign(pen, { textAlign: "center", fillStyle: this.text });
    this.useFont(pen, 20, "700 ");
    pen.fillText(asPercent(weightOf(point.tile, point.code)), (from + to) / 2, y0 - 66 * large);
  }

  // The cells that an average is of, and the average beside the last of them in a line.
  paintEcho(pen, { cells, share }) {
    Object.assign(pen, { strokeStyle: this.text, fillStyle: this.text, lineWidth: 1.5 * this.large, textAlign: "left", textBaseline: "middle" });
    for (const [row, column] of cells) pen.strokeRect(this.px(column) + 1, this.py(row) + 1, this.cell - 2, this.cell - 2);
    const [row, column] = cells.find(([, column], index) => cells[index + 1]?.[1] !== column + 1);
    this.useFont(pen, 16, "600 ");
    if (!this.isNarrow) pen.fillText(`framed: ${share}`, this.px(column + 1) + 8 * this.large, this.py(row + 0.5));
  }

  paintSmall() {
    const unit = this.smallUnit(), width = Math.max(this.columns.n * unit, 4), height = Math.max(this.rows.n * unit, 4);
    Object.assign(this.small.style, { width: `${width}px`, height: `${height}px` });
    Object.assign(this.small, { width: Math.round(width * this.ratio), height: Math.round(height * this.ratio) });
    const pen = this.small.getContext("2d"), level = this.data.levels - 1;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.fillGround(pen, 0, 0, width, height);
    const tile = this.tile(level);
    if (tile) {
      const across = this.columns.n / 2 ** level, down = this.rows.n / 2 ** level;
      if (tile.complete) pen.clearRect(0, 0, width, height);
      pen.imageSmoothingEnabled = across > 0.5 * width * this.ratio;
      pen.drawImage(pictureOf(tile, this.scale), 0, 0, across, down, 0, 0, width, height);
    }
    const { left, right, top, bottom } = this.viewRange();
    const [wide, high] = [Math.max((right - left) * unit, 5), Math.max((bottom - top) * unit, 5)];
    const [x, y] = [((left + right) * unit - wide) / 2, ((top + bottom) * unit - high) / 2];
    outline(pen, [["rgba(0,0,0,0.75)", 3.5], [MARK, 1.75]], () => pen.strokeRect(x, y, wide, high));
  }

  drawLegend() {
    const { scale } = this, width = SIDE, height = 10, { uniform } = this.data;
    Object.assign(this.legend, { width: width * this.ratio, height: height * this.ratio });
    const pen = this.legend.getContext("2d");
    for (let x = 0; x < this.legend.width; x++) {
      pen.fillStyle = `rgb(${scale.colourOf(scale.logAt(x / (this.legend.width - 1))).join()})`;
      pen.fillRect(x, 0, 1, this.legend.height);
    }
    this.marks.replaceChildren();
    this.legendTitle.textContent = scale.isLinear ? "weight" : "weight, log scale";
    make(this.marks, "span", "low", scale.isLinear ? "0%" : `${Number((100 * scale.low).toPrecision(1))}%`);
    make(this.marks, "span", "high", finePercent(scale.high));
    const share = scale.shareOf(uniform);
    if (share > LEAST_MARKED && share < 1) {
      const mark = make(this.marks, "span", { class: "uniform", style: `left:${(100 * share).toFixed(1)}%` });
      make(mark, "i");
      make(mark, "b", { style: `transform:translateX(${-100 * share}%)` }, `all alike: ${finePercent(uniform)}`);
    }
    this.keys.replaceChildren();
    const explain = (swatch, text) => make(make(this.keys, "span"), "i", swatch).after(text);
    if (this.data.masks) explain("masked", "out of reach");
    if (this.data.surveyed < 1) explain("hatched", "not surveyed yet");
  }

  labelOf(axis, position) {
    return (this[axis].kind === "text" && this.cache.label(axis, position)?.trim()) || "";
  }
}
