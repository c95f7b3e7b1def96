// A party: in the middle the guest whose lock it is, around them all others with their keys. One key after the other flies to
// the lock and bounces, then those that the network tries together. A guest who is clicked, or dragged to the middle, has the lock.
import { boxOf, clamp, dragged, inLine, isNew, make, set, shownBy, wantsLessMotion } from "../../attention_core/attention/view/prelude.js";

const WIDE = 640, HIGH = 476, CENTRE = [WIDE / 2, 228], RADII = [224, 180], GUEST = 32, LOCK = 66, RING = 7, NEAR = 100;
const NOTES = [["ring: lock opens", "right"], ["lock: query, guests: keys", ""]];
const BODY = "M-.6 -.1 H.6 V.8 H-.6 Z M-.45 -.1 ";
const SHUT = `${BODY}V-.4 A.45 .45 0 0 1 .45 -.4 V-.1 H.27 V-.4 A.27 .27 0 0 0 -.27 -.4 V-.1 Z`;
const OPEN = `${BODY}V-.65 A.45 .45 0 0 1 .45 -.65 V-.45 H.27 V-.65 A.27 .27 0 0 0 -.27 -.65 V-.1 Z`;
const KEY = "M-.1 -.1 A.42 .42 0 1 0 -.1 .1 H.5 V.38 H.68 V.1 H.8 V.32 H.98 V-.1 Z M-.68 0 A.18 .18 0 1 1 -.32 0 A.18 .18 0 1 1 -.68 0 Z";
const FIRST = 700, TURN = 620, PAIR = 900;  // milliseconds before the first key, of a key, and of those that are tried together

const at = ([x, y]) => `translate(${x}px, ${y}px)`;
const between = ([x, y], [a, b], share) => [x + share * (a - x), y + share * (b - y)];

const played = new Set();  // what has been seen: a page that is drawn anew begins at rest

