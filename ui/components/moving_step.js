// A click on a number chooses it. A step's words come apart from its numbers: a style of ours lets them be seen when all of
// them tell of the step of the picture, in the frame in which it changes, and it hides while its numbers are to come.
import { create, isNew, shownBy } from "../../attention_core/attention/view/prelude.js";
import { codesOf, MovingStep, withParts } from "../../attention_core/attention/view/moving_step.js";

const PATIENCE = 400;

const pictureOf = (src) => {
  const picture = create("img", { src });
  return picture.decode().then(() => picture, () => null);
};

class ChosenStep extends MovingStep {
  constructor(root) {
    super(root, (row, column) => this.tell({ row, column, step: this.shown }));
    Object.assign(this, { files: {}, ready: {}, words: new CSSStyleSheet() });
  }

  adopt(data, tell) {
    const known = this.files, names = data.parts.flatMap((part) => part?.file ?? []);
    this.files = Object.fromEntries(names.map((name) => [name, known[name] ?? this.fetched(name)]));
    Object.assign(this, { said: data, tell });
    if (!document.adoptedStyleSheets.includes(this.words)) document.adoptedStyleSheets.push(this.words);
    this.prepare(data);
  }

  // A part in a file, asked for twice; null where the server has let go of it: its next message names it anew.
  async fetched(file, isLast = false) {
    const part = await fetch(file).then((answer) => answer.ok && answer.json()).catch(() => null);
    if (part) return part;
    if (!isLast) return new Promise((go) => setTimeout(go, PATIENCE)).then(() => this.fetched(file, true));
    delete this.files[file];
    return null;
  }

  // Unpack all steps that are here, for who goes to one of them.
  prepare({ steps, parts }) {
    const known = Object.entries(this.ready).filter(([name]) => steps[name]), ready = (this.ready = Object.fromEntries(known));
    for (const name in steps) {
      this.unpacked(steps[name], parts).then((step) => {
        if (ready !== this.ready || !step) return;
        ready[name] = step;
        this.follow();
      });
    }
    this.follow();
  }

  async unpacked(step, parts) {
    const used = [step, step.before, ...step.factors].flatMap((one) => [one?.data, one?.rows, one?.columns]), here = [...parts];
    for (const place of used) here[place] = (await this.files[parts[place]?.file]) ?? parts[place];
    if (used.some((place) => here[place]?.file)) return null;
    const whole = withParts(step, here), [codes, over] = await Promise.all([codesOf(whole), step.over && pictureOf(step.over)]);
    return { whole, codes, over };
  }

  setStep(step, codes) {
    super.setStep(step, codes);
    if (this.note.textContent && this.said.follows) this.note.textContent += " Chart shows all.";
  }

  follow() {
    const { root, said: { now, follows } } = this, step = this.ready[now];
    if (step && step !== this.step) {
      Object.assign(this, { step, shown: now, over: step.over });
      if (isNew(this, step.whole)) this.setStep(step.whole, step.codes);
    }
    root.classList.toggle("awaits", now !== this.shown);
    const are = `:has([data-step="${now}"]):has(.st-key-desk_code_${now})`;  // the first of the words and the last
    const rule = follows ? `.st-key-step_words:not(${are}) { opacity: 0; }` : "";
    if (rule !== this.rule) this.words.replaceSync(this.rule = rule);
  }

  leave() { document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.words); }
}

export default shownBy(ChosenStep, "chosen");
