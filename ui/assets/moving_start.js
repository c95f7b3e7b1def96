// A click on a number chooses it. The step to which somebody goes is shown at once where its numbers are here already; what the
// server says then stands, but for its answers to what was done before.
const PATIENCE = 400, LATEST = 5000, KEYS = { ArrowLeft: "←", ArrowRight: "→" };

// The button of a stepper that was clicked, or whose key Streamlit has taken.
const pressedBy = ({ type, target, key, shiftKey, defaultPrevented }, stepper) => {
  if (type === "click") return target.closest(`.st-key-${stepper}_stepper button:enabled`);
  if (!defaultPrevented || !KEYS[key] || target.closest("[role=radio]")) return null;
  return document.querySelector(`.st-key-${stepper}_stepper button:has([aria-label="Shortcut ${shiftKey ? "Shift + " : ""}${KEYS[key]}"])`);
};

class ChosenStep extends MovingStep {
  constructor(root) {
    super(root, (row, column) => this.tell({ row, column, step: this.shown }));
    const ends = new AbortController(), hear = (event) => (root.isConnected ? this.hear(event) : ends.abort());
    window.addEventListener("click", hear, { capture: true, signal: ends.signal });
    window.addEventListener("keydown", hear, { signal: ends.signal });  // after Streamlit, which has taken it or not
  }

  adopt(data, tell) {
    const pictures = Object.values(data.steps).flatMap(({ over }) => over ?? []);
    this.images = Object.fromEntries(pictures.map((src) => [src, this.images?.[src] ?? create("img", { onload: this.redraw, src })]));
    const known = this.files ?? {}, names = data.parts.flatMap(({ file }) => file ?? []);
    this.files = Object.fromEntries(names.map((name) => [name, known[name] ?? this.fetched(name)]));
    Object.assign(this, { said: data, tell });
    clearTimeout(this.later);
    if (!this.asked || this.asked === data.now) this.obey();
    else this.wait();
  }

  // A part in a file, asked for twice; null where the server has let go of it: its next message names it anew.
  async fetched(file, isLast = false) {
    const part = await fetch(file).then((answer) => answer.ok && answer.json()).catch(() => null);
    if (part) return part;
    if (!isLast) return new Promise((go) => setTimeout(go, PATIENCE)).then(() => this.fetched(file, true));
    delete this.files[file];
    return null;
  }

  wait() {
    const isIdle = () => document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning";
    this.later = setTimeout(() => (isIdle() ? this.obey() : this.wait()), PATIENCE);
  }

  obey() {
    this.asked = null;
    this.go(this.said.now);
  }

  // To a step, or where its numbers are not here yet, away from the old ones.
  async go(name) {
    const { steps, parts } = this.said, step = steps[name], going = (this.going = {}), here = [...parts];
    this.root.classList.add("awaits");
    const used = step ? [step, step.before, ...step.factors].flatMap((one) => [one?.data, one?.rows, one?.columns]) : [];
    for (const place of used) here[place] = (await this.files[parts[place]?.file]) ?? parts[place];
    if (!step || going !== this.going || used.some((place) => here[place]?.file)) return;
    this.root.classList.remove("awaits");
    this.shown = name;
    super.adopt(withParts(step, here));
  }

  hear(event) {
    const { names, stops, now, stepper } = this.said, at = this.asked ?? now, pressed = pressedBy(event, stepper);
    if (!pressed) return;
    const chips = [...document.querySelectorAll(`.st-key-${stepper} [role=radio]`)], isOf = (way) => pressed.matches(`.st-key-${stepper}_${way} *`);
    const ledTo = names.filter((name) => stops.includes(name) || name === at);
    const asked = pressed.role === "radio" ? names[chips.indexOf(pressed)] : ledTo[ledTo.indexOf(at) + isOf("next") - isOf("previous")];
    if (!asked || asked === at) return;
    clearTimeout(this.later);
    this.asked = asked;
    this.later = setTimeout(() => this.wait(), LATEST);
    if (document.querySelector(`.st-key-${stepper}_guess input:checked`)) return;
    const go = () => { if (this.asked === asked) this.go(asked); };
    if (this.said.steps[asked]) requestAnimationFrame(go); else go();  // what takes its time once Streamlit has sent the click
  }
}

export default shownBy(ChosenStep, "chosen");
