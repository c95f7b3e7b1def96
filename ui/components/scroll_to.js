// Brings what a surprise has changed into view, once: where it is in view already, nothing moves.
import { wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

export default ({ data, parentElement }) => {
  const root = parentElement.querySelector(".root");
  if (root.dataset.key === data.key) return;
  root.dataset.key = data.key;
  const calm = wantsLessMotion();
  document.querySelector(`.st-key-${data.key}`)?.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
};
