// What all scenes share: a caption, a stage, steps that play once and to which a visitor then can go, and a slider over their
// time. A scene lays its stage out (`layOut`) and draws it at the present time (`draw`). It may have `begin`, called before it
// plays, `arrive`, called after it has played as far as it was to, and `pace`, how many times as fast it plays.
import { arrowOf, clamp, create, make, makeHeard, onceAFrame, pointIn, set, wantsLessMotion, whenDarkOrLight } from "./prelude.js";

const WAIT = 600;  // milliseconds before it plays on arrival
const HALL_LETTERS = 23;  // pixels of the smallest letters in a hall, of a screen of 1920 x 1080
const played = new Set();  // which scenes have played, see hasPlayed

// Text in which what stands between pairs of ** is bold, and W_Q has an index.
const indexed = (text) => text.split(/(?<=\bW)_(\w)/).map((part, index) => (index % 2 ? create("sub", { textContent: part }) : part));
export const writeMarked = (node, text) => {
  node.replaceChildren();
  text.split("**").forEach((part, index) => (index % 2 ? make(node, "b") : node).append(...indexed(part)));
};

export class ScenePlayer {
  constructor(root, label) {
    Object.assign(this, { root, time: 0, playing: 0, sent: 0 });
    root.classList.add("scene");
    this.say = make(root, "p", "say");
    this.heard = makeHeard(root);  // once it rests: who only hears it is told no steps before
    this.frame = make(root, "div", "frame");
    this.stage = make(this.frame, "div", { class: "stage", role: "group", "aria-label": label });
    this.canvas = make(this.stage, "canvas", { "aria-hidden": true });
    this.bar = make(root, "div", "bar");
    this.button = make(this.bar, "button", "play");
    this.button.onclick = () => (this.playing ? this.stop() : this.play());
    this.steps = make(this.bar, "div", { class: "steps", role: "group", "aria-label": "Steps" });
    this.slider = make(this.bar, "input", { type: "range", min: 0, step: 0.05, "aria-label": "Time" });
    this.slider.oninput = () => { this.stop(); this.show(Number(this.slider.value)); };
    this.note = make(root, "p", "note");
    this.bar.onkeydown = (event) => this.press(event);
    this.redraw = onceAFrame(() => { if (this.data && root.isConnected) { this.layOut(); this.draw(); } });
    new ResizeObserver(() => { if (this.frame.clientWidth !== this.frameWidth) this.redraw(); }).observe(this.frame);
    whenDarkOrLight(root, this.redraw);
    this.onLectureKey = (event) => { if (root.isConnected && root.checkVisibility()) this.hearKey(event); };
    this.onPageKey = (event) => this.hearPageKey(event);
    window.addEventListener("lecturekey", this.onLectureKey);
    window.addEventListener("keydown", this.onPageKey, true);
  }

  leave() {
    window.removeEventListener("lecturekey", this.onLectureKey);
    window.removeEventListener("keydown", this.onPageKey, true);
  }

  // Where nothing has the focus, arrow keys lead through the scene as long as it is in sight and not over.
  hearPageKey(event) {
    const isMine = event.target === document.body && ["ArrowLeft", "ArrowRight"].includes(event.key) && !window.lecture?.on;
    const hasModifier = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey;
    if (!isMine || hasModifier || !this.timeline || this.isCovered || !this.root.isConnected) return;
    if (event.key === "ArrowRight" && this.isOver()) return;
    const { top, bottom, height } = this.frame.getBoundingClientRect(), middle = (top + bottom) / 2;
    if (height && middle > 0 && middle < innerHeight) this.press(event);
  }

  // In a lecture, a key of the remote control ends what plays, at the rest of its stage, or plays the next stage; the space bar
  // stops it where it is. So it takes these keys while it plays and, once it was stopped by one, until it is over.
  hearKey(event) {
    const isRunning = Boolean(this.playing || this.isAboutToPlay);
    if (!["PageDown", "ArrowRight", " "].includes(event.detail) || this.isCovered || !(isRunning || (this.isHeld && !this.isOver()))) return;
    event.preventDefault();
    Object.assign(this, { isTouched: true, isAboutToPlay: false });
    if (isRunning) {
      this.stop();
      if (event.detail !== " ") this.endStage();
    } else this.playOn();
    this.isHeld = true;
  }

  isOver() { return this.time >= this.timeline.end - 0.01; }

  // The stages through which a remote control leads are the steps; other scenes have longer ones.
  endStage() { this.show(this.timeline.restOf(this.timeline.indexAt(this.time))); }

  playOn() {
    const next = this.timeline.steps.findIndex((_, index) => this.timeline.restOf(index) > this.time + 0.02);
    if (next >= 0) this.playStep(next);
  }

  // Notes whom to tell what a visitor does; returns whether the data answer the newest message, not an older one.
  hears(data, tell) {
    if (tell && !data.isAlone) this.tell = (message) => { this.sent = Date.now(); tell({ ...message, sent: this.sent }); };
    return !(data.answered < this.sent);
  }

  // While a visitor guesses, the scene is covered: nothing in it can be chosen. Returns whether that has ended just now.
  cover(isCovered) {
    const isRevealed = Boolean(this.isCovered) && !isCovered;
    this.isCovered = Boolean(isCovered);
    this.frame.inert = this.bar.inert = this.isCovered;
    this.root.classList.toggle("covered", this.isCovered);
    return isRevealed;
  }

  // Whether a scene of this subject has played already; from now on it has. Who comes back to a page finds it at rest.
  hasPlayed(...subject) {
    const name = JSON.stringify(subject), wasPlayed = played.has(name);
    played.add(name);
    return wasPlayed;
  }

