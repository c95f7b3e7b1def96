"""What heads do, in numbers: against plain sums over written-out weights, other people's distances, and by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import Recording, trace_model
from attention_core.explain import heads
from attention_core.explain.heads import (
    FAR,
    FarLook,
    PatchGrid,
    describe_head,
    distances_from,
    distances_head_for_head,
    far_look,
    groups,
    norm_based_weights,
    rollout,
    summaries,
    summarise,
    without_keys,
)
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun, patches_of, special_keys
from tests.support.by_hand import jensen_shannon
from tests.support.tiny_models import GROUPED, SIZES, T5, build
from tests.support.traces import of_weights, trace_of

IDS = torch.randint(3, 90, (1, 9), generator=torch.Generator().manual_seed(0))


def traced(name, sizes, **inputs):
    kind = getattr(hf, f"{name}Model")
    return trace_model(build(kind, kind.config_class(**sizes)), **inputs)


@pytest.fixture(scope="module")
def bert():
    return traced("Bert", {**SIZES, "num_hidden_layers": 3}, input_ids=IDS)


@pytest.fixture(scope="module")
def llama():
    return traced("Llama", GROUPED, input_ids=IDS)


@pytest.fixture(scope="module")
def t5():
    return traced("T5", T5, input_ids=IDS, decoder_input_ids=IDS[:, :5])


def test_attentions_are_grouped_by_stack_kind_tower_and_length(bert, t5):
    assert {kind: len(layers) for kind, layers in groups(bert).items()} == {"encoder self": 3}
    assert list(groups(t5)) == ["encoder self", "decoder self", "decoder cross"]
    assert [trace.story.name for trace in groups(t5)["decoder cross"]] == ["decoder.0.cross", "decoder.1.cross"]
    square = np.full((1, 4, 4), 0.25)
    names = ["text_model.encoder.0.self", "vision_model.encoder.0.self", "vision_model.encoder.1.self", ""]
    traces = [of_weights(square if name != names[2] else square[:, :2], name) for name in names]
    by_kind = groups(Recording(traces))
    towers = ["text_model encoder self", "vision_model encoder self, 4 × 4", "vision_model encoder self, 2 × 4"]
    assert list(by_kind) == [*towers, "attention"]


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_numbers_of_a_head_are_those_of_its_written_out_weights(family, request):
    trace = request.getfixturevalue(family).traces[1]
    for head in range(trace.n_heads):
        weights = trace.weights(head).double().numpy()
        summary, n = summarise(trace, head, special={0, 8, 40}), len(weights)
        visible = np.array([n if family == "bert" else row + 1 for row in range(n)])
        entropy = np.array([-sum(w * math.log2(w) for w in row if w > 0) for row in weights])
        choosing = visible > 1
        diagonal = weights[np.arange(n), np.arange(n)]
        expected = {
            "entropy": entropy.mean(),
            "relative_entropy": (entropy[choosing] / np.log2(visible[choosing])).mean(),
            "distance": (weights * abs(np.arange(n)[:, None] - np.arange(n))).sum(1).mean(),
            "first": weights[1:, 0].mean(),
            "itself": diagonal[choosing].mean(),
            "previous": np.diagonal(weights, -1).mean(),
            "following": np.diagonal(weights, 1)[choosing[:-1]].mean(),
            "special": weights[choosing][:, [0, 8]].sum(1).mean(),
            "unspent": 0,
        }
        for name, value in expected.items():
            assert getattr(summary, name) == pytest.approx(value, abs=1e-5), name


def test_long_inputs_are_summed_up_in_blocks_and_very_long_ones_at_evenly_spaced_queries(monkeypatch, llama):
    trace = llama.traces[0]
    summary = summarise(trace, 3, {0})
    monkeypatch.setattr("attention_core.attention.trace.ROWS_AT_ONCE", 4)
    in_blocks = summarise(replace(trace), 3, {0})
    for name in summary.__dataclass_fields__:
        assert getattr(in_blocks, name) == pytest.approx(getattr(summary, name), abs=1e-5)
    layers = llama.traces
    monkeypatch.setattr(heads, "MAX_CELLS", 1)
    monkeypatch.setattr(heads, "MIN_QUERIES", 3)
    assert heads.summarised_queries(layers).tolist() == [1, 4, 7]
    summary = summaries(layers, {0})[1][2]
    rows = layers[1].weights(2)[[1, 4, 7]]
    assert summary.first == pytest.approx(float(rows[:, 0].mean()), abs=1e-6)
    apart = (torch.tensor([[1], [4], [7]]) - torch.arange(9)).abs()
    assert summary.distance == pytest.approx(float((rows * apart).sum(1).mean()), abs=1e-5)


def test_weights_that_no_softmax_made_have_numbers_and_no_sink():
    summary = summarise(of_weights(np.array([[[0.5, -0.25, 0.0], [0.125, 0.0, 0.0], [0.5, 0.25, 0.25]]])))
    assert (summary.unspent, summary.entropy) == (0, pytest.approx((0 + 0.375 + 1.5) / 3))
    none = heads.head_numbers(torch.zeros(2, 0, 3), torch.arange(0), torch.zeros(2, 3).bool(), is_self=False)
    assert none.shape == (2, 9)


@pytest.mark.parametrize("with_sinks", [False, True])
def test_rows_of_long_traces_need_no_pass_over_all_rows(monkeypatch, llama, with_sinks):
    mask = torch.ones(9, 9, dtype=torch.bool)
    mask[4] = mask[7, :3] = False
    sinks = torch.linspace(-1, 1, 4)[:, None] if with_sinks else None
    trace = replace(llama.traces[0], mask=mask[None], normaliser=None, sinks=sinks)
    monkeypatch.setattr(heads, "MAX_PAIRS_AT_ONCE", 0)
    rows = heads.head_rows(trace, 3, [7, 4, 0])
    assert "log_normaliser" not in vars(trace)
    assert_close(rows.weights, trace.weights(3, [7, 4, 0]))
    assert_close(rows.log_normaliser, trace.log_normaliser[3, [7, 4, 0]])
    assert not rows.weights[1].any()


def test_queries_that_see_nothing_and_shares_kept_by_a_sink_are_no_weights():
    mask = torch.tensor([[[False, False, False], [True, True, False], [True, True, True]]])
    nothing = torch.zeros(1, 3, 2)
    trace = trace_of(nothing, nothing, nothing + 1, queries="positions", keys="positions", mask=mask)
    summary = summarise(trace)
    assert summary.entropy == pytest.approx((1 + math.log2(3)) / 2, abs=1e-6)
    assert summary.relative_entropy == pytest.approx(1, abs=1e-6)
    assert describe_head(summary) == "nearly everywhere alike", "and not 42% on itself, which every token gets here"
    with_sink = summarise(replace(trace, sinks=torch.full((1, 1), math.log(6.0))))
    assert with_sink.unspent == pytest.approx((6 / 8 + 6 / 9) / 2, abs=1e-6)
    assert with_sink.distance == pytest.approx(summary.distance, abs=1e-6)
    assert describe_head(with_sink) == "71% kept by its sink"


def test_what_a_head_plainly_does_is_said_in_words():
    eye = np.eye(5)
    cases = {
        ">99% on itself": eye,
        ">99% on the token before": np.vstack([eye[:1], eye[:-1]]),
        ">99% on the token after": np.vstack([eye[1:], eye[-1:]]),
        ">99% on the first token": np.repeat(eye[:1], 5, 0),
        "90% on special tokens": np.repeat([[0.1, 0.0, 0.45, 0.45, 0.0]], 5, 0),
        "nearly everywhere alike": np.full((5, 5), 0.2),
        "spread over 2.0 tokens": np.repeat([[0.0, 0.0, 0.0, 0.5, 0.5]], 5, 0),
        "on one token at a time": eye[[2, 3, 4, 1, 1]],
    }
    for words, weights in cases.items():
        special = {2, 3} if "special" in words else ()
        visible = weights * (1 - 5e-6) + 1e-6  # a weight of exactly 0 would be a key that may not be seen
        assert describe_head(summarise(of_weights(visible[None]), 0, special)) == words
    assert describe_head(summarise(of_weights(eye[None]))) == "sees one token at most"


def test_cross_attention_has_no_place_of_its_own(t5):
    summary = summarise(t5["decoder.1.cross"], 2)
    assert all(math.isnan(one) for one in (summary.distance, summary.itself, summary.previous, summary.following))
    assert summary.first == pytest.approx(float(t5["decoder.1.cross"].weights(2)[:, 0].mean()), abs=1e-6)
    assert describe_head(summary)


def test_distances_in_a_picture_are_those_between_patches():
    weights = np.zeros((1, 7, 7))
    weights[0, :, 1] = 0.5  # the first patch of 2 x 3, behind one token that stands for the whole
    weights[0, :, 0] = 0.5
    distance = summarise(of_weights(weights), 0, {0}, PatchGrid((2, 3), 1)).distance
    assert distance == pytest.approx(np.mean([0, 1, 2, 1, math.sqrt(2), math.sqrt(5)]), abs=1e-6)


def test_special_keys_and_patches_are_those_of_the_stack(t5):
    run = ModelRun("toy", ModelKind.ENCODER_DECODER, t5, tuple("abcdefghi"), tuple("abcde"), frozenset({8}))
    assert special_keys(run, t5["encoder.0.self"]) == {8}
    assert special_keys(run, t5["decoder.0.cross"]) == {8}
    assert special_keys(run, t5["decoder.0.self"]) == {0}
    assert patches_of(run, t5["encoder.0.self"]) is None
    picture_run = replace(run, patch_grid=(2, 4), n_prefix=1, target_tokens=())
    assert patches_of(picture_run, t5["encoder.0.self"]) == PatchGrid((2, 4), 1)
    assert patches_of(picture_run, t5["decoder.0.self"]) is None


def test_distances_are_means_over_queries_of_the_definition_and_1_where_no_key_is_shared(bert):
    distances = distances_from(bert.traces, 1, 1)
    assert (distances.n_sampled, distances.n_queries) == (9, 9)
    first_rows = bert.traces[1].weights(1).double().numpy()
    for second in (0, 3, 11):
        rows = bert.traces[second // 4].weights(second % 4).double().numpy()
        expected = np.mean([jensen_shannon(p, q) for p, q in zip(first_rows, rows, strict=True)])
        assert float(distances.row[second]) == pytest.approx(expected, abs=1e-4)
        back = distances_from(bert.traces, second // 4, second % 4).row
        assert float(back[5]) == pytest.approx(expected, abs=1e-4)
    assert len(distances.row) == 12
    assert distances.row[5] == 0
    eye = np.eye(4)
    trace = of_weights(np.stack([eye, eye[[1, 2, 3, 0]], eye]))
    assert_close(distances_from([trace], 0, 0).row, torch.tensor([0.0, 1, 0]), atol=1e-3, rtol=0)


def test_long_inputs_are_compared_on_a_sample_and_mixed_shapes_are_refused(monkeypatch, llama, t5):
    exact = distances_from(llama.traces, 0, 1).row
    monkeypatch.setattr(heads, "MAX_CELLS", 1)
    monkeypatch.setattr(heads, "MIN_QUERIES", 8)
    sampled = distances_from(llama.traces, 0, 1)
    assert (sampled.n_sampled, sampled.n_queries) == (8, 9)
    assert (sampled.row - exact).abs().max() < 0.15
    with pytest.raises(ValueError, match="one shape"):
        distances_from(t5.traces, 0, 0)


def test_rollout_multiplies_layers_with_their_residual(bert, llama, monkeypatch):
    for recording in (bert, llama):
        expected = torch.eye(9, dtype=torch.float64)
        for trace in recording.traces:
            mean = torch.stack([trace.weights(head) for head in range(4)]).double().mean(0)
            expected = (0.5 * mean + 0.5 * torch.eye(9)) @ expected
        result = rollout(recording.traces)
        assert_close(result.rolled, expected.float(), atol=1e-5, rtol=0)
        assert_close(result.last, mean.float(), atol=1e-5, rtol=0)
    assert not result.rolled.triu(1).any()
    monkeypatch.setattr(heads, "MAX_POSITIONS", 8)
    with pytest.raises(ValueError, match="at most 8 positions"):
        rollout(bert.traces)


def test_rollout_passes_blind_queries_and_sinks_by_and_wants_self_attention(t5):
    trace = of_weights([[[0.0, 0.0], [0.2, 0.3]]])
    assert_close(rollout([trace]).rolled, torch.tensor([[1.0, 0.0], [0.1, 0.65]]) / torch.tensor([[1.0], [0.75]]))
    with pytest.raises(ValueError, match="self-attention"):
        rollout(groups(t5)["decoder cross"])


def test_norms_are_those_of_weighted_values_and_hidden_keys_leave_their_share(llama):
    trace = llama.traces[1]
    for head in range(4):
        expected = (trace.weights(head)[:, :, None] * trace.value[head // 2][None]).norm(dim=-1)
        assert_close(norm_based_weights(trace, head), expected)
    weights = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.4, 0.1, 0.0]])
    rescaled = without_keys(weights, {0})
    assert_close(rescaled, torch.tensor([[0, 0.6, 0.4], [0, 0, 0], [0, 0, 0], [0, 0.5, 0]]))


def test_a_whole_model_is_summed_up_layer_by_layer(bert):
    by_layer = summaries(bert.traces)
    assert (len(by_layer), len(by_layer[0])) == (3, 4)
    assert by_layer[2][3] == summarise(bert.traces[2], 3)


@pytest.fixture(scope="module")
def model():
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 3}
    return BertModel(BertConfig(vocab_size=50, initializer_range=0.4, **sizes)).eval()


def layers_of(model, ids):
    return groups(trace_model(model, input_ids=torch.tensor([ids])))["encoder self"]


def test_runs_are_compared_head_for_head_where_their_shapes_are_alike(model):
    first, second = layers_of(model, [1, 2, 3, 4]), layers_of(model, [1, 2, 9, 4])
    # A square root magnifies what rounding leaves of a difference of entropies.
    assert_close(distances_head_for_head(first, first), torch.zeros(2, 3), atol=2e-3, rtol=0)
    assert distances_head_for_head(first, second).max() > 0.05
    layers = layers_of(model, [5, 6, 7, 8, 9])
    swapped = [layers[1], layers[0]]
    distances = distances_head_for_head(layers, swapped)
    expected = [distances_from(layers, 0, head).row[3 + head] for head in range(3)]
    assert_close(distances[0], torch.stack(expected))
    traces = [of_weights([[row]], "encoder.0.self") for row in ([1.0, 0.0], [0.5, 0.5])]
    left, right = (groups(Recording([trace]))["encoder self"] for trace in traces)
    by_hand = math.sqrt((-0.75 * math.log2(0.75) - 0.25 * math.log2(0.25)) - (0 + 1) / 2)
    assert distances_head_for_head(left, right).item() == pytest.approx(by_hand, abs=1e-6)
    first, longer = layers_of(model, [1, 2, 3, 4]), layers_of(model, [1, 2, 3, 4, 5])
    with pytest.raises(ValueError, match="one shape"):
        distances_head_for_head(first, longer)
    with pytest.raises(ValueError, match="the same layers"):
        distances_head_for_head(first, first[:1])


def even(n=8, n_heads=2):
    return torch.full((n_heads, n, n), 1 / n)


def test_far_looks_are_the_largest_far_weights_between_positions_that_count():
    first, second = even(), even()
    first[0, 3, 2] = 0.99  # a neighbour
    second[1, 6, 1] = 0.8
    assert far_look([of_weights(first), of_weights(second)]) == FarLook(1, 1, 6, 1, second[1, 6, 1].item())
    first[1, 7, 2] = 0.5
    assert far_look([of_weights(first), of_weights(second)], among={(0, 0), (0, 1)})[:4] == (0, 1, 7, 2)
    weights = even(n_heads=1)
    weights[0, 7, 0] = weights[0, 0, 7] = 0.9
    weights[0, 6, 2] = 0.4
    look = far_look([of_weights(weights)], {0})
    assert (look.query, look.key) == (6, 2)
    assert far_look([of_weights(even(n=FAR))]) is None
    assert far_look([of_weights(torch.full((1, 2500, 2500), 1 / 2500))]) is None
    near = torch.zeros(1, 8, 8)
    near[:, :4, 0] = near[:, 4:, 4] = 1
    assert far_look([of_weights(near)]) is None, "no weight goes far"


def test_the_old_name_of_self_attention_works_and_warns():
    with pytest.warns(DeprecationWarning, match="is_of_itself is called is_self_attention now"):
        assert heads.is_of_itself is heads.is_self_attention


def test_a_far_look_can_be_that_of_one_query():
    weights = torch.full((1, 8, 8), 1e-3)
    weights[0, 7, 0], weights[0, 6, 1] = 0.9, 0.5
    assert far_look([of_weights(weights)]) == FarLook(0, 0, 7, 0, pytest.approx(0.9))
    assert far_look([of_weights(weights)], query=6) == FarLook(0, 0, 6, 1, pytest.approx(0.5))
