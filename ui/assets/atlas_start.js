// Starts the atlas' map. Streamlit sends a component's script with every message; here that is these few lines, and the
// map's own script comes in front of the first message: four bytes with its length, itself, then what the map reads.
const VERSION = "{version}";

export default async function (component) {
  const { data, setStateValue } = component;
  const loaded = (globalThis.atlasScripts ??= new Map());
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  if (length && !loaded.has(VERSION)) {
    const script = new Blob([data.subarray(4, 4 + length)], { type: "text/javascript" });
    loaded.set(VERSION, import(URL.createObjectURL(script)));
  }
  if (loaded.has(VERSION)) return (await loaded.get(VERSION)).show(component, data.subarray(4 + length));
  setStateValue("asked", { script: VERSION });
}
