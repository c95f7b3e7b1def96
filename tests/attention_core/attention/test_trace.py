"""A trace: tiles equal the matrix that it never holds, rows are shares, averages in blocks equal the direct ones."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from attention_core import UNIFORM, AttentionTrace, Axis, BlockKeys, DropHead, SetScore, Temperature
from attention_core.attention.edits import SetWeights
from attention_core.attention.export import trace_to_frame
from attention_core.attention.scores import Additive, Concat, Cosine, Dot, General, Location, ScaledDot
from attention_core.attention.steps import cell_formula, step_of, steps_of
from attention_core.attention.trace import ROWS_AT_ONCE
from tests.support.traces import D_K, D_V, N_HEADS, make_trace, of_weights, trace_of


def scoring_functions(n_keys: int):
    randn = torch.randn
    return {
        "scaled": ScaledDot(),
        "dot": Dot(),
        "cosine": Cosine(),
        "general": General(randn(D_K, D_K)),
        "additive": Additive(randn(6, D_K), randn(6, D_K), randn(6)),
        "concat": Concat(randn(6, 2 * D_K), randn(6)),
        "location": Location(randn(n_keys, D_K)),
    }


@st.composite
def traces(draw):
    n_queries, n_keys = draw(st.lists(st.integers(1, 20), min_size=2, max_size=2, unique=True))
    seed = draw(st.integers(0, 1000))
    mask = torch.rand(n_queries, n_keys, generator=torch.Generator().manual_seed(seed)) < 0.7
    edits = (
        *draw(st.sampled_from([(), UNIFORM, (Temperature(0.4),)])),
        *draw(st.sampled_from([(), (BlockKeys((n_keys - 1,)),)])),
        *draw(st.sampled_from([(), (SetScore(0, 0, 2.0, head=1),)])),
    )
    return make_trace(n_queries, n_keys, seed, mask=draw(st.sampled_from([None, mask])), edits=edits)


@given(traces())
def test_rows_sum_to_one_masked_cells_are_zero_and_the_context_is_the_weighted_sum(trace):
    for head in range(N_HEADS):
        sums = trace.weights(head).sum(1)
        seen = sums > 0.5
        assert_close(sums[seen], torch.ones(int(seen.sum())))
        assert (trace.weights(head)[~seen] == 0).all()
    allowed = trace.allowed(1)
    if allowed is not None:
        assert (trace.weights(1)[~allowed] == 0).all()
        assert (trace.weights(1)[allowed] > 0).all()
    for head in range(N_HEADS):
        assert_close(trace.context(head), trace.weights(head) @ trace.value[head], atol=1e-5, rtol=1e-4)


@given(traces(), st.randoms(use_true_random=False))
def test_tiles_equal_the_same_cells_of_the_whole_matrix(trace, random):
    rows = random.sample(range(trace.n_queries), random.randint(1, trace.n_queries))
    cols = random.sample(range(trace.n_keys), random.randint(1, trace.n_keys))
    for whole, tile in ((trace.scores, trace.scores), (trace.weights, trace.weights)):
        assert_close(tile(1, rows, cols), whole(1)[rows][:, cols])
        assert_close(tile(1, slice(0, 2), torch.tensor(cols)), whole(1)[:2][:, cols])


@pytest.mark.parametrize("name", scoring_functions(1))
def test_lazy_weights_equal_the_materialised_matrix_for_every_scoring_function(name):
    n_queries, n_keys = ROWS_AT_ONCE + 17, 29
    torch.manual_seed(1)
    score = scoring_functions(n_keys)[name]
    trace = make_trace(n_queries, n_keys, score=score)
    direct = torch.stack([score(trace.query[head], trace.key[head]) for head in range(N_HEADS)])
    for head in range(N_HEADS):
        assert_close(trace.scores(head), direct[head])
        assert_close(trace.weights(head), direct[head].softmax(-1))
        assert_close(trace.weights(head, [260, 3], [28, 0]), direct[head].softmax(-1)[[260, 3]][:, [28, 0]])
        assert_close(trace.context(head), direct[head].softmax(-1) @ trace.value[head])


def test_blind_queries_are_named_and_get_zeros():
    mask = torch.ones(11, 13, dtype=torch.bool)
    mask[[2, 7]] = False
    trace = make_trace(mask=mask)
    assert trace.blind_queries == [2, 7]
    assert (trace.context(0)[[2, 7]] == 0).all()
    assert (trace.log_normaliser[:, [2, 7]] == -math.inf).all()
    assert not any(trace.weights(0).isnan().flatten())


def test_summary_in_blocks_equals_the_direct_one():
    mask = torch.rand(ROWS_AT_ONCE + 5, 19, generator=torch.Generator().manual_seed(3)) < 0.8
    mask[:, 4] = True
    trace = make_trace(ROWS_AT_ONCE + 5, 19, mask=mask)
    weights, scores = trace.weights(1), trace.scores(1).masked_fill(~mask, torch.nan)
    queries = torch.arange(trace.n_queries) % 3 == 0
    everyone, some = trace.summary(1), trace.summary(1, queries)
    assert_close(everyone.received, weights.mean(0))
    assert_close(some.received, weights[queries].mean(0))
    assert_close(everyone.score_row_mean, scores.nanmean(1))
    assert_close(everyone.entropy, -torch.xlogy(weights, weights).sum(1) / math.log(2))
    assert_close(everyone.largest, weights.amax(1))
    assert_close(everyone.received.sum(), torch.tensor(1.0))


def test_scores_ignore_row_means_and_uniform_attention_has_the_largest_entropy():
    trace = make_trace()
    centred = trace.scores(0) - trace.summary(0).score_row_mean[:, None]
    assert_close(centred.softmax(-1), trace.weights(0))
    summary = make_trace(edits=UNIFORM).summary(0)
    assert_close(summary.entropy, torch.full((11,), math.log2(13)))
    assert_close(summary.received, torch.full((13,), 1 / 13))


def test_edits_change_normaliser_weights_and_context():
    fused = make_trace()
    kept = make_trace(fused_context=torch.zeros(N_HEADS, 11, D_V), normaliser=torch.zeros(N_HEADS, 11))
    edited = kept.replace((BlockKeys((4,)),))
    assert (edited.weights(0)[:, 4] == 0).all()
    assert_close(edited.weights(0).sum(1), torch.ones(11))
    assert not torch.allclose(edited.context(0), fused.context(0))
    trace = make_trace(edits=(DropHead(1),))
    assert (trace.context(1) == 0).all()
    assert (trace.context(0) != 0).any()


def test_summary_never_holds_the_whole_matrix(monkeypatch):
    trace = make_trace(3 * ROWS_AT_ONCE, 7)
    seen = []
    original = AttentionTrace.scores

    def watching(self, head=0, rows=slice(None), cols=slice(None)):
        tile = original(self, head, rows, cols)
        seen.append(len(tile))
        return tile

    monkeypatch.setattr(AttentionTrace, "scores", watching)
    trace.summary(0)
    assert max(seen) <= ROWS_AT_ONCE
    assert len(seen) >= 3


def test_steps_come_in_reading_order_with_their_shapes_and_a_missing_one_is_named():
    assert [step.name for step in steps_of(make_trace())] == ["scores", "scaled", "weights", "context"]
    masked = make_trace(mask=torch.ones(11, 13, dtype=torch.bool).tril())
    assert [step.name for step in steps_of(masked)] == ["scores", "scaled", "mask", "weights", "context"]
    assert (step_of(masked, "mask").value(0)[0, 1:] == -math.inf).all()
    trace = make_trace(mask=torch.ones(11, 13, dtype=torch.bool).tril())
    for step in steps_of(trace):
        assert tuple(step.value(1).shape) == step.shape
        assert_close(step.value(1, [3, 1], [0, 2]), step.value(1)[[3, 1]][:, [0, 2]])
    trace = make_trace()
    assert_close(step_of(trace, "scaled").value(0), step_of(trace, "scores").value(0) / math.sqrt(D_K))
    with pytest.raises(KeyError, match=r"no step 'nonsense', there are \['scores'"):
        step_of(make_trace(), "nonsense")


@pytest.mark.parametrize(
    ("trace", "step", "says", "never"),
    [
        (make_trace(), "weights", "shares that sum to 1", "edit"),
        (make_trace(edits=(SetWeights(0, ((1, 0.5),)),)), "weights", "shares that sum to 1", "edit"),
        (
            make_trace(edits=(SetWeights(0, ((1, 0.5),), renormalised=False),)),
            "weights",
            "may sum to anything",
            "no key",
        ),
        (make_trace(edits=(DropHead(0),)), "context", "switches a head off", "no key"),
        (make_trace(has_softmax=False), "scaled", "The picture stays the same", "softmax"),
        (make_trace(has_softmax=False, score=ScaledDot(0.1)), "scaled", "multiplied by the same number", "softmax"),
        (of_weights(torch.full((1, 2, 2), 0.3)), "weights", "made of is not known", "sum to 1"),
        (of_weights(torch.tensor([[[0.3, -0.2]]])), "weights", "a weight may be negative", "sum to 1"),
    ],
)
def test_a_step_says_of_its_numbers_no_more_than_is_so(trace, step, says, never):
    explanation = step_of(trace, step).explanation
    assert says in explanation
    assert never not in explanation


def test_no_formula_adds_up_the_context_of_a_head_that_was_switched_off():
    trace = make_trace(edits=(DropHead(0, query=2),))
    context = step_of(trace, "context")
    assert cell_formula(trace, context, 0, 2, 0) is None
    assert cell_formula(trace, context, 0, 3, 0).startswith("c_{4} = ")
    assert cell_formula(trace, context, 1, 2, 0).startswith("c_{3} = ")


def test_axes_and_shapes_that_do_not_fit_are_refused_and_pictures_read_line_by_line():
    query, key, value = torch.zeros(1, 5, 3), torch.zeros(1, 7, 3), torch.zeros(1, 7, 4)
    with pytest.raises(ValueError, match=r"query must be \(n_heads, n, d\)"):
        trace_of(query[0], key, value)
    with pytest.raises(ValueError, match="the same n_heads"):
        trace_of(query, key, value[:, 1:])
    with pytest.raises(ValueError, match="5 query labels for 5 queries, 6 key labels for 7 keys"):
        trace_of(query, key, value, keys=Axis.numbered("keys", 6))
    with pytest.raises(ValueError, match=r"grid \(2, 2\) has 4 cells for 7 labels"):
        Axis("keys", list("abcdefg"), (2, 2))
    axis = Axis.picture("pixels", 2, 3)
    assert axis.grid == (2, 3)
    assert axis.labels[4] == "row 2, column 2"
    assert len(axis) == 6


def test_frame_has_one_row_per_cell_of_the_tile():
    trace = make_trace()
    frame = trace_to_frame(trace, 1, rows=[4, 2], cols=slice(0, 3))
    assert frame.shape == (6, 6)
    cell = frame[(frame["query"] == 2) & (frame["key"] == 1)].iloc[0]
    assert cell["weight"] == pytest.approx(float(trace.weights(1)[2, 1]))
    assert cell["score"] == pytest.approx(float(trace.scores(1)[2, 1]))
    assert np.isclose(trace_to_frame(trace, 0).groupby("query")["weight"].sum(), 1).all()