  playOnArrival() {
    Object.assign(this, { isTouched: false, isAboutToPlay: true });
    this.show(0);
    setTimeout(() => {
      this.isAboutToPlay = false;
      if (!this.isTouched) this.play();
    }, WAIT);
  }

  buildSteps(timeline) {
    this.timeline = timeline;
    this.steps.replaceChildren();
    this.stepButtons = timeline.steps.map(({ title }, index) => {
      const node = make(this.steps, "button", "", title);
      node.bar = make(node, "i");
      node.onclick = () => this.playStep(index);
      return node;
    });
    this.slider.max = timeline.end;
  }

  // What the page gives the stage: its width, font, colours, and in a lecture the size of its smallest letters, `least`, else 0.
  // Also notes `ratio`, how many pixels of the screen are one of the stage.
  measureFrame() {
    const style = getComputedStyle(this.canvas), zoom = this.canvas.currentCSSZoom ?? 1;
    this.frameWidth = this.frame.clientWidth;
    const least = style.getPropertyValue("--least") ? HALL_LETTERS * (style.getPropertyValue("--scale") || 1) / zoom : 0;
    Object.assign(this, { font: style.fontFamily, ratio: (devicePixelRatio || 1) * zoom });
    return { width: this.frameWidth || 700, least, ink: style.color, ground: style.backgroundColor };
  }

  sizeStage({ width, height, isNarrow }) {
    for (const node of [this.stage, this.canvas]) set(node, { style: `width:${width}px;height:${height}px` });
    this.root.classList.toggle("narrow", isNarrow);
  }

  // Keeps room for the longest of these captions, so that nothing moves when it comes.
  reserveRoom(captions) {
    const { say } = this;
    say.style.minHeight = "";
    const heights = captions.map((text) => { writeMarked(say, text); return say.offsetHeight; });
    if (heights.length) say.style.minHeight = `${Math.max(...heights) / parseFloat(getComputedStyle(say).fontSize)}em`;
    this.caption = null;
  }

  pointOf(event) { return pointIn(this.stage, event); }

  play() {
    this.isHeld = false;
    this.playTo(this.timeline.end, this.time >= this.timeline.end - 0.01 ? 0 : this.time);
  }

  playStep(index) {
    this.isTouched = true;
    const step = this.timeline.steps[index], rest = this.timeline.restOf(index);
    if (wantsLessMotion()) this.show(rest);
    else this.playTo(rest, step.start);
  }

  playTo(until, from) {
    this.stop();
    this.begin?.();
    if (wantsLessMotion()) return this.show(until);
    const token = (this.playing = performance.now());
    let last = token, time = from;
    this.turn();
    const tick = (now) => {
      if (this.playing !== token || !this.root.isConnected) return;
      time = Math.min(until, time + ((this.pace ?? 1) * Math.max(0, now - last)) / 1000);
      last = now;
      if (time >= until) { this.playing = 0; this.turn(); }
      this.show(time);
      if (time < until) requestAnimationFrame(tick);
      else this.arrive?.();
    };
    this.show(from);
    requestAnimationFrame(tick);
    return undefined;
  }

  stop() {
    this.playing = 0;
    this.turn();
  }

  // The button says what a click on it would do.
  turn() {
    const isOver = this.timeline && this.time >= this.timeline.end;
    const [sign, action] = this.playing ? ["❚❚", "Pause"] : isOver ? ["↻", "Play again"] : ["▶", "Play"];
    this.button.textContent = `${sign} ${action}`;
    set(this.button, { "aria-label": action });
  }

  // Arrow keys go from where one step rests to where the next one does; the space bar plays and stops.
  press(event) {
    if (event.target === this.slider) return;
    if (event.key === " ") { event.preventDefault(); this.isTouched = true; this.button.click(); }
    const direction = arrowOf(event)?.[0];  // -1 = back, 1 = on
    if (!direction) return;
    this.isTouched = true;
    this.stop();
    const rests = this.timeline.steps.map((_, index) => this.timeline.restOf(index));
    const goal = direction > 0 ? rests.findIndex((rest) => rest > this.time + 0.02) : rests.findLastIndex((rest) => rest < this.time - 0.02);
    if (goal < 0 && direction > 0 && !this.isOver()) this.playOn();
    if (goal < 0) return;
    if (direction > 0 && !wantsLessMotion()) this.playTo(rests[goal], this.time);
    else this.show(rests[goal]);
    this.stepButtons[goal].focus({ preventScroll: true });
  }

  show(time) {
    this.time = time;
    this.turn();
    this.draw();
  }

  // Writes the caption, and what of the bar follows the time.
  writeTime(caption) {
    const { timeline } = this, index = timeline.indexAt(this.time);
    if (caption !== this.caption) writeMarked(this.say, (this.caption = caption));
    if (!this.playing && !this.isAboutToPlay && this.heard.textContent !== this.say.textContent) this.heard.textContent = this.say.textContent;
    this.stepButtons.forEach((node, at) => {
      const { start, end } = timeline.steps[at];
      node.bar.style.width = `${100 * clamp((this.time - start) / (end - start), 0, 1)}%`;
      if (at === index) set(node, { "aria-current": "step" });
      else node.removeAttribute("aria-current");
    });
    if (this.root.getRootNode().activeElement !== this.slider || this.playing) this.slider.value = this.time;
    this.slider.style.setProperty("--played", `${(100 * this.time) / timeline.end}%`);
    set(this.slider, { "aria-valuetext": timeline.steps[index].title });
  }
}
