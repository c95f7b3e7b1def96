// Where everything of a scene stands: keys above, the box of what is taken, queries below it; on a narrow screen keys are rows
// and the box is beside them. Lengths are pixels of the page; words and places stay while the steps come.
import { clamp } from "./prelude.js";

export const NARROW = 560;
export const MANY = 16;  // keys, beyond which a picture is crowded
const SMALLEST = 14, SMALLEST_CELL = 36, RIM = 8, LABEL = 5;  // letters of a label that stands beside the columns
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const isJoint = (sides) => sum(sides) < 2;  // with a neighbour that is of the same word

// The largest size of letters at which words fit a line, each with some room beside it.
const fittingSize = (lengths, room, beside, largest) =>
  clamp((room - beside * lengths.length) / sum(lengths), SMALLEST, largest);

// Words in lines, each in the middle; `height` is that of a line. Those `joined` go on with the word before them.
export const inLines = (widths, gap, room, top, height, joined = []) => {
  const lines = [[]], gapBefore = (index) => (joined.includes(index) ? 0 : gap);
  let used = 0;
  widths.forEach((width, index) => {
    if (used + width > room && used) { lines.push([]); used = 0; }
    lines.at(-1).push(index);
    used += width + gapBefore(index + 1);
  });
  const places = [];
  lines.forEach((line, number) => {
    const total = line.reduce((sum, index) => sum + widths[index] + gapBefore(index), -gapBefore(line[0]));
    let x = Math.max(0, (room - total) / 2);
    for (const index of line) {
      places[index] = { x, y: top + number * height, w: widths[index] };
      x += widths[index] + gapBefore(index + 1);
    }
  });
  return { places, bottom: top + lines.length * height };
};

export class SceneLayout {
  // `glosses` are what queries mean, if they are there, `measure` gives the length of a text in letters of one pixel, `least`
  // is the smallest letters of a lecture; with `values` it is a table, of rows at any width. `joinedKeys` and `joinedQueries`
  // go on with the word before them.
  constructor({ width, keys, values, header, queries, glosses, measure, least, joinedKeys = [], joinedQueries = [] }) {
    const isCrowded = keys.length > MANY, [cell, beside] = isCrowded ? [32, 8] : [40, 14];
    const sidesOf = (index) => [joinedKeys.includes(index) ? 0 : 1, joinedKeys.includes(index + 1) ? 0 : 1];
    const besideOf = (index) => sidesOf(index).map((side) => (side * beside) / 2);
    const cellOf = (length, size, index) => Math.max(isJoint(sidesOf(index)) ? SMALLEST_CELL : cell, length * size + sum(besideOf(index)));
    Object.assign(this, { decimals: isCrowded ? 1 : 2, cellOf, sidesOf, besideOf });
    const letters = Math.max(SMALLEST, least), needed = LABEL * letters + sum(keys.map((key, index) => cellOf(measure(key), letters, index)));
    const isNarrow = Boolean(values) || width < NARROW || needed > width;
    Object.assign(this, { isNarrow, labels: queries, glosses, room: 0, n: keys.length, measure, smallest: Math.max(SMALLEST, least) });
    if (isNarrow) this.standInRows(width, keys, values, header);
    else this.standInColumns(width, keys);
    this.glossSize = Math.max(isNarrow ? SMALLEST : 18 * this.scale, this.smallest);
    this.queries = this.wordsBelow(queries, glosses, joinedQueries);
    this.height = this.queries.bottom + 6;
  }

  // The room beside the columns.
  leftOf() { return LABEL * this.smallest; }

  // Whether what a strip is stands below the label of the first ones.
  get hasLegend() { return !this.isNarrow; }

