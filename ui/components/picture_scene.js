// A scene over a picture, which may be that of a drawing pad.
import { shownBy } from "../../attention_core/attention/view/prelude.js";
import { DrawnScene } from "./drawn_scene.js";

export default shownBy(DrawnScene, "chosen");
