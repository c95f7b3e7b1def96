// The likeliest next words as bars that are buttons: a click chooses the word.
const make = (parent, tag, className = "", text = "") => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return parent.appendChild(node);
};
const percent = (share) => (share >= 0.0995 ? `${(100 * share).toFixed(0)} %` : share >= 0.0005 ? `${(100 * share).toFixed(1)} %` : "< 0.1 %");

export default function (component) {
  const { data, parentElement, setStateValue } = component, root = parentElement.querySelector(".root");
  root.list ??= make(root, "ol");
  const held = root.list.getRootNode().activeElement;
  const place = [...root.list.querySelectorAll("button")].indexOf(held);
  root.list.replaceChildren();
  data.words.forEach(({ piece, text, share, said }) => {
    const button = make(make(root.list, "li"), "button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(said));
    button.setAttribute("aria-label", `${text}, ${percent(share)}${said ? ", the present choice" : ""}`);
    make(button, "span", "word", text);
    make(make(button, "span", "track"), "span", "bar").style.width = `${100 * share}%`;
    make(button, "span", "share", percent(share));
    button.onclick = () => setStateValue("chosen", { piece, after: data.after, at: Date.now() });
  });
  if (place >= 0) root.list.querySelectorAll("button")[place]?.focus({ preventScroll: true });
}