  standInColumns(width, keys) {
    const scale = (this.scale = clamp(width / 1150, 0.75, 1.4)), lengths = keys.map((key) => Math.max(1.4, this.measure(key)));
    const left = this.leftOf(scale, this.labels), cellsOf = (letters) => lengths.map((length, index) => this.cellOf(length, letters, index));
    let size = Math.max(fittingSize(lengths, width - left, 14, 32 * scale), this.smallest);
    while (size > this.smallest && left + sum(cellsOf(size)) > width) size = Math.max(this.smallest, size - 1);
    const natural = cellsOf(size);
    const needed = left + sum(natural), spare = Math.max(0, width - needed) / sum(natural.flatMap((_, index) => this.sidesOf(index)));
    const base = Math.max(178 * scale, 136 * scale + 2.2 * this.smallest), wordHeight = size * 1.45, stripTop = base + wordHeight + 8, box = { w: 176 * scale, h: 48 * scale };
    let x = left;
    Object.assign(this, { left, size, width: Math.max(width, needed), base, long: 136 * scale, room: 70 * scale, box });
    this.cells = natural.map((room, index) => {
      const sides = this.sidesOf(index), [before, after] = this.besideOf(index).map((beside, side) => beside + spare * sides[side]);
      const letters = room - sum(this.besideOf(index)), cell = { x: x + before + letters / 2, w: letters + 2 * Math.min(before, after), letters };
      x += before + letters + after;
      return cell;
    });
    const narrowest = Math.min(...this.cells.map(({ w }) => w)), numberSize = clamp(0.38 * narrowest, 13, 21 * scale);
    this.numberSize = this.cells.map(() => Math.max(numberSize, Math.min(this.smallest, 22)));
    this.words = this.cells.map(({ x: middle, w, letters }, index) => {
      const sides = this.sidesOf(index), [before, after] = isJoint(sides) ? sides.map((side) => letters / 2 + RIM * side) : [w / 2 - 2, w / 2 - 2];
      return { x: middle - before, y: base + 5, w: before + after, h: wordHeight };
    });
    this.strips = this.cells.map((cell) => ({ x: cell.x - this.stripWidth(cell) / 2, y: stripTop, w: this.stripWidth(cell), h: 17 * scale }));
    this.boxTop = stripTop + 17 * scale + 104 * scale;
    this.below = this.boxTop + box.h + 14 * scale;
  }

  columnWidth(cell) { return clamp(0.6 * cell.w, 18, 62 * this.scale); }

  stripWidth(cell) { return Math.min(cell.w - 8, 92 * this.scale); }

  standInRows(width, keys) {
    const n = keys.length, row = Math.max(n > 12 ? 27 : n > 10 ? 28 : 35, this.smallest + 7), size = Math.max(n > 16 ? 14 : n > 12 ? 15 : 17, this.smallest);
    const longest = Math.max(...keys.map((key) => this.measure(key) * size)), right = clamp(longest + 8, 64, 0.3 * width);
    const long = clamp(0.3 * width, 64, 260), box = { w: clamp(0.24 * width, 72, 200), h: 76 }, columnLeft = right + 8;
    Object.assign(this, { scale: 1, top: 4, bar: row * 0.62, size, width, row, right, long, box, columnLeft, numberSize: Array(n).fill(Math.max(15, this.smallest)) });
    this.words = keys.map((_, index) => ({ x: 0, y: this.top + index * row, w: right, h: row - 10 }));
    this.strips = keys.map((_, index) => ({ x: right - 60, y: this.top + index * row + row - 10, w: 60, h: 5 }));
    this.doorLeft = columnLeft + long + 5;
    this.numberEnd = columnLeft + long + 1;
    this.boxTop = Math.max(40, (n * row - box.h) / 2);
    this.below = n * row + 22;
  }

