"""What tests of all pages share."""

import pytest

from ui.navigation import PAGES


@pytest.fixture(scope="module", params=PAGES, ids=lambda entry: entry.name)
def entry(request):
    """A page; being the module's, the tests look at one page after the other."""
    return request.param
