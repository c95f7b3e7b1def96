"""A cell's arithmetic ends in the number that the step shows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.scores import SCORES
from attention_core.attention.steps import step_of, steps_of
from attention_core.topics.vectors import PRESETS, Problem, Settings, trace_of
from attention_core.topics.vectors.cells import cell_arithmetic, softmax_parts


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
