// The drawing pad brings a toolbar that lies over what stands above it. Ours stands below, so the pad's own is not shown.
export default function ({ parentElement }) {
  const place = parentElement.getRootNode().host;
  const hide = () => {
    const inside = [...place.closest("[class*=_canvas_frame]")?.querySelectorAll("*") ?? []].map((node) => node.shadowRoot);
    const pad = inside.find((root) => root?.querySelector(".canvas-root"));
    if (pad) make(pad, "style", "", ".dc-toolbar { display: none !important; }");
    else if (place.isConnected) requestAnimationFrame(hide);
  };
  hide();
}
