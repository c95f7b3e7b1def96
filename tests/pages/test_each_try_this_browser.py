"""Try this on every page that has it: what it asks about is seen again with every answer."""

import pytest

from tests.support.try_this import SHOWN, go_through_try_this


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_asked_about_is_seen_again_with_every_answer(visit, app_url, name):
    go_through_try_this(visit, app_url, name)
