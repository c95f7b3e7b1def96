// A sentence in two orders, read without positions and with them. Under each word stand the encoder's numbers as a picture,
// and how far they changed; words glide to their new positions.
import { asPercent, boxOf, bytesOf, create, isNew, make, pixelOf, putPixels, rampOf } from "../../attention_core/attention/view/prelude.js";
import { shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

const ACROSS = 6, MOVE = 1100;

class TwoOrders {
  constructor(root) {
    this.halves = [0, 1].map(() => {
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
    data.ways.forEach((half, number) => this.fill(this.halves[number], half, data));
  }

  fill({ card, title, rows: [typed, reordered] }, half, { labels, word_of, order, width }) {
    title.replaceChildren(`${half.title}: `, create("span", { className: "verdict", textContent: half.verdict }));
    card.classList.toggle("long", labels.length > 5);
    card.classList.toggle("many", labels.length > 8);
    card.classList.toggle("same", half.same);
    const stayed = half.changed.every((share) => share < 0.001);
    const isReordered = order.some((piece, position) => labels[piece] !== labels[position]);
    reordered.note.textContent = !isReordered ? "the same words in the same places" : stayed ? "the same numbers, only moved" : "the numbers changed by so much";
    const draw = (words, states, pieces, changed) => {
      const numbers = bytesOf(states);
      words.replaceChildren();
      pieces.forEach((piece, position) => {
        const starts = position === 0 || word_of[pieces[position - 1]] !== word_of[piece];
        const word = starts ? make(words, "span", "word") : words.lastElementChild;
        word.dataset.word = word_of[piece];
        const cell = make(word, "span", "piece");
        make(cell, "span", "", labels[piece]);
        this.paint(make(cell, "canvas"), numbers.subarray(position * width, (position + 1) * width));
        if (changed) make(cell, "small", "", changed[position] < 0.001 ? "0%" : asPercent(changed[position]));
      });
    };
    const before = boxesOf(reordered.words.childElementCount ? reordered.words : typed.words);
    draw(typed.words, half.states[0], [...labels.keys()]);
    const from = before.size ? before : boxesOf(typed.words);
    draw(reordered.words, half.states[1], order, stayed ? null : half.changed);
    this.move(reordered.words, from);
    typed.french.textContent = half.french[0];
    reordered.french.textContent = half.french[1];
  }

  paint(canvas, numbers) {
    Object.assign(canvas, { width: ACROSS, height: numbers.length / ACROSS });
    const colours = rampOf(["#0072B2", "#D55E00"]);
    putPixels(canvas, Uint32Array.from(numbers, (value) => pixelOf(colours(value < 128 ? 0 : 1), 2 * Math.abs(value - 127.5))));
  }

  move(words, from) {
    if (wantsLessMotion()) return;
    for (const node of words.children) {
      const box = boxOf(node), start = from.get(node.dataset.word);
      if (!start || !box.width) continue;
      const shift = { transform: `translate(${start.x - box.x}px, ${start.y - box.y}px)` };
      node.animate([shift, { transform: "none" }], { duration: MOVE, easing: "ease-in-out" });
    }
  }
}

const boxesOf = (words) => new Map([...words.children].map((node) => [node.dataset.word, boxOf(node)]));

export default shownBy(TwoOrders, "");
