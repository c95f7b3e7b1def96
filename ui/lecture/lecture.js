// What a lecturer needs on every page: keys and presenters' remote controls, a spotlight, a blank screen, dark or light. It is
// laid over the page from a place of its own in the document, so that no rerun takes it away. Last, for everybody: what keeps
// the colours and the letters of charts.
import { boxOf, clamp, make, onceAFrame, set } from "../../attention_core/attention/view/prelude.js";
import { helpByKeys } from "../components/by_keys.js";

const KEYS = [
  ["→, Page Down", "next step, word or screen"], ["←, Page Up", "back"], ["1 to 9, 0", "a screen"], ["], [", "next page, page before"],
  ["R", "reveal what was hidden"], ["F", "full screen of the chart under the pointer, and back"],
  ["S", "spotlight on a region, on a row, off"], ["+, −", "larger or smaller spotlight"], ["B or .", "black screen, and back"],
  ["C", "all controls and boxes in sight, or only what a hall needs"], ["D", "dark or light"], ["N", "notes of a guided lecture, in a second window"], ["L", "leave lecture mode"], ["?", "this card"], ["Esc", "back to the page"],
];
const SPOTS = ["", "region", "row"], DIRECTIONS = { PageDown: "next", ArrowRight: "next", PageUp: "previous", ArrowLeft: "previous" };
const WIDTH = 1920, HEIGHT = 1080;  // of the screen that all lengths of a lecture are for, see lecture.css; a projector shows it larger or smaller
const MIN_ZOOM = 0.7, MAX_ZOOM = 2.2, MAX_ALONE = 2.5, STRIP = 62;  // the list of screens
const WORTH = 1.05;  // times a zoom that fits: a smaller gain is none, for charts follow their width, and it would go back and forth
const CORNER = 248, APART = 16;  // wide is the lower right corner, where the hall is asked; between the points at which it is tried
const QUIET = 3000;  // milliseconds after which the pointer is said to rest
const CALM = 350;  // milliseconds without a new size after which a lecture is shown
const MAX_FITS = 12, MAX_WAITS = 8;  // of a screen whose parts are still to come, and for a scene whose script is
const TYPING = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true], [role=textbox], [role=slider], canvas:not(.moving)";
const BLOCK = '[data-testid="stMainBlockContainer"]';
const SCREENS = '.st-key-lecture_screens [role="radio"]';
const SCENE = '[class*="_scene"]';
const RUNS = '[data-test-script-state="running"]';
const PART = '[data-testid="stElementContainer"]';
const STEPPER = '[class*="_stepper"]';
const CHART = '[data-testid="stFullScreenFrame"]';

const press = (selector) => {
  const target = [...document.querySelectorAll(selector)].find((node) => !node.disabled && node.getClientRects().length);
  target?.click();
  return Boolean(target);
};

// The element that has the focus, inside components too.
const focused = (root = document) => (root.activeElement?.shadowRoot ? focused(root.activeElement.shadowRoot) : root.activeElement);

const elementAt = (x, y, root = document) => {
  const node = root.elementFromPoint(x, y), inner = node?.shadowRoot;
  return inner && inner !== root ? elementAt(x, y, inner) ?? node : node;
};

