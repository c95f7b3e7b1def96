"""The digit page in a real browser: a drawing is answered, a click asks, keys step, nothing is lost."""

from __future__ import annotations


def test_page_opens(app_url, page):
    page.goto(f"{app_url}/draw-a-digit")
    page.get_by_text("Attention reads").wait_for()
    page.wait_for_timeout(2000)
