// Tokens as running text, each shaded by one number; hovering tells it, a click or Enter chooses the token.
import { inLine, keepFocus, make, set } from "../../attention_core/attention/view/prelude.js";

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".root"), { tokens, hint } = data;
  root.tokens ??= make(root, "div", "tokens");
  root.note ??= make(root, "p", "note");
  const grew = tokens.length === root.count + 1;
  root.count = tokens.length;
  set(root.tokens, { role: "group", "aria-label": data.label });
  root.tokens.style.setProperty("--shade", data.colour);
  root.tokens.classList.toggle("many", tokens.length > 80);
  keepFocus(root, () => {
    root.tokens.replaceChildren();
    const say = tokens.map(({ text, note }) => [text.trim() || "space", note]);
    const buttons = tokens.map(({ text, share, written }, place) => {
      const isNewest = grew && place === tokens.length - 1;
      const button = make(root.tokens, "button", {
        class: `${written ? "written" : ""}${isNewest ? " newest" : ""}`,
        "aria-pressed": place === data.chosen, "aria-label": say[place].join(", "),
      }, text);
      button.style.setProperty("--share", share);
      return button;
    });
    const look = (place) => { root.note.textContent = place === null ? hint : say[place].join(": "); };
    inLine(buttons, look, (place) => setStateValue("chosen", { place, count: tokens.length, at: Date.now() }));
    look(null);
  });
  if (grew) root.tokens.scrollTop = root.tokens.scrollHeight;
}
