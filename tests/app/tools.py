"""What tests of pages do again and again."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def opened(app: AppTest, path: str, tab: str = "") -> AppTest:
    """Go to a page, at one of its tabs."""
    app.switch_page(path).run()
    assert not app.exception
    return open_tab(app, tab) if tab else app


def open_tab(page: AppTest, slug: str) -> AppTest:
    """Open a tab of the page that is shown."""
    page.session_state[f"{page.session_state['page_shown']}_tab"] = slug
    return settled(page)


def settled(page: AppTest) -> AppTest:
    """Run the page again, and nothing goes wrong."""
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    """Return the words on the page."""
    parts = [*page.info, *page.warning, *page.error, *page.markdown, *page.caption]
    return "\n".join(part.value for part in parts)
