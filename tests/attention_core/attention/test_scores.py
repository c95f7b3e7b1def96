"""Scoring functions: what everybody may expect of each, also of one made up just now, and numpy float64 in loops."""

import io
import json
import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.attend import attend
from attention_core.attention.export import trace_to_code, trace_to_npz
from attention_core.attention.scores import (
    L2,
    SCORES,
    Concat,
    Cosine,
    Dot,
    General,
    Location,
    Scaled,
    ScaledDot,
    VectorPair,
    all_scores,
    printed_concat,
    score_from_json,
)
from attention_core.attention.steps import cell_formula, step_of
from attention_core.live_training.score_comparison import compare, score_field
from attention_core.models import load
from pages.vectors.problem import Problem, Settings, trace_of
from tests.support.city_block import CityBlock
from tests.support.printed_scores import (
    SCORE_NAMES,
    TWO_WIDTHS,
    attention_by_hand,
    numbers,
    parameters,
    score_of_a_pair,
    score_with,
    tensors,
)
from tests.support.traces import trace_of as attention_trace

D, N_QUERIES, N_KEYS, N_HEADS = 4, 5, 7, 2


def exactly(actual, expected):
    torch.testing.assert_close(actual, expected, atol=1e-12, rtol=1e-12)


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def made(name, d_q=D, d_k=D, n_keys=N_KEYS):
    """A scoring function with random parameters of the shapes that its plain ones have."""
    plain = SCORES[name].plain_parameters(d_q, d_k, n_keys)
    return SCORES[name](*(randn(*one.shape, seed=place) for place, one in enumerate(plain.values())))


WRAPPED = {
    "{}": lambda score: score,
    "{}, scaled": lambda score: Scaled(score),
    "{}, scaled and cooled": lambda score: Scaled(score, 0.7, 2.5),
    "{}, cooled": lambda score: Scaled(score, 1.0, 0.3),
    "{}, capped": lambda score: Scaled(score, -0.4, cap=0.5),
}
ALL = {wrapped.format(name): (name, wrap) for name in SCORES for wrapped, wrap in WRAPPED.items()}


@pytest.fixture(params=ALL)
def score(request):
    name, wrap = ALL[request.param]
    return wrap(made(name))


@pytest.fixture
def query():
    return randn(N_QUERIES, D, seed=11)


@pytest.fixture
def key():
    return randn(N_KEYS, D, seed=12)


def test_stages_bounds_plain_values_and_other_types_agree_with_the_call(score, query, key):
    steps = score.steps(D)
    assert steps[0].text.name == "scores"
    assert len({step.text.name for step in steps}) == len(steps)
    exactly(steps[-1].compute(query, key), score(query, key))
    assert all((text.title, text.symbol, text.formula, text.code, text.explanation) for text, _ in steps)
    factor = score.bound(D)
    if factor is not None:
        bound = query.norm(dim=1)[:, None] * key.norm(dim=1) * factor
        assert (score(query, key).abs() <= bound * (1 + 1e-12)).all()
    assert ScaledDot(0.3, cap=2.0).bound(D) == 0.3
    again = score_from_json(json.loads(json.dumps(score.to_json_value())))
    assert torch.equal(again(query, key), score(query, key))
    assert (again.name, again.to_json_value()) == (score.name, score.to_json_value())
    single = score.to(torch.float32)
    assert single(query.float(), key.float()).dtype == torch.float32
    torch.testing.assert_close(single(query.float(), key.float()).double(), score(query, key), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("cols", [slice(2, 5), [6, 0], torch.tensor([3, 3, 1]), slice(None)], ids=str)
def test_a_tile_is_a_part_of_the_whole(score, query, key, cols):
    for step in score.steps(D):
        exactly(step.compute.tile(query[1:3], key, cols), step.compute(query, key)[1:3][:, cols])


def test_fused_attention_equals_softmax_of_the_scores(score):
    query, key, value = (randn(2, N_HEADS, n, D, seed=n) for n in (N_QUERIES, N_KEYS, N_KEYS))
    exactly(attend(query, key, value, score=score).context, score(query, key).softmax(-1) @ value)
    factor = score.dot_factor(D)
    if factor is not None:
        exactly(score(query, key), query @ key.transpose(-2, -1) * factor)


def test_dot_products_go_through_the_fused_kernel_and_zeros_have_cosine_zero():
    for fused in (Dot(), ScaledDot(), ScaledDot(0.3), Scaled(Dot(), None, 2.0)):
        assert fused.dot_factor(D) is not None
    assert ScaledDot(cap=3.0).dot_factor(D) is None
    scores = Cosine()(torch.zeros(1, 3), torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))
    assert torch.equal(scores, torch.zeros(1, 2))


