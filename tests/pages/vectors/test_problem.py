"""The workbench against plain numpy in float64, from the formulas and not from the code: steps, cells, experiments."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_core.attention.edits import SetWeights
from attention_core.attention.export import trace_to_code
from attention_core.attention.steps import step_of, steps_of
from pages.vectors.charts import convex_hull
from pages.vectors.first_screen import live_numbers
from pages.vectors.problem import (
    PRESETS,
    Problem,
    Settings,
    feed_forward,
    linked_tables,
    mask_of,
    neighbours,
    planar_tables,
    resized,
    trace_of,
)
from tests.support.plain_problem import EXACT, problems, reference, softmax_by_row


@settings(max_examples=200)
@given(problems())
def test_every_step_agrees_with_plain_numpy_to_ten_digits(problem):
    trace = trace_of(problem)
    query, key, value, raw, scaled, weights, context, allowed = reference(problem)
    for name, matrix in (("query", query), ("key", key), ("value", value)):
        np.testing.assert_allclose(step_of(trace, name).value().numpy(), matrix, **EXACT)
    np.testing.assert_allclose(step_of(trace, "scores").value().numpy(), raw, **EXACT)
    np.testing.assert_allclose(trace.scores().numpy(), scaled, **EXACT)
    if problem.settings.causal:
        expected = np.where(allowed, scaled, -np.inf)
        np.testing.assert_allclose(step_of(trace, "mask").value().numpy(), expected, **EXACT)
    np.testing.assert_allclose(trace.weights().numpy(), weights, **EXACT)
    np.testing.assert_allclose(trace.context().numpy(), context, **EXACT)
    if "X" in problem.tables:
        output = context @ problem.tables["W_O"]
        np.testing.assert_allclose(step_of(trace, "output").value().numpy(), output, **EXACT)
        np.testing.assert_allclose(step_of(trace, "residual").value().numpy(), problem.tables["X"] + output, **EXACT)


@given(problems())
def test_rows_of_weights_sum_to_1(problem):
    trace = trace_of(problem)
    if problem.settings.softmax:
        np.testing.assert_allclose(trace.weights().sum(1).numpy(), 1, **EXACT)
    assert not step_of(trace, "context").value().isnan().any()


@given(problems(), st.integers(0, 31), st.integers(0, 31))
def test_a_tile_of_a_step_agrees_with_the_matrix(problem, row, column):
    trace = trace_of(problem)
    for step in steps_of(trace):
        cell = row % step.shape[0], column % step.shape[1]
        tile = float(step.value(0, [cell[0]], [cell[1]]))
        assert tile == pytest.approx(float(step.value(0)[cell]), abs=1e-12)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_be_computed_and_opens_on_a_step_that_it_has(name):
    preset = PRESETS[name]
    assert preset.step in [step.name for step in steps_of(trace_of(preset.problem()))]
    assert len(preset.line) > 40 or name == "pairs", "the sentence above its picture says it"


@pytest.mark.parametrize("row", [((0, 0.3),), ((0, 0.0),), ((0, 0.0), (1, 0.0), (2, 0.0)), ((0, 0.2), (1, 0.8))])
def test_the_context_of_an_edited_row_is_the_sum_by_its_weights(row):
    problem = PRESETS["pairs"].problem()
    trace = trace_of(problem, [SetWeights(0, row)])
    weights = reference(problem)[5][0]
    weights[[key for key, _ in row]] = 0
    weights *= (1 - sum(weight for _, weight in row)) / (weights.sum() or 1)
    for key, weight in row:
        weights[key] = weight
    np.testing.assert_allclose(trace.context()[0].numpy(), weights @ reference(problem)[2], rtol=0, atol=1e-5)


def test_without_softmax_the_context_is_a_product_and_weights_are_no_proportions():
    problem = PRESETS["projections"].problem()
    trace = trace_of(replace(problem, settings=Settings(scaled=False, softmax=False)))
    query, key, value = (step_of(trace, name).value() for name in ("query", "key", "value"))
    assert torch.equal(step_of(trace, "weights").value(), query @ key.T)
    assert torch.allclose(trace.context(), (query @ key.T) @ value, rtol=0, atol=1e-12)
    assert trace.weights().min() < 0
    assert step_of(trace, "weights").formula == "A = S"
    assert "softmax(" not in trace_to_code(trace)
    with_it, without = (trace_of(replace(problem, settings=Settings(softmax=on))) for on in (True, False))
    assert "in the proportions of its weights" in step_of(with_it, "context").explanation
    assert "a negative one takes away" in step_of(without, "context").explanation


@pytest.mark.parametrize(
    "settings", [{}, {"causal": True}, {"softmax": False}, {"scaled": False}, {"temperature": 2.0}]
)
def test_the_context_has_the_full_formula_where_nothing_is_edited(settings):
    trace = trace_of(replace(PRESETS["pairs"].problem(), settings=Settings(**settings)))
    formula = r"\operatorname{softmax}\left(Q K^{\top} / \sqrt{d_k}\right) V"
    assert (formula in step_of(trace, "context").formula) == (not settings)


def test_the_note_on_the_projection_is_true():
    problem = PRESETS["projections"].problem()
    inputs = problem.tables["X"]
    np.testing.assert_array_equal(inputs, PRESETS["pairs"].problem().tables["X"])
    np.testing.assert_array_equal(inputs @ problem.tables["W_Q"], np.stack([-inputs[:, 1], inputs[:, 0]], 1))
    assert trace_of(problem).weights()[0].argmax() == 2, "x1 asks for x3"
    assert (inputs @ inputs.T).argmax(1).tolist() == [0, 1, 2]  # without W_Q each asks for its like


def test_nodes_see_themselves_and_their_neighbours_and_edges_of_missing_rows_are_ignored():
    problem = PRESETS["graph"].problem()
    joined = {("Ann", "Ben"), ("Ann", "Cleo"), ("Ben", "Cleo"), ("Cleo", "Dan"), ("Dan", "Eve")}
    names = problem.labels["X"]
    allowed = np.array([[a == b or (a, b) in joined or (b, a) in joined for b in names] for a in names])
    x = problem.tables["X"]
    weights = trace_of(problem).weights().numpy()
    np.testing.assert_allclose(weights, softmax_by_row(x @ x.T / math.sqrt(2), allowed), **EXACT)
    back = trace_of(replace(problem, settings=replace(problem.settings, causal=True))).weights().numpy()
    assert ((back > 0) == np.tril(allowed)).all()
    tables = PRESETS["pairs"].problem().tables
    edges = (12, 31, 11, 34, 0, 99)
    assert neighbours(Problem(tables, settings=Settings(edges=edges))) == [(0, 1)]
    assert neighbours(replace(PRESETS["huge"].problem(), settings=Settings(edges=edges))) == []
    assert mask_of(Problem(tables)) is None


def test_a_huge_key_saturates_the_softmax_and_equal_keys_share_equally():
    assert float(trace_of(PRESETS["huge"].problem()).weights()[0, 2]) > 0.99
    weights = trace_of(PRESETS["equal"].problem()).weights()
    assert weights[:, 0].tolist() == pytest.approx(weights[:, 1].tolist())


def test_without_projections_scores_are_symmetric_and_with_them_they_are_not():
    trace = trace_of(PRESETS["projections"].problem())
    scores = step_of(trace, "scores").value()
    inputs = PRESETS["projections"].problem().tables["X"]
    assert np.array_equal(inputs @ inputs.T, (inputs @ inputs.T).T)
    assert not np.array_equal(scores.numpy(), scores.T.numpy())


@pytest.mark.parametrize(
    ("name", "table", "words"),
    [
        ("W_Q", np.ones((3, 2)), "W_Q is 3 × 2, but d_model is 2"),
        ("W_K", np.ones((2, 3)), "W_K is 2 × 3, but d_k is 2"),
        ("W_O", np.ones((2, 3)), "W_O is 2 × 3, but d_model is 2"),
        ("X", np.ones((0, 2)), "X must be a matrix"),
        ("X", np.ones(2), "X must be a matrix"),
    ],
)
def test_tables_that_do_not_fit_are_named_with_their_shapes(name, table, words):
    with pytest.raises(ValueError, match=words):
        trace_of(Problem({**PRESETS["pairs"].problem().tables, name: table}))


def test_resizing_preserves_numbers():
    table = np.array([[1.0, 5], [2, 3]])
    assert resized(table, 3, 1).tolist() == [[1], [2], [0]]
    assert resized(table, 3, 3, identity=True).tolist() == [[1, 5, 0], [2, 3, 0], [0, 0, 1]]


@given(problems())
def test_what_a_browser_computes_of_the_rows_are_the_scores_and_values_of_the_trace(problem):
    trace = trace_of(problem)
    numbers, queries, keys = (
        live_numbers(problem, trace),
        *(problem.tables[name] for name in (problem.query_table, problem.key_table)),
    )
    assert (numbers["factor"] is None) == (problem.settings.scoring not in ("dot", "scaled dot"))
    if projections := numbers["projections"]:
        np.testing.assert_allclose(keys @ projections["V"], numbers["values"], **EXACT)
        queries, keys = queries @ projections["Q"], keys @ projections["K"]
    if numbers["factor"] is not None:
        np.testing.assert_allclose(numbers["factor"] * queries @ keys.T, trace.scores().numpy(), **EXACT)


@pytest.mark.parametrize(("name", "tables"), [("pairs", ["X"]), ("huge", ["Q", "K"]), ("cross", ["Y"])])
def test_arrows_are_the_rows_of_two_numbers(name, tables):
    assert planar_tables(PRESETS[name].problem()) == tables


def test_tables_of_a_link_may_be_texts_and_unneeded_ones_are_dropped():
    tables = {name: table.tolist() for name, table in PRESETS["causal"].problem().tables.items()}
    texts = {name: [[str(value) for value in row] for row in rows] for name, rows in tables.items()}
    assert linked_tables(texts | {"general.W": [["1"]]}) == tables


@pytest.mark.parametrize("wrong", ["x", "nan", 1e7, None])
def test_cells_beyond_the_bounds_are_refused(wrong):
    with pytest.raises((ValueError, TypeError)):
        linked_tables({"Q": [[1]], "K": [[wrong]], "V": [[1]]})
    with pytest.raises(ValueError, match="at most"):
        linked_tables({"Q": [[1]] * 7, "K": [[1]], "V": [[1]]})


X = PRESETS["pairs"].problem().tables["X"]
inputs = st.integers(0, 9999).map(lambda seed: np.random.default_rng(seed).normal(size=(seed % 4 + 2, seed % 3 + 1)))


@given(inputs, st.booleans(), st.booleans())
def test_the_answer_is_that_of_linear_layers(x, bends, deep):
    network = feed_forward(*x.shape, bends=bends, deep=deep)
    bend = torch.tanh if bends else torch.nn.Identity()
    units = bend(torch.from_numpy(network.weights).flatten(1) @ torch.from_numpy(x).flatten())
    expected = bend(units @ torch.from_numpy(network.second)) if deep else units[0]
    np.testing.assert_allclose(network.units(x), units)
    assert network.answer(x) == pytest.approx(float(expected))


@given(inputs, st.booleans())
def test_sums_never_mix_two_inputs(x, deep):
    network = feed_forward(*x.shape, bends=False, deep=deep)
    assert network.mixed_effect(x, 0, 1) == 0
    assert network.effect(x, 0) == pytest.approx(network.effect(x, 0, 1))


@given(inputs, st.booleans())
def test_the_mixed_effect_is_symmetric_and_the_difference_of_four_answers(x, deep):
    network = feed_forward(*x.shape, bends=True, deep=deep)
    corners = []
    for gone in ((), (0,), (1,), (0, 1)):
        less = x.copy()
        less[list(gone)] = 0
        corners.append(network.answer(less))
    expected = corners[0] - corners[1] - corners[2] + corners[3]
    assert network.mixed_effect(x, 0, 1) == pytest.approx(expected, abs=1e-9)
    assert network.mixed_effect(x, 1, 0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("deep", [False, True])
def test_a_tanh_mixes_the_first_two_vectors_of_the_page(deep):
    assert abs(feed_forward(3, 2, bends=True, deep=deep).mixed_effect(X, 0, 1)) > 0.01


def test_the_neuron_has_the_weights_that_it_always_had():
    assert feed_forward(3, 2, bends=False, deep=False).weights[0].tolist() == [[0.8, -0.5], [-0.7, 0.6], [0.5, -0.8]]


POINTS = arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=st.integers(-9, 9).map(float))


def outside(corners, point):
    """How far a point lies outside a counter-clockwise hull, 0 or less = inside."""
    following = np.roll(corners, -1, axis=0)
    edges, to_point = following - corners, point - corners
    return float((edges[:, 1] * to_point[:, 0] - edges[:, 0] * to_point[:, 1]).max())


@given(POINTS)
def test_every_point_lies_inside_the_hull_and_corners_are_points(points):
    corners = convex_hull(points)
    assert {tuple(corner) for corner in corners} <= {tuple(point) for point in points}
    if len(corners) > 2:
        assert max(outside(corners, point) for point in points) <= 1e-9


def test_contexts_lie_inside_the_hull_of_the_values():
    trace = trace_of(PRESETS["pairs"].problem())
    corners = convex_hull(trace.value[0].numpy())
    assert max(outside(corners, row) for row in trace.context().numpy()) <= 1e-9
