"""Drag an arrow with a real mouse and count frames and answers: python -m benchmarks.drag [ROUNDS].

Opens "What a score measures" at 1440 x 900 and drags key 1 round
the plane at the pace of a mouse. Counted while the button is down: frames in which the arrow's tip stood elsewhere
than in the frame before, and how often all that Python makes was drawn anew (the sentence, the functions' bars,
the fields; the slowest counts). Goals: 30 drawn frames and 5 answers a second on two cores. Chromium: variable
CHROMIUM, or on the PATH.
"""

import asyncio
import math
import os
import statistics
import sys
import time

from playwright.async_api import Page, async_playwright

from benchmarks.browser import ARGUMENTS, chromium
from benchmarks.report import publish
from benchmarks.server import running

ADDRESS = "scoring"
GOALS = {"drawn_per_second": ">= 30", "answers_per_second": ">= 5"}
WATCH = """() => {
  const all = [];
  const seek = (root) => { for (const node of root.querySelectorAll('*')) {
    if (node.matches('.tip[data-place="1"], table i, figure canvas, .root[data-painted]')) all.push(node);
    if (node.shadowRoot) seek(node.shadowRoot); } };
  seek(document);
  const first = (selector) => all.find((node) => node.matches(selector));
  const tip = first('.tip[data-place="1"]'), field = first('figure canvas'), bars = first('.root[data-painted]');
  const counts = { frames: 0, drawn: 0, gaps: [], sentence: 0, bars: 0, field: 0, inputs: 0 };
  let before = '', moved = performance.now();
  const last = { sentence: '', bars: '', field: '' };
  const count = (what, now) => { if (now !== last[what]) { last[what] = now; counts[what]++; } };
  const step = (now) => {
    counts.frames++;
    const at = tip.getAttribute('cx') + ' ' + tip.getAttribute('cy');
    if (at !== before) { counts.drawn++; counts.gaps.push(now - moved); moved = now; before = at; }
    const said = [...document.querySelectorAll('[data-testid=stMarkdown] p')];
    count('sentence', said.find((p) => /Largest weight to/.test(p.textContent))?.textContent);
    count('bars', bars.dataset.painted);
    count('field', field.dataset.painted);
    if (!window.stopCounting) requestAnimationFrame(step);
  };
  tip.addEventListener('pointermove', () => { counts.inputs++; });
  window.counts = counts;
  requestAnimationFrame(step);
}"""


def main(rounds: int = 3) -> None:
    """Measure, print, write results/drag.json; exit code 1 when a goal is missed."""
    with running("app.py") as url:
        taken = [asyncio.run(measure(url, 5)) for _ in range(rounds)]
    figures = {name: statistics.median(one[name] for one in taken) for name in taken[0]}
    table = [["counted", "median", "each round", "goal"]]
    for name, value in figures.items():
        table.append([name, f"{value:g}", " ".join(f"{one[name]:g}" for one in taken), GOALS.get(name, "")])
    publish("drag", table, {"niceness": os.nice(0), **figures, "rounds": taken})
    sys.exit(figures["drawn_per_second"] < 30 or figures["answers_per_second"] < 5)


async def measure(url: str, seconds: float) -> dict[str, float]:
    """Drag key 1 for some seconds and return what was counted."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.goto(f"{url}/{ADDRESS}")
        await page.locator("figure canvas").first.wait_for(timeout=60_000)
        await page.wait_for_timeout(1500)
        await drag(page, 1.0)  # warm up
        await page.evaluate(WATCH)
        took = await drag(page, seconds)
        await page.evaluate("window.stopCounting = true")
        counts = await page.evaluate("window.counts")
        await browser.close()
    gaps = sorted(counts["gaps"][1:])
    return {
        "seconds": round(took, 2),
        "frames_per_second": round(counts["frames"] / took, 1),
        "drawn_per_second": round(counts["drawn"] / took, 1),
        "median_gap_ms": round(statistics.median(gaps), 1),
        "95th_percentile_gap_ms": round(gaps[int(0.95 * (len(gaps) - 1))], 1),
        "answers_per_second": round(min(counts["sentence"], counts["bars"], counts["field"]) / took, 1),
        "sentences_per_second": round(counts["sentence"] / took, 1),
        "bars_per_second": round(counts["bars"] / took, 1),
        "fields_per_second": round(counts["field"] / took, 1),
    }


async def drag(page: Page, seconds: float) -> float:
    """Drag key 1 round the plane with the mouse button down, 100 moves a second; return the seconds it took.

    A mouse does not wait until a browser has dealt with its last move, and so neither does this.
    """
    box = await page.locator('.tip[data-place="1"]').bounding_box()
    area = await page.locator("svg[role=group]").bounding_box()
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.down()
    mouse = await page.context.new_cdp_session(page)
    began, sent = time.monotonic(), []
    while (now := time.monotonic() - began) < seconds:
        angle, radius = 2 * now, 0.33 + 0.08 * math.sin(5 * now)
        x = area["x"] + area["width"] * (0.5 + radius * math.cos(angle))
        y = area["y"] + area["height"] * (0.5 - radius * math.sin(angle))
        move = {"type": "mouseMoved", "x": x, "y": y, "button": "left", "buttons": 1}
        sent.append(asyncio.ensure_future(mouse.send("Input.dispatchMouseEvent", move)))
        await asyncio.sleep(0.01)
    await asyncio.gather(*sent)
    took = time.monotonic() - began
    await page.mouse.up()
    await page.wait_for_timeout(300)
    return took


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
