"""Try this, gone through in a browser."""

from tests.support.try_this import go_through_try_this


def test_what_is_asked_about_is_seen_again_with_every_answer(visit, app_url):
    go_through_try_this(
        visit,
        f"{app_url}/matter",
        ".st-key-matter_answer, .st-key-matter_words",
        hides=True,
        example=".st-key-matter_examples button",
    )
