// A sentence shaded by its weights, and beside it one line of bars per word: its weight, what blocking it does to the
// answer, what removing it does. Hovering either side lights the other; a click or Enter on a word tells Python.
const signed = (change) => `${change >= 0.005 ? "+" : change <= -0.005 ? "−" : ""}${Math.abs(change).toFixed(2)}`;
const logit = (share) => Math.log(Math.max(share, 1e-7) / Math.max(1 - share, 1e-7));

class WeighedWords {
  constructor(root) {
    const left = make(root, "div", "left"), label = "The sentence; press a word to block it";
    this.sentence = make(left, "div", { class: "sentence", role: "group", "aria-label": label });
    this.scale = make(left, "div", "scale");
    this.tip = make(left, "p", { class: "tip", "aria-live": "polite" });
    this.bars = make(root, "div", "bars");
  }

  adopt(data, tell) {
    this.tell = tell;
    if (!isNew(this, data)) return;
    this.data = data;
    keepFocus(this.sentence, () => this.build());
  }

  build() {
    const { words, weights, blocked, uniform } = this.data, most = Math.max(uniform, ...weights);
    this.sentence.replaceChildren();
    this.sentence.classList.toggle("many", words.length > 40);
    this.words = words.map((word, place) => {
      const isBlocked = blocked.includes(place);
      const node = make(this.sentence, "button", {
        class: `word${isBlocked ? " blocked" : ""}`,
        "aria-pressed": isBlocked, "aria-label": `${word}, weight ${asPercent(weights[place])}`,
      }, word);
      node.style.setProperty("--w", weights[place] / most);
      return node;
    });
    inLine(this.words, (place) => this.look(place), (place) => this.tell({ place }));
    this.scale.replaceChildren();
    make(this.scale, "span", "", "weight 0");
    make(make(this.scale, "i"), "b").style.left = `calc(${(100 * uniform) / most}% - 1px)`;
    make(this.scale, "span", "", `${asPercent(most)}; the mark: 1/n = ${asPercent(uniform)}`);
    this.buildBars(most);
    this.look(null);
  }

  buildBars(most) {
    const { words, weights, blocked, order, uniform, positive } = this.data;
    this.bars.replaceChildren();
    const head = make(this.bars, "div", "row head");
    make(head, "span", "name", "word");
    for (const title of ["weight", "blocked: change of log-odds", "removed: change of log-odds"]) make(head, "span", "", title);
    const odds = (changes) => changes.map((one) => logit(positive + one) - logit(positive));
    const ifBlocked = odds(this.data.ifBlocked), ifRemoved = odds(this.data.ifRemoved);
    const widest = Math.max(0.2, ...ifBlocked.map(Math.abs), ...ifRemoved.map(Math.abs));
    this.rows = [];
    for (const place of order) {
      const isBlocked = blocked.includes(place), row = make(this.bars, "div", `row${isBlocked ? " blocked" : ""}`);
      make(row, "span", "name", words[place]);
      const bar = make(row, "div", "bar weight");
      make(bar, "i").style.width = `${(72 * weights[place]) / most}%`;
      make(bar, "u").style.left = `${(72 * uniform) / most}%`;
      make(bar, "span", "", isBlocked ? "blocked" : asPercent(weights[place]));
      this.addChange(row, ifBlocked[place], widest);
      this.addChange(row, ifRemoved[place], widest);
      row.onpointerenter = () => this.look(place);
      row.onpointerleave = () => this.look(null);
      this.rows[place] = row;
    }
  }

  addChange(row, change, widest) {
    const isUp = change > 0, bar = make(row, "div", "bar change"), length = (46 * Math.abs(change)) / widest;
    Object.assign(make(bar, "i", isUp ? "up" : "down").style, { width: `${length}%`, left: `${isUp ? 50 : 50 - length}%` });
    make(bar, "span", "", signed(change)).style[isUp ? "right" : "left"] = "50%";  // on the free side, which has room
  }

  look(place) {
    for (const nodes of [this.words, this.rows]) nodes.forEach((node, at) => node.classList.toggle("lit", at === place));
    this.tip.replaceChildren(...this.told(place));
  }

  told(place) {
    if (place === null) {
      return ["Hover a word for its numbers. Click one to block it: attention may then not look at it, and the answer may change."];
    }
    const { words, weights, uniform, ifBlocked, ifRemoved, positive, blocked, turned } = this.data;
    const word = [bold(words[place]), turned[place] ? `, read as ${turned[place]}` : ""];
    if (blocked.includes(place)) return [...word, ": blocked, its weight is exactly 0. Click to give it back."];
    return [
      ...word, `: weight ${asPercent(weights[place])}, ${(weights[place] / uniform).toFixed(1)} times its even share. `,
      `“Positive” is at ${asPercent(positive)}; it would be ${asPercent(positive + ifBlocked[place])} with this word blocked, `,
      `${asPercent(positive + ifRemoved[place])} without it.`,
    ];
  }
}

export default shownBy(WeighedWords, "pressed");
