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

// Scores without learned numbers; the others come from Python.
const SCORES = {
  dot: ({ dot }) => dot,
  "scaled dot": ({ dot }) => dot / Math.SQRT2,
  cosine: ({ cosine }) => cosine,
  "L2 distance": ({ distance }) => -(distance ** 2) / 2,
};

// The scores of keys by each of some names, null for a name that Python computes.
export const scoresOf = ([q, ...keys], names) => names.map((name) => SCORES[name] && keys.map((key) => SCORES[name](geometry(q, key)))).map((row) => row ?? null);
