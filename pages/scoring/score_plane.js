// What each score makes of a query and its keys: its scores and weights are a row of the scene beside the plane. On the first
// screen a row has its field as a picture, and nothing is mixed.
import { asPercent, clamp, set, shownBy, softmax } from "../../attention_core/attention/view/prelude.js";
import { PicturedLayout, PlaneScene } from "../../ui/components/plane_scene.js";
import { HALF_WIDTH, twoDecimals } from "../../ui/components/vector_plane.js";
import { ROLE_COLOURS } from "../../attention_core/attention/view/colours.js";
import { geometry, scoreOf } from "./score_formulas.js";

const UNDECIDED = 0.01;  // weights that differ by less count as equal

// The key of the largest weight; -1 where all are equal.
const winner = (weights) => (Math.max(...weights) - Math.min(...weights) < UNDECIDED ? -1 : weights.indexOf(Math.max(...weights)));

const GROWING = 2, SHORT = 0.35, GROWTH = 2500;  // the arrow that grows on arrival, from which share of its length, in so many milliseconds
const RIVALS = ["dot", "cosine", "squared distance"];  // which the sentence compares
const DOT = 2.6, BEST_DOT = 5;  // pixels of a key's radius in a small field, and of the best one's

class FieldsLayout extends PicturedLayout {
  get isNarrowPictured() { return true; }
  get hasVectors() { return false; }
}

class ScorePlane extends PlaneScene {
  get isPictured() { return Boolean(this.data.glosses) && !this.given.bare; }
  get Pictured() { return FieldsLayout; }
  get laterPace() { return this.isPictured ? 2.5 : super.laterPace; }
  hasStep(name) { return super.hasStep(name) && !(this.isPictured && ["asks", "takes"].includes(name)); }
  hasContrast() { return false; }

  // On arrival one key is short; once all scores have been shown it grows, and what came of that is seen at rest.
  adopt(data, ...tell) {
    const isFirst = !this.given;
    super.adopt(data, ...tell);
    if (isFirst && data.grows && !this.isAboutToPlay && !this.isCovered) this.compareGrown();
  }

  shortArrows() { return this.plane.arrows.map((arrow, at) => (at === GROWING ? arrow.map((value) => SHORT * value) : [...arrow])); }

  compareGrown(from = this.shortArrows()) {
    const { scores } = this.computed(from);
    Object.assign(this, { from, base: this.data.weights.map((weights, row) => (scores[row] ? softmax(scores[row]) : weights)), isDragged: true });
    this.plane.requestDraw();
  }

  shorten() {
    const { plane } = this;
    if (!this.given.grows || plane.goal) return;
    Object.assign(this, { from: null, base: null });
    [plane.goal, plane.arrows] = [plane.arrows, this.shortArrows()];
    plane.requestDraw();
  }

  lengthen() { if (this.plane.goal) Object.assign(this.plane, { arrows: this.plane.goal, goal: null }); }
  playOnArrival() { this.shorten(); super.playOnArrival(); }
  play() { if (this.isOver()) this.shorten(); super.play(); }
  finish() { this.lengthen(); super.finish(); }

  arrive() {
    super.arrive();
    const { plane } = this, short = plane.arrows;
    if (this.isTour || !plane.goal) return;
    this.lengthen();
    this.glide(short, null, GROWTH);
    this.compareGrown(short);
  }

  computed(arrows) {
    const { bare, scene } = this.given, [q, ...keys] = arrows;
    if (bare) return null;
    const scores = scene.queries.map((name, at) => (scene.changed.includes(at) ? null : this.scoreOf(name))).map((score) => score && keys.map(score));
    return { queries: scene.queries.map(() => q), keys, values: keys, scores };
  }

  keyOf(arrow) { return arrow ? arrow - 1 : undefined; }

  scoreOf(name) { return scoreOf(this.given.scores[name], this.plane.arrows[0], this.given.parameters[name]); }

  field() {
    const name = this.data.queries[this.row];
    return [this.given.bare ? null : this.scoreOf(name), `${name} ${this.plane.arrows[0]}`];
  }

  // The weight that the sentence is about has what it was before it.
  writeCell(node, row, key) {
    super.writeCell(node, row, key);
    const was = this.isPictured && !this.layout?.isNarrow && this.isChangedCell(row, key) && this.grownKey() === key && this.isOver();
    set(node, { "data-before": was ? `${this.percentsOf(this.base[row])[key]} →` : "" });
  }

  isBest(row, key) { return this.isPictured && winner(this.data.weights[row]) === key; }

