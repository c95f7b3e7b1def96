// A sentence shaded by its weights, and beside it one line of bars per word: its weight, what blocking it does to the
// answer, what removing it does. Hovering either side lights the other; a click or Enter on a word tells Python.
const make = (parent, tag, className = "", text = "") => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return parent.appendChild(node);
};
const percent = (share) => `${(100 * share).toFixed(Math.abs(share) >= 0.0995 || share === 0 ? 0 : 1)} %`;
const signed = (change) => `${change >= 0.005 ? "+" : change <= -0.005 ? "−" : ""}${Math.abs(change).toFixed(2)}`;
const logit = (share) => Math.log(Math.max(share, 1e-7) / Math.max(1 - share, 1e-7));
const isDark = (root) => {
  const parts = getComputedStyle(root).getPropertyValue("--st-background-color").match(/[0-9a-f]{2}/gi) ?? [];
  return parts.length >= 3 && parts.slice(0, 3).reduce((sum, part) => sum + parseInt(part, 16), 0) < 384;
};

class View {
  constructor(root) {
    this.root = root;
    const left = make(root, "div", "left");
    this.sentence = make(left, "div", "sentence");
    this.sentence.setAttribute("role", "group");
    this.sentence.setAttribute("aria-label", "The sentence; press a word to block it");
    this.scale = make(left, "div", "scale");
    this.tip = make(left, "p", "tip");
    this.tip.setAttribute("aria-live", "polite");
    this.bars = make(root, "div", "bars");
    this.sequence = 0;
  }

  adopt(data, tell) {
    this.tell = tell;
    this.root.classList.toggle("dark", isDark(this.root));
    const form = JSON.stringify(data);
    if (form === this.form) return;
    this.form = form;
    this.data = data;
    const focused = this.words?.indexOf(this.sentence.getRootNode().activeElement) ?? -1;
    this.build();
    if (focused >= 0) this.words[Math.min(focused, this.words.length - 1)]?.focus({ preventScroll: true });
  }

  build() {
    const { words, weights, blocked, order, uniform } = this.data;
    this.most = Math.max(uniform, ...weights);
    this.sentence.replaceChildren();
    this.sentence.classList.toggle("many", words.length > 40);
    this.words = words.map((word, place) => {
      const node = make(this.sentence, "button", `word${blocked.includes(place) ? " blocked" : ""}`, word);
      node.type = "button";
      node.setAttribute("aria-pressed", String(blocked.includes(place)));
      node.setAttribute("aria-label", `${word}, weight ${percent(weights[place])}`);
      node.style.setProperty("--w", String(weights[place] / this.most));
      node.onpointerenter = () => this.look(place);
      node.onpointerleave = () => this.look(null);
      node.onfocus = () => this.look(place);
      node.onblur = () => this.look(null);
      node.onclick = () => { this.sequence += 1; this.tell({ place, sequence: this.sequence, at: Date.now() }); };
      node.onkeydown = (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        this.words[place + by]?.focus();
      };
      return node;
    });
    this.scale.replaceChildren();
    make(this.scale, "span", "", "weight 0");
    const ramp = make(this.scale, "i");
    make(ramp, "b").style.left = `calc(${(100 * uniform) / this.most}% - 1px)`;
    make(this.scale, "span", "", `${percent(this.most)}; the mark: 1/n = ${percent(uniform)}`);
    this.bars.replaceChildren();
    const head = make(this.bars, "div", "row head");
    make(head, "span", "name", "word");
    make(head, "span", "", "weight");
    make(head, "span", "", "blocked: change of log-odds");
    make(head, "span", "", "removed: change of log-odds");
    this.rows = [];
    const now = logit(this.data.positive), odds = (changes) => changes.map((one) => logit(this.data.positive + one) - now);
    const ifBlocked = odds(this.data.ifBlocked), ifRemoved = odds(this.data.ifRemoved);
    const widest = Math.max(0.2, ...ifBlocked.map(Math.abs), ...ifRemoved.map(Math.abs));
    for (const place of order) {
      const row = make(this.bars, "div", `row${blocked.includes(place) ? " blocked" : ""}`);
      make(row, "span", "name", words[place]);
      const bar = make(row, "div", "bar weight"), share = weights[place] / this.most;
      make(bar, "i").style.width = `${72 * share}%`;
      make(bar, "u").style.left = `${(72 * uniform) / this.most}%`;
      make(bar, "span", "", blocked.includes(place) ? "blocked" : percent(weights[place])).style.left = `${72 * share}%`;
      this.change(row, ifBlocked[place], widest);
      this.change(row, ifRemoved[place], widest);
      row.onpointerenter = () => this.look(place);
      row.onpointerleave = () => this.look(null);
      this.rows[place] = row;
    }
    this.look(null);
  }

  change(row, change, widest) {
    const bar = make(row, "div", "bar change"), length = (46 * Math.abs(change)) / widest, line = make(bar, "i", change > 0 ? "up" : "down");
    line.style.width = `${length}%`;
    line.style.left = `${change > 0 ? 50 : 50 - length}%`;
    const text = make(bar, "span", "", signed(change));
    text.style[change > 0 ? "right" : "left"] = "50%";  // on the free side, where it always has room
  }

  look(place) {
    this.words.forEach((node, at) => node.classList.toggle("lit", at === place));
    this.rows.forEach((node, at) => node.classList.toggle("lit", at === place));
    const { words, weights, uniform, ifBlocked, ifRemoved, positive, blocked, turned } = this.data;
    let parts;
    if (place === null) {
      parts = [["", "Hover a word for its numbers. Click one to block it: attention may then not look at it, and the answer changes."]];
    } else {
      parts = [["b", words[place]]];
      if (turned[place]) parts.push(["", `, read as ${turned[place]}`]);
      if (blocked.includes(place)) {
        parts.push(["", ": blocked, its weight is exactly 0. Click to give it back."]);
      } else {
        parts.push(["", `: weight ${percent(weights[place])}, ${(weights[place] / uniform).toFixed(1)} times its even share. `],
          ["", `“Positive” is at ${percent(positive)}; it would be ${percent(positive + ifBlocked[place])} with this word blocked, `],
          ["", `${percent(positive + ifRemoved[place])} without it.`]);
      }
    }
    this.tip.replaceChildren(...parts.map(([tag, text]) => {
      if (!tag) return document.createTextNode(text);
      const node = document.createElement(tag);
      node.textContent = text;
      return node;
    }));
  }
}

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".root");
  root.view ??= new View(root);
  root.view.adopt(data, (message) => setStateValue("pressed", message));
}
