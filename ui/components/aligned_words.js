// Two lines of words, source above target, and an arc for every weight. Hovering a word shows where it looks (a target
// word) or who looks at it (a source word); a click or Enter on a target word tells Python. Where arcs can be cut, a click on
// a source word or on its arc to the active word does so; the arc is dragged up and down to another weight, or moved by
// arrow keys on the word. A line stays one line, for in two rows the arcs of the upper one would seem to come from the
// lower one's words: it shrinks, then scrolls sideways.
import { asPercent, bold, boxOf, clamp, dragged, heaviest, inLine, isNew, keepFocus } from "../../attention_core/attention/view/prelude.js";
import { make, placeOn, pointedIn, set, shownBy } from "../../attention_core/attention/view/prelude.js";

const DRAGGED = 150;  // pixels from a weight of 0 to 1
const EVEN = 0.001, FAINTEST = 0.03, SMALLEST = 0.72, SMALLEST_ON_A_PHONE = 0.74, PHONE = 560, HALL = 740, LARGEST = 2.4, CROWDED = 17;

class AlignedWords {
  constructor(root) {
    this.frame = make(root, "div", "frame");
    this.stage = make(this.frame, "div", "stage");
    const foot = make(root, "div", "foot");
    this.tip = make(foot, "p", { class: "tip", "aria-live": "polite" });
    this.note = make(foot, "p", "note");
    this.pointed = pointedIn(root, (places) => this.light(places));
    new ResizeObserver(() => this.fit()).observe(this.frame);
  }

  adopt(data, tell) {
    this.tell = tell;
    const moved = this.data && this.data.active !== data.active;
    this.data = data;
    this.axes = data.axes ?? [`target words of ${data.name}`, "source words"];
    const { source, target, weights, single, forced, cuts, alone } = data;
    if (isNew(this, source, target, weights, single, forced, cuts, alone)) keepFocus(this.stage, () => this.build());
    if (moved) this.pointed.leave();
    this.light(this.pointed.places());
    this.note.textContent = data.note;
    if (moved && this.targets[data.active]) this.bring(this.targets[data.active]);
  }

  bring({ offsetLeft, offsetWidth }) {
    this.frame.scrollTo({ left: offsetLeft + (offsetWidth - this.frame.clientWidth) / 2, behavior: "smooth" });
  }

  build() {
    const { source, target, weights, single, forced, name, cuts, alone = [] } = this.data;
    const asked = single ? [] : alone.filter((row) => !isEven(weights[row])).map((row) => heaviest(weights[row], 1)[0][1]);
    this.stage.replaceChildren();
    this.stage.className = `stage${single ? " bottleneck" : ""}`;
    this.arcs = make(this.stage, "svg:svg", { "aria-hidden": true });
    const line = (side, label) => make(this.stage, "div", { class: `line ${side}`, role: "group", "aria-label": label });
    const upper = line("source", "Source words, keys"), lower = line("target", `Target words of ${name}, queries`);
    this.sources = source.map((word, place) => {
      const node = make(upper, cuts ? "button" : "span", `word${asked.includes(place) ? " alone" : ""}`);
      make(node, "span", place === source.length - 1 ? "label" : "", word);
      node.share = make(node, "i");
      return node;
    });
    const cut = (place) => { if (cuts && this.data.active >= 0) this.tell({ row: this.data.active, cut: place }); };
    const weigh = (place, more) => {
      const row = this.data.active, weight = clamp((this.data.weights[row]?.[place] ?? 0) + more, 0, 1);
      if (row >= 0) this.tell({ row, cut: place, weight });
    };
    inLine(this.sources, (place, event) => this.look(1, place, event), cut, cuts && weigh);
    this.targets = target.map((word, place) => {
      const node = make(lower, "button", `word${place < forced ? " forced" : ""}${alone.includes(place) ? " alone" : ""}`);
      make(node, "span", place === target.length - 1 ? "label" : "", word);
      return node;
    });
    inLine(this.targets, (place, event) => this.look(0, place, event), (row) => this.tell({ row }));
    this.targets.forEach((node, place) => {
      node.onpointerenter = (event) => { if (event.pointerType === "mouse") this.look(0, place); };
    });
    this.waist = single ? make(this.stage, "div", "waist", single) : null;
    this.paths = [];
    const add = (row, col, weight) => {
      const arc = { path: make(this.arcs, "svg:path"), row, col, weight };
      if (cuts && !single) this.grip(arc, cut);
      this.paths.push(arc);
    };
    if (single) {
      source.forEach((_, col) => add(null, col, 1));
      target.forEach((_, row) => add(row, null, 1));
    } else {
      weights.forEach((row, at) => row.forEach((weight, col) => { if (weight >= FAINTEST) add(at, col, weight); }));
    }
    this.fit();
  }

  grip(arc, cut) {
    const { row, col, path, weight: was } = arc;
    let from, weight;
    arc.grip = make(this.arcs, "svg:path", "grip");
    dragged(arc.grip, {
      begin: ({ clientY }) => { from = clientY; weight = was; },
      go: ({ clientY }) => {
        weight = clamp(was + (from - clientY) / DRAGGED, 0, 1);
        path.style.strokeWidth = `${1 + 4 * weight}px`;
        this.tip.replaceChildren(bold(this.data.source[col]), ` gets ${asPercent(weight)} from `, bold(this.data.target[row]));
      },
      end: () => (Math.abs(weight - was) * DRAGGED < 3 ? cut(col) : this.tell({ row, cut: col, weight })),
    });
  }

  // A word of several pieces begins at the first of them.
  look(side, place, event) {
    if (place === null) return this.pointed.leave(event);
    this.pointed.look([[this.axes[side], this.data.firsts?.[side][place] ?? place]]);
  }