  // A score's field, with the query and its keys, the one with the largest weight as a large dot.
  drawRowPicture({ pen, tones }, { x, y, w, h }, row) {
    const name = this.data.queries[row], score = this.scoreOf(name), { plane: { arrows: [q, ...keys], extent }, state: { progress } } = this;
    if (!score) return;
    const placeOf = ([right, up]) => [x + w * (0.5 + right / (2 * HALF_WIDTH * extent)), y + h * (0.5 - up / (2 * HALF_WIDTH * extent))], told = this.shownOf(row), best = winner(row === this.row ? this.weights : this.data.weights[row]);
    pen.globalAlpha = (tones.isDark ? 0.7 : 1) * (row === this.row ? progress.allScores : told);
    pen.drawImage(this.smallField(row, score, `${name} ${q}`), x, y, w, h);
    Object.assign(pen, { globalAlpha: 0.35, strokeStyle: tones.ink, lineWidth: 1 }).strokeRect(x, y, w, h);
    Object.assign(pen, { globalAlpha: 1, strokeStyle: tones.query, lineWidth: 2 }).beginPath();
    pen.moveTo(x + w / 2, y + h / 2);
    pen.lineTo(...placeOf(q));
    pen.stroke();
    keys.forEach((key, at) => {
      const isBest = told > 0.5 && at === best;
      Object.assign(pen, { fillStyle: ROLE_COLOURS.key }).beginPath();
      pen.arc(...placeOf(key), isBest ? BEST_DOT : DOT, 0, 7);
      pen.fill();
    });
  }

  // An experiment needs its room for more rows.
  build() {
    super.build();
    this.note.hidden = !this.data.glosses && !this.given.bare;
  }

  legend() {
    const note = this.field()[0] && this.state.progress.allScores > 0 ? "The bluer a place, the higher a key would score there." : "";
    return `${note} ${super.legend()}`;
  }

  describe(arrow) {
    if (arrow === 0) return "the query";
    const [q, ...keys] = this.plane.arrows, { dot, degrees } = geometry(q, keys[arrow - 1]), weight = this.data.weights[this.row][arrow - 1];
    return `${degrees === null ? "no angle" : `angle ${degrees.toFixed(0)} degrees`}, dot product ${twoDecimals(dot)}, weight ${asPercent(weight)}`;
  }

  captionOf(step) {
    const { data, row } = this, name = data.queries[row];
    if (step === "asks") return "**q** asks **every key** how well it fits.";
    if (step === "softmax" && this.isPictured && this.state.progress.divide > 0.5) return this.captionOfRest();
    if (step !== "scores") return super.captionOf(step);
    const heading = `Each key gets a **score** by ${name}, ${data.formulas[row]}.`;
    return name === "dot" && !this.given.bare ? `${heading} ${this.equation()}` : heading;
  }

  // A dot product in numbers, as lengths and an angle: that of the key that was touched last.
  equation() {
    const [q, ...keys] = this.plane.arrows, key = clamp((this.plane.active || 1) - 1, 0, keys.length - 1), { dot, lengthQ, lengthK, degrees } = geometry(q, keys[key]);
    const angle = degrees === null ? "(no angle: a vector is 0)" : `cos ${degrees.toFixed(1)}°`;
    return `For ${this.data.keys[key]}: length × length × how well they agree = ${twoDecimals(lengthQ)} × ${twoDecimals(lengthK)} × ${angle} = **${twoDecimals(dot)}**.`;
  }

  // The key that alone has moved, and only away from 0; -1 where there is none.
  grownKey() {
    const { from, base, plane: { arrows } } = this, moved = this.moved(), { cosine, lengthQ, lengthK } = geometry(from?.[moved[0]] ?? [0, 0], arrows[moved[0]] ?? [0, 0]);
    return base && moved.length === 1 && moved[0] > 0 && cosine > 0.999 && lengthK > lengthQ ? moved[0] - 1 : -1;
  }

  // What the chosen score prefers, and then, once all have played, what those beside it do.
  captionOfRest() {
    const { data, row, weights, state: { percents } } = this, name = data.queries[row], best = winner(weights);
    if (this.isOwnRow(row)) return `With the weights as you set them, q takes ${data.keys.map((key, at) => `${percents[at]} of ${key}`).join(", ")}.`;
    const grown = this.grownKey();
    if (grown >= 0) {
      const clauses = this.tour.map((at) => {
        const [was, is] = [this.base, data.weights].map((rows) => this.percentsOf(rows[at])[grown]);
        return `**${data.queries[at]}** ${was === is ? "still" : `${was} →`} ${is}`;
      });
      return `**${data.keys[grown]}** only grew longer. Its weight: ${clauses.join(", ")}.`;
    }
    if (best < 0) return `By **${name}** all keys fit equally well.`;
    const chosen = `By **${name}** q takes most from **${data.keys[best]}**, ${percents[best]}`;
    if (this.isTour && row !== this.tour.at(-1)) return `${chosen}.`;
    const others = RIVALS.map((rival) => data.queries.indexOf(rival)).filter((at) => at >= 0 && at !== row && !this.isOwnRow(at)), byKey = new Map();
    for (const at of others) byKey.set(winner(data.weights[at]), [...(byKey.get(winner(data.weights[at])) ?? []), data.queries[at]]);
    const clauses = [...byKey].map(([key, names]) => `by ${names.join(" and ")}${key === best ? ", too" : key < 0 ? " all fit equally well" : ` from **${data.keys[key]}**`}`);
    return `${[chosen, ...clauses].join("; ")}.`;
  }
}

export default shownBy(ScorePlane, "moved", "chosen");
