"""Whether everything can be read: python -m benchmarks.contrast [PAGES].

Every page and tab in Chromium, light and dark: the colour of every text, in charts and components too, against what
lies behind it, taken from a photograph of the page without its letters (the median over the text's box). Texts of 24
pixels, or 18.66 in bold, need a contrast of 3, all others 4.5 (WCAG 2.2, AA); what cannot be used now, and what is
drawn on a canvas, does not count. Then in lecture mode at 1920 x 1080 the letters of charts in screen pixels.
PAGES are names of addresses; all if none are given.
"""

import io
import statistics
import sys
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page

from benchmarks.browser import settle, visitor
from benchmarks.report import publish
from benchmarks.server import running
from ui.navigation import PAGES

LARGE, LARGE_BOLD, ENOUGH, ENOUGH_LARGE = 24, 18.66, 4.5, 3.0
TEXTS = r"""() => {
  const found = [], pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const above = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host;
  window.roots = [];
  const visit = (root) => {
    window.roots.push(root);
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      if (node.shadowRoot) visit(node.shadowRoot);
      const at = node.parentElement;
      if (node.nodeType !== 3 || !node.textContent.trim() || !at) continue;
      if (at.closest("style, script, title, .katex-mathml")) continue;
      const style = getComputedStyle(at), isSvg = Boolean(at.getScreenCTM) && at.tagName !== "svg";
      const range = document.createRange();
      range.selectNodeContents(node);
      const boxes = isSvg ? [at.getBoundingClientRect()] : [...range.getClientRects()];
      const box = boxes.find(({ width, height }) => width > 2 && height > 2);
      const colour = rgba(isSvg ? style.fill : style.color);
      let opacity = colour[3], isOut = !box || style.visibility !== "visible", inner = isSvg;
      for (let up = at; up && !isOut; up = above(up)) {
        const own = getComputedStyle(up);
        opacity *= own.opacity;
        isOut = up.matches(":disabled, [aria-disabled=true]") || own.clipPath.startsWith("inset(50");
        if (!inner && own.overflow !== "visible" && up !== document.body && up !== document.documentElement) {
          const edge = up.getBoundingClientRect();
          isOut ||= box.left >= edge.right || box.right <= edge.left;
          isOut ||= box.top >= edge.bottom - 2 || box.bottom <= edge.top + 2;
        }
      }
      if (isOut || opacity < 0.02) continue;
      const { a, b } = isSvg ? at.getScreenCTM() : { a: at.currentCSSZoom ?? 1, b: 0 };
      found.push({
        text: node.textContent.trim().slice(0, 40), colour: colour.slice(0, 3), opacity, isSvg,
        box: [box.left, box.top, box.right, box.bottom], bold: style.fontWeight >= 700,
        size: parseFloat(style.fontSize) * Math.hypot(a, b),
      });
    }
  };
  visit(document);
  return found;
}"""
HIDE = """() => { for (const root of window.roots) {
  const sheet = document.createElement("style");
  sheet.className = "hides";
  sheet.textContent = `* { transition: none !important; animation: none !important; color: transparent !important;
    -webkit-text-fill-color: transparent !important; text-decoration-color: transparent !important }
    svg text, svg tspan { fill: transparent !important }`;
  (root.head ?? root).append(sheet);
} }"""
SHOW = "() => { for (const root of window.roots) root.querySelector('style.hides')?.remove(); }"


def light(colours: np.ndarray) -> np.ndarray:
    """Return the relative luminance of colours, RGB (..., 3) from 0 to 255."""
    shares = colours / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrast(text: dict[str, Any], photograph: np.ndarray) -> float:
    """Return the median contrast of a text over its box of the photograph, (height, width, 3)."""
    left, top, right, bottom = (max(0, round(side)) for side in text["box"])
    behind = photograph[top:bottom, left:right].reshape(-1, 3).astype(float)
    written = text["opacity"] * np.array(text["colour"]) + (1 - text["opacity"]) * behind
    one, other = light(written) + 0.05, light(behind) + 0.05
    return float(np.median(np.maximum(one, other) / np.minimum(one, other))) if len(behind) else np.inf


def pale(page: Page) -> tuple[int, list[tuple[str, float]]]:
    """Return how many texts the page shows, and those whose contrast is too low, with it."""
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": 1440, "height": max(900, min(height + 4, 9000))})
    page.wait_for_timeout(500)
    texts = page.evaluate(TEXTS)
    page.evaluate(HIDE)
    page.wait_for_timeout(250)
    photograph = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    page.evaluate(SHOW)
    found = []
    for text in texts:
        is_large = text["size"] >= LARGE or (text["bold"] and text["size"] >= LARGE_BOLD)
        ratio = contrast(text, photograph)
        if ratio < (ENOUGH_LARGE if is_large else ENOUGH) - 0.005:
            found.append((text["text"], round(ratio, 2)))
    return len(texts), found


def tabs(page: Page) -> int:
    return max(1, page.locator("[role=tab]").count())


def open_tab(page: Page, number: int) -> None:
    if page.locator("[role=tab]").count():
        page.locator("[role=tab]").nth(number).click()
        settle(page)
    page.evaluate("document.querySelectorAll('main details:not([open]) > summary').forEach((one) => one.click())")
    settle(page)


def main() -> None:
    wanted = sys.argv[1:]
    rows, figures = [["page", "texts", "too pale", "letters: median", "least"]], {}
    with running("app.py") as url, visitor() as page:
        for entry in PAGES:
            if wanted and entry.name not in wanted:
                continue
            n_texts, faint, sizes = 0, [], []
            page.emulate_media(color_scheme="light", reduced_motion="reduce")
            page.goto(f"{url}/{entry.url_path}")
            page.wait_for_selector("h1")
            settle(page)
            for number in range(tabs(page)):
                open_tab(page, number)
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                    settle(page)
                    n, found = pale(page)
                    n_texts, faint = n_texts + n, faint + [(scheme, number + 1, *one) for one in found]
            page.set_viewport_size({"width": 1920, "height": 1080})
            page.goto(f"{url}/{entry.url_path}?lecture=1")
            page.wait_for_function("window.lecture?.on")
            for number in range(tabs(page)):
                open_tab(page, number)
                sizes += [round(text["size"], 1) for text in page.evaluate(TEXTS) if text["isSvg"]]
            ends = [f"{end(sizes):.1f}" if sizes else "none" for end in (statistics.median, min)]
            rows.append([entry.name, str(n_texts), str(len(faint)), *ends])
            figures[entry.name] = {"texts": n_texts, "too_pale": faint, "letters": ends}
    publish("contrast", rows, {"pages": figures})


if __name__ == "__main__":
    main()
