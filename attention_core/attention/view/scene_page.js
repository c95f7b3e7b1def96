// A scene in a notebook's cell, or in a file of its own: it needs no server, and what is changed stays in it.
import { make } from "./prelude.js";
import { PictureScene } from "./picture_scene.js";
import { SceneView } from "./scene.js";
import { shadowIn } from "./host.js";

export const showRecordings = (name, rules, data) => {
  for (const host of document.querySelectorAll(`[data-attention="${name}"]`)) {
    if (host.shadowRoot) continue;
    const Scene = data.looks ? PictureScene : SceneView;
    host.view = new Scene(make(shadowIn(host, rules), "div", "root page"));
    host.view.adopt(data);
  }
};
