"""What tests look for beside a pad."""

from tests.support.on_page import settle as run_to_the_end

PAINTINGS = """() => [
  ...[...document.querySelectorAll('.stBidiComponent, [data-testid^=stBidi]')].map(one => one.shadowRoot),
  ...document.querySelectorAll('[data-testid=stHtml]'),
].map(one => one?.querySelector('.picture, .bars')?.outerHTML).filter(Boolean)"""


ANSWER = "() => [...document.querySelectorAll('.reads')].map(one => one.innerText).join()"


def settle(page) -> None:
    """Wait until the script has run and every chart is painted."""
    run_to_the_end(page)
    page.wait_for_function(f"() => {{ const all = ({PAINTINGS})(); return all.length > 1 && all.every(one => one); }}")
