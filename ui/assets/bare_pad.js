// The drawing pad brings a toolbar that lies over what stands above it. Ours stands below, so the pad's own is not shown.
// What is drawn while the connection is cut stays with the browser: a word to the server, once there is one again, takes
// it along.
const CONNECTED = "CONNECTED";

export default function ({ parentElement, setTriggerValue }) {
  const place = parentElement.getRootNode().host, app = place.closest("[data-testid=stApp]");
  const look = () => {
    if (!place.isConnected) clearInterval(place.watch);
    const now = app?.dataset.testConnectionState;
    if (now === CONNECTED && (place.before ?? now) !== now) setTriggerValue("connected", true);
    place.before = now;
    const inside = [...place.closest("[class*=_canvas_frame]")?.querySelectorAll("*") ?? []].map((node) => node.shadowRoot);
    for (const pad of inside) {  // another one is mounted for every drawing that comes from elsewhere
      if (!pad?.querySelector(".canvas-root") || pad.querySelector("style.bare")) continue;
      make(pad, "style", "bare", ".dc-toolbar { display: none !important; }");
    }
  };
  clearInterval(place.watch);
  place.watch = setInterval(look, 100);
  look();
}
