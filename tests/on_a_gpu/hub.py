"""Other people's models on the best device: loaded, run, looked into, changed, let write, recorded."""

import numpy as np
import pytest
import torch
import transformers as hf

from attention_core import BlockKeys, DropHead, Temperature, capture, load_recording, trace_model
from attention_core.atlas import Atlas
from attention_core.attention.edits import drop_heads
from attention_core.attention.export import trace_to_frame, trace_to_npz
from attention_core.attention.steps import steps_of
from attention_core.device import choose_device
from attention_core.explain.heads import distances_from, distances_head_for_head, far_look, groups, rollout, summaries
from attention_core.hub import generation
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelKind
from attention_core.hub.outputs import expected, log_probabilities
from attention_core.hub.pictures import picture_inputs
from attention_core.hub.run import patches_of, run, special_keys, text_inputs
from tests.support import tiny_hub
from tests.support.tiny_models import GPT, GROUPED, SIZES, STACKS, T5

TEXT = "The animal didn't cross the street."
WRITERS = (ModelKind.DECODER, ModelKind.ENCODER_DECODER)
WORDS = (ModelKind.ENCODER, *WRITERS)
FAMILIES = {
    "BertModel": hf.BertConfig(**SIZES),
    "GPT2LMHeadModel": hf.GPT2Config(**GPT),
    "LlamaForCausalLM": hf.LlamaConfig(**GROUPED),
    "MistralForCausalLM": hf.MistralConfig(**GROUPED, sliding_window=3),
    "Gemma2ForCausalLM": hf.Gemma2Config(**GROUPED, head_dim=8, sliding_window=3),
    "T5ForConditionalGeneration": hf.T5Config(**T5),
    "BartForConditionalGeneration": hf.BartConfig(**STACKS),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    write = (tiny_hub.write_encoder, tiny_hub.write_decoder, tiny_hub.write_encoder_decoder, tiny_hub.write_vision)
    for kind, one in zip(ModelKind, write, strict=True):
        one(root / kind.value)
    return {kind: load_pretrained(root / kind.value) for kind in ModelKind}


@pytest.fixture(scope="module")
def inputs(models):
    picture = np.random.default_rng(0).integers(0, 256, (50, 40, 4), dtype=np.uint8)
    words = {kind: text_inputs(models[kind], TEXT) for kind in WORDS}
    return words | {ModelKind.VISION: picture_inputs(models[ModelKind.VISION], picture)}


@pytest.fixture(scope="module")
def runs(models, inputs):
    return {kind: run(models[kind], inputs[kind]) for kind in ModelKind}


@pytest.fixture(params=ModelKind, ids=lambda kind: kind.value)
def kind(request):
    return request.param


def test_run_has_every_trace_on_the_device(runs, kind):
    for trace in runs[kind].recording.traces:
        assert trace.query.device.type == choose_device()
        assert [step.value().shape for step in steps_of(trace)]


def test_trace_of_a_run_is_exported_and_drawn(runs, kind):
    for trace in runs[kind].recording.traces[:1]:
        for edit in ((), (Temperature(0.5), BlockKeys((0,)), DropHead(1))):
            edited = trace.replace(edit)
            assert trace_to_npz(edited)
            assert len(trace_to_frame(edited)) == edited.n_queries * edited.n_keys
            assert edited.summary().entropy.isfinite().all()
            assert list(Atlas(edited).survey())


def test_heads_are_summed_up(runs, kind):
    done = runs[kind]
    for layers in groups(done.recording).values():
        patches, special = patches_of(done, layers[0]), special_keys(done, layers[0])
        assert summaries(layers, special=special, patches=patches)
        distances_from(layers, 0, 1)
        distances_head_for_head(layers, layers)
        far_look(layers, special)
        if layers[0].n_queries == layers[0].n_keys:
            rollout(layers)


@pytest.mark.parametrize("kind", WORDS)
def test_heads_are_ablated(models, inputs, kind):
    assert run(models[kind], inputs[kind], edits=drop_heads([(0, 1)])).recording.traces[0].context(1).abs().max() == 0


@pytest.mark.parametrize("kind", WRITERS)
def test_model_writes(models, inputs, kind):
    prepared = {name: one.to(choose_device()) for name, one in inputs[kind].inputs.items()}
    ids = prepared["input_ids"][0].tolist() if kind is ModelKind.DECODER else [0]
    source = {} if kind is ModelKind.DECODER else {name: prepared[name] for name in ("input_ids", "attention_mask")}
    text = generation.generate(models[kind], ids, source)
    for _ in range(2):
        ids = [*ids, int(text.logits[-1].argmax())]
        text = generation.generate(models[kind], ids, source)
    assert all(trace.weights(0).isfinite().all() for trace in text.recording.traces)
    assert expected(text.logits[-1], models[kind].tokenizer)
    assert len(log_probabilities(text.logits[-1][None].expand(2, -1), [3, 4])) == 1
    assert generation.cache_of(text) is not None


def test_recording_is_saved_and_loaded(runs, kind, tmp_path):
    runs[kind].recording.save(tmp_path / "recording.npz")
    for trace, kept in zip(runs[kind].recording.traces, load_recording(tmp_path / "recording.npz").traces, strict=True):
        torch.testing.assert_close(kept.weights(1), trace.weights(1).cpu())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_families_are_traced(name, dtype, tmp_path):
    torch.manual_seed(0)
    model = getattr(hf, name)(FAMILIES[name]).to(choose_device(), dtype).eval()
    ids = torch.arange(3, 11, device=choose_device())[None]
    more = {"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}
    recording = trace_model(model, input_ids=ids, **more)
    recording.save(tmp_path / "recording.npz")
    for trace in recording.traces:
        assert [step.value().float().cpu().numpy().shape for step in steps_of(trace)]
        assert trace_to_npz(trace)
        assert len(trace_to_frame(trace, 0, [0])) == trace.n_keys


def test_modules_of_pytorch_are_captured():
    layer = torch.nn.TransformerEncoderLayer(16, 2, batch_first=True).to(choose_device()).eval()
    with capture() as recording, torch.no_grad():
        layer(torch.rand(1, 5, 16, device=choose_device()))
    assert trace_to_npz(recording.traces[0])
