// A scene on a page: Python hears what is chosen in it.
import { shownBy } from "../../attention_core/attention/view/prelude.js";
import { SceneView } from "../../attention_core/attention/view/scene.js";

export default shownBy(SceneView, "chosen");
