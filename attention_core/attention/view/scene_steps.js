// The steps of a scene: when each begins, and how far its motions have come at a time. The caption of a step is there before
// its motion; then it rests until the next one begins.
import { clamp } from "./prelude.js";

const SECONDS = { vector: 5.6, exact: 4.2, evenly: 3.6, asks: 2.6, scores: 3.6, softmax: 4.6, takes: 4, says: 2.4, erase: 4.6 };
const TITLES = { vector: "without attention", exact: "dictionary", evenly: "all equal", asks: "asks", scores: "scores", softmax: "softmax", takes: "takes", says: "says", erase: "deletes" };
const BEFORE_NEXT = 0.05;  // seconds
export const STEP_NAMES = Object.keys(SECONDS);

// How far a motion between two times has come, from 0 to 1; it begins and ends slowly.
export const eased = (time, from, to) => {
  const share = clamp((time - from) / (to - from), 0, 1);
  return share * share * (3 - 2 * share);
};

export class Timeline {
  // `titles` of steps that have others here, and how long other steps are.
  constructor(names, titles = {}, seconds = SECONDS) {
    let at = 0;
    this.steps = names.map((name) => ({ name, title: titles[name] ?? TITLES[name], start: at, end: (at += seconds[name]) }));
    this.end = at;
    this.starts = Object.fromEntries(this.steps.map(({ name, start }) => [name, start]));
    // What a scene leaves out is over before it begins, or never comes.
    const last = STEP_NAMES.indexOf(names.at(-1));
    STEP_NAMES.forEach((name, index) => { this.starts[name] ??= index > last ? Infinity : -SECONDS[name]; });
  }

  indexAt(time) { return Math.max(0, this.steps.findLastIndex(({ start }) => time >= start)); }

  // Where a step rests: its motion is over.
  restOf(index) { return this.steps[index].end - (index < this.steps.length - 1 ? BEFORE_NEXT : 0); }

  // How far each motion has come; those of single keys are functions of a key's index, or of its rank by weight.
  progress(time, nKeys) {
    const { starts } = this, since = (name, from, to) => eased(time - starts[name], from, to);
    const scored = (index) => (index ? 1.5 + (1.1 * index) / nKeys : 0.6), taken = (rank) => 0.6 + (1.2 * rank) / nKeys;
    return {
      press: since("vector", 0.7, 1.9), vectorSays: since("vector", 2, 3.2), lost: since("vector", 3.4, 3.8),
      compare: since("exact", 0.6, 1.8), find: since("exact", 2.2, 2.8),
      open: since("asks", 0, 0.5), ask: since("asks", 0.7, 1.9),
      lift: since("scores", 0, 0.6), lie: since("scores", 0.1, 0.5), score: (index) => since("scores", scored(index), scored(index) + (index ? 0.4 : 0.8)),
      allScores: since("scores", 0.6, 2.9),
      grow: since("softmax", 0.8, 1.7), divide: since("softmax", 2.6, 3.2),
      box: since("takes", 0, 0.4), take: (rank) => since("takes", taken(rank), taken(rank) + 1.2), blend: since("takes", 3, 3.4),
      say: since("says", 0.4, 1), erase: since("erase", 0.6, 1.4),
    };
  }
}
