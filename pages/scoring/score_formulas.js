// The scores that have no learned numbers, as geometry of a query and its keys in a plane.
import { clamp } from "../../attention_core/attention/view/prelude.js";

// A key against the query; the angle of a vector of length 0 is null.
export const geometry = (q, k) => {
  const dot = q[0] * k[0] + q[1] * k[1], lengthQ = Math.hypot(...q), lengthK = Math.hypot(...k);
  const defined = lengthQ > 1e-9 && lengthK > 1e-9;
  const cosine = defined ? clamp(dot / (lengthQ * lengthK), -1, 1) : 0;
  const distance = Math.hypot(q[0] - k[0], q[1] - k[1]);
  return { dot, distance, lengthQ, lengthK, cosine, degrees: defined ? (Math.acos(cosine) * 180) / Math.PI : null };
};

const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, value, at) => sum + value * vector[at], 0));
const sumOf = (numbers, weights) => numbers.reduce((sum, number, at) => sum + number * weights[at], 0);

// Of a query and its learned numbers a score as a function of the key; others come from Python.
const SCORES = {
  dot: (q) => (k) => sumOf(q, k),
  "scaled dot": (q) => (k) => sumOf(q, k) / Math.SQRT2,
  general: (q, { W }) => (k) => sumOf(q, times(W, k)),
  cosine: (q) => (k) => geometry(q, k).cosine,
  additive: (q, { W_q, W_k, v }) => {
    const ofQuery = times(W_q, q);
    return (k) => sumOf(times(W_k, k).map((sum, at) => Math.tanh(sum + ofQuery[at])), v);
  },
  concat: (q, { W, v }) => (k) => sumOf(times(W, [...q, ...k]).map(Math.tanh), v),
  "L2 distance": (q) => (k) => -(geometry(q, k).distance ** 2) / 2,
};

// Of that name, null where Python computes it.
export const scoreOf = (name, q, parameters) => SCORES[name]?.(q, parameters) ?? null;
