// A box to type into that sends what is typed while it is typed.
import { make } from "../../attention_core/attention/view/prelude.js";

const PAUSE = 150; // milliseconds without a further letter after which the text is sent

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".root");
  if (!root.box) {
    const label = make(root, "label", {}, data.label);
    root.box = make(label, "input", { type: "text", autocomplete: "off", maxlength: data.max, placeholder: data.example });
  }
  const { box } = root, isTyping = root.getRootNode().activeElement === box;
  if (!isTyping && box.value !== data.text) box.value = data.text;
  const send = () => setStateValue("text", box.value);
  box.oninput = () => {
    clearTimeout(root.timer);
    root.timer = setTimeout(send, PAUSE);
  };
}
