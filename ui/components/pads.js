// Calls `take` with the canvas of each drawing pad in a place, as soon as it is there; another pad is mounted for every drawing
// that comes from elsewhere. What is in a pad's shadow can be watched once it has one, and its size tells when. Returns what
// ends the watch.
export const watchPads = (place, take) => {
  const known = new WeakSet(), isNewly = (node) => !known.has(node) && known.add(node);
  const look = () => {
    for (const host of place.querySelectorAll("[data-testid=stBidiComponentIsolated]")) {
      const inside = host.shadowRoot, canvas = inside?.querySelector("canvas.upper-canvas");
      if (isNewly(host)) sizes.observe(host);
      if (inside && isNewly(inside)) changes.observe(inside, { childList: true, subtree: true });
      if (canvas && isNewly(canvas)) take(canvas);
    }
  };
  const changes = new MutationObserver(look), sizes = new ResizeObserver(look);
  changes.observe(place, { childList: true, subtree: true });
  look();
  return () => [changes, sizes].forEach((watch) => watch.disconnect());
};
