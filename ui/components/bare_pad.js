// The drawing pad brings a toolbar that lies over what stands above it. Ours stands below, so the pad's own is not shown.
// What is drawn while the connection is cut stays with the browser: a word to the server, once there is one again, takes
// it along. Who has no pointer draws by keys.
import { arrowOf, clamp, make, set } from "../../attention_core/attention/view/prelude.js";
import { watchPads } from "./pads.js";

const CONNECTED = "CONNECTED", CONNECTION = "data-test-connection-state";
const ABOUT = "Drawing pad. The arrow keys move the pen, with Shift by less; the space bar puts it down and lifts it.";
const STYLE = `.dc-toolbar { display: none !important; }
canvas { opacity: var(--pad, 1); }  /* over a scene the pen alone is seen */
.ring, .pen { position: absolute; z-index: 11; pointer-events: none; }
.ring { inset: 0; border: 3px solid #0072b2; }
.pen { width: 19px; height: 19px; translate: -50% -50%; border: 2px solid #0072b2; box-shadow: 0 0 0 2px #fff;
  border-radius: 50%; }
.pen.down { background: #0072b2; }
canvas.upper-canvas:not(:focus-visible) ~ :is(.pen, .ring) { display: none; }`;

// A pen that the arrow keys move over a canvas: the pad takes its moves for a mouse's.
const drawByKeys = (canvas) => {
  const [, pen] = ["ring", "pen"].map((part) => make(canvas.parentElement, "div", part)), at = [0.5, 0.5];
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
  for (const layer of canvas.getRootNode().querySelectorAll("canvas")) if (layer !== canvas) set(layer, { "aria-hidden": true });
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

// A word to the server whenever there is a connection again.
const watchConnection = (app, tell) => {
  const watch = new MutationObserver(() => { if (app.getAttribute(CONNECTION) === CONNECTED) tell(); });
  watch.observe(app, { attributeFilter: [CONNECTION] });
  return () => watch.disconnect();
};

export default function ({ parentElement, setTriggerValue }) {
  const place = parentElement.getRootNode().host, frame = place.closest("[class*=_canvas_frame]");
  if (place.leave || !place.isConnected || !frame) return place.leave;  // it may be leaving the page
  const ends = [
    watchConnection(place.closest("[data-testid=stApp]"), () => setTriggerValue("connected", true)),
    watchPads(frame, (canvas) => {
      make(canvas.getRootNode(), "style", "bare", STYLE);
      drawByKeys(canvas);
    }),
  ];
  return (place.leave = () => ends.forEach((end) => end()));
}
