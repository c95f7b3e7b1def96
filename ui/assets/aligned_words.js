// Two lines of words, source above target, and an arc for every weight. Hovering a word shows where it looks (a target
// word) or who looks at it (a source word); a click or Enter on a target word tells Python.
const SVG = "http://www.w3.org/2000/svg";
const FAINTEST = 0.03;
const make = (parent, tag, className = "", text = "") => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return parent.appendChild(node);
};
const percent = (share) => (share >= 0.995 ? "100 %" : share >= 0.0995 ? `${(100 * share).toFixed(0)} %` : `${(100 * share).toFixed(1)} %`);
const isDark = (root) => {
  const parts = getComputedStyle(root).getPropertyValue("--st-background-color").match(/[0-9a-f]{2}/gi) ?? [];
  return parts.length >= 3 && parts.slice(0, 3).reduce((sum, part) => sum + parseInt(part, 16), 0) < 384;
};

class Stage {
  constructor(root) {
    this.root = root;
    this.stage = make(root, "div", "stage");
    const foot = make(root, "div", "foot");
    this.tip = make(foot, "p", "tip");
    this.note = make(foot, "p", "note");
    this.tip.setAttribute("aria-live", "polite");
    this.watcher = new ResizeObserver(() => this.place());
    this.watcher.observe(this.stage);
    this.sequence = 0;
  }

  adopt(data, tell) {
    this.tell = tell;
    this.root.classList.toggle("dark", isDark(this.root));
    const form = JSON.stringify([data.source, data.target, data.weights, data.single, data.forced]);
    const moved = this.data?.active !== data.active;
    this.data = data;
    if (form !== this.form) {
      this.form = form;
      this.build();
    } else if (moved) {
      this.looked = null;
    }
    this.note.textContent = data.note;
    this.paint();
  }

  build() {
    const { source, target, weights, single, forced, name } = this.data;
    const hadFocus = this.targets?.includes(this.stage.getRootNode().activeElement);
    this.stage.replaceChildren();
    this.stage.className = `stage${single ? " bottleneck" : ""}${source.length + target.length > 36 ? " small" : ""}`;
    this.arcs = document.createElementNS(SVG, "svg");
    this.arcs.setAttribute("aria-hidden", "true");
    this.stage.append(this.arcs);
    const upper = make(this.stage, "div", "line source"), lower = make(this.stage, "div", "line target");
    upper.setAttribute("role", "group");
    upper.setAttribute("aria-label", "Source words, keys");
    lower.setAttribute("role", "group");
    lower.setAttribute("aria-label", `Target words of ${name}, queries`);
    this.sources = source.map((word, place) => {
      const node = make(upper, "span", "word", "");
      make(node, "span", place === source.length - 1 ? "label" : "", word);
      node.share = make(node, "i");
      node.onpointerenter = () => this.look({ source: place });
      node.onpointerleave = () => this.look(null);
      return node;
    });
    this.targets = target.map((word, place) => {
      const node = make(lower, "button", `word${place < forced ? " forced" : ""}`);
      node.type = "button";
      make(node, "span", place === target.length - 1 ? "label" : "", word);
      node.onpointerenter = (event) => { if (event.pointerType === "mouse") this.look({ target: place }); };
      node.onpointerleave = () => this.look(null);
      node.onfocus = () => this.look({ target: place });
      node.onblur = () => this.look(null);
      node.onclick = () => this.choose(place);
      node.onkeydown = (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        this.targets[place + by]?.focus();
      };
      return node;
    });
    this.waist = single ? make(this.stage, "div", "waist", single) : null;
    this.paths = [];
    const add = (row, col, weight) => {
      const path = document.createElementNS(SVG, "path");
      this.arcs.append(path);
      this.paths.push({ path, row, col, weight });
    };
    if (single) {
      source.forEach((_, col) => add(null, col, 1));
      target.forEach((_, row) => add(row, null, 1));
    } else {
      weights.forEach((row, at) => row.forEach((weight, col) => { if (weight >= FAINTEST) add(at, col, weight); }));
    }
    this.looked = null;
    this.place();
    if (hadFocus) this.targets[Math.min(this.data.active, this.targets.length - 1)]?.focus({ preventScroll: true });
  }

  choose(place) {
    this.sequence += 1;
    this.tell({ row: place, sequence: this.sequence, at: Date.now() });
  }

