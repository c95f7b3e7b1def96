// What is drawn on the canvases: tiles, coarser ones in their stead, numbers, labels, sums, the overview, the colour bar.
const NUMBERS_FROM = 44, LABELS_FROM = 12, SIDE = 150;

class MapDrawing extends MapView {
  request() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  readTheme() {
    const style = getComputedStyle(this.root), of = (name) => style.getPropertyValue(name).trim();
    this.text = of("--st-text-color") || "#1b1f24";
    this.paper = of("--st-background-color") || "#fff";
    this.soft = of("--st-secondary-background-color") || "#f6f7f9";
    this.font = of("--st-font") || "sans-serif";
    this.accent = of("--st-primary-color") || "#0072B2";
    const parts = this.paper.match(/[0-9a-f]{2}/gi) ?? [];
    this.isDark = parts.length >= 3 && parts.slice(0, 3).reduce((sum, one) => sum + parseInt(one, 16), 0) < 384;
    this.hatch = null;
  }

  chooseScale() {
    if (this.scale && !this.scaleStale) return;
    this.scaleStale = false;
    const level = this.level(), part = this.seenPart(), uniform = 1 / this.columns.n;
    let high = 0, low = Infinity;
    if (this.options.domain === "all") {
      high = this.data.largest ?? 0;
      const top = this.shelf.tiles.get(keyOf("largest", this.data.levels - 1, 0, 0)) ?? this.shelf.tiles.get(keyOf("mean", this.data.levels - 1, 0, 0));
      if (top) { high = Math.max(high, valueOf(top, top.top)); low = 0; }
    } else {
      for (const [row, col] of this.places(level, part)) {
        const tile = this.shelf.tiles.get(keyOf(this.kindAt(level), level, row, col));
        if (tile) { const [a, b] = this.extremes(tile, part, level, row, col); high = Math.max(high, b); low = Math.min(low, a); }
      }
    }
    if (!high) high = this.scale?.high ?? 1;
    low = Math.max(low === Infinity ? 0 : low, Math.min(uniform / 1000, high / 1e4));
    if (low >= high) low = high / 10;
    const [top, bottom] = [Number(high.toPrecision(4)), Number(low.toPrecision(3))];
    this.scale = new Scale(this.ramp, bottom, top, this.options.scale === "log");
    this.drawLegend();
  }

  // The smallest and largest value above 0 of the part of a tile that is in view.
  extremes(tile, part, level, row, col) {
    const span = 2 ** level, tileSpan = this.data.tile * span;
    const r0 = clamp(Math.floor((part.top - row * tileSpan) / span), 0, tile.height), r1 = clamp(Math.ceil((part.bottom - row * tileSpan) / span), 0, tile.height);
    const c0 = clamp(Math.floor((part.left - col * tileSpan) / span), 0, tile.width), c1 = clamp(Math.ceil((part.right - col * tileSpan) / span), 0, tile.width);
    let top = 0, bottom = Infinity;
    for (let r = r0; r < r1; r++) {
      for (let i = r * tile.width + c0; i < r * tile.width + c1; i++) {
        const code = tile.codes[i];
        if (code >= FIRST) { if (code > top) top = code; if (code < bottom) bottom = code; }
      }
    }
    return top ? [valueOf(tile, bottom), valueOf(tile, top)] : [Infinity, 0];
  }

  paint() {
    if (!this.plot || !this.shelf) return;
    this.chooseScale();
    const pen = this.canvas.getContext("2d"), { width, height } = this.size;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const part = this.seenPart(), level = this.level();
    pen.save();
    pen.beginPath();
    pen.rect(this.left, this.top, this.plot.width, this.plot.height);
    pen.clip();
    const complete = this.paintTiles(pen, part, level);
    if (this.options.diagonal) this.paintDiagonal(pen);
    if (this.cell >= NUMBERS_FROM * this.type) this.paintNumbers(pen, part);
    this.paintHovered(pen, level);
    pen.restore();
    this.paintEdges(pen, part, level);
    this.paintSums(pen, part, level);
    this.paintSmall();
    this.showTip();
    this.root.dataset.complete = String(complete);
    this.root.dataset.view = `${level}/${this.y.toFixed(2)}/${this.x.toFixed(2)}/${this.cell.toFixed(4)}`;
  }

