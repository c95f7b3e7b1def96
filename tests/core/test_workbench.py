"""The workbench against plain numpy in float64, from the formulas and not from the code: steps, cells, experiments."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_core.attention.export import trace_to_code
from attention_core.attention.scores import SCORES
from attention_core.attention.steps import step_of, steps_of
from attention_core.topics.vectors import PRESETS, Mode, Problem, Settings, trace_of
from attention_core.topics.vectors.cells import cell_arithmetic, feed_forward, softmax_parts
from attention_core.topics.vectors.charts import convex_hull
from attention_core.topics.vectors.pairs import pair_map, planar_tables
from attention_core.topics.vectors.presets import SIZES, in_mode, pixel_problem, resize_cells, spread_positions
from attention_core.topics.vectors.problem import MASKS, SCALES, TABLES, ProblemError, find_faults
from attention_core.topics.vectors.tables import linked_problem

EXACT = {"rtol": 0, "atol": 1e-10}


@st.composite
def problems(draw):
    """A problem that fits together: any mode, scoring function, scale, mask and number of heads, shapes 1 to 32."""
    n_heads = draw(st.sampled_from([1, 1, 2, 3]))
    width = st.integers(1, 32 // n_heads).map(lambda part: part * n_heads)
    mode = draw(st.sampled_from(list(Mode)))
    sizes = {name: draw(st.integers(1, 32)) for name in ("n_queries", "n_keys", "d_model", "d_memory")}
    sizes |= {"d_k": draw(width), "d_v": draw(width)}
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {name: random.normal(size=(sizes[rows], sizes[cols])) for name, (rows, cols) in SIZES[mode].items()}
    settings_ = Settings(
        scoring=draw(st.sampled_from(list(SCORES))),
        scale=draw(st.sampled_from(SCALES)),
        factor=draw(st.sampled_from([-0.5, 0.0, 0.7])),
        temperature=draw(st.sampled_from([0.5, 1.0, 3.0])),
        mask=draw(st.sampled_from(MASKS)),
        n_padding=draw(st.integers(0, 32)),
        n_heads=n_heads,
        softmax=draw(st.booleans()),
    )
    n_queries = sizes["n_queries"]
    n_keys = n_queries if mode == Mode.SELF else sizes["n_keys"]
    return Problem(mode, tables, settings=settings_, drawn=random.random((n_queries, n_keys)) < 0.6)


def reference(problem):
    """Head by head, row by row, from the textbook."""
    tables, chosen = problem.tables, problem.settings
    if problem.mode == Mode.DIRECT:
        query, key, value = tables["Q"], tables["K"], tables["V"]
    else:
        asked = tables["Y"] if problem.mode == Mode.CROSS else tables["X"]
        query, key, value = tables["X"] @ tables["W_Q"], asked @ tables["W_K"], asked @ tables["W_V"]
    n_queries, n_keys = len(query), len(key)
    allowed = np.ones((n_queries, n_keys), dtype=bool)
    for i in range(n_queries):
        for j in range(n_keys):
            if chosen.mask == "causal":
                allowed[i, j] = j <= i
            elif chosen.mask == "padding":
                allowed[i, j] = j < n_keys - chosen.n_padding
            elif chosen.mask == "drawn":
                allowed[i, j] = problem.drawn[i, j]
    split = [np.split(one, chosen.n_heads, axis=1) for one in (query, key, value)]
    scores, weights, contexts = [], [], []
    for q, k, v in zip(*split, strict=True):
        raw = np.array([[plain_score(chosen.scoring, a, b, j) for j, b in enumerate(k)] for a in q])
        scale = {"none": 1.0, "sqrt(d_k)": 1 / math.sqrt(q.shape[1]), "free": chosen.factor}[chosen.scale]
        scaled = raw * scale / chosen.temperature
        shares = softmax_by_row(scaled, allowed) if chosen.softmax else np.where(allowed, scaled, 0)
        scores.append((raw, scaled))
        weights.append(shares)
        contexts.append(shares @ v)
    return query, key, value, scores, weights, contexts, allowed


def softmax_by_row(scaled, allowed):
    """Shares of what is allowed, zeros where nothing is."""
    shares = np.zeros_like(scaled)
    for i, row in enumerate(scaled):
        if allowed[i].any():
            exponentials = np.where(allowed[i], np.exp(row - row[allowed[i]].max()), 0)
            shares[i] = exponentials / exponentials.sum()
    return shares


def plain_score(scoring, query, key, place):
    """One pair, with identities and ones for parameters."""
    both = np.zeros(max(len(query), len(key)))
    if scoring in ("additive", "concat"):
        both[: len(query)] += query
        both[: len(key)] += key
        return np.tanh(both).sum()
    if scoring == "location":
        return query[place % len(query)]
    if scoring == "L2 distance":
        return -float(np.sum((query - key) ** 2)) / 2
    product = float(np.sum(query * key))
    if scoring == "cosine":
        return product / (math.sqrt(np.sum(query**2)) * math.sqrt(np.sum(key**2)))
    return product


@settings(max_examples=200)
@given(problems())
def test_every_step_agrees_with_plain_numpy_to_ten_digits(problem):
    trace = trace_of(problem)
    query, key, value, scores, weights, contexts, allowed = reference(problem)
    heads = problem.settings.n_heads
    for head in range(heads):
        for name, whole in (("query", query), ("key", key), ("value", value)):
            part = np.split(whole, heads, axis=1)[head]
            np.testing.assert_allclose(step_of(trace, name).value(head).numpy(), part, **EXACT)
        raw, scaled = scores[head]
        np.testing.assert_allclose(step_of(trace, "scores").value(head).numpy(), raw, **EXACT)
        np.testing.assert_allclose(trace.scores(head).numpy(), scaled, **EXACT)
        if problem.settings.mask != "none":
            expected = np.where(allowed, scaled, -np.inf)
            np.testing.assert_allclose(step_of(trace, "mask").value(head).numpy(), expected, **EXACT)
        np.testing.assert_allclose(trace.weights(head).numpy(), weights[head], **EXACT)
        np.testing.assert_allclose(trace.context(head).numpy(), contexts[head], **EXACT)
    if problem.mode != Mode.DIRECT:
        output = np.hstack(contexts) @ problem.tables["W_O"]
        np.testing.assert_allclose(step_of(trace, "output").value().numpy(), output, **EXACT)
        np.testing.assert_allclose(step_of(trace, "residual").value().numpy(), problem.tables["X"] + output, **EXACT)


@given(problems())
def test_rows_sum_to_one_or_are_zero_and_named(problem):
    trace = trace_of(problem)
    sees = np.ones(trace.n_queries, dtype=bool) if trace.mask is None else trace.mask.numpy().any(1)
    for head in range(trace.n_heads):
        if problem.settings.softmax:
            np.testing.assert_allclose(trace.weights(head).sum(1).numpy(), sees.astype(float), **EXACT)
        assert not trace.weights(head)[~sees].any()
    assert trace.blind_queries == np.flatnonzero(~sees).tolist()
    assert not step_of(trace, "context").value().isnan().any()


@given(problems(), st.integers(0, 31), st.integers(0, 31))
def test_a_tile_of_a_step_is_part_of_the_whole(problem, row, column):
    trace = trace_of(problem)
    for step in steps_of(trace):
        place = row % step.shape[0], column % step.shape[1]
        tile = float(step.value(0, [place[0]], [place[1]]))
        assert tile == pytest.approx(float(step.value(0)[place]), abs=1e-12)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_be_computed_and_opens_on_a_step_that_it_has(name):
    preset = PRESETS[name]
    assert preset.step in [step.name for step in steps_of(trace_of(preset.problem()))]
    assert len(preset.line) > 40


def test_without_softmax_the_context_is_the_product_of_all_three():
    problem = PRESETS["pairs"].problem()
    trace = trace_of(replace(problem, settings=Settings(scale="none", softmax=False)))
    query, key, value = (step_of(trace, name).value() for name in ("query", "key", "value"))
    assert torch.equal(step_of(trace, "weights").value(), query @ key.T)
    assert torch.allclose(trace.context(), (query @ key.T) @ value, rtol=0, atol=1e-12)
    assert trace.weights().min() < 0
    assert step_of(trace, "weights").formula == "A = S"
    assert "softmax(" not in trace_to_code(trace)


@pytest.mark.parametrize(("name", "key", "weight"), [("orthogonal", 0, 0.97), ("huge", 2, 0.99)])
def test_orthogonal_keys_answer_like_a_dictionary_and_one_huge_key_saturates_the_softmax(name, key, weight):
    assert float(trace_of(PRESETS[name].problem()).weights()[0, key]) > weight


def test_equal_keys_share_equally():
    weights = trace_of(PRESETS["equal"].problem()).weights()
    assert weights[:, 0].tolist() == pytest.approx(weights[:, 1].tolist())


def test_a_value_that_nobody_reads_may_be_anything():
    problem = PRESETS["unread"].problem()
    other = {**problem.tables, "V": problem.tables["V"].copy()}
    other["V"][3] = -1000
    before, after = trace_of(problem), trace_of(Problem(problem.mode, other))
    assert float((before.context() - after.context()).abs().max()) < 1e-3


def test_without_projections_scores_are_symmetric_and_with_them_they_are_not():
    trace = trace_of(PRESETS["projections"].problem())
    scores = step_of(trace, "scores").value()
    inputs = PRESETS["projections"].problem().tables["X"]
    assert np.array_equal(inputs @ inputs.T, (inputs @ inputs.T).T)
    assert not np.array_equal(scores.numpy(), scores.T.numpy())


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"Q": (3, 2), "K": (3, 4), "V": (3, 2)}, ["Q is 3 × 2", "K is 3 × 4", "d_k"]),
        ({"Q": (3, 2), "K": (4, 2), "V": (3, 2)}, ["K is 4 × 2", "V is 3 × 2", "rows"]),
        ({"Q": (0, 2), "K": (4, 2), "V": (4, 2)}, ["Q has no rows"]),
        ({"Q": (300, 2), "K": (4, 2), "V": (4, 2)}, ["Q is 300 × 2", "256"]),
    ],
)
def test_given_tables_that_do_not_fit_are_named_with_their_shapes(tables, words):
    problem = Problem(Mode.DIRECT, {name: np.ones(shape) for name, shape in tables.items()})
    with pytest.raises(ProblemError) as error:
        trace_of(problem)
    assert all(word in str(error.value) for word in words)


NOT_FINITE = np.array([[1, 0.5], [np.nan, 1], [1, 1.5]])


@pytest.mark.parametrize(
    ("name", "table", "chosen", "words"),
    [
        ("W_Q", np.ones((3, 2)), {}, ["X is 3 × 2", "W_Q is 3 × 2"]),
        ("W_K", np.ones((2, 3)), {}, ["W_Q is 2 × 2", "W_K is 2 × 3", "d_k"]),
        ("W_O", np.ones((2, 3)), {}, ["W_O is 2 × 3", "must be 2 × 2"]),
        ("X", NOT_FINITE, {}, ["X, row 2, column 1"]),
        ("W_Q", np.ones((2, 2)), {"n_heads": 3}, ["3 heads", "W_Q is 2 × 2"]),
        ("general.W", np.ones((3, 2)), {"scoring": "general"}, ["3 × 2 and must be 2 × 2"]),
    ],
    ids=["W_Q", "W_K", "W_O", "a number that is none", "heads", "a parameter of the score"],
)
def test_what_does_not_fit_is_named_with_its_shape_or_its_cell(name, table, chosen, words):
    problem = PRESETS["pairs"].problem()
    faults = find_faults(Problem(problem.mode, {**problem.tables, name: table}, settings=Settings(**chosen)))
    assert name in faults[0].tables
    assert all(word in " ".join(fault.message for fault in faults) for word in words)


@pytest.mark.parametrize("wrong", [{"scoring": "dott"}, {"temperature": 0.0}, {"factor": math.inf}, {"n_heads": 0}])
def test_settings_refuse_what_they_do_not_know(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings(**wrong)


@pytest.mark.parametrize("start", PRESETS)
@pytest.mark.parametrize("mode", list(Mode))
def test_every_preset_survives_a_change_of_mode(start, mode):
    changed = in_mode(PRESETS[start].problem(), mode)
    assert set(TABLES[mode]) <= set(changed.tables)
    assert not find_faults(changed)


def test_going_to_given_q_k_v_changes_no_weight():
    problem = PRESETS["cross"].problem()
    before, after = trace_of(problem), trace_of(in_mode(problem, Mode.DIRECT))
    np.testing.assert_allclose(after.weights().numpy(), before.weights().numpy(), **EXACT)


def test_resizing_keeps_what_was_typed_even_a_slip():
    cells = [["1", "abc"], ["2", "3"]]
    assert resize_cells(cells, 3, 1) == [["1"], ["2"], ["0"]]
    assert resize_cells(cells, 3, 3, identity=True) == [["1", "abc", "0"], ["2", "3", "0"], ["0", "0", "1"]]


def test_three_pixels_keep_the_scores_that_they_have_among_all():
    random = np.random.default_rng(0)
    query, key, value = random.normal(size=(3, 784, 16))
    places = spread_positions(random.random((28, 28)))
    trace = trace_of(pixel_problem(query, key, value, places))
    whole = (query @ key.T)[np.ix_(places, places)]
    np.testing.assert_allclose(step_of(trace, "scores").value().numpy(), whole, atol=5e-3)


@given(problems())
def test_the_map_of_pairs_makes_the_scores_of_every_head_from_the_rows(problem):
    trace = trace_of(problem)
    asks, asked = problem.tables[problem.query_table], problem.tables[problem.key_table]
    for head in range(trace.n_heads):
        made = pair_map(problem, trace, head)
        assert (made is None) == (problem.settings.scoring not in ("dot", "scaled dot"))
        if made is not None:
            np.testing.assert_allclose(asks @ made @ asked.T, trace.scores(head).numpy(), **EXACT)


@pytest.mark.parametrize(("name", "tables"), [("pairs", ["X"]), ("huge", ["Q", "K"]), ("cross", ["Y"])])
def test_arrows_are_the_rows_of_two_numbers(name, tables):
    assert planar_tables(PRESETS[name].problem()) == tables


def test_a_problem_comes_back_from_a_link_unchanged():
    problem = PRESETS["causal"].problem()
    again = linked_problem(json.loads(json.dumps(problem.to_json())))
    assert again.fingerprint() == problem.fingerprint()
    assert again.row_labels("X") == ("I", "saw", "a", "duck")


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
