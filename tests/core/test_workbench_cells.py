"""The workbench's numbers: a cell's arithmetic, one row's softmax, a small feed-forward network, a hull."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_core.attention.scores import SCORES
from attention_core.attention.steps import step_of, steps_of
from attention_core.topics.vectors import PRESETS, Problem, Settings, trace_of
from attention_core.topics.vectors.cells import cell_arithmetic, feed_forward, softmax_parts
from attention_core.topics.vectors.charts import convex_hull


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("scoring", list(SCORES))
@pytest.mark.parametrize("softmax", [True, False])
def test_products_sum_to_the_cell(name, scoring, softmax):
    start = PRESETS[name].problem()
    settings = Settings(scoring=scoring, mask=start.settings.mask, softmax=softmax)
    problem = Problem(start.mode, start.tables, start.labels, settings)
    trace = trace_of(problem)
    for step in steps_of(trace):
        for row in range(step.shape[0]):
            for column in range(step.shape[1]):
                made = cell_arithmetic(problem, trace, step, 0, row, column)
                if made is None:
                    assert step.name in ("inputs", "memory", "query", "key", "value")
                    continue
                assert made.value == pytest.approx(float(step.value()[row, column]), abs=1e-12)
                if made.total is not None:
                    assert made.total == pytest.approx(float(made.lines[-1].values.sum()))
                    if step.name != "weights" and scoring != "cosine":
                        assert made.total == pytest.approx(made.value, abs=1e-10)


def test_the_second_head_reads_its_own_columns_of_the_projection():
    start = PRESETS["pairs"].problem()
    problem = Problem(start.mode, start.tables, settings=Settings(n_heads=2))
    trace = trace_of(problem)
    made = cell_arithmetic(problem, trace, step_of(trace, "query"), 1, 0, 0)
    assert "column 2 of W_Q" in made.headline
    assert made.total == pytest.approx(float(step_of(trace, "query").value(1)[0, 0]))


def test_a_query_that_sees_nothing_is_said_to_have_no_softmax():
    start = PRESETS["pairs"].problem()
    problem = Problem(start.mode, start.tables, settings=Settings(mask="drawn"), drawn=np.zeros((3, 3), dtype=bool))
    trace = trace_of(problem)
    made = cell_arithmetic(problem, trace, step_of(trace, "weights"), 0, 0, 0)
    assert "no key" in made.headline
    assert made.value == 0
    assert trace.blind_queries == [0, 1, 2]


def test_a_cell_that_is_not_there_is_refused():
    problem = PRESETS["pairs"].problem()
    trace = trace_of(problem)
    with pytest.raises(IndexError, match="3 x 3"):
        cell_arithmetic(problem, trace, step_of(trace, "scores"), 0, 3, 0)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=32), st.floats(-10, 10))
def test_a_constant_changes_exponentials_and_sum_but_no_share(scores, constant):
    plain, moved = softmax_parts(np.array(scores)), softmax_parts(np.array(scores), constant)
    np.testing.assert_allclose(moved.shares, plain.shares, atol=1e-12)
    assert moved.total == pytest.approx(plain.total * math.exp(constant), rel=1e-9)
    assert plain.shares.sum() == pytest.approx(1)


def test_scores_too_large_for_an_exponential_are_lowered_and_told():
    parts = softmax_parts(np.array([5000.0, 4999.0, -np.inf]))
    assert parts.lowered == 5000
    np.testing.assert_allclose(parts.shares, [1 / (1 + math.exp(-1)), math.exp(-1) / (1 + math.exp(-1)), 0])


def test_a_row_with_nothing_to_see_has_zeros():
    assert softmax_parts(np.array([-np.inf, -np.inf])).shares.tolist() == [0, 0]


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
def test_sums_alone_never_mix_two_inputs(x, deep):
    network = feed_forward(*x.shape, bends=False, deep=deep)
    assert network.mixed_effect(x, 0, 1) == 0
    assert network.effect(x, 0) == pytest.approx(network.effect(x, 0, 1))


@given(inputs, st.booleans())
def test_the_mixed_effect_is_the_difference_of_four_answers_and_the_same_both_ways(x, deep):
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
    assert max(outside(corners, one) for one in trace.context().numpy()) <= 1e-9


def test_points_outside_a_plane_are_refused():
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        convex_hull(np.ones((3, 3)))
