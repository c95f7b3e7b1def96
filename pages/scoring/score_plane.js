// What each score makes of a query and its keys: its scores, weights and mixture are a row of the scene beside the plane.
import { asPercent, clamp, shownBy } from "../../attention_core/attention/view/prelude.js";
import { PlaneScene } from "../../ui/components/plane_scene.js";
import { twoDecimals } from "../../ui/components/vector_plane.js";
import { geometry, scoreOf } from "./score_formulas.js";

const UNDECIDED = 0.01;  // weights that differ by less count as equal

// The key of the largest weight; -1 where all are equal.
const winner = (weights) => (Math.max(...weights) - Math.min(...weights) < UNDECIDED ? -1 : weights.indexOf(Math.max(...weights)));

class ScorePlane extends PlaneScene {
  computed(arrows) {
    const { bare, scene } = this.given, [q, ...keys] = arrows;
    if (bare) return null;
    const scores = scene.queries.map((name, at) => (scene.changed.includes(at) ? null : this.scoreOf(name))).map((score) => score && keys.map(score));
    return { queries: scene.queries.map(() => q), keys, values: keys, scores };
  }

  scoreOf(name) { return scoreOf(name, this.plane.arrows[0], this.given.parameters[name]); }

  field() {
    const name = this.data.queries[this.row];
    return [this.given.bare ? null : this.scoreOf(name), `${name} ${this.plane.arrows[0]}`];
  }

  // An experiment needs its room for more rows.
  build() {
    super.build();
    this.note.hidden = !this.data.glosses && !this.given.bare;
  }

  legend() {
    const note = this.field()[0] && this.state.progress.allScores > 0 ? "The darker a place in the plane, the higher a key would score there." : "";
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

  captionOfRest() {
    const { data, row, weights, state: { percents } } = this, name = data.queries[row], best = winner(weights), rival = name === "dot" ? "L2 distance" : "dot", rivalRow = data.queries.indexOf(rival);
    if (this.isOwnRow(row)) return `With the weights as you set them, q takes ${data.keys.map((key, at) => `${percents[at]} of ${key}`).join(", ")}.`;
    if (best < 0) return `By **${name}** all keys fit equally well.`;
    const chosen = `By **${name}** q takes most from **${data.keys[best]}**, ${percents[best]}`, other = winner(data.weights[rivalRow]);
    if (this.isOwnRow(rivalRow)) return `${chosen}.`;
    if (other < 0) return `${chosen}; by ${rival} all fit equally well.`;
    if (other === best) return `${chosen}; by ${rival}, too.`;
    const [longer, nearer] = name === "dot" ? [best, other] : [other, best], isLength = name === "dot" || name === "L2 distance";
    return `${chosen}; by ${rival} from **${data.keys[other]}**.${isLength ? ` ${data.keys[longer]} is longer, ${data.keys[nearer]} is nearer.` : ""}`;
  }
}

export default shownBy(ScorePlane, "moved", "chosen");
