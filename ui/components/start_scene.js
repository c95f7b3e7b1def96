// A drawing that is asked about: pink where each look goes, and an arrow from one look to the next. A pen draws on it, or the
// arrow keys with the space bar. Python hears of every stroke; an answer names the message that it answers.
import { arrowOf, asPercent, boxOf, clamp, create, dragged, heaviest, isNew, make } from "../../attention_core/attention/view/prelude.js";
import { placeOn, pointedIn, pointIn, set, shownBy } from "../../attention_core/attention/view/prelude.js";

const SIDE = 320, PEN = 12, STEP = 8, FAINTEST = 1.5, FULL = 8, CLEARNESS = 0.6, NEAR = 3;

class StartScene {
  constructor(root) {
    this.root = root;
    this.lines = make(root, "div", "lines");
    this.paper = make(root, "svg:svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", tabindex: 0, "aria-label": LABEL });
    [this.ink, this.glow, this.way] = ["ink", "glow", "way"].map((name) => make(this.paper, "svg:g", name));
    this.cell = make(this.paper, "svg:rect", { class: "cell", visibility: "hidden" });
    this.pointed = pointedIn(root, (places) => this.light(placeOn(places, "regions", true)));
    this.tools = make(root, "div", "tools");
    this.answers = make(root, "div", { class: "answers", "aria-live": "polite" });
    this.sent = 0;
    this.hand = [SIDE / 2, SIDE / 2];
    const at = (event) => pointIn(this.paper, event).map((way) => Math.round(way * SIDE / boxOf(this.paper).width));
    dragged(this.paper, { begin: (event) => this.begin(at(event)), go: (event) => this.go(at(event)), end: () => this.end() });
    this.paper.onkeydown = (event) => this.press(event);
  }

  adopt(data, tell) {
    this.tell = tell;
    if (data.answered < this.sent || this.stroke) return;
    this.root.classList.toggle("stale", Boolean(data.fault));
    if (!isNew(this, data)) return;
    this.strokes = data.strokes;
    this.draw();
    if (!this.pen) this.offer(data.pens);
    if (data.fault) this.answers.replaceChildren(create("p", { textContent: data.fault, className: "fault" }));
    else this.answer(data);
  }

  offer(pens) {
    const buttons = pens.map(([name, colour]) => {
      const button = make(this.tools, "button", { title: name, "aria-label": name });
      button.style.setProperty("--pen", colour);
      button.onclick = () => {
        this.pen = colour;
        buttons.forEach((one) => set(one, { "aria-pressed": one === button }));
      };
      return button;
    });
    buttons[0].click();
    make(this.tools, "button", "clear", "Clear").onclick = () => this.send([]);
  }

  begin(point) {
    this.stroke = [this.pen, PEN, [...point, ...point]];
    this.strokes = [...this.strokes, this.stroke];
    this.show([]);
    this.draw();
  }

  go(point) {
    this.hand = point;
    if (!this.stroke) return;
    this.stroke[2].push(...point);
    this.draw();
  }

  end() {
    if (!this.stroke) return;
    this.stroke = null;
    this.send(this.strokes);
  }

  press(event) {
    const way = arrowOf(event);
    if (way) this.go(this.hand.map((place, axis) => clamp(place + STEP * way[axis], 0, SIDE)));
    else if (event.key === " ") {
      event.preventDefault();
      if (this.stroke) this.end();
      else this.begin(this.hand);
    }
    this.draw(true);
  }

  send(strokes) {
    this.strokes = strokes;
    this.sent = Date.now();
    this.root.classList.add("stale");
    this.show([]);
    this.draw();
    this.tell({ strokes, sent: this.sent });
  }

  draw(byKeys = false) {
    this.ink.replaceChildren();
    for (const [colour, width, path] of this.strokes) {
      const line = make(this.ink, "svg:polyline", { points: path.join(" "), "stroke-width": width });
      line.style.stroke = `light-dark(${colour}, color-mix(in srgb, ${colour} 82%, white))`;
    }
    const [cx, cy] = this.hand;
    if (byKeys) make(this.ink, "svg:circle", { class: "hand", cx, cy, r: PEN / 2 });
  }

  answer({ looks, said }) {
    this.looks = looks;
    this.lines.replaceChildren();
    this.glow.replaceChildren();
    looks.forEach(({ words, weights }, number) => {
      const line = make(this.lines, "p"), most = Math.max(...words.map(([, share]) => share));
      make(line, "i", "", number + 1);
      for (const [word, share] of words) {
        line.append(" ");
        const node = make(line, "span", { title: asPercent(share) }, word);
        node.style.setProperty("--w", share / most);
      }
      line.onpointerenter = () => this.show([number]);
      line.onpointerleave = () => this.show([...looks.keys()]);
      this.shine(weights);
    });
    this.answers.replaceChildren();
    for (const [name, word, share] of said) {
      const cell = make(this.answers, "div");
      make(cell, "span", "", name);
      make(cell, "b", "", word);
      make(cell, "span", "", `${asPercent(share)} sure`);
    }
    this.show([...looks.keys()]);
  }

  // One look as cells of pink, on the scale of all maps over pictures: nothing where it is as if it looked everywhere alike.
  // If that is so everywhere, the first look is a wash.
  shine(weights) {
    const group = make(this.glow, "svg:g"), n = Math.sqrt(weights.length), cell = SIDE / n, full = Math.max(FULL / weights.length, ...weights);
    const most = Math.max(...weights), isAlike = most * weights.length < FAINTEST;
    if (isAlike && group === this.glow.firstChild) make(group, "svg:rect", { width: SIDE, height: SIDE, opacity: (most / full) ** CLEARNESS });
    weights.forEach((weight, place) => {
      if (weight * weights.length < FAINTEST) return;
      const x = (place % n) * cell, y = Math.floor(place / n) * cell;
      make(group, "svg:rect", { x, y, width: cell, height: cell, opacity: weight / full });
    });
  }

  // A region that another view is asked about gets a frame.
  light(place) {
    const n = Math.sqrt(this.looks?.[0]?.weights.length ?? 0), size = SIDE / n, isHere = place !== null && place < n * n;
    set(this.cell, { visibility: isHere ? "visible" : "hidden" });
    if (isHere) set(this.cell, { x: (place % n) * size, y: Math.floor(place / n) * size, width: size, height: size });
  }

  show(numbers) {
    [...this.glow.children].forEach((group, number) => group.classList.toggle("off", !numbers.includes(number)));
    [...this.lines.children].forEach((line, number) => line.classList.toggle("off", !numbers.includes(number)));
    this.way.replaceChildren();
    const spots = numbers.map((number) => [number, this.spot(this.looks?.[number]?.weights ?? [])]).filter(([, at]) => at);
    spots.slice(1).forEach(([number, at], place) => {
      const [last, before] = spots[place];
      if (Math.hypot(at[0] - before[0], at[1] - before[1]) < 40) [at[0], at[1]] = [before[0], before[1] + (before[1] < SIDE - 42 ? 27 : -27)];
      else if (number === last + 1) this.arrow(before, at);
    });
    for (const [number, [x, y]] of spots) {
      make(this.way, "svg:circle", { cx: x, cy: y, r: 13 });
      make(this.way, "svg:text", { x, y: y + 5.5 }, number + 1);
    }
  }

  arrow([x1, y1], [x2, y2]) {
    const far = Math.hypot(x2 - x1, y2 - y1);
    if (far < 40) return;
    const [dx, dy] = [(x2 - x1) / far, (y2 - y1) / far], [x, y] = [x2 - 16 * dx, y2 - 16 * dy];
    make(this.way, "svg:path", { d: `M${x1 + 13 * dx} ${y1 + 13 * dy}L${x} ${y}` });
    const tip = [x, y, x - 10 * dx + 6 * dy, y - 10 * dy - 6 * dx, x - 10 * dx - 6 * dy, y - 10 * dy + 6 * dx];
    make(this.way, "svg:polygon", { points: tip.join(" ") });
  }

  // Below the place that gets most, so that the digit there can still be read; none where most goes elsewhere.
  spot(weights) {
    const n = Math.sqrt(weights.length), [[, top] = []] = heaviest(weights, 1);
    if (top === undefined) return null;
    const row = Math.floor(top / n), column = top % n;
    const near = (_, place) => Math.hypot(Math.floor(place / n) - row, (place % n) - column) <= NEAR;
    if (weights.filter(near).reduce((sum, weight) => sum + weight, 0) < 0.5) return null;
    return [(column + 0.5) * SIDE / n, clamp((row + 0.5) * SIDE / n + 46, 14, SIDE - 14)];
  }
}
const LABEL = "A drawing of coloured digits. Draw with a pointer, or with the arrow keys: the space bar puts the pen down and lifts it.";

export default shownBy(StartScene, "drawn");
