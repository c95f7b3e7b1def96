// Heads as Python packed them (see pack.py): the weights are computed here, row by row, when somebody looks.
import { arrayOf, bytesOf, clamp, inflate } from "./prelude.js";

// Numbers of 16 bits, whose lower bytes come before the upper ones; few came as they are, after an equals sign.
export const numbersOf = async (text) => {
  const bytes = text[0] === "=" ? bytesOf(text.slice(1)) : await inflate(bytesOf(text)), n = bytes.length / 2;
  return arrayOf(Uint16Array, n, (at) => bytes[at] | (bytes[n + at] << 8));
};

export const UNCHANGED = { barred: new Map(), temperature: 1 };  // of each axis the keys that nobody may look at

const signed = (code) => (code >>> 1) ^ -(code & 1);

export class PackedHead {
  constructor(trace, entry, head, axes, masks) {
    Object.assign(this, { trace, entry, head, changes: UNCHANGED });
    this.name = `L${trace.layer}H${head}`;
    this.n = axes[trace.queries].pieces.length;
    this.m = axes[trace.keys].pieces.length;
    this.mask = trace.mask === null ? null : masks[trace.mask][Math.min(head, masks[trace.mask].length - 1)];
  }

  load() { return this.loading ??= this.read(); }

  async read() {
    const { n, m } = this, { rank, cells, unit, whole, data } = this.entry;
    const numbers = await numbersOf(data);
    let at = 0;
    const take = (count) => numbers.subarray(at, at += count);
    const scale = Array.from(take(rank), (code) => unit ** 2 / (2 ** ((code - 32768) / 1024) * Math.sqrt(n * m)));
    const side = (count, times) => {
      const given = take(rank * count), turned = new Float32Array(rank * count);
      for (let d = 0; d < rank; d++) {
        for (let row = 0; row < count; row++) turned[row * rank + d] = signed(given[d * count + row]) * times(d);
      }
      return turned;
    };
    this.left = side(n, (d) => scale[d]);
    this.right = side(m, () => 1);
    let first = 0;
    this.starts = [0, ...Array.from(take(n), (count) => first += count)];
    this.gaps = take(cells);
    this.steps = take(cells);
    this.totals = whole ? null : take(n);
    this.bits = this.mask && await inflate(bytesOf(this.mask));
    return this;
  }

  allows(row, column) {
    if (this.trace.causal && column > row) return false;
    const place = row * this.m + column;
    return !this.bits || ((this.bits[place >> 3] >> (place & 7)) & 1) === 1;
  }

  sees(row, column) { return this.allows(row, column) && !this.changes.barred.get(this.trace.keys)?.has(column); }

  // A row as it is with keys barred and at another temperature: both share a softmax out anew.
  row(row) {
    const weights = this.unpacked(row), { barred, temperature } = this.changes, gone = barred.get(this.trace.keys);
    if (!gone?.size && temperature === 1) return weights;
    for (const key of gone ?? []) weights[key] = 0;
    if (!this.trace.softmax) return weights;
    const heat = (weight) => Math.max(weight, 0) ** (1 / temperature), powers = weights.map(heat);
    const rest = this.totals ? heat(1 - this.totals[row] / 65535) : 0, sum = powers.reduce((a, b) => a + b, rest);
    return sum ? powers.map((power) => power / sum) : powers;
  }

  unpacked(row) {
    const { m, left, right } = this, { rank, sparse, step } = this.entry, { softmax } = this.trace;
    const weights = new Float64Array(m), total = this.totals ? this.totals[row] / 65535 : 1;
    if (!sparse) {
      let most = -Infinity, sum = 0;
      for (let column = 0; column < m; column++) {
        let score = 0;
        for (let d = 0; d < rank; d++) score += left[row * rank + d] * right[column * rank + d];
        weights[column] = score;
        if (score > most && this.allows(row, column)) most = score;
      }
      for (let column = 0; column < m; column++) {
        if (!this.allows(row, column)) weights[column] = 0;
        else if (softmax) sum += weights[column] = Math.exp(weights[column] - most);
      }
      if (softmax && sum) for (let column = 0; column < m; column++) weights[column] *= total / sum;
    }
    let column = 0, kept = 0, free = 0;
    for (let place = this.starts[row]; place < this.starts[row + 1]; place++) {
      column += this.gaps[place];
      weights[column] += signed(this.steps[place]) * step;
      kept += weights[column];
    }
    if (sparse && softmax) {
      for (column = 0; column < m; column++) free += !weights[column] && this.allows(row, column);
      const even = clamp((total - kept) / (free || 1), 0, step / 1.9);
      for (column = 0; column < m; column++) if (!weights[column] && this.allows(row, column)) weights[column] = even;
    }
    return weights;
  }

  // All weights, (n, m).
  matrix() {
    if (this.all && this.made === this.changes) return this.all;
    this.made = this.changes;
    this.all = new Float32Array(this.n * this.m);
    for (let row = 0; row < this.n; row++) this.all.set(this.row(row), row * this.m);
    return this.all;
  }
}
