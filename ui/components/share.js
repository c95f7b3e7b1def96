// A button that copies the page's address, which is always current, and says what it did; another saves what moves on the page.
import { create, make } from "../../attention_core/attention/view/prelude.js";

const copyByHand = (text) => {  // where the browser offers no clipboard: pages that come without https
  const box = document.body.appendChild(create("textarea", { value: text }));
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  return done;
};

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  if (root.firstChild) return;
  const button = make(root, "button", { type: "button" }, "Share");
  const film = [...(window.attentionFilms ?? [])].find((film) => film.canBeSaved);
  if (film) make(root, "button", { type: "button", title: `Save a film of: ${film.title}` }, "Film").onclick = () => film.save();
  const said = make(root, "span", { role: "status" });
  button.onclick = async () => {
    const link = location.href, missing = new URLSearchParams(location.search).get(data.without);
    let done = true;
    try { await navigator.clipboard.writeText(link); } catch { done = copyByHand(link); }
    const length = `${link.length.toLocaleString("en")} characters`;
    said.textContent = !done ? "The browser does not let the page copy: take the link from the address bar."
      : missing ? `Link copied, but too long for ${missing}: take the session file.`
      : `Link copied, ${length}: it opens what you see.`;
  };
}
