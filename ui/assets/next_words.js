// The likeliest next words as bars that are buttons: a click chooses the word.
const likely = (share) => (share < 0.0005 ? "< 0.1%" : asPercent(share));

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".root");
  keepFocus(root, () => {
    root.replaceChildren();
    const list = make(root, "ol");
    for (const { piece, text, share } of data.words) {
      const said = piece === data.said;
      const name = `${text}, ${likely(share)}${said ? ", the present choice" : ""}`;
      const button = make(make(list, "li"), "button", { "aria-pressed": said, "aria-label": name });
      make(button, "span", "word", text);
      make(make(button, "span", "track"), "span", "bar").style.width = `${100 * share}%`;
      make(button, "span", "share", likely(share));
      button.onclick = () => setStateValue("chosen", { piece, after: data.after, at: Date.now() });
    }
  });
}
