// The drawing pad brings a toolbar that lies over what stands above it. Ours stands below, so the pad's own is not shown.
export default function ({ parentElement }) {
  const place = parentElement.getRootNode().host;
  const hide = () => {
    if (!place.isConnected) clearInterval(place.watch);
    const inside = [...place.closest("[class*=_canvas_frame]")?.querySelectorAll("*") ?? []].map((node) => node.shadowRoot);
    for (const pad of inside) {  // another one is mounted for every drawing that comes from elsewhere
      if (!pad?.querySelector(".canvas-root") || pad.querySelector("style.bare")) continue;
      make(pad, "style", "bare", ".dc-toolbar { display: none !important; }");
    }
  };
  clearInterval(place.watch);
  place.watch = setInterval(hide, 100);
  hide();
}
