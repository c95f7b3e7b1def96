// Tokens as running text, each shaded by one number; hovering tells it, a click or Enter chooses the token.
const make = (parent, tag, className = "", text = "") => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return parent.appendChild(node);
};

export default function (component) {
  const { data, parentElement, setStateValue } = component, root = parentElement.querySelector(".root");
  root.tokens ??= make(root, "div", "tokens");
  root.note ??= make(root, "p", "note");
  const held = root.tokens.getRootNode().activeElement, place = [...root.tokens.children].indexOf(held);
  const grew = root.count !== undefined && data.tokens.length === root.count + 1;
  root.count = data.tokens.length;
  root.tokens.setAttribute("role", "group");
  root.tokens.setAttribute("aria-label", data.label);
  root.tokens.classList.toggle("many", data.tokens.length > 80);
  root.tokens.replaceChildren();
  root.note.textContent = data.hint;
  const nodes = data.tokens.map(({ text, share, note, colour, written }, at) => {
    const node = make(root.tokens, "button", `${written ? "written" : ""}${grew && at === data.tokens.length - 1 ? " newest" : ""}`, text);
    node.type = "button";
    node.style.setProperty("--share", String(share));
    node.style.setProperty("--shade", colour);
    node.setAttribute("aria-pressed", String(at === data.chosen));
    node.setAttribute("aria-label", `${text.trim() || "space"}, ${note}`);
    const look = () => { root.note.textContent = `${text.trim() || "space"}: ${note}`; };
    node.onpointerenter = look;
    node.onfocus = look;
    node.onpointerleave = node.onblur = () => { root.note.textContent = data.hint; };
    node.onclick = () => setStateValue("chosen", { place: at, count: data.tokens.length, at: Date.now() });
    node.onkeydown = (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      nodes[at + by]?.focus();
    };
    return node;
  });
  if (place >= 0) nodes[Math.min(place, nodes.length - 1)]?.focus({ preventScroll: true });
  if (grew) root.tokens.scrollTop = root.tokens.scrollHeight;
}
