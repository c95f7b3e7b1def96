"""Any PyTorch code: every fused attention becomes a trace, outputs stay what they are, everything is put back."""

import threading

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as imported_by_name
from torch.testing import assert_close

from attention_core import capture, load_recording
from tests.support.named_layers import Alone, Block, Meeting

BATCH, N_HEADS, N_QUERIES, N_KEYS, D_K, D_V = 2, 4, 5, 7, 8, 6


def tensors(n_key_heads=N_HEADS, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    shapes = (N_HEADS, N_QUERIES, D_K), (n_key_heads, N_KEYS, D_K), (n_key_heads, N_KEYS, D_V)
    return [torch.randn(BATCH, *shape, generator=generator).to(dtype) for shape in shapes]


def captured(*args, **kwargs):
    with capture() as recording:
        output = F.scaled_dot_product_attention(*args, **kwargs)
    (trace,) = recording.traces
    return trace, output


def check(trace, scores, output):
    """Compare a trace with scores (n_heads, n_queries, n_keys), -inf where masked, and with the context it gave."""
    for head in range(N_HEADS):
        assert_close(trace.weights(head), scores[head].softmax(-1), atol=1e-6, rtol=1e-5)
        assert_close(trace.context(head), output[0, head], atol=1e-5, rtol=1e-4)


def test_weights_and_context_are_those_of_the_first_item():
    query, key, value = tensors()
    trace, output = captured(query, key, value)
    check(trace, query[0] @ key[0].mT / D_K**0.5, output)
    assert trace.story.name == "attention.0"
    assert "first of 2 items" in trace.story.note


@pytest.mark.parametrize("shape", [(N_QUERIES, N_KEYS), (BATCH, 1, N_QUERIES, N_KEYS), (1, N_HEADS, 1, N_KEYS)])
def test_bool_masks_forbid_and_float_biases_are_part_of_the_scores(shape):
    query, key, value = tensors()
    bias = torch.randn(*shape, generator=torch.Generator().manual_seed(1))
    allowed = bias > -0.7
    allowed[..., 0] = True
    first = [torch.broadcast_to(one, (BATCH, N_HEADS, N_QUERIES, N_KEYS))[0] for one in (allowed, bias)]
    dots = query[0] @ key[0].mT * 0.3
    trace, output = captured(query, key, value, attn_mask=allowed, scale=0.3)
    check(trace, dots.masked_fill(~first[0], -torch.inf), output)
    assert trace.bias is None
    trace, output = captured(query, key, value, bias, scale=0.3)
    check(trace, dots + first[1], output)
    assert_close(trace.scores(1), (dots + first[1])[1])
    both = bias.masked_fill(~allowed, -torch.inf)
    trace, output = captured(query, key, value, both, scale=0.3)
    check(trace, (dots + first[1]).masked_fill(~first[0], -torch.inf), output)
    assert trace.scores(0).isfinite().all()


@pytest.mark.parametrize("n_queries", [N_QUERIES, N_KEYS + 2])
def test_causal_calls_carry_no_mask_and_start_at_the_first_key(n_queries):
    query, key, value = tensors()
    query = torch.randn(BATCH, N_HEADS, n_queries, D_K, generator=torch.Generator().manual_seed(1))
    trace, output = captured(query, key, value, is_causal=True)
    past = torch.ones(n_queries, N_KEYS, dtype=torch.bool).tril()
    check(trace, (query[0] @ key[0].mT / D_K**0.5).masked_fill(~past, -torch.inf), output)
    assert trace.mask is None


def test_grouped_keys_are_kept_as_they_came_and_expanded_ones_are_not_filled_in_memory():
    query, key, value = tensors(n_key_heads=2)
    trace, output = captured(query, key, value, enable_gqa=True)
    check(trace, query[0] @ key[0].repeat_interleave(2, 0).mT / D_K**0.5, output)
    assert trace.key.shape == (2, N_KEYS, D_K)
    query, key, value = tensors(n_key_heads=1)
    trace, _ = captured(query, key.expand(-1, N_HEADS, -1, -1), value.expand(-1, N_HEADS, -1, -1))
    assert trace.key.untyped_storage().nbytes() == N_KEYS * D_K * 4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_short_floats_keep_their_type_and_are_scored_exactly(dtype, tmp_path):
    query, key, value = tensors(dtype=dtype)
    with capture() as recording:
        F.scaled_dot_product_attention(query, key, value)
    recording.save(tmp_path / "run.npz")
    (trace,) = load_recording(tmp_path / "run.npz").traces
    assert trace.key.dtype == dtype
    assert torch.equal(trace.key, key[0])
    exact = (query[0].double() @ key[0].double().mT / D_K**0.5).softmax(-1)
    assert_close(trace.weights(2).double(), exact[2], atol=1e-6, rtol=1e-5)


def test_numbers_that_are_not_finite_are_told_with_their_place():
    query, key, value = tensors()
    key[0, 2, 3, 1] = torch.nan
    value[0, 1, 4, :2] = torch.inf
    query[1] = torch.nan
    trace, _ = captured(query, key, value)
    assert "The key holds NaN in head 2 at position 3, counted from 0." in trace.story.note
    several = "infinity: 2 numbers are not finite, the first in head 1 at position 4, counted from 0."
    assert f"The value holds {several}" in trace.story.note
    assert "query" not in trace.story.note
    assert "holds" not in captured(*tensors(dtype=torch.float16))[0].story.note


def test_dropout_is_noted_and_the_weights_are_those_before_it():
    query, key, value = tensors()
    trace, _ = captured(query, key, value, dropout_p=0.5)
    assert trace.dropout == 0.5
    assert "Dropout of 0.5" in trace.story.note
    assert_close(trace.weights(0).sum(1), torch.ones(N_QUERIES))


def test_later_changes_in_place_do_not_reach_the_trace_and_a_shared_mask_is_kept_once():
    query, key, value = tensors()
    mask = torch.randn(N_QUERIES, N_KEYS)
    with capture() as recording:
        F.scaled_dot_product_attention(query, key, value, mask)
        before = recording.traces[0].weights(0).clone()
        mask.zero_()
        key.zero_()
        F.scaled_dot_product_attention(query, key, value, mask)
    fresh = recording.traces[0]
    assert_close(fresh.scores(0), (query[0] @ tensors()[1][0].mT / D_K**0.5)[0] + fresh.bias[0])
    assert_close(fresh.weights(0), before)
    assert_close(recording.traces[1].weights(0), torch.full((N_QUERIES, N_KEYS), 1 / N_KEYS))
    mask = torch.randn(BATCH, 1, N_QUERIES, N_KEYS)
    with capture() as recording:
        for _ in range(3):
            F.scaled_dot_product_attention(query, key, value, mask)
    assert len({trace.bias.data_ptr() for trace in recording.traces}) == 1


def test_functions_imported_by_name_and_calls_without_heads_or_by_keywords_are_seen():
    query, key, value = (one[:, 0] for one in tensors())
    with capture() as recording:
        imported_by_name(query, key, value)
    (trace,) = recording.traces
    assert trace.n_heads == BATCH
    assert "no dimension for heads" in trace.story.note
    assert_close(trace.weights(1), (query[1] @ key[1].mT / D_K**0.5).softmax(-1))
    module, x = Alone(), torch.randn(BATCH, N_QUERIES, 12)
    with capture() as recording:
        module(x=x)
    assert recording[0].n_heads == 1
    assert "first of 2 items" in recording[0].story.note


def test_traces_are_named_after_the_modules_that_made_the_calls():
    blocks = nn.Sequential(Block(), nn.Sequential(Block()))
    x = torch.randn(BATCH, N_QUERIES, 12)
    with capture() as recording:
        blocks(x)
        with pytest.raises(RuntimeError):
            blocks(x[..., :5])
        F.scaled_dot_product_attention(*tensors())
        blocks(x)
    assert recording.names == ["0", "1.0", "attention.2", "0 (2)", "1.0 (2)"]
    with capture() as recording:
        nn.Transformer(12, 4, 1, 1, 16, batch_first=True).eval()(x, x[:, :3])
        blocks[0](x)
    layers = ["encoder.layers.0.self_attn", "decoder.layers.0.self_attn", "decoder.layers.0.multihead_attn"]
    assert recording.names == [*layers, "attention.3"]


def test_a_capture_that_saw_nothing_says_what_cannot_be_seen():
    with capture() as recording:
        torch.ones(2, 3).softmax(-1)
    assert "written out" in recording.note
    assert "code outside all modules, whose softmax met no values" in recording.note


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_the_first_of_texts_of_different_lengths_is_kept():
    query = tensors()[0]
    rows = [query[0].transpose(0, 1), query[1].transpose(0, 1)[:2]]
    nested = torch.nested.nested_tensor(rows, layout=torch.jagged).transpose(1, 2)
    trace, _ = captured(nested, nested, nested)
    assert_close(trace.weights(2), (query[0, 2] @ query[0, 2].mT / D_K**0.5).softmax(-1))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_multi_head_attention_gives_the_weights_that_the_module_returns(need_weights, training):
    torch.manual_seed(0)
    module = nn.MultiheadAttention(12, 3, batch_first=True, add_bias_kv=True, dropout=0.2).train(training)
    x, y = torch.randn(BATCH, N_QUERIES, 12), torch.randn(BATCH, N_KEYS, 12)
    padding = torch.zeros(BATCH, N_KEYS, dtype=torch.bool)
    padding[0, -2:] = True

    def run():
        torch.manual_seed(1)
        return module(x, y, y, key_padding_mask=padding, need_weights=need_weights, average_attn_weights=False)[0]

    plain = run()
    with capture() as recording, torch.no_grad():
        seen = run()
    assert torch.equal(plain, seen)
    (trace,) = recording.traces
    assert trace.dropout == (0.2 if training else 0)
    expected = module.eval()(x, y, y, key_padding_mask=padding, average_attn_weights=False)[1]
    for head in range(3):
        assert_close(trace.weights(head), expected[0, head].detach())


def test_the_fast_path_of_the_encoder_is_off_inside_and_as_before_afterwards():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(12, 3, 16, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x = torch.randn(BATCH, N_QUERIES, 12)
    padding = torch.zeros(BATCH, N_QUERIES, dtype=torch.bool)
    padding[0, -1] = True
    with torch.inference_mode():
        plain = encoder(x, src_key_padding_mask=padding)
        with capture() as recording:
            assert_close(encoder(x, src_key_padding_mask=padding)[0, :-1], plain[0, :-1])
    assert recording.names == ["layers.0.self_attn", "layers.1.self_attn"]
    assert (recording.traces[1].weights(2)[:, -1] == 0).all()
    assert torch.backends.mha.get_fastpath_enabled()


def test_everything_is_put_back_after_an_exception_and_what_was_seen_remains():
    class Broken(nn.Module):
        def forward(self, *inputs):
            F.scaled_dot_product_attention(*inputs)
            F.scaled_dot_product_attention(*inputs, attn_mask=torch.ones(3, 3))

    function, model = F.scaled_dot_product_attention, Broken()
    with pytest.raises(RuntimeError), capture() as recording:
        model(*tensors())
    module, x = nn.MultiheadAttention(12, 3), torch.zeros(2, 12)
    with pytest.raises(RuntimeError), capture():
        module(x, x, x, attn_mask=torch.zeros(3, 3), need_weights=False)
    assert len(recording) == 1
    assert F.scaled_dot_product_attention is function
    assert torch.backends.mha.get_fastpath_enabled()
    F.scaled_dot_product_attention(*tensors())
    assert len(recording) == 1


def test_captures_inside_each_other_both_see_and_other_threads_are_left_alone():
    module = nn.MultiheadAttention(12, 3).eval()
    x = torch.randn(4, 12)
    with capture() as outer:
        with capture() as inner:
            module(x, x, x, need_weights=False)
        assert not torch.backends.mha.get_fastpath_enabled()
        other = threading.Thread(target=F.scaled_dot_product_attention, args=tensors())
        other.start()
        other.join()
    assert len(outer) == len(inner) == 1
    assert torch.backends.mha.get_fastpath_enabled()


def test_captures_of_two_threads_see_their_own_modules_alone():
    barrier, recordings = threading.Barrier(2, timeout=20), {}
    models = {name: nn.ModuleDict({name: Meeting(barrier.wait)}) for name in ("left", "right")}

    def run(name):
        models[name].forward = models[name][name].forward
        with capture() as recordings[name]:
            models[name](torch.randn(BATCH, N_QUERIES, 12))

    threads = [threading.Thread(target=run, args=(name,)) for name in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: recording.names for name, recording in recordings.items()} == {
        "left": ["left.block"],
        "right": ["right.block"],
    }


def test_no_hook_stays_and_a_module_that_failed_is_left():
    def hooks():
        return [*torch.nn.modules.module._global_forward_pre_hooks, *torch.nn.modules.module._global_forward_hooks]

    def refuse(*_):
        raise ValueError("in a hook of its own")

    def run():
        with pytest.raises(RuntimeError), capture():
            model(x[..., :5])
        with pytest.raises(ValueError, match="of its own"):
            refusing(x)
        F.scaled_dot_product_attention(*tensors())
        model(x)
        refusing(x)

    model, refusing, x, before = nn.Sequential(Block()), nn.Sequential(Block()), torch.randn(BATCH, 5, 12), hooks()
    refusing.register_forward_pre_hook(refuse)
    with pytest.raises(ValueError, match="of its own"), capture() as recording:
        run()
    assert recording.names == ["attention.0", "0"]
    assert hooks() == before


def test_a_saved_run_comes_back_the_same(tmp_path):
    query, key, value = tensors()
    mask = torch.randn(N_HEADS, N_QUERIES, N_KEYS)
    with capture() as recording:
        F.scaled_dot_product_attention(query, key, value, mask, dropout_p=0.1)
        F.scaled_dot_product_attention(query, key[:, :2], value[:, :2], is_causal=True, scale=0.4, enable_gqa=True)
        F.scaled_dot_product_attention(query, key, value, mask > 0)
    recording.note = "a run"
    path = tmp_path / "run.npz"
    recording.save(path)
    loaded = load_recording(path)
    assert loaded.names == recording.names
    assert loaded.note == "a run"
    for ours, theirs in zip(recording.traces, loaded.traces, strict=True):
        assert (ours.story.note, ours.dropout, ours.story.mechanism) == (
            theirs.story.note,
            theirs.dropout,
            theirs.story.mechanism,
        )
        for head in range(N_HEADS):
            assert torch.equal(ours.scores(head), theirs.scores(head))
            assert torch.equal(ours.weights(head), theirs.weights(head))
            assert torch.equal(ours.context(head), theirs.context(head))
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def spoilt(path, change):
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda arrays: arrays.pop("about"), "about"),
        (lambda arrays: arrays.update(about=np.array("{}")), "format"),
        (lambda arrays: arrays.update(about=np.array("[")), "Expecting value"),
        (lambda arrays: arrays.pop("key.1"), "key.1"),
        (lambda arrays: arrays.update({"key.1": np.zeros((2, 3), "f4")}), "key must be"),
        (lambda arrays: arrays.update({"key.1": np.zeros((3, 7, 8), "f4")}), "same n_heads"),
        (lambda arrays: arrays.update({"key.1": np.zeros((4, 7, 9), "f4")}), "same d_k"),
        (lambda arrays: arrays.update({"key.1": np.zeros((4, 7, 8), "i8")}), "should be torch.float32"),
        (lambda arrays: arrays.update({"key.1": np.array([object()])}), "must hold numbers, got object"),
        (lambda arrays: arrays.update({"mask.3": np.ones((2, 2), bool)}), "expand"),
    ],
)
def test_a_file_that_is_no_recording_is_told_apart(tmp_path, change, told):
    query, key, value = tensors()
    path = tmp_path / "run.npz"
    with capture() as recording:
        F.scaled_dot_product_attention(query, key, value, torch.ones(N_QUERIES, N_KEYS).tril() > 0)
    recording.save(path)
    spoilt(path, change)
    with pytest.raises(ValueError, match=told):
        load_recording(path)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_a_damaged_or_missing_file_is_told(tmp_path, content):
    path = tmp_path / "run.npz"
    with pytest.raises(FileNotFoundError):
        load_recording(path)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged or no recording"):
        load_recording(path)


def test_a_recording_over_the_bound_is_refused_before_it_is_read(tmp_path):
    with capture() as recording:
        F.scaled_dot_product_attention(*torch.randn(3, 1, 2, 40, 8).unbind())
    recording.save(tmp_path / "run.npz")
    assert len(load_recording(tmp_path / "run.npz", max_bytes=100_000)) == 1
    with pytest.raises(ValueError, match=r"run\.npz takes 0 MB of memory, more than the 0 MB allowed"):
        load_recording(tmp_path / "run.npz", max_bytes=1000)
