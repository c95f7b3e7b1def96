// How weights become colours and text, and what is drawn on the atlas' canvas.
import { arrayOf, asPercent, clamp, create, pixelOf, putPixels } from "../../attention_core/attention/view/prelude.js";
import { mix } from "../../attention_core/attention/view/scene_drawing.js";
import { FIRST, MASKED, ZERO } from "./atlas_tiles.js";

const SHADES = 1024, MASK_COLOUR = [154, 161, 170, 30];
const STEEP = 1.4, STRONGEST = 0.85; // as much of the colour as lets letters be read

// A weight as a hint tells it: three digits.
export const exactPercent = (weight) => (weight < 0.995 ? `${(100 * weight).toPrecision(3)}%` : asPercent(weight));
export const count = (n) => Math.round(n).toLocaleString("en-GB");

// A colour for every log2 of a value: a table over the domain, identified by `name`. How strong it is grows with the value
// itself by as much as `linear`, else with its logarithm, steeper, so that the largest weights stand out.
export class Scale {
  constructor(ramp, low, high, linear) {
    Object.assign(this, { low, high, linear });
    const strength = (log) => mix(clamp(this.share(log), 0, 1) ** STEEP, 2 ** (log - this.top), linear);
    this.colourOf = (log) => ramp(STRONGEST * strength(log));
    this.top = Math.log2(high);
    this.bottom = Math.log2(low);
    const logOf = (shade) => this.bottom + ((this.top - this.bottom) * shade) / (SHADES - 1);
    this.table = arrayOf(Uint32Array, SHADES, (shade) => pixelOf(this.colourOf(logOf(shade))));
    this.lowest = pixelOf(ramp(0));
    this.name = [low, high, linear, this.lowest].join();
  }

  share(log) { return (log - this.bottom) / Math.max(this.top - this.bottom, 1e-9); }
  get isLinear() { return this.linear > 0.5; }
  // Along its bar: where a value stands, and the log2 of what stands there.
  shareOf(value) { return value <= 0 ? 0 : this.isLinear ? value / this.high : this.share(Math.log2(value)); }
  logAt(share) { return this.isLinear ? this.top + Math.log2(share) : this.bottom + share * (this.top - this.bottom); }
}

// A tile as a small picture, one pixel a cell; painted anew only when the scale has changed.
export const pictureOf = (tile, scale) => {
  if (tile.picture && tile.scale === scale.name) return tile.picture;
  tile.picture ??= create("canvas", { width: tile.width, height: tile.height });
  tile.scale = scale.name;
  const { codes } = tile, pixels = new Uint32Array(codes.length), mask = pixelOf(MASK_COLOUR, MASK_COLOUR[3]);
  const factor = (SHADES - 1) / Math.max(scale.top - scale.bottom, 1e-9);
  const start = (tile.low - scale.bottom) * factor, step = tile.step * factor;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i];
    if (code >= FIRST) pixels[i] = scale.table[Math.round(clamp(start + step * (code - FIRST), 0, SHADES - 1))];
    else pixels[i] = code === MASKED ? mask : code === ZERO ? scale.lowest : 0;
  }
  putPixels(tile.picture, pixels);
  return tile.picture;
};

// Positions at which to write a number along an edge: whole, and not closer than `apart` pixels.
export const ticks = (from, to, perUnit, apart) => {
  const rough = Math.max(apart / perUnit, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((digit) => digit * power).find((width) => width >= rough * 0.999));
  const positions = [];
  for (let at = Math.ceil(from / step - 1e-6) * step; at < to; at += step) positions.push(at + 0);  // no -0
  return positions;
};

export const fitText = (context, text, width) => {
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle; else high = middle - 1;
  }
  return low ? `${text.slice(0, low)}…` : "";
};

export const hatch = (context, colour) => {
  const tile = create("canvas", { width: 12, height: 12 }), pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const at of [-12, 0, 12]) { pen.moveTo(at, 12); pen.lineTo(at + 12, 0); }
  pen.stroke();
  return context.createPattern(tile, "repeat");
};

// Draw the same outline twice, dark and wide under light and narrow, so that it is seen on every colour.
export const outline = (pen, styles, draw) => {
  for (const [colour, width] of styles) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    draw();
  }
};

// Draw at a point with the axes turned by quarters of a circle.
export const turned = (pen, x, y, quarters, draw) => {
  pen.save();
  pen.translate(x, y);
  pen.rotate((quarters * Math.PI) / 2);
  draw();
  pen.restore();
};
