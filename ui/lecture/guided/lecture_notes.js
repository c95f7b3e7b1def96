// The notes of a guided lecture, in a window that only the lecturer sees: it follows the hall's window and gives it its keys, in
// case the remote control reaches that window. What a reload would lose is kept: when it began, and a lecturer's own lecture.
const KEPT = "attention-guided";
const kept = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
const keep = (more) => sessionStorage.setItem(KEPT, JSON.stringify({ ...kept(), ...more }));

// Runs in the second window.
const follow = (name) => {
  const channel = new BroadcastChannel(name), at = (id) => document.getElementById(id);
  const span = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  const left = (seconds) => (seconds < 0 ? `${span(-seconds)} over` : `${span(seconds)} left`);
  const total = (minutes) => 60 * minutes.reduce((sum, one) => sum + one, 0);
  let shown = null;
  const tell = () => {
    at("clock").textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    if (!shown) return;
    const gone = (Date.now() - shown.began) / 1000;
    at("left").textContent = left(total(shown.minutes) - gone);
    at("item").textContent = `this item: ${left(total(shown.minutes.slice(0, shown.number)) - gone)}`;
  };
  channel.onmessage = ({ data }) => {
    shown = data;
    for (const id in data.texts) at(id).textContent = data.texts[id];
    tell();
  };
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^(Page.*|Arrow(Left|Right)|[^ ])$/.test(event.key)) return;
    event.preventDefault();
    channel.postMessage({ key: event.key });
  });
  at("again").onclick = () => channel.postMessage({ began: Date.now() });
  setInterval(tell, 500);
  channel.postMessage({});
};

const pageOf = (name) => `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Notes</title>
<style>body { margin: 1.2rem 1.6rem; font: 1.35rem/1.45 system-ui, sans-serif; } header { display: flex; gap: 1.5rem; align-items: baseline; }
#left { font-size: 2.2rem; } #again { margin-left: auto; font: inherit; font-size: 1rem; } h1 { font-size: 1.5rem; margin: 0.3rem 0; } #notes { white-space: pre-line; }
#place, #next, #item { opacity: 0.75; font-size: 1.1rem; } #question { font-weight: 600; }</style>
<header><b id="left"></b><span id="item"></span><span id="clock"></span><button id="again">Start the time again</button></header>
<p id="place"></p><h1 id="sentence"></h1><p id="question"></p><div id="notes"></div><p id="next"></p>
<script>(${follow})(${JSON.stringify(name)});</script></html>`;

class Notes {
  constructor() {
    if (!kept().name) keep({ name: `attention-notes-${Math.random()}` });
    this.channel = new BroadcastChannel(kept().name);
    this.channel.onmessage = ({ data: { key, began } }) => {
      if (key) window.lecture.act(key.length === 1 ? key.toLowerCase() : key);
      if (began) keep({ began });
      this.tell();
    };
  }

  adopt(shown, send) {
    this.shown = shown.texts ? shown : null;
    if (!this.shown) return send("restore", kept().text ?? "-");
    if (kept().lecture !== shown.lecture) keep({ lecture: shown.lecture, began: Date.now() });
    if (shown.text) keep({ text: shown.text });
    this.tell();
  }

  tell() { if (this.shown) this.channel.postMessage({ ...this.shown, text: "", began: kept().began }); }

  open() {
    if (this.shown) window.open(URL.createObjectURL(new Blob([pageOf(kept().name)], { type: "text/html" })), kept().name, "popup, width=900, height=760");
  }
}

export default ({ data, setTriggerValue }) => {
  window.notes ??= new Notes();
  window.notes.adopt(data, setTriggerValue);
  return () => { window.notes.shown = null; };
};
