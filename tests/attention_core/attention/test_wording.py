"""Figures in sentences are true in number and in rounding."""

import pytest

from attention_core.attention.wording import fine_percent, format_count, percent


@pytest.mark.parametrize(
    ("n", "name", "says"),
    [
        (1, "queries", "1 query"),
        (1, "heads", "1 head"),
        (1, "batches", "1 batch"),
        (0, "keys", "0 keys"),
        (1234, "words", "1,234 words"),
    ],
)
def test_what_is_counted_agrees_with_its_number(n, name, says):
    assert format_count(n, name) == says


@pytest.mark.parametrize(
    ("share", "says"),
    [
        (0, "0%"),
        (-1e-9, "0%"),
        (1e-9, "<1%"),
        (0.0099, "<1%"),
        (0.01, "1%"),
        (0.038, "4%"),
        (0.99, "99%"),
        (0.991, ">99%"),
        (1 - 2e-6, ">99%"),
        (1 - 1e-7, "100%"),
        (1, "100%"),
    ],
)
def test_a_share_in_whole_percents_is_rounded_neither_to_nothing_nor_to_all(share, says):
    assert percent(share) == says


@pytest.mark.parametrize(
    ("share", "says"),
    [
        (0, "0%"),
        (-1e-9, "0%"),
        (1e-9, "less than 0.0001%"),
        (1e-6, "0.0001%"),
        (0.004, "0.4%"),
        (0.0104, "1%"),
        (0.038, "3.8%"),
        (0.0996, "10%"),
        (0.834, "83%"),
        (0.994, "99%"),
        (0.995, "99.5%"),
        (0.9996, "99.96%"),
        (1 - 2e-6, "99.9998%"),
        (1 - 1e-7, "100%"),
        (1, "100%"),
    ],
)
def test_small_shares_that_are_compared_keep_their_figures(share, says):
    assert fine_percent(share) == says
