// A click on a number chooses it. A step's words come apart from its numbers, which the browser mostly has before: the picture
// follows the words beside it, in the same frame, and is not to be seen while they tell of a step whose numbers are to come.
const PATIENCE = 400;

const pictureOf = (src) => {
  const picture = create("img", { src });
  return picture.decode().then(() => picture, () => null);
};

class ChosenStep extends MovingStep {
  constructor(root) {
    super(root, (row, column) => this.tell({ row, column, step: this.shown }));
    Object.assign(this, { files: {}, ready: {}, watch: new MutationObserver(() => this.follow()) });
  }

  adopt(data, tell) {
    const known = this.files, names = data.parts.flatMap((part) => part?.file ?? []);
    this.files = Object.fromEntries(names.map((name) => [name, known[name] ?? this.fetched(name)]));
    const beside = data.follows ? this.root.getRootNode().host.closest("[data-testid=stHorizontalBlock]") : null;
    if (beside !== this.beside) this.watch.disconnect();
    if (beside) this.watch.observe(beside, { subtree: true, childList: true, attributeFilter: ["class"] });
    Object.assign(this, { said: data, tell, beside });
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

  // The step that the words beside it tell of: "" while only some of them have come, null where there are none.
  get told() {
    const step = this.beside?.querySelector("h3[data-step]")?.dataset.step;
    return step ? (this.beside.querySelector(`.st-key-desk_code_${step}`) ? step : "") : null;
  }

  follow() {
    const { told, root } = this, name = told ?? this.said.now, step = this.ready[name];
    if (step && step !== this.step) {
      Object.assign(this, { step, shown: name, over: step.over });
      if (isNew(this, step.whole)) this.put(step.whole, step.codes);
    }
    root.classList.toggle("awaits", name !== this.shown);
    const words = this.beside?.querySelector(".st-key-step_words");
    if (words) words.style.opacity = told === "" && root.isConnected ? 0 : "";
    if (!root.isConnected) this.watch.disconnect();
  }
}

export default shownBy(ChosenStep, "chosen");
