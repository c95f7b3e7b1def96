// What several components do.

export const set = (node, attributes) => {
  for (const name in attributes) node.setAttribute(name, attributes[name]);
};

// A new element at the end of another: `about` is its class or its attributes, and "svg:path" makes one of SVG's.
export const make = (parent, tag, about = {}, text = "") => {
  const [, svg, name] = tag.match(/(svg:)?(.*)/);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  set(node, typeof about === "string" ? { class: about } : about);
  if (text) node.textContent = text;
  return parent.appendChild(node);
};

// What is heard and not seen: it is said politely whenever its text changes.
export const makeHeard = (parent) => {
  const node = make(parent, "p", { class: "heard", role: "status" });
  node.style.cssText = "position:absolute;left:-100vw;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";
  return node;
};

export const create = (tag, properties) => Object.assign(document.createElement(tag), properties);

export const bold = (textContent) => create("b", { textContent });

export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// As wording.percent in Python, in whole percents: only 0 is "0%", only 1 "100%".
export const asPercent = (share) => (share > 0 && share < 0.01 ? "<1%" : share > 0.99 && 1 - share >= 1e-6 ? ">99%" : `${Math.round(100 * share)}%`);

export const wantsLessMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const minus = (text) => text.replace("-", "−");

// What the browser measures is in pixels of the screen, what is drawn in the page's own, which lecture mode enlarges.
export const inPage = (node, { x, y, width, height }) => {
  const zoom = node.currentCSSZoom ?? 1;
  return new DOMRect(x / zoom, y / zoom, width / zoom, height / zoom);
};

export const boxOf = (node) => inPage(node, node.getBoundingClientRect());

// Where in an element the pointer is.
export const pointIn = (node, { clientX, clientY }) => {
  const box = boxOf(node), point = inPage(node, new DOMRect(clientX, clientY));
  return [point.x - box.x, point.y - box.y];
};

// The cell of a picture that the pointer is on, and the one beside a cell that an arrow key points to, [right, down].
export const cellUnder = (node, event, rows, columns) => {
  const [x, y] = pointIn(node, event), { width, height } = boxOf(node);
  const at = (share, n) => clamp(Math.floor(n * share), 0, n - 1);
  return at(y / height, rows) * columns + at(x / width, columns);
};

export const cellBeside = (cell, [right, down], rows, columns) =>
  clamp(Math.floor(cell / columns) + down, 0, rows - 1) * columns + clamp((cell % columns) + right, 0, columns - 1);

// The heaviest of some weights, each with its place.
export const heaviest = (weights, most) =>
  Array.from(weights, (value, place) => [value, place]).sort((a, b) => b[0] - a[0]).slice(0, most);

// The shares that scores get of 1; those that are not finite get none.
export const softmax = (scores) => {
  const top = Math.max(...scores), grown = scores.map((s) => (Number.isFinite(s) ? Math.exp(s - top) : 0));
  const sum = grown.reduce((a, b) => a + b, 0);
  return grown.map((e) => e / (sum || 1));
};

export const bytesOf = (base64) => {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
};

export const inflate = async (bytes) => {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

// Red, green, blue and opacity, up to 255, of "#rrggbb" or "#rrggbbaa".
export const channelsOf = (colour) => [1, 3, 5, 7].map((at) => parseInt(colour.slice(at, at + 2) || "ff", 16));

// What makes a share, from 0 to 1, a colour [r, g, b, opacity] between others, which are written as "#rrggbb" or "#rrggbbaa".
export const rampOf = (colours) => {
  const anchors = colours.map(channelsOf);
  return (share) => {
    const at = clamp(share, 0, 1) * (anchors.length - 1), i = Math.min(Math.floor(at), anchors.length - 2);
    return anchors[i].map((from, channel) => Math.round(from + (at - i) * (anchors[i + 1][channel] - from)));
  };
};

// A colour as the 32 bits of a pixel.
export const pixelOf = ([r, g, b, opacity = 255], a = opacity) => ((Math.round(a) << 24) | (b << 16) | (g << 8) | r) >>> 0;

// A typed array of n numbers, each made from its place; what JavaScript has for that takes ten times as long.
export const arrayOf = (Kind, n, make) => {
  const numbers = new Kind(n);
  for (let at = 0; at < n; at++) numbers[at] = make(at);
  return numbers;
};

// Fill a canvas with such pixels.
export const putPixels = (canvas, pixels) => {
  const picture = new ImageData(new Uint8ClampedArray(pixels.buffer), canvas.width, canvas.height);
  canvas.getContext("2d").putImageData(picture, 0, 0);
};

// A function that lets `draw` run in the next frame, once however often it is called.
export const onceAFrame = (draw) => {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => { isWaiting = false; draw(); });
  };
};

// Let `redraw` run whenever the page turns dark or light, as long as the node is on it.
export const whenDarkOrLight = (node, redraw) => {
  const dark = matchMedia("(prefers-color-scheme: dark)"), turn = () => {
    if (node.isConnected) setTimeout(redraw, 300);
    else dark.removeEventListener("change", turn);
  };
  dark.addEventListener("change", turn);
};