class Party {
  constructor(root) {
    this.svg = make(root, "svg:svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group" });
    this.says = make(root, "div", { class: "says", role: "status" });
    this.again = make(root, "button", "again", "↻ Play again");
    this.again.onclick = () => this.play();
  }

  adopt(data, choose) {
    this.choose = choose;
    if (!isNew(this, data)) return;
    this.data = data;
    this.build();
    if (!played.has(this.form)) this.play();
    played.add(this.form);
  }

  seatOf(guest) {
    const { names, query } = this.data, turn = (2 * Math.PI * ((guest - query + names.length) % names.length - 0.5)) / (names.length - 1);
    return [CENTRE[0] + RADII[0] * Math.sin(turn), CENTRE[1] - RADII[1] * Math.cos(turn)];
  }

  build() {
    const { svg, data: { names, numbers, query, ringed, tried, share, opens } } = this;
    const hadFocus = svg.contains(svg.getRootNode().activeElement);
    svg.replaceChildren();
    set(svg, { "aria-label": `The party: ${names[query]}'s lock in the middle` });
    this.lines = tried.map((guest) => {
      const [[x, y], [a, b]] = [this.seatOf(guest), CENTRE];
      return make(svg, "svg:line", { class: "line", x1: x, y1: y, x2: a, y2: b, "stroke-width": 3 + 9 * share });
    });
    const lock = make(svg, "svg:g", { class: `lock ${opens ? "open" : ""}`, transform: `translate(${CENTRE})` });
    if (ringed.includes(query)) make(lock, "svg:circle", { r: LOCK + RING, class: "ring" });
    make(lock, "svg:circle", { r: LOCK });
    this.states = [SHUT, opens ? OPEN : SHUT].map((d, state) => make(lock, "svg:path", { d, transform: "translate(0 -14) scale(32)", class: state ? "last" : "shut" }));
    this.lock = lock;
    make(lock, "svg:text", { y: 42, class: "number" }, `${names[query]} ${numbers[query]}`);
    this.keys = names.map((_, guest) => (guest === query ? null : this.buildKey(guest)));
    const guests = [...names.keys()].filter((guest) => guest !== query).map((guest) => this.buildGuest(guest));
    NOTES.slice(ringed.length ? 0 : 1).forEach(([text, className], line, { length }) => make(svg, "svg:text", { x: 0, y: HIGH - 24 * (length - 1 - line), class: `note ${className}` }, text));
    inLine(guests, () => {}, () => {});  // a click is heard where a drag is
    if (hadFocus) guests[0].focus({ preventScroll: true });
    this.says.replaceChildren(...this.data.says.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
  }

  buildKey(guest) {
    const { tried } = this.data, seat = this.seatOf(guest), isTried = tried.includes(guest);
    const node = make(this.svg, "svg:g", "key");
    make(node, "svg:path", { d: KEY, transform: "scale(24)" });
    node.style.transform = at(isTried ? between(seat, CENTRE, 0.42) : seat);
    node.style.opacity = isTried ? 1 : 0;
    return node;
  }

  buildGuest(guest) {
    const { data: { names, numbers, ringed, tried } } = this, [x, y] = this.seatOf(guest);
    const node = make(this.svg, "svg:g", { class: `guest ${tried.includes(guest) ? "tried" : ""}`, role: "button", "aria-label": `${numbers[guest]} ${names[guest]}: choose this lock` });
    node.style.transform = at([x, y]);
    if (ringed.includes(guest)) make(node, "svg:circle", { r: GUEST + RING, class: "ring" });
    make(node, "svg:circle", { r: GUEST });
    make(node, "svg:text", { y: 9, class: "number" }, `${numbers[guest]} `);
    const isBeside = Math.abs(x - CENTRE[0]) > 0.6 * RADII[0], side = Math.sign(x - CENTRE[0]);
    make(node, "svg:text", { class: `name ${isBeside ? (side > 0 ? "right" : "left") : ""}`, x: isBeside ? side * (GUEST + 12) : 0, y: isBeside ? 6 : y < CENTRE[1] ? -GUEST - 12 : GUEST + 26 }, names[guest]);
    const pointOf = ({ clientX, clientY }) => {
      const box = boxOf(this.svg), zoom = this.svg.currentCSSZoom ?? 1;
      return [((clientX / zoom - box.x) * WIDE) / box.width, ((clientY / zoom - box.y) * HIGH) / box.height];
    };
    let place = [x, y], moved = false;
    dragged(node, {
      begin: () => { moved = false; },
      go: (event) => {
        const [a, b] = pointOf(event);
        place = [clamp(a, 0, WIDE), clamp(b, 0, HIGH)];
        moved ||= Math.hypot(a - x, b - y) > GUEST;
        if (moved) node.style.transform = at(place);
      },
      end: () => {
        node.style.transform = at([x, y]);
        if (!moved || Math.hypot(place[0] - CENTRE[0], place[1] - CENTRE[1]) < NEAR) this.choose({ guest });
      },
    });
    node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.choose({ guest }); } });
    return node;
  }

  // Each part rests as it is drawn; before that it moves.
  play() {
    if (wantsLessMotion()) return;
    for (const one of this.svg.getAnimations({ subtree: true })) one.cancel();
    const { keys, lines, states: [shut, last], data: { tried } } = this, flying = [...keys.keys()].filter((guest) => keys[guest]);
    const turn = Math.min(TURN, 4400 / flying.length), both = FIRST + turn * flying.length + 300, end = both + PAIR;
    flying.forEach((guest, order) => {
      const seat = this.seatOf(guest), [near, back] = [between(seat, CENTRE, 0.62), between(seat, CENTRE, 0.4)];
      keys[guest].animate([{ transform: at(seat), opacity: 1 }, { transform: at(near), opacity: 1, offset: 0.5 }, { transform: at(back), opacity: 1, offset: 0.7 }, { transform: at(seat), opacity: 0 }],
        { duration: turn, delay: FIRST + turn * order, easing: "ease-in-out" });
      if (tried.includes(guest)) {
        keys[guest].animate([{ opacity: 0 }, { opacity: 0 }], { duration: FIRST + turn * order, fill: "backwards" });
        keys[guest].animate([{ transform: at(seat), opacity: 0 }, { transform: at(seat), opacity: 1, offset: 0.1 }, {}], { duration: PAIR, delay: both, easing: "ease-out" });
        keys[guest].animate([{ opacity: 0 }, { opacity: 0 }], { duration: both - FIRST - turn * (order + 1), delay: FIRST + turn * (order + 1) });
      }
    });
    const later = { duration: 300, delay: end, fill: "backwards" }, appear = [{ opacity: 0 }, {}];
    for (const node of this.svg.querySelectorAll(".tried circle:not(.ring)")) node.animate([{ fill: "#6B7785" }, { fill: "#6B7785" }], { duration: end });
    for (const node of [...lines, last, this.says.lastChild, ...this.svg.querySelectorAll(".ring")]) node?.animate(appear, later);
    shut.animate([{ opacity: 1 }, { opacity: 1 }], { duration: end });
    this.lock.animate([{ color: "var(--dull)" }, { color: "var(--dull)" }], { duration: end });
    if (this.says.children.length > 1) this.says.firstChild.animate(appear, { duration: 300, delay: both - 300, fill: "backwards" });
  }
}

export default shownBy(Party, "chosen");
