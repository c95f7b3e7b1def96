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


def about(page) -> list[tuple[str, str]]:
    """Return what the page is about, as its address tells."""
    return [part for part in parse_qsl(urlsplit(page.url).query) if part[0] != "tried"]


def go_through_try_this(
    visit: Callable[..., Page], address: str, picture: str, *, hides: bool = False, example: str = ""
) -> None:
    """Ask, answer and close on the page at an address, take its second example, and ask and reveal in a lecture.

    The picture is what the question is about, a selector; some pages hide it until they are answered. Where examples
    are buttons, `example` selects them.
    """
    name = urlsplit(address).path.strip("/")
    page = visit(f"{address}?lecture=0")
    button, close = (page.locator(f".st-key-{name}_{part} button") for part in ("try", "try_close"))
    options = page.locator(f".st-key-{name}_try_guess [role=radio]")

    def wait_for_picture(is_seen: bool = True) -> None:
        page.wait_for_function(IS_SEEN, arg=[picture, is_seen])

    def wait_for_question() -> None:
        page.wait_for_url("**tried=ask**")
        options.first.wait_for()
        wait_for_picture(not hides)

    def wait_for_answer(tried: str) -> None:
        page.wait_for_url(f"**tried={tried}**")
        page.locator("[class*=_try_this] [data-testid=stAlert]").wait_for()
        wait_for_picture()

    button.wait_for()
    settle(page)
    for number in (-1, 0):
        button.click()
        wait_for_question()
        before, number = about(page), number % options.count()
        options.nth(number).click()
        wait_for_answer(str(number))
        assert not hides or about(page) == before
        if number and name == "atlas":
            visit(f"{address}?lecture=0")
        elif number:
            close.dispatch_event("click")
        if number:
            button.wait_for()
            wait_for_picture()
    if example:
        page.locator(example).nth(1).click()
        settle(page)
        wait_for_picture()
    visit(f"{address}?lecture=1")
    page.wait_for_function("window.lecture?.on")
    button.wait_for()
    settle(page)
    page.keyboard.press("PageDown")
    wait_for_question()
    settle(page)
    page.keyboard.press("PageDown")
    wait_for_answer("revealed")
