// A scene: how one query asks keys, gets scores, makes them weights, takes values, and what comes of it. Words stay where they
// are while that plays, once on arrival. Then it rests, and the visitor chooses another query, crosses a key out or drags its
// column. `tell` gets a message of it: { row }, { row, cut }, { row, cut, weight }, { row, focus, even } or { row, reset }.
//
// What a scene notes: `row`, the present query; `local`, a change that the server has not answered yet, { key, weight };
// `isEven`, whether all weights are equal; `isApart`, whether the picture of one vector is in place of that of attention, and
// `fade`, since when one turns into the other, 0 = it does not; `weights`, as they are drawn; `held`, the key whose column is
// dragged; `middle`, where the box is.
import { arrowOf, asPercent, clamp, dragged, inLine, isNew, keepFocus, make, placeOn, pointedIn, set, wantsLessMotion } from "./prelude.js";
import { percentsOf, SceneDrawing, tonesOn } from "./scene_drawing.js";
import { ScenePlayer } from "./scene_player.js";
import { MANY, SceneLayout } from "./scene_layout.js";
import { STEP_NAMES, Timeline } from "./scene_steps.js";
import { captionOf } from "./scene_captions.js";

const MORPH = 600;  // milliseconds of a change
const SIDE_ROOM = 8.5;  // letters of what stands beside both sentences
const KEY_STEP = 0.05;  // by which an arrow key changes a weight
const MIN_DRAG = 4;  // pixels from which on a column counts as dragged
const MAX_WEIGHT = 0.985;  // to which a column can be dragged
const LEAST_OTHERS = 0.015;  // of the probability, which all other words have together and is told
const MIN_HINT_WEIGHT = 0.15;  // of a column that shows that it can be dragged
const PRESSED = 1.85;  // seconds after which one vector has its numbers, and nothing is said
const QUICK = 2.5;  // times as fast plays what a visitor has typed

const END = "end";
const textOf = (label) => (label === END ? "(end)" : label);
// Whether a text has neither letter nor digit.
const isMark = (text) => !/[\p{L}\p{N}]/u.test(text);

// The context: the sum of the values, each times its weight.
export const mixtureOf = (values, weights) => values[0].map((_, at) => values.reduce((sum, row, index) => sum + weights[index] * row[at], 0));

