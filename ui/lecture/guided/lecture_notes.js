// The notes of a guided lecture, in a window that only the lecturer sees: it follows the hall's window and gives it its keys, in
// case the remote control reaches that window. What a reload would lose is kept: when it began, and a lecturer's own lecture.
const KEY = "attention-guided";
const stored = () => JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
const store = (changes) => sessionStorage.setItem(KEY, JSON.stringify({ ...stored(), ...changes }));

// Runs in the second window.
const follow = (name) => {
  const channel = new BroadcastChannel(name), at = (id) => document.getElementById(id);
  const span = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  const left = (seconds) => (seconds < 0 ? `${span(-seconds)} over` : `${span(seconds)} left`);
  const total = (minutes) => 60 * minutes.reduce((sum, minute) => sum + minute, 0);
  let item = null;
  const update = () => {
    at("clock").textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    if (!item) return;
    const elapsed = (Date.now() - item.began) / 1000;
    at("left").textContent = left(total(item.minutes) - elapsed);
    at("item").textContent = `this item: ${left(total(item.minutes.slice(0, item.number)) - elapsed)}`;
  };
  channel.onmessage = ({ data }) => {
    item = data;
    for (const id in data.texts) at(id).textContent = data.texts[id];
    update();
  };
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^(Page.*|Arrow(Left|Right)|[^ ])$/.test(event.key)) return;
    event.preventDefault();
    channel.postMessage({ key: event.key });
  });
  at("again").onclick = () => channel.postMessage({ began: Date.now() });
  setInterval(update, 500);
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
    if (!stored().name) store({ name: `attention-notes-${Math.random()}` });
    this.channel = new BroadcastChannel(stored().name);
    this.channel.onmessage = ({ data: { key, began } }) => {
      if (key) window.lecture.act(key.length === 1 ? key.toLowerCase() : key);
      if (began) store({ began });
      this.update();
    };
  }

  adopt(item, send) {
    this.item = item.texts ? item : null;
    if (!this.item) return send("restore", stored().text ?? "-");
    if (stored().lecture !== item.lecture) store({ lecture: item.lecture, began: Date.now() });
    if (item.text) store({ text: item.text });
    this.update();
  }

  update() { if (this.item) this.channel.postMessage({ ...this.item, text: "", began: stored().began }); }

  open() {
    if (this.item) window.open(URL.createObjectURL(new Blob([pageOf(stored().name)], { type: "text/html" })), stored().name, "popup, width=900, height=760");
  }
}

export default ({ data, setTriggerValue }) => {
  window.notes ??= new Notes();
  window.notes.adopt(data, setTriggerValue);
  return () => { window.notes.item = null; };
};
