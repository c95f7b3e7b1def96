// The drawing pad brings a toolbar that lies over what stands above it. Ours stands below, so the pad's own is not shown.
// What is drawn while the connection is cut stays with the browser: a word to the server, once there is one again, takes
// it along. Who has no pointer draws by keys.
const CONNECTED = "CONNECTED", SOON = 30;
const ABOUT = "Drawing pad. The arrow keys move the pen, with Shift by less; the space bar puts it down and lifts it.";
const STYLE = `.dc-toolbar { display: none !important; }
.pen { position: absolute; z-index: 9; width: 19px; height: 19px; translate: -50% -50%; border: 2px solid #0072b2;
  border-radius: 50%; pointer-events: none; }
.pen.down { background: #0072b2; }
canvas.upper-canvas:not(:focus) ~ .pen { display: none; }`;

// A pen that the arrow keys move over a canvas: the pad takes its moves for a mouse's.
const drawByKeys = (canvas) => {
  const pen = make(canvas.parentElement, "div", "pen"), at = [0.5, 0.5];
  let isDown = false;
  const send = (kind) => {
    const { x, y, width, height } = canvas.getBoundingClientRect();
    const place = { clientX: x + at[0] * width, clientY: y + at[1] * height };
    canvas.dispatchEvent(new MouseEvent(kind, { ...place, bubbles: true, composed: true, button: 0, buttons: isDown ? 1 : 0 }));
  };
  const show = () => {
    Object.assign(pen.style, { left: `${100 * at[0]}%`, top: `${100 * at[1]}%` });
    pen.classList.toggle("down", isDown);
  };
  const turn = () => {
    isDown = !isDown;
    send(isDown ? "mousedown" : "mouseup");
    show();
  };
  set(canvas, { tabindex: 0, role: "application", "aria-label": ABOUT });
  canvas.addEventListener("keydown", (event) => {
    const way = arrowOf(event), step = event.shiftKey ? 0.01 : 0.05;
    if (event.key === " ") { event.preventDefault(); turn(); }
    if (!way) return;
    way.forEach((by, axis) => { at[axis] = clamp(at[axis] + by * step, 0, 1); });
    send("mousemove");
    show();
  });
  canvas.addEventListener("blur", () => isDown && turn());
  show();
};

export default function ({ parentElement, setTriggerValue }) {
  const place = parentElement.getRootNode().host, app = place.closest("[data-testid=stApp]");
  const look = () => {
    if (!place.isConnected) clearInterval(place.watch);
    const now = app?.dataset.testConnectionState;
    if (now === CONNECTED && (place.connection ?? now) !== now) setTriggerValue("connected", true);
    place.connection = now;
    const inside = [...place.closest("[class*=_canvas_frame]")?.querySelectorAll("*") ?? []].map((node) => node.shadowRoot);
    for (const pad of inside) {  // another one is mounted for every drawing that comes from elsewhere
      const canvas = pad?.querySelector(".canvas-root canvas.upper-canvas");
      if (!canvas || canvas.hasAttribute("tabindex")) continue;
      if (!pad.querySelector("style.bare")) make(pad, "style", "bare", STYLE);
      drawByKeys(canvas);
    }
  };
  clearInterval(place.watch);
  place.watch = setInterval(look, 100);
  const soon = (frames) => { look(); if (frames) requestAnimationFrame(() => soon(frames - 1)); };
  soon(SOON);  // a pad that is mounted now makes its canvas a little later
}