  light(places) {
    if (!this.targets) return;
    const [target, source] = this.axes.map((axis, side) => {
      const words = side ? this.sources : this.targets, firsts = this.data.firsts?.[side] ?? [...words.keys()];
      const at = placeOn(places, axis, side === 1);
      return at === null ? undefined : firsts.findLastIndex((first) => first <= at);
    });
    this.looked = { target, source };
    this.paint();
  }

  // Make the words as small as it takes to show the longer line whole, down to what can still be read; larger in a hall.
  fit() {
    this.stage.style.removeProperty("--fit");
    this.stage.classList.toggle("crowded", Math.max(this.sources.length, this.targets.length) > CROWDED);
    const ends = [this.sources, this.targets].map((words) => words.at(-1).offsetLeft + words.at(-1).offsetWidth);
    const room = this.frame.clientWidth - 8, share = 0.98 * room / Math.max(...ends);
    const least = room < PHONE ? SMALLEST_ON_A_PHONE : SMALLEST, most = room > HALL ? Math.min(LARGEST, 1.35 * room / HALL) : 1;
    this.stage.style.setProperty("--fit", clamp(share, least, most));
    this.place();
  }

  place() {
    const box = boxOf(this.stage);
    if (!this.paths || !box.width) return;
    const spot = (node, edge) => {
      const own = boxOf(node);
      return [own.x + own.width / 2 - box.x, own[edge] - box.y];
    };
    const from = this.sources.map((node) => spot(node, "bottom")), to = this.targets.map((node) => spot(node, "top"));
    const upperEnd = Math.max(...from.map(([, y]) => y)), lowerStart = Math.min(...to.map(([, y]) => y));
    const middle = [...from, ...to].reduce((sum, [x]) => sum + x, 0) / (from.length + to.length);
    const half = this.waist ? this.waist.offsetWidth / 2 + 4 : 0;
    const [x, y] = [clamp(middle, half, box.width - half), (upperEnd + lowerStart) / 2];
    if (this.waist) Object.assign(this.waist.style, { left: `${x}px`, top: `${y}px` });
    for (const { path, grip, row, col } of this.paths) {
      const a = col === null ? [x, y + 12] : from[col], b = row === null ? [x, y - 12] : to[row];
      const bend = Math.max(18, (b[1] - a[1]) * 0.5);
      const d = `M${a[0]} ${a[1]}C${a[0]} ${a[1] + bend} ${b[0]} ${b[1] - bend} ${b[0]} ${b[1]}`;
      for (const line of [path, grip]) if (line) set(line, { d });
    }
  }

  paint() {
    const { weights, active, single, plain, alone = [] } = this.data;
    const { target, source: col } = this.looked, row = target ?? active, isRow = target !== undefined || col === undefined;
    this.targets.forEach((node, place) => {
      node.classList.toggle("now", place === row && isRow);
      node.classList.toggle("later", !plain && active >= 0 && place > active && place !== row && isRow);
      set(node, { "aria-pressed": place === active });
      node.style.background = isRow || single ? ""
        : `color-mix(in srgb, var(--ground) ${(85 * weights[place][col]).toFixed(1)}%, var(--st-background-color))`;
    });
    this.sources.forEach((node, place) => {
      node.classList.toggle("now", place === col);
      const told = !single && isRow, weight = told ? weights[row][place] : 0;
      node.style.setProperty("--w", weight);
      node.share.textContent = weight >= 0.005 ? asPercent(weight) : told ? "·" : "";
    });
    for (const { path, grip, row: from, col: to, weight } of this.paths) {
      grip?.classList.toggle("now", from === active);
      if (single) {
        const isIn = from === null, lit = isIn || from === row;
        path.style.strokeOpacity = isIn || row < 0 ? 0.35 : lit ? 0.95 : 0.15;
        path.style.strokeWidth = `${1 + (lit ? 4 : 2) * (isIn ? 0.4 : 1)}px`;
        path.style.stroke = "#8a93a0";
      } else {
        const lit = isRow ? from === row : to === col;
        path.style.strokeOpacity = lit ? Math.min(1, 0.15 + weight) : (alone.includes(from) ? 0.75 : 0.3) * weight;
        path.style.strokeWidth = `${1 + (lit ? 4 : 2) * weight}px`;
      }
    }
    this.tip.replaceChildren(...(isRow || single ? this.whereLooks(row) : this.whoLooks(col)));
  }

  whoLooks(col) {
    const { weights, source, target } = this.data;
    const most = heaviest(weights.map((row) => row[col]), 3).filter(([weight]) => weight > 0.05);
    const listed = most.flatMap(([weight, row], place) => [place ? ", " : "", bold(target[row]), ` (${asPercent(weight)})`]);
    const act = this.data.cuts && this.data.active >= 0 ? ["; click to cut its arc to ", bold(target[this.data.active])] : [];
    return [bold(source[col]), " is looked at most by ", ...(most.length ? listed : ["no word in particular"]), ...act];
  }

  whereLooks(row) {
    const { weights, source, target, probabilities, single, plain, uniform } = this.data;
    if (row < 0) return [];
    const likely = probabilities[row] === null ? " (not said yet) " : ` (${asPercent(probabilities[row])} likely) `;
    const begin = [bold(target[row]), plain ? " " : likely];
    if (single) return [...begin, "has only the one vector to go by"];
    const [[weight, place]] = heaviest(weights[row], 1);
    if (isEven(weights[row])) return [...begin, `looks at all words alike (${asPercent(uniform)} each)`];
    return [...begin, "looks most at ", bold(source[place]), ` (${asPercent(weight)}, an equal share is ${asPercent(uniform)})`];
  }
}

const isEven = (weights) => Math.max(...weights) - Math.min(...weights) < EVEN;

export default shownBy(AlignedWords, "chosen");