  paintTiles(pen, part, level) {
    const [x0, y0, x1, y1] = [this.px(part.left), this.py(part.top), this.px(part.right), this.py(part.bottom)];
    this.hatch ??= hatch(pen, this.isDark ? "rgba(230,234,240,0.22)" : "rgba(255,255,255,0.42)");
    pen.fillStyle = this.soft;
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    pen.fillStyle = this.hatch;
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    let complete = true;
    const kind = this.kindAt(level);
    for (const [row, col] of this.places(level, part)) {
      const tile = this.shelf.get(keyOf(kind, level, row, col));
      if (!tile) complete = false;
      if (!tile?.whole) this.paintStandIn(pen, kind, level, row, col);
      if (tile) this.paintTile(pen, tile, level, row, col);
    }
    return complete;
  }

  // Edges are rounded to device pixels in the same way for neighbours, so that no seam shows between them.
  paintTile(pen, tile, level, row, col, clip = null) {
    const span = 2 ** level, r0 = row * this.data.tile, c0 = col * this.data.tile;
    const { top = 0, left = 0, bottom = tile.height, right = tile.width } = clip ?? {};
    const snap = (at) => Math.round(at * this.ratio) / this.ratio;
    const x = snap(this.px((c0 + left) * span)), y = snap(this.py((r0 + top) * span));
    const x1 = snap(this.px(Math.min((c0 + right) * span, this.columns.n))), y1 = snap(this.py(Math.min((r0 + bottom) * span, this.rows.n)));
    const wide = Math.min((c0 + right) * span, this.columns.n) / span - c0 - left, high = Math.min((r0 + bottom) * span, this.rows.n) / span - r0 - top;
    if (wide <= 0 || high <= 0) return;
    pen.imageSmoothingEnabled = this.cell * span * this.ratio < 2;
    if (tile.whole) pen.clearRect(x, y, x1 - x, y1 - y);
    pen.drawImage(pictureOf(tile, this.scale), left, top, wide, high, x, y, x1 - x, y1 - y);
    if (tile.whole) return;
    const from = clamp(snap(this.py((r0 + tile.seen) * span)), y, y1);
    pen.fillStyle = this.hatch;
    pen.fillRect(x, from, x1 - x, y1 - from);
  }

  paintStandIn(pen, kind, level, row, col) {
    for (let above = level + 1; above < this.data.levels; above++) {
      const by = 2 ** (above - level), [r, c] = [Math.floor(row / by), Math.floor(col / by)];
      const tile = this.shelf.tiles.get(keyOf(kind, above, r, c)) ?? this.shelf.tiles.get(keyOf("mean", above, r, c));
      if (!tile || !(tile.whole || above === this.data.levels - 1)) continue;
      const side = this.data.tile / by, top = (row - r * by) * side, left = (col - c * by) * side;
      const clip = { top, left, bottom: Math.min(top + side, tile.height), right: Math.min(left + side, tile.width) };
      this.paintTile(pen, tile, above, r, c, clip);
      return;
    }
  }

