// The scene of a head of a transformer. A curtain hangs over the keys that its query may not see. Below stand all heads of its
// kind, each with its weights from the same query, and the key at which it looks most: `heads` in the data has them.
import { asPercent, bold, inLine, keepFocus, make, shownBy } from "../../attention_core/attention/view/prelude.js";
import { PINK } from "../../attention_core/attention/view/colours.js";
import { SceneDrawing } from "../../attention_core/attention/view/scene_drawing.js";
import { SceneLayout } from "../../attention_core/attention/view/scene_layout.js";
import { namesOf, quoted, saidOf } from "../../attention_core/attention/view/scene_captions.js";
import { SceneView } from "../../attention_core/attention/view/scene.js";

const CURTAIN = [["masked: not written yet"], ["masked:", "not written yet"], ["masked:", "not written", "yet"], ["masked"]];
const N_BEFORE = 3, LEAST_COLUMNS = 4, SAVED = 30, LINE = 12;  // pieces that a caption quotes, pixels: saved, from the middle of a strip to a line beside it

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
// The index of the largest weight, -1 where all are 0.
const strongestOf = (weights) => weights.indexOf(Math.max(1e-9, ...weights));

// Weights of the keys that are not masked, as columns in a small picture.
const drawColumns = (parent, weights) => {
  const svg = make(parent, "svg:svg", { viewBox: `0 0 ${Math.max(LEAST_COLUMNS, weights.length)} 1`, preserveAspectRatio: "none", "aria-hidden": true });
  make(svg, "svg:path", { fill: PINK, d: weights.map((weight, key) => `M${key + 0.1} 1v${-weight}h.8v${weight}z`).join("") });
};

// There are heads below it: it is not as high as others.
class HeadLayout extends SceneLayout {
  standInColumns(width, keys) {
    super.standInColumns(width, keys);
    for (const name of ["boxTop", "below"]) this[name] -= SAVED * this.scale;
  }
}

class HeadDrawing extends SceneDrawing {
  draw(state) {
    super.draw(state);
    const first = state.hidden.findIndex((isHidden, key) => isHidden && !state.cut.includes(key));
    if (first >= 0) this.drawCurtain(first);
  }

  // Beside the strip stands whose context it is, above what all heads say.
  drawContext() {
    super.drawContext();
    const { layout: { isNarrow, scale }, state: { progress }, box } = this, size = isNarrow ? 14 : 17 * scale;
    const { x, y, align } = isNarrow ? { x: box.x + box.w, y: box.y - 12, align: "right" } : this.besideBox(16, 160 * scale);
    this.write("this head's context", x, isNarrow ? y : y - LINE * scale, { align, size, alpha: 0.85 * progress.blend * progress.open, hides: true });
  }

  drawOdds() {
    const { pen, layout } = this;
    pen.save();
    if (!layout.isNarrow) pen.translate(0, LINE * layout.scale);
    super.drawOdds();
    pen.restore();
  }

  // Over the keys that are masked, which are the last ones, stands why.
  drawCurtain(first) {
    const { pen, tones, layout, width } = this, { isNarrow, cells, strips, n } = layout, { open: alpha, lift } = this.state.progress;
    const x = isNarrow ? 0 : cells[first].x - cells[first].w / 2 + 3, y = isNarrow ? layout.top + first * layout.row - 2 : Math.max(layout.base - layout.long, layout.room * (1 - lift) + 1);
    const right = isNarrow ? layout.doorLeft : width - 1, bottom = strips[n - 1].y + strips[n - 1].h + (isNarrow ? 0 : 4), box = [x, y, right - x, bottom - y];
    Object.assign(pen, { fillStyle: tones.ink, strokeStyle: tones.ink, lineWidth: 1, globalAlpha: 0.07 * alpha }).fillRect(...box);
    pen.globalAlpha = 0.4 * alpha;
    pen.setLineDash([5, 4]);
    pen.strokeRect(...box);
    pen.setLineDash([]);
    const size = isNarrow ? 15 : 19 * layout.scale, line = 1.25 * size, left = isNarrow ? layout.columnLeft : x, end = isNarrow ? bottom : layout.base;
    const lines = CURTAIN.find((texts) => texts.length * line < end - y && texts.every((text) => this.lengthOf(text, size) < right - left - 6)) ?? [];
    lines.forEach((text, at) => this.write(text, (left + right) / 2, (y + end) / 2 + line * (at - (lines.length - 1) / 2), { align: "center", size, alpha: 0.85 * alpha }));
  }
}

class HeadScene extends SceneView {
  constructor(root) {
    super(root);
    Object.assign(this, { switchTitles: ["", "with your changes"], resetTitle: "undo all changes" });
    this.drawing = new HeadDrawing(this.canvas);
    this.heads = make(root, "div", { class: "heads", role: "group", "aria-label": "Heads" });
    this.heading = make(make(this.heads, "div", "above"), "p");
    this.kinds = make(this.heading.parentNode, "div", { class: "kinds", role: "group", "aria-label": "Attention of" });
    this.grid = make(this.heads, "div", "grid");
    root.append(this.note);
  }

