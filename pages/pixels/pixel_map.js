// Over the pad, the drawing as a network without softmax sees it, pixel by pixel. The framed pixel asks, and what it takes from
// all others is computed here, from queries and keys. Until a pointer comes, one pixel of ink after the other asks.
import { arrowOf, boxOf, bytesOf, cellBeside, cellUnder, clamp, create } from "../../attention_core/attention/view/prelude.js";
import { heaviest, isNew, make, pixelOf, placeOn, pointedIn, putPixels, rampOf } from "../../attention_core/attention/view/prelude.js";
import { shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { watchPads } from "../../ui/components/pads.js";
import { underHand } from "./pixel_pad.js";

const SIDE = 28, PIXELS = SIDE * SIDE, ARCS = 7, PACE = 320, LATEST = 4000;

const IS_TOUCHED = matchMedia("(hover: none)").matches;
const INKED = 76;  // of 255
const SCREEN = 2;  // pixels of the canvas for one of the page

const cellOf = (pixel) => ({ column: pixel % SIDE, row: Math.floor(pixel / SIDE) });

const mixed = (colour, target, share) => colour.map((from, channel) => Math.round(from + share * (target[channel] - from)));

class PixelMap {
  constructor(root) {
    this.caption = make(root, "p", "says");
    this.canvas = create("canvas", { role: "application", tabIndex: 0 });
    this.pointed = pointedIn(root, (points) => this.light(placeOn(points, "pixels")));
    this.canvas.onblur = () => this.pointed.leave();
    this.canvas.onkeydown = (event) => {
      const arrow = arrowOf(event);
      if (arrow) this.ask(cellBeside(this.query, arrow, SIDE, SIDE));
      if (event.key === "Enter") this.answer({ query: this.query });
    };
    this.small = create("canvas", { width: SIDE, height: SIDE });
    new ResizeObserver(() => this.paint()).observe(this.canvas);  // it has a size as soon as it lies on a pad
    this.clock = !wantsLessMotion() && setInterval(() => this.wander(), PACE);
    const stage = root.getRootNode().host.closest("[class*=_stage]");
    this.endWatch = watchPads(stage, (board) => this.attach(board.parentNode));
  }

  adopt(data, answer) {
    Object.assign(this, { data, answer });
    this.numbers = new Int16Array(bytesOf(data.numbers).buffer);
    this.ink = bytesOf(data.ink);
    this.inked = [...this.ink.keys()].filter((pixel) => this.ink[pixel] > 128);
    this.canvas.ariaLabel = data.about;
    if (isNew(this, data.ink)) this.show(true);
    this.query = this.held ? this.query : data.query;
    this.paint();
  }

  leave() {
    clearInterval(this.clock);
    this.endWatch();
    this.canvas.remove();
  }

  attach(pad) {
    this.canvas.style.cssText = "position:absolute;inset:0;width:100%;height:100%;z-index:20;pointer-events:none;" +
      "outline:1px solid #8a93a066;outline-offset:-1px";
    pad.append(this.canvas);
    underHand(pad, {
      over: () => this.isVisible,
      hover: (event) => { if (!this.data.row) this.ask(this.under(event)); },
      choose: (event) => { this.ask(this.under(event)); this.answer({ query: this.query }); },
      begin: () => this.show(false),
      end: () => { clearTimeout(this.late); if (!this.isVisible) this.late = setTimeout(() => this.show(true), LATEST); },
      leave: (event) => this.pointed.leave(event),
    });
  }

  show(isVisible) {
    clearTimeout(this.late);
    this.isVisible = isVisible;
    this.canvas.style.visibility = isVisible ? "visible" : "hidden";
  }

  under(event) { return cellUnder(this.canvas, event, SIDE, SIDE); }

  wander() {
    if (this.held || this.data.stays || this.data.row || !this.isVisible || !this.inked.length) return;
    this.step = ((this.step ?? 0) + 1) % this.inked.length;
    this.query = this.inked[this.step];
    this.paint();
  }

  ask(query) { this.pointed.look([["pixels", query]]); }

  // Rows that were edited are known of the chosen pixel alone.
  light(query) {
    if (!this.data || this.data.row) return;
    this.held = query !== null;
    this.query = query ?? this.data.query;
    this.paint();
  }

  weights() {
    if (this.data.row) return this.data.row;
    const { numbers, query, data: { unit } } = this, d = numbers.length / 2 / PIXELS;
    return Array.from({ length: PIXELS }, (_, key) => {
      let product = 0;
      for (let i = 0; i < d; i++) product += numbers[query * d + i] * numbers[(PIXELS + key) * d + i];
      return unit * product;
    });
  }

  paint() {
    const { data, canvas } = this, values = data.map ?? this.weights(), { width, height } = boxOf(canvas);
    const max = Math.max(...values.map(Math.abs)) || 1;
    Object.assign(canvas, { width: SCREEN * width, height: SCREEN * height });
    const pen = canvas.getContext("2d");
    pen.scale(canvas.width / SIDE, canvas.height / SIDE);
    pen.imageSmoothingEnabled = false;
    this.paintPixels(values, max);
    pen.drawImage(this.small, 0, 0);
    if (!data.map) this.paintQuery(pen, values, max);
    this.caption.textContent = data.legend || (this.held || data.stays ? this.captionOf(values) : this.invitation());
  }

  paintPixels(values, strongest) {
    const { colours: { ink, positive, negative }, clearness } = this.data;
    const inkAt = rampOf(ink), [more, less] = [positive, negative].map((colour) => rampOf([colour, colour])(0));
    putPixels(this.small, Uint32Array.from(values, (value, pixel) => {
      const share = clamp(Math.abs(value) / strongest, 0, 1);
      return pixelOf(mixed(inkAt(this.ink[pixel] / 255), value < 0 ? less : more, share ** clearness));
    }));
  }

  // The pixel that asks, and curves to those from which it takes most.
  paintQuery(pen, values, max) {
    const { column, row } = cellOf(this.query), [x, y] = [column + 0.5, row + 0.5];
    pen.strokeStyle = this.data.colours.positive;
    pen.lineCap = "round";
    for (const [value, pixel] of heaviest(values, ARCS)) {
      const to = cellOf(pixel), [a, b] = [to.column + 0.5, to.row + 0.5];
      if (pixel === this.query || value <= 0) continue;
      pen.globalAlpha = 0.3 + 0.6 * value / max;
      pen.lineWidth = 0.1 + 0.2 * value / max;
      pen.beginPath();
      pen.moveTo(x, y);
      pen.quadraticCurveTo((x + a) / 2, (y + b) / 2 - 0.18 * Math.hypot(a - x, b - y), a, b);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    for (const [colour, width] of [["#ffffff", 0.5], [this.data.frame, 0.25]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.strokeRect(x - 0.6, y - 0.6, 1.2, 1.2);
    }
  }

  invitation() { return `${IS_TOUCHED ? "Tap a" : this.data.row ? "Click a" : "Point at a"} pixel, or draw on it.`; }

  captionOf(values) {
    const taker = this.ink[this.query] > INKED ? "Ink takes" : "Paper takes", [max, min] = [Math.max(...values), Math.min(...values)];
    if (!max && !min) return `${taker} from no pixel.`;
    if (min < 0) return max > 0 ? `${taker} from pink pixels and takes blue ones away.` : `${taker} blue pixels away.`;
    return `${taker} from pink pixels.`;
  }
}

export default shownBy(PixelMap, "asked");
