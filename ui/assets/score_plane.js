// What scores say of a query and its keys: two answers beside the plane, or those of all functions.
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const keyName = (place) => "k" + SUBSCRIPTS[place];

// The geometry of one key against the query; the angle of a vector of length 0 is null.
const geometry = (q, k) => {
  const dot = q[0] * k[0] + q[1] * k[1], lengthQ = Math.hypot(...q), lengthK = Math.hypot(...k);
  const defined = lengthQ > 1e-9 && lengthK > 1e-9;
  const cosine = defined ? clamp(dot / (lengthQ * lengthK), -1, 1) : 0;
  const distance = Math.hypot(q[0] - k[0], q[1] - k[1]);
  return { dot, distance, lengthQ, lengthK, cosine, degrees: defined ? (Math.acos(cosine) * 180) / Math.PI : null };
};
const ANSWERS = [
  { name: "Dot product", formula: "q · k", about: "rewards direction and length", of: ({ dot }) => dot },
  { name: "Nearness", formula: "−|q − k|² / 2", about: "rewards closeness", of: ({ distance }) => -(distance ** 2) / 2 },
];

class ScorePlane extends Plane {
  constructor(root) {
    super(root);
    this.equation = make(root.firstChild, "div", "equation");
    this.equation.innerHTML = '<span class="q">q</span> · <span class="k"></span> = |<span class="q">q</span>| ' +
      '|<span class="k"></span>| cos θ <span class="numbers"></span>';
    this.beside = make(root, "div", "beside");
    this.answers = make(this.beside, "div", "answers");
    this.all = make(this.beside, "div", "all");
  }

  build() {
    super.build();
    this.tips.at(-1).before(this.theta);  // before the arrows, which would cover it where they are close
  }

  buildBehind() {
    this.shadow = make(this.svg, "svg:line", "shadow");
    this.drop = make(this.svg, "svg:line", "drop");
    this.arc = make(this.svg, "svg:path", "arc");
    this.theta = make(this.svg, "svg:text", "theta");
    this.answers.replaceChildren();
    this.cards = ANSWERS.map(({ name, formula, about }) => {
      const card = make(this.answers, "section"), heading = make(card, "h4", "", name);
      make(heading, "span", "", formula);
      make(card, "p", "", about);
      const table = make(card, "table", { "aria-label": `${name}: the share of every key` });
      const rows = this.arrows.slice(1).map((_, place) => {
        const row = make(table, "tr");
        make(row, "td", "", keyName(place + 1));
        const track = make(make(row, "td", "wide"), "div", "track");
        return { row, bar: make(track, "i"), share: make(track, "span") };
      });
      return { rows, chosen: make(card, "p", { class: "chosen" }) };
    });
    this.verdict = make(this.answers, "p", "verdict");
  }

  follow() {
    if (this.active > 0) this.key = this.active - 1;  // who drags the query goes on comparing the same key
    const [q, ...keys] = this.arrows, active = clamp(this.key ?? 0, 0, keys.length - 1);
    this.facts = keys.map((k) => geometry(q, k));
    const winners = ANSWERS.map(({ of }, number) => {
      const shares = softmax(this.facts.map(of)), best = shares.indexOf(Math.max(...shares)), card = this.cards[number];
      card.rows.forEach(({ row, bar, share }, place) => {
        bar.style.width = `${(75 * shares[place]).toFixed(2)}%`;
        share.textContent = asPercent(shares[place]);
        row.className = `${place === best ? "best" : ""} ${place === active ? "active" : ""}`;
      });
      card.chosen.replaceChildren("chooses ", bold(keyName(best + 1)));
      if (number === 0) this.shares = shares;
      return best;
    });
    const agree = winners.every((best) => best === winners[0]);
    this.verdict.textContent = agree ? `Now they agree on ${keyName(winners[0] + 1)}.` : "They disagree.";
    this.verdict.classList.toggle("disagree", !agree);
    this.drawAngle(q, keys[active], this.facts[active]);
    this.writeEquation(this.facts[active], keyName(active + 1));
    const { functions, bare } = this.data;
    this.svg.parentNode.hidden = bare;
    this.answers.hidden = Boolean(functions);
    this.all.hidden = !functions;
    if (functions) drawBars(this.all, { ...this.data, keys: keys.map((_, place) => keyName(place + 1)), active });
  }

  isActive(place) { return place === this.key + 1; }

  describe(place) {
    if (place === 0) return "the query";
    const { dot, degrees } = this.facts[place - 1];
    return `${degrees === null ? "no angle" : `angle ${degrees.toFixed(0)} degrees`}, dot product ${two(dot)}, ` +
      `weight ${(100 * this.shares[place - 1]).toFixed(0)} percent`;
  }

  drawAngle(q, k, { dot, cosine, lengthQ, lengthK, degrees }) {
    const shown = degrees !== null;
    for (const node of [this.shadow, this.drop, this.arc, this.theta]) node.style.display = shown ? "" : "none";
    if (!shown) return;
    const projection = lengthK * cosine, foot = [(q[0] / lengthQ) * projection, (q[1] / lengthQ) * projection];
    const cross = q[0] * k[1] - q[1] * k[0], aside = cross > 0 ? 7 : -7;  // beside q, on the side away from k
    const [ax, ay] = [(q[1] / lengthQ) * aside, (q[0] / lengthQ) * aside];
    set(this.shadow, { x1: CENTRE + ax, y1: CENTRE + ay, x2: this.x(foot[0]) + ax, y2: this.y(foot[1]) + ay });
    set(this.drop, { x1: this.x(k[0]), y1: this.y(k[1]), x2: this.x(foot[0]), y2: this.y(foot[1]) });
    const from = Math.atan2(q[1], q[0]), turn = Math.atan2(cross, dot);
    const at = (angle, r) => [CENTRE + r * Math.cos(angle), CENTRE - r * Math.sin(angle)];
    const [a, b] = [at(from, 34), at(from + turn, 34)];
    set(this.arc, { d: `M${a[0]} ${a[1]}A34 34 0 0 ${turn > 0 ? 0 : 1} ${b[0]} ${b[1]}` });
    const [tx, ty] = at(from + turn / 2, 52);
    set(this.theta, { x: tx, y: ty });
    this.theta.textContent = `${degrees.toFixed(0)}°`;
  }

  writeEquation({ dot, lengthQ, lengthK, degrees }, name) {
    const angle = degrees === null ? "(no angle: a vector is 0)" : `cos ${degrees.toFixed(1)}°`;
    const write = (part, text) => { for (const node of this.equation.querySelectorAll(part)) node.textContent = text; };
    write(".k", name);
    write(".numbers", `= ${two(lengthQ)} × ${two(lengthK)} × ${angle} = ${two(dot)}`);
  }
}

export default shownBy(ScorePlane, "moved");
