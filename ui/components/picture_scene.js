// A scene over a picture on a page: Python hears what is chosen in it.
import { shownBy } from "../../attention_core/attention/view/prelude.js";
import { PictureScene } from "../../attention_core/attention/view/picture_scene.js";

export default shownBy(PictureScene, "chosen");
