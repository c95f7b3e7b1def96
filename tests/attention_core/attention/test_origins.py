"""How the numbers of a step come about, and what of it is sent to the view that moves them."""

import base64
import zlib
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from attention_core import load
from attention_core.attention.steps import step_of, steps_of
from attention_core.attention.types import Role
from attention_core.attention.view.pack import LARGEST_ORIGIN, LARGEST_SIDE, matrix_data, step_data
from attention_core.inference.sentiment import explain, read_sentence
from pages.vectors.problem import PRESETS, trace_of
from tests.support.shown_code import check_numbers
from tests.support.traces import random_trace


def numbers_of(data):
    """Read a matrix as the view does."""
    text = data["data"]
    packed = base64.b64decode(text[1:]) if text[0] == "=" else zlib.decompress(base64.b64decode(text))
    planes = np.frombuffer(packed, np.uint8).reshape(2, -1).astype(int)
    codes, span = planes[0] | planes[1] << 8, data["high"] - data["low"]
    values = data["low"] + ((codes - 1) / data["steps"]).clip(0) ** data["power"] * span
    return np.where(codes, values, np.nan).reshape(data["shape"])


def origins_of(trace):
    return {step.name: step.origin(0) for step in steps_of(trace)}


@pytest.mark.parametrize("preset", PRESETS)
def test_projections_scores_and_context_are_products(preset):
    origins = origins_of(trace_of(PRESETS[preset].problem()))
    products = {name for name, origin in origins.items() if origin.kind == "product"}
    projections = {"query", "key", "value", "output"} if "W_Q" in PRESETS[preset].problem().tables else set()
    assert products == {"scores", "context", *projections}
    assert [matrix.symbol for matrix in origins["scores"].matrices] == ["Q", "Kᵀ"]
    assert [matrix.role for matrix in origins["context"].matrices] == [Role.WEIGHTS, Role.VALUE]


def test_softmax_scale_and_mask_change_the_numbers_before_them():
    trace = trace_of(PRESETS["causal"].problem())
    origins, steps = origins_of(trace), {step.name: step.value() for step in steps_of(trace)}
    assert [origins[name].kind for name in ("scaled", "mask", "weights")] == ["change", "mask", "softmax"]
    for name, before in (("scaled", "scores"), ("mask", "scaled"), ("weights", "mask")):
        assert torch.equal(origins[name].matrices[0].numbers, steps[before])
    assert origins["inputs"].kind == ""


def test_other_scores_meet_in_pairs_and_a_lone_query_in_a_product():
    problem = PRESETS["pairs"].problem()
    trace = trace_of(replace(problem, settings=replace(problem.settings, scoring="additive")))
    origin = step_of(trace, "scores").origin(0)
    assert origin.kind == "pairs"
    assert [matrix.numbers.shape for matrix in origin.matrices] == [(3, 2), (2, 3)]
    origin = step_of(explain(load("sentence-attention", "cpu"), read_sentence("Not a bad film.")), "scores").origin(0)
    assert (origin.kind, origin.matrices[0].symbol, len(origin.matrices[0].numbers)) == ("product", "v", 1)


@pytest.mark.parametrize("name", ["pixel-notes", "pixel-classifier"])
def test_every_score_weight_and_context_of_a_model_says_where_it_comes_from(name):
    trace = load(name, "cpu").trace(np.eye(28))
    for step in steps_of(trace):
        if step.role in (Role.SCORES, Role.WEIGHTS, Role.CONTEXT):
            assert step.origin(0).kind, step.name


def test_a_declaration_that_is_wrong_is_found():
    trace = random_trace((1, 4, 4), (1, 4, 4), (1, 4, 4))
    scores, scaled, weights, context = steps_of(trace)
    wrong = (scores, context.origin), (weights, partial(scores.origin_of_next, "softmax")), (scaled, weights.origin)
    for step, origin in wrong:
        with pytest.raises(AssertionError):
            check_numbers(origin(0), step.value(), 1e-5, "")


def test_what_is_sent_are_the_numbers_and_the_strongest_of_blocks():
    values = torch.randn(30, 20, generator=torch.Generator().manual_seed(0)).numpy()
    values[3, 4] = -np.inf
    sent = numbers_of(matrix_data(values, 30))
    assert np.isnan(sent[3, 4])
    np.testing.assert_allclose(np.nan_to_num(sent), np.where(np.isfinite(values), values, 0), atol=2e-4)
    np.testing.assert_array_equal(numbers_of(matrix_data(np.tile(values, (4, 4)), 300)), np.tile(sent, (4, 4)))
    blocks = matrix_data(values, 10)
    assert (blocks["shape"], blocks["whole"]) == ([10, 10], [30, 20])
    assert numbers_of(blocks).max() == pytest.approx(values.max(), rel=1e-2)
    weights = matrix_data(np.abs(values).clip(0, 9) ** 4, 10)  # small numbers beside large ones
    expected = np.maximum.reduceat(
        np.maximum.reduceat(np.abs(values).clip(0, 9) ** 4, range(0, 30, 3), 0), range(0, 20, 2), 1
    )
    np.testing.assert_allclose(numbers_of(weights), expected, rtol=0.15, atol=0.02 * expected.max())


def test_a_large_step_is_sent_in_blocks_with_its_labels():
    trace = load("pixel-notes", "cpu").trace(np.eye(28))
    sent = step_data(trace, step_of(trace, "context"), query=406)
    assert (sent["shape"], sent["grid"], sent["query"]) == ([784, 4], [28, 28], 406)
    assert max(sent["factors"][0]["shape"]) <= LARGEST_ORIGIN
    weights = step_data(trace, step_of(trace, "weights"))
    assert weights["shape"] == [LARGEST_SIDE, LARGEST_SIDE]
    assert len(weights["rows"]) == LARGEST_SIDE
    assert weights["rows"][1] == "row 1, column 3"