// Where an arrow key points, [right, down], or undefined; nobody else gets to know of such a key.
export const arrowOf = (event) => {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (way) { event.preventDefault(); event.stopPropagation(); }
  return way;
};

// What the pointer, the focus or a tap is on, once for all views of a page, so that each lights what belongs to it. Places
// are [axis, index], named and counted as the trace does it, [] = none; of a cell the row's comes first, the column's last.
// `light` gets them, of the view's own `look` too, as long as its node is on the page. Recordings in a notebook, which may
// be of other texts, each keep their own:
//   this.pointed = pointedIn(root, (places) => this.light(places));
//   this.pointed.over(cell, () => [["target words", 3], ["source words", 0]]);
export const pointedIn = (node, light) => {
  const { host } = node.getRootNode(), home = host?.matches("[data-attention]") ? host : window, view = { node, light };
  const page = (home.attentionPointed ??= { views: new Set(), places: [], owner: null });
  const tell = (owner, places) => {
    const isSame = String(places) === String(page.places);
    Object.assign(page, { owner, places });
    if (!isSame) for (const one of page.views) one.light(places);
  };
  page.letGo ??= (event) => {
    for (const one of page.views) if (!one.node.isConnected) page.views.delete(one);
    const { owner } = page, isElsewhere = event.type === "pointerdown" && !event.composedPath().includes(owner?.node);
    if (owner && (isElsewhere || !owner.node.isConnected)) tell(null, []);
  };
  for (const kind of ["pointerdown", "pointermove"]) window.addEventListener(kind, page.letGo, true);  // once: it is the same
  page.views.add(view);
  const look = (places) => { page.views.add(view); tell(view, places); };
  // A finger that is lifted leaves, but what it has tapped stays lit until it taps elsewhere.
  const leave = (event) => { if (page.owner === view && event?.pointerType !== "touch") tell(null, []); };
  const over = (part, placesOf) => {
    for (const kind of ["pointerenter", "focus"]) part.addEventListener(kind, () => look(placesOf()));
    for (const kind of ["pointerleave", "blur"]) part.addEventListener(kind, leave);
  };
  return { look, leave, over, places: () => page.places };
};

// The index of a place along an axis, the first or the last of them; null if there is none.
export const placeOn = (places, axis, isLast = false) => places[isLast ? "findLast" : "find"](([name]) => name === axis)?.[1] ?? null;

// What is dragged by mouse, pen or finger: `begin` and `go` get the pointer's events.
export const dragged = (handle, { begin, go, end }) => {
  handle.onpointerdown = (event) => {
    handle.setPointerCapture(event.pointerId);
    begin?.(event);
  };
  handle.onpointermove = (event) => { if (handle.hasPointerCapture(event.pointerId)) go(event); };
  handle.onpointerup = handle.onpointercancel = (event) => { if (handle.hasPointerCapture(event.pointerId)) end(); };
};

// Buttons in a line, one stop of the Tab key, the one that had the focus last: hovering or focusing one looks at it, a click chooses it, left and right go to its neighbours, up and
// down weigh it, if they can: by how much is told.
export const inLine = (buttons, look, choose, weigh) => buttons.forEach((button, place) => {
  button.tabIndex = place ? -1 : 0;
  button.addEventListener("focus", () => buttons.forEach((each) => { each.tabIndex = each === button ? 0 : -1; }));
  button.onpointerenter = button.onfocus = () => look(place);
  button.onpointerleave = button.onblur = (event) => look(null, event);
  button.onclick = () => choose(place);
  button.onkeydown = (event) => {
    if (["ArrowLeft", "ArrowRight"].includes(event.key)) buttons[place + arrowOf(event)[0]]?.focus();
    if (weigh && ["ArrowUp", "ArrowDown"].includes(event.key)) weigh(place, -0.05 * arrowOf(event)[1]);
  };
});

// Build something anew; the button in whose place one had the focus gets it.
export const keepFocus = (root, build) => {
  const buttons = () => [...root.querySelectorAll("button")];
  const place = buttons().indexOf(root.getRootNode().activeElement);
  build();
  if (place >= 0) buttons()[Math.min(place, buttons().length - 1)]?.focus({ preventScroll: true });
};

// Whether what something is built from is new to it.
export const isNew = (owner, ...parts) => {
  const before = owner.form;
  owner.form = JSON.stringify(parts);
  return owner.form !== before;
};

// What Streamlit calls: a root keeps its view, which gets every message and answers under names, each with a function. The
// time makes every answer differ from the one before.
export const shownBy = (View, ...answers) => ({ data, parentElement, setStateValue }) => {
  const root = parentElement.querySelector(".root");
  if (!root.isConnected) return undefined;  // it has left the page while its script was on its way
  root.view ??= new View(root);
  root.view.adopt(data, ...answers.map((answer) => (message) => setStateValue(answer, { ...message, at: Date.now() })));
  return () => root.view.leave?.();
};
