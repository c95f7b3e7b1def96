"""What every page promises in a lecture: each of its screens fits a projector, and nothing covers anything else."""

import pytest
from playwright.sync_api import expect

from tests.support.layout import IN_CORNER, OVERLAPS
from tests.support.on_page import FITTED, SIZES, project, settle
from tests.support.try_this import SHOWN, wait_for_picture

PROJECTORS = ((1920, 1080), (1280, 720))
OTHER_PROJECTORS = ((3840, 2160), (1366, 768))
"""Their screens have the same form, so that one page is tried on them."""
LONGEST_COMPUTATION = 90_000
"""Milliseconds that an experiment may compute before its screen is at rest, on a slow machine."""


@pytest.fixture
def lecture(visit, app_url):
    """A function that opens a page in lecture mode."""

    def open_lecture(name):
        page = visit(f"{app_url}/{name}?lecture=1")
        page.wait_for_function("window.lecture?.on")
        settle(page)
        return page

    return open_lecture


def test_a_first_screen_fits_projectors_in_large_letters_and_each_other_the_smallest_and_covers_no_words(
    lecture, entry
):
    page = lecture(entry.url_path)
    for size in (*(OTHER_PROJECTORS if entry.name == "vectors" else ()), *PROJECTORS):
        assert_readable(page, *size)
    for tried, part in (("ask", "_try_guess"), ("revealed", "_try_scroll")):  # the question of Try this, its answer
        page.keyboard.press("PageDown")
        page.locator(f"[class*={part}]").wait_for(state="attached")
        if entry.name in SHOWN:
            page.wait_for_url(f"**tried={tried}**")
            wait_for_picture(page, entry.name, is_seen=part == "_try_scroll" or not SHOWN[entry.name][1])
        settle(page)
        page.wait_for_function(FITTED)
        assert_whole(page)
    for screen in page.locator(".st-key-lecture_screens [role=radio]").all()[1:]:
        screen.click()
        expect(screen).to_be_checked()
        settle(page)
        page.wait_for_function(FITTED, timeout=LONGEST_COMPUTATION)
        assert_whole(page)


def assert_readable(page, width: int, height: int) -> None:
    """Make sure that a first screen fits a projector, its charts in large letters, and leaves the corner free."""
    project(page, width, height)
    assert_whole(page)
    sizes = sorted(size * 1080 / height for size in page.evaluate(SIZES))
    if sizes:
        assert sizes[0] >= 15.9
        assert sizes[len(sizes) // 2] >= 19.9
    assert not page.evaluate(IN_CORNER)


def assert_whole(page) -> None:
    """Make sure that of a lecture's screen nothing lies outside of the window or over something else."""
    main = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"[innerWidth - {main}.scrollWidth, innerHeight - {main}.scrollHeight]") == [0, 0]
    assert not page.evaluate(OVERLAPS)
