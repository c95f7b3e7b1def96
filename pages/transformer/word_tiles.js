// Words as tiles that change places, and the French that comes of their order, each of its words tied to what it looks at:
// first without positions, then with them. The
// story plays once, then it belongs to the visitor: tiles are dragged onto each other, or moved with the arrow keys.
import { arrowOf, boxOf, create, dragged, isNew, make, makeHeard, onceAFrame, pointIn, set, shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";
import { writeMarked } from "../../attention_core/attention/view/scene_player.js";

const MOVE = 1200, TURN = 600, SWAPS_AT = 1600, NUMBERS_AT = 5600, RISE = 60;  // milliseconds, and pixels that a tile flies high
const THIN = 1, THICK = 8;  // pixels of a line of no weight and of all the weight
const UNKNOWN = "…", LETTER = 0.56, AROUND = 1.75;  // widths of a letter and of what is around a word, in letters' sizes

const SVG = "http://www.w3.org/2000/svg";
const swapped = (order, a, b) => order.map((word) => (word === order[a] ? order[b] : word === order[b] ? order[a] : word));

class WordTiles {
  constructor(root) {
    this.root = root;
    this.say = make(root, "p", "say");
    this.heard = makeHeard(root);
    this.reads = make(root, "p", "typed");
    this.tiles = make(root, "div", { class: "tiles", role: "group", "aria-label": "English words" });
    this.french = make(root, "p", { class: "french", lang: "fr" });
    this.other = make(root, "p", "other");
    this.links = root.appendChild(document.createElementNS(SVG, "svg"));
    set(this.links, { class: "links", "aria-hidden": "true" });
    this.note = make(root, "p", "note", "A line: where a French word looks most, or at least 30%; the thicker, the more.");
    this.link = onceAFrame(() => this.drawLinks());
    new ResizeObserver(this.link).observe(root);
    const bar = (this.bar = make(root, "div", "bar"));
    this.swap = make(bar, "button", "", "⇄ Change the order");
    this.switch = make(bar, "button", { role: "switch" }, "Give each word its position");
    this.swap.onclick = () => this.arrange(this.isTyped ? this.data.order : this.typed);
    this.switch.onclick = () => this.number(!this.hasNumbers);
  }

  get typed() { return this.data.order.map((_, word) => word); }

  get isTyped() { return String(this.order) === String(this.typed); }

  adopt(data, tell) {
    this.tell = tell;
    if (!isNew(this, data)) return;
    const before = this.data, hasNewWords = String(before?.words) !== String(data.words), wasTried = before?.tried;
    this.data = data;
    if (hasNewWords) this.build();
    if (data.tried || wasTried) this.rest(this.typed, true);
    else if (hasNewWords && this.hasOrders && !before && !wantsLessMotion()) this.play();
    else if (hasNewWords) this.rest(before ? this.typed : data.order, true);
    this.write();
  }

  get isAsked() { return this.data.tried === "ask"; }

  get hasOrders() { return String(this.data.order) !== String(this.typed); }

  // The words in the typed order, a tile each; a mark at the end stays where it is.
  build() {
    const { words, order } = this.data, letters = words.join("").length;
    this.tiles.style.setProperty("--em", LETTER * letters + AROUND * words.length);
    this.tiles.replaceChildren();
    this.order = this.typed;
    this.nodes = order.map((_, word) => this.tile(words[word], word));
    this.mark = words.length > order.length ? make(this.tiles, "span", "tile mark") : null;
    if (this.mark) for (const [tag, text] of [["span", words.at(-1)], ["small", ""]]) make(this.mark, tag, "", text);
  }

  tile(text, word) {
    const node = make(this.tiles, "button", "tile");
    make(node, "span", "", text);
    make(node, "small", "");
    let from = [0, 0];
    const at = () => this.order.indexOf(word), go = (to) => { if (to !== at() && this.order[to] !== undefined) this.arrange(swapped(this.order, at(), to)); };
    dragged(node, {
      begin: (event) => { from = pointIn(this.root, event); },
      go: (event) => {
        const [x, y] = pointIn(this.root, event);
        node.style.translate = `${x - from[0]}px ${y - from[1]}px`;
        node.classList.add("held");
        this.link();
      },
      end: () => {
        const box = boxOf(node), middle = box.x + box.width / 2, isIn = (other) => { const { x, y, width, height } = boxOf(other); return other !== node && middle > x && middle < x + width && box.y < y + height && box.y + box.height > y; };
        node.classList.remove("held");
        const onto = this.nodes.findIndex(isIn);
        this.heldFrom = [node, box];
        node.style.translate = "";
        if (onto >= 0) go(this.order.indexOf(onto));
        this.heldFrom = null;
      },
    });
    node.onkeydown = (event) => { if (["ArrowLeft", "ArrowRight"].includes(event.key)) go(at() + arrowOf(event)[0]); };
    return node;
  }

  // What the network cannot tell without positions, then what it can with them.
  play() {
    this.rest(this.typed, false);
    const story = (this.story = {}), later = (wait, tell) => setTimeout(() => { if (this.story === story && this.root.isConnected) tell(); }, wait);
    later(SWAPS_AT, () => this.arrange(this.data.order, story));
    later(NUMBERS_AT, () => this.number(true, story));
  }

  rest(order, hasNumbers) {
    Object.assign(this, { story: null, order, hasNumbers });
    this.place();
  }

  place() { this.tiles.prepend(...this.order.map((word) => this.nodes[word])); }

  // Tiles fly to their new places; an order that Python has not read yet is told.
  arrange(order, story = null) {
    const boxes = new Map(this.nodes.map((node) => [node, boxOf(node)]));
    if (this.heldFrom) boxes.set(...this.heldFrom);
    Object.assign(this, { story, order });
    const focused = this.root.getRootNode().activeElement;
    this.place();
    focused?.focus?.({ preventScroll: true });
    if (!wantsLessMotion()) for (const [node, start] of boxes) {
      const end = boxOf(node), [x, y] = [start.x - end.x, start.y - end.y];
      if (!x && !y) continue;
      const frames = [`${x}px ${y}px`, `${x / 2}px ${y / 2 + (x > 0 ? -RISE : RISE)}px`, "0px 0px"].map((translate) => ({ translate }));
      node.animate(frames, { duration: MOVE, easing: "ease-in-out" });
    }
    if (!this.isTyped && String(order) !== String(this.data.order)) this.tell({ order });
    this.write();
  }

  number(hasNumbers, story = null) {
    Object.assign(this, { story, hasNumbers });
    this.write();
  }

  // The French of what is drawn, or what its words look at, by whether words have their positions; undefined where Python
  // has not said it yet.
  frenchOf(hasNumbers, said = this.data.french) {
    const { order, tried } = this.data, isSecond = Boolean(tried) || (!this.isTyped && String(this.order) === String(order));
    return isSecond || this.isTyped ? said[Number(hasNumbers)][Number(isSecond)] : undefined;
  }

  // The French, a word each to be tied.
  writeFrench(french) {
    this.looks = french === undefined || this.isAsked ? [] : this.frenchOf(this.hasNumbers, this.data.looks);
    let rest = french ?? UNKNOWN;
    this.french.replaceChildren();
    this.said = this.looks.map(([word]) => {
      const at = rest.indexOf(word);
      if (at < 0) return null;
      this.french.append(rest.slice(0, at));
      rest = rest.slice(at + word.length);
      return make(this.french, "span", "", word);
    });
    this.french.append(rest);
  }

  // Lines from French words to the tiles that they look at, the thicker, the larger the weight; they follow what moves.
  drawLinks() {
    const { x: left, y: top } = boxOf(this.root), nodes = [...this.nodes, this.mark];
    this.links.replaceChildren(...this.looks.flatMap(([, looks], row) => (this.said[row] ? looks : []).map(([word, weight]) => {
      const from = boxOf(nodes[word]), to = boxOf(this.said[row]), path = document.createElementNS(SVG, "path");
      const [x1, y1, x2, y2] = [from.x + from.width / 2 - left, from.y + from.height - top + 4, to.x + to.width / 2 - left, to.y - top];
      set(path, { d: `M${x1} ${y1}C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`, "stroke-width": THIN + (THICK - THIN) * weight });
      return path;
    })));
    if (this.nodes.some((node) => node.getAnimations().length) || this.french.getAnimations().length) this.link();
  }

  write() {
    const { data, hasNumbers } = this, places = data.tried ? data.order : this.order, french = this.isAsked ? "?" : this.frenchOf(hasNumbers), without = this.frenchOf(false);
    this.nodes.forEach((node, word) => {
      const place = places.indexOf(word) + 1;
      node.lastChild.textContent = hasNumbers ? ` ${place}` : "";
      set(node, { "aria-label": `${data.words[word]} ${hasNumbers ? place : ""}; the arrow keys move it` });
    });
    if (this.mark) this.mark.lastChild.textContent = hasNumbers ? data.words.length : "";
    this.reads.replaceChildren(...(this.isTyped || data.tried ? [] : [`typed: ${data.typed} → `, create("i", { lang: "fr", textContent: data.french[Number(hasNumbers)][0] })]));
    const isOther = this.french.textContent !== (french ?? UNKNOWN);
    this.writeFrench(french);
    if (isOther) {
      if (!wantsLessMotion()) this.french.animate([{ transform: "rotateX(90deg)" }, { transform: "none" }], { duration: TURN, easing: "ease-out" });
    }
    const isContrast = hasNumbers && without !== french && !data.tried;
    this.other.replaceChildren(...(isContrast ? [`${this.isTyped ? "" : "swapped, "}without positions${this.isTyped ? "" : ", still"}: `, create("i", { lang: "fr", textContent: without })] : [""]));
    this.tiles.classList.toggle("numbered", hasNumbers);
    set(this.switch, { "aria-checked": hasNumbers });
    this.swap.disabled = !this.hasOrders;
    this.bar.hidden = this.note.hidden = Boolean(data.tried);
    writeMarked(this.say, this.sentence(french));
    const heard = `${french ?? ""} ${this.say.textContent}`;
    if (french && heard !== this.heard.textContent) this.heard.textContent = heard;
    this.link();
  }

  sentence(french) {
    const { data: { tried, french: [, [typed]] }, hasNumbers, hasOrders, isTyped } = this;
    if (!hasOrders) return "These words have **no other order**. Type some more.";
    if (tried) return "";  // the question or its outcome says it
    if (!hasNumbers) return isTyped ? "Attention weighs all words at once: **it does not see which comes first**." : "The words have changed places, but **the French stands still**: without positions, attention cannot tell.";
    if (isTyped) return "Each word carries **the number of its position**.";
    return french === typed ? "Each word carries **the number of its position**, and the French is the same." : "Each word carries **the number of its position**: another order gives other French.";
  }
}

export default shownBy(WordTiles, "chosen");
