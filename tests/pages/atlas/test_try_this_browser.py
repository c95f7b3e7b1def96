"""Try this, gone through in a browser."""

import pytest

from tests.support.try_this import go_through_try_this


@pytest.mark.parametrize("lecture", [0, 1], ids=["alone", "lecture"])
def test_what_is_asked_about_is_seen_again_with_every_answer(visit, app_url, lecture):
    go_through_try_this(visit, f"{app_url}/atlas?lecture={lecture}", ".st-key-atlas_stage")