def test_the_numbers_of_a_cell_end_in_the_cells_number(score, query, key):
    trace = attention_trace(query[None], key[None], score=score)
    for index, step in enumerate(score.steps(D)):
        derivation = step.compute.derive(VectorPair(query[2], key[5], (2, 5)))
        assert derivation.value == pytest.approx(float(step.compute(query, key)[2, 5]), abs=1e-12)
        assert derivation.formula or step.compute.name in {"general", "additive", "concat", "location"}
        formula = cell_formula(trace, step_of(trace, step.text.name), 0, 2, 5)
        if derivation.formula:
            assert formula.startswith("S" + "'" * index + "_{3,6} = ")
            assert formula.endswith(f"= {derivation.value:.3g}")
            assert set(re.findall(r"q_{(\d+)}", formula)) <= {"3"}, "places count from 1 on both sides"
            assert set(re.findall(r"k_{(\d+)}", formula)) <= {"6"}


@pytest.mark.parametrize("name", SCORES)
def test_parameters_of_any_width_are_accepted_wrong_ones_refused_and_words_are_there(name):
    kind = SCORES[name]
    for d_q, d_k in ((3, 3), (2, 5)) if kind.parameter_names() else ((3, 3),):
        for hidden in (None, 6):
            plain = kind.plain_parameters(d_q, d_k, N_KEYS, hidden)
            assert tuple(f"{name}.{one}" for one in plain) == kind.parameter_names()
            scores = kind(*plain.values())(randn(N_QUERIES, d_q), randn(N_KEYS, d_k))
            assert scores.shape == (N_QUERIES, N_KEYS)
            assert scores.isfinite().all()
    with pytest.raises(ValueError, match=r"got|know|need") as told:
        made(name, 2, 2)(randn(N_QUERIES, 3), randn(N_KEYS, 4))
    assert any(width in str(told.value) for width in ("3", "7"))
    assert SCORES[name].short
    assert SCORES[name].picture.endswith(".")


@pytest.mark.parametrize("tau", [0.3, 1.0, 4.0])
def test_l2_distance_is_minus_the_squared_distance_over_two_tau(tau, query, key):
    expected = -(torch.cdist(query, key, compute_mode="donot_use_mm_for_euclid_dist") ** 2) / (2 * tau)
    exactly(Scaled(L2(), 1.0, tau)(query, key), expected)
    assert (Scaled(L2(), 1.0, 1e-4)(query, key).softmax(-1).argmax(-1) == expected.argmax(-1)).all()


def test_l2_distance_orders_keys_of_one_length_as_dots_do_and_trains_where_they_coincide(query, key):
    unit = torch.nn.functional.normalize(key, dim=-1)
    exactly(L2()(query, unit).softmax(-1), Dot()(query, unit).softmax(-1))
    long = torch.cat([query[:1], 100 * query[:1]])
    assert Dot()(query[:1], long).argmax() == 1
    assert L2()(query[:1], long).argmax() == 0
    query = randn(3, D).requires_grad_()
    L2()(query, query.detach()).softmax(-1).square().sum().backward()
    assert query.grad.isfinite().all()


@pytest.fixture
def city_block(monkeypatch):
    monkeypatch.setitem(SCORES, CityBlock.name, CityBlock)


