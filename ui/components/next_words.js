// The likeliest next words, or numbers under names, as bars that are buttons: a click chooses one.
import { asPercent, keepFocus, make, minus } from "../../attention_core/attention/view/prelude.js";

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".root");
  keepFocus(root, () => {
    root.replaceChildren();
    for (const [name, value] of Object.entries(data.look ?? {})) root.style.setProperty(name, value);
    const list = make(root, "ol", data.about ? { "aria-label": data.about } : {});
    for (const { piece, text, share, from = 0, value } of data.words) {
      const said = piece === data.said, says = value === undefined ? asPercent(share) : minus(`${+value.toPrecision(3)}`);
      const button = make(make(list, "li"), "button", { "aria-pressed": said });
      make(button, "span", { class: "word", lang: data.lang ?? "en" }, text);
      const bar = make(make(button, "span", "track"), "span", "bar");
      [bar.style.marginLeft, bar.style.width] = [from, share].map((part) => `${100 * part}%`);
      make(button, "span", "share", says);
      button.onclick = () => setStateValue("chosen", { piece, after: data.after, at: Date.now() });
    }
  });
}
