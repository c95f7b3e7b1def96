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
    """Ask, answer, close and reveal on the page at an address, in a lecture or not, and take its second example.

    The picture is what the question is about, a selector; some pages hide it until they are answered. Where examples
    are buttons, `example` selects them.
    """
    name, lecture = urlsplit(address).path.strip("/"), "lecture=1" in address
    page = visit(address)
    button, close = (page.locator(f".st-key-{name}_{part} button") for part in ("try", "try_close"))
    options = page.locator(f".st-key-{name}_try_guess [role=radio]")

    def sees(is_seen: bool = True) -> None:
        page.wait_for_function(IS_SEEN, arg=[picture, is_seen])

    def asked() -> list[tuple[str, str]]:
        button.click()
        page.wait_for_url("**tried=ask**")
        options.first.wait_for()
        sees(not hides)
        return about(page)

    def answered(of: list[tuple[str, str]], tried: str) -> None:
        page.wait_for_url(f"**tried={tried}**")
        page.locator("[class*=_try_this] [data-testid=stAlert]").wait_for()
        sees()
        assert not hides or about(page) == of

    def closed() -> None:
        close.dispatch_event("click")
        button.wait_for()
        if not (lecture and name in ("pixels", "find")):  # where it is told only when it was asked
            sees()

    button.wait_for()
    settle(page)
    of, n = asked(), 1 if lecture else options.count()
    for place in range(n):
        options.nth(place).click()
        answered(of, str(place))
        if name == "atlas":
            page = visit(address)
            button.wait_for()
        else:
            closed()
        of = asked()
    if lecture:
        page.locator(f".st-key-{name}_try_reveal button").dispatch_event("click")
        answered(of, "revealed")
        return
    closed()
    asked()
    options.first.click()
    answered(about(page), "0")
    if example:
        page.locator(example).nth(1).click()
        settle(page)
        sees()
