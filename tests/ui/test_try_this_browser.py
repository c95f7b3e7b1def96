"""Try this on every page that has it: the picture that it is about is seen again with every answer, and is the same."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.support.on_page import settle

PICTURES = {
    "vectors": ".st-key-vectors_place",
    "scoring": ".st-key-scoring_place",
    "lookup": ".st-key-lookup_answer",
    "memory": ".st-key-memory_long",
    "translate": ".st-key-translate_pair",
    "transformer": ".st-key-transformer_orders",
    "matter": ".st-key-matter_answer, .st-key-matter_words",
    "pixels": ".st-key-digits_worth",
    "find": ".st-key-digits_worth",
    "read": ".st-key-read_answer",
    "ask": ".st-key-ask_answer",
    "groups": ".st-key-groups_party [data-testid=stColumn]",
    "atlas": ".st-key-atlas_stage",
}
HIDES = {"translate", "transformer", "matter", "pixels", "find", "ask", "groups"}
EXAMPLES = {
    "scoring": ".st-key-scoring_tools button",
    "groups": ".st-key-groups_query [role=radio]",
    **{name: f"[class*=st-key-{name}_preset] button" for name in ("pixels", "find", "read")},
    **{name: f".st-key-{name}_examples button" for name in ("memory", "translate", "transformer", "matter", "ask")},
}
"""On the pages whose examples are buttons; the second one is taken."""
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


@pytest.mark.parametrize("lecture", [0, 1], ids=["alone", "lecture"])
@pytest.mark.parametrize("name", PICTURES)
def test_what_is_asked_about_is_seen_again_with_every_answer(visit, app_url, name, lecture):
    hides, address = name in HIDES, f"{app_url}/{name}?lecture={lecture}"
    page = visit(address)
    button, close = (page.locator(f".st-key-{name}_{part} button") for part in ("try", "try_close"))
    options = page.locator(f".st-key-{name}_try_guess [role=radio]")

    def sees(is_seen: bool = True) -> None:
        page.wait_for_function(IS_SEEN, arg=[PICTURES[name], is_seen])

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
    if name in EXAMPLES:
        page.locator(EXAMPLES[name]).nth(1).click()
        settle(page)
        sees()
