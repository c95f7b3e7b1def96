// A step whose numbers a click chooses. Streamlit sends a step's text apart from its numbers: a style sheet shows the text
// once all of it is of the step in the picture, in the frame in which that changes. Until its numbers are here, it is hidden.
import { create, isNew, shownBy } from "../../attention_core/attention/view/prelude.js";
import { codesOf, MovingStep, withParts } from "../../attention_core/attention/view/moving_step.js";

const RETRY_AFTER = 400;  // milliseconds

const pictureOf = (src) => {
  const picture = create("img", { src });
  return picture.decode().then(() => picture, () => null);
};

class ChosenStep extends MovingStep {
  constructor(root) {
    super(root, (row, column) => this.tell({ row, column, step: this.name }));
    Object.assign(this, { files: {}, ready: {}, textStyle: new CSSStyleSheet() });
  }

  adopt(message, tell) {
    const before = this.files, names = message.parts.flatMap((part) => part?.file ?? []);
    this.files = Object.fromEntries(names.map((name) => [name, before[name] ?? this.fetched(name)]));
    Object.assign(this, { message, tell });
    if (!document.adoptedStyleSheets.includes(this.textStyle)) document.adoptedStyleSheets.push(this.textStyle);
    this.unpackAll(message);
  }

  // A part in a file, after two requests at most; null if the server no longer has it: its next message names another file.
  async fetched(file, isLast = false) {
    const part = await fetch(file).then((answer) => answer.ok && answer.json()).catch(() => null);
    if (part) return part;
    if (!isLast) return new Promise((go) => setTimeout(go, RETRY_AFTER)).then(() => this.fetched(file, true));
    delete this.files[file];
    return null;
  }

  // Unpack all steps of a message, before anybody goes to one of them.
  unpackAll({ steps, parts }) {
    const left = Object.entries(this.ready).filter(([name]) => steps[name]), ready = (this.ready = Object.fromEntries(left));
    for (const name in steps) {
      this.unpacked(steps[name], parts).then((step) => {
        if (ready !== this.ready || !step) return;
        ready[name] = step;
        this.showCurrent();
      });
    }
    this.showCurrent();
  }

  async unpacked(step, parts) {
    const matrices = [step, step.before, ...step.factors], loaded = [...parts];
    const used = matrices.flatMap((matrix) => [matrix?.data, matrix?.rows, matrix?.columns]);
    for (const index of used) loaded[index] = (await this.files[parts[index]?.file]) ?? parts[index];
    if (used.some((index) => loaded[index]?.file)) return null;
    const data = withParts(step, loaded), [codes, over] = await Promise.all([codesOf(data), step.over && pictureOf(step.over)]);
    return { data, codes, over };
  }

  setStep(data, codes) {
    super.setStep(data, codes);
    if (this.note.textContent && this.message.follows) this.note.textContent += " Chart shows all.";
  }

  // Show the current step once it is unpacked, and its text with it.
  showCurrent() {
    const { root, message: { now: name, follows } } = this, step = this.ready[name];
    if (step && step !== this.step) {
      Object.assign(this, { step, name, over: step.over });
      if (isNew(this, step.data)) this.setStep(step.data, step.codes);
    }
    root.classList.toggle("awaits", name !== this.name);
    const isComplete = `:has([data-step="${name}"]):has(.st-key-desk_code_${name})`;  // the first of the text and the last
    const rule = follows ? `.st-key-step_words:not(${isComplete}) { opacity: 0; }` : "";
    if (rule !== this.rule) this.textStyle.replaceSync(this.rule = rule);
  }

  leave() { document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.textStyle); }
}

export default shownBy(ChosenStep, "chosen");