  look(at) {
    this.looked = at;
    this.paint();
  }

  place() {
    if (!this.paths) return;
    const box = this.stage.getBoundingClientRect();
    if (!box.width) return;
    const spot = (node, low) => {
      const own = node.getBoundingClientRect();
      return [own.x + own.width / 2 - box.x, (low ? own.bottom : own.top) - box.y];
    };
    const from = this.sources.map((node) => spot(node, true)), to = this.targets.map((node) => spot(node, false));
    const upperEnd = Math.max(...from.map(([, y]) => y)), lowerStart = Math.min(...to.map(([, y]) => y));
    const middle = [...from, ...to].reduce((sum, [x]) => sum + x, 0) / (from.length + to.length);
    const half = this.waist ? this.waist.offsetWidth / 2 + 4 : 0;
    const waist = [Math.min(Math.max(middle, half), box.width - half), (upperEnd + lowerStart) / 2];
    if (this.waist) Object.assign(this.waist.style, { left: `${waist[0]}px`, top: `${waist[1]}px` });
    for (const { path, row, col } of this.paths) {
      const a = col === null ? [waist[0], waist[1] + 12] : from[col], b = row === null ? [waist[0], waist[1] - 12] : to[row];
      const bend = Math.max(18, (b[1] - a[1]) * 0.5);
      path.setAttribute("d", `M${a[0]} ${a[1]}C${a[0]} ${a[1] + bend} ${b[0]} ${b[1] - bend} ${b[0]} ${b[1]}`);
    }
  }

  paint() {
    const { weights, active, single, probabilities, source, target, uniform, plain } = this.data;
    const row = this.looked?.target ?? active, col = this.looked?.source;
    this.targets.forEach((node, place) => {
      node.classList.toggle("now", place === row && col === undefined);
      node.classList.toggle("later", !plain && place > active && place !== row && col === undefined);
      node.setAttribute("aria-pressed", String(place === active));
      node.style.background = col === undefined || single ? ""
        : `color-mix(in srgb, var(--weights) ${(85 * weights[place][col]).toFixed(1)}%, var(--st-background-color))`;
    });
    this.sources.forEach((node, place) => {
      const weight = single ? 0 : weights[row][place], told = !single && col === undefined;
      node.style.setProperty("--w", told ? weight : 0);
      node.share.textContent = told ? (weight >= 0.005 ? percent(weight) : "·") : "";
    });
    for (const { path, row: from, col: to, weight } of this.paths) {
      const lit = single ? (from === null || from === row) : col === undefined ? from === row : to === col;
      path.style.strokeOpacity = lit ? (single ? (from === null ? 0.35 : 0.95) : Math.min(1, 0.15 + weight)) : 0.3 * (single ? 0.5 : weight);
      path.style.strokeWidth = `${1 + (lit ? 4 : 2) * (single && from === null ? 0.4 : weight)}px`;
      if (single) path.style.stroke = from === null ? "var(--key)" : "var(--context)";
    }
    this.say(row, col, { weights, single, probabilities, source, target, uniform });
  }

  say(row, col, { weights, single, probabilities, source, target, uniform }) {
    const parts = [];
    if (col !== undefined && !single) {
      const order = weights.map((one, place) => [one[col], place]).sort((a, b) => b[0] - a[0]).slice(0, 3);
      parts.push(["b", source[col]], ["", " is looked at most by "]);
      order.filter(([weight]) => weight > 0.05).forEach(([weight, place], number) =>
        parts.push(["", number ? ", " : ""], ["b", target[place]], ["", ` (${percent(weight)})`]));
      if (order[0][0] <= 0.05) parts.push(["", "no word in particular"]);
    } else {
      parts.push(["b", target[row]]);
      if (this.data.plain) parts.push(["", " "]);
      else if (probabilities[row] !== null) parts.push(["", `, found ${percent(probabilities[row])} likely, `]); else parts.push(["", ": not said yet; it would be said "]);
      if (single) {
        parts.push(["", `from the one vector: nothing to choose from at any word`]);
      } else {
        const most = weights[row].indexOf(Math.max(...weights[row]));
        parts.push(["", "looks most at "], ["b", source[most]], ["", ` (${percent(weights[row][most])}; everywhere alike would be ${percent(uniform)})`]);
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
  root.stage ??= new Stage(root);
  root.stage.adopt(data, (message) => setStateValue("chosen", message));
}
