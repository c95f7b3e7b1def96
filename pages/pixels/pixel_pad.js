// The hand over a drawing pad on which a picture lies: hovering looks, a click chooses, dragging draws on. While it draws,
// the picture is away.
const DRAG = 5;

export const underHand = (pad, { over, hover, choose, begin, end, leave }) => {
  const board = pad.querySelector(".upper-canvas"), last = pad.ownerDocument;
  let start = null, draws = false;
  const pass = (kind, target, { clientX, clientY }) =>
    target.dispatchEvent(new MouseEvent(kind, { bubbles: true, composed: true, cancelable: true, clientX, clientY, buttons: 1, view: window }));

  // A press is a question until it moves, so the pad does not get to know of it; then it gets a mouse's, by touch as well.
  const hold = (event) => {
    if (!over() || !event.isTrusted) return;
    event.stopImmediatePropagation();
    if (event.type === "touchstart") event.preventDefault();
  };
  pad.addEventListener("mousedown", hold, true);
  pad.addEventListener("touchstart", hold, { capture: true, passive: false });
  pad.addEventListener("pointerdown", (event) => { if (over()) start = event; });
  pad.addEventListener("pointermove", (event) => {
    const isTouch = event.pointerType === "touch";
    if (!start) {
      if (over() && !isTouch) hover(event);
    } else if (draws) {
      if (isTouch) pass("mousemove", last, event);
    } else if (Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > DRAG) {
      draws = true;
      begin();
      pass("mousedown", board, start);
    }
  });
  pad.addEventListener("pointerleave", leave);
  board.addEventListener("keydown", (event) => {  // who draws by keys sees the pad for a while
    if (event.key === "Tab") return;
    begin();
    end();
  });
  const up = (event) => {
    if (!pad.isConnected) last.removeEventListener("pointerup", up, true);
    if (draws && event.pointerType === "touch") pass("mouseup", last, event);
    if (start && !draws) choose(start);
    [start, draws] = [null, false];
    end();
  };
  last.addEventListener("pointerup", up, true);
};
