// The steps of one head, from the scores to the context: one at a time, with its meaning, its line of code and its numbers.
class StepsView {
  constructor(parent, steps) {
    this.steps = steps;
    const head = make(parent, "div", "steps-head");
    make(head, "h3", "", "Step by step");
    const back = make(head, "button", { class: "go", "aria-label": "previous step" }, "‹");
    this.chips = steps.map((step) => make(head, "button", { class: `chip ${step.role}`, "aria-label": step.title }, step.symbol));
    const next = make(head, "button", { class: "go", "aria-label": "next step" }, "›");
    this.body = make(parent, "div", "step");
    back.onclick = () => this.show(this.now - 1);
    next.onclick = () => this.show(this.now + 1);
    inLine(this.chips, () => {}, (place) => this.show(place));
    this.show(Math.max(0, steps.findIndex((step) => step.role === "scores")));
  }

  async show(place) {
    this.now = clamp(place, 0, this.steps.length - 1);
    const step = this.steps[this.now];
    this.chips.forEach((chip, at) => set(chip, { "aria-pressed": at === this.now }));
    step.numbers ??= await numbersOf(step.data);
    if (step !== this.steps[this.now]) return;
    this.body.replaceChildren();
    const words = make(this.body, "div", "words"), [n, m] = [step.rows.length, step.columns.length];
    make(words, "b", step.role, step.title);
    const whole = `${step.whole[0]} ${step.names[0]} × ${step.whole[1]} ${step.names[1]}`;
    const blocks = step.whole[0] === n && step.whole[1] === m ? "" : `, drawn in ${n} × ${m} blocks`;
    make(words, "p", "small", whole + blocks);
    make(words, "p", "", step.explanation);
    make(words, "pre", "", step.code);
    const told = make(words, "p", { class: "small told", "aria-live": "polite" });
    const rising = step.low >= 0 && step.role === "weights", reach = Math.max(Math.abs(step.low), Math.abs(step.high)) || 1;
    const value = (at) => step.low + ((step.numbers[at] - 1) / 65534) * (step.high - step.low);
    const colour = colouring(step.high, step.whole[1]);
    this.matrix = new MatrixView(this.body, {
      rows: n, columns: m, name: `${step.title}: ${whole}`, side: 380, row: step.isQuery ? this.query : null,
      paint: (at) => {
        if (!step.numbers[at]) return 0;
        return rising ? colour(value(at)) : RAMPS.signed[Math.round(127.5 * (1 + value(at) / reach))];
      },
      say: (row, column) => {
        const at = row * m + column, number = step.numbers[at] ? minus(value(at).toPrecision(3)) : "−∞";
        return `${step.rows[row]}, ${step.columns[column]}: ${number}`;
      },
      tell: (text) => { told.textContent = text; },
    });
  }

  follow(query) {
    this.query = query;
    if (this.matrix && this.steps[this.now].isQuery) this.matrix.mark(query);
  }
}
