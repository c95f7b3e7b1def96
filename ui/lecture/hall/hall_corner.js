// The lower right corner of a lecture: the address that phones open, how many have answered, and how the hall fared. It is laid
// over the page from a place of its own, as lecture.js does. The lecturer's key stays in this browser's storage.
import { asPercent, create, isNew, make } from "../../../attention_core/attention/view/prelude.js";

const KEY = "attention-hall", BEAT = 1500;

class Corner {
  constructor(style) {
    this.overlay = make(document.documentElement, "div", { id: "hall" });
    this.stage = this.overlay.attachShadow({ mode: "open" });
    this.stage.append(style);
    this.box = make(this.stage, "section", { class: "corner", "aria-label": "Questions to the hall" });
    this.sheet = make(this.stage, "div", { class: "sheet", role: "dialog", "aria-label": "How the hall answered" });
    this.poster = make(this.stage, "div", { class: "poster", role: "dialog", "aria-label": "The address for phones, large" });
    this.poster.onclick = () => this.poster.classList.remove("open");
    setInterval(() => this.refresh(), BEAT);
    new ResizeObserver(() => window.lecture?.waitForCalm()).observe(this.box);  // the page may stand where it has grown to
  }

  adopt({ room, refusal }, send) {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (room) localStorage.setItem(KEY, JSON.stringify({ code: room.code, key: room.key }));
    else if (stored && !this.hasAsked) { this.hasAsked = true; send("restore", stored); }
    this.overlay.hidden = false;
    if (!isNew(this, room, refusal)) return;
    this.room = room;
    this.box.replaceChildren();
    this.box.classList.toggle("open", Boolean(room));
    this.poster.classList.toggle("open", Boolean(room?.qr && this.isOpening));  // until the first answer, or a click
    this.isOpening = false;
    if (!room) {
      make(this.box, "button", "ask", "Ask the hall").onclick = () => { this.isOpening = true; send("open", true); };
      if (refusal) make(this.box, "p", "", refusal);
      return;
    }
    this.poster.replaceChildren();
    for (const box of [this.box, this.poster]) {
      if (room.qr) make(box, "div", { class: "code", role: "img", "aria-label": "QR code of the address" }).innerHTML = room.qr;
      make(box, "p", "", room.url ? room.url.replace(/^https?:\/\//, "").replace(room.code, "") : room.how);
      if (room.url) make(box, "p", "name", room.code);
    }
    this.bars = make(this.box, "div");
    this.count = make(this.box, "p", { class: "count", role: "status" });
    const line = make(this.box, "div", "line");
    make(line, "button", "", "Results").onclick = () => this.showResults();
    make(line, "button", "", "Close the room").onclick = () => { localStorage.removeItem(KEY); send("close", true); };
    this.refresh();
  }

  bar(parent, share, kind = "bar") { make(make(parent, "div", "track"), "div", { class: kind, style: `width: ${100 * share}%` }); }

  async fetchJson(path) {
    const answer = await fetch(`hall/${this.room.code}/${path}`, { headers: { "x-hall-key": this.room.key }, cache: "no-store" });
    return answer.ok ? answer.json() : null;
  }

  async refresh() {
    if (!this.room || this.overlay.hidden || document.hidden) return;
    const attendance = await this.fetchJson("attendance").catch(() => null);
    this.count.textContent = attendance ? `${attendance.answered} of ${attendance.present} answered` : "No connection";
    if (attendance?.answered) this.poster.classList.remove("open");
    this.bars.replaceChildren();
    const { options = [], counts, correct } = attendance ?? {}, max = Math.max(1, ...counts ?? []);
    if (!options.length) this.isOver = false;
    if (!this.isOver) options.forEach((option, index) => {
      make(this.bars, "p", "option", `${option}: ${counts[index]}`);
      this.bar(this.bars, counts[index] / max, correct.includes(index) ? "bar right" : "bar");
    });
  }

  // A lecturer goes on: what was answered makes room for what comes.
  goOn() {
    this.isOver = true;
    this.bars?.replaceChildren();
  }

  async showResults() {
    const results = await this.fetchJson("results").catch(() => null) ?? [];
    this.sheet.replaceChildren();
    this.sheet.classList.add("open");
    make(this.sheet, "h2", "", "How the hall answered");
    if (!results.length) make(this.sheet, "p", "", "Nothing has been asked yet.");
    for (const { page, question, answers, right } of results) {
      make(this.sheet, "p", "", `${page}: ${question}`);
      this.bar(this.sheet, answers ? right / answers : 0);
      make(this.sheet, "p", "figures", right === null ? `${answers} answers, not shown yet` : `${right} of ${answers} right${answers ? `, ${asPercent(right / answers)}` : ""}`);
    }
    const line = make(this.sheet, "div", "line");
    make(line, "button", "", "Save as CSV").onclick = () => this.save(results);
    make(line, "button", "", "Close").onclick = () => this.sheet.classList.remove("open");
  }

  // What begins like a formula would be one in a spreadsheet.
  save(results) {
    const cell = (value) => `"${String(value ?? "").replace(/^(?=[=+\-@])/, "'").replaceAll('"', '""')}"`;
    const names = ["page", "question", "answers", "right"];
    const lines = [names, ...results.map((result) => names.map((name) => result[name]))].map((line) => line.map(cell).join(","));
    const href = URL.createObjectURL(new Blob([lines.join("\r\n")], { type: "text/csv" }));
    create("a", { href, download: `hall-${this.room.code}.csv` }).click();
    URL.revokeObjectURL(href);
  }
}

export default ({ data, parentElement, setTriggerValue }) => {
  window.hall ??= new Corner(parentElement.querySelector("style").cloneNode(true));
  window.hall.adopt(data, setTriggerValue);
  return () => { window.hall.overlay.hidden = true; };
};
