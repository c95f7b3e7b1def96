// A sentence; above each word a bar for its weight, hanging below it one for what the answer does when the word is deleted.
// Both have one scale: if weights told what words do, the two would mirror each other. A click or Enter on a word tells Python to cut it; its bar is dragged, or moved by arrow keys up
// and down, to another weight.
import { asPercent, bold, boxOf, clamp, create, dragged, inLine, isNew, keepFocus } from "../../attention_core/attention/view/prelude.js";
import { make, minus, placeOn, pointedIn, pointIn, shownBy } from "../../attention_core/attention/view/prelude.js";

const points = (change) => minus(`${change >= 0.0005 ? "+" : ""}${(100 * change).toFixed(Math.abs(change) < 0.0095 ? 1 : 0)}`);

class WeighedWords {
  constructor(root) {
    this.sentence = make(root, "div", { class: "sentence", role: "group", "aria-label": "The sentence; press a word to cut it, arrow keys up and down change its weight" });
    this.tip = make(root, "p", { class: "tip", "aria-live": "polite" });
    this.pointed = pointedIn(root, (places) => this.light(placeOn(places, "words", true)));
  }

  adopt(data, tell) {
    this.tell = tell;
    if (!isNew(this, data)) return;
    this.data = data;
    keepFocus(this.sentence, () => this.build());
  }

  build() {
    const { words, weights, ifRemoved, cut, uniform, before } = this.data;
    const most = Math.max(uniform, ...[weights, ifRemoved, before].flat().map(Math.abs)), isAlone = words.length === 1;
    this.sentence.replaceChildren();
    this.sentence.classList.toggle("many", words.length > 24);
    const names = make(this.sentence, "div", "cell names"), even = make(names, "div", "above");
    make(even, "u").style.setProperty("--share", uniform / most);
    make(even, "small", "", `even share ${asPercent(uniform)}`).style.setProperty("--share", uniform / most);
    const both = make(names, "p", "word");
    make(both, "span", "", "attention it gets ↑");
    make(both, "span", "", "change if deleted ↓");
    this.cells = words.map((word, place) => {
      const isCut = cut.includes(place), change = ifRemoved[place], cell = make(this.sentence, "div", "cell");
      const above = make(cell, "div", "above"), weight = isCut ? "cut" : asPercent(weights[place]);
      const told = make(above, "span", "", weight), bar = make(above, "i");
      bar.style.setProperty("--share", weights[place] / most);
      make(above, "u").style.setProperty("--share", uniform / most);
      make(cell, "button", {
        class: `word${isCut ? " cut" : ""}`, "aria-pressed": isCut,
        "aria-label": `${word}, weight ${asPercent(weights[place])}${isAlone ? "" : `, if deleted ${points(change)} points`}`,
      }, word);
      const below = make(cell, "div", `below ${change > 0 ? "up" : "down"}`);
      make(below, "i").style.setProperty("--share", Math.abs(change) / most);
      if (before.length) make(above, "s").style.setProperty("--share", before[place] / most);
      make(below, "span", "", isAlone ? "" : points(change));
      this.drag(bar, told, place, most);
      return cell;
    });
    const buttons = this.cells.map((cell) => cell.querySelector("button"));
    const look = (place, event) => (place === null ? this.pointed.leave(event) : this.pointed.look([["words", place]]));
    const weigh = (place, more) => this.tell({ place, weight: clamp(weights[place] + more, 0, 1) });
    inLine(buttons, look, (place) => this.tell({ place }), weigh);
    this.light(placeOn(this.pointed.places(), "words", true));
  }

  drag(bar, told, place, most) {
    let weight = null;
    const go = (event) => {
      const half = bar.parentElement, tall = boxOf(half).height - boxOf(told).height;
      weight = clamp(most * (boxOf(half).height - pointIn(half, event)[1]) / tall, 0, 1);
      bar.style.setProperty("--share", weight / most);
      told.textContent = asPercent(weight);
    };
    dragged(bar, { go, end: () => { if (weight !== null) this.tell({ place, weight }); } });
  }

  light(place) {
    if (place >= this.cells.length) place = null;
    this.cells.forEach((cell, at) => cell.classList.toggle("lit", at === place));
    this.tip.replaceChildren(...this.told(place));
  }

  told(place) {
    if (place === null) return [
      create("span", { className: "narrow", textContent: "Above: weight, dashed an even share. " }), `Below: points by which “positive” moves when the word is deleted${this.data.before.length ? ", as learned" : ""}. Click a word to keep attention from it, or drag its bar.`,
      this.data.before.length ? " Outlined: before." : "",
    ];
    const { words, weights, uniform, ifRemoved, positive, cut, turned, before } = this.data;
    const word = [bold(words[place]), turned[place] ? `, read as ${turned[place]}` : ""];
    if (cut.includes(place)) return [...word, ": attention may not look at it, its weight is exactly 0. Click to give it back."];
    const share = `: ${(weights[place] / uniform).toFixed(1)} times its even share.`, is = before.length ? "As learned, “positive” is" : "“Positive” is";
    if (positive === null || words.length === 1) return [...word, share];
    return [...word, `${share} ${is} at ${asPercent(positive)}; with the word deleted, at ${asPercent(positive + ifRemoved[place])}.`];
  }
}

export default shownBy(WeighedWords, "pressed");
