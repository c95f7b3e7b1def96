// A picture that is pasted while the uploader is open becomes its file, as one that is dropped.
export default ({ data }) => {
  const onPaste = (event) => {
    const picture = [...event.clipboardData.files].find(({ type }) => type.startsWith("image/"));
    const input = document.querySelector(`.st-key-${data.uploader} input[type=file]`);
    if (!picture || !input) return;
    event.preventDefault();
    const carried = new DataTransfer();
    carried.items.add(picture);
    input.files = carried.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  document.addEventListener("paste", onPaste);
  return () => document.removeEventListener("paste", onPaste);
};
