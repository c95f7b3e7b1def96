// A sentence in large letters. Arcs lead from the token that asks to those that it looks at, as thick as their weights; they
// swing to the token that the pointer is on. A click asks from there, the sentence is edited where it stands, and its last
// word may have a switch. Outlined is where the token looked before.
import { asPercent, boxOf, clamp, heaviest, inLine, isNew, keepFocus, make, set, shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

const SWING = 450;  // milliseconds
const THICK = 18, THIN = 1.5;  // pixels of an arc, of all the weight and of none
const MIN_WEIGHT = 0.05;  // from which on there is an arc, and a number
const FLAT = 26, STEEP = 0.42, PEAK = 0.75;  // how high an arc is: by so many pixels, of the distance; a Bézier curve's top
const OUTLINE = 4;  // pixels by which an arc of before is thicker
const ROOM = 10;  // pixels above the highest arc

class SentenceView {
  constructor(root) {
    this.root = root;
    this.arcs = make(root, "svg:svg", { "aria-hidden": true });
    this.line = make(root, "div", { class: "line", role: "group", "aria-label": "The sentence" });
    this.foot = make(root, "p", "foot");
    new ResizeObserver(() => this.draw()).observe(root);
  }

  adopt(data, tell) {
    Object.assign(this, { data, tell });
    if (isNew(this, data.queries, data.joined, data.muted, data.rival, data.text)) keepFocus(this.root, () => this.build());
    this.swing(data.query);
    if (data.clicks > (this.clicks ?? data.clicks)) this.edit();
    this.clicks = data.clicks;
  }

  build() {
    const { queries, joined, muted, rival, marks } = this.data;
    this.line.replaceChildren();
    this.tokens = queries.map((label, index) => {
      if (index && !joined.includes(index)) this.line.append(" ");
      const node = make(this.line, "button", `token${muted.includes(index) ? " muted" : ""}`, label);
      if (muted.includes(index)) node.title = marks;
      node.number = make(node, "small", { "aria-hidden": true });
      return node;
    });
    inLine(this.tokens, (index) => this.swing(index ?? this.data.query), (row) => this.tell({ row }));
    if (rival) {  // below the last word
      const last = this.tokens.findLast(({ firstChild }) => /\p{L}/u.test(firstChild.data) && !firstChild.data.startsWith("[")), pair = make(this.line, "span", "pair");
      last.replaceWith(pair);
      pair.append(last);
      make(pair, "button", "rival", `or ${rival}`).onclick = () => this.tell({ rival });
    }
  }

  edit() {
    const { data, root } = this, area = make(root, "textarea", { rows: 2, "aria-label": "The sentence" });
    let isOpen = true;
    const close = (isNewText) => {
      if (!isOpen) return;
      isOpen = false;
      root.classList.remove("editing");
      area.remove();
      if (isNewText && area.value.trim() && area.value !== data.text) this.tell({ text: area.value });
    };
    area.value = data.text;
    area.onkeydown = (event) => {
      event.stopPropagation();
      if (event.key === "Enter") event.preventDefault();
      if (["Enter", "Escape"].includes(event.key)) close(event.key === "Enter");
    };
    area.onblur = () => close(true);
    root.classList.add("editing");
    area.focus();
  }

  // The middle of a token's upper edge, and where its lower edge is.
  topOf(index) {
    const box = boxOf(this.tokens[index]), { x, y } = boxOf(this.root);
    return { x: box.x - x + box.width / 2, y: box.y - y, below: box.bottom - y };
  }

  // Lets the arcs go to another token that asks, and to its weights, from where they are.
  swing(row) {
    const weights = this.data.weights[row], from = this.now ?? { point: this.topOf(row), weights: weights.map(() => 0) }, start = performance.now();
    const isMoving = !wantsLessMotion() && !document.hidden && from.weights.length === weights.length;
    const turn = (this.turn = (now) => {
      if (turn !== this.turn) return;
      const share = isMoving ? clamp((now - start) / SWING, 0, 1) : 1, eased = share * share * (3 - 2 * share), goal = this.topOf(row);
      const between = (a, b) => a + (b - a) * eased;
      this.now = { row, share, weights: weights.map((weight, key) => between(isMoving ? from.weights[key] : weight, weight)) };
      this.now.point = { x: between(from.point.x, goal.x), y: between(from.point.y, goal.y) };
      this.draw();
      if (share < 1) requestAnimationFrame(turn);
    });
    turn(start);
  }

  draw() {
    if (!this.now || !this.root.isConnected) return;
    const { data, now } = this, [best] = heaviest(data.weights[now.row], 1);
    if (now.share === 1) now.point = this.topOf(now.row);  // words may have moved
    this.arcs.replaceChildren();
    const before = data.before?.row === now.row ? data.before : null;
    this.foot.textContent = `${data.note} ${before ? "Outlined: before." : data.marks}`;
    for (const kind of ["before", "inside"]) before?.weights.forEach((weight, key) => { if (weight >= MIN_WEIGHT) this.arc(key, weight, kind); });
    now.weights.forEach((weight, key) => { if (weight >= MIN_WEIGHT) this.arc(key, weight); });
    this.tokens.forEach((node, key) => {
      const weight = now.weights[key], was = before?.weights[key] ?? 0, isRead = Math.max(weight, was) >= MIN_WEIGHT;
      node.classList.toggle("asks", key === now.row);
      node.style.setProperty("--share", `${Math.round(100 * weight)}%`);
      node.number.textContent = isRead ? ` ${[before && asPercent(was), asPercent(weight)].filter(Boolean).join(" → ")}` : "";
      const looks = `looks most at ${data.queries[heaviest(data.weights[key], 1)[0][1]]}`;
      set(node, { "aria-pressed": key === data.query, "aria-label": `${data.queries[key]}${node.number.textContent}: ${looks}` });
    });
    this.root.dataset.looks = `${data.queries[now.row]} ${data.queries[best[1]]} ${asPercent(best[0])}`;
  }

  arc(key, weight, kind = "") {
    const { point } = this.now, goal = this.topOf(key), distance = Math.hypot(goal.x - point.x, goal.y - point.y);
    if (distance < 1) return;
    const isAbove = goal.below < point.y + 4, end = isAbove ? goal.below : goal.y, top = Math.min(point.y, end);  // in a line before
    const bend = isAbove ? (point.y + end) / 2 : top - Math.min(FLAT + STEEP * distance, (top - ROOM) / PEAK);
    const path = make(this.arcs, "svg:path", { class: kind, d: `M${point.x} ${point.y}C${point.x} ${bend} ${goal.x} ${bend} ${goal.x} ${end}` });
    Object.assign(path.style, { strokeWidth: `${THIN + THICK * weight + OUTLINE * (kind === "before")}px`, strokeOpacity: kind ? 1 : 0.3 + 0.6 * weight });
  }
}

export default shownBy(SentenceView, "chosen");
