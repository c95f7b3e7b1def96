"""What scores are divided by: the weights against a softmax of our own, without a browser."""

import math
import re

import numpy as np
import pytest

from attention_core.inference.translation import explain_layers, read_source, translate
from attention_core.models import load
from tests.support.app import frames, html_of, set_fields

TEXT = "Tom helped Mary."


def test_weights_are_those_of_each_division(visit):
    page = visit("transformer", text=TEXT, head="encoder-1-2", question="divisor")
    model, source = load("translator-transformer", "cpu"), read_source(TEXT)
    trace = explain_layers(model, source, translate(model, source))["encoder", 0]  # what the others change comes after
    products = trace.query[1] @ trace.key[1].T
    drawn = [frame["weight"].to_numpy() for frame in frames(page) if "weight" in frame]
    for weights, d in zip(drawn, (32, 192, 1), strict=True):
        np.testing.assert_allclose(weights, (products / math.sqrt(d)).softmax(-1).flatten(), atol=1e-4)
    right, wide, none = (float(share) for share in re.findall(r"<td>([\d.]+)%", html_of(page))[:3])
    assert wide < right < none
    assert translate(model, source).text in html_of(page)


@pytest.mark.parametrize("text", ["Yes", "why " * 24])
def test_short_and_long_sentences_are_drawn_too(visit, text):
    page = visit("transformer", question="divisor")
    set_fields(page, text=text)
    n = len(next(frame for frame in frames(page) if "weight" in frame)) ** 0.5
    assert n >= len(text.split())
