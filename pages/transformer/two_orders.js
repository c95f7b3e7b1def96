// A sentence in two orders, read without positions and with them. Under each word numbers that the encoder makes of it,
// as a picture, and how far they changed; words that get another place move there.
import { asPercent, boxOf, bytesOf, create, isNew, make, pixelOf, putPixels, rampOf } from "../../attention_core/attention/view/prelude.js";
import { shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

const ACROSS = 6, MOVE = 1100;

class TwoOrders {
  constructor(root) {
    this.ways = [0, 1].map(() => {
      const card = make(root, "section"), title = make(card, "h4");
      const rows = ["As typed", "Other order"].map((name) => {
        const row = make(card, "div", "row");
        make(row, "span", "which", name);
        const words = make(row, "div", "words"), french = make(row, "p", { class: "french", lang: "fr" });
        return { words, french, note: make(row, "p", "note") };
      });
      return { card, title, rows };
    });
  }

  adopt(data) {
    if (!isNew(this, data)) return;
    data.ways.forEach((way, number) => this.fill(this.ways[number], way, data));
  }

  fill({ card, title, rows: [typed, other] }, way, { labels, word_of, order, width }) {
    title.replaceChildren(`${way.title}: `, create("span", { className: "verdict", textContent: way.verdict }));
    card.classList.toggle("long", labels.length > 5);
    card.classList.toggle("many", labels.length > 8);
    card.classList.toggle("same", way.same);
    const stayed = way.changed.every((share) => share < 0.001);
    const isOther = order.some((place, at) => labels[place] !== labels[at]);
    other.note.textContent = !isOther ? "the same words in the same places" : stayed ? "the same numbers, only moved" : "the numbers changed by so much";
    const drawn = (words, states, places, changed) => {
      const numbers = bytesOf(states);
      words.replaceChildren();
      places.forEach((place, at) => {
        const starts = at === 0 || word_of[places[at - 1]] !== word_of[place];
        const word = starts ? make(words, "span", "word") : words.lastElementChild;
        word.dataset.word = word_of[place];
        const piece = make(word, "span", "piece");
        make(piece, "span", "", labels[place]);
        this.paint(make(piece, "canvas"), numbers.subarray(at * width, (at + 1) * width));
        if (changed) make(piece, "small", "", changed[at] < 0.001 ? "0%" : asPercent(changed[at]));
      });
    };
    const before = placesOf(other.words.childElementCount ? other.words : typed.words);
    drawn(typed.words, way.states[0], labels.map((_, place) => place));
    const from = before.size ? before : placesOf(typed.words);
    drawn(other.words, way.states[1], order, stayed ? null : way.changed);
    this.move(other.words, from);
    typed.french.textContent = way.french[0];
    other.french.textContent = way.french[1];
  }

  paint(canvas, numbers) {
    Object.assign(canvas, { width: ACROSS, height: numbers.length / ACROSS });
    const colours = rampOf(["#0072B2", "#D55E00"]);
    putPixels(canvas, Uint32Array.from(numbers, (one) => pixelOf(colours(one < 128 ? 0 : 1), 2 * Math.abs(one - 127.5))));
  }

  move(words, from) {
    if (wantsLessMotion()) return;
    for (const node of words.children) {
      const now = boxOf(node), was = from.get(node.dataset.word);
      if (!was || !now.width) continue;
      const start = { transform: `translate(${was.x - now.x}px, ${was.y - now.y}px)` };
      node.animate([start, { transform: "none" }], { duration: MOVE, easing: "ease-in-out" });
    }
  }
}

const placesOf = (words) => new Map([...words.children].map((node) => [node.dataset.word, boxOf(node)]));

export default shownBy(TwoOrders, "");
