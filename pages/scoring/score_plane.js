// What each score makes of a query and its keys: its scores and weights are a row of the table beside the plane, which has the
// field of the chosen one. Nothing is mixed. A handle turns the query, as a matrix W_Q would.
import { arrowOf, asPercent, boxOf, clamp, dragged, make, minus, pointIn, set, shownBy, softmax } from "../../attention_core/attention/view/prelude.js";
import { ArrowPlane, PlaneScene } from "../../ui/components/plane_scene.js";
import { CENTRE, HALF_WIDTH, SIDE, twoDecimals } from "../../ui/components/vector_plane.js";
import { geometry, scoreOf } from "./score_formulas.js";

const UNDECIDED = 0.01;  // weights that differ by less count as equal

// The key of the largest weight; -1 where all are equal.
const winner = (weights) => (Math.max(...weights) - Math.min(...weights) < UNDECIDED ? -1 : weights.indexOf(Math.max(...weights)));

const TURN_STEP = 5, HALF_TURN = 180, HANDLE = 13, HANDLE_ROOM = 62, RING = 204, ARC = 0.3;  // degrees; pixels of the handle's radius, from the query's tip, of the largest ring; radians
const GROWING = 2, SHORT = 0.35, GROWTH = 2500;  // the arrow that grows on arrival, from which share of its length, in so many milliseconds

class TurnedPlane extends ArrowPlane {
  adopt(data, tell) {
    if (data.revision !== this.revision) this.turn = data.turn;
    super.adopt(data, (message) => tell({ ...message, turn: this.turn }));
  }

  // The query as W_Q turns it.
  get query() {
    const [x, y] = this.arrows[0], angle = (this.turn * Math.PI) / HALF_TURN, [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return this.turn ? [x * cos - y * sin, x * sin + y * cos] : this.arrows[0];
  }

  build() {
    super.build();
    if (this.data.bare) return;
    this.reachDown(-HALF_WIDTH * this.extent);  // the query may turn anywhere
    const bounds = { "aria-valuemin": -HALF_TURN, "aria-valuemax": HALF_TURN };
    this.handle = make(this.svg, "svg:g", { class: "handle", tabindex: 0, role: "slider", "aria-label": "Turn the query by W_Q", ...bounds });
    make(this.handle, "svg:title", {}, "Turn the query");
    this.arc = make(this.handle, "svg:path", "arc");
    this.knob = make(this.handle, "svg:circle", { r: HANDLE });
    this.handleName = make(this.handle, "svg:text", {}, "W");
    make(this.handleName, "svg:tspan", { dx: 2.5, dy: 4 }, "Q");
    const turnTo = (degrees) => this.turnTo(Math.round(degrees));
    dragged(this.handle, {
      begin: (event) => { event.preventDefault(); this.handle.focus({ preventScroll: true }); this.dragging = "handle"; this.scene.touch(); },
      go: (event) => {
        const [x, y] = pointIn(this.svg, event), unit = SIDE / boxOf(this.svg).width, [qx, qy] = this.arrows[0];
        const angle = Math.atan2(CENTRE - y * unit, x * unit - CENTRE) - Math.atan2(qy, qx);
        turnTo(TURN_STEP * Math.round((angle * HALF_TURN) / Math.PI / TURN_STEP));
      },
      end: () => { this.dragging = null; this.announce(); this.send(true); },
    });
    this.handle.onkeydown = (event) => {
      const direction = arrowOf(event);
      if (!direction) return;
      this.scene.touch();
      turnTo(this.turn - (direction[0] + direction[1]) * (event.shiftKey ? 1 : TURN_STEP));
      this.announce();
    };
  }

  turnTo(degrees) {
    this.turn = ((degrees + 3 * HALF_TURN - 1) % (2 * HALF_TURN)) - HALF_TURN + 1;
    this.requestDraw();
    this.send();
  }

  announce() {
    super.announce();
    if (this.svg.getRootNode().activeElement === this.handle) this.announcement.textContent = this.turnText;
  }

  follow() {
    if (this.handle) this.placeHandle();
    super.follow();
  }

  // On a ring beyond the tip of the turned query, or inside it where the plane ends.
  placeHandle() {
    const [x, y] = this.query, long = Math.hypot(x, y) * this.perUnit, angle = Math.atan2(y, x);
    const ring = long + HANDLE_ROOM > RING ? Math.min(RING, long - HANDLE_ROOM) : long + HANDLE_ROOM, at = (turn, radius = ring) => [CENTRE + radius * Math.cos(angle + turn), CENTRE - radius * Math.sin(angle + turn)];
    const head = (turn) => `M${at(turn - Math.sign(turn) * 0.08, ring - 7)}L${at(turn)}L${at(turn - Math.sign(turn) * 0.08, ring + 7)}`, [cx, cy] = at(0);
    set(this.arc, { d: `M${at(-ARC)}A${ring} ${ring} 0 0 0 ${at(ARC)}${head(-ARC)}${head(ARC)}` });
    set(this.knob, { cx, cy });
    set(this.handleName, { x: cx, y: cy });
    set(this.handle, { "aria-valuenow": this.turn, "aria-valuetext": this.turnText });
  }

  get turnText() { return `turned by ${minus(String(this.turn))} degrees`; }
}

class ScorePlane extends PlaneScene {
  get Plane() { return TurnedPlane; }
  get isHero() { return Boolean(this.data.glosses) && !this.given.bare; }
  // On the first screen one score plays; those beside it are seen as the key grows.
  get tour() { return this.isHero ? super.tour.slice(0, 1) : super.tour; }
  hasStep(name) { return super.hasStep(name) && (this.given.bare || !["asks", "takes"].includes(name)); }
  hasContrast() { return false; }

