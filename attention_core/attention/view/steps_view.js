// The steps of one head, from the scores to the context: one at a time, with its meaning, its line of code and its numbers.
import { clamp, inLine, make, set } from "./prelude.js";
import { MovingStep, withParts } from "./moving_step.js";

export class StepsView {
  constructor(parent, steps, parts) {
    this.steps = steps.map((step) => withParts(step, parts));
    const head = make(parent, "div", "steps-head");
    make(head, "h3", "", "Step by step");
    const back = make(head, "button", { class: "go", "aria-label": "previous step" }, "‹");
    this.chips = this.steps.map((step) => make(head, "button", { class: `chip ${step.role}`, "aria-label": step.title }, step.symbol));
    const next = make(head, "button", { class: "go", "aria-label": "next step" }, "›");
    const body = make(parent, "div", "step");
    this.words = make(body, "div", "words");
    const numbers = make(body, "div", "numbers");
    this.matrix = numbers.view = new MovingStep(numbers);
    make(this.matrix.bar, "button", { class: "go", title: "Save as a film" }, "Film").onclick = () => this.matrix.save();
    back.onclick = () => this.show(this.now - 1);
    next.onclick = () => this.show(this.now + 1);
    inLine(this.chips, () => {}, (place) => this.show(place));
    this.show(Math.max(0, this.steps.findIndex((step) => step.role === "scores")));
  }

  show(place) {
    this.now = clamp(place, 0, this.steps.length - 1);
    const step = this.steps[this.now];
    this.chips.forEach((chip, at) => set(chip, { "aria-pressed": at === this.now }));
    if (step === this.shown) return;
    this.shown = step;
    this.words.replaceChildren();
    const [rows, columns] = step.names;
    make(this.words, "b", step.role, step.title);
    make(this.words, "p", "small", `${step.whole[0]} ${rows} × ${step.whole[1]} ${columns}`);
    make(this.words, "p", "", step.explanation);
    make(this.words, "pre", "", step.code);
    this.matrix.adopt(this.atQuery(step));
  }

  atQuery(step) { return { ...step, query: step.isQuery ? this.query ?? null : null, column: null, size: 440 }; }

  follow(query) {
    this.query = query;
    this.matrix.adopt(this.atQuery(this.steps[this.now]));
  }
}