  // The places of words in the line of queries, and of what they mean; those of another network's words, too.
  wordsBelow(labels, glosses = [], joined = []) {
    const { isNarrow, scale, glossSize } = this, lengths = labels.map((label) => Math.max(0.9, this.measure(label)));
    const largest = isNarrow ? 19 : 32 * scale, beside = isNarrow ? 12 : 26;
    const size = Math.max(isNarrow ? (this.querySize ?? 18) : fittingSize(lengths, this.width, beside, largest), isNarrow ? 0 : 19 * scale, this.smallest);
    const widths = lengths.map((length, index) => {
      const nSides = 2 - joined.includes(index) - joined.includes(index + 1), rim = (isNarrow ? 5 : RIM) * nSides;
      return Math.max(length * size, glosses[index] ? this.measure(glosses[index]) * glossSize : 0) + rim;
    });
    const high = Math.round(size * 1.5) + 2, below = glosses.some(Boolean) ? Math.round(1.35 * glossSize) : 0;
    const { places, bottom } = inLines(widths, isNarrow ? 2 : 8, this.width, this.below, high + below + 4, joined);
    const belows = places.map((place) => ({ ...place, y: place.y + high, h: below }));
    return { size, places: places.map((place) => ({ ...place, h: high })), belows, bottom };
  }

  // The middle of the box for a query: above it, or beside the rows; `query` null = in the middle.
  boxMiddle(query) {
    const { box, width } = this, y = this.boxTop + box.h / 2;
    if (this.isNarrow) return { x: width - box.w / 2 - 2, y };
    const place = this.queries.places[query], x = place ? place.x + place.w / 2 : width / 2;
    return { x: clamp(x, box.w / 2 + 4, width - box.w / 2 - 4), y };
  }

  boxAt(middle) {
    const { w, h } = this.box;
    return { x: middle.x - w / 2, y: middle.y - h / 2, w, h };
  }

  rowMiddle(index) { return this.top + index * this.row + (this.row - 10) / 2 + 2; }

  // A key's column, full at a weight of 1, with room for a share of it, and what lies at the end of that.
  column(index, share = 1) {
    if (this.isNarrow) {
      return { x: this.columnLeft, y: this.rowMiddle(index) - this.bar / 2, w: share * this.long, h: this.bar };
    }
    const { x } = this.cells[index], wide = this.columnWidth(this.cells[index]);
    return { x: x - wide / 2, y: this.base - share * this.long, w: wide, h: share * this.long };
  }

  end(index, share) {
    const { x, y, w, h } = this.column(index, share);
    return this.isNarrow ? { x: x + w, y: y + h / 2 } : { x: x + w / 2, y };
  }

  // Which share of a column lies at a point.
  shareAt([x, y]) {
    return this.isNarrow ? (x - this.columnLeft) / this.long : (this.base - y) / this.long;
  }

  // The two ends of what goes out at a key, as wide as its weight.
  door(index, weight) {
    const { x, y, w, h } = this.strips[index];
    if (!this.isNarrow) return [{ x: x + (w * (1 - weight)) / 2, y: y + h + 3 }, { x: x + (w * (1 + weight)) / 2, y: y + h + 3 }];
    const middle = this.rowMiddle(index), half = (weight * this.bar) / 2;
    return [{ x: this.doorLeft, y: middle - half }, { x: this.doorLeft, y: middle + half }];
  }

  // The two ends of the gate of a box through which the weights from one sum to another go in.
  gate(box, from, to) {
    if (this.isNarrow) return [{ x: box.x, y: box.y + from * box.h }, { x: box.x, y: box.y + to * box.h }];
    return [{ x: box.x + from * box.w, y: box.y }, { x: box.x + to * box.w, y: box.y }];
  }

  // The four points of a curve from a door to a gate.
  curve(from, to) {
    const bend = (a, b, share) => a + (b - a) * share;
    if (this.isNarrow) return [from, { x: bend(from.x, to.x, 0.5), y: from.y }, { x: bend(from.x, to.x, 0.5), y: to.y }, to];
    return [from, { x: from.x, y: bend(from.y, to.y, 0.6) }, { x: to.x, y: bend(from.y, to.y, 0.4) }, to];
  }
}
