// An element of a page that is not ours, in which a view keeps its own style.
import { make } from "./prelude.js";

export const shadowIn = (host, rules) => {
  const shadow = host.attachShadow({ mode: "open" });
  make(shadow, "style").textContent = rules;
  return shadow;
};
