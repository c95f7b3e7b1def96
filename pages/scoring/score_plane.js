// The scores of a query and its keys beside the plane: those of two functions, or of all.
import { asPercent, clamp, create, make, set, shownBy, softmax } from "../../attention_core/attention/view/prelude.js";
import { CENTRE, Plane, twoDecimals } from "../../ui/components/vector_plane.js";
import { drawBars } from "./score_bars.js";

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const keyName = (number) => `k${SUBSCRIPTS[number]}`;

// The geometry of one key against the query; the angle of a vector of length 0 is null.
const geometry = (q, k) => {
  const dot = q[0] * k[0] + q[1] * k[1], lengthQ = Math.hypot(...q), lengthK = Math.hypot(...k);
  const defined = lengthQ > 1e-9 && lengthK > 1e-9;
  const cosine = defined ? clamp(dot / (lengthQ * lengthK), -1, 1) : 0;
  const distance = Math.hypot(q[0] - k[0], q[1] - k[1]);
  return { dot, distance, lengthQ, lengthK, cosine, degrees: defined ? (Math.acos(cosine) * 180) / Math.PI : null };
};
const ANSWERS = [
  { name: "Dot product", formula: "q · k", about: "rewards long keys in q's direction", of: ({ dot }) => dot },
  { name: "Nearness", formula: "−|q − k|² / 2", about: "rewards keys near q", of: ({ distance }) => -(distance ** 2) / 2 },
];

// The key of the largest share; -1 where all are equal.
const winner = (shares) => (Math.max(...shares) - Math.min(...shares) < 0.01 ? -1 : shares.indexOf(Math.max(...shares)));

class ScorePlane extends Plane {
  constructor(root) {
    super(root);
    this.equations = make(root.firstChild, "div", "equations");
    this.beside = make(root, "div", "beside");
    this.answers = make(this.beside, "div", "answers");
    this.all = make(this.beside, "div", "all");
  }

  build() {
    super.build();
    this.tips.at(-1).before(this.theta);  // before the arrows, which would cover it where they are close
  }

  buildBehind() {
    this.arc = make(this.svg, "svg:path", "arc");
    this.theta = make(this.svg, "svg:text", "theta");
  }

  follow() {
    if (this.active > 0) this.key = this.active - 1;  // who drags the query goes on comparing the same key
    const [q, ...keys] = this.arrows, active = clamp(this.key ?? 0, 0, keys.length - 1);
    this.facts = keys.map((k) => geometry(q, k));
    const shares = ANSWERS.map(({ of }) => softmax(this.facts.map(of))), winners = shares.map(winner);
    this.shares = shares[0];
    const agree = winners.every((best) => best === winners[0]), undecided = winners.indexOf(-1);
    const [longer, nearer] = winners.map((best) => keyName(best + 1));  // where they disagree, that is always why
    const [byDot, byDistance] = winners.map((best) => this.facts[best]?.cosine);
    const stake = byDistance > byDot ? " So a long key can win over the one that points the right way." : "";
    const verdict = undecided >= 0 ? `To the ${ANSWERS[undecided].name.toLowerCase()}, all keys fit equally well.` : agree ? `Now they agree on ${longer}.` : `They disagree: ${longer} is longer, ${nearer} is nearer.${stake}`;
    const cards = ANSWERS.map((answer, number) => this.card(answer, shares[number], winners[number])).join("");
    this.answers.innerHTML = `${cards}<p class="verdict ${agree || undecided >= 0 ? "" : "disagree"}">${verdict}</p>`;
    this.drawAngle(q, keys[active], this.facts[active]);
    this.equations.replaceChildren(...[...new Set([active, Math.max(winners[0], 0)])].sort().map((key) => this.equation(key)));
    const { functions, bare } = this.data;
    this.svg.parentNode.hidden = bare;
    this.answers.hidden = Boolean(functions);
    this.all.hidden = this.equations.hidden = !functions;
    if (functions) drawBars(this.all, { ...this.data, keys: keys.map((_, key) => keyName(key + 1)) });
  }

  card({ name, formula, about }, shares, best) {
    const rows = shares.map((share, key) =>
      `<tr class="${key === best ? "best" : ""}"><td>${keyName(key + 1)}</td><td class="wide">` +
      `<div class="track"><i style="width: ${75 * share}%"></i><span>${share < 0.001 ? "almost nothing" : asPercent(share)}</span></div></td></tr>`);
    return `<section><h4>${name} <span>${formula}</span></h4><p>${about}</p><table aria-label="${name}: the share of every key">` +
      `${rows.join("")}</table><p class="chosen">chooses ${best < 0 ? "none" : `<b>${keyName(best + 1)}</b>`}</p></section>`;
  }

  isActive(arrow) { return arrow === this.key + 1; }

  describe(arrow) {
    if (arrow === 0) return "the query";
    const { dot, degrees } = this.facts[arrow - 1];
    return `${degrees === null ? "no angle" : `angle ${degrees.toFixed(0)} degrees`}, dot product ${twoDecimals(dot)}, ` +
      `weight ${asPercent(this.shares[arrow - 1])}`;
  }

  drawAngle(q, k, { dot, degrees }) {
    const isVisible = degrees !== null && this.data.functions;
    for (const node of [this.arc, this.theta]) node.style.display = isVisible ? "" : "none";
    if (!isVisible) return;
    const from = Math.atan2(q[1], q[0]), turn = Math.atan2(q[0] * k[1] - q[1] * k[0], dot);
    const at = (angle, r) => [CENTRE + r * Math.cos(angle), CENTRE - r * Math.sin(angle)];
    const [a, b] = [at(from, 34), at(from + turn, 34)];
    set(this.arc, { d: `M${a[0]} ${a[1]}A34 34 0 0 ${turn > 0 ? 0 : 1} ${b[0]} ${b[1]}` });
    const [tx, ty] = at(from + turn / 2, 52);
    set(this.theta, { x: tx, y: ty });
    this.theta.textContent = `${degrees.toFixed(0)}°`;
  }

  // A key's dot product in numbers, as lengths and an angle.
  equation(key) {
    const { dot, lengthQ, lengthK, degrees } = this.facts[key];
    const angle = degrees === null ? "(no angle: a vector is 0)" : `cos ${degrees.toFixed(1)}°`;
    const line = create("div"), k = `<span class="k">${keyName(key + 1)}</span>`;
    line.innerHTML = `<span class="q">q</span> · ${k} = |<span class="q">q</span>| |${k}| cos θ ` +
      `<span class="numbers">= ${twoDecimals(lengthQ)} × ${twoDecimals(lengthK)} × ${angle} = <b>${twoDecimals(dot)}</b></span>`;
    return line;
  }
}

export default shownBy(ScorePlane, "moved");
