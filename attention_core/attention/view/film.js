// A canvas on which something moves, and a bar below it to play and scrub that; `save` makes a file of it. What extends it has `seconds` and a
// `title`, and draws: the time goes from 0 to 1. In a lecture its letters have so many pixels of the screen.
import { asPercent, create, make, onceAFrame, set, whenDarkOrLight } from "./prelude.js";

const HALL_LETTERS = 24;
export class Film {
  constructor(root, says, plays) {
    Object.assign(this, { root, plays, time: 1 });
    this.canvas = make(root, "canvas", { class: "moving", role: "img" });
    this.bar = make(root, "div", "film");
    this.button = make(this.bar, "button", "go");
    this.slider = make(this.bar, "input", { type: "range", min: 0, max: 100, value: 100, "aria-label": says });
    this.button.onclick = () => (this.playing ? this.stop() : this.play());
    this.slider.oninput = () => { this.stop(); this.show(this.slider.value / this.slider.max); };
    this.redraw = onceAFrame(() => this.draw());
    new ResizeObserver(() => { if (root.clientWidth && root.clientWidth !== this.width) this.redraw(); }).observe(root);
    whenDarkOrLight(root, this.redraw);
    this.turn(0);
    const films = (window.attentionFilms ??= new Set());  // for the menu that saves them, see share.js
    for (const film of films) if (!film.root.isConnected) films.delete(film);
    films.add(this);
  }

  get canBeSaved() { return !this.bar.hidden && this.canvas.getClientRects().length > 0; }

  // Since when it plays, 0 = it rests.
  turn(playing) {
    this.playing = playing;
    this.button.textContent = playing ? "❚❚" : "▶";
    set(this.button, { "aria-label": playing ? "Pause" : this.plays });
  }

  // From the beginning; `done` is called where it stops.
  play(done) {
    this.stop();
    const began = performance.now();
    this.turn(began);
    this.done = done;
    const tick = (now) => {
      if (this.playing !== began) return;
      this.show(Math.min(1, (now - began) / 1000 / this.seconds));
      if (this.time < 1) requestAnimationFrame(tick);
      else this.stop();
    };
    this.show(0);
    requestAnimationFrame(tick);
  }

  stop() {
    this.turn(0);
    this.done?.();
    this.done = null;
  }

  show(time) {
    this.time = time;
    this.slider.value = Math.round(time * this.slider.max);
    set(this.slider, { "aria-valuetext": this.timeText });
    this.draw();
  }

  get timeText() { return asPercent(this.time); }

  // Save it as a film, or where the browser makes none as six pictures side by side.
  save() {
    const { canvas } = this, { width, height } = canvas, pieces = [];
    const keep = (blob, ending) => {
      const href = URL.createObjectURL(blob);
      create("a", { href, download: `${this.title.toLowerCase().replace(/\W+/g, "-")}.${ending}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 10000);
    };
    if (!canvas.captureStream || !window.MediaRecorder) {
      const strip = create("canvas", { width: 6 * width, height }), pen = strip.getContext("2d");
      for (let at = 0; at < 6; at++) { this.show(at / 5); pen.drawImage(canvas, at * width, 0); }
      return strip.toBlob((blob) => keep(blob, "png"));
    }
    const recorder = new MediaRecorder(canvas.captureStream(30));
    recorder.ondataavailable = (event) => pieces.push(event.data);
    recorder.onstop = () => keep(new Blob(pieces, { type: recorder.mimeType }), "webm");
    recorder.start();
    this.play(() => setTimeout(() => recorder.stop(), 300));
  }

  // Get ready to draw; false where the canvas has left the page meanwhile.
  measure() {
    const style = getComputedStyle(this.canvas);
    Object.assign(this, { pen: this.canvas.getContext("2d"), ink: style.color, font: style.fontFamily, ground: style.backgroundColor });
    this.width = this.root.clientWidth || 500;
    const hall = style.getPropertyValue("--least") ? HALL_LETTERS * (style.getPropertyValue("--scale") || 1) : 0;
    this.least = hall / (this.canvas.currentCSSZoom ?? 1);
    return this.root.isConnected;
  }

  // An empty canvas of such a height; a film has no transparent pixels.
  clear(height) {
    const { canvas, pen, width } = this, ratio = (devicePixelRatio || 1) * (canvas.currentCSSZoom ?? 1);
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    set(canvas, { style: `width:${width}px;height:${height}px` });
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = this.ground;
    pen.fillRect(0, 0, width, height);
  }

  write(text, x, y, { size = 12, align = "left", weight = "", colour = this.ink, room = 1e4 } = {}) {
    const { pen } = this;
    pen.fillStyle = colour;
    pen.font = `${weight} ${Math.max(size, this.least)}px ${this.font}`;
    [pen.textAlign, pen.textBaseline] = [align, "middle"];
    pen.fillText(text, x, y, room);
  }
}
