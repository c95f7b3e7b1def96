// Brings what a surprise has changed into view, once: where it is in view already, nothing moves. What fills the screen is
// scrolled to its start, at once.
import { wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

export default ({ data, parentElement }) => {
  const root = parentElement.querySelector(".root");
  if (root.dataset.key === data.key) return;
  root.dataset.key = data.key;
  const { block = "nearest" } = data, isAtOnce = block === "start" || wantsLessMotion();
  document.querySelector(`.st-key-${data.key}`)?.scrollIntoView({ block, behavior: isAtOnce ? "auto" : "smooth" });
};