// Whether something is seen at a point: a picture, a control, or letters; not the empty end of a line.
const isTaken = (x, y) => {
  const node = elementAt(x, y);
  if (!node || node.closest(".st-key-lecture_screens")) return false;
  if (node.closest('canvas, img, button, input, textarea, svg, [data-baseweb="select"], [role="slider"]')) return true;
  const letters = document.createRange();
  return [...node.childNodes].some((child) => {
    if (child.nodeType !== Node.TEXT_NODE) return false;
    letters.selectNodeContents(child);
    return [...letters.getClientRects()].some(({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom);
  });
};

const scale = () => Math.min(window.innerWidth / WIDTH, window.innerHeight / HEIGHT);

// The parts of the page that reach into the lower right corner.
const partsInCorner = () => {
  const { style } = document.documentElement, fitted = style.getPropertyValue("--fitted"), hall = document.querySelector("#hall");
  const height = 16 + (window.hall?.box.offsetHeight ?? 0), size = scale();
  style.setProperty("--fitted", "visible");  // nothing is found at a point where it is hidden
  if (hall) hall.style.display = "none";  // what stands there by right
  const along = (end, length) => Array.from({ length: length / APART + 1 }, (_, index) => end - 1 - index * APART * size);
  const points = along(window.innerWidth, CORNER).flatMap((x) => along(window.innerHeight, height).map((y) => [x, y]));
  const nodes = points.filter(([x, y]) => isTaken(x, y)).map(([x, y]) => document.elementFromPoint(x, y).closest(PART));
  style.setProperty("--fitted", fitted);
  if (hall) hall.style.display = "";
  return [...new Set(nodes)];
};

const isDark = () => getComputedStyle(document.querySelector(".stApp")).colorScheme === "dark";

class Lecture {
  constructor(style) {
    this.overlay = make(document.documentElement, "div", { id: "lecture" });
    const stage = this.overlay.attachShadow({ mode: "open" });
    stage.append(style);
    this.spot = make(stage, "div", "spot");
    this.blank = make(stage, "div", "blank");
    this.card = make(stage, "div", { class: "card", role: "dialog", "aria-label": "Keys of lecture mode" });
    for (const [key, meaning] of KEYS) {
      make(this.card, "kbd", "", key);
      make(this.card, "span", "", meaning);
    }
    this.bar = make(stage, "div", { class: "bar", role: "toolbar", "aria-label": "Lecture mode" });
    for (const [label, title, act] of [
      ["◐", "Dark or light", () => this.turn()], ["?", "Keys", () => this.show(this.card)],
      ["✕", "Leave lecture mode", () => this.leave()],
    ]) make(this.bar, "button", { title, "aria-label": title }, label).onclick = act;
    this.size = 260;
    this.kind = 0;
    this.fitSoon = onceAFrame(() => this.fit());
    this.keepsControls = false;
    this.watch = new ResizeObserver(() => this.fitSoon());
    this.changes = new MutationObserver(() => {
      this.ceiling = MAX_ALONE;
      this.waitForCalm();
    });
    window.addEventListener("keydown", (event) => this.key(event), true);
    window.addEventListener("resize", () => this.fitSoon());
    window.addEventListener("pointermove", (event) => this.follow(event), { passive: true });
    window.addEventListener("click", (event) => requestAnimationFrame(() => this.clicked(event)), true);
  }

  adopt({ on, paths, way }) {
    this.paths = paths;
    this.way = way;
    this.on = on;
    this.overlay.hidden = !on;
    if (!this.quiet) this.calmDown();
    if (!on) { this.clear(); document.querySelector("#lecture-style")?.remove(); }
    const block = document.querySelector(BLOCK);
    if (!on || block !== this.block) {
      this.watch.disconnect();
      this.changes.disconnect();
    }
    if (on && block !== this.block) {
      for (const node of block?.children ?? []) this.watch.observe(node);
      if (block) this.changes.observe(block, { subtree: true, childList: true, characterData: true });
    }
    this.block = on ? block : null;
    this.fitSoon();
  }

  // Who clicks a chip wants the arrow keys for the steps; who came to it by the Tab key, for its neighbours.
  clicked({ detail }) {
    if (detail && focused()?.matches("button, [role=radio], input[type=checkbox]")) focused().blur();
  }

  // Of the screen that is open, with the window's size, and whether it waits for a guess.
  get name() {
    const chosen = document.querySelector(`${SCREENS}[aria-checked=true]`);
    const isAsking = Boolean(document.querySelector('[class*="_try_guess"]'));
    return [window.innerWidth, window.innerHeight, window.location.pathname, chosen?.textContent, isAsking].join(" ");
  }

  // The largest zoom at which the whole screen is seen; below its answer stays a third of the room, but for steps, which stay where they are. What would reach
  // into the corner is made narrower if it is wide, or else the whole screen. Once all is there it stays so until another screen
  // comes: charts follow their width, so that they would go back and forth.
  fit() {
    const { style } = document.documentElement, { name } = this;
    style.setProperty("--scale", this.on ? scale() : 1);
    if (!this.on || !this.block) return style.setProperty("--zoom", 1);
    if (name !== this.screen) Object.assign(this, { fits: 0, waits: 0, ceiling: MAX_ALONE });
    this.screen = name;
    if (this.fits++ < MAX_FITS) this.spread("0px");
    this.enlarge();
    this.leaveCorner();
    this.waitForCalm();
  }

  spread(corner) {
    document.querySelectorAll("[data-apart]").forEach((part) => part.removeAttribute("data-apart"));
    document.documentElement.style.setProperty("--corner", corner);
  }

  leaveCorner() {
    if (!this.on || document.documentElement.style.getPropertyValue("--corner") !== "0px") return;
    const parts = partsInCorner();
    if (!parts.length) return;
    if (parts.some((part) => !part || "apart" in part.dataset || boxOf(part).width < 3 * CORNER)) this.spread(`${CORNER}px`);
    else parts.forEach((part) => part.toggleAttribute("data-apart", true));
    this.enlarge();
  }

  // What comes without a new size of the whole may stand in the corner, too.
  waitForCalm() {
    clearTimeout(this.calm);
    this.calm = setTimeout(() => {
      this.calm = 0;
      if (this.on && this.name !== this.screen) return this.fit();  // it is as high as the one before
      const isEmpty = [...document.querySelectorAll(SCENE)].some((scene) => scene.checkVisibility() && !scene.offsetHeight);
      if (isEmpty && this.waits++ < MAX_WAITS) return this.waitForCalm();
      if (this.makeRoom()) return this.fit();
      this.leaveCorner();
      document.documentElement.style.setProperty("--fitted", "visible");
      if (document.querySelector(RUNS)) this.waitForCalm(); else this.fits = MAX_FITS;
    }, CALM);
  }

  enlarge() {
    const { style } = document.documentElement, size = scale();
    const isAlone = Boolean(this.block.querySelector(".screen") && !this.block.querySelector(STEPPER));
    let tried = 0, room = 0;
    const fits = (zoom) => {
      tried = zoom;
      style.setProperty("--zoom", zoom);
      document.documentElement.toggleAttribute("data-small", zoom * size < 1);
      this.makeRoom();
      const { parentElement: { scrollTop, scrollWidth, clientWidth }, firstElementChild } = this.block;
      room = window.innerHeight - STRIP * size - scrollTop - firstElementChild.getBoundingClientRect().bottom;
      return scrollWidth <= clientWidth && room >= 0;
    };
    style.setProperty("--drop", "0px");
    let low = MIN_ZOOM, high = Math.min(isAlone ? MAX_ALONE : MAX_ZOOM, this.ceiling);
    const current = Math.min(high, Number(style.getPropertyValue("--zoom")));
    if (this.fits > 1) {  // the last zoom is often still right: each that is tried lays the page out
      if (current * WORTH < high && fits(current * WORTH)) low = tried;
      else if (fits(current)) low = high = current;
      else this.ceiling = high = current;  // what follows its width has grown since: at this zoom it would again
    }
    while (high - low > 0.02) {
      const middle = (low + high) / 2;
      if (fits(middle)) low = middle; else high = middle;
    }
    if (tried !== low) fits(low);
    if (isAlone && room > 0) style.setProperty("--drop", `${room / 3 / low / size}px`);
  }

  // For an open question of Try this, or its answer, which lies over the page's own question; returns whether it needs other room.
  makeRoom() {
    const { style } = document.documentElement, before = style.getPropertyValue("--asked"), question = document.querySelector('[class*="_try_this"]:has([class*="_try_close"])'), heading = document.querySelector(".st-key-page_question");
    if (question && heading) style.setProperty("--asked", `${Math.ceil(boxOf(question).bottom - boxOf(heading).top + 12)}px`);
    return before !== style.getPropertyValue("--asked");
  }

  clear() {
    this.kind = 0;
    this.light();
    this.blank.classList.remove("open");
    this.card.classList.remove("open");
  }

  show(node) { node.classList.toggle("open"); }

  leave() { document.querySelector(".st-key-lecture input").click(); }

  // Streamlit keeps the theme for each path alone; a lecture goes over many.
  turn() {
    const base = window.location.pathname.replace(/[^/]*$/, ""), theme = JSON.stringify(isDark() ? "Light" : "Dark");
    for (const path of this.paths) localStorage.setItem(`stActiveTheme-${base}${path}-v2`, theme);
    window.location.reload();
  }

  light() {
    const isRow = SPOTS[this.kind] === "row", { x = window.innerWidth / 2, y = window.innerHeight / 2 } = this.at ?? {};
    this.spot.className = `spot ${SPOTS[this.kind]}`;
    const width = isRow ? 2 * window.innerWidth : this.size, height = isRow ? this.size / 4 : this.size;
    Object.assign(this.spot.style, { width: `${width}px`, height: `${height}px`, translate: `${x - width / 2}px ${y - height / 2}px` });
  }

  follow({ clientX, clientY }) {
    this.at = { x: clientX, y: clientY };
    if (this.kind) this.light();
    this.stir();
  }

  // A hall sees text boxes, examples and a pad's tools only while the lecturer's pointer moves, or has one of them.
  stir() {
    document.documentElement.removeAttribute("data-quiet");
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => this.calmDown(), QUIET);
  }

  keepControls(keeps) {
    this.keepsControls = keeps;
    document.documentElement.toggleAttribute("data-controls", keeps);
    this.screen = "";  // it is another one
    this.fitSoon();
    this.calmDown();
  }

  calmDown() { document.documentElement.toggleAttribute("data-quiet", this.on && !this.keepsControls); }

  fullScreen() {
    const charts = [...document.querySelectorAll(CHART)].filter((node) => node.getClientRects().length);
    const chart = charts.find((node) => node.matches(":hover")) ?? charts.find((node) => node.getBoundingClientRect().top >= 0);
    chart?.querySelector('[data-testid="stElementToolbarButton"] button[aria-label*="ullscreen"]')?.click();
  }

  // The film of a training is shown to its end before it is left. On a first screen *Try this* asks, reveals, and is closed on the way back. Then the
  // next step, or word, of what is visible; after the last one the next screen; after the last screen the next page. Of a guided
  // lecture, the question of its item takes the place of Try this and is taken back before the first step, its answer gives way
  // to the next step's own title, and after the last step comes its next item.
  go(direction) {
    if (document.querySelector(".st-key-lecture_end")) return direction === "previous" && press(".st-key-lecture_item_back button");
    if (direction === "next" && window.training?.playing) return window.training.finish();
    const tries = document.querySelector(".st-key-lecture_asks") ? [] : [direction === "next" ? "try" : "try_close"];
    const parts = direction === "next" ? ["item_ask", ...tries, "reveal"] : tries;
    const isAnswered = parts.some((part) => press(`[class*="st-key-"][class*="_${part} "] button`));
    const isStep = !isAnswered && (press(`[class*="_step_${direction}"] button`) || press(`[class*="st-key-"][class*="_${direction} "] button`));
    document.documentElement.toggleAttribute("data-went-on", isStep && direction === "next");
    if (isStep) window.hall?.goOn();
    if (isAnswered || isStep) return;
    if (direction === "previous" && press(".st-key-lecture_item_back button")) return;
    const screens = [...document.querySelectorAll(SCREENS)], by = direction === "next" ? 1 : -1;
    const at = screens.findIndex((node) => node.ariaChecked === "true"), way = this.way.length ? this.way : [...screens.keys()];
    const beside = screens[by > 0 ? way.find((index) => index > at) : way.findLast((index) => index < at)];
    if (screens.length && beside && !document.querySelector(".st-key-item_after")) beside.click(); else this.turnPage(by);
  }

  turnPage(by) {
    const [item, page] = ["item", "page"].map((kind) => document.querySelector(`.st-key-${kind}_${by > 0 ? "after" : "before"} :is(a, button)`));
    (item ?? page)?.click();
  }

  act(key) {
    if (key in DIRECTIONS) this.go(DIRECTIONS[key]);
    else if (/^\d$/.test(key)) document.querySelectorAll(SCREENS)[(Number(key) + 9) % 10]?.click();
    else if (key === "]" || key === "[") this.turnPage(key === "]" ? 1 : -1);
    else if (key === "r") press('[class*="_reveal"] button');
    else if (key === "f") this.fullScreen();
    else if (key === "s") { this.kind = (this.kind + 1) % SPOTS.length; this.light(); }
    else if (key === "+" || key === "-") { this.size = clamp(this.size * (key === "+" ? 1.25 : 0.8), 80, 1600); this.light(); }
    else if (key === "b" || key === ".") this.show(this.blank);
    else if (key === "c") this.keepControls(!this.keepsControls);
    else if (key === "d") this.turn();
    else if (key === "n") window.notes?.open();
    else if (key === "l") this.leave();
    else if (key === "?") this.show(this.card);
    else if (key === "Escape") this.clear();
    else return false;
    return key !== "Escape";  // which also closes what Streamlit has opened
  }

  key(event) {
    if (!this.on || event.ctrlKey || event.metaKey || event.altKey || focused()?.matches(TYPING)) return;
    if (event.key.startsWith("Arrow") && focused()?.matches("button, [role=radio], input, canvas.moving")) return;
    if (!event.isTrusted) return;
    const isHeard = !window.dispatchEvent(new CustomEvent("lecturekey", { detail: event.key, cancelable: true }));  // by a scene
    if (!isHeard && !this.act(event.key.length === 1 ? event.key.toLowerCase() : event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

// Vega writes where a colour bar's colours are with the page's whole address: they would be gone with the address' next change.
const makeLocal = (node) => {
  const fill = node.getAttribute?.("fill");
  if (fill?.startsWith("url(http")) node.setAttribute("fill", `url(${fill.slice(fill.indexOf("#"))}`);
};

const keepColours = (records) => {
  for (const { type, target, addedNodes } of records) {
    const nodes = type === "attributes" ? [target] : [...addedNodes];
    nodes.flatMap((node) => [node, ...(node.querySelectorAll?.('[fill^="url(http"]') ?? [])]).forEach(makeLocal);
  }
};

// A link to a step or to all the numbers opens scrolled to it, and stays there while the page grows, until the visitor acts.
const showShared = () => {
  const [{ name }] = performance.getEntriesByType("navigation");  // the page leaves out of its address what is as usual
  if (!/[?&](tab=|step=|question=numbers\b)/.test(name)) return;
  const block = document.querySelector(BLOCK), ends = new AbortController();
  const watch = new ResizeObserver(() => block.querySelector(".st-key-numbers")?.scrollIntoView());
  for (const node of block.children) watch.observe(node);
  ends.signal.onabort = () => watch.disconnect();
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"]) window.addEventListener(kind, () => ends.abort(), { capture: true, passive: true, signal: ends.signal });
};

// How wide a chart has to be for its smallest letters: a phone scrolls it sideways rather than shrink it further. Those of a
// picture, which are a colour bar's, grow instead.
const PHONE = 640, MIN_LETTERS = 10, FEW = 5;
const keepLetters = () => {
  for (const chart of window.innerWidth > PHONE ? [] : document.querySelectorAll("svg.marks")) {
    const texts = [...chart.querySelectorAll("text")].filter((node) => node.textContent.trim()), width = chart.getAttribute("width");
    const least = MIN_LETTERS * (texts.length <= FEW && chart.querySelector("image") ? width / (window.innerWidth - 32) : 0);
    for (const node of texts) if (parseFloat(node.getAttribute("font-size")) < least) node.setAttribute("font-size", `${least}px`);
    const smallest = Math.min(...texts.map((node) => parseFloat(node.getAttribute("font-size"))));
    chart.style.setProperty("--least-width", `${least ? 0 : Math.min(1, MIN_LETTERS / smallest) * width}px`);
    const frame = chart.closest('[data-testid="stVegaLiteChart"]');
    if (frame?.scrollWidth > frame?.clientWidth) set(frame, { tabindex: 0, role: "group", "aria-label": "A chart; arrow keys scroll it" });
  }
};

export default ({ data, parentElement }) => {
  const root = parentElement.querySelector(".root");
  if (!window.lecture) {
    window.lecture = new Lecture(parentElement.querySelector("style").cloneNode(true));
    document.querySelectorAll('[fill^="url(http"]').forEach(makeLocal);
    new MutationObserver(keepLetters).observe(document.body, { subtree: true, childList: true });
    keepLetters();
    helpByKeys();
    if (!data.on) showShared();
    new MutationObserver(keepColours).observe(document.body, { subtree: true, childList: true, attributeFilter: ["fill"] });
  }
  window.lecture.adopt(data);
  if (!root.firstChild) make(root, "button", "theme", "◐ Dark or light").onclick = () => window.lecture.turn();
};
