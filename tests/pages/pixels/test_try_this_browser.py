"""Try this, gone through in a browser."""

from tests.support.try_this import go_through_try_this


def test_what_is_asked_about_is_seen_again_with_every_answer(visit, app_url):
    go_through_try_this(
        visit,
        f"{app_url}/pixels",
        ".st-key-digits_worth",
        hides=True,
        example="[class*=st-key-pixels_preset] button",
    )