  // On arrival one key is short; once all scores have been shown it grows, and what came of that is seen at rest.
  adopt(data, ...tell) {
    const isFirst = !this.given;
    if (data.scene.covered) Object.assign(this, { from: null, base: null });
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
    const { bare, scene } = this.given, keys = arrows.slice(1), q = this.plane.query;
    if (bare) return null;
    const scores = scene.queries.map((name, at) => (scene.changed.includes(at) ? null : this.scoreOf(name))).map((score) => score && keys.map(score));
    return { queries: scene.queries.map(() => q), keys, values: keys, scores };
  }

  keyOf(arrow) { return arrow ? arrow - 1 : undefined; }

  // What W_Q makes of the query; keys stay.
  projected() {
    const { arrows: [q, ...keys], query } = this.plane;
    return this.given.bare ? null : { query: [q, query], keys: keys.map((key) => [key, key]) };
  }

  followArrows() {
    if (this.plane.turn !== this.shownTurn) Object.assign(this, { shownTurn: this.plane.turn, shownArrows: null });
    super.followArrows();
  }

  scoreOf(name) { return scoreOf(this.given.scores[name], this.plane.query, this.given.parameters[name]); }

  field() {
    const name = this.data.queries[this.row];
    return [this.given.bare ? null : this.scoreOf(name), `${name} ${this.plane.query}`];
  }

  // Of a key that only grew, its weights alone: the sentence is about them.
  textBefore(row, key) { return !this.isHero || ![key, -1].includes(this.grownKey()) ? "" : super.textBefore(row, key); }

  isBest(row, key) { return this.isHero && winner(this.data.weights[row]) === key; }

  build() {
    super.build();
    this.note.hidden = !this.data.glosses && !this.given.bare;
  }

  legend() {
    return this.field()[0] && this.state.progress.allScores > 0 ? "Bluer: a key would score higher there. Drag W_Q: a matrix turns the query." : "";
  }

  describe(arrow) {
    if (arrow === 0) return "the query";
    const { dot, degrees } = geometry(this.plane.query, this.plane.arrows[arrow]), weight = this.data.weights[this.row][arrow - 1];
    return `${degrees === null ? "no angle" : `angle ${degrees.toFixed(0)} degrees`}, dot product ${twoDecimals(dot)}, weight ${asPercent(weight)}`;
  }

  captionOf(step) {
    const { data, row } = this, name = data.queries[row];
    if (step === "asks") return "**q** asks **every key** how well it fits.";
    if (step === "softmax" && this.isHero && this.state.progress.divide > 0.5) return this.captionOfRest();
    if (step !== "scores") return super.captionOf(step);
    const heading = `Each key gets a **score** by ${name}, ${data.formulas[row]}.`;
    return name === "dot" && !this.given.bare ? `${heading} ${this.equation()}` : heading;
  }

  // A dot product in numbers, as lengths and an angle: that of the key that was touched last.
  equation() {
    const { arrows: [, ...keys], query: q } = this.plane, key = clamp((this.plane.active || 1) - 1, 0, keys.length - 1), { dot, lengthQ, lengthK, degrees } = geometry(q, keys[key]);
    const rounded = (digits) => [lengthQ, lengthK, degrees ?? 0].map((number, at) => +number.toFixed(digits - (at === 2)));
    const [long, other, angle] = rounded([2, 3, 4].find((digits) => { const [a, b, c] = rounded(digits); return twoDecimals(a * b * Math.cos((c * Math.PI) / HALF_TURN)) === twoDecimals(dot); }) ?? 5);
    const turn = degrees === null ? "(no angle: a vector is 0)" : `cos ${angle}°`;
    return `For ${this.data.keys[key]}: length × length × how well they agree = ${long} × ${other} × ${turn} = **${twoDecimals(dot)}**.`;
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
      const clauses = this.data.tour.map((at) => {
        const [was, is] = [this.base, data.weights].map((rows) => this.percentsOf(rows[at])[grown]);
        return `**${data.queries[at]}** ${was === is ? "still" : `${was} →`} ${is}`;
      });
      return `**${data.keys[grown]}** only grew longer. Its weight: ${clauses.join(", ")}.`;
    }
    if (best < 0) return `By **${name}** all keys fit equally well.`;
    const { turn } = this.plane, turned = turn ? `**W_Q** turns q by ${minus(String(turn))}° into **q′**. ` : "";
    const chosen = `${turned}By **${name}** ${turn ? "q′" : "q"} takes most from **${data.keys[best]}**, ${percents[best]}`;
    if (this.isTour) return `${chosen}.`;
    const others = data.tour.filter((at) => at !== row && !this.isOwnRow(at)), byKey = new Map();
    for (const at of others) byKey.set(winner(data.weights[at]), [...(byKey.get(winner(data.weights[at])) ?? []), data.queries[at]]);
    const clauses = [...byKey].map(([key, names]) => `by ${names.join(" and ")}${key === best ? ", too" : key < 0 ? " all fit equally well" : ` from **${data.keys[key]}**`}`);
    return `${[chosen, ...clauses].join("; ")}.`;
  }
}

export default shownBy(ScorePlane, "moved", "chosen");