// Puts a word where a layout has it, in letters of a size.
export const placeWord = (node, { x, y, w, h }, size) => {
  Object.assign(node.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px`, fontSize: `${size}px`, lineHeight: `${h}px` });
};

// Lets a second sentence of one line begin where the first one does, if it has the room.
const alignLeft = ({ places, belows }, { queries, width }) => {
  const shift = queries.places[0].x - places[0].x, last = places.at(-1);
  if (places[0].y === last.y && last.x + last.w + shift <= width) for (const place of [...places, ...belows]) place.x += shift;
};

export class SceneView extends ScenePlayer {
  constructor(root) {
    super(root, "Keys above, queries below");
    Object.assign(this, { local: null, sides: [], switchTitle: "with attention", resetTitle: null, stepTitles: {}, isSentence: true });
    this.drawing = new SceneDrawing(this.canvas);
    this.words = make(this.stage, "div", "words");
    this.pointed = pointedIn(root, (places) => this.light(places));
    this.switch = make(this.bar, "div", { class: "switch", role: "group", "aria-label": "What is handed over" });
  }

  // Takes what Python sends. What has new words is built anew; it plays if its keys are new, or a guess has just been made.
  // Else it rests, and weights and answer change to the new ones.
  adopt(data, tell) {
    if (!this.hears(data, tell) || !isNew(this, data)) return;
    const isFirst = !this.data, before = this.data, { root } = this;
    if (!isFirst && data.query !== this.row) this.stop();
    this.data = data;
    root.classList.toggle("stands", this.standsCovered);
    const builtFrom = ({ keys, queries, values, vector, equal, isEdited, ifRemoved }) => String([keys, queries, values, vector?.words, ...[equal, isEdited, ifRemoved].map(Boolean)]);
    const isBuilt = before && builtFrom(before) === builtFrom(data);
    Object.assign(this, { row: clamp(data.query, 0, data.queries.length - 1), isEven: Boolean(data.isEven), local: null });
    this.timeline = new Timeline(STEP_NAMES.filter((name) => this.hasStep(name)), this.stepTitles);
    if (!isBuilt) keepFocus(root, () => this.build());
    const isRevealed = this.cover(data.covered) && !data.stands, isNewText = isFirst ? !this.hasPlayed(data.keys, data.queries) : String(before.keys) !== String(data.keys);
    const plays = isRevealed || (isNewText && data.plays && data.focus !== "vector");
    this.pace = isFirst || isRevealed ? 1 : QUICK;
    if (data.covered || (plays && !wantsLessMotion())) {
      this.stop();
      Object.assign(this, { weights: this.targetWeights(), isApart: false, fade: 0 });
      if (data.covered) this.show(this.standsCovered ? this.timeline.end : data.vector ? PRESSED : 0);
      else if (isRevealed) this.playReveal();
      else this.playOnArrival();
      return;
    }
    if (!isBuilt) {
      this.stop();
      this.stopMorph?.();
      if (!data.before) this.weights = this.targetWeights();
    }
    this.contrast(data.focus === "vector", !isBuilt);
    this.turn();
    if (isBuilt || data.before) this.change();
    else this.draw();
  }

  // Whether the picture stands as it rests while a guess is awaited, since that is about something else; what plays after it.
  get standsCovered() { return Boolean(this.data.stands); }
  playReveal() { this.playOnArrival(); }

  // What a strip is, as lines of a label.
  get legend() {
    const { numbers } = this.data, [, size] = numbers?.sizes ?? [], n = numbers?.keys[0].length;
    return numbers && this.layout.hasLegend ? [...(n < size ? [`${n} of ${size}`, "numbers:"] : [`${n} numbers:`]), "orange +", "blue −"] : [];
  }

  stripNote() {
    const { numbers, keys } = this.data, [, size] = numbers?.sizes ?? [], few = keys.length > MANY ? "Without a number: below 1%." : "";
    if (!numbers || this.layout.hasLegend) return numbers ? few : "";
    return `A strip is a vector: ${size > numbers.keys[0].length ? `${numbers.keys[0].length} of its ${size} numbers` : "its numbers"}, orange above 0, blue below. ${few}`;
  }

  hasStep(name) {
    const { vector, weights, answers } = this.data;
    if (name === "vector") return Boolean(vector);
    return Boolean(weights) && (name === "says" ? Boolean(answers) : ["asks", "scores", "softmax", "takes"].includes(name));
  }

  get isTranslation() { return Boolean(this.data.glosses); }

  // Builds words, grips of columns, steps and switch anew.
  build() {
    const { keys, queries, vector, weights } = this.data, canChange = (this.canChange = Boolean(this.data.canChange && weights));
    Object.assign(this, { written: null, names: keys.map((key, index) => this.nameOf(key, index)) });
    this.words.replaceChildren();
    this.keys = keys.map((label) => {
      const node = make(this.words, canChange ? "button" : "span", "key");
      make(node, "span", label === END ? "label" : "", textOf(label));
      return node;
    });
    this.grips = canChange ? keys.map((_, index) => this.gripOf(index)) : [];
    this.queries = queries.map((label) => make(this.words, "button", `query${label === END ? " label" : ""}`, textOf(label)));
    if (this.isTranslation) for (const node of this.queries) node.lang = "fr";  // whose English stands below
    if (this.data.nouns?.[1].startsWith("French")) for (const node of this.keys) node.lang = "fr";
    for (const [nodes, joined] of [[this.keys, this.data.joinedKeys], [this.queries, this.data.joinedQueries]]) this.glue(nodes, joined);
    this.others = (vector?.words ?? []).map((label) => make(this.words, "button", vector.glosses ? { lang: "fr" } : "", textOf(label)));
    this.glosses = this.glossesOf(this.data.glosses);
    this.otherGlosses = this.glossesOf(vector?.glosses);
    this.sides = vector && this.data.bothSaid ? this.glossesOf(["with attention", "without attention"]) : [];
    inLine(this.queries, (row, event) => this.look(0, row, event), (row) => this.choose(row));
    inLine(this.others, () => {}, (row) => this.choose(row, "vector"));
    if (canChange) inLine(this.keys, (key, event) => this.look(1, key, event), (key) => this.cross(key));
    this.grips.forEach((grip, at) => this.keys[at].addEventListener("focus", () => this.grips.forEach((each) => { each.tabIndex = each === grip ? 0 : -1; })));
    this.buildSteps(this.timeline);
    this.buildSwitch();
    this.layOut();
  }

  // Tokens of one word are drawn as one; `joined` are the indices of those that go on with the token before.
  glue(nodes, joined = []) {
    nodes.forEach((node, index) => {
      const [isJoined, goesOn] = [joined.includes(index), joined.includes(index + 1)];
      if (isJoined || goesOn) node.dataset.piece = !isJoined ? "first" : goesOn ? "middle" : "last";
    });
  }

  // What captions, which add the outer quotation marks, call a key: a piece of a word comes with its word, “po” in “port”.
  nameOf(key, index) {
    const { keys, joinedKeys: joined = [] } = this.data;
    let [first, end] = [index, index + 1];
    while (joined.includes(first)) first--;
    while (joined.includes(end)) end++;
    return end - first > 1 ? `${key}” in “${keys.slice(first, end).join("")}` : textOf(key);
  }

  // What words mean, below them.
  glossesOf(texts) { return (texts ?? []).map((text) => make(this.words, "span", { class: "gloss", lang: "en" }, text)); }

  // Whether a picture without attention comes first, such as that of one vector.
  hasContrast() { return this.timeline.steps[0].name !== "asks"; }

  // A click shows what comes of one vector in place of attention, and tells so.
  buildSteps(timeline) {
    super.buildSteps(timeline);
    if (timeline.steps[0].name === "vector" && this.data.weights) this.stepButtons[0].onclick = () => this.choose(this.row, "vector");
  }

  buildSwitch() {
    const { weights, equal } = this.data, choices = [];
    if (weights) choices.push([this.switchTitle, () => !this.isApart && !this.isEven && this.state.progress.open >= 0.5, () => this.choose(this.row, "attention")]);
    if (equal) choices.push(["all equal", () => !this.isApart && this.isEven, () => this.choose(this.row, "equal")]);
    if (this.data.isEdited) choices.push([this.resetTitle ?? (this.isTranslation ? "undo changes" : "as learned"), () => false, () => this.reset()]);
    this.switch.replaceChildren();
    this.switch.hidden = choices.length < 2;
    this.choices = choices.map(([title, isOn, act]) => {
      const node = make(this.switch, "button", "", title);
      return Object.assign(node, { onclick: act, isOn });
    });
  }

  // What is pointed at, on axis 0 a query, on axis 1 a key, is lit in all views of the trace. A query of the scene may be several
  // of the trace, as a word of several tokens is: `firsts` has the first of each.
  look(axis, index, event) {
    const { axes, firsts } = this.data;
    if (index === null) this.pointed.leave(event);
    else if (axes) this.pointed.look([[axes[axis], axis ? index : firsts[index]]]);
  }

  light(places) {
    const { axes, firsts } = this.data ?? {};
    if (!axes || !this.keys) return;
    const key = placeOn(places, axes[1], true), query = placeOn(places, axes[0]);
    this.keys.forEach((node, index) => node.classList.toggle("lit", index === key));
    const row = query === null ? -1 : firsts.findLastIndex((first) => first <= query);
    this.queries.forEach((node, index) => node.classList.toggle("lit", index === row));
  }

  // What a visitor drags, or moves with the arrow keys, to change a key's weight.
  gripOf(index) {
    const node = make(this.words, "div", { class: "grip", role: "slider", tabindex: index ? -1 : 0, "aria-valuemin": 0, "aria-valuemax": 100 });
    let startPoint, startWeight;
    dragged(node, {
      begin: (event) => { this.finish(); [startPoint, startWeight] = [this.pointOf(event), this.weights[index]]; },
      go: (event) => {
        const point = this.pointOf(event);
        if (!this.local && Math.hypot(point[0] - startPoint[0], point[1] - startPoint[1]) < MIN_DRAG) return;
        this.held = index;
        const change = this.layout.shareAt(point) - this.layout.shareAt(startPoint);
        this.setWeight(index, startWeight + change);
      },
      end: () => {
        if (this.held === undefined) return;
        this.held = undefined;
        this.draw();
        this.tell?.({ row: this.row, cut: index, weight: this.local?.weight ?? startWeight });
      },
    });
    node.onkeydown = (event) => {
      const change = { ArrowUp: KEY_STEP, ArrowRight: KEY_STEP, ArrowDown: -KEY_STEP, ArrowLeft: -KEY_STEP }[event.key];
      if (!change || !arrowOf(event)) return;
      this.finish();
      this.setWeight(index, this.weights[index] + change);
      this.tell?.({ row: this.row, cut: index, weight: this.local.weight });
    };
    return node;
  }

  newLayout(sizes) { return new SceneLayout(sizes); }

  // Puts all words where the layout has them at the width that there is.
  layOut() {
    const { keys, queries, glosses, vector, joinedKeys, joinedQueries } = this.data, { width, least, ink, ground } = this.measureFrame();
    this.tones = tonesOn(ink, ground);
    const pen = this.canvas.getContext("2d");
    pen.font = `500 100px ${this.font}`;
    const measure = (text) => pen.measureText(textOf(text)).width / 100;
    const layout = (this.layout = this.newLayout({ width, keys, queries, glosses, measure, least, joinedKeys, joinedQueries }));
    const vectorLine = vector ? layout.wordsBelow(vector.words, vector.glosses) : null;
    this.under = this.data.bothSaid && vectorLine ? layout.queries.bottom + 4 - layout.below : 0;  // so much lower stands what one vector says
    if (this.under) alignLeft(vectorLine, layout);
    layout.height = Math.max(layout.height, (vectorLine?.bottom ?? 0) + 6) + (this.under && vectorLine.bottom - layout.below);
    this.sizeStage(layout);
    this.keys.forEach((node, index) => placeWord(node, layout.words[index], layout.size));
    this.grips.forEach((node, index) => placeWord(node, layout.column(index), layout.size));
    this.queries.forEach((node, index) => placeWord(node, layout.queries.places[index], layout.queries.size));
    this.others.forEach((node, index) => placeWord(node, vectorLine.places[index], vectorLine.size));
    this.glosses.forEach((node, index) => placeWord(node, layout.queries.belows[index], layout.glossSize));
    this.otherGlosses.forEach((node, index) => placeWord(node, vectorLine.belows[index], layout.glossSize));
    this.note.textContent = [this.stripNote(), this.data.note].filter(Boolean).join(" ");
    this.sides.forEach((node, at) => {
      const { x, y, h } = layout.queries.places[0], w = SIDE_ROOM * layout.glossSize;
      node.hidden = x < w;
      placeWord(node, { x: 0, y: y + at * this.under, w, h }, layout.glossSize);
      node.style.textAlign = "left";
    });
    this.middle = null;
    this.reserveRoom(vector ? [captionOf("vector", this.data, { progress: { press: 1, lost: 1 } })] : []);
  }

  // How weights are written; other scenes write them otherwise.
  percentsOf(weights) { return percentsOf(weights); }

  // Of each key whether the query may not attend to it.
  hidden(row = this.row) { return this.data.scores[row].map((score) => score === null); }

  // The weights that the present query has, or would have once a change is done.
  targetWeights() {
    const { data, row, local } = this;
    if (!data.weights) return [];
    const learned = data.weights[row];
    if (this.isEven && !data.isEven) {
      const nVisible = this.hidden().filter((isHidden) => !isHidden).length;
      return this.hidden().map((isHidden) => (isHidden ? 0 : 1 / nVisible));
    }
    if (!local) return learned;
    const sumBefore = 1 - learned[local.key], sum = 1 - local.weight;  // of the weights of all keys but this
    return learned.map((weight, index) => (index === local.key ? local.weight : sumBefore > 1e-9 ? (weight * sum) / sumBefore : sum / (learned.length - 1)));
  }

  // What would be said, its probability and the likeliest others; null = the server has not answered yet.
  answer() {
    const { data, row, local } = this, { answers, equal, tips, queries } = data;
    if (!answers) return null;
    // Candidates are [text, probability, whether the translation has it]; near = those of a weight close to the present one.
    const answerOf = (candidates, isNear = false) => {
      if (!candidates) return null;
      const isPresent = candidates === answers[row], said = (isPresent && candidates.find(([, , isSaid]) => isSaid)) || candidates[0];
      const wordOf = (text) => (row === 0 && this.isSentence ? text.charAt(0).toUpperCase() + text.slice(1) : textOf(text));
      const word = isPresent && said[2] ? textOf(queries[row]) : wordOf(said[0]), about = isNear ? "about " : "";
      // Those as likely as the beginning of a word, which is not named, or likelier.
      const unsaid = candidates.filter((candidate) => candidate !== said), unnamed = unsaid.findIndex(([text, probability]) => probability < 0.01 || text.endsWith("…"));
      const rivals = unsaid.slice(0, unnamed < 0 ? 2 : Math.min(2, unnamed));
      const odds = [[word, said[1]], ...rivals.map(([text, probability]) => [wordOf(text), probability])], [, next] = odds;
      const others = 1 - odds.reduce((sum, [, probability]) => sum + probability, 0);
      const [, likeliest] = unsaid[rivals.length] ?? unsaid.at(-1) ?? said;
      if (others >= LEAST_OTHERS) odds.push([`others, each ≤${Math.ceil(100 * likeliest)}%:`, others]);
      return {
        word, probability: said[1], isNear, rival: rivals.find(([, probability]) => probability > said[1])?.[0], next, likeliest,
        odds: odds.map(([text, probability]) => `${isMark(text) ? `“${text}”` : text} ${about}${asPercent(probability)}`),
      };
    };
    if (this.isEven && !data.isEven) return answerOf(equal?.[row]);
    if (!local) return answerOf(answers[row]);
    if (!tips || tips.keys[row] !== local.key) return null;
    const [distance, nearest] = tips.weights.map((weight, at) => [Math.abs(weight - local.weight), at]).sort(([a], [b]) => a - b)[0];
    return answerOf(tips.answers[nearest][row], distance > 1e-6);
  }

  // Goes to another query; with a focus, to the picture of one vector ("vector"), of attention, or of equal weights ("equal").
  choose(row, focus = null) {
    const isSwitch = focus !== null, { isEven: wasEven, isApart: wasApart } = this;
    this.finish();
    this.local = null;
    this.row = clamp(row, 0, this.data.queries.length - 1);
    if (isSwitch) {
      this.isEven = focus === "equal";
      this.isApart = wasApart;
      this.contrast(focus === "vector");
    }
    this.change();
    this.tell?.(isSwitch ? { row, focus: focus === "vector" ? "vector" : "attention", even: focus === "vector" ? wasEven : this.isEven } : { row });
  }

  // Lets all weights be as the network learned them.
  reset() {
    this.finish();
    this.draw();
    this.tell?.({ row: this.row, reset: true });
  }

  // Crosses a key out for the present query, or gives it back the weight that it had.
  cross(key) {
    const isBack = this.local?.key === key && this.local.weight === 0, isCut = this.data.cut?.[this.row]?.includes(key);
    if (this.hidden()[key] && !isCut) return;
    this.finish();
    this.isEven = false;
    this.local = isBack || isCut ? null : { key, weight: 0 };
    this.change();
    this.tell?.({ row: this.row, cut: key });
  }

  setWeight(key, weight) {
    this.isEven = false;
    this.local = { key, weight: clamp(weight, 0, MAX_WEIGHT) };
    this.weights = this.targetWeights();
    this.draw();
  }

  // Shows the picture of one vector in place of that of attention, or that of attention again.
  contrast(isApart, isAtOnce = false) {
    const wasApart = this.isApart;
    this.isApart = isApart && this.hasContrast();
    this.time = this.isApart ? this.timeline.restOf(0) : this.timeline.end;
    this.fade = Boolean(wasApart) === this.isApart || isAtOnce || wantsLessMotion() ? 0 : performance.now();
  }

  // Weights, box and answer go from where they are to where they belong.
  change() {
    const from = this.weights, to = this.targetWeights(), startMiddle = this.middle, startTime = performance.now();
    this.stopMorph?.();
    const goal = this.goalMiddle(), isMoving = !wantsLessMotion() && !document.hidden;
    let isOver = false;
    this.stopMorph = () => { isOver = true; };
    const tick = (now) => {
      if (isOver) return;
      const share = isMoving ? clamp((now - startTime) / MORPH, 0, 1) : 1, eased = share * share * (3 - 2 * share);
      const between = (a, b) => a + (b - a) * eased;
      this.weights = to.map((weight, index) => between(from?.[index] ?? weight, weight));
      this.middle = startMiddle && { x: between(startMiddle.x, goal.x), y: between(startMiddle.y, goal.y) };
      this.draw();
      if (share < 1) requestAnimationFrame(tick);
      else this.middle = goal;
    };
    tick(startTime);
  }

  goalMiddle() { return this.layout.boxMiddle(this.row); }

  // Stops at the end of the picture of attention, where a visitor changes something.
  finish() {
    Object.assign(this, { isTouched: true, isApart: false, fade: 0, time: this.timeline.end });
    this.stop();
  }

  play() {
    if (this.isOver()) this.pace = 1;
    if (this.isApart) this.time = 0;
    super.play();
  }

  playStep(index) {
    this.pace = 1;
    super.playStep(index);
  }

  begin() { Object.assign(this, { isApart: false, fade: 0, middle: this.goalMiddle() }); }

  show(time) {
    if (time < this.timeline.end && !this.fade) this.isApart = false;
    super.show(time);
  }

  progressAt(time) { return this.timeline.progress(time, this.data.keys.length); }

  draw() {
    const { data, layout, timeline } = this;
    if (!layout || !this.root.isConnected) return;
    const { numbers, vector } = data, progress = this.progressAt(this.time);
    if (this.fade) {  // between the end of attention and that of one vector
      const share = clamp((performance.now() - this.fade) / MORPH, 0, 1), open = this.isApart ? 1 - share : share;
      Object.assign(progress, this.progressAt(timeline.end), { open, press: 1, vectorSays: 1, lost: 1 });
      if (share === 1) this.fade = 0;
      else requestAnimationFrame(() => this.draw());
    }
    const hasWeights = Boolean(data.weights), hidden = hasWeights ? this.hidden() : [], visibleScores = hasWeights ? data.scores[this.row].filter((score) => score !== null) : [0];
    this.middle ??= this.goalMiddle();
    this.state = {
      progress, layout, row: this.row, local: this.local, isEven: this.isEven, isNarrow: layout.isNarrow, canChange: this.canChange,
      hidden, scores: hasWeights ? data.scores[this.row].map((score) => score ?? 0) : [], weights: this.weights, percents: this.percentsOf(this.weights),
      low: Math.min(...visibleScores), high: Math.max(...visibleScores), held: this.held, middle: this.middle, cut: data.cut?.[this.row] ?? [], isChanged: Boolean(data.changed?.includes(this.row)),
      before: data.before?.row === this.row ? data.before.weights : null, lengths: data.lengths,
      vector: vector && { ...vector, caption: `one vector: ${vector.numbers.length < vector.size ? `${vector.numbers.length} of ${vector.size} numbers shown` : `${vector.size} numbers`}` }, legend: this.legend,
    };
    if (hasWeights) {
      const values = numbers.values ?? numbers.keys;
      Object.assign(this.state, { query: numbers.queries[this.row], keys: numbers.keys, values, context: mixtureOf(values, this.weights) });
    }
    this.state.answer = hasWeights ? this.answer() : null;
    this.state.odds = this.state.answer?.odds ?? [];
    this.drawing.begin({ width: layout.width, height: layout.height, ratio: this.ratio, font: this.font, tones: this.tones, layout });
    this.drawing.draw(this.state);
    this.stage.style.transform = `translateY(${-layout.room * (1 - progress.lift * progress.open)}px)`;
    this.write();
  }

  captionOf(step) { return captionOf(step, { ...this.data, keys: this.names, tail: this.tail }, this.state); }

  // Whether another word comes than the sentence has: its rest would then be of another sentence.
  get saysOther() { return Boolean(this.state.answer) && this.state.answer.word !== textOf(this.data.queries[this.row]); }

  // Words, caption and controls follow what is drawn; only what changes is written.
  write() {
    const { data, timeline, state, row } = this, { progress, weights, answer } = state;
    const index = timeline.indexAt(this.time), step = timeline.steps[index].name;
    this.writeTime(this.captionOf(step));
    const isSaid = progress.say > 0.5, hasAnswers = Boolean(data.answers), isChanged = Boolean(this.local) || (this.isEven && !data.isEven) || this.saysOther;
    const showsLater = !hasAnswers || (this.time >= timeline.end - 0.3 && !isChanged), isVector = progress.open < 0.5;
    const form = [index, isSaid, showsLater, isVector, row, answer?.word, weights.map((weight) => weight.toFixed(3)), progress.divide > 0.5, progress.lost > 0.5, this.isApart].join();
    this.others.forEach((node, at) => {
      const { words, wrong, gaps } = data.vector, appeared = clamp(progress.vectorSays * words.length * 1.2 - at, 0, 1);
      node.style.opacity = isVector ? appeared * (1 - 2 * progress.open) : this.under ? progress.say : 0;
      node.style.transform = isVector ? "" : `translateY(${this.under}px)`;
      node.className = ["query other", wrong.includes(at) && progress.lost > 0.5 && "wrong", gaps?.includes(at) && progress.lost > 0.5 && "gap", this.isApart && at === data.query && "now"].filter(Boolean).join(" ");
      node.hidden = !isVector && !(this.under && isSaid);
      const gloss = this.otherGlosses[at];
      if (gloss) Object.assign(Object.assign(gloss, { hidden: node.hidden }).style, { opacity: 0.8 * node.style.opacity, transform: node.style.transform });
    });
    for (const node of this.sides) node.style.opacity = isVector ? 0 : progress.say;
    if (form === this.written) return;
    this.written = form;
    this.choices.forEach((node) => set(node, { "aria-pressed": Boolean(node.isOn()) }));
    this.keys.forEach((node, at) => this.writeKey(node, at, isVector));
    this.grips.forEach((node, at) => this.writeGrip(node, at, isVector));
    this.queries.forEach((node, at) => {
      const isNow = at === row, isLater = at > row && hasAnswers;
      node.textContent = isNow && hasAnswers ? (isSaid ? answer?.word ?? "…" : "?") : textOf(data.queries[at]);
      node.className = ["query", isNow && "now", isLater && (showsLater ? "later" : "blank"), at < (data.forced ?? 0) && "forced"].filter(Boolean).join(" ");
      node.hidden = isVector && Boolean(data.vector);
      if (this.glosses[at]) this.glosses[at].hidden = isVector || node.textContent !== textOf(data.queries[at]) || (isLater && !showsLater);
      set(node, { "aria-pressed": isNow, "aria-label": `${textOf(data.queries[at])}: ask from here` });
    });
  }

  writeKey(node, at, isVector) {
    const { data, state } = this, { weights, progress } = state, isCut = !isVector && (this.local ? this.local.key === at && this.local.weight <= 0 : state.cut.includes(at));
    const isLost = isVector && progress.lost > 0.5 && data.vector?.lost.includes(at);
    const isMasked = state.hidden[at] && !isCut, isBlank = isMasked && data.hasLaterKeys && (progress.say <= 0.5 || this.saysOther);
    node.className = ["key", isCut && "cut", isLost && "lost", !isVector && progress.divide > 0.5 && weights[at] > 0.3 && "strong", isBlank ? "blank" : isMasked && "masked"].filter(Boolean).join(" ");
    if (!this.canChange) return;
    const numbers = isVector ? "" : `, score ${state.hidden[at] ? "none" : state.scores[at].toFixed(2)}, weight ${asPercent(weights[at])}`;
    set(node, { "aria-label": isBlank ? "not written yet" : `${textOf(data.keys[at])}${numbers}; press to ${isCut ? "give it back" : "cross it out"}`, "aria-pressed": isCut });
  }

  // The column of the heaviest key shows that it can be dragged, until a visitor has changed something.
  writeGrip(node, at, isVector) {
    const { state } = this, weight = state.weights[at] ?? 0;
    node.hidden = isVector || state.progress.divide < 0.9;
    set(node, { "aria-label": `weight of ${textOf(this.data.keys[at])}`, "aria-valuenow": Math.round(100 * weight), "aria-valuetext": asPercent(weight) });
    const strongest = Math.max(...state.weights), isHint = state.weights.length > 1 && weight === strongest && weight > MIN_HINT_WEIGHT && !this.local && !this.isEven && !this.isCovered && this.time >= this.timeline.end - 0.01;
    node.classList.toggle("pulls", isHint);
  }
}
