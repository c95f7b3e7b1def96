// A scene of records on a page: Python hears what is chosen in it.
import { shownBy } from "../../attention_core/attention/view/prelude.js";
import { TableScene } from "../../attention_core/attention/view/scene_table.js";

export default shownBy(TableScene, "chosen");