  paintDiagonal(pen) {
    const n = Math.min(this.rows.n, this.columns.n);
    for (const [colour, wide] of [["rgba(0,0,0,0.55)", 3], ["#fff", 1]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.beginPath();
      pen.moveTo(this.px(0), this.py(0));
      pen.lineTo(this.px(n), this.py(n));
      pen.stroke();
    }
  }

  codeAt(row, col, level = 0, kind = this.kindAt(level)) {
    const span = 2 ** level, r = Math.floor(row / span), c = Math.floor(col / span), side = this.data.tile;
    const tile = this.shelf.tiles.get(keyOf(kind, level, Math.floor(r / side), Math.floor(c / side)));
    if (!tile) return null;
    return { tile, code: tile.codes[(r % side) * tile.width + (c % side)] };
  }

  paintNumbers(pen, part) {
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `${(this.cell >= 58 * this.type ? 11.5 : 9.5) * this.type}px ${this.font}`;
    for (let row = Math.floor(part.top); row < part.bottom; row++) {
      for (let col = Math.floor(part.left); col < part.right; col++) {
        const found = this.codeAt(row, col);
        if (!found || found.code === UNKNOWN) continue;
        const value = valueOf(found.tile, found.code), [r, g, b] = this.ramp(this.scale.shareOf(value));
        pen.fillStyle = found.code === MASKED ? this.text : 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff";
        pen.fillText(found.code === MASKED ? "masked" : short(value), this.px(col + 0.5), this.py(row + 0.5));
      }
    }
  }

  paintHovered(pen, level) {
    const frame = (row, col, span, colour) => {
      const [across, down] = [Math.min(span, this.columns.n - col), Math.min(span, this.rows.n - row)];
      const side = Math.max(across * this.wide(), 5), rise = Math.max(down * this.high(), 5);
      const x = this.px(col + across / 2) - side / 2, y = this.py(row + down / 2) - rise / 2;
      pen.strokeStyle = "rgba(0,0,0,0.8)";
      pen.lineWidth = 4;
      pen.strokeRect(x, y, side, rise);
      pen.strokeStyle = colour;
      pen.lineWidth = 2;
      pen.strokeRect(x, y, side, rise);
    };
    if (this.mark) frame(this.mark[0] ?? -1e9, this.mark[1] ?? -1e9, 1, "#ff7f50");
    if (this.mark && (this.mark[0] === null || this.mark[1] === null)) this.paintLine(pen);
    if (!this.hovered) return;
    const span = 2 ** level;
    frame(Math.floor(this.hovered.row / span) * span, Math.floor(this.hovered.column / span) * span, span, "#fff");
  }

  // A row or a column that was jumped to.
  paintLine(pen) {
    const [row, col] = this.mark, rise = Math.max(this.high(), 2), side = Math.max(this.wide(), 2);
    pen.strokeStyle = "#ff7f50";
    pen.lineWidth = 2;
    if (row !== null) pen.strokeRect(this.px(0) - 2, this.py(row + 0.5) - rise / 2, this.columns.n * this.wide() + 4, rise);
    else if (col !== null) pen.strokeRect(this.px(col + 0.5) - side / 2, this.py(0) - 2, side, this.rows.n * this.high() + 4);
  }

  paintEdges(pen, part, level) {
    const right = this.px(part.right), bottom = this.py(part.bottom), x0 = this.px(part.left), y0 = this.py(part.top);
    pen.strokeStyle = this.isDark ? "rgba(230,234,240,0.35)" : "rgba(27,31,36,0.3)";
    pen.lineWidth = 1;
    pen.strokeRect(x0 - 0.5, y0 - 0.5, right - x0 + 1, bottom - y0 + 1);
    pen.fillStyle = this.text;
    pen.textBaseline = "middle";
    pen.font = `${11.5 * this.type}px ${this.font}`;
    if (this.cell >= LABELS_FROM * this.type) {
      this.writeLabels(pen, part, x0, y0);
    } else {
      pen.textAlign = "right";
      for (const row of ticks(part.top, part.bottom, this.high(), 46)) {
        const y = this.py(row + (this.high() > 4 ? 0.5 : 0));
        pen.fillText(count(row), x0 - 9, clamp(y, y0 + 5, bottom - 5));
        pen.fillRect(x0 - 6, y, 5, 1);
      }
      pen.textAlign = "center";
      for (const col of ticks(part.left, part.right, this.wide(), 76)) {
        const x = this.px(col + (this.wide() > 4 ? 0.5 : 0));
        pen.fillText(count(col), clamp(x, x0 + 6, this.size.width - 20), y0 - 14 * this.type);
        pen.fillRect(x, y0 - 6, 1, 5);
      }
    }
    pen.font = `${11.5 * this.type}px ${this.font}`;
    pen.textAlign = "left";
    pen.fillStyle = "#A87400";
    if (this.isDark) pen.fillStyle = "#E69F00";
    pen.fillText(fitText(pen, `keys: ${this.columns.name} →`, this.size.width - x0), x0, y0 - (this.cell >= LABELS_FROM * this.type ? this.top - 8 * this.type : 36 * this.type));
    pen.save();
    pen.translate(10 * this.type, y0);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "right";
    pen.fillStyle = this.isDark ? "#4DA3D9" : "#0072B2";
    pen.fillText(fitText(pen, `← queries: ${this.rows.name}`, bottom - y0), 0, 0);
    pen.restore();
  }

  writeLabels(pen, part, x0, y0) {
    const strong = this.hovered, size = clamp(this.cell * 0.62, 9.5, 12.5) * this.type;
    pen.textAlign = "right";
    for (let row = Math.floor(part.top); row < part.bottom; row++) {
      const y = this.py(row + 0.5);
      if (y < y0 - 2 || y > this.py(part.bottom) + 2) continue;
      const bold = strong && Math.floor(strong.row) === row, label = this.labelOf("rows", row), high = label && this.cell >= 28 * this.type;
      pen.font = `${bold ? "600 " : ""}${size}px ${this.font}`;
      pen.fillText(fitText(pen, label || count(row), this.left - 28 * this.type), x0 - 6, high ? y - 6 * this.type : y);
      if (high) { pen.globalAlpha = 0.7; pen.fillText(count(row), x0 - 6, y + 7 * this.type); pen.globalAlpha = 1; }
    }
    const flat = this.cell >= 40 * this.type;
    for (let col = Math.floor(part.left); col < part.right; col++) {
      const x = this.px(col + 0.5);
      if (x < x0 - 2 || x > this.px(part.right) + 2) continue;
      const bold = strong && Math.floor(strong.column) === col, label = this.labelOf("columns", col);
      pen.font = `${bold ? "600 " : ""}${size}px ${this.font}`;
      if (flat) {
        pen.textAlign = "center";
        pen.fillText(fitText(pen, label || count(col), this.cell - 4), x, y0 - (label ? 22 : 9) * this.type);
        if (label) { pen.globalAlpha = 0.7; pen.fillText(count(col), x, y0 - 8 * this.type); pen.globalAlpha = 1; }
      } else {
        pen.save();
        pen.translate(x, y0 - 5);
        pen.rotate(-Math.PI / 2);
        pen.textAlign = "left";
        pen.fillText(fitText(pen, label || count(col), this.top - 22 * this.type), 0, 0);
        pen.restore();
      }
    }
  }

  // What the rows and columns in view add up to within it; whole rows add up to 1, so a row's sum is its share.
  sums(part, level) {
    const place = `${level}/${part.left}/${part.right}/${part.top}/${part.bottom}`;
    if (this.added?.place === place && !this.sumsStale) return this.added;
    if (!this.sumsStale) return this.added?.level === level ? this.added : null;
    this.sumsStale = false;
    const span = 2 ** level, side = this.data.tile;
    const r0 = Math.floor(part.top / span), c0 = Math.floor(part.left / span);
    const nr = Math.ceil(part.bottom / span) - r0, nc = Math.ceil(part.right / span) - c0;
    const rows = new Float64Array(nr), columns = new Float64Array(nc);
    for (const [row, col] of this.places(level, part)) {
      const tile = this.shelf.tiles.get(keyOf("mean", level, row, col));
      if (!tile || !tile.whole) return (this.added = null);
      const top = Math.max(0, r0 - row * side), left = Math.max(0, c0 - col * side);
      const bottom = Math.min(tile.height, r0 + nr - row * side), right = Math.min(tile.width, c0 + nc - col * side);
      for (let r = top; r < bottom; r++) {
        const high = this.overlap(row * side + r, span, part.top, part.bottom, this.rows.n);
        for (let c = left; c < right; c++) {
          const code = tile.codes[r * tile.width + c];
          if (code < FIRST) continue;
          const sum = valueOf(tile, code) * this.overlap(col * side + c, span, part.left, part.right, this.columns.n);
          rows[row * side + r - r0] += sum;
          columns[col * side + c - c0] += sum * high;
        }
      }
    }
    return (this.added = { place, level, rows, columns, r0, c0 });
  }

  // How many of a block's cells lie in view; single cells count whole, so that what is written is a plain sum.
  overlap(block, span, from, to, n) {
    if (span === 1) return 1;
    return Math.max(0, Math.min((block + 1) * span, to, n) - Math.max(block * span, from));
  }

  paintSums(pen, part, level) {
    const added = this.sums(part, level), right = this.px(part.right) + 6, bottom = this.py(part.bottom) + 6, span = 2 ** level;
    pen.font = `${10.5 * this.type}px ${this.font}`;
    pen.fillStyle = this.text;
    if (!added) return;
    const room = this.strip - 14 * this.type, gap = span * this.cell > 4 ? 1 : 0;
    const highest = added.columns.reduce((a, b) => Math.max(a, b), 0) / span || 1, widest = added.rows.reduce((a, b) => Math.max(a, b), 0) || 1;
    pen.save();
    pen.beginPath();
    pen.rect(right, this.py(part.top), this.strip, this.py(part.bottom) - this.py(part.top));
    pen.rect(this.px(part.left), bottom, this.px(part.right) - this.px(part.left), this.strip);
    pen.clip();
    pen.globalAlpha = 0.75;
    pen.fillStyle = this.isDark ? "#4DA3D9" : "#0072B2";
    const snap = (at) => Math.round(at * this.ratio) / this.ratio;
    added.rows.forEach((sum, at) => {
      const y = snap(this.py((added.r0 + at) * span));
      pen.fillRect(right, y, (room * sum) / widest, snap(this.py((added.r0 + at + 1) * span)) - y - gap);
    });
    pen.fillStyle = "#E69F00";
    added.columns.forEach((sum, at) => {
      const x = snap(this.px((added.c0 + at) * span));
      pen.fillRect(x, bottom, snap(this.px((added.c0 + at + 1) * span)) - x - gap, (room * sum) / span / highest);
    });
    pen.restore();
    pen.fillStyle = this.text;
    pen.globalAlpha = 0.85;
    pen.textBaseline = "top";
    pen.textAlign = "left";
    const text = `column sums of the rows in view${span > 1 ? ", averaged in blocks" : ""}, up to ${short(highest)}`;
    const brief = `column sums, up to ${short(highest)}`, wide = this.px(part.right) - this.px(part.left);
    pen.fillText(pen.measureText(text).width < wide ? text : brief, this.px(part.left), bottom + room + 2);
    pen.save();
    pen.translate(right + room + 2, this.py(part.top));
    pen.rotate(Math.PI / 2);
    pen.textBaseline = "bottom";
    const high = this.py(part.bottom) - this.py(part.top), most = short(Math.min(widest, 1));
    const fitting = [`share of each row in view, up to ${most}`, `row share ≤ ${most}`].find((one) => pen.measureText(one).width < high);
    if (fitting) pen.fillText(fitting, 0, 0);
    pen.restore();
    pen.globalAlpha = 1;
  }

  paintSmall() {
    const unit = this.smallUnit(), width = Math.max(this.columns.n * unit, 4), height = Math.max(this.rows.n * unit, 4);
    const form = `${width} ${height} ${this.ratio}`;
    if (this.smallForm !== form) {
      this.smallForm = form;
      Object.assign(this.small.style, { width: `${width}px`, height: `${height}px` });
      Object.assign(this.small, { width: Math.round(width * this.ratio), height: Math.round(height * this.ratio) });
    }
    const pen = this.small.getContext("2d"), level = this.data.levels - 1;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.fillStyle = this.soft;
    pen.fillRect(0, 0, width, height);
    if (this.hatch) { pen.fillStyle = this.hatch; pen.fillRect(0, 0, width, height); }
    const tile = this.shelf.tiles.get(keyOf(this.kindAt(level), level, 0, 0)) ?? this.shelf.tiles.get(keyOf("mean", level, 0, 0));
    if (tile) {
      if (tile.whole) pen.clearRect(0, 0, width, height);
      pen.imageSmoothingEnabled = this.columns.n / 2 ** level > 0.5 * width * this.ratio;
      pen.drawImage(this.smallPicture(tile), 0, 0, this.columns.n / 2 ** level, this.rows.n / 2 ** level, 0, 0, width, height);
    }
    const part = this.seenPart(), box = [part.left * unit, part.top * unit, (part.right - part.left) * unit, (part.bottom - part.top) * unit];
    const [bw, bh] = [Math.max(box[2], 5), Math.max(box[3], 5)], [bx, by] = [box[0] - (bw - box[2]) / 2, box[1] - (bh - box[3]) / 2];
    pen.strokeStyle = "rgba(0,0,0,0.75)";
    pen.lineWidth = 3.5;
    pen.strokeRect(bx, by, bw, bh);
    pen.strokeStyle = "#ff7f50";
    pen.lineWidth = 1.75;
    pen.strokeRect(bx, by, bw, bh);
  }

  // The overview keeps colours of its own, so that it does not change while the map is moved.
  smallPicture(tile) {
    if (tile.small?.surveyed === tile.surveyed && tile.small.log === this.options.scale) return tile.small.picture;
    const top = tile.top >= FIRST ? valueOf(tile, tile.top) : 1, low = Math.max(tile.bottom < Infinity ? valueOf(tile, tile.bottom) : 0, Math.min(top / 1e4, 0.001 / this.columns.n));
    const copy = { ...tile, picture: undefined, scale: "" };
    tile.small = { surveyed: tile.surveyed, log: this.options.scale, picture: pictureOf(copy, new Scale(this.ramp, Math.min(low, top / 10), top, this.options.scale === "log")) };
    return tile.small.picture;
  }

  drawLegend() {
    const { scale } = this, width = SIDE, height = 10, uniform = 1 / this.columns.n;
    this.legendTitle.textContent = this.level() === 0 ? "weight" : this.options.kind === "mean" ? "mean weight of a block" : "largest weight of a block";
    Object.assign(this.legend, { width: width * this.ratio, height: height * this.ratio });
    const pen = this.legend.getContext("2d");
    for (let x = 0; x < this.legend.width; x++) {
      pen.fillStyle = `rgb(${this.ramp(x / (this.legend.width - 1)).join()})`;
      pen.fillRect(x, 0, 1, this.legend.height);
    }
    this.marks.replaceChildren();
    make(this.marks, "span", { class: "low" }, scale.isLog ? `≤ ${short(scale.low)}` : "0");
    make(this.marks, "span", { class: "high" }, short(scale.high));
    const share = scale.shareOf(uniform);
    if (share > 0 && share < 1) {
      const mark = make(this.marks, "span", { class: "uniform", style: `left:${(100 * share).toFixed(1)}%` });
      make(mark, "i");
      make(mark, "b", { style: `transform:translateX(${-100 * share}%)` }, `1/n = ${short(uniform)}`);
    }
    this.keys.replaceChildren();
    if (this.data.masks) make(make(this.keys, "span"), "i", { class: "masked" }).parentNode.append("masked");
    if (this.data.surveyed < 1) make(make(this.keys, "span"), "i", { class: "hatched" }).parentNode.append("a glimpse: one row per block");
  }

  labelOf(axis, place) {
    const about = this[axis];
    if (about.kind === "text") return this.shelf.label(axis, place) ?? "";
    if (about.kind === "grid") return `${Math.floor(place / about.grid[1])}, ${place % about.grid[1]}`;
    return "";
  }

  // The map as it is, on the page's background.
  save() {
    const copy = Object.assign(document.createElement("canvas"), { width: this.canvas.width, height: this.canvas.height });
    const pen = copy.getContext("2d");
    pen.fillStyle = this.paper;
    pen.fillRect(0, 0, copy.width, copy.height);
    pen.drawImage(this.canvas, 0, 0);
    Object.assign(document.createElement("a"), { href: copy.toDataURL("image/png"), download: "atlas.png" }).click();
  }
}
