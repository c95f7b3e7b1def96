// What Streamlit calls with the tokens.
import { shownBy } from "../../attention_core/attention/view/prelude.js";
import { TokenView } from "../../attention_core/attention/view/token_view.js";

export default shownBy(TokenView, "chosen");
