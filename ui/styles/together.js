// Streamlit draws its page anew for what each message says, and first greys what is to change: what a run says is handed on
// at once, when it has ended. It adds one function as the listener, and never takes it away.
const LONGEST = 100, ENDED = 2;  // milliseconds that messages wait at most; bytes of the one that a run has ended
WebSocket.prototype.addEventListener = function (kind, take, ...about) {
  let held = [], timer;
  const give = () => {
    timer = clearTimeout(timer);
    held.splice(0).forEach((event) => take.call(this, event));
  };
  const hold = (event) => {
    held.push(event);
    if (event.data.byteLength === ENDED) give(); else timer ??= setTimeout(give, LONGEST);
  };
  EventTarget.prototype.addEventListener.call(this, kind, kind === "message" && typeof take === "function" ? hold : take, ...about);
};
// Of what it shows it tells whoever frames the page, or else itself, and takes a millisecond to see that this is not for it.
window.addEventListener("message", (event) => {
  if (event.source === window && event.data?.stCommVersion) event.stopImmediatePropagation();
}, true);
