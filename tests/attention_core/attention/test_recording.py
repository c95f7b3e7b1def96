"""A recording is a sequence of traces with names, heads with names, tokens and a table."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import AttentionTrace, Recording, Story, capture, load_recording, show_scene, trace_model
from attention_core.attention.steps import step_of
from attention_core.attention.types import Axis
from attention_core.attention.view.page import tiles_of
from attention_core.bounds.limits import TENSOR_LABELS
from attention_core.charts.heads import mosaic
from attention_core.explain.heads import is_self_attention, summaries, summarise
from tests.support.named_layers import Rotates, WithNames
from tests.support.tiny_models import GPT, SIZES, STACKS
from tests.support.traces import make_trace, random_trace
from tests.support.view_samples import made

IDS = torch.randint(3, 90, (2, 9), generator=torch.Generator().manual_seed(0))
LEFT = torch.ones_like(IDS)
LEFT[0, :3] = 0
PADDED = {"input_ids": IDS, "attention_mask": LEFT}
LEFT_PADDED = {
    "GPT-J": (hf.GPTJForCausalLM, lambda: hf.GPTJConfig(**{**GPT, "rotary_dim": 4})),
    "BLOOM": (hf.BloomModel, lambda: hf.BloomConfig(vocab_size=99, hidden_size=32, n_layer=2, n_head=4)),
    "MPT": (hf.MptModel, lambda: hf.MptConfig(vocab_size=99, d_model=32, n_layers=2, n_heads=4, max_seq_len=64)),
    "Falcon": (hf.FalconModel, lambda: hf.FalconConfig(**SIZES)),
    "GPT-2": (hf.GPT2LMHeadModel, lambda: hf.GPT2Config(**GPT)),
}


@pytest.fixture(scope="module")
def marian():
    torch.manual_seed(0)
    return hf.MarianModel(hf.MarianConfig(**STACKS, forced_eos_token_id=2)).eval()


@pytest.fixture(scope="module")
def recording(marian) -> Recording:
    words, target = [f"w{n}" for n in range(9)], [f"t{n}" for n in range(5)]
    return trace_model(marian, tokens=words, target_tokens=target, input_ids=IDS, decoder_input_ids=IDS[:, :5], item=1)


def test_traces_and_heads_have_numbers_and_names_and_a_recording_is_told_in_a_line(recording):
    assert recording[0] is recording.traces[0]
    assert recording[-1] is recording["decoder.1.cross"]
    assert recording[1:3] == recording.traces[1:3]
    assert list(recording) == recording.traces
    with pytest.raises(IndexError):
        recording[6]
    with pytest.raises(KeyError, match=r"decoder\.0\.cross"):
        recording["decoder.9.cross"]
    heads = recording.heads
    assert [head.name for head in heads[:5]] == ["L0H0", "L0H1", "L0H2", "L0H3", "L1H0"]
    head = recording.head("L3H1")
    assert torch.equal(head.weights(), recording[3].weights(1))
    assert torch.equal(head.scores([0], [1, 2]), recording[3].scores(1, [0], [1, 2]))
    assert repr(head) == "<L3H1 of decoder.0.cross: 5 queries x 9 keys>"
    with pytest.raises(KeyError, match="L0H0 to L5H3"):
        recording.head("L9H0")
    assert repr(recording) == (
        "<Recording of 6: encoder.0.self to decoder.1.cross; 4 heads, 9 queries x 9 keys and others>"
    )
    assert repr(Recording()) == "<Recording of no attention>"
    single = Recording([random_trace((1, 1, 2), (1, 1, 2), (1, 1, 2), name="only")])
    assert repr(single) == "<Recording of 1: only; 1 head, 1 query x 1 key>"
    assert repr(single.heads[0]) == "<L0H0 of only: 1 query x 1 key>"


@pytest.mark.parametrize(
    ("tokens", "target", "says"),
    [
        ("a", (), "Not labelled: 1 token for 2, 3 positions."),
        ("abcd", "a", "Not labelled: 4 source tokens and 1 target token for 2, 3 positions."),
    ],
)
def test_tokens_that_fit_no_axis_are_counted(tokens, target, says):
    recording = Recording([make_trace(2, 3)])
    recording.label([*tokens], [*target])
    assert recording.note == says


def test_tokens_given_once_label_every_axis_and_a_table_has_all_heads(recording):
    cross = recording["decoder.0.cross"].story
    assert list(cross.query_axis.labels) == [f"t{n}" for n in range(5)]
    assert list(cross.key_axis.labels) == [f"w{n}" for n in range(9)]
    assert recording["decoder.1.self"].story.key_axis is cross.query_axis
    assert recording["encoder.1.self"].story.query_axis is cross.key_axis
    table = recording.to_frame().set_index("head")
    assert len(table) == 24
    row, weights = table.loc["L3H1"], recording[3].weights(1)
    assert (row["name"], row["layer"], row["number"]) == ("decoder.0.cross", 3, 1)
    assert_close(row["largest"], float(weights.amax(1).mean()))
    assert_close(row["entropy"], float(-(weights * weights.log2()).sum(1).mean()), atol=1e-5, rtol=0)
    assert row["most_received"] == f"w{int(weights.mean(0).argmax())}"


def test_a_tokenizer_labels_every_axis_and_an_item_that_is_not_there_is_told(marian):
    class Tokenizer:
        all_special_tokens = ("</s>",)

        def convert_ids_to_tokens(self, ids):
            return [f"n{number}" for number in ids]

    inputs = {"input_ids": IDS, "decoder_input_ids": IDS[:, :5]}
    story = trace_model(marian, tokens=Tokenizer(), item=1, **inputs)["decoder.0.cross"].story
    assert list(story.key_axis.labels) == [f"n{number}" for number in IDS[1].tolist()]
    assert list(story.query_axis.labels) == [f"n{number}" for number in IDS[1, :5].tolist()]
    with pytest.raises(ValueError, match="from 0 to 1, got 2"):
        trace_model(marian, item=2, **PADDED, decoder_input_ids=IDS[:, :5])


def test_a_query_without_a_choice_does_not_count_in_the_table():
    with capture() as causal:
        query, key, value = torch.randn(3, 1, 2, 5, 4, generator=torch.Generator().manual_seed(0))
        torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    table = causal.to_frame()
    for head in range(2):
        summary = summarise(causal[0], head)
        assert_close(table["largest"][head], float(causal[0].weights(head)[1:].amax(1).mean()))
        assert_close(table["entropy"][head], summary.entropy, atol=1e-5, rtol=0)


@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("family", LEFT_PADDED)
def test_decoders_padded_on_the_left_are_decoders_and_any_item_has_its_weights(family, item):
    kind, config = LEFT_PADDED[family]
    torch.manual_seed(0)
    model = kind._from_config(config(), attn_implementation="eager").eval()
    with torch.no_grad(), capture(item=item) as seen:
        attentions = model(**PADDED, output_attentions=True).attentions
    traced = trace_model(model, item=item, **PADDED)
    assert traced.names == ["decoder.0.self", "decoder.1.self"]
    for recording, first in ((traced, 3 * (item == 0)), (seen, 0)):
        for trace, whole in zip(recording, attentions, strict=True):
            for head in range(4):
                assert_close(trace.weights(head)[first:], whole[item, head, first:], atol=1e-5, rtol=0)
    assert all(trace.query.shape == (4, 9, 8) for trace in seen)


def test_a_recording_keeps_the_name_of_its_model_in_its_file(marian, tmp_path, monkeypatch):
    inputs = {"input_ids": IDS, "decoder_input_ids": IDS}
    monkeypatch.setattr(marian.config, "name_or_path", "someone/marian")
    with capture() as seen, torch.no_grad():
        marian(**inputs)
    traced = trace_model(marian, **inputs)
    assert seen.model == traced.model == "someone/marian"
    with capture() as plain:
        torch.nn.MultiheadAttention(8, 2)(*torch.randn(3, 1, 4, 8))
    assert plain.model == ""
    traced.text = "what it read"
    traced.save(tmp_path / "run.npz")
    again = load_recording(tmp_path / "run.npz")
    assert (again.model, again.text, again.note) == ("someone/marian", "what it read", traced.note)


def test_a_run_is_cited_by_its_model_text_versions_and_a_hash_of_its_numbers():
    axis = Axis("tokens", ["a_b", " costs", " 5%"])
    recording = Recording([made("encoder.0.self", axis, axis, n_heads=2)], model="my_model")
    entry = recording.to_bibtex()
    assert entry.startswith("@misc{attention-")
    assert r"title = {Attention of my\_model on: a\_b costs 5\%}," in entry
    assert "1 attention, 2 heads" in entry
    assert torch.__version__ in entry
    assert entry.count("{") == entry.count("}")
    assert entry == Recording(list(recording.traces), model="my_model").to_bibtex()
    trace = recording[0]
    other = Recording([replace(trace, value=trace.value + 1)], model="my_model").to_bibtex()
    masked = Recording([replace(trace, mask=torch.ones(3, 3).tril() > 0)], model="my_model").to_bibtex()
    assert len({text.split(",")[0] for text in (entry, other, masked)}) == 3
    cursed = Recording([made("encoder.0.self", axis, axis, n_heads=2)], text=r"\^~{}$&#")
    assert r"on: \textbackslash{}\^{}\~{}\{\}\$\&\#}," in cursed.to_bibtex()
    with pytest.raises(ValueError, match="must have an attention"):
        Recording([]).to_bibtex()


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["a", " row 1, column 1", " row 1, column 2", "b"], {"first": 1, "rows": 1, "columns": 2}),
        ([" row 1, column 1", "a", " row 1, column 2"], None),
        ([" row 1, column 1", " row 2, column 2"], None),
        ([f" row {'9' * 5000}, column 1"], None),
        (["a"], None),
    ],
)
def test_only_a_whole_picture_among_words_is_one(labels, found):
    assert tiles_of(labels) == found


SRC, TGT = list("abcde"), list("vwxyz")


@pytest.mark.parametrize("way", ["module", "fused", "written"])
@pytest.mark.parametrize("name", ["src_attn", "encoder_attn", "context_attention", "looks_there"])
def test_keys_of_another_tensor_get_the_source_s_words_whatever_the_module_is_called(name, way):
    torch.manual_seed(0)
    with capture(tokens=SRC, target_tokens=TGT) as seen:
        WithNames(name, way)(*torch.randn(2, 1, 5, 8))
    assert [trace.story.crosses for trace in seen] == [False, True]
    assert [list(trace.story.key_axis.labels) for trace in seen] == [TGT, SRC]
    assert [list(trace.story.query_axis.labels) for trace in seen] == [TGT, TGT]


@pytest.mark.parametrize("same", [False, True])
def test_torchs_transformer_on_source_and_target_of_one_length(same, tmp_path):
    torch.manual_seed(0)
    source, target = torch.randn(2, 1, 5, 8)
    with capture() as seen:
        torch.nn.Transformer(8, 2, 2, 2, 16, batch_first=True).eval()(source, source if same else target)
    seen.save(tmp_path / "run.npz")
    older = Recording([trace.with_story(crosses=None) for trace in seen])
    for recording in (seen, load_recording(tmp_path / "run.npz"), older):
        recording.label(SRC, TGT)
        words = {
            name: "".join(trace.story.key_axis.labels) for name, trace in zip(recording.names, recording, strict=True)
        }
        assert set(words.values()) == {"abcde", "vwxyz"}
        for name, keys in words.items():
            assert keys == ("vwxyz" if name.startswith("decoder") and name.endswith("self_attn") else "abcde")
            crosses = name.endswith("multihead_attn")
            assert recording is older or is_self_attention(recording[name]) != crosses


@pytest.mark.parametrize("way", ["halves", "complex", "pairs", "not at all"])
def test_rotary_positions_are_told_only_where_they_were_seen(way, tmp_path):
    with capture() as seen:
        Rotates(way)(torch.randn(1, 5, 8))
    seen.save(tmp_path / "run.npz")
    for recording in (seen, load_recording(tmp_path / "run.npz")):
        query, key, value = (step_of(recording[0], name).explanation for name in ("query", "key", "value"))
        assert ("Rotary" in query) == ("Rotary" in key) == (way != "not at all")
        assert "Rotary" not in value


def test_a_file_without_word_of_positions_and_sources_says_nothing_of_them():
    (trace,) = load_recording("tests/data/recording_of_0_1.npz")
    assert trace.story.crosses is None
    assert "Rotary" not in step_of(trace, "query").explanation


@pytest.mark.parametrize("grad", [torch.enable_grad, torch.no_grad])
def test_a_cache_that_is_empty_hides_no_layer(grad):
    torch.manual_seed(0)
    model = hf.LlamaModel(hf.LlamaConfig(**SIZES)).eval()
    with grad(), capture() as seen:
        model(IDS)
    assert not seen.note
    assert [trace.story.crosses for trace in seen] == [False, False]


@pytest.mark.parametrize("source", [np.asarray, torch.from_numpy, np.ndarray.tolist])
def test_weights_of_any_source_are_a_recording_that_a_file_and_a_page_keep(source, tmp_path):
    weights = [np.random.default_rng(seed).dirichlet(np.ones(3), (2, 3)) for seed in (0, 1)]
    recording = Recording.from_weights(map(source, weights), ["the", "cat", "sat"])
    recording.save(tmp_path / "saved.npz")
    np.savez(tmp_path / "plain.npz", first=weights[0], second=weights[1][None], tokens=["the", "cat", "sat"])
    np.savez(tmp_path / "stacked.npz", weights=np.stack(weights), tokens=np.array([b"the", b"cat", b"sat"]))
    for one in (recording, *(load_recording(tmp_path / f"{name}.npz") for name in ("saved", "plain", "stacked"))):
        assert one.names == ["encoder.0.self", "encoder.1.self"]
        assert list(one[1].story.key_axis.labels) == ["the", "cat", "sat"]
        assert_close(one[1].weights(1), torch.from_numpy(weights[1][1]).float())
    assert recording.show().data["error"] < 0.002
    with pytest.raises(ValueError, match="queries and keys that are known"):
        show_scene(recording[0])
    other = Recording.from_weights([weights[0], weights[0]])
    assert other.to_bibtex().split(",")[0] != recording.to_bibtex().split(",")[0]


def test_weights_say_by_their_shape_and_zeros_what_they_are_and_sums_above_one_are_kept():
    causal, cross = torch.rand(2, 4, 4).tril(), torch.rand(2, 4, 6)
    recording = Recording.from_weights([causal, cross], ["a", "b", "c", "d", "e", "f"], ["v", "w", "x", "y"])
    assert recording.names == ["decoder.0.self", "decoder.1.cross"]
    assert (recording[1].story.key_axis.labels[5], recording[1].story.query_axis.labels[3]) == ("f", "y")
    assert_close(recording[1].weights(1), cross[1])
    assert "sum to more than 1" in recording[1].story.note


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([], "must have a layer"),
        ([torch.rand(3, 3)], r"weights\[0\] must be \(n_heads, n_queries, n_keys\) and not empty, got 3 x 3"),
        ([torch.rand(1, 3, 3), torch.rand(4, 2, 3, 3)], r"weights\[1\] .*got 4 x 2 x 3 x 3"),
        ([torch.rand(2, 0, 0)], "not empty, got 2 x 0 x 0"),
        ([torch.full((1, 2, 2), torch.nan)], "must hold finite numbers"),
    ],
)
def test_weights_that_are_none_are_told(weights, says):
    with pytest.raises(ValueError, match=says):
        Recording.from_weights(weights)


def empty(n_queries, n_keys, d_k=4):
    axes = Axis.numbered("queries", n_queries), Axis.numbered("keys", n_keys)
    query, key = torch.zeros(1, n_queries, d_k), torch.zeros(1, n_keys, d_k)
    story = Story(mechanism="toy", query_axis=axes[0], key_axis=axes[1], name="encoder.0.self")
    return Recording([AttentionTrace(query=query, key=key, value=key, story=story)])


@pytest.mark.parametrize(
    ("recording", "says"),
    [
        (empty(0, 0), "0 queries and 0 keys has no weights"),
        (empty(5, 0), "5 queries and 0 keys has no weights"),
        (empty(5, 5, 0), "need a scale|that are known"),
    ],
)
@pytest.mark.parametrize(
    "view",
    [
        Recording.show,
        Recording.to_frame,
        lambda recording: recording.figure(["0.0"]),
        lambda recording: show_scene(recording[0]),
        lambda recording: mosaic(recording.traces),
        lambda recording: summaries(recording.traces),
        lambda recording: recording[0].summary(),
    ],
)
def test_what_has_no_weights_is_told_by_whoever_shows_them(recording, says, view):
    with pytest.raises(ValueError, match=says):
        view(recording)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [torch.nan, torch.inf, 1e38])
def test_numbers_that_are_none_or_too_large_stop_no_page(number):
    trace = random_trace(*3 * [(2, 5, 4)])
    query = trace.query.clone()
    query[:, 3] = number
    recording = Recording([replace(trace, query=query, normaliser=None)])
    recording.show()
    recording.to_frame()
    with pytest.raises(ValueError, match="query 3 has weights that are not a number"):
        show_scene(recording[0], query=3)


@pytest.mark.parametrize("tokens", [["a"] * (TENSOR_LABELS.maximum + 1), ["a", "b"]])
def test_a_file_of_weights_is_read_within_its_bounds(tokens, tmp_path):
    np.savez_compressed(tmp_path / "run.npz", first=np.full((1, 2, 2), 0.5, "f2"), tokens=tokens)
    says = "at most" if len(tokens) > 2 else "its weights take"
    with pytest.raises(ValueError, match=says):
        load_recording(tmp_path / "run.npz", max_bytes=10**7 if len(tokens) > 2 else 35)