@pytest.mark.usefixtures("city_block")
def test_a_function_made_up_in_this_test_is_known_to_the_workbench_and_compared_with_all():
    tables = {"Q": randn(2, 3).numpy(), "K": randn(4, 3, seed=1).numpy(), "V": randn(4, 2).numpy()}
    chosen = Settings(scoring="city block", temperature=2.0)
    problem = Problem(tables, settings=chosen)
    trace = trace_of(problem)
    expected = -(np.abs(tables["Q"][:, None] - tables["K"][None])).sum(-1)
    np.testing.assert_allclose(step_of(trace, "scores").value().numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(trace.scores().numpy(), expected / math.sqrt(3) / 2, atol=1e-12)
    model = load("scoring-functions", "cpu")
    functions = model.scores(2)
    assert list(functions)[-1] == "city block"
    query, key = torch.tensor([[1.0, 0.5]]), torch.tensor([[1.0, 0.5], [-1.0, 2.0]])
    trace = compare(functions, query, key)["city block"]
    assert trace.scores()[0].tolist() == [0, -3.5]
    assert model(query, key[None])["city block"].tolist() == [[0, -3.5]]
    field = score_field(CityBlock(torch.ones(2)), query[0], extent=4, n=9)
    assert field[4, 4] == pytest.approx(-1.5)
    own = model.parameters_of(2)
    del own["city block.w"]
    with pytest.raises(ValueError, match=r"missing: city block\.w"):
        all_scores(own)


@pytest.mark.usefixtures("city_block")
def test_a_function_made_up_in_this_test_is_attended_with_traced_and_exported(query, key):
    function = CityBlock(torch.rand(D, dtype=torch.float64))
    trace = attention_trace(query[None], key[None], score=function)
    weights = function(query, key).softmax(-1)
    exactly(trace.weights(0, [3, 1], [2, 6]), weights[[3, 1]][:, [2, 6]])
    exactly(attend(query[None, None], key[None, None], key[None, None], score=function).context[0, 0], weights @ key)
    assert [step_of(trace, name).symbol for name in ("scores", "weights", "context")] == ["−|q−k|₁", "softmax", "AV"]
    with np.load(io.BytesIO(trace_to_npz(trace))) as file:
        np.testing.assert_allclose(file["scores"][0], function(query, key).numpy(), atol=1e-12)
    assert CityBlock.code in trace_to_code(trace)
    assert torch.equal(score_from_json(function.to_json_value())(query, key), function(query, key))


TOLERANCE = 1e-10
sizes = st.integers(1, 32)
seeds = st.integers(0, 2**32 - 1)


def assert_equal(scores, expected):
    assert tuple(scores.shape) == expected.shape
    assert np.abs(scores.numpy() - expected).max() < TOLERANCE


@pytest.mark.parametrize("name", SCORE_NAMES)
@given(sizes, sizes, sizes, sizes, sizes, seeds)
def test_every_function_is_its_printed_formula(name, n_queries, n_keys, d_q, d_k, d_a, seed):
    d_k = d_k if name in TWO_WIDTHS else d_q
    q, k = numbers(seed, (n_queries, d_q), (n_keys, d_k))
    p = parameters(np.random.default_rng(seed + 1), d_q, d_k, d_a)
    expected = [[score_of_a_pair(name, one, other, place, p) for place, other in enumerate(k)] for one in q]
    scores = score_with(name, p)(*tensors(q, k))
    assert_equal(scores, np.array(expected))
    if name == "scaled dot":
        assert_equal(ScaledDot(scale=0.3)(*tensors(q, k)), q @ k.T * 0.3)
    if name == "location":
        assert torch.equal(scores, score_with(name, p)(*tensors(q, 7 * k + 1))), "it never looks at the keys"


@given(sizes, sizes, sizes, sizes, seeds)
def test_the_formula_without_w_gives_every_query_the_same_weights(n_queries, n_keys, d_q, d_k, seed):
    q, k, v = numbers(seed, (n_queries, d_q), (n_keys, d_k), (d_q + d_k,))
    scores = printed_concat(torch.from_numpy(v))(*tensors(q, k))
    expected = np.array([[v @ np.tanh(np.concatenate([one, other])) for other in k] for one in q])
    assert_equal(scores, expected)
    weights = scores.softmax(-1).numpy()
    assert np.abs(weights - weights[:1]).max() < TOLERANCE


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (Dot(), "same d_k, got 2 and 3"),
        (Cosine(), "same d_k, got 2 and 3"),
        (General(torch.zeros(3, 2)), r"\(2, 3\), got \(3, 2\)"),
        (Concat(torch.zeros(4, 4), torch.zeros(4)), r"5 columns for \[q; k\], got 4"),
        (Location(torch.zeros(1, 2)), "know 1 positions, got 2 keys"),
    ],
)
def test_shapes_that_do_not_fit_are_named(score, words):
    with pytest.raises(ValueError, match=words):
        score(torch.zeros(1, 2), torch.zeros(2, 3))


@pytest.mark.parametrize("name", SCORE_NAMES)
@given(st.integers(1, 4), st.integers(1, 8), sizes, st.integers(1, 6), seeds)
def test_weights_and_context_of_every_head_agree(name, n_heads, n_queries, n_keys, d, seed):
    generator = np.random.default_rng(seed)
    p = parameters(generator, d, d)
    q, k, v = (generator.normal(size=(n_heads, n, d)) for n in (n_queries, n_keys, n_keys))
    mask = generator.random((n_heads, n_queries, n_keys)) < 0.7
    mask[0, 0] = False  # a query that may attend to nobody
    score = score_with(name, p)
    query, key, value, allowed = (torch.from_numpy(array) for array in (q, k, v, mask))
    trace = attention_trace(query, key, value, score=score, mask=allowed)
    context = attend(query[None], key[None], value[None], score=score, mask=allowed[None]).context[0]
    for head in range(n_heads):
        weights, expected = attention_by_hand(name, q[head], k[head], v[head], mask[head], p)
        assert np.abs(trace.weights(head).numpy() - weights).max() < TOLERANCE
        assert np.abs(trace.context(head).numpy() - expected).max() < TOLERANCE
        assert np.abs(context[head].numpy() - expected).max() < TOLERANCE
    sums = torch.stack([trace.weights(head).sum(-1) for head in range(n_heads)])
    assert torch.allclose(sums, allowed.any(-1).to(sums), atol=1e-12, rtol=0)
    assert trace.weights(0)[0].tolist() == [0] * n_keys


@pytest.mark.parametrize(
    ("score", "d_k", "says"),
    [
        (ScaledDot(), 16, "The sum of 16 products grows with 16"),
        (ScaledDot(), 1, "The square root of 1 is 1: the scores stay as they are."),
        (Scaled(Cosine()), 16, "Every score is divided by √16, as a dot product of 16 numbers would be."),
        (Scaled(Dot(), 1.0, 1.0), 16, "The temperature 1 leaves the scores as they are."),
        (Scaled(Dot(), 1.0, 1.001), 16, "With the temperature 1.001 the softmax evens the weights out."),
        (Scaled(Dot(), 1.0, 0.9), 16, "With the temperature 0.9 the softmax chooses more sharply."),
    ],
)
def test_what_scaling_does_is_told_of_these_scores(score, d_k, says):
    assert says in score.steps(d_k)[-1].text.explanation
