// Two sentences below each other: a word's state is carried from the upper one into a word of the lower one, dragged by
// mouse or finger, or picked up and put down by clicks or by Enter; Escape lets it go.
import { boxOf, dragged, inLine, isNew, make, pointIn, set, shownBy } from "../../attention_core/attention/view/prelude.js";

class CarriedStates {
  constructor(root) {
    this.box = make(root, "div", "box");
    this.lines = make(root, "svg:svg", { "aria-hidden": true });
    this.note = make(root, "p", { class: "note", "aria-live": "polite" });
    this.box.onkeydown = (event) => { if (event.key === "Escape") this.pick(null); };
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  adopt(data, tell) {
    Object.assign(this, { data, tell });
    if (isNew(this, data.sentences)) {
      this.box.replaceChildren();
      this.rows = data.sentences.map(({ name, tokens }, side) => {
        const row = make(this.box, "div", { class: "row", role: "group", "aria-label": name });
        make(row, "b", "", name);
        return tokens.map((text) => make(row, "button", side ? "to" : "from", text.trim() || "space"));
      });
      inLine(this.rows[0], () => {}, (place) => this.pick(this.picked === place ? null : place));
      inLine(this.rows[1], () => {}, (place) => this.drop(place));
      this.rows[0].forEach((button, place) => dragged(button, {
        begin: (event) => Object.assign(this, { began: event, over: button }),
        go: (event) => {
          if (Math.hypot(event.x - this.began.x, event.y - this.began.y) < 6) return;
          if (this.picked !== place) this.pick(place);
          this.over = this.box.getRootNode().elementFromPoint(event.x, event.y);
          this.draw(event);
        },
        end: () => {
          if (this.over === button) return;
          this.drop(this.rows[1].indexOf(this.over));
          this.dropped = true;  // the click that follows picks nothing up
          setTimeout(() => { this.dropped = false; });
        },
      }));
    }
    this.pick(null);
  }

  pick(place) {
    if (this.dropped && place !== null) return;
    this.picked = place;
    this.rows[0].forEach((button, at) => set(button, { "aria-pressed": at === place }));
    const word = place === null ? "" : this.rows[0][place].textContent;
    this.note.textContent = word ? `Now the word in your sentence that is to have the state of ${word}.` : this.data.hint;
    this.draw();
  }

  drop(to) {
    if (this.picked !== null && to >= 0) this.tell({ from: this.picked, to });
    this.pick(null);
  }

  // What is carried, and what the pointer holds.
  draw(event) {
    this.lines.replaceChildren();
    const home = boxOf(this.lines), middle = (node) => { const box = boxOf(node); return box.x + box.width / 2 - home.x; };
    const line = (from, x, y, name) => {
      const top = boxOf(from).bottom - home.y;
      make(this.lines, "svg:path", { class: name, d: `M${middle(from)} ${top}C${middle(from)} ${(top + y) / 2} ${x} ${(top + y) / 2} ${x} ${y}` });
    };
    for (const [from, to] of this.data.carried) {
      const [start, end] = [this.rows[0][from], this.rows[1][to]];
      if (start && end) line(start, middle(end), boxOf(end).y - home.y, "");
    }
    if (event && this.picked !== null) line(this.rows[0][this.picked], ...pointIn(this.lines, event), "held");
  }
}

export default shownBy(CarriedStates, "carried");
