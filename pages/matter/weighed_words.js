// A sentence; above each word a bar for its weight, below it one for how the answer moves when the word is deleted, on one
// scale: if weights told what words do, the two would mirror each other. A click or Enter on a word tells Python to cut it;
// its bar is dragged, or moved by arrow keys up and down, to another weight.
import { asPercent, bold, boxOf, clamp, create, dragged, inLine, isNew, keepFocus } from "../../attention_core/attention/view/prelude.js";
import { make, minus, placeOn, pointedIn, pointIn, shownBy } from "../../attention_core/attention/view/prelude.js";

const points = (change) => minus(`${change >= 0.0005 ? "+" : ""}${(100 * change).toFixed(Math.abs(change) < 0.0095 ? 1 : 0)}`);

class WeighedWords {
  constructor(root) {
    this.sentence = make(root, "div", { class: "sentence", role: "group", "aria-label": "The sentence; press a word to cut it, arrow keys up and down change its weight" });
    this.tip = make(root, "p", { class: "tip", "aria-live": "polite" });
    this.pointed = pointedIn(root, (pointed) => this.light(placeOn(pointed, "words", true)));
  }

  adopt(data, tell) {
    this.tell = tell;
    if (!isNew(this, data)) return;
    this.data = data;
    keepFocus(this.sentence, () => this.build());
  }

  build() {
    const { words, weights, ifRemoved, cut, uniform, before } = this.data;
    const largest = Math.max(uniform, ...[weights, ifRemoved, before].flat().map(Math.abs)), isAlone = words.length === 1;
    this.sentence.replaceChildren();
    this.sentence.classList.toggle("many", words.length > 24);
    const names = make(this.sentence, "div", "cell names"), even = make(names, "div", "above");
    make(even, "u").style.setProperty("--share", uniform / largest);
    make(even, "small", "", `even share ${asPercent(uniform)}`).style.setProperty("--share", uniform / largest);
    const captions = make(names, "p", "word");
    make(captions, "span", "", "attention it gets ↑");
    make(captions, "span", "", "change if deleted ↓");
    this.cells = words.map((word, index) => {
      const isCut = cut.includes(index), change = ifRemoved[index], cell = make(this.sentence, "div", "cell");
      const above = make(cell, "div", "above"), weight = isCut ? "cut" : asPercent(weights[index]);
      const label = make(above, "span", "", weight), bar = make(above, "i");
      bar.style.setProperty("--share", weights[index] / largest);
      make(above, "u").style.setProperty("--share", uniform / largest);
      make(cell, "button", {
        class: `word${isCut ? " cut" : ""}`, "aria-pressed": isCut,
        "aria-label": `${word}, weight ${asPercent(weights[index])}${isAlone ? "" : `, if deleted ${points(change)} points`}`,
      }, word);
      const below = make(cell, "div", `below ${change > 0 ? "up" : "down"}`);
      make(below, "i").style.setProperty("--share", Math.abs(change) / largest);
      if (before.length) make(above, "s").style.setProperty("--share", before[index] / largest);
      make(below, "span", "", isAlone ? "" : points(change));
      this.drag(bar, label, index, largest);
      return cell;
    });
    const buttons = this.cells.map((cell) => cell.querySelector("button"));
    const point = (index, event) => (index === null ? this.pointed.leave(event) : this.pointed.look([["words", index]]));
    const weigh = (index, change) => this.tell({ place: index, weight: clamp(weights[index] + change, 0, 1) });
    inLine(buttons, point, (index) => this.tell({ place: index }), weigh);
    this.light(placeOn(this.pointed.places(), "words", true));
  }

  drag(bar, label, index, largest) {
    let weight = null;
    const onMove = (event) => {
      const half = bar.parentElement, tall = boxOf(half).height - boxOf(label).height;
      weight = clamp(largest * (boxOf(half).height - pointIn(half, event)[1]) / tall, 0, 1);
      bar.style.setProperty("--share", weight / largest);
      label.textContent = asPercent(weight);
    };
    dragged(bar, { go: onMove, end: () => { if (weight !== null) this.tell({ place: index, weight }); } });
  }

  light(index) {
    if (index >= this.cells.length) index = null;
    this.cells.forEach((cell, number) => cell.classList.toggle("lit", number === index));
    this.tip.replaceChildren(...this.describe(index));
  }

  describe(index) {
    if (index === null) return [
      create("span", { className: "narrow", textContent: "Above: weight, dashed an even share. " }), `Below: points by which “positive” moves when the word is deleted${this.data.before.length ? ", as learned" : ""}. Click a word to keep attention from it, or drag its bar.`,
      this.data.before.length ? " Outlined: before." : "",
    ];
    const { words, weights, uniform, ifRemoved, positive, cut, turned, before } = this.data;
    const word = [bold(words[index]), turned[index] ? `, read as ${turned[index]}` : ""];
    if (cut.includes(index)) return [...word, ": attention may not look at it, its weight is exactly 0. Click to give it back."];
    const share = `: ${(weights[index] / uniform).toFixed(1)} times its even share.`, is = before.length ? "As learned, “positive” is" : "“Positive” is";
    if (positive === null || words.length === 1) return [...word, share];
    return [...word, `${share} ${is} at ${asPercent(positive)}; with the word deleted, at ${asPercent(positive + ifRemoved[index])}.`];
  }
}

export default shownBy(WeighedWords, "pressed");