  newLayout(sizes) { return new HeadLayout(sizes); }

  adopt(data, tell) {
    super.adopt(data, tell);
    if (this.drawnHeads !== this.data.heads) keepFocus(this.heads, () => this.drawHeads());
  }

  // All heads of its kind, at the same query.
  drawHeads() {
    const { heads, keys, scores, query, cut } = this.data, [kind, ...chosen] = heads.chosen, strongest = heads.weights.map((layer) => layer.map(strongestOf));
    const [, noun] = this.data.nouns[1].split(" "), looks = new Set(strongest.flat()), nVisible = scores[query].findLastIndex((score, key) => score !== null || cut[query].includes(key)) + 1, buttons = [];
    const choose = (...head) => {
      this.finish();
      this.tell?.({ row: this.row, head: head.join("-") });
    };
    this.drawnHeads = heads;
    this.heading.replaceChildren(`These ${heads.weights.flat().length} of the ${heads.n} heads look most at `, ...this.namedLooks(looks, noun), ".");
    this.kinds.replaceChildren();
    this.grid.replaceChildren();
    for (const [name, asks] of Object.entries(heads.kinds)) {
      const node = make(this.kinds, "button", { "aria-pressed": name === kind });
      make(node, "b", "", capital(name));
      make(node, "span", "", ` ${asks}`);
      node.onclick = () => choose(name, ...chosen);
    }
    heads.weights.forEach((layer, at) => {
      make(this.grid, "span", "layer", `layer ${at + 1}`);
      layer.forEach((weights, head) => {
        const key = strongest[at][head], label = `layer ${at + 1}, head ${head + 1}: ${key < 0 ? "nothing" : `${asPercent(weights[key])} at ${keys[key]}`}`;
        const isChosen = String([at + 1, head + 1]) === String(chosen), isAlike = key === strongest[chosen[0] - 1][chosen[1] - 1];
        const node = make(this.grid, "button", { class: isAlike ? "alike" : "", "aria-pressed": isChosen, "aria-label": label });
        drawColumns(node, weights.slice(0, nVisible));
        make(node, "span", "", keys[key] ?? "");
        buttons.push(node);
      });
    });
    inLine(buttons, () => {}, (at) => choose(kind, Math.floor(at / heads.weights[0].length) + 1, (at % heads.weights[0].length) + 1));
  }

  // At how many keys heads look most; the start and the end are no words.
  namedLooks(looks, noun) {
    const { keys } = this.data, edges = [...looks].map((key) => keys[key] ?? "nothing").filter((label) => label === "nothing" || /^\(.+\)$/.test(label)), n = looks.size - edges.length;
    if (!n) return [bold(edges.join(" or "))];
    return [bold(n > 1 ? `${n} different ${noun}s` : edges.length ? `one ${noun}` : `the same ${noun}`), ...edges.map((label) => ` or ${label}`)];
  }

  // They come last, and wait for those of another query.
  write() {
    super.write();
    const { progress } = this.state, isOld = this.row !== this.data.query;
    const come = this.data.answers ? progress.say : progress.blend;
    Object.assign(this.heads.style, { visibility: come > 0 ? "" : "hidden", opacity: isOld ? 0.4 : come });
  }

  answer() {
    const answer = super.answer(), { n } = this.data.heads;
    return answer && { ...answer, odds: answer.odds.map((text, at) => (at ? text : `all ${n} heads: ${text}`)) };
  }

  captionOf(step) {
    const { data, row } = this;
    if (step === "says") return this.captionOfAll();
    if (step !== "asks" || !data.answers) return super.captionOf(step);
    const before = data.queries.slice(Math.max(0, row - N_BEFORE), row).join(" "), written = `${row > N_BEFORE ? "… " : ""}${before}`;
    return `${row ? `After ${quoted(written)}, **what comes next?**` : "**What comes first?**"} This head asks every ${data.nouns[1]}.`;
  }

  // What all heads say together, one of which is shown; `heads` has of each query the keys that all heads of the kind lost.
  captionOfAll() {
    const { keys, queries, heads } = this.data, { row, local, answer, percents, weights, ...state } = this.state;
    const all = `all ${heads.n} heads together`, said = answer ? `${saidOf(answer)}.` : "…", isStill = answer?.word === queries[row], says = `${all} ${isStill ? "still " : ""}say ${said}`;
    const cut = local ? [local.key].filter(() => local.weight <= 0) : state.cut, lose = local || cut.every((key) => heads.cut[row].includes(key)) ? heads.of : "this head";
    if (cut.length) return `Without ${namesOf(keys, cut)} in ${lose}, ${says}${isStill && heads.also ? ` ${heads.also}` : ""}`;
    if (local) return `With ${percents[local.key]} of ${quoted(keys[local.key])} in this head, ${says}`;
    if (state.isChanged) return `With the weights of this head as you set them, ${says}`;
    return `This head looks most at ${quoted(keys[strongestOf(weights)])}. ${capital(all)} say ${said}`;
  }
}

export default shownBy(HeadScene, "chosen");
