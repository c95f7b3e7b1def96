"""How the numbers of a step come about, and what of it is sent to the view that moves them."""

import base64
import zlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_core import BlockKeys, load
from attention_core.attention.origins import origin_of
from attention_core.attention.steps import step_of, steps_of
from attention_core.attention.types import Role
from attention_core.attention.view.pack import LARGEST_ORIGIN, LARGEST_SIDE, matrix_data, step_data
from attention_core.inference.sentiment import explain, read_sentence
from pages.vectors.problem import PRESETS, trace_of
from tests.support.traces import random_trace


def numbers_of(data):
    """Read a matrix as the view does."""
    text = data["data"]
    packed = base64.b64decode(text[1:]) if text[0] == "=" else zlib.decompress(base64.b64decode(text))
    planes = np.frombuffer(packed, np.uint8).reshape(2, -1).astype(int)
    codes, span = planes[0] | planes[1] << 8, data["high"] - data["low"]
    values = data["low"] + ((codes - 1) / data["steps"]).clip(0) ** data["power"] * span
    return np.where(codes, values, np.nan).reshape(data["shape"])


@pytest.mark.parametrize("preset", PRESETS)
def test_products_of_factors_are_the_numbers_of_the_step(preset):
    trace = trace_of(PRESETS[preset].problem())
    origins = {step.name: (step, origin_of(trace, step)) for step in steps_of(trace)}
    products = {name: pair for name, pair in origins.items() if pair[1].kind == "product"}
    assert {"scores", "context"} <= set(products)
    assert ("query" in products) == ("W_Q" in PRESETS[preset].problem().tables)
    for step, origin in products.values():
        left, right = origin.factors
        np.testing.assert_allclose(left.values @ right.values, step.value().numpy(), atol=1e-6)
    assert [factor.symbol for factor in origins["scores"][1].factors] == ["Q", "Kᵀ"]
    assert [factor.role for factor in origins["context"][1].factors] == [Role.WEIGHTS, Role.VALUE]


def test_softmax_scale_and_mask_change_the_numbers_before_them():
    trace = trace_of(PRESETS["causal"].problem())
    origins = {step.name: origin_of(trace, step) for step in steps_of(trace)}
    assert [origins[name].kind for name in ("scaled", "mask", "weights")] == ["change", "mask", "softmax"]
    before = [origins[name].before.name for name in ("scaled", "mask", "weights")]
    assert before == ["scores", "scaled", "mask"]
    assert origins["inputs"].kind == ""


def test_other_scores_let_each_query_meet_each_key():
    problem = PRESETS["pairs"].problem()
    trace = trace_of(replace(problem, settings=replace(problem.settings, scoring="additive")))
    origin = origin_of(trace, step_of(trace, "scores"))
    assert origin.kind == "pairs"
    assert [factor.values.shape for factor in origin.factors] == [(3, 2), (2, 3)]


def test_a_lone_query_meets_its_keys_in_a_product_of_its_additive_score():
    trace = explain(load("sentence-attention", "cpu"), read_sentence("Not a bad film."))
    step = step_of(trace, "scores")
    origin = origin_of(trace, step)
    left, right = origin.factors
    assert (origin.kind, left.symbol, left.values.shape[0]) == ("product", "v", 1)
    np.testing.assert_allclose(left.values @ right.values, step.value().numpy(), atol=1e-5)


@pytest.mark.parametrize("name", ["pixel-notes", "pixel-classifier"])
def test_every_score_weight_and_context_of_a_model_says_where_it_comes_from(name):
    trace = load(name, "cpu").trace(np.eye(28))
    for step in steps_of(trace):
        if step.role in (Role.SCORES, Role.WEIGHTS, Role.CONTEXT):
            assert origin_of(trace, step).kind, step.name


def test_an_edit_does_not_hide_where_a_score_comes_from():
    trace = random_trace((1, 4, 3), (1, 4, 3), (1, 4, 3)).replace((BlockKeys((1,)),))
    assert origin_of(trace, step_of(trace, "scaled")).before.name == "scores"


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
