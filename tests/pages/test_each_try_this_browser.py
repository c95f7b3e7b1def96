"""Try this on every page that has it: what it asks about is seen again with every answer, in a lecture too."""

import pytest

from tests.support.try_this import go_through_try_this

ANSWER, DIGITS, PRESETS = ".st-key-{}_answer", ".st-key-digits_worth", "[class*=st-key-{}_preset] button"
EXAMPLES = ".st-key-{}_examples button"
SHOWN = {
    "lookup": (ANSWER, False, ""),
    "vectors": (".st-key-vectors_place", False, ""),
    "scoring": (".st-key-scoring_place", False, ".st-key-scoring_tools button"),
    "memory": (".st-key-memory_long", False, EXAMPLES),
    "matter": (".st-key-matter_answer, .st-key-matter_words", True, EXAMPLES),
    "translate": (".st-key-translate_pair", True, EXAMPLES),
    "transformer": (".st-key-transformer_orders", True, EXAMPLES),
    "pixels": (DIGITS, True, PRESETS),
    "find": (DIGITS, True, PRESETS),
    "read": (ANSWER, False, PRESETS),
    "ask": (ANSWER, True, EXAMPLES),
    "groups": (".st-key-groups_party [data-testid=stColumn]", True, ".st-key-groups_query [role=radio]"),
    "atlas": (".st-key-atlas_stage", False, ""),
}
"""Selectors by page: the picture, whether it hides until the answer, and examples that are buttons."""


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_asked_about_is_seen_again_with_every_answer(visit, app_url, name):
    picture, hides, example = SHOWN[name]
    go_through_try_this(visit, f"{app_url}/{name}", picture.format(name), hides=hides, example=example.format(name))
