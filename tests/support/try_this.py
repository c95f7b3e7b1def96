"""Try this as a visitor of a page goes through it: the picture that it is about is seen again with every answer."""

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Page

from tests.support.on_page import settle

IS_SEEN = """([selector, isSeen]) => {
  const sees = (node) => {
    const { width, height } = node.getBoundingClientRect();
    return width > 10 && height > 10 && node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const draws = (root) => [...root.querySelectorAll("*")].some((node) =>
    (node.matches("svg, canvas, img, table, p") && sees(node)) || (node.shadowRoot && draws(node.shadowRoot)));
  const parts = [...document.querySelectorAll(selector)];
  return parts.length && parts.every((part) => (sees(part) && draws(part)) === isSeen);
}"""


ANSWER, PRESETS = ".st-key-{}_answer", "[class*=st-key-{}_preset] button"
EXAMPLES = ".st-key-{}_examples button"
SHOWN = {
    "lookup": (".st-key-lookup_scene", False, ""),
    "vectors": (".st-key-vectors_place", False, ""),
    "scoring": (".st-key-scoring_place", False, ".st-key-scoring_tools button"),
    "memory": (".st-key-memory_scene", False, EXAMPLES),
    "matter": (".st-key-matter_scene", False, EXAMPLES),
    "translate": (".st-key-translate_pair", False, EXAMPLES),
    "transformer": (".st-key-transformer_tiles", False, EXAMPLES),
    "pixels": (".st-key-pixels_ten", False, PRESETS),
    "photograph": (".st-key-photograph_scene", False, EXAMPLES),
    "read": (ANSWER, False, PRESETS),
    "ask": (ANSWER, False, EXAMPLES),
    "groups": (".st-key-groups_scene", False, ".st-key-groups_query [role=radio]"),
    "train": (".st-key-train_film", False, ""),
    "atlas": (".st-key-atlas_stage", False, ""),
}
"""Selectors by page: the picture, whether it hides until the answer, and examples that are buttons."""


def about(page) -> list[tuple[str, str]]:
    """Return what the page is about, as its address tells."""
    return [part for part in parse_qsl(urlsplit(page.url).query) if part[0] != "tried"]


def wait_for_picture(page: Page, name: str, is_seen: bool = True) -> None:
    """Wait until the picture that a page's Try this is about is seen, or is not."""
    page.wait_for_function(IS_SEEN, arg=[SHOWN[name][0].format(name), is_seen])


def go_through_try_this(visit: Callable[..., Page], app_url: str, name: str) -> None:
    """Ask, answer and close on a page, and take its second example."""
    _, hides, example = SHOWN[name]
    address = f"{app_url}/{name}?lecture=0"
    page = visit(address)
    button, close = (page.locator(f".st-key-{name}_{part} button") for part in ("try", "try_close"))
    options = page.locator(f".st-key-{name}_try_guess [role=radio]")
    button.wait_for()
    settle(page)
    for number in (-1, 0):
        button.click()
        page.wait_for_url("**tried=ask**")
        options.first.wait_for()
        wait_for_picture(page, name, is_seen=not hides)
        before, number = about(page), number % options.count()
        options.nth(number).click()
        page.wait_for_url(f"**tried={number}**")
        page.locator("[class*=_try_this] [data-testid=stAlert]").wait_for()
        wait_for_picture(page, name)
        assert not hides or about(page) == before
        if number and name == "atlas":
            visit(address)
        elif number:
            close.dispatch_event("click")
        if number:
            button.wait_for()
            wait_for_picture(page, name)
    if example:
        page.locator(example.format(name)).nth(1).click()
        settle(page)
        wait_for_picture(page, name)
