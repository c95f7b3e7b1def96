// Who works by keys or hears a page. What takes the place of a button that leaves gets its focus, or else the page's heading.
// Escape closes what asks, and leaves an experiment. What became of a guess is told, and the answer of an experiment whenever it has changed.
import { makeHeard } from "../../attention_core/attention/view/prelude.js";

const STOPS = "a[href], button:not(:disabled), input:not(:disabled), textarea, [role=radio], [tabindex='0']";
const CLOSES = ['[class*="_try_close"] button', '.st-key-experiment [class*="_back"] button'];
const OPENS = '[data-testid="stPopoverBody"], [role="dialog"]:not(#lecture *), [role="listbox"], [aria-label^="Close fullscreen"]';

const stopsIn = (place) => [...place.querySelectorAll(STOPS)].filter((node) => node.checkVisibility());
const pathOf = () => window.location.pathname;

// The keyed containers of an element, from the innermost, each with how many stops stand before it there.
const placesOf = (node) => {
  const places = [];
  for (let place = node; (place = place.parentElement?.closest('[class*="st-key-"]')); ) {
    places.push([`.${[...place.classList].find((name) => name.startsWith("st-key-"))}`, stopsIn(place).indexOf(node)]);
  }
  return places;
};

// What has come to where the focus was, null = it is on its way: on a page that is new, the heading.
const heirOf = ({ path, places }) => {
  for (const [selector, at] of path === pathOf() ? places : []) {
    const isLink = selector === ".st-key-questions", place = document.querySelector(isLink ? ".st-key-experiment" : selector);
    const stops = place ? stopsIn(place) : [];
    if (place?.querySelector('[data-testid="stSkeleton"]')) return null;
    if (stops.length) return stops[isLink ? 0 : Math.min(Math.max(at, 0), stops.length - 1)];
  }
  const heading = document.querySelector("h1");
  heading?.setAttribute("tabindex", -1);
  return heading;
};

export const helpByKeys = () => {
  let last = null, isByKeys = false, answer = "";
  const told = makeHeard(document.body);
  window.addEventListener("pointerdown", () => { isByKeys = false; }, true);
  window.addEventListener("keydown", (event) => {
    isByKeys = true;
    if (event.key !== "Escape" || window.lecture.on || event.defaultPrevented || document.querySelector(OPENS) || event.composedPath()[0].matches?.("canvas, input, textarea")) return;
    for (const selector of CLOSES) if (document.querySelector(selector)) return document.querySelector(selector).click();
  }, true);
  document.addEventListener("focusin", ({ target }) => { last = { target, path: pathOf(), places: placesOf(target) }; });
  const look = () => {
    if (document.querySelector("[data-test-script-state]")?.dataset.testScriptState !== "notRunning") return;
    const text = document.querySelector(".st-key-experiment_answer")?.textContent ?? "";
    if (text !== answer) { told.textContent = answer && text; answer = text; }
    document.querySelector('[class*="_try_this"]')?.setAttribute("aria-live", window.lecture.on ? "off" : "polite");
    if (!last || document.activeElement !== document.body || (last.target.isConnected && !last.target.disabled)) return;
    const heir = isByKeys && !window.lecture.on && heirOf(last);
    if (heir === null) return;
    last = null;
    if (heir) heir.focus({ preventScroll: true });
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributeFilter: ["data-test-script-state"] });
};
