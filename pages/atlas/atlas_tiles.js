// The atlas' tiles in the browser: unpacked, kept for as long as there is room, and asked for, one message at a time.
import { inflate } from "../../attention_core/attention/view/prelude.js";

const MASKED = 0, ZERO = 1, UNKNOWN = 2, FIRST = 3;
const MAX_TILES = 160, MAX_CACHES = 2, MAX_ASKED = 12, PATIENCE = 5000, POLL = 1500, LABELS_AT_ONCE = 512;

export const keyOf = (level, row, col) => `${level}/${row}/${col}`;

// The tiles and labels of one matrix. A Map remembers its order: what was used last stands last.
class TileCache {
  constructor() {
    this.tiles = new Map();
    this.labels = { rows: new Map(), columns: new Map() };
  }

  get(key) {
    const tile = this.tiles.get(key);
    if (tile) this.put(key, tile);
    return tile;
  }

  put(key, tile) {
    this.tiles.delete(key);
    this.tiles.set(key, tile);
    if (this.tiles.size > MAX_TILES) this.tiles.delete(this.tiles.keys().next().value);
  }

  label(axis, position) {
    return this.labels[axis].get(Math.floor(position / LABELS_AT_ONCE))?.[position % LABELS_AT_ONCE];
  }
}

const caches = new Map();  // of the module, so that coming back to the page or to a matrix costs nothing
export const cacheOf = (atlas) => {
  const cache = caches.get(atlas) ?? new TileCache();
  caches.delete(atlas);
  caches.set(atlas, cache);
  if (caches.size > MAX_CACHES) caches.delete(caches.keys().next().value);
  return cache;
};

// A tile's codes: 0 masked, 1 exactly zero, 2 not surveyed, else log2 of the value in equal steps from `low`.
export const unpack = async ({ packed, ...header }) => {
  const planes = await inflate(packed), n = header.height * header.width;
  const codes = header.n_bytes === 2 ? new Uint16Array(n) : new Uint32Array(n);
  for (let plane = 0; plane < header.n_bytes; plane++) {
    const from = plane * n, shift = 8 * plane;
    for (let i = 0; i < n; i++) codes[i] |= planes[from + i] << shift;
  }
  return { ...header, codes, top: codes.reduce((max, code) => Math.max(max, code), 0) };
};
export const weightOf = (tile, code) => (code < FIRST ? 0 : 2 ** (tile.low + tile.step * (code - FIRST)));

// A message of Python: four bytes with the length of its JSON part, that part, then the tiles.
export const readMessage = (bytes) => {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let at = 4 + length;
  for (const tile of header.tiles) {
    tile.packed = bytes.slice(at, at + tile.length);
    at += tile.length;
  }
  return header;
};

// Asks Python for what the map lacks. One question is open at a time; while it is, newer wishes replace older ones.
export class Desk {
  constructor(onPatience) {
    this.onPatience = onPatience;
    this.who = Math.random().toString(36).slice(2, 10);
    this.sequence = 0;
    this.open = null;
    this.refused = new Map();
  }

  answered([who, sequence]) {
    if (!this.open || who !== this.who || sequence < this.open.sequence) return;
    clearTimeout(this.timer);
    this.last = this.open;
    this.open = null;
  }

  // A tile that an answer left out is asked for once more at once, since a newer message may have replaced the one that
  // held it; after that only now and then.
  leaveOut(arrived, later) {
    for (const key of this.last?.tiles ?? []) {
      if (arrived.has(key)) this.refused.delete(key);
      else if (!later.includes(key)) this.refused.set(key, { times: (this.refused.get(key)?.times ?? 0) + 1, since: performance.now() });
    }
    this.last = null;
    clearTimeout(this.retry);
    if (this.refused.size) this.retry = setTimeout(() => this.onPatience(), PATIENCE + 50);
  }

  mayAsk(key) {
    const refused = this.refused.get(key);
    return !refused || refused.times < 2 || performance.now() - refused.since > PATIENCE;
  }

  // Nothing is asked for any more.
  close() {
    clearTimeout(this.timer);
    clearTimeout(this.retry);
  }

  ask(atlas, tiles, labels, view) {
    if (this.open) return false;
    this.sequence += 1;
    this.open = { sequence: this.sequence, tiles };
    this.tell({ who: this.who, sequence: this.sequence, atlas, tiles, labels, view });
    this.timer = setTimeout(() => { this.open = null; this.onPatience(); }, PATIENCE);
    return true;
  }
}

export { FIRST, LABELS_AT_ONCE, MASKED, MAX_ASKED, POLL, UNKNOWN, ZERO };
